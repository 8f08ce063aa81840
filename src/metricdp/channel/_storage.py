"""Channels in files: one .npz of plain arrays that load without pickle, and a hash over all of them."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import numpy as np

from metricdp.channel import _kernel
from metricdp.channel._certificate import Certificate
from metricdp.channel._sparse import Sparse
from metricdp.channel._weights import Rows
from metricdp.errors import FileRefusedError, IncompatibleError
from metricdp.spaces import FiniteSpace

VERSION = "metricdp channel 1"


def save(
    path: str | os.PathLike[str],
    space: FiniteSpace,
    law: Rows,
    outputs: tuple[Hashable, ...],
    certificate: Certificate | None,
) -> None:
    """Write the file; labels must be texts, numbers or tuples of them."""
    about, arrays = space.to_arrays()
    rows, weights = law.to_arrays()
    meta = {
        "version": VERSION,
        "space": about,
        "rows": rows,
        "outputs": list(outputs),
        "certificate": None if certificate is None else certificate.to_json(),
    }
    text = _canonical(meta)
    if _as_labels(json.loads(text)["outputs"]) != outputs:
        raise IncompatibleError("A label cannot be written down.", "Texts, numbers, tuples of them.", "Rename it.")
    members = {"meta": np.frombuffer(text, np.uint8), **weights, **arrays}
    members["sha256"] = np.frombuffer(_content(members).encode(), np.uint8)
    if not isinstance(path, str | os.PathLike) or not Path(path).name or "\0" in os.fspath(path):
        raise FileRefusedError("The path names no file.", "The name of a file.", "Choose one.")
    write_arrays(path, members, "channel")


def write_arrays(path: str | os.PathLike[str], members: dict[str, Any], what: str) -> None:
    """Arrays in one .npz, whole or not at all: written beside the target, then put in its place."""
    target = Path(path)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        part.unlink(missing_ok=True)
        with part.open("xb") as file:
            np.savez(file, allow_pickle=False, **members)
        part.replace(target)
    except OSError as error:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
        raise FileRefusedError(
            f"The {what} cannot be written ({error.strerror}).", "A path in a folder of yours.", "Choose another."
        ) from None


def read_arrays(path: str | os.PathLike[str]) -> dict[str, Any]:
    """All arrays of an .npz, in the order of their names; whatever a damaged archive makes its readers raise."""
    with Path(path).open("rb") as raw, np.load(raw, allow_pickle=False) as file:
        return {name: file[name] for name in sorted(file.files)}


def load(path: str | os.PathLike[str]) -> tuple[FiniteSpace, Any, tuple[Hashable, ...], Certificate | None]:
    """Read a file; refused unless the hash over all its arrays is right."""
    try:
        members = read_arrays(path)
        stored = members.pop("sha256").tobytes().decode()
        meta = json.loads(members["meta"].tobytes())
        _check(stored == _content(members) and meta["version"] == VERSION)
        del members["meta"]
        space = FiniteSpace.from_arrays(meta["space"], members)
        law: Any
        if meta["rows"]["rows"] == "kernel":
            points = space.points
            _check(points is not None)
            assert points is not None
            law = _kernel.from_arrays(meta["rows"], members, points)
        elif meta["rows"]["rows"] == "sparse":
            law = Sparse(*(members[name] for name in ("starts", "columns", "values", "tail")))
        else:
            law = members["weights"].astype(np.uint64, casting="safe")
        certificate = meta["certificate"]
        return (
            space,
            law,
            _as_labels(meta["outputs"]),
            None if certificate is None else Certificate.from_json(certificate),
        )
    except FileRefusedError:
        raise
    except OSError as error:
        raise FileRefusedError(
            f"The channel cannot be read ({error.strerror or 'damaged'}).", "A file made by save.", "Check the path."
        ) from None
    except Exception:  # noqa: BLE001  (whatever a damaged archive makes its readers raise)
        raise _damaged() from None


def _content(members: dict[str, Any]) -> str:
    """SHA-256 over names, types, shapes and bytes, in the order of the names."""
    total = hashlib.sha256()
    for name in sorted(members):
        array = members[name]
        total.update(f"{name} {array.dtype.str} {array.shape} ".encode() + np.ascontiguousarray(array).tobytes())
    return total.hexdigest()


def _canonical(meta: dict[str, Any]) -> bytes:
    try:
        return json.dumps(meta, sort_keys=True, ensure_ascii=True, allow_nan=False).encode()
    except (TypeError, ValueError):
        raise IncompatibleError(
            "A label cannot be written down.", "Texts, numbers, tuples of them.", "Rename it."
        ) from None


def _as_labels(values: list[Any]) -> tuple[Hashable, ...]:
    return tuple(_as_labels(value) if isinstance(value, list) else value for value in values)


def _check(whole: bool) -> None:
    if not whole:
        raise _damaged()


def _damaged() -> FileRefusedError:
    return FileRefusedError(
        "The file is not a channel, or it was changed.", "A file made by Channel.save.", "Restore it from a backup."
    )
