"""Databases of records, for queries: how many records differ."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from metricdp.errors import IncompatibleError, InvalidParameterError


def _only_records(unit: str) -> None:
    if unit != "record":
        raise IncompatibleError("Databases are counted in records.", 'The unit is "record".', "Keep it.")


@dataclass(frozen=True, slots=True)
class Hamming:
    """Databases of exactly `n` records; the distance is the number of positions that differ (replace-one).

    Examples:
        >>> Hamming(3).distance(["a", "b", "c"], ["a", "x", "c"])
        1.0
    """

    n: int

    def __post_init__(self) -> None:
        if isinstance(self.n, bool) or not isinstance(self.n, int | np.integer) or self.n < 1:
            raise InvalidParameterError("n is not a whole number >= 1.", "1, 2, 3, … are accepted.", "Pass the size.")
        object.__setattr__(self, "n", int(self.n))

    @property
    def unit(self) -> str:
        """Always "record"."""
        return "record"

    @property
    def diameter(self) -> float:
        """All records differ."""
        return float(self.n)

    def distance(self, x: ArrayLike, y: ArrayLike) -> Any:
        """Positions that differ along the last axis; a record is one scalar (encode rows as one value each)."""
        try:
            a, b = np.asarray(x), np.asarray(y)
            np.broadcast_shapes(a.shape, b.shape)
        except ValueError:
            a = b = np.empty(0)
        if a.ndim == 0 or b.ndim == 0 or a.shape[-1] != self.n or b.shape[-1] != self.n:
            raise IncompatibleError(
                "A database has another number of records.", f"Exactly {self.n} are accepted.", "Check the sizes."
            )
        result = (a != b).sum(axis=-1).astype(np.float64)
        return float(result) if result.ndim == 0 else result

    def contains(self, x: ArrayLike) -> Any:
        """Whether a database has n records."""
        try:
            shape = np.shape(x)
        except ValueError:
            shape = ()
        return np.full(shape[:-1], bool(shape) and shape[-1] == self.n)

    def with_unit(self, unit: str) -> Hamming:
        """Records have no other unit."""
        _only_records(unit)
        return self

    def describe(self) -> str:
        """One line for people."""
        return f"databases of {self.n} records, distance in records replaced"

    def identity(self) -> dict[str, Any]:
        """Content, as JSON values."""
        return {"space": "Hamming", "n": self.n}


@dataclass(frozen=True, slots=True)
class SymmetricDifference:
    """Databases of any size as multisets; the distance is the number of records added or removed.

    Examples:
        >>> SymmetricDifference().distance(["a", "b", "b"], ["b", "c"])
        3.0
    """

    @property
    def unit(self) -> str:
        """Always "record"."""
        return "record"

    @property
    def diameter(self) -> float:
        """Infinite: databases may have any size."""
        return math.inf

    def distance(self, x: Iterable[Hashable], y: Iterable[Hashable]) -> float:
        """Size of the symmetric difference of two multisets of hashable records (array rows count as tuples)."""
        try:
            a, b = _multiset(x), _multiset(y)
        except TypeError:
            raise IncompatibleError(
                "A database is no collection of hashable records.", "Lists, or arrays of rows.", "Convert it."
            ) from None
        return float(sum((a - b).values()) + sum((b - a).values()))

    def contains(self, x: Any) -> Any:
        """Whether it is a collection of hashable records."""
        try:
            _multiset(x)
        except TypeError:
            return np.asarray(False)
        return np.asarray(True)

    def with_unit(self, unit: str) -> SymmetricDifference:
        """Records have no other unit."""
        _only_records(unit)
        return self

    def describe(self) -> str:
        """One line for people."""
        return "databases of any size, distance in records added or removed"

    def identity(self) -> dict[str, Any]:
        """Content, as JSON values."""
        return {"space": "SymmetricDifference"}


def _multiset(records: Any) -> Counter[Hashable]:
    if isinstance(records, np.ndarray):
        records = records.tolist()
    return Counter(tuple(r) if isinstance(r, list) else r for r in records)
