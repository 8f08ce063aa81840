"""The role of a space, and the checks that records share."""

from __future__ import annotations

import numbers
from decimal import Decimal
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metricdp.errors import IncompatibleError, InvalidParameterError, OutOfSpaceError

Floats = NDArray[np.float64]


@runtime_checkable
class Space(Protocol):
    """A domain with its distance and the unit of that distance.

    Laws, checked for every space by the conformance tests: `distance` is symmetric, zero between equal records only,
    and obeys the triangle inequality; two spaces are equal when their content is equal; a space pickles.
    """

    @property
    def unit(self) -> str:
        """Name of the unit of distance; empty where there is none."""
        ...

    @property
    def diameter(self) -> float:
        """The largest distance, `inf` where there is none."""
        ...

    def distance(self, x: Any, y: Any) -> Any:
        """Distances between records, or between the rows of two batches (NumPy broadcasting)."""
        ...

    def contains(self, x: Any) -> Any:
        """Whether each record lies in the space; never raises for a value."""
        ...

    def describe(self) -> str:
        """One line for people."""
        ...

    def identity(self) -> dict[str, Any]:
        """What makes the space equal to another, as plain JSON values; public parameters and hashes only."""
        ...

    def with_unit(self, unit: str) -> Self:
        """The same space with distances in another unit."""
        ...


_ROLE = ("unit", "diameter", "distance", "contains", "describe", "identity", "with_unit")


def is_space(candidate: object) -> bool:
    """Whether an instance plays the role; asks its class only, since a diameter may be costly to compute."""
    if isinstance(candidate, type):
        return False
    slots = {*getattr(type(candidate), "__slots__", ()), *getattr(type(candidate), "__annotations__", {})}
    return all(hasattr(type(candidate), name) or name in slots for name in _ROLE)


def check_unit(unit: object) -> None:
    """Refuse a unit that is not a short printable string."""
    if not isinstance(unit, str) or len(unit) > 40 or not unit.isprintable():
        raise InvalidParameterError(
            "The unit is not a short name.", 'A string such as "m", "km" or "embedding L2" is accepted.', "Pass one."
        )


def as_rows(x: ArrayLike, width: int, what: str) -> Floats:
    """Records as a float64 array whose last axis has `width` entries; NaN and infinity are refused by row position.

    Accepts whatever NumPy can read as numbers, data frames included; text, booleans and complex numbers are refused.
    """
    array = _as_numbers(x)
    if array is None:
        raise IncompatibleError(
            f"The {what} is not an array of numbers.",
            f"Unmasked integers or floats with {width} column{'s' * (width > 1)} are accepted.",
            "Convert the columns to float64 first.",
        )
    if array.ndim == 0 or array.shape[-1] != width:
        raise OutOfSpaceError(
            f"The {what} has shape {array.shape}.",
            f"A record has {width} number{'s' * (width > 1)}; a batch has shape (n, {width}).",
            "Check the columns (a column of n numbers becomes a batch by x.reshape(-1, 1)), or choose another space.",
        )
    rows = _as_float64(array)
    finite = np.isfinite(rows)
    if not finite.all():
        raise OutOfSpaceError(
            f"The {what} at row {first_bad(finite)} is not finite (NaN, infinity, or too large for float64).",
            "Finite numbers are accepted, integers up to 2**53.",
            "Drop or mend that row.",
        )
    return rows


def _as_float64(array: NDArray[np.generic]) -> Floats:
    """The same numbers; infinity where float64 cannot hold them (integers beyond 2**53, long doubles)."""
    if array.dtype == np.float64:
        return np.asarray(array, dtype=np.float64)
    size = np.abs(array)
    held = size <= 2**53 if array.dtype.kind in "iu" else ~(size > np.finfo(np.float64).max)
    return np.where(held, array, np.inf).astype(np.float64)


def _as_numbers(x: ArrayLike) -> NDArray[np.generic] | None:
    """The array, or None where an entry is no number: text, booleans, complex numbers, masked or ragged arrays."""
    if isinstance(x, np.ma.MaskedArray):
        return None
    try:
        array = np.asarray(x)
        if array.dtype == object:
            flat = array.reshape(-1).tolist()
            if any(
                isinstance(v, bool | str | bytes | np.bool_) or not isinstance(v, numbers.Real | Decimal) for v in flat
            ):
                return None
            array = array.astype(np.float64)
    except (ValueError, TypeError, OverflowError):
        return None
    return array if array.dtype.kind in "fiu" else None


def broadcast(a: Floats, b: Floats) -> None:
    """Refuse two batches whose lengths do not fit."""
    try:
        np.broadcast_shapes(a.shape, b.shape)
    except ValueError:
        raise IncompatibleError(
            f"Batches of shapes {a.shape} and {b.shape} do not fit.", "One length, or a single record.", "Check them."
        ) from None


def first_bad(good: NDArray[np.bool_]) -> int:
    """Position of the first row (all axes but the last, flattened) that has a False entry."""
    per_row = good.reshape(-1, good.shape[-1]).all(axis=-1)
    return int(np.argmin(per_row))


def finite_rows(x: ArrayLike, width: int) -> NDArray[np.bool_]:
    """For `contains`: True where a row is `width` finite numbers; a scalar False where the shape is wrong."""
    try:
        rows = np.asarray(x, dtype=np.float64)
    except (ValueError, TypeError, OverflowError):
        return np.asarray(False)
    if rows.ndim == 0 or rows.shape[-1] != width:
        return np.asarray(False)
    return np.asarray(np.isfinite(rows).all(axis=-1))
