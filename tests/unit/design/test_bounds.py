"""Lower bounds that hold whatever numbers they are made from."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import metricdp as md
from metricdp import design
from metricdp.design._bounds import from_duals, from_shares, quick, trivial

SPACE = md.FiniteSpace.from_points(np.random.default_rng(1).random((7, 2)))
PROBLEM = design.Problem(SPACE, 3)
OPTIMUM = design.solve(PROBLEM, "optimal").value
COSTS = PROBLEM.prior[:, None] * PROBLEM.costs()
EXPONENTS = SPACE.matrix() * 3


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.floats(1e-6, 1e3))
def test_any_duals_prove_a_bound(seed, size):
    rng = np.random.default_rng(seed)
    triples = tuple(rng.integers(7, size=(3, 40)))
    assert from_duals(COSTS, EXPONENTS, triples, rng.normal(size=40) * size) <= OPTIMUM


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.floats(1e-3, 3))
def test_any_shares_prove_a_bound(seed, size):
    shares = np.random.default_rng(seed).exponential(size=7) * OPTIMUM / 7 * size
    assert from_shares(COSTS, EXPONENTS, shares) <= OPTIMUM


def test_good_shares_prove_nearly_the_optimum():
    assert trivial(PROBLEM, PROBLEM.prior) == 0
    assert 0.8 * OPTIMUM < quick(PROBLEM) <= OPTIMUM


def test_costs_without_promise():
    cost = np.random.default_rng(0).normal(size=(7, 4))
    problem = design.Problem(SPACE, 3, outputs=list("abcd"), cost=cost)
    assert trivial(problem, problem.prior) == pytest.approx(cost.min(axis=1).mean())
