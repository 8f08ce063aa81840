"""CSV files: read as text, so that every other column comes back as it was."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from metricdp.errors import FileRefusedError
from metricdp.tables import _open
from metricdp.tables._open import ROWS, Chunk, Floats, Replaced


@dataclass(slots=True)
class CsvChunk:
    """Rows as lists of text."""

    cells: list[list[str]]
    header: list[str]
    start: int

    @property
    def rows(self) -> int:
        """How many."""
        return len(self.cells)

    def numbers(self, columns: Sequence[str]) -> Floats:
        """Columns as float64; "1_000", "nan", "inf" and empty cells are refused."""
        result = np.empty((len(self.cells), len(columns)))
        for j, name in enumerate(columns):
            place = self.header.index(name)
            try:
                texts = [row[place] for row in self.cells]
                result[:, j] = list(map(float, texts))
            except ValueError:
                raise _open.not_a_number(self.start + _first_bad(texts), name) from None
            if not np.isfinite(result[:, j]).all() or "_" in "".join(texts):
                raise _open.not_a_number(self.start + _first_bad(texts), name)
        return result

    def texts(self, column: str) -> list[str]:
        """A column as it stands."""
        place = self.header.index(column)
        return [row[place] for row in self.cells]


def _first_bad(texts: list[str]) -> int:
    for i, text in enumerate(texts):
        try:
            if "_" in text or not np.isfinite(float(text)):
                return i
        except ValueError:
            return i
    return 0


class CsvTable:
    """A CSV file with a header, UTF-8, quoted as RFC 4180 says."""

    one_subject = False

    def __init__(self, path: Path, delimiter: str = ",") -> None:
        if len(delimiter) != 1:
            raise FileRefusedError("The delimiter is not one character.", '",", ";", a tab.', "Pass one.")
        self._path = path
        self._delimiter = delimiter
        with _reading(path), path.open(encoding="utf-8-sig", newline="") as file:
            self._columns = next(csv.reader(file, delimiter=delimiter, strict=True), [])
        if not self._columns:
            raise FileRefusedError(f"{path.name} is empty.", "A header line and rows.", "Check the file.")

    @property
    def columns(self) -> list[str]:
        """Names of the header."""
        return self._columns

    def chunks(self) -> Iterator[tuple[Chunk, float]]:
        """All rows; blank lines are passed over."""
        size = max(1, self._path.stat().st_size)
        width = len(self._columns)
        start = 0
        with _reading(self._path), self._path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, delimiter=self._delimiter, strict=True)
            next(reader, None)
            while rows := list(islice(reader, ROWS)):
                cells = [row for row in rows if row]
                for i, row in enumerate(cells):
                    if len(row) != width:
                        raise FileRefusedError(
                            f"Row {start + i} has {len(row)} cells.", f"{width}, as the header.", "Mend the row."
                        )
                yield CsvChunk(cells, self._columns, start), min(1.0, os.lseek(file.fileno(), 0, os.SEEK_CUR) / size)
                start += len(cells)

    def writer(self, path: Path) -> CsvWriter:
        """A writer with the same header and delimiter."""
        return CsvWriter(path, self._columns, self._delimiter)


class CsvWriter:
    """Writes the shortest decimals that read back as the same floats."""

    def __init__(self, path: Path, header: list[str], delimiter: str) -> None:
        self._header = header
        self._file = path.open("x", encoding="utf-8", newline="")
        self._writer = csv.writer(self._file, delimiter=delimiter, lineterminator="\n")
        self._writer.writerow(header)

    def write(self, chunk: Chunk, columns: Sequence[str], values: Replaced) -> None:
        """The rows of the chunk, with the columns replaced."""
        assert isinstance(chunk, CsvChunk)
        texts = values if isinstance(values, list) else [list(map(repr, column)) for column in values.T.tolist()]
        for name, column in zip(columns, texts, strict=True):
            place = self._header.index(name)
            for row, text in zip(chunk.cells, column, strict=True):
                row[place] = text
        self._writer.writerows(chunk.cells)

    def close(self) -> None:
        """Flush to disk."""
        try:
            self._file.flush()
            os.fsync(self._file.fileno())
        finally:
            self._file.close()


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Errors of reading as refusals that show no content."""
    try:
        yield
    except UnicodeDecodeError:
        raise FileRefusedError(f"{path.name} is not UTF-8 text.", "UTF-8.", "Convert it, with iconv say.") from None
    except csv.Error:
        raise FileRefusedError(
            f"{path.name} is not CSV with this delimiter (an unclosed quote, or a cell over 128 KiB).",
            "CSV as RFC 4180 describes it.",
            "Check the quotes, or pass --delimiter.",
        ) from None
    except OSError as error:
        if isinstance(error, FileRefusedError):
            raise
        raise FileRefusedError(
            f"{path.name} cannot be read ({error.strerror}).", "A readable file.", "Check it."
        ) from None
