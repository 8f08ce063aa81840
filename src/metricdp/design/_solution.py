"""What a method found, and how it becomes a channel."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from scipy.sparse.csgraph import connected_components

from metricdp.channel import Channel, Kernel, objective_of
from metricdp.design._kernels import Geometry, Member
from metricdp.design._problem import Floats, Problem
from metricdp.design._repair import hair, into_cone, nearest_distance, with_floor
from metricdp.errors import NotCertified
from metricdp.exact import decimal_text

ATTEMPTS = 4

ALIKE = 1e-8
"""Records with epsilon·d below this get one row in the table: float64 could not tell theirs apart."""

GENERATED, LARGEST = 1000, 3000
"""Kernels over more points than the first are made row by row; tables are verified up to the second."""


@dataclass(frozen=True, slots=True)
class Solution:
    """A design, not yet a mechanism: `certify()` makes the channel.

    Attributes:
        problem: what was asked.
        method: what answered.
        value: the objective of the design; `certify` restates it from the integers in the certificate, the same but
            for rounding (and for repairs around records closer than 1e-6/epsilon).
        lower_bound: no channel that keeps the promise has a smaller objective; needs no trust in a solver.
        status: "optimal" (value and bound agree), "feasible", "time limit" or "solver failed".
        stay: share of records (under the prior) that come out as themselves.
        timings: seconds by stage.
        log: what was tried, in words.
    """

    problem: Problem
    method: str
    value: float
    lower_bound: float
    status: str
    stay: float
    timings: dict[str, float]
    log: tuple[str, ...]
    member: Member | None = field(default=None, repr=False)
    dense: Floats | None = field(default=None, repr=False)

    @property
    def gap(self) -> float:
        """(value - lower_bound)/value; 0 where both are 0, and inf where the value is 0 and the bound below it."""
        if self.value <= self.lower_bound:
            return 0.0
        return float("inf") if self.value == 0 else (self.value - self.lower_bound) / abs(self.value)

    def matrix(self) -> Floats:
        """The law as floats, before rounding; (n, k)."""
        if self.dense is not None:
            return self.dense
        assert self.member is not None
        return Geometry(self.problem, self.member.reach).matrix(self.member)

    def certify(self) -> Channel:
        """The channel whose integers are verified to keep the epsilon that was asked for.

        Designs are repaired in the cone, given the floor that rounding needs, rounded, and verified exactly; kernels
        over more than 1000 points (norm 2, outputs the records) are made row by row and verified in n² operations.

        Raises:
            NotCertified: with the worst pair, and what to do.
        """
        problem = self.problem
        points = problem.space.points
        if len(problem.space) > GENERATED and self.member is not None:
            if points is not None and problem.space.norm == 2 and problem.over_records:
                return self._generated(self.member, points)
            if max(problem.shape) > LARGEST:
                raise NotCertified(
                    f"A table for {problem.shape[0]} records and {problem.shape[1]} outputs is too large to verify.",
                    f"Up to {LARGEST} of each, or points with norm 2 that are records and outputs.",
                    "Use fewer records.",
                )
        matrix = self.matrix()
        if len(problem.space) == 1:
            return self._claimed(Channel.from_matrix(problem.space, _filled(matrix), problem.outputs).certify())
        exponents = problem.space.matrix() * float(problem.epsilon)
        alike = connected_components(exponents < ALIKE, directed=False)[1]
        first = np.unique(alike, return_index=True)[1][alike]
        closest = float(problem.epsilon) * nearest_distance(problem)
        step = hair(problem) if closest < ALIKE else 2.0**-44
        fill = np.full(problem.shape[1], 1 / problem.shape[1])
        repaired = with_floor(into_cone(matrix, exponents * (1 - step), fill), max(closest, ALIKE))
        channel = Channel.from_matrix(problem.space, repaired[first], problem.outputs)
        return self._claimed(channel.certify(problem.epsilon))

    def _generated(self, member: Member, points: Floats) -> Channel:
        problem = self.problem
        exponent, limit = member.exponent, problem.epsilon
        for _ in range(ATTEMPTS):
            channel = Channel(problem.space, Kernel.of(points, member.y, exponent, member.reach)).certify()
            assert channel.certificate is not None
            reached = channel.certificate.epsilon
            if reached <= float(limit) * (1 - 2.0**-50):
                return self._claimed(channel)
            exponent -= 1.1 * (reached - float(limit)) + 1e-9 * exponent
            if not exponent > 0:
                break
        raise NotCertified(
            f"The loss stays at {reached!r}.",
            f"At most {decimal_text(limit, 12)}.",
            "Design at a slightly smaller epsilon.",
        )

    def _claimed(self, channel: Channel) -> Channel:
        assert channel.certificate is not None
        name = self.problem.objective if isinstance(self.problem.objective, str) else repr(self.problem.objective)
        value = self.value
        if max(self.problem.shape) <= LARGEST:
            cost = None if self.problem.costs_are_distances and self.problem.over_records else self.problem.costs()
            value = channel.loss(self.problem.objective, prior=self.problem.prior, cost=cost)
        claim = replace(channel.certificate, objective=name, value=value, lower_bound=min(self.lower_bound, value))
        return channel.with_claim(claim)

    def __str__(self) -> str:
        unit = f" per {self.problem.space.unit}" if self.problem.space.unit else ""
        return (
            f"{self.method}: objective {self.value:.6g}, at least {self.lower_bound:.6g} for any channel with "
            f"epsilon = {decimal_text(self.problem.epsilon)}{unit} (gap {self.gap:.2g}); {self.stay:.1%} of records "
            f"come out as themselves; {self.status}"
        )


def _filled(matrix: Floats) -> Floats:
    """The row of a single record, summing to 1."""
    row = np.maximum(matrix, 0.0)
    return np.asarray(row / row.sum())


def evaluate(problem: Problem, matrix: Floats) -> tuple[float, float]:
    """The objective of a dense law, and the share of records that stay."""
    losses = np.einsum("ij,ij->i", matrix, problem.costs())
    places = problem.own_outputs()
    same = np.where(places >= 0, matrix[np.arange(len(matrix)), np.maximum(places, 0)], 0.0)
    return objective_of(losses, problem.prior, problem.objective), float(problem.prior @ same)
