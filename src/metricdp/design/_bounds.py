"""Lower bounds on every channel that keeps the promise, from any dual numbers (proofs/cone_repair.md)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from metricdp.design._highs import linear_program
from metricdp.design._problem import Floats, Problem

Triples = tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]


def from_duals(costs: Floats, exponents: Floats, triples: Triples, duals: Floats) -> float:
    """The bound that duals of z_i <= e^(exponents_ij)·z_j prove; none need be exact, negative ones count as 0.

    With y >= 0, every feasible z costs at least the sum over i of min_k (c_ik + sum_j y_ijk - sum_j e^(..ji)·y_jik).

    Args:
        costs: (n, k), already weighted by the prior (or by the duals of the worst case).
        exponents: epsilon·d between records.
        triples: (i, j, k) of the constraints that have duals.
        duals: one for each.
    """
    i, j, k = triples
    y = np.maximum(duals, 0.0)
    back = y * np.exp(exponents[i, j])
    value, size = costs.copy(), np.abs(costs)
    for place, change in (((i, k), y), ((j, k), -back)):
        np.add.at(value, place, change)
        np.add.at(size, place, np.abs(change))
    slack = (len(costs) + 8 + float(exponents.max())) * 2.0**-52
    rows = (value - slack * size).min(axis=1)
    return float(rows.sum() - slack * np.abs(rows).sum())


def from_shares(costs: Floats, exponents: Floats, shares: Floats) -> float:
    """The bound that shares of the rows prove: their sum, less what no shipment accounts for.

    For output k, records whose share exceeds their cost demand the excess, the others supply theirs; a shipment from i
    to j arrives as the part e^(-exponents_ij), since columns obey z_i >= e^(-exponents_ij)·z_j. Whatever demand a
    shipment leaves open is taken off the share of that record, so any shipment proves a bound; the best is a small
    linear program per output.
    """
    decay = np.exp(-exponents) * (1 - (8 + exponents) * 2.0**-51)
    costs = costs - np.abs(costs) * 2.0**-51
    open_demand = np.zeros(len(shares))
    for k in range(costs.shape[1]):
        supply = (costs[:, k] - shares) * (1 - 2.0**-52)
        demanding, supplying = np.flatnonzero(supply < 0), np.flatnonzero(supply > 0)
        if len(demanding):
            part = decay[np.ix_(supplying, demanding)]
            left = _shipped(supply[supplying], -supply[demanding] * (1 + 2.0**-50), part)
            open_demand[demanding] = np.maximum(open_demand[demanding], left)
    slack = (len(shares) + 16) * 2.0**-52
    return float(shares.sum() - open_demand.sum() - slack * (np.abs(shares).sum() + open_demand.sum()))


def quick(problem: Problem) -> float:
    """A bound without a solver's duals, for the mean: shares in proportion to what a kernel at full epsilon costs."""
    exponents = problem.space.matrix() * float(problem.epsilon)
    costs = problem.prior[:, None] * problem.costs()
    kernel = np.exp(-problem.reach() * float(problem.epsilon)).T * problem.prior
    near = (kernel * problem.costs().T).sum(axis=1) / np.maximum(kernel.sum(axis=1), 1e-300)
    shares = problem.prior * near[np.maximum(problem.own_outputs(), 0)]
    return max(from_shares(costs, exponents, share * shares) for share in (0.95, 0.85, 0.7))


def _shipped(supply: Floats, demand: Floats, decay: Floats) -> Floats:
    """Demand left open by a nearly best shipment, computed from the shipment itself and rounded up."""
    with np.errstate(divide="ignore", over="ignore"):
        needed = demand / (decay * supply[:, None])  # share of a supply that meets a whole demand
    i, j = np.nonzero(needed < 1e9)
    if len(i) == 0:
        return demand
    count, size = len(supply), len(i)
    columns = np.arange(size)
    rows = np.concatenate([i, count + j, count + np.arange(len(demand))])
    places = np.concatenate([columns, columns, size + np.arange(len(demand))])
    values = np.concatenate([needed[i, j], np.ones(size + len(demand))])
    table = csr_array((values, (rows, places)), shape=(count + len(demand), size + len(demand)))
    objective = np.concatenate([np.zeros(size), demand / demand.max()])
    lower = np.concatenate([np.full(count, -np.inf), np.ones(len(demand))])
    upper = np.concatenate([np.ones(count), np.full(len(demand), np.inf)])
    answer = linear_program(table, objective, lower, upper, np.inf)
    assert answer is not None
    met = np.maximum(answer[0][:size], 0)
    used = np.bincount(i, needed[i, j] * met, minlength=count)
    met = met / np.maximum(used[i], 1.0)
    arrived = np.bincount(j, met, minlength=len(demand)) * (1 - (count + len(demand) + 16) * 2.0**-51)
    return np.asarray(demand * np.maximum(1 - arrived, 0) * (1 + 1e-14))


def trivial(problem: Problem, weights: Floats) -> float:
    """Every record at its cheapest output: what no promise at all would cost."""
    if problem.costs_are_distances and problem.over_records:
        return 0.0
    everything = np.arange(len(problem.space))
    size = max(1, (1 << 22) // problem.shape[1])
    total = 0.0
    for start in range(0, len(everything), size):
        rows = everything[start : start + size]
        least = weights[rows] * problem.costs(rows).min(axis=1)
        total += float(least.sum()) - len(everything) * 2.0**-50 * float(np.abs(least).sum())
    return total
