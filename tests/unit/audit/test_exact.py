"""The white-box audit against a slow oracle in rationals that tries every set of outputs."""

import itertools
import math
from fractions import Fraction

import flint
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import metricdp as md
from metricdp import audit

WORDS = ["a", "b", "c"]


def oracle(rows, distances, delta):
    """Smallest epsilon at 200 bits by trying every set of outputs; None for infinity."""
    flint.ctx.prec = 200
    worst = flint.arb(0)
    for i, j in itertools.permutations(range(len(rows)), 2):
        need = Fraction(1)
        for size in range(1, len(rows[0]) + 1):
            for chosen in itertools.combinations(range(len(rows[0])), size):
                a = sum(Fraction(rows[i][k]) for k in chosen)
                b = sum(Fraction(rows[j][k]) for k in chosen)
                if a - delta > 0 and b == 0:
                    return None
                if b > 0:
                    need = max(need, (a - delta) / b)
        if distances[i][j] == 0:
            if need > 1:
                return None
            continue
        value = (flint.arb(need.numerator) / need.denominator).log() / flint.arb(distances[i][j])
        worst = max(worst, value)
    return float(worst.mid())


@st.composite
def problems(draw):
    n, k = draw(st.integers(2, 4)), draw(st.integers(1, 4))
    weights = [draw(st.lists(st.integers(0, 9), min_size=k, max_size=k).filter(any)) for _ in range(n)]
    rows = np.array(weights, float) / np.sum(weights, axis=1, keepdims=True)
    spots = draw(st.lists(st.integers(0, 6), min_size=n, max_size=n))
    distances = np.abs(np.subtract.outer(spots, spots)).astype(float)
    return rows, distances, draw(st.sampled_from([Fraction(0), Fraction(1, 100), Fraction(1, 7), Fraction(1, 2)]))


@given(problems())
def test_it_equals_the_oracle_from_above(problem):
    rows, distances, delta = problem
    expected = oracle(rows.tolist(), distances.tolist(), delta)
    found = audit.exact(rows, distances, delta)
    if expected is None:
        assert math.isinf(found.epsilon)
        assert found.infinite_pairs >= len({(i, j) for i, j, _ in found.infinite}) > 0
    else:
        assert expected * (1 - 1e-15) <= found.epsilon <= expected * (1 + 1e-12) + 1e-300


def test_many_ties_are_still_tight():
    space = md.FiniteSpace(range(40), np.ones((40, 40)) - np.eye(40))
    rows = np.full((40, 40), 1.0) + np.eye(40) * 3
    rows /= rows.sum(axis=1, keepdims=True)
    report = audit.exact(rows, space)
    assert math.log(4) <= report.epsilon * (1 + 1e-15)
    assert report.epsilon == pytest.approx(math.log(4), rel=1e-12)


def test_the_worst_pair_is_named():
    rows = [[0.5, 0.5], [0.5, 0.5], [0.9, 0.1]]
    report = audit.exact(rows, md.FiniteSpace(WORDS, [[0, 1, 2], [1, 0, 3], [2, 3, 0]], "km"))
    assert report.worst == (0, 2)
    assert report.output == 1
    assert report.distance == 2
    assert "per km" in str(report)
    assert report.meets(1)
    assert not report.meets("0.8")


def test_infinite_loss_is_listed():
    report = audit.exact([[1.0, 0.0], [0.5, 0.5], [0.5, 0.5]], md.Discrete(WORDS))
    assert math.isinf(report.epsilon)
    assert set(report.infinite) == {(1, 0, 1), (2, 0, 1)}
    assert report.infinite_pairs == 2
    assert not report.meets(10**6)
    assert "infinite loss" in str(report)
    assert audit.exact([[1.0, 0.0], [0.5, 0.5]], md.Discrete(["a", "b"]), 0.5).epsilon == pytest.approx(math.log(1))


def test_equal_rows_and_single_rows_lose_nothing():
    assert audit.exact(np.full((3, 7), 1 / 7), md.Discrete(WORDS)).epsilon == 0
    assert audit.exact([[0.25, 0.75]], md.Discrete(["a"])).epsilon == 0
    assert "nothing to compare" in str(audit.exact([[1.0]], [[0.0]]))


def test_pairs_at_distance_zero_and_infinity():
    rows = [[0.5, 0.5], [0.4, 0.6]]
    assert math.isinf(audit.exact(rows, [[0, 0], [0, 0]]).epsilon)
    assert audit.exact(rows, [[0, 0], [0, 0]], "0.2").epsilon == 0
    assert audit.exact(rows, [[0, math.inf], [math.inf, 0]]).epsilon == 0


@pytest.mark.parametrize(
    ("matrix", "space", "error"),
    [
        ([[0.5, 0.6], [0.5, 0.5]], [[0, 1], [1, 0]], md.InvalidParameterError),
        ([[1.5, -0.5], [0.5, 0.5]], [[0, 1], [1, 0]], md.InvalidParameterError),
        ([[math.nan, 1], [0.5, 0.5]], [[0, 1], [1, 0]], md.InvalidParameterError),
        ([[0.5, 0.5], [0.5, 0.5]], [[0, -1], [1, 0]], md.InvalidParameterError),
        ([[0.5, 0.5], [0.5, 0.5]], [[0, 1]], md.IncompatibleError),
        ([[0.5, 0.5], [0.5, 0.5]], "distances", md.IncompatibleError),
        ([0.5, 0.5], [[0]], md.IncompatibleError),
        ("matrix", [[0]], md.IncompatibleError),
        ([[]], [[0]], md.IncompatibleError),
    ],
)
def test_what_is_no_mechanism_is_refused(matrix, space, error):
    with pytest.raises(error):
        audit.exact(matrix, space)
    with pytest.raises(md.InvalidParameterError):
        audit.exact([[1.0]], [[0.0]], 1)


TWO = [[0, 1], [1, 0]]


@pytest.mark.parametrize(
    ("rows", "delta"),
    [
        ([[0.1, 0.9], [0, 1.0]], "0.1"),  # the float 0.1 is more than a tenth
        ([[0.5, 0.5], [0, 1.0]], float(np.nextafter(0.5, 0))),
        ([[5e-324, 1], [0, 1.0]], 0),
    ],
)
def test_a_hair_of_impossible_mass_is_infinite_loss(rows, delta):
    report = audit.exact(rows, TWO, delta)
    assert math.isinf(report.epsilon)
    assert report.infinite == ((0, 1, 0),)
    assert report.infinite_pairs == 1
    hidden = [[0.1, 0.9], [0, 1.0], [0.6, 0.4]]
    distances = [[0, 1, math.inf], [1, 0, math.inf], [1, math.inf, 0]]
    assert math.isinf(audit.exact(hidden, distances, "0.1").epsilon)


def test_a_hair_of_impossible_mass_in_integers():
    table = np.array([[2**61 + 1, 2**61 - 1], [0, 2**62]], dtype=np.uint64)
    channel = md.Channel(md.Discrete(["a", "b"]), table)
    assert math.isinf(audit.exact(channel, delta="0.5").epsilon)
    exactly = np.array([[2**61, 2**61], [0, 2**62]], dtype=np.uint64)
    assert audit.exact(md.Channel(md.Discrete(["a", "b"]), exactly), delta="0.5").epsilon == 0


@pytest.mark.parametrize("tiny", [5e-324, 1e-309])
def test_denormal_probabilities_are_not_zero(tiny):
    rows = [[0.5, 0.5], [tiny, 1.0]]
    assert audit.exact(rows, TWO).epsilon == pytest.approx(math.log(0.5) - math.log(tiny), rel=1e-12)
    assert audit.exact(rows, TWO, "0.01").epsilon == pytest.approx(math.log(0.49) - math.log(tiny), rel=1e-12)


def test_hundreds_of_tied_pairs_are_decided_exactly():
    n = 30
    for epsilon in (0.1, 1e-4):
        rows = np.full((n, n), 1.0) + np.eye(n) * math.expm1(epsilon)
        channel = md.Channel.from_matrix(md.Discrete(range(n)), rows / rows.sum(axis=1, keepdims=True))
        assert channel.certify().certificate.epsilon == pytest.approx(epsilon, rel=1e-10)
        ratios = [max(map(int, row)) / min(map(int, row)) for row in channel.weights]
        assert channel.certify().certificate.epsilon <= math.log(max(ratios)) * (1 + 1e-11)
