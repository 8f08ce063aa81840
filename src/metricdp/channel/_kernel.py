"""Rows made when they are asked for: y_k·e^(-a·d) over points on a fixed grid, the same integers on every machine."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metricdp.channel._exponential import negative_exponential
from metricdp.channel._weights import BITS, BLOCK, Floats, Weights, by_blocks
from metricdp.entropy import Entropy
from metricdp.errors import InvalidParameterError, NotCertified

FLOOR_BITS = 36
"""The floors of a row sum to at most 2**36 of 2**62, a share of 1.5e-8."""

SMALLEST_SUM = 1e-250
"""Rows whose exponentials sum to less are refused."""

LARGEST_SCALE = 2.0**62 / SMALLEST_SUM
HEADROOM = 2.0**-40
"""The share of a row that the scaled exponentials leave free, so that rounding never exceeds the total."""

CHUNK = 1 << 14
"""Entries that go through the exponential at a time: what a processor keeps close."""


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """Points in whole multiples of 2**-shift around a centre, small enough that Gram products are exact in float64.

    Attributes:
        steps: (n, d) whole numbers, as floats.
        shift: the grid's spacing is 2**-shift.
        moved: how far each point moved to the grid, rounded up.
    """

    steps: Floats
    shift: int
    moved: Floats
    squares: Floats = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for name in ("steps", "moved"):
            object.__setattr__(self, name, np.array(getattr(self, name), dtype=np.float64))
        object.__setattr__(self, "squares", np.einsum("ij,ij->i", self.steps, self.steps))

    @classmethod
    def of(cls, points: Floats) -> Grid:
        """The finest grid on which |x|² + |y|² - 2·x·y is a whole number below 2**53 in every intermediate sum."""
        dim = points.shape[1]
        bits = (51 - math.ceil(math.log2(dim))) // 2
        centre = (points.min(axis=0) + points.max(axis=0)) / 2
        reach = max(float(np.abs(points - centre).max()), 2.0**-400)
        shift = bits - 1 - math.frexp(reach)[1]
        origin = np.rint(np.ldexp(centre, shift))
        steps = np.rint(np.ldexp(points, shift) - origin)
        back = points - np.ldexp(steps + origin, -shift)
        size = np.abs(points).max(axis=1) + reach
        moved = np.sqrt((back**2).sum(axis=1)) * (1 + 1e-12) + size * dim * 2.0**-50
        return cls(steps, shift, moved)

    def __len__(self) -> int:
        return len(self.steps)

    def distances(self, rows: NDArray[np.intp]) -> Floats:
        """From these points to all: exact squares in whatever order they are summed, one correctly rounded root."""
        gram = self.steps[rows] @ self.steps.T
        gram *= -2
        gram += self.squares[rows][:, None]
        gram += self.squares
        np.sqrt(gram, out=gram)
        return np.ldexp(gram, -self.shift, out=gram)


@dataclass(frozen=True, slots=True, eq=False)
class Kernel:
    """P[M(i) = k] in proportion to y_k·e^(-a·min(D_ik, reach)) plus a floor, as integers of total 2**62.

    Definition:
        w_ik = floor(y_k·e^(-a·min(D_ik, reach))·s_i) + floor, each operation in float64 in this order; what is missing
        to 2**62 goes to the first largest entry of the row. D is the distance on the grid.

    Args:
        grid: the points; they are inputs and outputs.
        y: a weight per output, in [0, 1].
        exponent: a, per unit of distance.
        reach: distances beyond this count as this; inf for none.
        scales: s_i, one per row.
    """

    grid: Grid
    y: Floats
    exponent: float
    reach: float
    scales: Floats

    def __post_init__(self) -> None:
        for name in ("y", "scales"):
            object.__setattr__(self, name, np.array(getattr(self, name), dtype=np.float64))
        n = len(self.grid)
        fits = self.y.shape == (n,) and self.scales.shape == (n,) and (self.y >= 0).all() and (self.y <= 1).all()
        fits = fits and (self.scales > 0).all() and (self.scales <= LARGEST_SCALE).all()
        if not (fits and 0 < self.exponent < math.inf and self.reach > 0):
            raise InvalidParameterError(
                "That is no kernel.", "Weights in [0, 1], finite scales and exponent > 0.", "Mend it."
            )
        for array in (self.grid.steps, self.grid.squares, self.grid.moved, self.y, self.scales):
            array.setflags(write=False)

    @classmethod
    def of(cls, points: Floats, y: Floats, exponent: float, reach: float = math.inf) -> Kernel:
        """The kernel over these points whose rows are full: one pass over all pairs for the scales."""
        grid = Grid.of(points)
        if not (np.shape(y) == (len(points),) and np.isfinite(y).all() and (y >= 0).all() and y.max() > 0):
            raise InvalidParameterError("Those are no weights.", "Finite, >= 0, not all 0.", "Mend them.")
        start = cls(grid, y / y.max(), exponent, reach, np.ones(len(points)))
        sums = np.concatenate([start._values(rows).sum(axis=1) for rows in start.parts()])
        if not sums.min() >= SMALLEST_SUM:
            raise NotCertified(
                f"Row {int(sums.argmin())} of the kernel is empty to float64: every output with weight is too far.",
                "Outputs with weight near every record, or a reach.",
                "Give more outputs weight, or pass reach=.",
            )
        free = float((1 << BITS) - len(points) * start.floor) * (1 - HEADROOM)
        return cls(grid, start.y, exponent, reach, free / sums)

    @property
    def shape(self) -> tuple[int, int]:
        """Inputs and outputs."""
        return len(self.grid), len(self.grid)

    @property
    def floor(self) -> int:
        """What every entry is at least, by the number of outputs: a power of two."""
        return 1 << max(1, FLOOR_BITS - (len(self.grid) - 1).bit_length())

    def parts(self) -> Iterator[NDArray[np.intp]]:
        """Row numbers in blocks of about 16 MB of entries."""
        size = max(1, BLOCK // len(self.grid))
        for start in range(0, len(self.grid), size):
            yield np.arange(start, min(start + size, len(self.grid)))

    def _values(self, rows: NDArray[np.intp]) -> Floats:
        values = self.grid.distances(rows)
        np.minimum(values, self.reach, out=values)
        values *= self.exponent
        flat = values.reshape(-1)
        for start in range(0, len(flat), CHUNK):
            negative_exponential(flat[start : start + CHUNK])
        values *= self.y
        return values

    def block(self, rows: NDArray[np.intp]) -> Weights:
        """The weights of these records; the same integers in whatever batch they are made."""
        weights, missing, largest = self.parted(rows)
        weights[np.arange(len(rows)), largest] += missing
        return weights

    def parted(self, rows: NDArray[np.intp]) -> tuple[Weights, Weights, NDArray[np.intp]]:
        """Weights before what is missing is added, how much that is per row, and where it goes.

        Raises:
            NotCertified: the scales are too large, so that a row exceeds its total.
        """
        values = self._values(rows)
        values *= self.scales[rows][:, None]
        if not float(values.sum(axis=1).max()) <= 2.0**BITS - self.shape[1] * self.floor:
            raise NotCertified("A row of the kernel exceeds its total.", "Scales of Kernel.of.", "Make it again.")
        weights = values.astype(np.uint64)
        weights += np.uint64(self.floor)
        missing = np.uint64(1 << BITS) - weights.sum(axis=1, dtype=np.uint64)
        if int(missing.max()) > 1 << BITS:
            raise NotCertified("A row of the kernel exceeds its total.", "Scales of Kernel.of.", "Make it again.")
        return weights, missing, weights.argmax(axis=1)

    def draw(self, rows: NDArray[np.intp], source: Entropy) -> NDArray[np.intp]:
        """One output per record; rows are made record by record, or all of them once there are as many records."""
        return by_blocks(self, rows, source)

    def to_arrays(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """The exponent, the weights and the scales; the grid follows from the points of the space."""
        about = {"rows": "kernel", "exponent": self.exponent.hex(), "reach": self.reach.hex()}
        return about, {"y": self.y, "scales": self.scales}

    def digest(self) -> str:
        """SHA-256 of what determines every row."""
        about, arrays = self.to_arrays()
        total = hashlib.sha256(f"{about} {BITS} {self.floor} {self.shape} {self.grid.shift}".encode())
        total.update(np.ascontiguousarray(self.grid.steps).tobytes())
        for name in sorted(arrays):
            total.update(name.encode() + np.ascontiguousarray(arrays[name]).tobytes())
        return total.hexdigest()


def from_arrays(about: dict[str, Any], arrays: dict[str, NDArray[Any]], points: Floats) -> Kernel:
    """Back from `to_arrays` and the points of the space."""
    exponent, reach = float.fromhex(about["exponent"]), float.fromhex(about["reach"])
    return Kernel(Grid.of(points), arrays["y"], exponent, reach, arrays["scales"])
