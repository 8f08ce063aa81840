"""metricdp audit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from metricdp.audit import exact
from metricdp.cli._say import say
from metricdp.errors import FileRefusedError, LossLimitExceeded


def audit(
    matrix: Annotated[Path, typer.Argument(metavar="MATRIX.npy", help="Probabilities: a row per input.")],
    distances: Annotated[Path, typer.Option(metavar="D.npy", help="Distances between the inputs.")],
    epsilon: Annotated[str | None, typer.Option(help="The promise to check, per unit of distance.")] = None,
    delta: Annotated[str, typer.Option(help="What is added to every probability.")] = "0",
) -> None:
    """The smallest epsilon that a matrix of probabilities meets, exactly; exit code 4 where --epsilon is not met.

    Example:
        metricdp audit MATRIX.npy --distances D.npy --epsilon 2
    """
    report = exact(_array(matrix), _array(distances), delta)
    say(str(report))
    if epsilon is None:
        return
    if not report.meets(epsilon):
        raise LossLimitExceeded(
            f"The matrix does not keep epsilon = {epsilon}.",
            "A matrix whose loss is at most that.",
            "Do not release through it; the line above names the worst inputs.",
        )
    say(f"It keeps epsilon = {epsilon}{'' if delta == '0' else f' at delta = {delta}'}.")


def _array(path: Path) -> Any:
    if not path.exists():
        raise FileRefusedError(f"There is no file {path.name}.", "A .npy file.", "Check the path.")
    try:
        return np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError):
        raise FileRefusedError(
            f"{path.name} cannot be read as an array.",
            "A .npy file of numbers, without pickle.",
            "Save it by numpy.save.",
        ) from None
