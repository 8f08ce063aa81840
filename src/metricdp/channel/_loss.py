"""The exact loss of a table of weights: floats find the worst pairs, rationals decide (proofs/audit.md)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metricdp.channel._weights import BITS
from metricdp.guarantee._curves import float_up

Floats = NDArray[np.float64]
Weights = NDArray[np.float64] | NDArray[np.uint64]

LISTED = 1000
EXACT_PAIRS, EXACT_ENTRIES = 400, 300_000
"""Pairs (or entries of them, if that is more) decided in rationals; the rest is bounded by floats and their error."""

MINUTE = 1e-290
"""Entries below this may have ratios that floats do not hold; they are always compared exactly."""

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
        delta: what is added to the mass of every set of outputs.
    """
    rows = np.asarray(table, dtype=np.float64)
    scale = 2.0**-BITS if table.dtype == np.uint64 else 1.0
    upper, listed, pairs = _survey(rows * scale, table, distances, delta)
    if pairs:
        i, j, k = listed[0]
        return Loss(math.inf, (i, j), k, tuple(listed), pairs)
    return Loss(*_decide(table, distances, upper, delta), (), 0)


def _survey(
    rows: Floats, table: Weights, distances: Floats, delta: Fraction
) -> tuple[Floats, list[tuple[int, int, int]], int]:
    """Upper bounds of every pair's loss per distance in floats; infinite triples; how many infinite pairs.

    Which pairs are infinite is never left to floats: outputs that are possible from one row only are added up exactly
    wherever their mass is not far from delta.
    """
    n = len(rows)
    share = delta / (1 << BITS) if table.dtype == np.uint64 else delta
    upper = np.zeros((n, n))
    listed: list[tuple[int, int, int]] = []
    pairs = 0
    with np.errstate(all="ignore"):
        logs = np.log(rows)
        sizes = np.abs(np.where(rows > 0, logs, 0.0)).max(axis=1)
        absent = (rows == 0).astype(np.float64)
        holes = rows == 0 if absent.any() else None
        for i in range(n):
            impossible = np.zeros(n, dtype=bool) if holes is None else _impossible(rows[i], absent, table, i, delta)
            loss = _pure_row(logs, sizes, holes, i) if delta == 0 else _approximate_row(rows, i, share)
            loss[i] = 0.0
            here = distances[i]
            ratio = np.where(loss <= 0, 0.0, loss / here)
            for j in np.flatnonzero((here == 0) & (np.arange(n) != i)):
                over = _alike(table[i].tolist(), table[j].tolist(), delta)
                impossible[j], ratio[j] = impossible[j] or over, 0.0
            impossible |= np.isinf(ratio) & (here > 0)
            impossible[np.isinf(here)] = False
            bad = np.flatnonzero(impossible)
            pairs += len(bad)
            listed += [(i, int(j), _witness(rows[i], rows[j])) for j in bad[: max(0, LISTED - len(listed))]]
            upper[i] = np.where(np.isinf(here), 0.0, ratio * (1 + 1e-15))
    return upper, listed, pairs


def _witness(u: Floats, v: Floats) -> int:
    """An output that is possible from u and not from v; else the one whose probability falls most."""
    return int(np.argmax(np.where(v == 0, u, 0.0))) if (u[v == 0] > 0).any() else int(np.argmax(u - v))


def _impossible(row: Floats, absent: Floats, table: Weights, i: int, delta: Fraction) -> NDArray[np.bool_]:
    """Whether outputs of row i that row j never gives have more mass than delta, for all j, exactly."""
    mass = absent @ row
    slack = len(row) * 2.0**-50
    unit = 2.0**-BITS if table.dtype == np.uint64 else 1.0
    limit = float(delta) * unit
    over = mass * (1 - slack) > limit * (1 + slack)
    for j in np.flatnonzero((mass > 0) & ~over & (mass * (1 + slack) >= limit * (1 - slack))):
        chosen = table[i][absent[j] > 0].tolist()
        over[j] = sum(map(Fraction, chosen), Fraction(0)) > delta
    return np.asarray(over)


def _pure_row(logs: Floats, sizes: Floats, holes: NDArray[np.bool_] | None, i: int) -> Floats:
    """max_k ln(M_ik/M_jk) over outputs possible from both, for all j, rounded up (two logarithms up to `sizes`)."""
    difference = logs[i] - logs
    if holes is not None:
        difference[holes] = -np.inf
    error = (sizes[i] + sizes) * 2.0**-48
    return np.asarray(np.maximum(difference.max(axis=1) + error, 0.0))


def _approximate_row(rows: Floats, i: int, delta: Fraction) -> Floats:
    """Ln of the smallest B for all j, rounded up, from the prefixes whose mass is possible from both rows."""
    limit = float(delta)
    ratio = np.where(rows > 0, np.log(rows[i]) - np.log(rows), np.where(rows[i] > 0, np.inf, -np.inf))
    order = np.argsort(-ratio, axis=1, kind="stable")
    a = np.cumsum(rows[i][order], axis=1)
    b = np.cumsum(np.take_along_axis(rows, order, axis=1), axis=1)
    slack = rows.shape[1] * 2.0**-51
    top = a * (1 + slack) - limit * (1 - 2.0**-52)
    log = np.where((top > 0) & (b > 0), np.log(top) - np.log(b) + 2 * slack, 0.0).max(axis=1)
    return np.asarray(np.where(log > 0, log * (1 + 2.0**-48) + 2.0**-46, 0.0))


def _alike(u: list[Any], v: list[Any], delta: Fraction) -> bool:
    """Whether rows at distance 0 differ by more than delta in total variation, exactly."""
    over = sum((Fraction(a) - Fraction(b) for a, b in zip(u, v, strict=True) if a > b), Fraction(0))
    return over > delta


def _decide(
    table: Weights, distances: Floats, upper: Floats, delta: Fraction
) -> tuple[float, tuple[int, int], int | None]:
    """The largest exact loss; pairs are taken in the order of their bounds until no bound is larger."""
    n = len(table)
    most = max(EXACT_PAIRS, EXACT_ENTRIES // table.shape[1])
    order = np.argsort(-upper, axis=None)[: most + 1]
    best, worst, output = 0.0, divmod(int(order[0]), n), None
    for count, place in enumerate(order.tolist()):
        i, j = divmod(place, n)
        bound = float(upper[i, j])
        if bound <= best:
            break
        if count == most:
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
    if delta == 0:
        return _largest_ratio(u, v)
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


def _largest_ratio(u: list[Any], v: list[Any]) -> tuple[Decimal, int | None]:
    """`exact_loss` at delta = 0: floats name the outputs that can have the largest ratio, rationals compare them."""
    rough = []
    for k, (a, b) in enumerate(zip(u, v, strict=True)):
        if a > 0:
            if b == 0:
                return Decimal("Infinity"), k
            high = float(a) / float(b) if b > MINUTE else math.inf
            rough.append((high, k))
    most = max((high for high, _ in rough if high < math.inf), default=0.0) * (1 - 2.0**-48)
    best, at = Fraction(1), None
    for high, k in rough:
        if high >= most:
            ratio = Fraction(u[k]) / Fraction(v[k])
            if ratio > best:
                best, at = ratio, k
    return log_up(best), at


def log_up(value: Fraction) -> Decimal:
    """Natural logarithm of a rational >= 1, rounded up at 50 digits."""
    quotient = _UP.divide(Decimal(value.numerator), Decimal(value.denominator))
    return Decimal(0) if value == 1 else _UP.next_plus(quotient.ln(_UP))
