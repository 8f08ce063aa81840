"""The kernel e^(-a·min(d, reach)) between records and outputs: sums, and the loss that their unevenness costs."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metricdp.channel import objective_of
from metricdp.design._problem import Floats, Problem

DENSE = 1500
"""Up to this many records everything is kept in float64; beyond, distances in float32, and the certificate decides."""

KEPT_BYTES = 2_000_000_000
"""Distances in float32 that are kept; beyond, they are computed again in every pass."""


@dataclass(frozen=True, slots=True)
class Member:
    """One mechanism of the family z_ik = y_k·e^(-exponent·min(d_ik, reach))/Z_i."""

    y: Floats
    exponent: float
    reach: float


class Geometry:
    """Distances of a problem in blocks, and what the family needs of them."""

    def __init__(self, problem: Problem, reach: float, deadline: float = math.inf) -> None:
        self.problem, self.reach, self.deadline = problem, reach, deadline
        self.n, self.outputs = problem.shape
        self.dense = max(self.n, self.outputs) <= DENSE or not problem.over_records
        self.kind: Any = np.float64 if self.dense else np.float32
        self._points, self._squares = self._plane()
        itemsize = 8 if self.dense else 4
        self._size = max(1, (1 << 21) // max(self.n, self.outputs))
        self._records: Any = None
        self._outputs: Any = None
        self._kernel: tuple[float, Any] | None = None
        if self.dense or self.n * self.n * itemsize <= KEPT_BYTES:
            self._records = self._all(self._record_block)
            self._outputs = self._records if problem.over_records else self._all(problem.reach)

    def _plane(self) -> tuple[Any, Any]:
        space = self.problem.space
        if self.dense or space.points is None or space.norm != 2:
            return None, None
        centred = np.asarray(space.points - space.points.mean(axis=0), dtype=np.float32)
        return centred, np.einsum("ij,ij->i", centred, centred)

    def _all(self, block: Any) -> Any:
        first = block(np.arange(1))
        result = np.empty((self.n, first.shape[1]), dtype=self.kind)

        def fill(rows: NDArray[np.intp]) -> None:
            result[rows[0] : rows[-1] + 1] = block(rows)

        self._each(fill)
        return result

    def _each(self, function: Callable[[NDArray[np.intp]], Any]) -> list[Any]:
        """The function of every block of rows, on all processors."""
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            return list(pool.map(function, self.parts()))

    def _record_block(self, rows: NDArray[np.intp]) -> Any:
        if self._points is None:
            return self.problem.space.block(rows, np.arange(self.n)).astype(self.kind, copy=False)
        squares = self._points[rows] @ self._points.T
        squares *= -2
        squares += self._squares[rows][:, None]
        squares += self._squares
        np.maximum(squares, 0, out=squares)
        squares[np.arange(len(rows)), rows] = 0
        return np.sqrt(squares, out=squares)

    def late(self) -> bool:
        """Whether searches should end with the best they have."""
        return time.monotonic() > self.deadline

    def parts(self) -> Iterator[NDArray[np.intp]]:
        """Row numbers in blocks."""
        for start in range(0, self.n, self._size):
            yield np.arange(start, min(start + self._size, self.n))

    def between(self, rows: NDArray[np.intp]) -> Any:
        """Distances from these records to all records."""
        return self._record_block(rows) if self._records is None else self._records[rows[0] : rows[-1] + 1]

    def to_outputs(self, rows: NDArray[np.intp]) -> Any:
        """Distances from these records to the outputs."""
        if self._outputs is not None:
            return self._outputs[rows[0] : rows[-1] + 1]
        return self._record_block(rows) if self.problem.over_records else self.problem.reach(rows)

    def kernel(self, exponent: float, rows: NDArray[np.intp]) -> Any:
        """Rows of the kernel."""
        block = np.minimum(self.to_outputs(rows), self.kind(self.reach))
        block *= self.kind(-exponent)
        return np.exp(block, out=block)

    def _rows(self, exponent: float, rows: NDArray[np.intp]) -> Any:
        """Rows of the kernel, kept between calls for one exponent where the distances are."""
        if self._outputs is None:
            return self.kernel(exponent, rows)
        if self._kernel is None or self._kernel[0] != exponent:
            self._kernel = None
            self._kernel = (exponent, self._all(lambda part: self.kernel(exponent, part)))
        return self._kernel[1][rows[0] : rows[-1] + 1]

    def sums(self, exponent: float, y: Floats) -> Floats:
        """Z_i = sum_k y_k·K_ik."""
        weights = y.astype(self.kind)
        self._rows(exponent, np.arange(1))
        return np.concatenate(self._each(lambda rows: self._rows(exponent, rows) @ weights)).astype(np.float64)

    def back(self, exponent: float, w: Floats) -> Floats:
        """Sum_i w_i·K_ik, for every output."""
        if self.problem.over_records:
            return self.sums(exponent, w)
        weights = w.astype(self.kind)
        total = np.zeros(self.outputs)
        for rows in self.parts():
            total += weights[rows] @ self._rows(exponent, rows)
        return total

    def loss(self, exponent: float, logs: Floats) -> float:
        """The verified loss of a member: max over pairs of (a·min(d, reach) + |ln Z_i - ln Z_j|)/d."""
        values = logs.astype(self.kind)

        def most(rows: NDArray[np.intp]) -> float:
            apart = self.between(rows)
            ratio = np.abs(values[rows][:, None] - values)
            if self.reach < np.inf:
                ratio += np.minimum(apart, self.kind(self.reach)) * self.kind(exponent)
            with np.errstate(divide="ignore", invalid="ignore"):
                ratio /= apart
            ratio[np.arange(len(rows)), rows] = 0
            return float(ratio.max())

        worst = float(max(self._each(most)))
        return worst if self.reach < np.inf else exponent + worst

    def towards_slope(self, logs: Floats, slope: float) -> Floats:
        """The middle of the least and the greatest function of this slope above and below; flat where slope is 0."""
        values = logs.astype(self.kind)

        def middle(rows: NDArray[np.intp]) -> Floats:
            rise = self.between(rows) * self.kind(slope)
            return np.asarray(((values - rise).max(axis=1) + (values + rise).min(axis=1)) / 2)

        return np.concatenate(self._each(middle)).astype(np.float64)

    def losses(self, member: Member) -> tuple[Floats, Floats]:
        """Expected cost of every record, and its probability to come out as itself (0 where it is no output)."""
        y = member.y.astype(self.kind)
        expected, stay = np.empty(self.n), np.zeros(self.n)
        places = self.problem.own_outputs()

        def fill(rows: NDArray[np.intp]) -> None:
            weights = self.kernel(member.exponent, rows)
            totals = weights @ y
            here = places[rows] >= 0
            own = places[rows[here]]
            stay[rows[here]] = weights[np.flatnonzero(here), own] * y[own] / totals[here]
            weights *= self.to_outputs(rows) if self.problem.costs_are_distances else self.problem.costs(rows)
            expected[rows] = weights @ y / totals

        self._each(fill)
        return expected, stay

    def one_output(self) -> float:
        """The objective of the best channel that ignores its record (for a quantile, of the best on average)."""
        problem = self.problem

        def part(rows: NDArray[np.intp]) -> Any:
            costs = self.to_outputs(rows) if problem.costs_are_distances else problem.costs(rows)
            return costs.max(axis=0) if problem.objective == "worst" else problem.prior[rows].astype(self.kind) @ costs

        parts = self._each(part)
        if problem.objective == "worst":
            return float(np.max(parts, axis=0).min())
        total = np.sum(parts, axis=0)
        if problem.objective == "mean":
            return float(total.min())
        best = int(total.argmin())
        losses = np.concatenate([problem.costs(rows)[:, best] for rows in self.parts()])
        return objective_of(losses, problem.prior, problem.objective)

    def matrix(self, member: Member) -> Floats:
        """The law as a dense matrix."""
        weights = np.concatenate([self.kernel(member.exponent, rows) for rows in self.parts()]) * member.y
        return np.asarray(weights / weights.sum(axis=1, keepdims=True), dtype=np.float64)
