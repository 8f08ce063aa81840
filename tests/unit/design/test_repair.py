"""Any matrix becomes private by repair in the cone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import metricdp as md
from metricdp import design
from metricdp.design._repair import closure, hair, into_cone, nearest_distance, with_floor


def case(seed, n=9, k=6):
    rng = np.random.default_rng(seed)
    space = md.FiniteSpace.from_points(rng.random((n, 2)) * rng.uniform(0.1, 10))
    matrix = rng.random((n, k)) * (rng.random((n, k)) < 0.5)
    matrix[:, 0] += 1e-3
    return space, matrix / matrix.sum(axis=1, keepdims=True), space.matrix() * rng.uniform(0.1, 5)


def keeps(matrix, exponents):
    """The largest ln(z_ik/z_jk) - exponents_ij over all pairs and outputs; 0 or less is within the cone."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.log(matrix)[:, None] - np.log(matrix)[None]
    return float((np.where(np.isnan(ratios), -np.inf, ratios).max(axis=2) - exponents).max())


@given(st.integers(0, 10**6))
def test_the_closure_is_the_least_member_of_the_cone_above(seed):
    _, matrix, exponents = case(seed)
    closed = closure(matrix, exponents)
    slow = np.array([[max(np.exp(-exponents[i]) * matrix[:, k]) for k in range(6)] for i in range(9)])
    assert closed == pytest.approx(slow)
    assert (closed >= matrix).all()
    assert closure(closed, exponents) == pytest.approx(closed)


@given(st.integers(0, 10**6))
def test_repair_gives_full_rows_within_the_cone(seed):
    _, matrix, exponents = case(seed)
    repaired = into_cone(matrix, exponents, np.full(6, 1 / 6))
    assert abs(repaired.sum(axis=1) - 1).max() < 1e-12
    assert keeps(repaired, exponents) < 1e-12
    assert (with_floor(repaired, 0.1) > 0).all()
    assert into_cone(repaired, exponents, np.full(6, 1 / 6)) == pytest.approx(repaired, abs=1e-12)


def test_dividing_rows_would_not_do():
    space, matrix, _ = case(5)
    exponents = space.matrix() * 0.5
    closed = closure(matrix, exponents)
    assert keeps(closed / closed.sum(axis=1, keepdims=True), exponents) > 1e-3


def test_the_step_below_epsilon_grows_with_close_pairs():
    near = md.FiniteSpace.from_points([[0.0], [1e-9], [1.0]])
    far = md.FiniteSpace.from_points([[0.0], [1.0], [3.0]])
    assert nearest_distance(design.Problem(near, 1)) == 1e-9
    assert hair(design.Problem(far, 1)) == 2**-42
    assert 2**-42 < hair(design.Problem(near, 1)) <= 2**-14
    assert nearest_distance(design.Problem(md.FiniteSpace.from_points([[1.0]]), 1)) == 1


def test_solution_certify_repairs_any_law():
    from dataclasses import replace

    space, matrix, _ = case(3, k=9)
    solution = design.solve(design.Problem(space, 2), "exponential")
    broken = replace(solution, dense=matrix, member=None)
    channel = broken.certify()
    assert channel.certificate.epsilon <= 2
