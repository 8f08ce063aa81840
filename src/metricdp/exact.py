"""Exact numbers: parameters are rationals of the decimals that were written, and floats are rounded one way.

`0.1` means one tenth, not the binary number next to it, so budgets add up exactly. Wherever a float is needed, it is
rounded to the safe side by one of the two functions here.
"""

from __future__ import annotations

import math
import numbers
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, InvalidOperation
from fractions import Fraction

from metricdp.errors import IncompatibleError, InvalidParameterError

LARGEST_EXPONENT = 300
"""Parameters lie between 1e-300 and 1e300."""

FARTHEST_EXPONENT = 400
"""Any other number (a distance, a delta) lies between 1e-400 and 1e400, or is 0."""

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
        if isinstance(value, str) and "/" not in value:
            value = Decimal(value)
        if isinstance(value, Decimal) and value and abs(value.adjusted()) > FARTHEST_EXPONENT:
            raise _out_of_range(name)
        if isinstance(value, numbers.Integral):
            exact = Fraction(int(value))
        elif isinstance(value, str | Decimal | Fraction):
            exact = Fraction(value)
        else:
            exact = Fraction(repr(float(value)))
        size = exact.numerator.bit_length() - exact.denominator.bit_length()
        if exact and abs(size) > 3.33 * FARTHEST_EXPONENT:
            raise _out_of_range(name)
    except InvalidParameterError:
        raise
    except (ValueError, OverflowError, ZeroDivisionError, InvalidOperation, TypeError):
        raise InvalidParameterError(
            f"{name} is not a finite number.",
            "A finite decimal is accepted.",
            f"Pass {name} as a number such as 0.01.",
        ) from None
    return exact


def _out_of_range(name: str) -> InvalidParameterError:
    return InvalidParameterError(
        f"{name} leaves the range of float64.",
        f"Sizes from 1e-{LARGEST_EXPONENT} to 1e{LARGEST_EXPONENT}.",
        "Choose another unit of distance.",
    )


def positive(value: object, name: str) -> Fraction:
    """`rational(value)`, refused unless it is greater than zero."""
    exact = rational(value, name)
    if exact <= 0:
        raise InvalidParameterError(
            f"{name} is not positive.",
            f"{name} must be greater than 0.",
            "Choose a positive value; `metricdp explain` shows what a value means.",
        )
    if not Fraction(1, 10**LARGEST_EXPONENT) <= exact <= 10**LARGEST_EXPONENT:
        raise _out_of_range(name)
    return exact


def non_negative(value: object, name: str) -> Fraction:
    """`rational(value)`, refused below zero."""
    exact = rational(value, name)
    if exact < 0:
        raise InvalidParameterError(f"{name} is negative.", f"{name} must be at least 0.", "Drop the sign.")
    return exact


def round_up(exact: Fraction) -> float:
    """The smallest float that is at least `exact`, both as the binary number and as the decimal it prints as."""
    try:
        near = float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.nextafter(math.inf, 0)
    while not math.isinf(near) and min(Fraction(near), Fraction(repr(near))) < exact:
        near = math.nextafter(near, math.inf)
    return near


def round_down(exact: Fraction) -> float:
    """The largest float that is at most `exact`, in both readings."""
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


def decimal_text(exact: Fraction, digits: int = 6, *, up: bool = True) -> str:
    """A short decimal of a rational for people, rounded up (or down) at the last of so many digits."""
    context = Context(prec=digits, rounding=ROUND_CEILING if up else ROUND_FLOOR)
    value = context.divide(Decimal(exact.numerator), Decimal(exact.denominator)).normalize(context)
    return f"{value:f}" if -5 <= value.adjusted() < 12 else f"{value:e}"
