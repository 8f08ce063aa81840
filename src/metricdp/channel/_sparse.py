"""Rows of which most entries are alike for all records: exceptions are stored, the rest follows an exact tail rule."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metricdp.channel._weights import BITS, Weights, by_blocks
from metricdp.entropy import Entropy
from metricdp.errors import IncompatibleError


@dataclass(frozen=True, slots=True, eq=False)
class Sparse:
    """w_ik is the stored exception, or the tail of output k: integers either way, nothing is rounded.

    Args:
        starts: (n + 1,) where the exceptions of each row start.
        columns: the outputs of the exceptions, increasing within a row.
        values: their weights.
        tail: (k,) the weight of each output for all other records.
    """

    starts: NDArray[np.int64]
    columns: NDArray[np.int64]
    values: Weights
    tail: Weights

    def __post_init__(self) -> None:
        counts = np.diff(self.starts)
        fits = len(self.starts) > 1 and self.starts[0] == 0 and (counts >= 0).all()
        fits = fits and self.starts[-1] == len(self.columns) == len(self.values) and len(self.tail) > 0
        fits = fits and self.values.dtype == np.uint64 and self.tail.dtype == np.uint64
        if fits and len(self.columns):
            fits = bool(self.columns.min() >= 0 and self.columns.max() < len(self.tail))
            rows = np.repeat(np.arange(len(counts)), counts)
            fits = fits and bool((np.diff(rows * len(self.tail) + self.columns) > 0).all())
        if not fits:
            raise IncompatibleError("Those are no sparse rows.", "Increasing columns within rows.", "Use Sparse.of.")
        for array in (self.starts, self.columns, self.values, self.tail):
            array.setflags(write=False)

    @classmethod
    def of(cls, weights: Weights) -> Sparse:
        """The same integers with the commonest weight of every output as its tail."""
        tail = np.empty(weights.shape[1], dtype=np.uint64)
        for k in range(weights.shape[1]):
            found, counts = np.unique(weights[:, k], return_counts=True)
            tail[k] = found[counts.argmax()]
        rows, columns = np.nonzero(weights != tail)
        starts = np.searchsorted(rows, np.arange(len(weights) + 1)).astype(np.int64)
        return cls(starts, columns.astype(np.int64), weights[rows, columns], tail)

    @property
    def shape(self) -> tuple[int, int]:
        """Inputs and outputs."""
        return len(self.starts) - 1, len(self.tail)

    def block(self, rows: NDArray[np.intp]) -> Weights:
        """The weights of these records."""
        result = np.repeat(self.tail[None], len(rows), axis=0)
        for place, row in enumerate(rows.tolist()):
            part = slice(self.starts[row], self.starts[row + 1])
            result[place, self.columns[part]] = self.values[part]
        return result

    def draw(self, rows: NDArray[np.intp], source: Entropy) -> NDArray[np.intp]:
        """One output per record; rows are made as for any law that is not stored whole."""
        return by_blocks(self, rows, source)

    def to_arrays(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Exceptions and tail."""
        arrays = {"starts": self.starts, "columns": self.columns, "values": self.values, "tail": self.tail}
        return {"rows": "sparse"}, arrays

    def digest(self) -> str:
        """SHA-256 of what determines every row."""
        total = hashlib.sha256(f"sparse {self.shape} {BITS}".encode())
        for array in (self.starts, self.columns, self.values, self.tail):
            total.update(np.ascontiguousarray(array).tobytes())
        return total.hexdigest()
