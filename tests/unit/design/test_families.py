"""Mechanisms in closed form against slow definitions."""

import itertools
import math

import numpy as np
import pytest

import metricdp as md
from metricdp import audit, design
from metricdp.design import _families
from metricdp.design._kernels import Geometry, Member

SPACE = md.FiniteSpace.from_points(np.random.default_rng(2).random((15, 2)))
D = SPACE.matrix()
GRID = md.FiniteSpace.from_points(list(itertools.product(range(5), repeat=2)))


def normalised(weights):
    return weights / weights.sum(axis=1, keepdims=True)


def test_exponential_and_weighted_are_their_definitions():
    problem = design.Problem(SPACE, 4)
    assert design.solve(problem, "exponential").matrix() == pytest.approx(normalised(np.exp(-2 * D)), rel=1e-9)
    y = np.random.default_rng(0).random(15)
    given = design.solve(problem, "weighted", weights=y)
    assert given.matrix() == pytest.approx(normalised(y * np.exp(-2 * D)), rel=1e-9)
    cut = design.solve(problem, "exponential", reach=0.3)
    assert cut.matrix() == pytest.approx(normalised(np.exp(-2 * np.minimum(D, 0.3))), rel=1e-9)
    assert cut.certify().certificate.epsilon <= 4


def test_fitted_weights_cost_less_than_equal_ones():
    for objective in ("mean", "worst"):
        problem = design.Problem(SPACE, 4, objective=objective)
        assert design.solve(problem, "weighted").value < design.solve(problem, "exponential").value


def test_calibrated_uses_the_whole_epsilon():
    problem = design.Problem(SPACE, 4)
    solution = design.solve(problem, "calibrated")
    assert solution.certify().certificate.epsilon == pytest.approx(4, rel=1e-6)
    assert solution.value < design.solve(problem, "exponential").value


def test_tight_is_flat_and_optimal_where_the_papers_say():
    grid3 = md.FiniteSpace.from_points(list(itertools.product(range(3), repeat=2)))
    solution = design.solve(design.Problem(grid3, 1), "tight")
    assert solution.value == pytest.approx(0.8839396463, rel=1e-9)
    assert solution.certify().certificate.epsilon == pytest.approx(1, rel=1e-9)
    with pytest.raises(md.NotCertified, match="weights are negative"):
        design.solve(design.Problem(GRID, "0.5"), "tight")
    assert design.solve(design.Problem(GRID, 1), "tight").value == pytest.approx(1.2459, rel=1e-3)


@pytest.mark.parametrize("epsilon", [0.25, 0.5, 1, 2, 4])
def test_kernel_is_never_worse_than_the_simpler_ones(epsilon):
    problem = design.Problem(GRID, epsilon)
    best = design.solve(problem, "kernel")
    assert best.certify().certificate.epsilon <= epsilon
    for method in ("exponential", "weighted", "calibrated"):
        assert best.value <= design.solve(problem, method).value * (1 + 1e-6)
    optimum = design.solve(problem, "optimal")
    assert optimum.value <= best.value * (1 + 1e-9)
    assert best.lower_bound <= optimum.value * (1 + 1e-9)


def test_the_verified_loss_of_a_member_is_its_exact_loss():
    problem = design.Problem(SPACE, 4)
    geometry = Geometry(problem, math.inf)
    member = Member(np.random.default_rng(5).random(15), 2.5, math.inf)
    claimed = geometry.loss(2.5, np.log(geometry.sums(2.5, member.y)))
    assert audit.exact(geometry.matrix(member), SPACE).epsilon == pytest.approx(claimed, rel=1e-9)


def test_float32_blocks_agree_with_dense_ones(monkeypatch):
    from metricdp.design import _kernels

    points = np.random.default_rng(8).normal(size=(300, 4))
    problem = design.Problem(md.FiniteSpace.from_points(points), 2)
    dense = design.solve(problem, "kernel")
    for kept in (10**9, 0):
        monkeypatch.setattr(_kernels, "DENSE", 100)
        monkeypatch.setattr(_kernels, "KEPT_BYTES", kept)
        blocks = design.solve(problem, "kernel")
        assert blocks.value == pytest.approx(dense.value, rel=2e-2)
        assert blocks.matrix() == pytest.approx(Geometry(problem, math.inf).matrix(blocks.member))
        assert blocks.certify().certificate.epsilon <= 2
        one = Geometry(problem, math.inf).one_output()
        assert one == pytest.approx(problem.costs().mean(axis=0).min(), rel=1e-5)


def test_evening_reaches_flat_rows_where_they_exist():
    problem = design.Problem(SPACE, 20)
    geometry = Geometry(problem, math.inf)
    y, loss = _families.evened(geometry, 20 * (1 - 1e-4), np.ones(15), 20.0, 200)
    assert loss <= 20
    assert np.ptp(np.log(geometry.sums(20 * (1 - 1e-4), y))) < 0.1


@pytest.mark.parametrize("objective", ["worst", ("quantile", 0.9)])
def test_other_objectives(objective):
    problem = design.Problem(SPACE, 4, objective=objective)
    for method in ("exponential", "calibrated", "kernel", "auto"):
        solution = design.solve(problem, method)
        assert solution.certify().loss(objective) == pytest.approx(solution.value, rel=1e-6)


@pytest.mark.parametrize("weights", [[1, 2], [-1] * 15, [0] * 15, "abc", [math.nan] * 15])
def test_weights_are_checked(weights):
    with pytest.raises(md.InvalidParameterError):
        design.solve(design.Problem(SPACE, 1), "weighted", weights=weights)


def test_a_time_limit_ends_the_search_with_what_is_private_anyway():
    for method in ("kernel", "calibrated"):
        solution = design.solve(design.Problem(GRID, "0.5"), method, time_limit="1e-9")
        assert solution.status == "time limit"
        assert solution.certify().certificate.epsilon <= 0.5
