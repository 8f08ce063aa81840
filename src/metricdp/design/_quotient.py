"""Records nearer to each other than a solver can tell share one row (proofs/cone_repair.md)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components, shortest_path

from metricdp.design._problem import Floats, Problem
from metricdp.spaces import FiniteSpace

NEARER = 1e-6
"""Records with epsilon·d below this share a row."""


@dataclass(frozen=True, slots=True, eq=False)
class Quotient:
    """A problem over groups of records.

    A channel for it, lifted, keeps the promise of the whole problem: groups are as far apart as their closest members
    (or a path of such steps), which is no farther than any two members. What bounds it from below speaks of the
    farthest members, and of costs less what rows of one group may differ, so that every channel of the whole problem,
    averaged over its groups, is covered.

    Attributes:
        whole: the problem over records.
        problem: over the groups; the whole problem where nothing is merged.
        group: of each record.
        costs: (records, outputs) of the whole problem.
        lowered: the same costs for the lower bound.
        farthest: distances between groups for the lower bound.
    """

    whole: Problem
    problem: Problem
    group: NDArray[np.intp]
    costs: Floats
    lowered: Floats
    farthest: Floats

    @property
    def prior(self) -> Floats:
        """Of the records."""
        return self.whole.prior

    @property
    def merged(self) -> int:
        """How many records gave up their row."""
        return len(self.group) - len(self.problem.space)

    @classmethod
    def of(cls, problem: Problem) -> Quotient:
        """Groups by chains of steps below the threshold."""
        distances = problem.space.matrix()
        near = distances * float(problem.epsilon) < NEARER
        count, group = connected_components(near, directed=False)
        costs = problem.costs()
        if count == len(distances):
            return cls(problem, problem, np.arange(count), costs, costs, distances)
        members = [np.flatnonzero(group == g) for g in range(count)]
        closest, farthest = np.zeros((count, count)), np.zeros((count, count))
        for a, left in enumerate(members):
            for b, right in enumerate(members):
                if a != b:
                    block = distances[np.ix_(left, right)]
                    closest[a, b], farthest[a, b] = block.min(), block.max()
        spread = np.zeros(len(distances))
        shared = np.zeros((count, problem.shape[1]))
        prior = np.zeros(count)
        for g, rows in enumerate(members):
            prior[g] = problem.prior[rows].sum()
            spread[rows] = float(distances[np.ix_(rows, rows)].max()) * float(problem.epsilon) * (1 + 1e-12) + 1e-15
            weights = problem.prior[rows] / prior[g] if prior[g] > 0 else np.full(len(rows), 1 / len(rows))
            shared[g] = weights @ costs[rows]
        lowered = costs * np.exp(np.where(costs < 0, spread[:, None], -spread[:, None]))
        small = Problem(
            FiniteSpace(range(count), np.asarray(shortest_path(closest)) if count > 1 else closest),
            problem.epsilon,
            prior=prior / prior.sum(),
            cost=shared,
            outputs=[("output", k) for k in range(problem.shape[1])],
            objective=problem.objective,
        )
        return cls(problem, small, group.astype(np.intp), costs, lowered, farthest)

    def over_groups(self, weights: Floats) -> Floats:
        """Lowered costs of the groups under weights of the records."""
        result = np.zeros((len(self.problem.space), self.costs.shape[1]))
        np.add.at(result, self.group, weights[:, None] * self.lowered)
        return result - np.abs(result) * (len(self.group) * 2.0**-52)

    def lifted(self, matrix: Floats) -> Floats:
        """Every record gets the row of its group."""
        return np.asarray(matrix[self.group])
