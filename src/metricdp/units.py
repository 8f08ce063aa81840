"""Units of length and their exact ratios; any other unit is a name without a ratio."""

from __future__ import annotations

from fractions import Fraction

from metricdp.errors import IncompatibleError

METRES: dict[str, Fraction] = {
    "m": Fraction(1),
    "cm": Fraction(1, 100),
    "mm": Fraction(1, 1000),
    "km": Fraction(1000),
    "ft": Fraction(3048, 10000),
    "mi": Fraction(1609344, 1000),
    "nmi": Fraction(1852),
}
"""Exact length of one unit in metres."""


def known(unit: str) -> bool:
    """Whether `unit` is a length of the table."""
    return isinstance(unit, str) and unit in METRES


def ratio(old: str, new: str) -> Fraction:
    """How many `old` units make one `new` unit: `ratio("m", "km") == 1000`."""
    if old == new:
        return Fraction(1)
    if not (known(old) and known(new)):
        unknown = new if known(old) else old
        raise IncompatibleError(
            f"There is no exact ratio between the units {old!r} and {new!r}.",
            f"Units of length are accepted: {', '.join(METRES)}.",
            f"State the promise in the unit of the space, or rescale {unknown!r} yourself.",
        )
    return METRES[new] / METRES[old]
