"""Sparse vector against the law that integration gives, and against naive drawing."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import chi2

import metricdp as md
from metricdp import queries
from metricdp.noise import Precision
from metricdp.queries import _sparse_vector as sv
from metricdp.queries._distances import TableDistances
from metricdp.testing import RecordingEntropy, SeededEntropy


def below(t, scale):
    return 0.5 * math.exp(t / scale) if t < 0 else 1 - 0.5 * math.exp(-t / scale)


def stay(t, scale):
    return math.log1p(-0.5 * math.exp(t / scale)) if t < 0 else -math.log(2) - t / scale


def law(values, threshold, one, two, cycle):
    """Probabilities of every stop, by quadrature over W."""

    def at(w, j):
        probabilities = [below(threshold + w - g, 2 / two) for g in values]
        stays = [stay(threshold + w - g, 2 / two) for g in values]
        mine = math.exp(sum(stays[:j])) * (probabilities[j] if j < len(values) else 1)
        return mine / -math.expm1(sum(stays)) if cycle else mine

    def density(w):
        return one / 2 * math.exp(-one * abs(w))

    stops = range(len(values) if cycle else len(values) + 1)
    knots = [g - threshold for g in values] + [0.0]
    return np.array(
        [
            sum(
                quad(lambda w, j=j: at(w, j) * density(w), a, b, limit=200)[0]
                for a, b in zip([-60 / one, *sorted(knots)], [*sorted(knots), 60 / one], strict=True)
            )
            for j in stops
        ]
    )


@pytest.mark.parametrize("cycle", [False, True])
def test_the_stop_has_its_law(cycle):
    values, trials = [2.0, 0.5, 1.0, -0.5], 20_000
    expected = law(values, 0.3, 0.5, 0.5, cycle) * trials
    counts = np.zeros(len(expected))
    source = SeededEntropy(3)
    for _ in range(trials):
        found = queries.sparse_vector(values, "0.3", epsilon=1, cycle=cycle, entropy=source).value
        counts[len(values) if found is None else found] += 1
    assert expected.sum() == pytest.approx(trials, rel=1e-6)
    assert ((counts - expected) ** 2 / expected).sum() < chi2.isf(1e-6, len(expected) - 1)
    wrong = law(values, 0.3, 0.5 * 1.15, 0.5 * 1.15, cycle) * trials
    assert ((counts - wrong) ** 2 / wrong).sum() > ((counts - expected) ** 2 / expected).sum()


@pytest.mark.parametrize("cycle", [False, True])
def test_neighbouring_values_lose_no_more_than_epsilon(cycle):
    rng = np.random.default_rng(0)
    for _ in range(12):
        x = rng.normal(size=3)
        y = x + rng.uniform(-1, 1, size=3) * 0.7
        distance = abs(x - y).max()
        p, q = law(x.tolist(), 0.2, 0.4, 0.6, cycle), law(y.tolist(), 0.2, 0.4, 0.6, cycle)
        assert abs(np.log(p / q)).max() <= distance * (1 + 1e-6)


@pytest.mark.parametrize("cycle", [False, True])
def test_floats_and_intervals_decide_alike(cycle):
    rng = np.random.default_rng(1)
    for seed in range(150):
        scores = TableDistances(rng.normal(size=6) * rng.choice([0.1, 1, 30]))
        source = SeededEntropy(seed)
        threshold = sv.Noisy.of(lambda p: p.exact(Fraction(1, 3)), (Fraction(2),), source)
        key = (int.from_bytes(source.read(8), "little"), 64)
        values, errors = scores.floats()
        quick = sv._in_floats(values, errors, threshold.floats(), 4.0, key, cycle)
        slow = sv._in_intervals(scores, 6, threshold, Fraction(4), key, cycle)
        assert quick is sv._OPEN or slow is sv._OPEN or quick == slow
        assert quick is not sv._OPEN or scores.values.min() > 30


def test_values_far_above_are_still_decided():
    scores = TableDistances(np.array([900.0, 901.0, 5000.0]))
    counts = np.zeros(3)
    for seed in range(60):
        source = SeededEntropy(seed)
        threshold = sv.Noisy.of(lambda p: p.exact(0), (Fraction(1, 100),), source)
        counts[sv.stop(scores, threshold, Fraction(1), cycle=True, source=source)] += 1
    assert counts[0] > counts[1] > 0
    assert counts[2] == 0


def test_noise_is_laplace_on_both_sides():
    source = SeededEntropy(0)
    draws = [
        sv.Noisy.of(lambda p: p.exact(5), (Fraction(2),), source).interval(Precision.of(40)).float() - 5
        for _ in range(4000)
    ]
    assert abs(np.mean(draws)) < 0.3
    assert np.mean(np.abs(draws)) == pytest.approx(2, rel=0.1)


def test_options(tmp_path):
    space = md.Product(md.Euclidean(2), 4, "max")
    answer = queries.sparse_vector([9, 9, 9, -50], 0, epsilon=5, among=[3, 0], split=(1, "1.587"), space=space)
    assert answer.value == 3
    assert answer.guarantee.epsilon == 5
    assert answer.guarantee.space == space
    assert queries.sparse_vector([9.0] * 3, 0, epsilon=100).value is None
    assert queries.sparse_vector([9.0] * 3, 0, epsilon=100, offset=20).value == 0
    budget = md.Ledger(tmp_path / "b", limit=md.Guarantee.pure(5, space))
    queries.sparse_vector([1, 2, 3, 4], 0, epsilon=5, space=space, ledger=budget)
    source = RecordingEntropy(SeededEntropy(0))
    with pytest.raises(md.LossLimitExceeded):
        queries.sparse_vector([1, 2, 3, 4], 0, epsilon=1, space=space, ledger=budget, entropy=source)
    assert not source.count


@pytest.mark.parametrize(
    "arguments",
    [
        {"values": []},
        {"values": [math.nan]},
        {"values": "ab"},
        {"values": [[1.0]]},
        {"threshold": math.inf},
        {"epsilon": 0},
        {"constant": -1},
        {"split": (1, 0)},
        {"split": 3},
        {"among": [5]},
        {"among": [0, 0]},
        {"among": []},
        {"among": [0.5]},
        {"offset": "x"},
        {"subject": "ann"},
    ],
)
def test_refusals_come_before_sampling(arguments):
    source = RecordingEntropy(SeededEntropy(0))
    with pytest.raises(md.MetricDPError):
        queries.sparse_vector(**({"values": [1.0, 2.0], "threshold": 0, "epsilon": 1, "entropy": source} | arguments))
    assert not source.count
