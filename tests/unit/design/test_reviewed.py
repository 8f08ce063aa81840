"""Cases that an independent reader found: what was wrong once stays right."""

import math

import numpy as np
import pytest

import metricdp as md
from metricdp import audit, bayes, design
from metricdp.channel import Kernel
from metricdp.channel._kernel import Grid

P = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [3.0, 2.0]])
SPACE = md.FiniteSpace.from_points(P)


def test_a_kernel_over_the_same_points_in_another_size_is_refused():
    with pytest.raises(md.NotCertified, match="other points"):
        md.Channel(SPACE, Kernel.of(P * 1024, np.ones(4), 1 / 1024)).certify()
    grid = Grid.of(P)
    honest = Kernel.of(P, np.ones(4), 1.0)
    liar = Kernel(Grid(grid.steps, grid.shift, np.zeros(4) - 9), honest.y, 1.0, math.inf, honest.scales)
    certified = md.Channel(SPACE, liar).certify().certificate.epsilon
    assert certified == md.Channel(SPACE, honest).certify().certificate.epsilon


@pytest.mark.parametrize("scales", [np.full(4, np.inf), np.full(4, np.nan), np.zeros(4)])
def test_kernels_of_no_numbers_are_refused(scales):
    with pytest.raises(md.InvalidParameterError):
        Kernel(Grid.of(P), np.array([1.0, 0, 1, 0]), 1.0, math.inf, scales)
    for y in (np.zeros(4), np.full(4, np.nan), np.ones(3), -np.ones(4)):
        with pytest.raises(md.InvalidParameterError):
            Kernel.of(P, y, 1.0)
    with pytest.raises(md.NotCertified, match="too far"):
        Kernel.of(P, np.array([1.0, 0, 1, 0]), 2000 / 3.7)


def test_a_kernel_keeps_copies():
    base = np.ones((1, 4))
    channel = md.Channel(SPACE, Kernel(Grid.of(P), base[0], 1.0, math.inf, Kernel.of(P, base[0], 1.0).scales)).certify()
    before = channel.weights
    base[0] = [1, 0, 0, 0]
    assert np.array_equal(channel.weights, before)
    assert base.flags.writeable


@pytest.mark.parametrize("gap", [1e-12, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6])
@pytest.mark.parametrize("method", ["optimal", "tight", "calibrated", "kernel", "exponential"])
def test_near_duplicates_are_certified(gap, method):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        points = np.vstack([rng.random((4, 2)), [[0.0, 0.0], [gap, 0.0]]])
        space = md.FiniteSpace.from_points(points)
        try:
            solution = design.solve(design.Problem(space, 1), method)
        except md.NotCertified:
            assert method == "tight"
            continue
        channel = solution.certify()
        assert channel.certificate.epsilon <= 1
        assert channel.loss() == pytest.approx(channel.certificate.value, rel=1e-12)


def test_few_outputs_far_away_and_large_epsilon():
    space = md.FiniteSpace.from_points(np.array([[0.0], [1.0], [2.0]]))
    cost = np.random.default_rng(0).random((3, 2))
    solution = design.solve(design.Problem(space, 50, cost=cost, outputs=["a", "b"]))
    assert solution.status == "optimal"
    assert solution.certify().certificate.epsilon <= 50
    assert solution.value == pytest.approx(cost.min(axis=1).mean(), rel=1e-9)
    points = md.FiniteSpace.from_points(np.random.default_rng(1).random((14, 2)))
    for outputs in ([0, 5, 9], np.array([[900.0, 0], [905.0, 0]]) / 100):
        solution = design.solve(design.Problem(points, 30, outputs=outputs))
        assert solution.gap < 1e-6
        assert solution.certify().certificate.epsilon <= 30
    for far in ([[1e5, 0.0], [2e5, 0.0]], [[1e200, 0.0]]):
        with pytest.raises(md.InvalidParameterError, match="largest distance to an output"):
            design.Problem(SPACE, 1, outputs=np.array(far))


@pytest.mark.parametrize("cost", [np.zeros((4, 4)), -np.ones((4, 4)), np.diag([-5.0, 1, 2, 3])])
@pytest.mark.parametrize("objective", ["mean", "worst", ("quantile", 0.5)])
def test_costs_of_any_sign(cost, objective):
    for method in ("weighted", "kernel", "calibrated", "auto"):
        solution = design.solve(design.Problem(SPACE, 2, cost=cost, objective=objective), method)
        assert solution.lower_bound <= solution.value
        assert solution.certify().certificate.epsilon <= 2


def test_kernels_need_no_solver(monkeypatch):
    from metricdp.design import _bounds

    def missing(*args, **kwargs):
        raise md.MissingExtraError("a", "b", "c")

    monkeypatch.setattr(_bounds, "linear_program", missing)
    solution = design.solve(design.Problem(SPACE, 2), "kernel")
    assert solution.lower_bound == 0


def test_near_pairs_among_many_points_are_certified_or_refused_as_such():
    rng = np.random.default_rng(0)
    points = np.vstack([rng.normal(size=(1100, 3)), [[5.0, 5, 5], [5.0, 5, 5 + 1e-9]]])
    solution = design.solve(design.Problem(md.FiniteSpace.from_points(points), 2), "exponential")
    with pytest.raises(md.NotCertified):
        solution.certify()
    points[-1, 2] = 5 + 1e-3
    solution = design.solve(design.Problem(md.FiniteSpace.from_points(points), 2), "exponential")
    assert solution.certify().certificate.epsilon <= 2


def test_the_worst_case_counts_every_record_of_a_group():
    space = md.FiniteSpace.from_points(np.array([[0.0], [1e-9], [1.0]]))
    problem = design.Problem(space, 1, cost=[[1, 0], [0, 1], [0, 0]], outputs=["a", "b"], objective="worst")
    solution = design.solve(problem, "optimal")
    assert solution.value == pytest.approx(0.5, abs=1e-6)
    assert solution.gap < 1e-6


def test_a_checkpoint_of_a_like_problem_is_refused(tmp_path):
    space = md.FiniteSpace.from_points(np.array([[0.0], [1e-9], [1.0]]))
    first = design.Problem(space, 1, cost=[[1, 1], [1, 1], [0, 0]], outputs=["a", "b"], objective="worst")
    second = design.Problem(space, 1, cost=[[1, 0], [0, 1], [0, 0]], outputs=["a", "b"], objective="worst")
    path = str(tmp_path / "state.npz")
    design.solve(first, "optimal", checkpoint=path)
    with pytest.raises(md.FileRefusedError, match="another problem"):
        design.solve(second, "optimal", checkpoint=path)
    for wrong in (5, b"x", "a\0b", "", str(tmp_path), str(tmp_path / "none" / "x")):
        with pytest.raises(md.FileRefusedError):
            design.solve(first, "optimal", checkpoint=wrong)


@pytest.mark.parametrize("value", [[10**400, 0, 0, 0], [1j, 0, 0, 0], np.ma.masked_array([1, 0, 0, 0], [0, 1, 0, 0])])
def test_numbers_that_are_none(value):
    with pytest.raises(md.InvalidParameterError):
        design.Problem(SPACE, 1, prior=value)
    with pytest.raises(md.IncompatibleError):
        design.Problem(SPACE, 1, cost=[value] * 4 if not np.ma.isMaskedArray(value) else value)
    with pytest.raises(md.InvalidParameterError):
        design.solve(design.Problem(SPACE, 1), "weighted", weights=value)


def test_types_that_are_none():
    with pytest.raises(md.IncompatibleError):
        design.Problem(SPACE, 1, outputs=np.array([["a", "b"]]))
    for arguments in ({"objective": [np.array([1, 2]), 2]}, {"pairs": np.array([1, 2])}):
        with pytest.raises(md.InvalidParameterError):
            design.Problem(SPACE, 1, **arguments)
    with pytest.raises(md.InvalidParameterError):
        design.solve(design.Problem(SPACE, 1), np.array([1, 2]))
    channel = design.solve(design.Problem(SPACE, 1), "exponential").certify()
    with pytest.raises(md.InvalidParameterError):
        bayes.remap(channel, outputs=[])
    with pytest.raises(md.InvalidParameterError):
        bayes.remap(channel, outputs=[0, 0])
    for wrong in (lambda: bayes.remap(channel, outputs=5), lambda: bayes.adversary(5)):
        with pytest.raises(md.IncompatibleError):
            wrong()
    assert audit.exact(channel).epsilon == channel.certificate.epsilon
