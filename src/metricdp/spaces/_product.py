"""Tuples of records: trajectories, sentences, sets of places."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from metricdp.errors import IncompatibleError, InvalidParameterError
from metricdp.spaces._space import Space, is_space

INNER = ("Euclidean", "Geographic", "FiniteSpace")
Combine = Literal["max", "sum", "l2"]


@dataclass(frozen=True, slots=True)
class Product:
    """Tuples of `n` records of one space.

    Args:
        space: the space of one record.
        n: length of the tuple; `None` for tuples of any length, where different lengths are infinitely far apart.
        combine: how the distances of the entries become one: "max", "sum" or "l2" (root of the sum of squares).

    Raises:
        InvalidParameterError: n < 1, or another way to combine.

    Examples:
        >>> from metricdp.spaces import Euclidean
        >>> Product(Euclidean(1), 2, "sum").distance([[0], [0]], [[3], [4]])
        7.0
    """

    space: Space
    n: int | None
    combine: Combine = "max"

    def __post_init__(self) -> None:
        if not is_space(self.space) or self.space.identity()["space"] not in INNER:
            raise IncompatibleError(
                f"The inner space is a {type(self.space).__name__}.",
                "Euclidean, Geographic or a FiniteSpace.",
                "Pass Geographic(), say.",
            )
        n = self.n
        if n is not None and (isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1):
            raise InvalidParameterError("The length n is not a whole number >= 1.", "1, 2, … or None.", "Pass one.")
        if self.combine not in ("max", "sum", "l2"):
            raise InvalidParameterError(
                "That way to combine distances is not known.", 'Accepted: "max", "sum", "l2".', "Choose one of them."
            )
        if n is not None:
            object.__setattr__(self, "n", int(n))

    @property
    def unit(self) -> str:
        """The unit of the inner space."""
        return self.space.unit

    @property
    def diameter(self) -> float:
        """The largest distance between two tuples."""
        if self.n is None:
            return math.inf
        factor = {"max": 1.0, "sum": float(self.n), "l2": math.nextafter(math.sqrt(self.n), math.inf)}[self.combine]
        return math.nextafter(self.space.diameter * factor, math.inf)

    def distance(self, x: Any, y: Any) -> Any:
        """Distance between two tuples, or between batches of tuples of one length.

        The entries lie along the last axis for spaces of labels, and along the axis before the coordinates for spaces
        of vectors.
        """
        axis = self._length_axis()
        try:
            lengths = [np.shape(t)[axis] if np.ndim(t) >= -axis else None for t in (x, y)]
        except ValueError:
            raise IncompatibleError("A tuple is ragged.", "Records of one shape.", "Pass one array.") from None
        if self.n is not None and any(length != self.n for length in lengths):
            raise IncompatibleError(
                f"Tuples of length {lengths[0]} and {lengths[1]} were given.",
                f"Tuples of exactly {self.n} records are accepted.",
                "Use Product(space, None) for tuples of any length.",
            )
        if lengths[0] != lengths[1]:
            return math.inf
        if lengths[0] == 0:
            return 0.0
        entries = np.asarray(self.space.distance(x, y))
        if self.combine == "max":
            result = entries.max(axis=-1)
        elif self.combine == "sum":
            result = entries.sum(axis=-1)
        else:
            result = np.linalg.norm(entries, axis=-1)
        return float(result) if np.ndim(result) == 0 else result

    def contains(self, x: Any) -> Any:
        """True where every entry lies in the inner space and the length fits."""
        inside = np.asarray(self.space.contains(x))
        if inside.ndim == 0 or (self.n is not None and inside.shape[-1] != self.n):
            return np.asarray(False)
        return inside.all(axis=-1)

    def with_unit(self, unit: str) -> Product:
        """The same tuples, distances in another unit."""
        return replace(self, space=self.space.with_unit(unit))

    def describe(self) -> str:
        """One line for people."""
        length = "any number of" if self.n is None else str(self.n)
        names = {"max": "the largest distance", "sum": "the sum of distances", "l2": "the root of summed squares"}
        return f"tuples of {length} records ({names[self.combine]}), each: {self.space.describe()}"

    def identity(self) -> dict[str, Any]:
        """Content, as JSON values."""
        return {"space": "Product", "of": self.space.identity(), "n": self.n, "combine": self.combine}

    def _length_axis(self) -> int:
        inner = self.space.identity()["space"]
        return -2 if inner in ("Euclidean", "Geographic") else -1
