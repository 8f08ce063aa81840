"""The state of a long design in a file, so that a killed run goes on where it was."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import numpy as np

from metricdp.channel import read_arrays, write_arrays
from metricdp.design._optimal import Program
from metricdp.design._problem import Problem
from metricdp.errors import FileRefusedError


def identity(problem: Problem) -> str:
    """SHA-256 of everything that determines the program."""
    total = hashlib.sha256(f"{problem.epsilon} {problem.objective} {problem.shape}".encode())
    for array in (problem.space.matrix(), problem.costs(), problem.prior):
        total.update(np.ascontiguousarray(array, "<f8").tobytes())
    return total.hexdigest()


def check_path(path: object) -> None:
    """Refuse what cannot be a file of ours, before any work."""
    good = isinstance(path, str | os.PathLike) and "\0" not in os.fspath(path) and Path(path).name != ""
    if not good or not Path(path).parent.is_dir() or Path(path).is_dir():  # type: ignore[arg-type]
        raise FileRefusedError("The checkpoint names no file in an existing folder.", "A path.", "Choose another.")


def save(path: str | os.PathLike[str], problem: Problem, program: Program) -> None:
    """Write the state next to the old one, then put it in its place."""
    members = {
        "problem": np.frombuffer(identity(problem).encode(), np.uint8),
        "triples": np.array(program.triples),
        "matrix": np.empty((0, 0)) if program.matrix is None else program.matrix,
        "rounds": np.array([program.rounds]),
    }
    write_arrays(path, members, "checkpoint")


def load(path: str | os.PathLike[str], problem: Problem) -> Program | None:
    """The state in the file; None where there is no file yet.

    Raises:
        FileRefusedError: the file is damaged, or belongs to another problem.
    """
    if not Path(path).exists():
        return None
    wanted = identity(problem)
    try:
        members = read_arrays(path)
        owner = members["problem"].tobytes().decode()
        i, j, k = members["triples"].astype(np.intp)
        rounds, matrix = int(members["rounds"][0]), members["matrix"]
        n, outputs = problem.shape
        if owner == wanted:
            good = min(map(np.min, (i, j, k))) >= 0 and max(i.max(), j.max()) < n and k.max() < outputs
            good = good and (matrix.size == 0 or (matrix.ndim == 2 and matrix.shape[1] == outputs))
            if not good or not np.isfinite(matrix).all():
                raise ValueError  # noqa: TRY301
    except Exception:  # noqa: BLE001  (whatever a damaged archive makes its readers raise)
        raise FileRefusedError(
            "The checkpoint cannot be read.", "A file made by solve(checkpoint=…).", "Remove it."
        ) from None
    if owner != wanted:
        raise FileRefusedError(
            "The checkpoint belongs to another problem.", "One of the same problem.", "Choose another file."
        )
    return Program((i, j, k), matrix if matrix.size else None, rounds=rounds)
