"""Spaces one by one: known distances, limits, and refusals that name positions and never values."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.spatial.distance import cdist

import metricdp as md


def test_great_circles_are_known():
    g = md.Geographic("m")
    quarter = math.pi / 2 * 6371008.8
    assert g.distance([0, 0], [90, 123]) == pytest.approx(quarter, rel=1e-15)
    assert g.distance([0, 0], [0, 180]) == pytest.approx(2 * quarter, rel=1e-15)
    assert g.distance([90, 0], [90, 77]) == 0
    assert g.distance([12, 180], [12, -180]) == 0
    assert g.distance([0, 179.9999999], [0, -179.9999999]) == pytest.approx(2e-7 * quarter / 90, rel=1e-6)
    assert g.distance([89.9999999, 0], [89.9999999, 180]) == pytest.approx(2e-7 * quarter / 90, rel=1e-6)
    assert md.Geographic("km").distance([0, 0], [1, 0]) == pytest.approx(111.19508, rel=1e-7)
    assert md.Geographic("mi").diameter == pytest.approx(12436.8, rel=1e-4)


def test_near_distances_are_accurate():
    base = np.array([[37.7, -122.4], [0.0, 10.0], [89.9, 5.0], [-60.0, 179.9999999]])
    moved = base + np.array([1e-9, 0.0])
    expected = math.radians(1) * 6371008.8 * (moved[:, 0] - base[:, 0])
    assert md.Geographic().distance(base, moved) == pytest.approx(expected, rel=1e-6)


def test_data_frames_are_arrays():
    frame = pd.DataFrame({"lat": [0.0, 1.0], "lon": [2.0, 3.0]})
    g = md.Geographic()
    assert np.array_equal(g.check(frame), g.check(pl.from_pandas(frame)))
    assert md.Euclidean(1).check(5.0).shape == (1,)


@pytest.mark.parametrize(
    ("space", "bad", "row"),
    [
        (md.Geographic(), [[0, 0], [91, 0]], 1),
        (md.Geographic(), [[0, 0], [0, 0], [0, -181]], 2),
        (md.Euclidean(2), [[0, 0], [0, math.nan]], 1),
        (md.Euclidean(2), [[math.inf, 0]], 0),
        (md.Euclidean(1), [[2**53 + 1]], 0),
    ],
)
def test_records_outside_are_named_by_row(space, bad, row):
    with pytest.raises(md.OutOfSpaceError, match=f"row {row}") as caught:
        space.check(np.array(bad))
    assert isinstance(caught.value, ValueError)
    for value in ("91", "-181", "90071"):
        assert value not in caught.value.refused


@pytest.mark.parametrize("bad", ["text", [["a", "b"]], None, [[True, False]], [[1j, 0]], [[1, 2], [3]], [object()] * 2])
def test_records_of_other_types_are_refused(bad):
    with pytest.raises(md.IncompatibleError) as caught:
        md.Euclidean(2).check(bad)
    assert isinstance(caught.value, TypeError)


def test_shapes_are_checked():
    with pytest.raises(md.OutOfSpaceError, match="shape"):
        md.Euclidean(3).check([[1.0, 2.0]])
    with pytest.raises(md.OutOfSpaceError, match="shape"):
        md.Geographic().check(5.0)


@pytest.mark.parametrize(
    "make",
    [
        lambda: md.Euclidean(0),
        lambda: md.Euclidean(True),
        lambda: md.Euclidean(2.5),
        lambda: md.Euclidean(2, 3),
        lambda: md.Euclidean(2, "2"),
        lambda: md.Euclidean(2, unit=5),
        lambda: md.Geographic("parsec"),
        lambda: md.Product(md.Euclidean(1), 0),
        lambda: md.Product(md.Euclidean(1), 2, "mean"),
        lambda: md.Hamming(0),
        lambda: md.FiniteSpace([], np.zeros((0, 0))),
        lambda: md.FiniteSpace(["a", "a"], [[0, 1], [1, 0]]),
        lambda: md.FiniteSpace.from_points([1.0, 2.0]),
        lambda: md.FiniteSpace.from_points([[1.0], [2.0]], norm=3),
        lambda: md.FiniteSpace.from_points([[1.0], [2.0]], labels=["a"]),
        lambda: md.FiniteSpace.from_points([[1e-200], [2.0]]),
        lambda: md.FiniteSpace.from_graph([]),
    ],
)
def test_public_parameters_are_checked(make):
    with pytest.raises(md.InvalidParameterError):
        make()


@pytest.mark.parametrize("make", [lambda: md.Product(3, 2), lambda: md.FiniteSpace("abc", 1), lambda: md.Discrete(5)])
def test_wrong_types_are_refused(make):
    with pytest.raises(md.IncompatibleError):
        make()


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[0, 1, 5], [1, 0, 1], [5, 1, 0]], "triangle"),
        ([[0, 1, 1], [2, 0, 1], [1, 1, 0]], "symmetric"),
        ([[0, 0, 1], [0, 0, 1], [1, 1, 0]], "positive"),
        ([[0, -1, 1], [-1, 0, 1], [1, 1, 0]], "positive"),
        ([[1, 1, 1], [1, 0, 1], [1, 1, 0]], "itself"),
        ([[0, math.nan, 1], [1, 0, 1], [1, 1, 0]], "finite"),
        ([[0, math.inf, 1], [math.inf, 0, 1], [1, 1, 0]], "finite"),
        ([[0, 1], [1, 0]], "shape"),
        ("matrix", "matrix"),
    ],
)
def test_distances_that_are_no_metric_are_refused(matrix, message):
    with pytest.raises(md.NotAMetricError, match=message):
        md.FiniteSpace(list("abc"), matrix)


def test_float_noise_is_no_error():
    points = np.random.default_rng(1).normal(size=(60, 4))
    noisy = cdist(points, points) * (1 + 1e-11 * np.random.default_rng(2).normal(size=(60, 60)))
    space = md.FiniteSpace(range(60), noisy)
    assert np.array_equal(space.matrix(), space.matrix().T)
    assert (space.matrix() <= noisy + 0).all()


def test_closure_repairs_and_never_lengthens():
    rng = np.random.default_rng(3)
    wild = rng.uniform(0.1, 5, size=(30, 30))
    closed = md.metric_closure(wild)
    assert (closed <= np.minimum(wild, wild.T) + 1e-15)[~np.eye(30, dtype=bool)].all()
    assert md.FiniteSpace(range(30), closed).check_triangle() == "triangle inequality checked for all triples"
    for bad in ([[0, 1, 2]], [[0, math.nan], [1, 0]], [[0, 0], [0, 0]]):
        with pytest.raises(md.NotAMetricError):
            md.metric_closure(bad)


def test_large_matrices_are_checked_at_random_and_on_request_exactly():
    points = np.random.default_rng(4).normal(size=(520, 2))
    matrix = cdist(points, points)
    space = md.FiniteSpace(range(520), matrix)
    assert "random" in space.describe()
    assert "all triples" in space.check_triangle()
    matrix[:260, :260] *= 9
    matrix[0, 1] = matrix[1, 0] = 100.0
    with pytest.raises(md.NotAMetricError, match="metric_closure"):
        md.FiniteSpace(range(520), matrix)


def test_points_merge_or_refuse_duplicates():
    points = [[0.0, 0.0], [1.0, 1.0], [-0.0, 0.0]]
    with pytest.raises(md.NotAMetricError, match="Rows 0 and 2"):
        md.FiniteSpace.from_points(points, labels=["a", "b", "c"])
    space = md.FiniteSpace.from_points(points, labels=["a", "b", "c"], duplicates="merge")
    assert len(space) == 2
    assert space.distance("a", "c") == 0
    assert space.distance("c", "b") == pytest.approx(math.sqrt(2))
    assert space.points.shape == (2, 2)


def test_blocks_do_not_depend_on_the_batch():
    space = md.FiniteSpace.from_points(np.random.default_rng(5).normal(size=(300, 50)))
    whole = space.matrix()
    assert np.array_equal(space.block([7, 200], range(300)), whole[[7, 200]])
    assert np.array_equal(space.block(range(5), [9]), whole[:5, [9]])


def test_graphs():
    space = md.FiniteSpace.from_graph([("a", "b", 5), ("a", "b", 2), ("b", "c", 1), ("c", "c", 4)])
    assert space.distance("a", "c") == 3
    one_way = md.FiniteSpace.from_graph([("a", "b", 1), ("b", "c", 1), ("c", "a", 5)], directed=True)
    assert one_way.distance("a", "b") == one_way.distance("b", "a") == 6
    assert one_way.check_triangle() == "shortest paths of a graph"
    with pytest.raises(md.NotAMetricError, match="2 parts"):
        md.FiniteSpace.from_graph([("a", "b", 1), ("c", "d", 1)])
    with pytest.raises(md.NotAMetricError, match="parts"):
        md.FiniteSpace.from_graph([("a", "b", 1)], directed=True)
    with pytest.raises(md.NotAMetricError, match="length"):
        md.FiniteSpace.from_graph([("a", "b", 0)])


def test_unknown_labels_are_refused_by_position():
    space = md.Discrete(["yes", "no"])
    with pytest.raises(md.OutOfSpaceError, match="row 1") as caught:
        space.distance(["yes", "secret-value"], "no")
    assert "secret" not in str(caught.value)
    assert space.contains(["yes", "maybe", []]).tolist() == [True, False, False]
    assert not space.contains(["x"]).any()


def test_tuples_of_any_length():
    space = md.Product(md.Euclidean(2), None, "max")
    assert space.distance(np.zeros((3, 2)), np.ones((4, 2))) == math.inf
    assert space.distance(np.zeros((3, 2)), np.ones((3, 2))) == pytest.approx(math.sqrt(2))
    assert space.diameter == math.inf
    assert space.contains(np.zeros((5, 2)))
    with pytest.raises(md.IncompatibleError):
        md.Product(md.Euclidean(2), 3).distance(np.zeros((3, 2)), np.zeros((4, 2)))
    assert not md.Product(md.Euclidean(2), 3).contains(np.zeros((4, 2)))
    assert md.Product(md.Geographic(), 4, "l2").diameter == pytest.approx(2 * md.Geographic().diameter)


def test_databases_have_sizes():
    with pytest.raises(md.IncompatibleError):
        md.Hamming(3).distance([1, 2], [1, 2])
    assert md.Hamming(2).diameter == 2
