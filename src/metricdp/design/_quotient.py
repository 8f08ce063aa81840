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
    farthest members and of the mean cost in each group, less what rows of one group may differ, so that every channel
    of the whole problem, averaged over its groups, is covered.

    Attributes:
        problem: over the groups; the whole problem where nothing is merged.
        group: of each record.
        farthest: distances between groups for the lower bound.
        cheapest: costs (groups, outputs) for the lower bound.
    """

    problem: Problem
    group: NDArray[np.intp]
    farthest: Floats
    cheapest: Floats

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
            return cls(problem, np.arange(count), distances, costs)
        members = [np.flatnonzero(group == g) for g in range(count)]
        closest, farthest = np.zeros((count, count)), np.zeros((count, count))
        for a, left in enumerate(members):
            for b, right in enumerate(members):
                if a != b:
                    block = distances[np.ix_(left, right)]
                    closest[a, b], farthest[a, b] = block.min(), block.max()
        prior = np.array([problem.prior[rows].sum() for rows in members])
        shared, cheapest = [], []
        for rows, share in zip(members, prior, strict=True):
            weights = problem.prior[rows] / share if share > 0 else np.full(len(rows), 1 / len(rows))
            mean = weights @ costs[rows]
            shared.append(costs[rows].max(axis=0) if problem.objective == "worst" else mean)
            spread = float(distances[np.ix_(rows, rows)].max()) * float(problem.epsilon)
            cheapest.append(np.where(costs[rows].min(axis=0) < 0, costs[rows].min(axis=0), mean * np.exp(-spread)))
        space = FiniteSpace(range(count), np.asarray(shortest_path(closest)) if count > 1 else closest)
        small = Problem(
            space,
            problem.epsilon,
            prior=prior / prior.sum(),
            cost=np.array(shared),
            outputs=list(range(problem.shape[1])),
            objective=problem.objective,
        )
        return cls(small, group.astype(np.intp), farthest, np.array(cheapest) * (1 - 1e-15))

    def lifted(self, matrix: Floats) -> Floats:
        """Every record gets the row of its group."""
        return np.asarray(matrix[self.group])
