"""Nearest neighbours: laws, exact privacy by enumeration, exactness of the selection, every space."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2

import metricdp as md
from metricdp import queries
from metricdp.noise import Precision, smallest
from metricdp.queries._distances import GlobeDistances, PlaneDistances, Reached, TableDistances
from metricdp.testing import RecordingEntropy, ScriptedEntropy, SeededEntropy

LINE = np.array([[0.0, 0], [1, 0], [2.5, 0], [4, 0]])


def orders(distances, exponent, k):
    """Probability of every ordered choice of k, by its definition."""
    rates = np.exp(-exponent * np.asarray(distances))
    found = {}
    for order in itertools.permutations(range(len(rates)), k):
        left, probability = rates.sum(), 1.0
        for i in order:
            probability *= rates[i] / left
            left -= rates[i]
        found[order] = probability
    return found


@pytest.mark.parametrize("k", [1, 2, 3])
def test_one_draw_has_the_law_of_drawing_one_after_the_other(k):
    trials, source = 30_000, SeededEntropy(k)
    expected = orders(LINE[:, 0], 0.5, k)
    counts = dict.fromkeys(expected, 0)
    for _ in range(trials):
        counts[tuple(queries.nearest_neighbours(LINE, [0, 0], k, epsilon=k, entropy=source).value.tolist())] += 1
    statistic = sum((counts[o] - trials * p) ** 2 / (trials * p) for o, p in expected.items())
    assert statistic < chi2.isf(1e-6, len(expected) - 1)
    wrong = orders(LINE[:, 0], 0.5 * 1.15, k)
    assert sum((counts[o] - trials * p) ** 2 / (trials * p) for o, p in wrong.items()) > chi2.isf(1e-3, len(wrong) - 1)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_neighbours_lose_no_more_than_promised(k):
    rng = np.random.default_rng(k)
    for _ in range(170):
        x = rng.random(5) * 3
        y = np.abs(x + rng.uniform(-1, 1, 5) * rng.random())
        distance, a = abs(x - y).max(), rng.uniform(0.2, 3)
        p, q = orders(x, a, k), orders(y, a, k)
        losses = np.array([math.log(p[o] / q[o]) for o in p])
        assert abs(losses).max() <= 2 * a * k * distance * (1 + 1e-12)
        for alpha in (1.5, 2, 8):
            moment = sum(p[o] ** alpha * q[o] ** (1 - alpha) for o in p)
            assert math.log(moment) / (alpha - 1) <= alpha * k * a * a / 2 * distance**2 * (1 + 1e-9)


def test_exponents_spend_the_budget_and_no_more():
    from metricdp.queries._answer import Budget

    assert Budget.of(3, None).exponent(5) == Fraction(3, 10)
    a = Budget.of(None, "0.37").exponent(7)
    assert 0 <= Fraction("0.37") - 7 * a * a / 2 < Fraction(1, 10**15)


@pytest.mark.parametrize(
    ("scores", "slow"),
    [
        (PlaneDistances(LINE, np.array([0.3, -2.0]), 2), lambda i: math.dist(LINE[i], (0.3, -2))),
        (PlaneDistances(LINE, np.array([0.3, -2.0]), 1), lambda i: abs(LINE[i, 0] - 0.3) + 2),
        (PlaneDistances(LINE, np.array([0.3, -2.0]), math.inf), lambda i: max(abs(LINE[i, 0] - 0.3), 2)),
        (TableDistances(np.array([1.0, 2.0, 0.5, 7.0])), lambda i: [1.0, 2.0, 0.5, 7.0][i]),
    ],
)
def test_floats_and_intervals_enclose_the_distance(scores, slow):
    values, errors = scores.floats()
    for i in range(4):
        exact = scores.interval(i, Precision.of(50))
        assert exact.lo <= exact.hi
        assert abs(exact.float() - values[i]) <= errors[i] + 1e-300
        assert values[i] == pytest.approx(slow(i), rel=1e-14)


def test_great_circles_by_intervals():
    rng = np.random.default_rng(0)
    places = np.column_stack([rng.uniform(-90, 90, 60), rng.uniform(-180, 180, 60)])
    places[:6] = [[0, 0], [90, 0], [-90, 5], [45, 180], [45, -180], [10, 20]]
    globe = md.Geographic("m")
    for query in ([10.0, 20.0], [90.0, 0.0], [-10.0, -160.0], [0.0, 179.9999]):
        scores = GlobeDistances(places, np.array(query), globe)
        values, errors = scores.floats()
        for i in range(60):
            exact = scores.interval(i, Precision.of(40))
            if exact.bounded:
                assert abs(exact.float() - values[i]) <= errors[i]
        assert errors.max() < 1e-3


def test_ties_are_broken_by_more_bits():
    class Tied:
        def floats(self):
            return np.zeros(5), np.zeros(5)

        def interval(self, record, p):
            return p.exact(0)

    def words(*values):
        return b"".join(value.to_bytes(8, "little") for value in values)

    more = [v << 60 for v in (9, 7, 5, 3, 1)]
    scripted = ScriptedEntropy(words(*[7 << 60] * 5, *more))
    assert smallest(Tied(), Fraction(1), 5, scripted).tolist() == [4, 3, 2, 1, 0]
    assert scripted.extra == 0
    with pytest.raises(md.EntropyError):
        smallest(Tied(), Fraction(1), 3, ScriptedEntropy(bytes(10**6)))


def test_wrong_float_errors_would_matter_and_right_ones_do_not():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(200, 2))
    exact = PlaneDistances(points, np.zeros(2), 2)

    class Blurred:
        def floats(self):
            values, errors = exact.floats()
            return values + rng.uniform(-1, 1, 200) * 0.3, errors + 0.3

        interval = staticmethod(exact.interval)

    for seed in range(20):
        a = smallest(exact, Fraction(2), 5, SeededEntropy(seed))
        b = smallest(Blurred(), Fraction(2), 5, SeededEntropy(seed))
        assert a[0] == b[0] or set(a) & set(b)


@pytest.mark.parametrize("method", ["gumbel", "paper"])
@pytest.mark.parametrize("budget", [{"epsilon": 500}, {"rho": 20_000}])
def test_with_much_budget_the_answer_is_right_in_every_space(method, budget):
    rng = np.random.default_rng(5)
    vectors = rng.normal(size=(30, 4))
    found = queries.nearest_neighbours(vectors, vectors[7] * 1.001, 1, method=method, **budget)
    assert found.value.tolist() == [7]
    assert len(found) == 1
    assert np.asarray(found)[0] == found[0] == next(iter(found)) == 7
    globe = md.Geographic("km")
    places = np.array([[48.85, 2.35], [40.7, -74.0], [35.7, 139.7], [-33.9, 18.4]])
    found = queries.nearest_neighbours(places, [51.5, -0.1], 3, space=globe, method=method, **budget)
    assert found.value.tolist() == [0, 1, 2]
    words = md.FiniteSpace.from_points(vectors, labels=[f"w{i}" for i in range(30)])
    column = ["w3", "w9", "w3", "w20"]
    found = queries.nearest_neighbours(column, "w9", 1, space=words, method=method, **budget)
    assert found.value.tolist() == [1]
    assert found.guarantee.space == md.Product(words, 4, "max")


def test_among_and_all():
    found = queries.nearest_neighbours(LINE, [0, 0], 1, epsilon=500, among=[2, 3])
    assert found.value.tolist() == [2]
    everything = queries.nearest_neighbours(LINE, [0, 0], 9, epsilon=1)
    assert everything.value.tolist() == [0, 1, 2, 3]
    assert everything.guarantee.epsilon == 0


@pytest.mark.parametrize("method", ["gumbel", "paper"])
def test_the_error_statement_holds(method):
    rng = np.random.default_rng(1)
    points = rng.random((300, 2)) * 50
    true = np.sort(np.linalg.norm(points - 25, axis=1))
    for seed in range(60):
        found = queries.nearest_neighbours(points, [25, 25], 5, rho=2, method=method, entropy=SeededEntropy(seed))
        excess = np.linalg.norm(points[found.value] - 25, axis=1) - true[:5]
        assert excess.max() <= found.about["excess"]


def test_one_draw_beats_sparse_vector():
    rng = np.random.default_rng(2)
    points = rng.random((2000, 2)) * 1000
    excess = {}
    for method in ("gumbel", "paper"):
        total = 0.0
        for seed in range(40):
            found = queries.nearest_neighbours(
                points, [500, 500], 1, rho="0.005", method=method, entropy=SeededEntropy(seed)
            )
            total += np.linalg.norm(points[found.value[0]] - 500)
        excess[method] = total
    assert excess["paper"] > 3 * excess["gumbel"]


def test_paper_stops_where_naive_drawing_stops():
    trials, source = 6000, SeededEntropy(8)
    counts = np.zeros(4)
    for _ in range(trials):
        counts[queries.nearest_neighbours(LINE, [0, 0], 1, epsilon=3, method="paper", entropy=source).value[0]] += 1
    rng = np.random.default_rng(0)
    naive = np.zeros(4)
    for _ in range(trials):
        level = rng.laplace(scale=1) + rng.laplace(scale=1)
        while not (hit := LINE[:, 0] + rng.laplace(scale=2, size=4) <= level).any():
            pass
        naive[int(np.argmax(hit))] += 1
    pooled = (counts + naive) / 2
    assert ((counts - pooled) ** 2 / pooled + (naive - pooled) ** 2 / pooled).sum() < chi2.isf(1e-6, 3)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"k": 0}, md.InvalidParameterError),
        ({"k": True}, md.InvalidParameterError),
        ({"k": 1.5}, md.InvalidParameterError),
        ({"epsilon": 1, "rho": 1}, md.InvalidParameterError),
        ({"epsilon": None}, md.InvalidParameterError),
        ({"epsilon": -1}, md.InvalidParameterError),
        ({"method": "svt"}, md.InvalidParameterError),
        ({"points": []}, md.MetricDPError),
        ({"points": [[math.nan, 0], [1, 2]]}, md.OutOfSpaceError),
        ({"points": "ab"}, md.MetricDPError),
        ({"query": [1, 2, 3]}, md.MetricDPError),
        ({"query": [[0, 0], [1, 1]]}, md.MetricDPError),
        ({"space": md.Hamming(2)}, md.IncompatibleError),
        ({"space": md.Geographic(), "points": [[99.0, 0], [1, 2]]}, md.OutOfSpaceError),
        ({"among": [7]}, md.InvalidParameterError),
    ],
)
def test_refusals_come_before_sampling(arguments, error):
    source = RecordingEntropy(SeededEntropy(0))
    with pytest.raises(error):
        queries.nearest_neighbours(
            **({"points": LINE, "query": [0, 0], "k": 1, "epsilon": 1, "entropy": source} | arguments)
        )
    assert not source.count
    assert Reached.of(LINE, None).n == 4
