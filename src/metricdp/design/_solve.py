"""The front door: a problem and a method in, a solution out."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from metricdp.channel import objective_of
from metricdp.design import _checkpoint, _families, _optimal
from metricdp.design._bounds import quick, trivial
from metricdp.design._kernels import DENSE, Geometry, Member
from metricdp.design._problem import Floats, Problem
from metricdp.design._quotient import Quotient
from metricdp.design._repair import hair, into_cone
from metricdp.design._solution import Solution, evaluate
from metricdp.errors import IncompatibleError, InvalidParameterError, MissingExtraError, SolverFailed
from metricdp.exact import positive

Progress = Callable[[str, float], None]

AUTO_OPTIMAL = 300_000
"""Constraints, n²·k, up to which "auto" solves the whole program."""

QUICK = 100
"""Records up to which methods without a program of their own bound the optimum by small ones."""

_FAMILIES: dict[str, Callable[..., Member]] = {
    "exponential": _families.exponential,
    "weighted": _families.weighted,
    "calibrated": _families.calibrated,
    "tight": _families.tight,
    "kernel": _families.kernel,
}
METHODS = ("auto", *_FAMILIES, "optimal")
_OPTIONS = {"weighted": {"weights", "reach"}, "calibrated": {"weights", "reach"}, "optimal": set[str]()}


def solve(
    problem: Problem,
    method: str = "auto",
    *,
    progress: Progress | None = None,
    time_limit: float | None = None,
    checkpoint: str | None = None,
    **options: Any,
) -> Solution:
    """Design a channel for a problem.

    Args:
        problem: what is asked.
        method: "exponential" (exponent epsilon/2), "weighted" (with output weights, given as `weights=` or fitted),
            "calibrated" (the largest exponent that verifies), "tight" (rows full at full exponent, where that exists),
            "kernel" (the best of the family y_k·e^(-a·d)/Z that verifies), "optimal" (the linear program, for small
            problems), "auto" ("optimal" where n²·k <= 300,000, else "kernel"). All but "optimal" take `reach=`: the
            metric min(d, reach) in place of d ("auto" then takes "kernel").
        progress: called with a stage and a share in [0, 1].
        time_limit: seconds after which searches end and the best so far is returned (`status` says so).
        checkpoint: a file in which "optimal" keeps its state after every round and from which it goes on.
        **options: `weights=`, `reach=`, as above.

    Raises:
        InvalidParameterError: unknown method or option, or one that the method cannot take, before it starts.
        IncompatibleError: the method needs distances to the outputs and there are none.
        NotCertified: "tight" does not exist here.
        MissingExtraError: "optimal" where HiGHS cannot be imported.

    A solver that stops without an answer is no error: the best certified design without it is returned, and status and
    log say so.

    Examples:
        >>> from metricdp import FiniteSpace, design
        >>> space = FiniteSpace.from_points([[x, y] for x in range(3) for y in range(3)])
        >>> solution = design.solve(design.Problem(space, 1))
        >>> solution.status, round(solution.value, 6)
        ('optimal', 0.88394)
        >>> channel = solution.certify()
        >>> channel.certificate.epsilon <= 1
        True
    """
    if not isinstance(problem, Problem):
        raise IncompatibleError(f"The problem is a {type(problem).__name__}.", "A design.Problem.", "Make one.")
    if not isinstance(method, str) or method not in METHODS:
        raise InvalidParameterError("That method is not known.", f"{', '.join(METHODS)}.", "Choose one of them.")
    seconds = math.inf if time_limit is None else float(positive(time_limit, "time_limit"))
    chosen, notes = _choose(problem, method, options)
    _check_options(chosen, options, checkpoint)
    watch = progress or (lambda _stage, _share: None)
    if chosen == "optimal":
        _check_optimal(problem)
        return _optimum(problem, watch, time.monotonic() + seconds, checkpoint, notes)
    return _family(problem, chosen, watch, time.monotonic() + seconds, options, notes)


def _choose(problem: Problem, method: str, options: dict[str, Any]) -> tuple[str, list[str]]:
    if method != "auto":
        return method, []
    n, outputs = problem.shape
    size = n * n * outputs
    can = isinstance(problem.objective, str) and not options
    chosen = "optimal" if (size <= AUTO_OPTIMAL and can) or not problem.has_distances else "kernel"
    return chosen, [f"auto: {n} records and {outputs} outputs make {size:,} constraints, so {chosen}"]


def _check_options(method: str, options: dict[str, Any], checkpoint: str | None) -> None:
    known = _OPTIONS.get(method, {"reach"})
    unknown = sorted(set(options) - known)
    if unknown:
        raise InvalidParameterError(
            f"{method} takes no option {unknown[0]}.", f"{', '.join(sorted(known)) or 'none'}.", "Leave it out."
        )
    if checkpoint is not None:
        _checkpoint.check_path(checkpoint)
    if checkpoint is not None and method != "optimal":
        raise InvalidParameterError(f"{method} keeps no checkpoint.", 'method="optimal".', "Leave checkpoint= out.")


def _check_optimal(problem: Problem) -> None:
    n, outputs = problem.shape
    if not isinstance(problem.objective, str):
        raise InvalidParameterError(
            "A quantile is not convex, so the linear program cannot minimise it.",
            '"mean" or "worst" with method="optimal"; every other method evaluates quantiles.',
            'Minimise the mean and read channel.loss(("quantile", q)).',
        )
    if n * n * outputs > _optimal.LARGEST:
        raise InvalidParameterError(
            f"{n} records and {outputs} outputs make {n * n * outputs:,} constraints.",
            f"Up to {_optimal.LARGEST:,} for the full linear program.",
            'Use method="kernel".',
        )


def _family(
    problem: Problem, method: str, watch: Progress, deadline: float, options: dict[str, Any], notes: list[str]
) -> Solution:
    start = time.perf_counter()
    reach = float(positive(options.pop("reach"), "reach")) if "reach" in options else math.inf
    if not problem.has_distances:
        problem.reach()
    geometry = Geometry(problem, reach, deadline)
    made = time.perf_counter()
    member = _FAMILIES[method](problem, geometry, watch, notes, **options)
    designed = time.perf_counter()
    matrix = None
    if geometry.dense:
        matrix = geometry.matrix(member)
        value, stay = evaluate(problem, matrix)
    else:
        losses, same = geometry.losses(member)
        value, stay = objective_of(losses, problem.prior, problem.objective), float(problem.prior @ same)
    bound = min(_easy_bound(problem), value)
    timings = {"distances": made - start, "design": designed - made, "evaluation": time.perf_counter() - designed}
    watch("designed", 1.0)
    status = "time limit" if geometry.late() else "feasible"
    return Solution(problem, method, value, bound, status, stay, timings, tuple(notes), member, matrix)


def _optimum(problem: Problem, watch: Progress, deadline: float, checkpoint: str | None, notes: list[str]) -> Solution:
    start = time.perf_counter()
    quotient = Quotient.of(problem)
    small = quotient.problem
    epsilon = float(problem.epsilon) * (1 - hair(problem))
    state = _checkpoint.load(checkpoint, problem) if checkpoint is not None else None

    def after(program: _optimal.Program) -> None:
        watch(f"round {program.rounds}", 1 - 0.5**program.rounds)
        if checkpoint is not None:
            _checkpoint.save(checkpoint, problem, program)

    if quotient.merged:
        notes.append(f"{quotient.merged} records share a row with one nearer than the solver can tell")
    matrix: Floats | None
    if len(small.space) == 1:
        matrix, status = _single(small), "optimal"
        weights = problem.prior if problem.objective == "mean" else np.full(len(problem.prior), 1 / len(problem.prior))
        bound = float(quotient.over_groups(weights).min())
    else:
        try:
            program = _optimal.run(quotient, state, epsilon=epsilon, deadline=deadline, after=after)
            notes.append(f"HiGHS: {program.rounds} rounds, {len(program.triples[0]):,} constraints, {program.status}")
            matrix, bound, status = program.matrix, program.bound, program.status
        except SolverFailed as failure:
            notes.append(f"{failure.refused} Without it:")
            matrix, bound, status = None, -math.inf, "solver failed"
    solved = time.perf_counter()
    found = _best(problem, quotient, matrix, epsilon, notes, watch)
    value, stay = evaluate(problem, found)
    lower = max(bound, _easy_bound(problem, shipped=status != "optimal"))
    lower = min(lower, value)
    if status == "optimal" and value - lower > 1e-6 * abs(value):
        status = "feasible"
    timings = {"solver": solved - start, "repair": time.perf_counter() - solved}
    watch("designed", 1.0)
    return Solution(problem, "optimal", value, lower, status, stay, timings, tuple(notes), None, found)


def _easy_bound(problem: Problem, *, shipped: bool = True) -> float:
    """What can be said without the program: every record at its cheapest output, and for few records more."""
    if problem.objective == "mean":
        bound = trivial(problem, problem.prior)
        if shipped and max(problem.shape) <= QUICK and problem.over_records:
            with contextlib.suppress(SolverFailed, MissingExtraError):
                bound = max(bound, quick(problem))
        return bound
    if problem.objective == "worst" and max(problem.shape) <= DENSE:
        return float(problem.costs().min(axis=1).max())
    return 0.0 if problem.costs_are_distances else float(problem.costs().min())


def _single(problem: Problem) -> Floats:
    matrix = np.zeros(problem.shape)
    matrix[0, int(problem.costs()[0].argmin())] = 1.0
    return matrix


def _best(
    problem: Problem, quotient: Quotient, matrix: Floats | None, epsilon: float, notes: list[str], watch: Progress
) -> Floats:
    """The solver's matrix repaired, or the kernel where there is none or it is better."""
    candidates: list[Floats] = []
    exponents = problem.space.matrix() * epsilon
    fill = np.full(problem.shape[1], 1 / problem.shape[1])
    if matrix is not None:
        candidates.append(into_cone(quotient.lifted(matrix), exponents, fill))
    if problem.has_distances and (matrix is None or len(problem.space) > 1):
        geometry = Geometry(problem, math.inf)
        if matrix is None:
            candidates.append(geometry.matrix(_families.kernel(problem, geometry, watch, notes)))
        else:
            y, _ = _families.solve_tight(problem, geometry, epsilon)
            if y is not None:
                candidates.append(into_cone(geometry.matrix(Member(y, epsilon, math.inf)), exponents, fill))
    if not candidates:
        constant = np.zeros(problem.shape)
        constant[:, int((problem.prior @ problem.costs()).argmin())] = 1.0
        candidates.append(constant)
    return min(candidates, key=lambda candidate: evaluate(problem, candidate)[0])
