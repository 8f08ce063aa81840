"""Private hulls: steps, budgets, errors, and the two methods side by side."""

import math
from fractions import Fraction

import numpy as np
import pytest

import metricdp as md
from metricdp import queries
from metricdp.noise import Precision, draw_reals
from metricdp.queries import _hull
from metricdp.queries._answer import Budget
from metricdp.queries._distances import PlaneDistances, Reached
from metricdp.queries._sparse_vector import greatest, least
from metricdp.testing import RecordingEntropy, SeededEntropy

RNG = np.random.default_rng(0)
CITY = np.vstack([RNG.normal(size=(1000, 2)) * 2000, RNG.random((1000, 2)) * 12_000 - 6000])


def support(points, angles):
    return (points @ np.stack([np.cos(angles), np.sin(angles)])).max(axis=0)


def hausdorff(a, b):
    """Between the hulls of two sets of points: the largest difference of support functions."""
    angles = np.linspace(0, 2 * math.pi, 720, endpoint=False)
    return float(abs(support(a, angles) - support(b, angles)).max())


@pytest.mark.parametrize("method", ["double_circle", "paper"])
@pytest.mark.parametrize("budget", [{"rho": "0.01"}, {"epsilon": 5}])
def test_with_much_budget_the_outline_is_found(method, budget):
    hull = queries.convex_hull(CITY, method=method, entropy=SeededEntropy(1), **budget)
    assert hausdorff(hull.vertices, CITY) < hull.about["error"] < (3000 if method == "double_circle" else 15_000)
    assert hull.guarantee.space == md.Product(md.Euclidean(2), 2000, "max")
    assert len(hull.points) == len(hull.anchors) == len(set(hull.anchors.tolist()))
    assert sum(hull.about["split"]) == pytest.approx(1)


def test_the_printed_error_holds():
    for seed in range(30):
        hull = queries.convex_hull(CITY, rho="5e-4", entropy=SeededEntropy(seed))
        assert hausdorff(hull.vertices, CITY) <= hull.about["error"]


def test_the_double_circle_is_several_times_better():
    total = {}
    for method in ("double_circle", "paper"):
        errors = [
            hausdorff(queries.convex_hull(CITY, rho="5e-5", method=method, entropy=SeededEntropy(s)).vertices, CITY)
            for s in range(8)
        ]
        total[method] = sum(errors)
    assert total["paper"] > 2 * total["double_circle"]


def test_the_budget_is_spent_once():
    split = (1, 2, 3)
    hull = queries.convex_hull(CITY[:300], rho=6, split=split, k=9, entropy=SeededEntropy(2))
    assert hull.about["split"] == pytest.approx((1 / 6, 2 / 6, 3 / 6))
    assert hull.about["k"] == 9
    assert hull.guarantee.rho == 6
    plan = _hull._bounded(
        300, 9, 10.0, Budget.of(None, 6), "double_circle", (Fraction(1, 6), Fraction(1, 3), Fraction(1, 2))
    )
    assert 9 * plan.selection.exponent(9) ** 2 / 2 <= 2
    assert plan.release.rho == 3


def test_the_error_of_the_shape_falls_with_the_square():
    """Selections and releases without noise: only the number of places is left."""
    angles = np.sort(RNG.random(4000)) * 2 * math.pi
    circle = np.column_stack([np.cos(angles), np.sin(angles)]) * 1000
    for k in (8, 16, 32):
        hull = queries.convex_hull(circle, rho=1e9, k=k, entropy=SeededEntropy(k))
        assert hausdorff(hull.vertices, circle) <= 2 * math.pi**2 * 1000 / k**2 / (1 - 2 * math.pi / k) + 1


def test_centre_and_radius_have_their_noise():
    reached = Reached.of(CITY, None)
    source = SeededEntropy(5)
    middle = (CITY.min(axis=0) + CITY.max(axis=0)) / 2
    found = [_hull._framed(reached, Budget.of(None, "3e-6"), source) for _ in range(300)]
    centres = np.array([centre for centre, _ in found])
    deviation = math.sqrt(1 / (2 * 1e-6))
    assert np.abs(centres.mean(axis=0) - middle).max() < 5 * deviation / math.sqrt(300)
    assert centres.std(axis=0) == pytest.approx([deviation] * 2, rel=0.2)
    held = [np.linalg.norm(CITY - centre, axis=1).max() <= radius for centre, radius in found]
    assert np.mean(held) > 0.93


def test_reals_are_rounded_as_floats_are():
    mechanism = md.Gaussian(md.Euclidean(2), 1)
    step = float(mechanism.step)
    for seed in range(20):
        at = np.random.default_rng(seed).normal(size=2)
        a = mechanism.release(at, entropy=SeededEntropy(seed))
        reals = [lambda p, v=v: p.exact(Fraction(float(v)) / mechanism._step) for v in at]
        b = np.array(draw_reals(mechanism._law, reals, SeededEntropy(seed))) * step
        assert np.abs(a - b).max() < 8 * mechanism.error(0.999)
    scores = PlaneDistances(CITY, np.zeros(2), 2)
    distances = np.linalg.norm(CITY, axis=1)
    assert greatest(scores, Precision.of(40)).float() == pytest.approx(distances.max(), rel=1e-15)
    assert least(scores, Precision.of(40)).float() == pytest.approx(distances.min(), rel=1e-12)


@pytest.mark.parametrize(
    "points",
    [[[1.0, 2.0]], [[1.0, 2.0]] * 30, [[0.0, 0.0], [1.0, 1.0]], np.column_stack([np.arange(50.0), np.zeros(50)])],
    ids=["one", "all equal", "two", "a line"],
)
@pytest.mark.parametrize("method", ["double_circle", "paper"])
def test_degenerate_sets_have_hulls_too(points, method):
    hull = queries.convex_hull(points, epsilon=1, method=method, entropy=SeededEntropy(3))
    assert np.isfinite(hull.vertices).all()
    assert 1 <= len(hull.vertices) <= len(hull.points)


def test_outlines():
    square = np.array([[0.0, 0], [1, 0], [1, 1], [0, 1], [0.5, 0.5], [0, 0]])
    assert _hull.outline(square).tolist() == [[0, 0], [1, 0], [1, 1], [0, 1]]
    assert _hull.outline(np.array([[0.0, 0], [2, 2], [1, 1]])).tolist() == [[0, 0], [2, 2]]
    hull = queries.convex_hull(square * 100, epsilon=1000, entropy=SeededEntropy(0))
    assert hull.polygon.area == pytest.approx(10_000, rel=0.05)
    ring = hull.geojson()["coordinates"][0]
    assert ring[0] == ring[-1]


@pytest.mark.parametrize(
    "arguments",
    [
        {"points": []},
        {"points": [[1, 2, 3]]},
        {"points": [[math.nan, 0]]},
        {"epsilon": 1, "rho": 1},
        {"epsilon": None},
        {"method": "chan"},
        {"k": 2},
        {"k": "many"},
        {"split": (1, 1)},
        {"split": (1, 1, 0)},
        {"space": md.Geographic()},
        {"space": md.Euclidean(3)},
    ],
)
def test_refusals_come_before_sampling(arguments):
    source = RecordingEntropy(SeededEntropy(0))
    with pytest.raises(md.MetricDPError):
        queries.convex_hull(**({"points": [[0, 0], [1, 1]], "epsilon": 1, "entropy": source} | arguments))
    assert source.count == 0
