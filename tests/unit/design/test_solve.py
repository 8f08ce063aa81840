"""The front door, solutions, and the search for epsilon."""

import numpy as np
import pytest

import metricdp as md
from metricdp import design

SPACE = md.FiniteSpace.from_points(np.random.default_rng(2).random((15, 2)), unit="km")


def test_auto_says_what_it_picks():
    small = design.solve(design.Problem(SPACE, 4))
    assert small.method == "optimal"
    assert "auto: 15 records" in small.log[0]
    big = md.FiniteSpace.from_points(np.random.default_rng(0).random((120, 2)))
    assert design.solve(design.Problem(big, 4)).method == "kernel"
    assert design.solve(design.Problem(SPACE, 4, objective=("quantile", 0.9))).method == "kernel"


def test_a_solution_prints_loss_bound_and_stay_share():
    solution = design.solve(design.Problem(SPACE, 4))
    assert "come out as themselves" in str(solution)
    assert "epsilon = 4 per km" in str(solution)
    channel = solution.certify()
    assert channel.stay() == pytest.approx(solution.stay, rel=1e-9)
    assert channel.certificate.value == channel.loss() == pytest.approx(solution.value, rel=1e-9)
    assert channel.certificate.lower_bound == solution.lower_bound
    assert channel.certificate.objective == "mean"
    assert set(solution.timings) == {"solver", "repair"}


def test_bounds_survive_a_file(tmp_path):
    channel = design.solve(design.Problem(SPACE, 4)).certify()
    channel.save(tmp_path / "c.npz")
    assert md.Channel.load(tmp_path / "c.npz") == channel


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("simplex", {}),
        ("optimal", {"reach": 1}),
        ("tight", {"weights": [1] * 15}),
        ("kernel", {"reach": -1}),
        ("kernel", {"checkpoint": "x"}),
        ("optimal", {"time_limit": 0}),
    ],
)
def test_unknown_methods_and_options(method, options):
    with pytest.raises(md.InvalidParameterError):
        design.solve(design.Problem(SPACE, 4), method, **options)
    with pytest.raises(md.IncompatibleError):
        design.solve(SPACE)


def test_methods_that_need_distances_say_so():
    problem = design.Problem(SPACE, 4, outputs=["a", "b"], cost=np.ones((15, 2)))
    for method in ("exponential", "weighted", "calibrated", "tight", "kernel"):
        with pytest.raises(md.IncompatibleError, match="no distances"):
            design.solve(problem, method)
    assert design.solve(problem).method == "optimal"


@pytest.mark.parametrize("method", ["exponential", "calibrated", "kernel", "optimal"])
def test_epsilon_for_finds_what_was_asked(method):
    found = design.epsilon_for(SPACE, stay="0.5", method=method)
    assert design.solve(design.Problem(SPACE, found), method).stay >= 0.5
    assert design.solve(design.Problem(SPACE, found * 0.99), method).stay < 0.5
    cheap = design.epsilon_for(SPACE, loss="0.1", method=method)
    assert design.solve(design.Problem(SPACE, cheap), method).value <= 0.1


def test_epsilon_for_refuses_what_cannot_be():
    for aims in ({}, {"stay": 0.5, "loss": 1}, {"stay": 0}, {"stay": 1}, {"stay": "x"}):
        with pytest.raises(md.InvalidParameterError):
            design.epsilon_for(SPACE, **aims)
    with pytest.raises(md.InvalidParameterError, match="No epsilon"):
        design.epsilon_for(SPACE, loss=-1, method="exponential")
    skewed = np.r_[0.6, np.full(14, 0.4 / 14)]
    with pytest.raises(md.InvalidParameterError, match="ignores its record"):
        design.epsilon_for(SPACE, stay="0.5", prior=skewed)
    with pytest.raises(md.InvalidParameterError, match="One output for all"):
        design.epsilon_for(SPACE, loss=100)
    for tolerance in (0, 1, "x"):
        with pytest.raises(md.InvalidParameterError, match="tolerance"):
            design.epsilon_for(SPACE, stay="0.5", tolerance=tolerance)
    assert design.solve(design.Problem(SPACE, 4), reach=1).method == "kernel"


def test_large_tables_without_points_are_refused(monkeypatch):
    from metricdp.design import _solution

    monkeypatch.setattr(_solution, "GENERATED", 5)
    monkeypatch.setattr(_solution, "LARGEST", 10)
    with pytest.raises(md.NotCertified, match="too large"):
        design.solve(design.Problem(md.Discrete(range(15)), 1), "kernel").certify()
    generated = design.solve(design.Problem(SPACE, 4), "kernel").certify()
    assert generated.certificate.method == "kernel"
    assert generated.certificate.epsilon <= 4
    assert generated.certificate.epsilon == pytest.approx(md.audit.exact(generated).epsilon, rel=1e-4)
