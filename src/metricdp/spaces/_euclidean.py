"""R^d with the norm 1, 2 or infinity."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metricdp.errors import InvalidParameterError
from metricdp.spaces._space import Floats, as_rows, broadcast, check_unit, finite_rows


@dataclass(frozen=True, slots=True)
class Euclidean:
    """Vectors of `dim` real numbers; the distance is a norm of the difference.

    Args:
        dim: how many numbers a record has, at least 1.
        norm: 1 (sum of absolute differences), 2 (Euclidean) or `math.inf` (largest difference).
        unit: the unit of every coordinate, and so of the distance; "" where there is none.

    Raises:
        InvalidParameterError: dim < 1, or another norm.

    Examples:
        >>> Euclidean(2, unit="km").distance([0, 0], [3, 4])
        5.0
    """

    dim: int
    norm: float = 2
    unit: str = ""

    def __post_init__(self) -> None:
        if isinstance(self.dim, bool) or not isinstance(self.dim, int | np.integer) or self.dim < 1:
            raise InvalidParameterError(
                "The dimension is not a whole number >= 1.", "1, 2, 3, … are accepted.", "Pass the number of columns."
            )
        known = isinstance(self.norm, int | float | np.number) and not isinstance(self.norm, bool)
        norm = {1: 1.0, 2: 2.0, math.inf: math.inf}.get(self.norm) if known else None
        if norm is None:
            raise InvalidParameterError(
                "The norm is none of 1, 2, inf.", "1, 2 and math.inf are accepted.", "Choose one of them."
            )
        check_unit(self.unit)
        object.__setattr__(self, "dim", int(self.dim))
        object.__setattr__(self, "norm", norm)

    @property
    def diameter(self) -> float:
        """Infinite: R^d is unbounded."""
        return math.inf

    def check(self, x: ArrayLike, what: str = "record") -> Floats:
        """The records as float64 of shape (dim,) or (n, dim), or an error that names the row."""
        if self.dim == 1:
            array = np.asarray(x)
            if array.ndim == 0:
                x = array.reshape(1)
        return as_rows(x, self.dim, what)

    def distance(self, x: ArrayLike, y: ArrayLike) -> Any:
        """Norm of the difference; batches broadcast over all axes but the last."""
        a, b = self.check(x), self.check(y, "second record")
        broadcast(a, b)
        difference = a - b
        result = np.linalg.norm(difference, ord=self.norm, axis=-1)
        return float(result) if result.ndim == 0 else result

    def contains(self, x: ArrayLike) -> NDArray[np.bool_]:
        """True where a row is `dim` finite numbers."""
        return finite_rows(x, self.dim)

    def with_unit(self, unit: str) -> Euclidean:
        """The same space, its coordinates read in another unit."""
        return replace(self, unit=unit)

    def describe(self) -> str:
        """One line for people."""
        norm = "inf" if math.isinf(self.norm) else f"{self.norm:g}"
        unit = f", unit {self.unit}" if self.unit else ""
        return f"vectors of {self.dim} numbers with the norm {norm}{unit}"

    def identity(self) -> dict[str, Any]:
        """Content, as JSON values."""
        norm = "inf" if math.isinf(self.norm) else int(self.norm)
        return {"space": "Euclidean", "dim": self.dim, "norm": norm, "unit": self.unit}
