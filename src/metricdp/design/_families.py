"""Mechanisms in closed form, z_ik = y_k·e^(-a·d_ik)/Z_i: which y and a (proofs/kernel.md, proofs/exponential.md)."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize, nnls

from metricdp.channel import numbers, objective_of
from metricdp.design._kernels import DENSE, Geometry, Member
from metricdp.design._problem import Floats, Problem
from metricdp.design._repair import hair
from metricdp.errors import InvalidParameterError, NotCertified

Watch = Callable[[str, float], None]

_FLATNESS = 1e-9

LOW = 0.85
"""Share of epsilon below which an evened exponent is worth comparing with less even ones."""

THOROUGH = 6500
"""Records up to which "kernel" tries the tight weights and looks closely for the exponent."""

FITTED = 1000
"""Records up to which "kernel" also fits weights to the objective at half the exponent."""


def target(problem: Problem, geometry: Geometry) -> float:
    """What the verified loss must stay below: epsilon less what rounding (and float32 distances) may cost."""
    return float(problem.epsilon) * (1 - (2 * hair(problem) if geometry.dense else 2e-5))


def exponential(problem: Problem, geometry: Geometry, watch: Watch, log: list[str]) -> Member:
    """Equal weights at half the exponent: private for every metric, without a look at it."""
    del watch
    exponent = float(problem.epsilon) / 2
    log.append(f"exponent epsilon/2 = {exponent:.6g}")
    return Member(np.ones(problem.shape[1]), exponent * (1 - 1e-12), geometry.reach)


def weighted(problem: Problem, geometry: Geometry, watch: Watch, log: list[str], *, weights: Any = None) -> Member:
    """Output weights, given or fitted to the objective, at half the exponent: private whatever they are."""
    exponent = float(problem.epsilon) / 2 * (1 - 1e-12)
    if weights is not None:
        return Member(_weights(weights, problem.shape[1]), exponent, geometry.reach)
    if not geometry.dense:
        raise InvalidParameterError(
            f"Fitting weights for {problem.shape[0]} records is not supported.",
            f"Up to {DENSE} records.",
            "Pass weights=.",
        )
    member = Member(fitted(problem, geometry, exponent, watch), exponent, geometry.reach)
    log.append("weights fitted to the objective by L-BFGS")
    return member


def _weights(weights: Any, outputs: int) -> Floats:
    y = numbers(weights)
    if y.shape != (outputs,) or not np.isfinite(y).all() or (y < 0).any() or y.max() <= 0:
        raise InvalidParameterError(
            "The weights are no weights of the outputs.", f"{outputs} finite numbers >= 0, not all 0.", "Mend them."
        )
    return np.asarray(y / y.max())


def fitted(problem: Problem, geometry: Geometry, exponent: float, watch: Watch) -> Floats:
    """Weights that make the objective small at this exponent, by descent on their logarithms."""
    rows = np.arange(problem.shape[0])
    kernel, costs, prior = geometry.kernel(exponent, rows), problem.costs(), problem.prior
    sharp = 0.0 if problem.objective == "mean" else 40.0
    size = float(np.abs(costs).max()) or 1.0

    def value(theta: Floats) -> tuple[float, Floats]:
        law = kernel * np.exp(theta - theta.max())
        law /= law.sum(axis=1, keepdims=True)
        losses = np.einsum("ij,ij->i", law, costs)
        share = prior
        if sharp:
            tilt = np.exp(sharp * (losses - losses.max()) / size)
            share = tilt / tilt.sum()
        gradient = share @ (law * costs) - (share * losses) @ law
        total = float(share @ losses) if not sharp else float(losses.max() + size * math.log(tilt.sum()) / sharp)
        return total, gradient

    start = time.monotonic()
    found = minimize(
        value,
        np.zeros(problem.shape[1]),
        jac=True,
        method="L-BFGS-B",
        bounds=[(-40, 40)] * problem.shape[1],
        options={"maxiter": 300},
        callback=lambda _: watch("fitting weights", min(1.0, (time.monotonic() - start) / 60)),
    )
    return np.asarray(np.exp(found.x - found.x.max()))


def calibrated(problem: Problem, geometry: Geometry, watch: Watch, log: list[str], *, weights: Any = None) -> Member:
    """Equal weights (or as given) at the largest exponent found whose verified loss is within epsilon."""
    y = np.ones(problem.shape[1]) if weights is None else _weights(weights, problem.shape[1])
    limit = target(problem, geometry)
    low, high = limit / 2, limit
    steps = 40 if geometry.dense else 14
    for step in range(steps):
        watch("calibrating the exponent", step / steps)
        middle = high if step == 0 else (low + high) / 2
        if _loss(geometry, middle, y) <= limit:
            low = middle
        else:
            high = middle
        if high - low <= 1e-9 * limit or geometry.late():
            break
    log.append(f"exponent {low:.6g}, {low / float(problem.epsilon):.3f} of epsilon")
    return Member(y, low, geometry.reach)


def _loss(geometry: Geometry, exponent: float, y: Floats) -> float:
    return geometry.loss(exponent, np.log(np.maximum(geometry.sums(exponent, y), 1e-290)))


def tight(problem: Problem, geometry: Geometry, watch: Watch, log: list[str]) -> Member:
    """Weights with K·y = 1 at full exponent: every column a multiple of one ray, every row already full.

    Raises:
        NotCertified: some weight is negative, so that it is no mechanism, or the kernel is singular.
    """
    del watch
    exponent = target(problem, geometry)
    y, reason = solve_tight(problem, geometry, exponent)
    if y is None:
        raise NotCertified(
            f"There is no tight mechanism at this epsilon: {reason}.",
            "Weights >= 0 with K·y = 1, as at larger epsilon or sparser records.",
            'Use method="kernel", or "optimal" where it is small enough.',
        )
    log.append(f"exponent epsilon, weights from {y.min():.3g} to {y.max():.3g}")
    return Member(y, exponent, geometry.reach)


def solve_tight(problem: Problem, geometry: Geometry, exponent: float) -> tuple[Floats | None, str]:
    """Weights, or why there are none."""
    if problem.shape[0] > 12_000:
        return None, f"{problem.shape[0]} records are too many for one linear solve"
    kernel = np.concatenate([geometry.kernel(exponent, rows) for rows in geometry.parts()]).astype(np.float64)
    try:
        if problem.shape[0] == problem.shape[1]:
            y = np.linalg.solve(kernel, np.ones(len(kernel)))
            if problem.shape[0] <= 3000:
                y += np.linalg.solve(kernel, 1 - kernel @ y)
        else:
            y = nnls(kernel, np.ones(len(kernel)))[0]
    except (np.linalg.LinAlgError, RuntimeError):
        return None, "the kernel is singular"
    low = int((y < -1e-12 * np.abs(y).max()).sum())
    if low:
        return None, f"{low} of {len(y)} weights are negative (the smallest {y.min():.3g})"
    y = np.maximum(y, 0.0)
    off = float(np.abs(kernel @ y - 1).max())
    if not off <= _FLATNESS:
        return None, f"rows are full only within {off:.1e}"
    return np.asarray(y / y.max()), ""


def kernel(problem: Problem, geometry: Geometry, watch: Watch, log: list[str]) -> Member:
    """The member of the family with the smallest objective among those verified within epsilon.

    Tight where it exists; else weights are evened out by multiplicative updates, no further than the certificate
    needs, at the largest exponents that this allows; against the calibrated exponent, and for few records against
    weights fitted to the objective. The log says where one output for all records would do better still.
    """
    limit = target(problem, geometry)
    found: list[tuple[float, str, Member]] = []

    def keep(name: str, member: Member) -> None:
        losses, stay = geometry.losses(member)
        value = objective_of(losses, problem.prior, problem.objective)
        found.append((value, name, member))
        kept = float(problem.prior @ stay)
        log.append(f"{name}: exponent {member.exponent:.6g}, objective {value:.6g}, stays {kept:.2%}")

    if max(problem.shape) <= THOROUGH:
        watch("solving for tight weights", 0.0)
        exponent = limit * (1 - (1e-10 if geometry.dense else 3e-5))
        y, _ = solve_tight(problem, geometry, exponent)
        if y is not None and _loss(geometry, exponent, y) <= limit:
            keep("tight", Member(y, exponent, geometry.reach))
    if not found:
        members = _even(geometry, limit, watch)
        for member in members:
            keep("evened", member)
        if geometry.late():
            keep("exponential", Member(np.ones(problem.shape[1]), limit / 2, geometry.reach))
        if not members or geometry.dense or members[-1].exponent < LOW * limit:
            plain = calibrated(problem, geometry, watch, [])
            keep("calibrated", plain)
            for member in _between(geometry, plain, members, limit, watch):
                keep("evened less", member)
    if max(problem.shape) <= FITTED and not geometry.late():
        keep("fitted", Member(fitted(problem, geometry, limit / 2, watch), limit / 2, geometry.reach))
    value, name, member = min(found, key=lambda entry: entry[0])
    log.append(f"taken: {name}, objective {value:.6g}")
    constant = geometry.one_output()
    if constant < value:
        log.append(f"one output for all records would have {constant:.6g}: at this epsilon the objective hardly tells")
    return member


def _even(geometry: Geometry, limit: float, watch: Watch) -> list[Member]:
    """Evened members: exponents from the top down until one verifies, then closer to the last that did not."""
    y = np.ones(geometry.outputs)
    exponent, failed = limit * (1 - 1e-9), limit
    thorough = geometry.n <= THOROUGH
    most, refine = (16, 8) if thorough else (10, 3)
    for count in range(most):
        watch("evening out the rows", count / (most + refine))
        y, loss = evened(geometry, exponent, y, limit, 24 if thorough else 10)
        if loss <= limit or exponent <= limit / 2 * (1 + 1e-9) or geometry.late():
            break
        failed = exponent
        exponent = max(exponent - max(1.02 * (loss - limit), 1e-4 * limit), limit / 2)
    if loss > limit:
        return []
    found = [Member(y, exponent, geometry.reach)]
    for count in range(refine):
        watch("raising the exponent", (most + count) / (most + refine))
        middle = (exponent + failed) / 2
        if failed - exponent < (1e-4 if thorough else 5e-3) * limit or geometry.late():
            break
        trial, loss = evened(geometry, middle, y, limit, 96 if thorough else 12)
        if loss <= limit:
            y, exponent = trial, middle
            found.append(Member(y, exponent, geometry.reach))
        else:
            failed = middle
    return found


def _between(geometry: Geometry, plain: Member, members: list[Member], limit: float, watch: Watch) -> list[Member]:
    """Exponents between the calibrated one and the largest, each evened from y = 1 no further than it needs."""
    found = []
    top = members[-1].exponent if members else limit
    for count, share in enumerate((0.2, 0.4, 0.6, 0.8) if geometry.n <= THOROUGH else (0.5,)):
        watch("evening out less", count / 4)
        exponent = plain.exponent + share * (top - plain.exponent)
        if geometry.late():
            break
        y, loss = evened(geometry, exponent, np.ones(geometry.outputs), limit, 48, check=1)
        if loss <= limit:
            found.append(Member(y, exponent, geometry.reach))
    return found


def evened(
    geometry: Geometry, exponent: float, y: Floats, limit: float, steps: int, check: int = 0
) -> tuple[Floats, float]:
    """Multiplicative updates of the weights until the verified loss is within the limit; weights and that loss.

    First towards rows of equal sums; where that stalls, towards sums whose logarithms rise no faster than the limit
    allows, which is all the certificate asks.
    """
    degree = geometry.back(exponent, np.ones(geometry.n))
    best, best_y, slack = math.inf, y, 0.0
    check = check or (6 if geometry.n <= THOROUGH else 4)
    for step in range(steps + 1):
        sums = geometry.sums(exponent, y)
        logs = np.log(np.maximum(sums, 1e-290))
        if step % check == 0 or step == steps:
            loss = geometry.loss(exponent, logs)
            if loss >= best * (1 - 1e-3) and step:
                slack = 0.95 * (limit - exponent)
            if loss < best:
                best, best_y = loss, y
            if loss <= limit or step == steps or geometry.late():
                break
        aim = np.exp(geometry.towards_slope(logs - logs.mean(), slack)) if slack > 0 else 1.0
        y = y * geometry.back(exponent, aim / sums * float(np.exp(logs.mean()))) / degree
        y /= y.max()
        y[y < 1e-30] = 0.0
    return best_y, best
