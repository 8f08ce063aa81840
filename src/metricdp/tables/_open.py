"""The role of a table, and which reader takes which file."""

from __future__ import annotations

import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from metricdp.errors import FileRefusedError, InvalidParameterError

Floats = NDArray[np.float64]
Replaced = Floats | list[list[str]]
Signature = tuple[int, ...]

ROWS = 1 << 15
"""Rows in a chunk."""


class Chunk(Protocol):
    """Some consecutive rows."""

    @property
    def rows(self) -> int:
        """How many."""
        ...

    def numbers(self, columns: Sequence[str]) -> Floats:
        """Columns as float64 of shape (rows, columns); refused by row position where one is no finite number."""
        ...

    def texts(self, column: str) -> list[str]:
        """A column as text, for counting subjects."""
        ...


class Writer(Protocol):
    """A new table with the columns of the old one."""

    def write(self, chunk: Chunk, columns: Sequence[str], values: Replaced) -> None:
        """The rows of the chunk, with some columns replaced: floats (rows, columns), or one list of texts each."""
        ...

    def close(self) -> None:
        """Flush to disk."""
        ...


class Table(Protocol):
    """A file of rows with named columns."""

    @property
    def columns(self) -> list[str]:
        """Names, in order."""
        ...

    @property
    def one_subject(self) -> bool:
        """Whether all rows are one subject's by the nature of the file, as a recorded trip is."""
        ...

    def chunks(self) -> Iterator[tuple[Chunk, float]]:
        """All rows from the start, in chunks, each with the share of the file read so far."""
        ...

    def writer(self, path: Path) -> Writer:
        """A writer for the same columns."""
        ...


def open_table(path: Path, delimiter: str = ",", times: str = "keep") -> Table:
    """The reader for a file, by its ending: .parquet, .gpx, or else CSV.

    Args:
        path: a regular file.
        delimiter: of CSV.
        times: what becomes of the time stamps of GPX: "keep", "hour" or "drop".

    Raises:
        FileRefusedError: not a regular file (pipes are read only once, and a release reads twice), or unreadable.
    """
    signature(path)
    if path.suffix.lower() in (".parquet", ".pq"):
        from metricdp.tables._parquet import ParquetTable

        return ParquetTable(path)
    if path.suffix.lower() == ".gpx":
        from metricdp.tables._gpx import GpxTable

        return GpxTable(path, times)  # type: ignore[arg-type]
    if times != "keep":
        raise InvalidParameterError(
            "Times are coarsened in GPX files only.", "A .gpx file.", "Drop or round the column of a table yourself."
        )
    from metricdp.tables._csv import CsvTable

    return CsvTable(path, delimiter)


def signature(path: Path) -> Signature:
    """What changes when a file changes: device, inode, size, times."""
    try:
        found = path.stat()
    except OSError as error:
        raise FileRefusedError(
            f"The file {path.name} cannot be read ({error.strerror}).", "A readable file.", "Check the path."
        ) from None
    if not stat.S_ISREG(found.st_mode):
        raise FileRefusedError(
            f"{path.name} is a pipe, a device or a folder.",
            "A regular file: a release reads it twice, first to check every row, then to sample.",
            "Write the data to a file first.",
        )
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def check_columns(found: Sequence[str], wanted: Sequence[str]) -> None:
    """Refuse columns that are missing, or whose name occurs twice."""
    for name in wanted:
        times = list(found).count(name)
        if times != 1:
            raise FileRefusedError(
                f"The column {name!r} occurs {times} times.",
                f"A name that stands once among the {len(found)} of the first line.",
                "Check the spelling (names are case sensitive), and that the file has a header.",
            )
    for name in wanted:
        try:
            float(name)
        except ValueError:
            continue
        raise FileRefusedError(
            "The name of a column is a number: the file seems to have no header.",
            "A first line of names.",
            "Add one; the first line is written as it stands.",
        )
    if len(set(wanted)) < len(wanted):
        raise FileRefusedError("A column was named twice.", "Different columns.", "Name each once.")


def not_a_number(row: int, column: str) -> FileRefusedError:
    """The refusal of a cell, by position."""
    return FileRefusedError(
        f"Row {row}, column {column!r} is not a finite number.",
        "Decimal numbers in every row (rows count from 0, without the header).",
        "Drop or mend that row; nothing was sampled.",
    )
