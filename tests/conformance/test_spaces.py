"""Every space through the same checks: the laws of a metric, equality by content, pickling, refusals."""

import math
import pickle

import numpy as np
import pytest

import metricdp as md

RNG = np.random.default_rng(7)
POINTS = RNG.normal(size=(40, 3))
WORDS = ["north", "east", "south", "west", "centre"]
RING = [("a", "b", 1.0), ("b", "c", 2.5), ("c", "d", 1.5), ("d", "a", 2.0), ("a", "c", 9.0)]


def globe(n):
    special = [[90.0, 0.0], [-90.0, 17.0], [0.0, 180.0], [0.0, -180.0], [45.0, 179.999], [45.0, -179.999]]
    fresh = np.c_[np.degrees(np.arcsin(RNG.uniform(-1, 1, n - 6))), RNG.uniform(-180, 180, n - 6)]
    return np.array([*special, *fresh])


def labels(names, n):
    return [names[i] for i in RNG.integers(len(names), size=n)]


SPACES = {
    "plane": (lambda: md.Euclidean(2, unit="km"), lambda n: RNG.normal(size=(n, 2))),
    "taxi": (lambda: md.Euclidean(3, 1), lambda n: RNG.normal(size=(n, 3))),
    "cube": (lambda: md.Euclidean(5, math.inf), lambda n: RNG.normal(size=(n, 5))),
    "line": (lambda: md.Euclidean(1), lambda n: RNG.normal(size=(n, 1))),
    "globe": (lambda: md.Geographic("m"), globe),
    "matrix": (
        lambda: md.FiniteSpace(WORDS, np.abs(np.subtract.outer([0, 1, 3, 7, 8.5], [0, 1, 3, 7, 8.5])), "km"),
        lambda n: labels(WORDS, n),
    ),
    "points": (lambda: md.FiniteSpace.from_points(POINTS), lambda n: RNG.integers(40, size=n).tolist()),
    "graph": (lambda: md.FiniteSpace.from_graph(RING, unit="m"), lambda n: labels(list("abcd"), n)),
    "discrete": (lambda: md.Discrete(WORDS), lambda n: labels(WORDS, n)),
    "tuples max": (lambda: md.Product(md.Euclidean(2), 4, "max"), lambda n: RNG.normal(size=(n, 4, 2))),
    "tuples sum": (lambda: md.Product(md.Geographic(), 3, "sum"), lambda n: globe(3 * n).reshape(n, 3, 2)),
    "tuples l2": (lambda: md.Product(md.Euclidean(1), 3, "l2"), lambda n: RNG.normal(size=(n, 3, 1))),
    "hamming": (lambda: md.Hamming(6), lambda n: RNG.integers(3, size=(n, 6))),
}


@pytest.fixture(params=SPACES)
def case(request):
    make, records = SPACES[request.param]
    return make, make(), records


def test_metric_laws(case):
    _, space, records = case
    x, y, z = records(60), records(60), records(60)
    xy, yx = np.asarray(space.distance(x, y)), np.asarray(space.distance(y, x))
    assert xy.shape == (60,)
    assert np.allclose(xy, yx, rtol=1e-12, atol=1e-9)
    assert (xy >= 0).all()
    assert np.all(np.asarray(space.distance(x, x)) == 0)
    detour = np.asarray(space.distance(x, z)) + np.asarray(space.distance(z, y))
    assert (xy <= detour * (1 + 1e-9) + 1e-9).all()
    assert xy.max() <= space.diameter * (1 + 1e-12)


def test_batches_equal_single_records(case):
    _, space, records = case
    x, y = records(10), records(10)
    batch = np.asarray(space.distance(x, y))
    singles = [space.distance(x[i], y[i]) for i in range(10)]
    assert np.allclose(batch, singles, rtol=1e-13, atol=0)


def test_content_decides_equality(case):
    make, space, _ = case
    again = make()
    assert space == again
    assert hash(space) == hash(again)
    assert space.identity() == again.identity()
    assert space != md.Euclidean(99)
    assert pickle.loads(pickle.dumps(space)) == space


def test_spaces_are_frozen_and_described(case):
    _, space, records = case
    with pytest.raises((AttributeError, TypeError)):
        space.unit = "other"
    assert isinstance(space, md.Space)
    assert len(space.describe()) > 10
    assert isinstance(space.unit, str)
    assert np.all(space.contains(records(8)))
    assert not np.any(space.contains(None))


def test_units_change(case):
    _, space, _ = case
    if space.unit == "record":
        with pytest.raises(md.IncompatibleError):
            space.with_unit("km")
    else:
        other = space.with_unit("mi")
        assert other.unit == "mi"
        assert other != space
        assert other.with_unit(space.unit).unit == space.unit
        if not isinstance(space, md.FiniteSpace):
            assert other.with_unit(space.unit) == space


def test_symmetric_difference():
    space = md.SymmetricDifference()
    assert space.distance([1, 2, 2], [2, 3]) == 3
    assert space.distance(np.array([[1, 2], [3, 4]]), np.array([[3, 4]])) == 1
    assert space.distance([], []) == 0
    assert space.diameter == math.inf
    assert space == md.SymmetricDifference() == pickle.loads(pickle.dumps(space))
    assert space.contains([[1, 2]])
    assert not space.contains(5)
    assert "record" in space.describe()
    with pytest.raises(md.IncompatibleError):
        space.with_unit("m")
