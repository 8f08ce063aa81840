"""Decimal intervals against python-flint balls."""

import math
from decimal import Decimal
from fractions import Fraction

import flint
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metricdp.noise._interval import Interval, Precision, angle

P = Precision.of(45)
NUMBERS = st.fractions(min_value=-7, max_value=7, max_denominator=10**6)


def ball(q):
    flint.ctx.prec = 400
    return flint.arb(q.numerator) / q.denominator


def holds(interval, value, slack=Decimal("1e-40")):
    """The interval encloses the ball and is narrow."""
    low, high = (Fraction(end) if end.adjusted() > -200 else Fraction(0) for end in (interval.lo, interval.hi))
    middle, blur = Fraction(value.str(80, radius=False)), Fraction(1, 10**75)
    return low <= middle + blur and middle - blur <= high and high - low <= Fraction(slack)


@given(NUMBERS, NUMBERS)
def test_arithmetic(a, b):
    x, y = P.exact(a), P.exact(b)
    for ours, exact in ((x + y, a + b), (x - y, a - b), (x * y, a * b), (x.square(), a * a), (-x, -a)):
        assert Fraction(ours.lo) <= exact <= Fraction(ours.hi)
    if b:
        quotient = x / y
        assert Fraction(quotient.lo) <= a / b <= Fraction(quotient.hi)
    else:
        assert not (x / y).hi.is_finite()


@given(NUMBERS)
def test_functions(a):
    x, reference = P.exact(a), ball(a)
    cosine, sine = x.cos_sin()
    assert holds(cosine, reference.cos())
    assert holds(sine, reference.sin())
    assert holds(x.exp(), reference.exp(), Decimal("1e-38"))
    if a > 0:
        assert holds(x.ln(), reference.log())
        assert holds(x.sqrt(), reference.sqrt())


@given(NUMBERS, NUMBERS)
def test_angles(a, b):
    if a == 0 and b <= 0:
        return
    ours = angle(P.exact(a), P.exact(b))
    assert holds(ours, flint.arb.atan2(ball(a), ball(b)))


@given(NUMBERS, st.fractions(min_value=0, max_value=Fraction(1, 100)))
def test_wide_intervals_enclose_both_ends(a, width):
    x = Interval(P.exact(a).lo, P.exact(a + width).hi, P)
    for end in (a, a + width, a + width / 3):
        cosine, sine = x.cos_sin()
        assert Fraction(cosine.lo) <= Fraction(str(ball(end).cos().mid().str(60, radius=False))) <= Fraction(cosine.hi)
        assert Fraction(sine.lo) <= Fraction(str(ball(end).sin().mid().str(60, radius=False))) <= Fraction(sine.hi)


def test_pi():
    for digits in (30, 60, 300):
        found = Precision.of(digits).pi()
        flint.ctx.prec = 2000
        assert holds(found, flint.arb.pi(), Decimal((0, (1,), 4 - digits)))


def test_nothing_is_promised_where_nothing_is_known():
    everything = P.exact(0).everything()
    assert everything.cos_sin()[0].lo == -1
    assert not P.exact(0).ln().lo.is_finite()
    assert P.exact(-1).sqrt().hi < Decimal("1e-9999")
    assert not angle(everything, P.exact(1)).hi.is_finite()
    assert angle(P.exact(0), P.exact(0)).width == Decimal("Infinity")


def test_uniform_prefixes_enclose_all_continuations():
    piece = P.uniform(5, 3)
    assert Fraction(piece.lo) <= Fraction(5, 8)
    assert Fraction(piece.hi) >= Fraction(6, 8)
    assert piece.float() == pytest.approx(11 / 16)
    assert math.isclose(float(piece.width), 1 / 8)
