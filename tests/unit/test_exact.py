"""Exact numbers and units."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metricdp import exact, units
from metricdp.errors import IncompatibleError, InvalidParameterError

FRACTIONS = st.fractions(min_value=Fraction(1, 10**30), max_value=10**30)


@pytest.mark.parametrize("value", [0.1, "0.1", Decimal("0.1"), Fraction(1, 10), np.float64(0.1)])
def test_numbers_stand_for_the_decimals_that_were_written(value):
    assert exact.rational(value, "x") == Fraction(1, 10)


@pytest.mark.parametrize("value", [True, None, [1], 1j, np.bool_(True), b"1"])
def test_other_types_are_refused(value):
    with pytest.raises(IncompatibleError):
        exact.rational(value, "x")


@pytest.mark.parametrize("value", ["nan", "inf", math.nan, math.inf, -math.inf, "a", "", "1/0", Decimal("NaN")])
def test_numbers_that_are_none_are_refused(value):
    with pytest.raises(InvalidParameterError):
        exact.rational(value, "x")


def test_signs():
    for bad in (0, -1, "-0.5"):
        with pytest.raises(InvalidParameterError):
            exact.positive(bad, "x")
    assert exact.non_negative(0, "x") == 0
    with pytest.raises(InvalidParameterError):
        exact.non_negative(-1, "x")


@given(FRACTIONS)
def test_rounding_goes_one_way_and_no_further(q):
    up, down = exact.round_up(q), exact.round_down(q)
    assert Fraction(down) <= q <= Fraction(up)
    assert up <= math.nextafter(math.nextafter(math.nextafter(down, math.inf), math.inf), math.inf)
    assert Fraction(repr(down)) <= q <= Fraction(repr(up))
    assert exact.round_up(-q) == -down


def test_rounding_at_the_ends():
    assert exact.round_up(Fraction(10) ** 400) == math.inf
    assert exact.round_down(Fraction(10) ** 400) < math.inf
    assert exact.round_up(Fraction(1, 10**400)) == 5e-324
    assert exact.round_down(Fraction(1, 10**400)) == 0.0


@given(FRACTIONS)
def test_square_roots_are_rounded_up_a_little(q):
    root = exact.sqrt_up(q)
    assert q <= root * root <= q * (1 + Fraction(1, 2**62))
    assert exact.sqrt_up(q * q) == q


@given(FRACTIONS)
def test_short_texts_never_understate(q):
    assert Fraction(exact.decimal_text(q)) >= q
    assert Fraction(exact.decimal_text(q)) <= q * (1 + Fraction(2, 10**5))


def test_units_are_exact():
    assert units.ratio("m", "km") == 1000
    assert units.ratio("mi", "m") == Fraction(1000, 1609344)
    assert units.ratio("any", "any") == 1
    with pytest.raises(IncompatibleError):
        units.ratio("m", "word")
