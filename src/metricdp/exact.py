"""Exact numbers: parameters are rationals of the decimals that were written, and floats are rounded one way.

`0.1` means one tenth, not the binary number next to it, so budgets add up exactly. Wherever a float is needed, it is
rounded to the safe side by one of the two functions here.
"""

from __future__ import annotations

import math
import numbers
from decimal import Decimal, InvalidOperation
from fractions import Fraction

from metricdp.errors import IncompatibleError, InvalidParameterError

Number = int | float | str | Decimal | Fraction
"""What a parameter may be written as."""


def rational(value: object, name: str) -> Fraction:
    """The exact rational of the decimal that was written.

    A float stands for the shortest decimal that prints as it, so `rational(0.1, "epsilon") == Fraction(1, 10)`.

    Args:
        value: an integer, a float, a `Decimal`, a `Fraction`, or a string such as "0.01" or "1/3".
        name: what the parameter is called, for the message.

    Raises:
        IncompatibleError: it is not a number.
        InvalidParameterError: it is NaN or infinite, or the string is no number.
    """
    if isinstance(value, bool) or not isinstance(value, numbers.Real | Decimal | str):
        raise IncompatibleError(
            f"{name} is a {type(value).__name__}.",
            "A number is accepted: int, float, Decimal, Fraction, or a decimal string.",
            f"Pass {name} as a number.",
        )
    try:
        if isinstance(value, str | Decimal | Fraction | int):
            return Fraction(value)
        return Fraction(repr(float(value)))
    except (ValueError, OverflowError, ZeroDivisionError, InvalidOperation, TypeError):
        raise InvalidParameterError(
            f"{name} = {value!r} is not a finite number.",
            "A finite decimal is accepted.",
            f"Pass {name} as a number such as 0.01.",
        ) from None


def positive(value: object, name: str) -> Fraction:
    """`rational(value)`, refused unless it is greater than zero."""
    exact = rational(value, name)
    if exact <= 0:
        raise InvalidParameterError(
            f"{name} = {value} is not positive.",
            f"{name} must be greater than 0.",
            "Choose a positive value; `metricdp explain` shows what a value means.",
        )
    return exact


def non_negative(value: object, name: str) -> Fraction:
    """`rational(value)`, refused below zero."""
    exact = rational(value, name)
    if exact < 0:
        raise InvalidParameterError(f"{name} = {value} is negative.", f"{name} must be at least 0.", "Drop the sign.")
    return exact


def round_up(exact: Fraction) -> float:
    """The smallest float that is at least `exact`."""
    try:
        near = float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.nextafter(math.inf, 0)
    return near if Fraction(near) >= exact else math.nextafter(near, math.inf)


def round_down(exact: Fraction) -> float:
    """The largest float that is at most `exact`."""
    return -round_up(-exact)


def sqrt_up(exact: Fraction) -> Fraction:
    """A rational at least the square root of `exact`, less than 2**-64 above it (relatively); exact for squares."""
    shift = max(0, 66 - exact.numerator.bit_length() // 2 + exact.denominator.bit_length() // 2)
    scaled = -((-exact.numerator << (2 * shift)) // exact.denominator)
    root = math.isqrt(scaled)
    if root * root < scaled:
        root += 1
    result = Fraction(root, 1 << shift)
    exact_root = Fraction(math.isqrt(exact.numerator), math.isqrt(exact.denominator))
    return exact_root if exact_root * exact_root == exact else result


def decimal_text(exact: Fraction, digits: int = 6) -> str:
    """A short decimal of a rational for people: exact where it is short, else rounded *up* at the last digit."""
    as_float = float(exact)
    short = repr(as_float)
    if Fraction(short) == exact and len(short) <= digits + 3:
        return short.removesuffix(".0")
    rounded = Decimal(f"{as_float:.{digits - 1}e}")
    if Fraction(rounded) < exact:
        rounded = rounded + Decimal((0, (1,), int(rounded.as_tuple().exponent)))
    return f"{float(rounded):.{digits}g}"
