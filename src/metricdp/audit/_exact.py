"""The exact loss of a matrix: floats find the worst pairs, rationals decide (proofs/audit.md)."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metricdp.audit._report import AuditReport
from metricdp.errors import IncompatibleError, InvalidParameterError
from metricdp.exact import Number, non_negative, round_up
from metricdp.guarantee._curves import float_up
from metricdp.spaces import FiniteSpace

Floats = NDArray[np.float64]

ROW_TOLERANCE = 1e-9
"""How far a row of anybody's float matrix may be from summing to 1; it is audited as it stands, not normalised."""

LISTED = 1000
EXACT_PAIRS = 400
"""Pairs decided in rationals at most; the rest is bounded by floats and their error."""

_UP = Context(prec=50, rounding=ROUND_CEILING)
_DOWN = Context(prec=50, rounding=ROUND_FLOOR)


def exact(matrix: ArrayLike, space: FiniteSpace | ArrayLike, delta: Number = 0) -> AuditReport:
    """The smallest epsilon for which a matrix is (epsilon, delta)-private, whoever made it.

    For every ordered pair of rows u, v the smallest B >= 1 with sum_k max(0, M_uk - B·M_vk) <= delta is
    max_j (A_j - delta)/B_j over prefix sums of the outputs sorted by M_uk/M_vk; epsilon is the largest ln(B)/d(u, v).
    At delta = 0 that is the largest log-ratio over the distance. Rows at distance 0 must differ by at most delta in
    total variation. An output that is impossible from both rows is passed over.

    Args:
        matrix: probabilities (n, k), one row per input; entries >= 0, rows summing to 1 within 1e-9.
        space: the inputs, in the order of the rows; or their distances as an (n, n) matrix, which need not be a metric
            (0 for inputs that must be alike, inf for pairs without a promise).
        delta: probability left out, in [0, 1).

    Returns:
        A report with `.epsilon` (rounded up, `inf` where there is none), `.worst` and the infinite pairs.

    Raises:
        IncompatibleError: shapes do not fit.
        InvalidParameterError: entries are negative or not finite, or rows do not sum to 1.

    Notes:
        n²·k operations at delta = 0 (1,000 inputs and outputs in seconds), times log k otherwise.

    Examples:
        >>> from metricdp import FiniteSpace
        >>> space = FiniteSpace(["a", "b"], [[0, 2], [2, 0]])
        >>> report = exact([[0.8, 0.2], [0.2, 0.8]], space)
        >>> round(report.epsilon, 6), report.worst
        (0.693147, (0, 1))
    """
    rows = _probabilities(matrix)
    distances, unit = _distances(space, len(rows))
    left_out = non_negative(delta, "delta")
    if left_out >= 1:
        raise InvalidParameterError("delta is 1 or more.", "0 <= delta < 1.", "Choose a small delta.")
    if len(rows) == 1:
        return AuditReport(0.0, float(left_out), None, None, 0.0, (), 0, 1, rows.shape[1], unit)
    upper, listed, pairs = _survey(rows, distances, left_out)
    epsilon: float
    output: int | None
    if pairs:
        epsilon, (*first, output) = math.inf, listed[0]
        worst = (first[0], first[1])
    else:
        epsilon, worst, output = _decide(rows, distances, upper, left_out)
    distance = float(distances[worst])
    n, outputs = rows.shape
    return AuditReport(epsilon, round_up(left_out), worst, output, distance, tuple(listed), pairs, n, outputs, unit)


def _probabilities(matrix: ArrayLike) -> Floats:
    if isinstance(matrix, np.ma.MaskedArray):
        matrix = matrix.filled(np.nan)
    try:
        rows = np.asarray(matrix, dtype=np.float64)
    except (ValueError, TypeError):
        rows = np.empty(0)
    if rows.ndim != 2 or rows.size == 0:
        raise IncompatibleError(
            "The matrix has no rows and columns of numbers.", "Probabilities of shape (inputs, outputs).", "Convert it."
        )
    if not (np.isfinite(rows).all() and (rows >= 0).all()):
        bad = int(np.argmin((np.isfinite(rows) & (rows >= 0)).all(axis=1)))
        raise InvalidParameterError(
            f"Row {bad} has an entry that is negative or not finite.", "Probabilities.", "Mend the matrix."
        )
    off = np.abs(rows.sum(axis=1) - 1)
    if off.max() > ROW_TOLERANCE:
        raise InvalidParameterError(
            f"Row {int(off.argmax())} sums to 1 only within {off.max():.1e}.",
            f"Within {ROW_TOLERANCE:g}.",
            "Normalise it yourself first: that changes the loss.",
        )
    return rows


def _distances(space: FiniteSpace | ArrayLike, n: int) -> tuple[Floats, str]:
    if isinstance(space, FiniteSpace):
        distances, unit = space.matrix(), space.unit
    else:
        try:
            distances, unit = np.asarray(space, dtype=np.float64), ""
        except (ValueError, TypeError):
            distances, unit = np.empty(0), ""
    if distances.shape != (n, n):
        raise IncompatibleError(
            f"There are {n} rows and distances of shape {distances.shape}.", f"A space of {n} items.", "Match them."
        )
    if np.isnan(distances).any() or (distances < 0).any():
        raise InvalidParameterError("A distance is negative or no number.", "Distances >= 0.", "Mend the distances.")
    return distances, unit


def _survey(rows: Floats, distances: Floats, delta: Fraction) -> tuple[Floats, list[tuple[int, int, int]], int]:
    """Upper bounds of every pair's loss per distance in floats; infinite triples; how many infinite pairs."""
    n, outputs = rows.shape
    upper = np.zeros((n, n))
    listed: list[tuple[int, int, int]] = []
    pairs = 0
    with np.errstate(all="ignore"):
        logs = np.log(rows)
        sizes = np.abs(np.where(rows > 0, logs, 0.0)).max(axis=1)
        for i in range(n):
            if delta == 0:
                loss, at = _pure_row(logs, sizes, i)
            else:
                loss, at = _approximate_row(rows, i, float(delta), outputs)
            loss[i] = 0.0
            here = distances[i]
            ratio = np.where(loss <= 0, 0.0, np.where(np.isinf(here), 0.0, loss / here))
            if (close := np.flatnonzero((here == 0) & (np.arange(n) != i))).size:
                ratio[close] = [_alike(rows[i], rows[j], delta) for j in close]
            bad = np.flatnonzero(np.isinf(ratio))
            pairs += len(bad)
            listed += [(i, int(j), int(at[j])) for j in bad[: max(0, LISTED - len(listed))]]
            upper[i] = ratio * (1 + 1e-15)
    return upper, listed, pairs


def _pure_row(logs: Floats, sizes: Floats, i: int) -> tuple[Floats, NDArray[np.intp]]:
    """max_k ln(M_ik/M_jk) for all j, rounded up (errors of two logarithms up to `sizes`), and where."""
    difference = logs[i] - logs
    difference[:, np.isneginf(logs[i])] = -np.inf
    at = difference.argmax(axis=1)
    best = np.take_along_axis(difference, at[:, None], axis=1)[:, 0]
    error = (sizes[i] + sizes) * 2.0**-48
    return np.maximum(best + error, 0.0), at


def _approximate_row(rows: Floats, i: int, delta: float, outputs: int) -> tuple[Floats, NDArray[np.intp]]:
    """Ln of the smallest B for all j, rounded up, and the last output of the best prefix."""
    ratio = np.where(rows > 0, rows[i] / rows, np.where(rows[i] > 0, np.inf, -1.0))
    order = np.argsort(-ratio, axis=1, kind="stable")
    a = np.cumsum(rows[i][order], axis=1)
    b = np.cumsum(np.take_along_axis(rows, order, axis=1), axis=1)
    slack = outputs * 2.0**-51
    top = a * (1 + slack) - delta
    value = np.where(top <= 0, 0.0, np.where(b > 0, top / (b * (1 - slack)), np.inf))
    barely = (b == 0) & (a - delta <= a * slack)
    value[barely & np.isinf(value)] = 1.0
    best = value.argmax(axis=1)
    high = np.take_along_axis(value, best[:, None], axis=1)[:, 0]
    at = np.take_along_axis(order, best[:, None], axis=1)[:, 0]
    log = np.log(np.maximum(high, 1.0))
    return np.where(log > 0, log * (1 + 2.0**-48) + 2.0**-51, 0.0), at


def _alike(u: Floats, v: Floats, delta: Fraction) -> float:
    """0 where the rows differ by at most delta in total variation (exactly), else inf."""
    over = sum((Fraction(a) - Fraction(b) for a, b in zip(u.tolist(), v.tolist(), strict=True) if a > b), Fraction(0))
    return 0.0 if over <= delta else math.inf


def _decide(
    rows: Floats, distances: Floats, upper: Floats, delta: Fraction
) -> tuple[float, tuple[int, int], int | None]:
    """The largest exact loss; pairs are taken in the order of their bounds until no bound is larger."""
    n = len(rows)
    order = np.argsort(-upper, axis=None)[: EXACT_PAIRS + 1]
    best, worst, output = 0.0, divmod(int(order[0]), n), None
    for count, place in enumerate(order.tolist()):
        i, j = divmod(place, n)
        bound = float(upper[i, j])
        if bound <= best:
            break
        if count == EXACT_PAIRS:
            return math.nextafter(bound, math.inf), worst, output
        loss, at = exact_loss(rows[i].tolist(), rows[j].tolist(), delta)
        epsilon = float_up(_UP.divide(loss, Decimal(float(distances[i, j])))) if loss else 0.0
        if epsilon > best or output is None:
            best, worst, output = epsilon, (i, j), at
    return best, worst, output


def exact_loss(u: list[Any], v: list[Any], delta: Fraction = Fraction(0)) -> tuple[Decimal, int | None]:
    """Ln of the smallest B >= 1 with sum max(0, u - B·v) <= delta, in rationals, rounded up at 50 digits; and where.

    `u` and `v` hold floats or integers (with one common total). Infinity where there is no such B.
    """
    terms = [(Fraction(a), Fraction(b), k) for k, (a, b) in enumerate(zip(u, v, strict=True)) if a > 0]
    impossible = sum((a for a, b, _ in terms if b == 0), Fraction(0))
    if impossible > delta:
        return Decimal("Infinity"), next(k for _, b, k in terms if b == 0)
    finite = sorted(((a / b, a, b, k) for a, b, k in terms if b > 0), reverse=True)
    best, at = Fraction(1), None
    a_sum, b_sum = impossible, Fraction(0)
    for ratio, a, b, k in finite:
        if ratio <= best:
            break
        a_sum, b_sum = a_sum + a, b_sum + b
        bound = (a_sum - delta) / b_sum
        if bound > best:
            best, at = bound, k
    return log_up(best), at


def log_up(value: Fraction) -> Decimal:
    """Natural logarithm of a rational >= 1, rounded up at 50 digits."""
    quotient = _UP.divide(Decimal(value.numerator), Decimal(value.denominator))
    return Decimal(0) if value == 1 else _UP.next_plus(quotient.ln(_UP))
