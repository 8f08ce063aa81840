"""What a problem may be."""

import math
import warnings

import numpy as np
import pytest

import metricdp as md
from metricdp import design

SPACE = md.FiniteSpace.from_points([[0.0, 0.0], [3.0, 4.0], [6.0, 8.0]], labels=["a", "b", "c"], unit="km")


def test_defaults_are_uniform_distance_and_the_inputs():
    problem = design.Problem(SPACE, "0.1")
    assert problem.prior.tolist() == [1 / 3] * 3
    assert problem.costs().tolist() == SPACE.matrix().tolist()
    assert problem.outputs == ("a", "b", "c")
    assert problem.shape == (3, 3)
    assert problem.over_records
    assert "0.1 per km" in repr(problem)
    assert problem.with_epsilon(2).epsilon == 2


def test_outputs_may_be_some_labels_points_or_anything_with_costs():
    some = design.Problem(SPACE, 1, outputs=["c", "a"])
    assert some.reach().tolist() == [[10, 0], [5, 5], [0, 10]]
    assert some.own_outputs().tolist() == [1, -1, 0]
    points = design.Problem(SPACE, 1, outputs=np.array([[3.0, 0.0], [3.0, 4.0]]))
    assert points.outputs == (0, 1)
    assert points.reach()[0].tolist() == [3, 5]
    assert points.own_outputs().tolist() == [-1, 1, -1]
    free = design.Problem(SPACE, 1, outputs=["x"], cost=[[1], [2], [3]])
    assert not free.has_distances
    with pytest.raises(md.IncompatibleError, match="no distance"):
        free.reach()


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"prior": [0.5, 0.5, 0.5]}, md.InvalidParameterError),
        ({"prior": [0.5, 0.6, -0.1]}, md.InvalidParameterError),
        ({"prior": [math.nan, 0.5, 0.5]}, md.InvalidParameterError),
        ({"prior": [1.0]}, md.InvalidParameterError),
        ({"prior": "abc"}, md.InvalidParameterError),
        ({"cost": [[1, 2], [3, 4]]}, md.IncompatibleError),
        ({"cost": np.full((3, 3), math.inf)}, md.InvalidParameterError),
        ({"cost": "abc"}, md.IncompatibleError),
        ({"outputs": ["a", "a"]}, md.InvalidParameterError),
        ({"outputs": []}, md.InvalidParameterError),
        ({"outputs": ["x"]}, md.IncompatibleError),
        ({"outputs": [[1], [2]]}, md.IncompatibleError),
        ({"outputs": np.ones((2, 3))}, md.IncompatibleError),
        ({"objective": "median"}, md.InvalidParameterError),
        ({"objective": ("quantile", 1.5)}, md.InvalidParameterError),
        ({"pairs": "near"}, md.InvalidParameterError),
        ({"components": 3}, md.InvalidParameterError),
    ],
)
def test_refusals(arguments, error):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(error):
            design.Problem(SPACE, 1, **arguments)


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, "x", None])
def test_epsilon_is_positive(epsilon):
    with pytest.raises(md.MetricDPError):
        design.Problem(SPACE, epsilon)


def test_too_large_an_exponent_names_the_largest_epsilon():
    with pytest.raises(md.InvalidParameterError, match="epsilon up to 70 on this space"):
        design.Problem(SPACE, 71)
    assert design.Problem(SPACE, 70).epsilon == 70
    with pytest.raises(md.IncompatibleError):
        design.Problem(md.Euclidean(2), 1)


def test_a_prior_with_zeros_is_fine():
    problem = design.Problem(SPACE, 1, prior=[0.5, 0.5, 0])
    for method in ("kernel", "optimal", "weighted"):
        solution = design.solve(problem, method)
        assert solution.certify().certificate.epsilon <= 1
