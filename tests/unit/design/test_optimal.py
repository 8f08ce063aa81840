"""The linear program against exact optima that other solvers found."""

import itertools
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import metricdp as md
from metricdp import audit, design
from oracles import exact_epsilon

KNOWN = json.loads((Path(__file__).parent / "optima.json").read_text())


def grid(side):
    return md.FiniteSpace.from_points(list(itertools.product(range(side), repeat=2)))


def dirichlet(n):
    return np.random.default_rng(0).dirichlet(np.ones(n))


@pytest.mark.parametrize(("side", "epsilon", "prior", "optimum"), KNOWN["grids"])
def test_78_grids_are_private_as_returned_and_optimal(side, epsilon, prior, optimum):
    space = grid(side)
    shares = None if prior == "uniform" else dirichlet(side**2)
    solution = design.solve(design.Problem(space, Fraction(str(epsilon)), prior=shares), "optimal")
    channel = solution.certify()
    matrix = channel.matrix()
    assert solution.status == "optimal"
    assert solution.gap <= 1e-6
    assert solution.lower_bound <= optimum * (1 + 1e-11)
    assert channel.expected_cost(space.matrix(), shares) == pytest.approx(optimum, rel=1e-6)
    assert channel.certificate.epsilon <= epsilon
    assert audit.exact(channel).epsilon == channel.certificate.epsilon
    assert matrix.min() > 0
    assert abs(matrix.sum(axis=1) - 1).max() < 1e-12
    assert exact_epsilon(channel.weights, space.matrix()) == pytest.approx(channel.certificate.epsilon, rel=1e-12)


@pytest.mark.parametrize(("seed", "epsilon", "optimum"), KNOWN["random14"])
def test_14_points_where_an_unscaled_simplex_stops_too_high(seed, epsilon, optimum):
    space = md.FiniteSpace.from_points(np.random.default_rng(seed).random((14, 2)))
    solution = design.solve(design.Problem(space, epsilon), "optimal")
    channel = solution.certify()
    assert channel.certificate.epsilon <= epsilon
    assert channel.expected_cost(space.matrix()) == pytest.approx(optimum, rel=1e-6)
    assert solution.lower_bound <= optimum * (1 + 1e-11)
    assert solution.gap <= 1e-6


@pytest.mark.parametrize("side", [6])
def test_the_6_by_6_grid(side):
    space = grid(side)
    channel = design.solve(design.Problem(space, 1), "optimal").certify()
    assert channel.expected_cost(space.matrix()) == pytest.approx(1.3241170155, rel=2e-6)


def test_a_pair_nearer_than_the_solver_can_tell_costs_nothing():
    points = np.random.default_rng(0).random((14, 2))
    space = md.FiniteSpace.from_points(np.vstack([points, points[0] + [1e-9, 0]]))
    solution = design.solve(design.Problem(space, 2), "optimal")
    channel = solution.certify()
    assert channel.certificate.epsilon <= 2
    assert channel.expected_cost(space.matrix()) == pytest.approx(KNOWN["merged_pair"], rel=1e-4)
    assert solution.lower_bound <= KNOWN["near_pair"] <= solution.value * (1 + 1e-9)
    assert "share a row" in solution.log[0]


@pytest.mark.parametrize("gap", [1e-3, 1e-5, 1e-6, 1e-7, 1e-8])
def test_close_pairs_of_every_size_stay_certified_and_cheap(gap):
    points = np.random.default_rng(0).random((14, 2))
    space = md.FiniteSpace.from_points(np.vstack([points, points[0] + [gap, 0]]))
    solution = design.solve(design.Problem(space, 2), "optimal")
    assert solution.certify().certificate.epsilon <= 2
    assert solution.gap < 1e-5


def test_the_worst_case_has_its_own_optimum_and_bound():
    space = grid(3)
    problem = design.Problem(space, 1, objective="worst")
    solution = design.solve(problem, "optimal")
    channel = solution.certify()
    assert solution.gap <= 1e-6
    assert channel.loss("worst") == pytest.approx(solution.value, rel=1e-9)
    mean = design.solve(design.Problem(space, 1), "optimal").certify()
    assert channel.loss("worst") < mean.loss("worst")
    assert channel.loss("mean") > mean.loss("mean")


def test_outputs_and_costs_of_any_kind():
    space = md.FiniteSpace.from_points(np.random.default_rng(3).random((12, 2)))
    cost = np.random.default_rng(4).normal(size=(12, 3))
    solution = design.solve(design.Problem(space, 4, outputs=["a", "b", "c"], cost=cost), "optimal")
    channel = solution.certify()
    assert channel.outputs == ("a", "b", "c")
    assert solution.gap <= 1e-6
    assert channel.expected_cost(cost) == pytest.approx(solution.value, rel=1e-9)
    assert channel.release(3) in channel.outputs


@pytest.mark.parametrize(
    "space",
    [
        md.Discrete(range(8)),
        md.FiniteSpace.from_graph([(i, (i + 1) % 9, 1.0) for i in range(9)]),
        md.FiniteSpace.from_points(np.arange(8)[:, None] * 10.0),
        md.FiniteSpace.from_points([[1.0, 2.0]]),
        md.FiniteSpace.from_points([[1.0, 2.0], [1.0, 3.0]]),
    ],
    ids=["discrete", "ring", "line of 10s", "one", "two"],
)
def test_other_metrics_and_sizes(space):
    solution = design.solve(design.Problem(space, 3), "optimal")
    assert solution.certify().certificate.epsilon <= 3
    assert solution.gap <= 1e-6


def test_randomised_response_is_the_optimum_of_the_discrete_metric():
    n = 8
    solution = design.solve(design.Problem(md.Discrete(range(n)), 1), "optimal")
    assert solution.value == pytest.approx((n - 1) / (n - 1 + np.e), rel=1e-9)


def test_epsilon_may_be_tiny_or_huge():
    space = md.FiniteSpace.from_points(np.random.default_rng(3).random((20, 2)))
    for epsilon in ("1e-9", "1e-4", "600"):
        solution = design.solve(design.Problem(space, epsilon), "optimal")
        channel = solution.certify()
        assert channel.certificate.epsilon <= float(epsilon)
        assert channel.matrix().min() > 0
        assert solution.lower_bound <= solution.value


def test_a_time_limit_returns_the_best_so_far_and_a_checkpoint_goes_on(tmp_path):
    space = grid(5)
    problem = design.Problem(space, 1)
    late = design.solve(problem, "optimal", time_limit="1e-9")
    assert late.status == "time limit"
    assert late.certify().certificate.epsilon <= 1
    seen = []
    path = tmp_path / "state.npz"
    whole = design.solve(problem, "optimal", checkpoint=str(path), progress=lambda *step: seen.append(step))
    assert path.exists()
    assert seen[-1] == ("designed", 1.0)
    again = design.solve(problem, "optimal", checkpoint=str(path))
    assert again.value == pytest.approx(whole.value, rel=1e-9)
    with pytest.raises(md.FileRefusedError, match="another problem"):
        design.solve(design.Problem(space, 2), "optimal", checkpoint=str(path))
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(md.FileRefusedError, match="cannot be read"):
        design.solve(problem, "optimal", checkpoint=str(path))


def test_what_it_cannot_take_is_said_before_it_starts():
    space = grid(3)
    with pytest.raises(md.InvalidParameterError, match="not convex"):
        design.solve(design.Problem(space, 1, objective=("quantile", 0.95)), "optimal")
    big = md.FiniteSpace.from_points(np.random.default_rng(0).random((200, 2)))
    with pytest.raises(md.InvalidParameterError, match="constraints"):
        design.solve(design.Problem(big, 1), "optimal")


def test_without_an_answer_of_the_solver_the_best_design_without_it_is_returned(monkeypatch):
    from metricdp.design import _optimal

    def fails(*args, **kwargs):
        raise md.SolverFailed("HiGHS found no optimum.", "a", "b")

    monkeypatch.setattr(_optimal, "linear_program", fails)
    for method in ("optimal", "auto"):
        solution = design.solve(design.Problem(grid(3), 1), method)
        assert solution.status == "solver failed"
        assert any("HiGHS found no optimum" in line for line in solution.log)
        assert solution.certify().certificate.epsilon <= 1
    free = design.Problem(grid(3), 1, cost=np.random.default_rng(0).random((9, 2)), outputs=["a", "b"])
    assert design.solve(free).certify().certificate.epsilon <= 1


def test_rubbish_from_a_solver_is_repaired_and_priced(monkeypatch):
    from metricdp.design import _optimal

    right = _optimal.linear_program

    def noisy(*args, **kwargs):
        answer = right(*args, **kwargs)
        rng = np.random.default_rng(0)
        return answer[0] * rng.uniform(0.5, 1.5, len(answer[0])), answer[1] * rng.uniform(0.5, 1.5, len(answer[1]))

    monkeypatch.setattr(_optimal, "linear_program", noisy)
    solution = design.solve(design.Problem(grid(3), 1), "optimal")
    assert solution.certify().certificate.epsilon <= 1
    assert solution.lower_bound <= 0.8839396462818 <= solution.value * (1 + 1e-12)
