"""Verifying a channel from its integers: exactly over all outputs, or by the triangle inequality for a kernel."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from metricdp.channel._certificate import Certificate
from metricdp.channel._exponential import DEEPEST, RELATIVE_ERROR
from metricdp.channel._kernel import Grid, Kernel
from metricdp.channel._loss import loss_of
from metricdp.channel._weights import BITS, Floats, Rows, Weights, totals_are_exact
from metricdp.errors import NotCertified
from metricdp.exact import decimal_text, non_negative
from metricdp.spaces import FiniteSpace


def verify(law: Rows, space: FiniteSpace, epsilon: Fraction | None) -> Certificate:
    """The certificate of a law over a space.

    Raises:
        NotCertified: a row does not sum to the total, the loss is infinite, or above the epsilon asked for.
    """
    found = _kernel(law, space) if isinstance(law, Kernel) else _table(law, space)
    if epsilon is not None and non_negative(found.epsilon, "epsilon") > epsilon:
        i, j = found.worst or (0, 0)
        at = "" if found.output is None else f" at output {found.output}"
        raise NotCertified(
            f"The loss is {found.epsilon!r}, reached by items {i} and {j} (distance {found.distance:g}){at}.",
            f"At most {decimal_text(epsilon, 12)}.",
            "Design at a slightly smaller epsilon, or ask for no more than that.",
        )
    return found


def _certificate(
    law: Rows, space: FiniteSpace, loss: tuple[float, tuple[int, int] | None, int | None], method: str
) -> Certificate:
    epsilon, worst, output = loss
    distance = 0.0 if worst is None else float(space.block([worst[0]], [worst[1]])[0, 0])
    identity = str(space.identity()["sha256"])
    return Certificate(epsilon, worst, output, distance, "all pairs of d", BITS, law.digest(), identity, method)


def _table(law: Rows, space: FiniteSpace) -> Certificate:
    """Exact totals, every pair of rows, every output."""
    weights: Weights = law.block(np.arange(law.shape[0]))
    if not totals_are_exact(weights):
        raise NotCertified("A row of weights has another total.", f"2**{BITS} in every row.", "Make it again.")
    if len(weights) == 1:
        return _certificate(law, space, (0.0, None, None), "exact")
    found = loss_of(weights, space.matrix())
    if math.isinf(found.epsilon):
        i, j = found.worst
        distance = float(space.block([i], [j])[0, 0])
        raise NotCertified(
            f"The loss is infinite: output {found.output} is possible from item {i} and not from item {j} (distance "
            f"{distance:g}), and so for {found.infinite_pairs} ordered pairs.",
            "Every output reachable from all items or from none.",
            "Mix every row with one fixed output law, then certify again.",
        )
    return _certificate(law, space, (found.epsilon, found.worst, found.output), "exact")


def _kernel(kernel: Kernel, space: FiniteSpace) -> Certificate:
    """Every row's total and every pair of scales (proofs/kernel.md)."""
    points = space.points
    own = None if points is None else Grid.of(points)
    alike = own is not None and own.shift == kernel.grid.shift and np.array_equal(own.steps, kernel.grid.steps)
    if own is None or space.norm != 2 or not alike:
        raise NotCertified("The kernel is over other points.", "The points of its space, norm 2.", "Make it again.")
    if len(space) == 1:
        kernel.block(np.arange(1))
        return _certificate(kernel, space, (0.0, None, None), "kernel")
    kernel = Kernel(own, kernel.y, kernel.exponent, kernel.reach, kernel.scales)
    raised = max(_raised(kernel, rows) for rows in kernel.parts())
    deepest = (
        min(
            DEEPEST,
            kernel.exponent
            * min(kernel.reach, 2 * float(np.sqrt(kernel.grid.squares.max())) * 2.0**-kernel.grid.shift),
        )
        + 16
    )
    slack = math.log1p(raised) + 4 * (RELATIVE_ERROR + deepest * 2.0**-52)
    logs = np.log(kernel.scales)
    slack += float(np.abs(logs).max()) * 2.0**-50
    best, worst = 0.0, (0, 1)
    for rows in kernel.parts():
        for i, grid in zip(rows[: len(space) - 1 - rows[0]].tolist(), kernel.grid.distances(rows), strict=False):
            bound = _pairs(kernel, space, i, grid[i + 1 :], (logs, slack))
            place = int(bound.argmax())
            if not float(bound[place]) < math.inf:
                raise NotCertified("The loss cannot be bounded.", "A finite loss.", "Merge records that coincide.")
            if float(bound[place]) > best:
                best, worst = float(bound[place]), (i, i + 1 + place)
    return _certificate(kernel, space, (math.nextafter(best * (1 + 1e-14), math.inf), worst, None), "kernel")


def _raised(kernel: Kernel, rows: NDArray[np.intp]) -> float:
    """The largest share by which adding what was missing raised an entry."""
    weights, missing, largest = kernel.parted(rows)
    before = weights[np.arange(len(rows)), largest].astype(np.float64)
    return float((missing.astype(np.float64) / before).max()) * (1 + 1e-12)


def _pairs(kernel: Kernel, space: FiniteSpace, i: int, grid: Floats, extra: tuple[Floats, float]) -> Floats:
    """Upper bounds of the loss per distance of record i against those after it, from their distances on the grid."""
    logs, slack = extra
    moved = kernel.grid.moved
    apart = grid - (moved[i + 1 :] + moved[i])
    near = np.flatnonzero(apart < grid * (1 - 1e-5))
    apart *= 1 - (kernel.grid.steps.shape[1] + 16) * 2.0**-52
    loss = np.minimum(grid, kernel.reach)
    loss *= kernel.exponent
    flat = loss < math.log1p(4 / kernel.floor)
    loss += np.abs(logs[i + 1 :] - logs[i])
    loss += slack
    if flat.any():
        loss[flat] += 4 / kernel.floor
    if len(near):
        apart[near] = space.block([i], near + i + 1)[0] * (1 - 1e-12)
    return np.asarray(np.divide(loss, apart, out=loss))
