"""Intervals with decimal endpoints, rounded outward: what decides a rounding that floats cannot.

The standard library's `decimal` rounds +, -, × and / as told and `sqrt`, `ln`, `exp` to the nearest; sine, cosine and
the angle of a vector are computed here with their remainders. Operators on `Decimal` itself (unary minus and `abs` too)
round to the precision of the calling thread, so only contexts, `copy_negate` and `copy_abs` are used here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from functools import lru_cache

WIDE = 10**8
"""Largest exponent; nothing here comes near it."""


def power_of_ten(exponent: int) -> Decimal:
    """10**exponent, whatever the calling thread's precision."""
    return Decimal((0, (1,), exponent))


def context(digits: int, rounding: str = ROUND_HALF_EVEN) -> Context:
    """A context that traps nothing; intervals check for themselves whether their ends are finite."""
    return Context(prec=digits, rounding=rounding, Emax=WIDE, Emin=-WIDE, traps=[])


@dataclass(frozen=True, slots=True)
class Precision:
    """Contexts that round down and up at some number of digits."""

    digits: int
    down: Context
    up: Context

    @staticmethod
    @lru_cache(maxsize=64)
    def of(digits: int) -> Precision:
        """The precision with this many digits."""
        return Precision(digits, context(digits, ROUND_FLOOR), context(digits, ROUND_CEILING))

    def exact(self, value: Fraction | float) -> Interval:
        """A rational or float as an interval."""
        q = Fraction(value)
        top, bottom = Decimal(q.numerator), Decimal(q.denominator)
        return Interval(self.down.divide(top, bottom), self.up.divide(top, bottom), self)

    def uniform(self, prefix: int, bits: int) -> Interval:
        """All numbers whose bits begin with the prefix: [k, k+1]·2^-bits."""
        scale = Decimal(1 << bits)
        return Interval(self.down.divide(prefix, scale), self.up.divide(prefix + 1, scale), self)

    def pi(self) -> Interval:
        """Pi by Machin's formula 16·arctan(1/5) - 4·arctan(1/239)."""
        return _pi(self)


@lru_cache(maxsize=64)
def _pi(p: Precision) -> Interval:
    def arctan_of_inverse(n: int) -> Interval:
        x = p.exact(Fraction(1, n))
        square, power, total, k = x * x, x, x, 1
        while power.hi > power_of_ten(-p.digits - 2):
            power = power * square
            k += 2
            step = power / p.exact(k)
            total = total - step if k % 4 == 3 else total + step
        return total.widened(power.hi)

    return p.exact(16) * arctan_of_inverse(5) - p.exact(4) * arctan_of_inverse(239)


@dataclass(frozen=True, slots=True)
class Interval:
    """All real numbers from lo to hi; every operation encloses all its possible results."""

    lo: Decimal
    hi: Decimal
    p: Precision

    @property
    def bounded(self) -> bool:
        """Whether both ends are finite; an operation on anything else promises nothing."""
        return self.lo.is_finite() and self.hi.is_finite()

    def everything(self) -> Interval:
        """The interval that promises nothing."""
        return Interval(Decimal("-Infinity"), Decimal("Infinity"), self.p)

    def __add__(self, other: Interval) -> Interval:
        if not (self.bounded and other.bounded):
            return self.everything()
        return Interval(self.p.down.add(self.lo, other.lo), self.p.up.add(self.hi, other.hi), self.p)

    def __sub__(self, other: Interval) -> Interval:
        return self + -other

    def __neg__(self) -> Interval:
        return Interval(self.hi.copy_negate(), self.lo.copy_negate(), self.p)

    def __mul__(self, other: Interval) -> Interval:
        if not (self.bounded and other.bounded):
            return self.everything()
        pairs = [(a, b) for a in (self.lo, self.hi) for b in (other.lo, other.hi)]
        low, high = (min(self.p.down.multiply(a, b) for a, b in pairs), max(self.p.up.multiply(a, b) for a, b in pairs))
        return Interval(low, high, self.p)

    def __truediv__(self, other: Interval) -> Interval:
        if not (self.bounded and other.bounded) or other.lo <= 0 <= other.hi:
            return self.everything()
        pairs = [(a, b) for a in (self.lo, self.hi) for b in (other.lo, other.hi)]
        low, high = (min(self.p.down.divide(a, b) for a, b in pairs), max(self.p.up.divide(a, b) for a, b in pairs))
        return Interval(low, high, self.p)

    @property
    def width(self) -> Decimal:
        """Hi - lo, rounded up."""
        return self.p.up.subtract(self.hi, self.lo)

    def widened(self, by: Decimal) -> Interval:
        """Both ends moved outward."""
        return Interval(self.p.down.subtract(self.lo, by), self.p.up.add(self.hi, by), self.p)

    def square(self) -> Interval:
        """x·x, never negative."""
        if not self.bounded:
            return self.everything()
        low, high = sorted((self.lo.copy_abs(), self.hi.copy_abs()))
        if self.lo <= 0 <= self.hi:
            low = Decimal(0)
        return Interval(self.p.down.multiply(low, low), self.p.up.multiply(high, high), self.p)

    def sqrt(self) -> Interval:
        """Square root of the non-negative part."""
        if not self.bounded:
            return self.everything()
        low, high = (self.p.down.sqrt(max(end, Decimal(0))) for end in (self.lo, self.hi))
        return Interval(max(self.p.down.next_minus(low), Decimal(0)), self.p.up.next_plus(high), self.p)

    def ln(self) -> Interval:
        """Natural logarithm; nothing is promised where the interval touches 0."""
        if not self.bounded or self.lo <= 0:
            return self.everything()
        low, high = self.lo.ln(self.p.down), self.hi.ln(self.p.up)
        return Interval(self.p.down.next_minus(low), self.p.up.next_plus(high), self.p)

    def exp(self) -> Interval:
        """Exponential."""
        if not self.bounded:
            return self.everything()
        low, high = self.lo.exp(self.p.down), self.hi.exp(self.p.up)
        return Interval(self.p.down.next_minus(low), self.p.up.next_plus(high), self.p)

    def cos_sin(self) -> tuple[Interval, Interval]:
        """Cosine and sine, for |x| < 8: Taylor series at the middle, widened by remainder and half width."""
        if not self.bounded or max(self.lo.copy_abs(), self.hi.copy_abs()) > 8:
            everything = Interval(Decimal(-1), Decimal(1), self.p)
            return everything, everything
        work = context(self.p.digits + 12)
        middle = work.divide(work.add(self.lo, self.hi), 2)
        radius = self.p.up.add(self.width, power_of_ten(-self.p.digits - 4))
        sums = [Decimal(1), middle]
        term, k = middle, 1
        while term.copy_abs() > power_of_ten(-self.p.digits - 6) or k < 16:
            k += 1
            term = work.divide(work.multiply(term, middle), k)
            sums[k % 2] = work.add(sums[k % 2], term.copy_negate() if k % 4 in (2, 3) else term)
        cosine, sine = (Interval(value, value, self.p).widened(radius) for value in sums)
        return cosine, sine

    def float(self) -> float:
        """Some float near the middle."""
        return float(self.p.up.divide(self.p.up.add(self.lo, self.hi), 2))


def angle(y: Interval, x: Interval) -> Interval:
    """The angle of the vector (x, y) in (-pi, pi], as atan2: a float guess, turned back, and the arctangent series."""
    p = x.p
    if not (x.bounded and y.bounded):
        return x.everything()
    guess = math.atan2(y.float(), x.float())
    start = p.exact(guess)
    cosine, sine = start.cos_sin()
    along = x * cosine + y * sine
    ratio = (y * cosine - x * sine) / along
    if along.lo <= 0 or not ratio.bounded or max(ratio.lo.copy_abs(), ratio.hi.copy_abs()) > Decimal("0.01"):
        return start.everything()
    square, power, total, k = ratio.square(), ratio, ratio, 1
    while max(power.lo.copy_abs(), power.hi.copy_abs()) > power_of_ten(-p.digits - 20) and k < 200:
        power = power * square
        k += 2
        step = power / p.exact(k)
        total = total - step if k % 4 == 3 else total + step
    return start + total.widened(max(power.lo.copy_abs(), power.hi.copy_abs()))
