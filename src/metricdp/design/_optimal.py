"""The linear program itself, scaled so that a solver's tolerances mean something (solver: HiGHS)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from metricdp.design._bounds import Triples, from_duals, from_shares
from metricdp.design._highs import TOLERANCE, linear_program
from metricdp.design._problem import Floats, Problem
from metricdp.design._quotient import Quotient

NEAR = 3.0
"""Constraints whose scaled exponent is at most this enter the first program; others when they are violated."""

STRETCH = 1 + 1e-9
"""Pairs of records that a third one joins without a longer detour are implied; they enter when they are violated."""

LARGEST = 4_000_000
"""Constraints in all, n²·k, that the full program is tried for."""

PER_ROUND = 20_000
_CUT = 60.0


@dataclass(slots=True)
class Program:
    """The state between rounds: which constraints are in, and the best found."""

    triples: Triples
    matrix: Floats | None = None
    bound: float = -np.inf
    rounds: int = 0
    status: str = "not started"


def scaling(problem: Problem) -> Floats:
    """Distances to outputs beyond the nearest, so that z_ik = e^(-epsilon·r_ik)·x_ik has x of one size."""
    if problem.has_distances:
        reach = problem.reach()
    else:
        reach = problem.space.block(np.arange(len(problem.space)), problem.costs().argmin(axis=0))
    return np.asarray(reach - reach.min(axis=1, keepdims=True))


def first_triples(exponents: Floats, reach: Floats) -> Triples:
    """Constraints that can bind near the tight mechanism, between records with no other nearly on the way."""
    n = len(reach)
    found: list[Any] = []
    for i in range(n):
        detour = exponents[i][:, None] + exponents  # i to m to j
        detour[i] = detour[np.arange(n), np.arange(n)] = np.inf
        direct = detour.min(axis=0) > exponents[i] * STRETCH
        direct[i] = False
        excess = exponents[i][:, None] + reach[i] - reach
        j, k = np.nonzero((excess <= NEAR) & direct[:, None])
        found.append(np.stack([np.full(len(j), i), j, k]))
    i, j, k = np.concatenate(found, axis=1)
    return i, j, k


def run(
    quotient: Quotient,
    program: Program | None,
    *,
    epsilon: float,
    deadline: float,
    after: Callable[[Program], None],
) -> Program:
    """Rounds of HiGHS until no constraint is violated: the matrix, and a bound that needs no trust in the solver.

    Args:
        quotient: a problem of mean or worst cost, over groups of records.
        program: a state to go on from, or None.
        epsilon: what the program keeps, a hair below the problem's.
        deadline: `time.monotonic()` after which the best so far is returned.
        after: called after each round.
    """
    problem = quotient.problem
    exponents = problem.space.matrix() * epsilon
    asked = quotient.farthest * float(problem.epsilon)
    reach = scaling(problem) * epsilon
    state = program or Program(first_triples(exponents, reach))
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            state.status = "time limit"
            return state
        answer = _solve(quotient, exponents, reach, state.triples, left)
        state.rounds += 1
        if answer is None:
            state.status = "time limit"
            return state
        matrix, duals, shares, weights = answer
        state.matrix = matrix
        weighted = quotient.over_groups(weights)
        bound = from_duals(weighted, asked, state.triples, duals)
        if shares.sum() - bound > 1e-8 * abs(bound):
            bound = max(bound, from_shares(weighted, asked, shares))
        state.bound = max(state.bound, bound)
        more = _violated(matrix, exponents, reach)
        after(state)
        wider = _together(state.triples, more, matrix.shape)
        if len(wider[0]) == len(state.triples[0]):
            state.status = "optimal"
            return state
        state.triples = wider


def _together(old: Triples, new: Triples, shape: tuple[int, ...]) -> Triples:
    n, outputs = shape
    codes = np.union1d(*((i * n + j) * outputs + k for i, j, k in (old, new)))
    return codes // (n * outputs), codes // outputs % n, codes % outputs


def _violated(matrix: Floats, exponents: Floats, reach: Floats) -> Triples:
    """The constraints broken most, in the scale of x; none of those that hold within the tolerance."""
    scaled = matrix * np.exp(np.minimum(reach, 600))
    found: list[Any] = []
    broken: list[Any] = []
    for i in range(len(matrix)):
        excess = np.clip(exponents[i][:, None] + reach[i] - reach, -_CUT, _CUT)
        over = scaled[i] * np.exp(-excess / 2) - np.exp(excess / 2) * scaled
        over[i] = 0
        j, k = np.nonzero(over > 20 * TOLERANCE * (1 + scaled[i] * np.exp(-excess / 2)))
        found.append(np.stack([np.full(len(j), i), j, k]))
        broken.append(over[j, k])
    worst = np.argsort(-np.concatenate(broken), kind="stable")[:PER_ROUND]
    i, j, k = np.concatenate(found, axis=1)[:, worst]
    return i, j, k


def _solve(
    quotient: Quotient, exponents: Floats, reach: Floats, triples: Triples, seconds: float
) -> tuple[Floats, Floats, Floats, Floats] | None:
    """One program: the matrix, duals of constraints, duals of row sums, weights of records; None out of time."""
    problem = quotient.problem
    n, outputs = problem.shape
    size = n * outputs
    i, j, k = triples
    scale = np.exp(-np.minimum(reach, 600))
    half = np.clip(exponents[i, j] + reach[i, k] - reach[j, k], -_CUT, _CUT) / 2
    count = len(i)
    places = np.arange(size)
    rows = [np.repeat(np.arange(count), 2), count + np.repeat(np.arange(n), outputs)]
    columns = [np.stack([i * outputs + k, j * outputs + k], 1).ravel(), places]
    values = [np.stack([np.exp(-half), -np.exp(half)], 1).ravel(), scale.ravel()]
    unit = _unit(problem, reach)
    objective = (problem.prior[:, None] * problem.costs() * scale).ravel() / unit
    lower, upper = np.r_[np.full(count, -np.inf), np.ones(n)], np.r_[np.zeros(count), np.ones(n)]
    worst = problem.objective == "worst"
    if worst:
        records = np.arange(len(quotient.group))
        rows += [count + n + np.repeat(records, outputs), count + n + records]
        columns += [(quotient.group[:, None] * outputs + np.arange(outputs)).ravel(), np.full(len(records), size)]
        values += [(quotient.costs * scale[quotient.group]).ravel() / unit, np.full(len(records), -1.0)]
        objective = np.r_[np.zeros(size), 1.0]
        lower, upper = np.r_[lower, np.full(len(records), -np.inf)], np.r_[upper, np.zeros(len(records))]
    table = csr_array(
        (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape=(len(lower), len(objective))
    )
    answer = linear_program(table, objective, lower, upper, seconds, free=[size] if worst else [])
    if answer is None:
        return None
    x, duals = answer
    matrix = x[:size].reshape(n, outputs) * scale
    weights = _weights(quotient, duals[count + n :]) if worst else quotient.prior
    # a row divided by e^(excess/2) and by the scale of its record has the dual of the plain one times both
    plain = -duals[:count] * np.exp(-half) / np.maximum(scale[i, k], 1e-300) * unit
    return matrix, plain, duals[count : count + n] * unit, weights


def _weights(quotient: Quotient, duals: Floats) -> Floats:
    """A law over records from the duals of their worst cases."""
    found = np.maximum(-duals, 0)
    return np.asarray(found / found.sum()) if found.sum() > 0 else quotient.prior


def _unit(problem: Problem, reach: Floats) -> float:
    """The size of the objective: the cost of the exponential kernel at full epsilon, at least 1e-12 of the largest."""
    kernel = np.exp(-reach)
    costs = problem.costs()
    losses = (kernel * costs).sum(axis=1) / kernel.sum(axis=1)
    value = float(losses.max() if problem.objective == "worst" else problem.prior @ losses)
    return max(abs(value), 1e-12 * float(np.abs(costs).max()), 1e-280)
