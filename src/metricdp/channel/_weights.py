"""Rows of integers with one power-of-two total: from probabilities, and drawing from them exactly."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from metricdp.entropy import Entropy, words

BITS = 62
"""Every row of weights sums to 2**BITS."""

Weights = NDArray[np.uint64]
Floats = NDArray[np.float64]


def from_probabilities(rows: Floats) -> Weights:
    """Integers proportional to the rows: within 1 and a factor 1 ± 2**-51, at least 1 where positive.

    Rows must sum to 1 within 1e-9. What rounding leaves over is shared out in proportion, the last units (and, should
    small entries have been raised to 1, what is too much) on the largest entry. What the loss becomes is for the
    certificate to say.
    """
    scaled = np.floor(np.ldexp(rows, BITS)).astype(np.uint64)
    total = np.uint64(1 << BITS)
    places, largest = np.arange(len(rows)), rows.argmax(axis=1)
    missing = (total - scaled.sum(axis=1, dtype=np.uint64)).view(np.int64)  # modulo 2**64: negative for a surplus
    scaled += np.trunc(rows * missing[:, None].astype(np.float64)).astype(np.int64).view(np.uint64)
    scaled[(rows > 0) & (scaled == 0)] = 1
    scaled[places, largest] += total - scaled.sum(axis=1, dtype=np.uint64)
    return scaled


def totals_are_exact(weights: Weights) -> bool:
    """Whether every row sums to 2**BITS, in integers of any size."""
    return all(sum(row) == 1 << BITS for row in weights.tolist())


def cumulative(weights: Weights) -> Weights:
    """Running sums of each row; the last is 2**BITS."""
    return np.cumsum(weights, axis=1, dtype=np.uint64)


def draw(sums: Weights, rows: NDArray[np.intp], source: Entropy) -> NDArray[np.intp]:
    """One output per row number, with exactly the probabilities weight/2**BITS.

    A uniform integer u in [0, 2**BITS) selects the first output whose running sum exceeds it, by as many halvings for
    every row and every u: the work does not depend on either.
    """
    u = words(source, len(rows), 64) >> np.uint64(64 - BITS)
    outputs = sums.shape[1]
    place = np.zeros(len(rows), dtype=np.intp)
    step = 1 << max(0, (outputs - 1).bit_length())
    while step := step >> 1:
        ahead = np.minimum(place + step, outputs)
        place = np.where(sums[rows, ahead - 1] <= u, ahead, place)
    return place


BLOCK = 1 << 21
"""Entries of rows that are made at a time."""


class Rows(Protocol):
    """The law of a channel: one row of integers per record, stored or made when it is asked for."""

    @property
    def shape(self) -> tuple[int, int]:
        """Inputs and outputs."""
        ...

    def block(self, rows: NDArray[np.intp]) -> Weights:
        """The weights of these records; the same integers whatever else is asked for with them."""
        ...

    def draw(self, rows: NDArray[np.intp], source: Entropy) -> NDArray[np.intp]:
        """One output per record."""
        ...

    def to_arrays(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Plain JSON values and arrays, for files."""
        ...

    def digest(self) -> str:
        """SHA-256 of what determines every row."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Rows that are stored."""

    weights: Weights
    sums: Weights = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sums", cumulative(self.weights))
        for array in (self.weights, self.sums):
            array.setflags(write=False)

    def __getstate__(self) -> Weights:
        return self.weights

    def __setstate__(self, state: Weights) -> None:
        object.__setattr__(self, "weights", state)
        self.__post_init__()

    @property
    def shape(self) -> tuple[int, int]:
        """Inputs and outputs."""
        return self.weights.shape[0], self.weights.shape[1]

    def block(self, rows: NDArray[np.intp]) -> Weights:
        """The stored weights of these records."""
        return self.weights[rows]

    def draw(self, rows: NDArray[np.intp], source: Entropy) -> NDArray[np.intp]:
        """One output per record."""
        return draw(self.sums, rows, source)

    def to_arrays(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """The weights."""
        return {"rows": "table"}, {"weights": np.asarray(self.weights, "<u8")}

    def digest(self) -> str:
        """SHA-256 of the shape and the entries."""
        head = f"{self.weights.shape} {BITS}".encode()
        return hashlib.sha256(head + np.ascontiguousarray(self.weights, "<u8").tobytes()).hexdigest()


def by_blocks(law: Rows, rows: NDArray[np.intp], source: Entropy) -> NDArray[np.intp]:
    """One output per record of a law that is not stored whole.

    Rows are made record by record, or all of them once there are as many records as rows, so that the work depends on
    the number of records alone.
    """
    n, outputs = law.shape
    found = np.empty(len(rows), dtype=np.intp)
    size = max(1, BLOCK // outputs)
    if len(rows) < n:
        for start in range(0, len(rows), size):
            part = rows[start : start + size]
            found[start : start + size] = draw(cumulative(law.block(part)), np.arange(len(part)), source)
        return found
    order = np.argsort(rows, kind="stable")
    bounds = np.searchsorted(rows[order], np.arange(0, n + size, size))
    for number, start in enumerate(range(0, n, size)):
        here = order[bounds[number] : bounds[number + 1]]
        block = law.block(np.arange(start, min(start + size, n)))
        found[here] = draw(cumulative(block), rows[here] - start, source)
    return found
