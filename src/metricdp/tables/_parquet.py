"""Parquet files, with the extra `parquet`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from metricdp.errors import FileRefusedError, MissingExtraError
from metricdp.tables import _open
from metricdp.tables._open import ROWS, Chunk, Floats, Replaced


def _library() -> Any:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise MissingExtraError(
            "Parquet files need pyarrow.", "CSV files need nothing.", "Install it: pip install 'metricdp[parquet]'."
        ) from None
    return pa, parquet


@dataclass(slots=True)
class ParquetChunk:
    """One record batch."""

    batch: Any
    start: int

    @property
    def rows(self) -> int:
        """How many."""
        return int(self.batch.num_rows)

    def numbers(self, columns: Sequence[str]) -> Floats:
        """Columns as float64; nulls, NaN and text are refused."""
        result = np.empty((self.rows, len(columns)))
        for j, name in enumerate(columns):
            column = self.batch.column(name)
            if not str(column.type).startswith(("double", "float", "halffloat", "int", "uint")):
                raise FileRefusedError(
                    f"The column {name!r} holds {column.type}.", "Numbers.", "Convert it to float64 first."
                )
            values = column.to_numpy(zero_copy_only=False).astype(np.float64)
            good = np.isfinite(values)
            if column.null_count or not good.all():
                bad = column.is_null().to_numpy(zero_copy_only=False) | ~good
                raise _open.not_a_number(self.start + int(np.argmax(bad)), name)
            result[:, j] = values
        return result

    def texts(self, column: str) -> list[str]:
        """A column as text."""
        return [str(value) for value in self.batch.column(column).to_pylist()]


class ParquetTable:
    """A Parquet file."""

    one_subject = False

    def __init__(self, path: Path) -> None:
        self._path = path
        _, parquet = _library()
        with self._readable(), parquet.ParquetFile(path) as file:
            self._schema = file.schema_arrow
            self._rows = file.metadata.num_rows

    @property
    def columns(self) -> list[str]:
        """Names of the schema."""
        return list(self._schema.names)

    def chunks(self) -> Iterator[tuple[Chunk, float]]:
        """All rows in batches."""
        _, parquet = _library()
        start = 0
        with self._readable(), parquet.ParquetFile(self._path) as file:
            for batch in file.iter_batches(batch_size=ROWS):
                yield ParquetChunk(batch, start), (start + batch.num_rows) / max(1, self._rows)
                start += batch.num_rows

    @contextmanager
    def _readable(self) -> Iterator[None]:
        """Errors of the library as refusals; ours pass."""
        pa, _ = _library()
        try:
            yield
        except FileRefusedError:
            raise
        except (pa.ArrowException, OSError):
            raise FileRefusedError(
                f"{self._path.name} is not a Parquet file, or damaged.", "Parquet.", "Check the file."
            ) from None

    def writer(self, path: Path) -> ParquetWriter:
        """A writer with the same schema; replaced columns become float64, or text."""
        return ParquetWriter(path, self._schema)


class ParquetWriter:
    """Writes batches; the schema is settled by the first one."""

    def __init__(self, path: Path, schema: Any) -> None:
        self._path = path
        self._schema = schema
        self._file = path.open("xb")
        self._writer: Any = None

    def write(self, chunk: Chunk, columns: Sequence[str], values: Replaced) -> None:
        """The rows of the chunk, with the columns replaced."""
        assert isinstance(chunk, ParquetChunk)
        pa, parquet = _library()
        batch = chunk.batch
        kind = pa.string() if isinstance(values, list) else pa.float64()
        for name, column in zip(columns, values if isinstance(values, list) else values.T, strict=True):
            place = batch.schema.get_field_index(name)
            batch = batch.set_column(place, pa.field(name, kind), pa.array(column, type=kind))
        if self._writer is None:
            self._writer = parquet.ParquetWriter(self._file, batch.schema)
        self._writer.write_batch(batch)

    def close(self) -> None:
        """Write the footer and flush to disk."""
        try:
            if self._writer is None:
                _, parquet = _library()
                self._writer = parquet.ParquetWriter(self._file, self._schema)
            self._writer.close()
            self._file.flush()
            os.fsync(self._file.fileno())
        finally:
            self._file.close()
