"""Cases that an independent reader found: what was wrong once stays right."""

import math
from fractions import Fraction

import numpy as np
import pytest

import metricdp as md
from metricdp import places, queries, release
from metricdp.queries import _sparse_vector as sv
from metricdp.queries._distances import Reached, TableDistances
from metricdp.testing import RecordingEntropy, SeededEntropy


def test_a_small_constant_promises_what_values_lose():
    assert queries.sparse_vector([5, 2], 0, epsilon=1, constant="0.1").guarantee.exact_epsilon == 10
    own = queries.sparse_vector([5, 2], 0, epsilon=1, constant="0.1", space=md.Euclidean(3))
    assert own.guarantee.exact_epsilon == 1


def test_a_matrix_that_is_a_metric_up_to_noise_pays_for_it():
    matrix = [[0, 1e-6, 1e6, 2e6], [1e-6, 0, 1e6 + 1e-4, 2e6], [1e6, 1e6 + 1e-4, 0, 1e6], [2e6, 2e6, 1e6, 0]]
    space = md.FiniteSpace(["a", "b", "p", "c"], matrix)
    reached = Reached.of(["a", "c"], space)
    assert 99.9 < reached.stretch("p") < 101
    points = md.FiniteSpace.from_points(np.random.default_rng(0).random((9, 3)))
    assert 1 < Reached.of([0, 1], points).stretch(4) < 1 + 1e-13
    assert Reached.of([[0.0, 1]], None).stretch([0, 0]) == 1
    counts = []
    for record in ("a", "b"):
        source = SeededEntropy(1)
        found = [
            queries.nearest_neighbours([record, "c"], "p", 1, epsilon=1e5, space=space, entropy=source).value[0]
            for _ in range(400)
        ]
        counts.append(np.mean(found))
    assert abs(counts[0] - counts[1]) < 0.12


def test_hulls_refuse_nothing_valid_after_the_charge():
    points = np.random.default_rng(0).normal(size=(300, 2)) * 100
    for far in (3e11, 1e12, 1e30):
        points[0] = [far, 0]
        hull = queries.convex_hull(points, epsilon=1, entropy=SeededEntropy(1))
        assert np.isfinite(hull.vertices).all()
    for epsilon in ("1e20", "1e100", "1e-100"):
        assert np.isfinite(queries.convex_hull(points, epsilon=epsilon, entropy=SeededEntropy(2)).vertices).all()
    for epsilon in ("1e-200", "1e200"):
        with pytest.raises(md.InvalidParameterError, match="out of range"):
            queries.convex_hull(points, epsilon=epsilon)


def test_far_points_are_refused_by_a_public_bound_and_none_is_dropped():
    with pytest.raises(md.OutOfSpaceError, match="row 1"):
        queries.nearest_neighbours([[1.0, 0], [1e155, 0]], [0, 0], 1, epsilon=1)
    big = [[1e149, 0], [1e148, 0], [0, 1e149]]
    for method in ("gumbel", "paper"):
        found = queries.nearest_neighbours(big, [0, 0], 2, epsilon="1e-149", method=method)
        assert len(set(found.value.tolist())) == 2
    near = queries.nearest_neighbours([[1e100, 0], [2e100, 0]], [0, 0], 1, epsilon="1e250")
    assert near.value.tolist() == [0]


def test_floats_that_cannot_resolve_the_noise_leave_it_to_intervals():
    scores = TableDistances(np.array([2.0**52]))
    source = SeededEntropy(0)
    threshold = sv.Noisy.of(lambda p: p.exact(2**52), (Fraction("0.0317"),), source)
    values, errors = scores.floats()
    assert sv._in_floats(values, errors, threshold.floats(), 0.0317, (1 << 40, 64), False) is sv._OPEN


def test_values_beyond_all_decimals_are_decided():
    for cycle in (True, False):
        found = queries.sparse_vector([1e9, 2e9], 0, epsilon=1, cycle=cycle, entropy=SeededEntropy(3)).value
        assert found == (0 if cycle else None)
    points = np.array([[0.0, 0], [50, 0]])
    found = queries.nearest_neighbours(points, [0, 0], 1, epsilon=1, method="paper", offset=-(10**10))
    assert found.value[0] in (0, 1)


@pytest.mark.parametrize(
    "arguments",
    [
        {"epsilon": "1e-300", "constant": "1e300"},
        {"split": ("1e300", "1e-300")},
        {"values": np.array([1 + 2j])},
        {"values": np.ma.array([1e9, -9e9], mask=[0, 1])},
        {"values": ["1"]},
        {"values": [2**53 + 1]},
        {"values": 5},
    ],
)
def test_values_that_are_none_are_refused_before_sampling(arguments):
    source = RecordingEntropy(SeededEntropy(0))
    with pytest.raises(md.MetricDPError):
        queries.sparse_vector(**({"values": [1.0], "threshold": 0, "epsilon": 1, "entropy": source} | arguments))
    assert source.count == 0


def test_shapes_and_types_that_are_none():
    for call in (
        lambda: queries.convex_hull(np.zeros((2, 2, 2)), epsilon=1),
        lambda: queries.nearest_neighbours(np.zeros((2, 2, 2)), [0, 0], 1, epsilon=1, space=md.Euclidean(2)),
        lambda: queries.nearest_neighbours([[0, 0], [1, 1]], [0, 0], np.array([1, 2]), epsilon=1),
        lambda: queries.nearest_neighbours([[0, 0], [1, 1]], [0, 0], 1, epsilon=1, method=np.array(["gumbel"])),
        lambda: queries.convex_hull([[0, 0], [1, 1]], epsilon=1, k=np.array([3, 4])),
        lambda: places.cloak(None),
        lambda: places.remap([[0, 0]], [[0, 0]], None),
    ):
        with pytest.raises(md.MetricDPError):
            call()
    for points, kind in (([[1.0, 2]], "Point"), ([[0.0, 0], [9.0, 9]], "LineString")):
        hull = queries.convex_hull(points, epsilon=100)
        assert hull.geojson()["type"] == kind
        assert hull.polygon.geom_type == kind
    assert math.isfinite(hull.about["error"])


def test_gpx_is_refused_before_the_charge_where_it_could_not_be_written(tmp_path):
    path = tmp_path / "r.gpx"
    path.write_text('<gpx><wpt lat="48" lon="2"><time>0001-01-01T00:00:00+14:00</time></wpt></gpx>')
    globe = md.Gaussian(md.Geographic("m"), "1e-6")
    for mechanism, columns in ((globe, ["lon", "lat"]), (md.Gaussian(md.Euclidean(1), 1), ["lat"])):
        with pytest.raises(md.InvalidParameterError, match="positions on the globe"):
            release.plan(path, mechanism, columns)
    with pytest.raises(md.FileRefusedError, match="time"):
        release.plan(path, globe, ["lat", "lon"])
    path.write_text('<?xml version="1.0" encoding="unicode_escape"?><gpx><wpt lat="48" lon="2"/></gpx>')
    with pytest.raises(md.FileRefusedError):
        release.plan(path, globe, ["lat", "lon"])
