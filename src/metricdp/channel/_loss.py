"""The exact loss of a table of weights: floats find the worst pairs, rationals decide (proofs/audit.md)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metricdp.guarantee._curves import float_up

Floats = NDArray[np.float64]
Weights = NDArray[np.float64] | NDArray[np.uint64]

LISTED = 1000
EXACT_PAIRS = 400
"""Pairs decided in rationals at most; the rest is bounded by floats and their error."""

_UP = Context(prec=50, rounding=ROUND_CEILING)


@dataclass(frozen=True, slots=True)
class Loss:
    """The smallest epsilon of a table, where it is reached, and the infinite triples (row, other row, output)."""

    epsilon: float
    worst: tuple[int, int]
    output: int | None
    infinite: tuple[tuple[int, int, int], ...]
    infinite_pairs: int


def loss_of(table: Weights, distances: Floats, delta: Fraction = Fraction(0)) -> Loss:
    """The smallest epsilon for which rows are (epsilon, delta)-private, rounded up; exact in the entries as they stand.

    Args:
        table: at least two rows of floats or of integers with one common total; `delta` is in units of that total.
        distances: between rows; 0 for rows that must be alike, inf for pairs without a promise.
        delta: mass left out.
    """
    upper, listed, pairs = _survey(np.asarray(table, dtype=np.float64), table, distances, delta)
    if pairs:
        i, j, k = listed[0]
        return Loss(math.inf, (i, j), k, tuple(listed), pairs)
    return Loss(*_decide(table, distances, upper, delta), (), 0)


def _survey(
    rows: Floats, table: Weights, distances: Floats, delta: Fraction
) -> tuple[Floats, list[tuple[int, int, int]], int]:
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
                ratio[close] = [_alike(table[i].tolist(), table[j].tolist(), delta) for j in close]
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


def _alike(u: list[Any], v: list[Any], delta: Fraction) -> float:
    """0 where the rows differ by at most delta in total variation (exactly), else inf."""
    over = sum((Fraction(a) - Fraction(b) for a, b in zip(u, v, strict=True) if a > b), Fraction(0))
    return 0.0 if over <= delta else math.inf


def _decide(
    table: Weights, distances: Floats, upper: Floats, delta: Fraction
) -> tuple[float, tuple[int, int], int | None]:
    """The largest exact loss; pairs are taken in the order of their bounds until no bound is larger."""
    n = len(table)
    order = np.argsort(-upper, axis=None)[: EXACT_PAIRS + 1]
    best, worst, output = 0.0, divmod(int(order[0]), n), None
    for count, place in enumerate(order.tolist()):
        i, j = divmod(place, n)
        bound = float(upper[i, j])
        if bound <= best:
            break
        if count == EXACT_PAIRS:
            return math.nextafter(bound, math.inf), worst, output
        loss, at = exact_loss(table[i].tolist(), table[j].tolist(), delta)
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
