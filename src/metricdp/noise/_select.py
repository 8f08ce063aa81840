"""Choosing records by their scores, exactly: floats find the few that can win, more bits and intervals decide.

The ideal rule: with U_i uniform and E_i = -ln(1 - U_i), order records by s_i = a·d_i + ln(E_i). The first is record i
with probability e^(-a·d_i)/sum_j e^(-a·d_j), the next is drawn alike from the rest, and so on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from metricdp.entropy import Entropy, words
from metricdp.noise._bits import Prefix, longer
from metricdp.noise._interval import Interval, Precision
from metricdp.noise._law import TINY, Floats

CHUNK = 1 << 16
HUGE = 10**300


class Scores(Protocol):
    """One real number per record."""

    def floats(self) -> tuple[Floats, Floats]:
        """Values, and bounds of their errors."""
        ...

    def interval(self, record: int, p: Precision) -> Interval:
        """An interval around one value, narrow at high precision."""
        ...


@dataclass(slots=True)
class _Candidate:
    record: int
    low: Decimal
    high: Decimal
    prefix: Prefix


def smallest(scores: Scores, exponent: Fraction, k: int, source: Entropy) -> NDArray[np.intp]:
    """The k first records in the order of s_i, decided for the real numbers that the bits stand for.

    Args:
        scores: d_i.
        exponent: a, exactly.
        k: at most the number of records.
        source: where bits come from.
    """
    values, errors = scores.floats()
    n = len(values)
    widest = float(exponent) * float(np.abs(values).max(initial=0.0)) if exponent < HUGE else math.inf
    extra = 340 if not math.isfinite(widest) else max(0, math.ceil(math.log10(max(1.0, widest))))
    keys = words(source, n, 64).astype(np.uint64, copy=False)
    middle, error = np.empty(n), np.empty(n)
    for start in range(0, n, CHUNK):
        part = slice(start, start + CHUNK)
        middle[part], error[part] = _in_floats(values[part], errors[part], min(float(exponent), 1e305), keys[part])
    low, high = middle - error, middle + error
    limit = np.partition(high, k - 1)[k - 1] if k < n else math.inf
    found = [
        _Candidate(int(i), Decimal(float(low[i])), Decimal(float(high[i])), (int(keys[i]), 64))
        for i in np.flatnonzero(~(low > limit))
    ]
    return _ordered(found, scores, exponent, k, (source, extra))


def _in_floats(values: Floats, errors: Floats, exponent: float, keys: NDArray[np.uint64]) -> tuple[Floats, Floats]:
    """s_i and a bound of its error; the bound is infinite where a prefix says next to nothing."""
    v = keys.astype(np.float64)
    v += 0.5
    v *= 2.0**-64
    with np.errstate(all="ignore"):
        waiting = -np.log1p(-v)
        logs = np.log(waiting)
        relative = (2.0**-64 + v * 2.0**-51) / ((1 - v) * waiting)
        scaled = exponent * values
        error = exponent * errors + np.abs(scaled) * 2.0**-51
        error += 1.1 * relative + TINY * (1 + np.abs(logs)) * 2 + np.abs(scaled + logs) * 2.0**-51
        known = (relative < 0.05) & (v < 1) & np.isfinite(scaled + error)
    return np.where(known, scaled + logs, 0.0), np.where(known, error * (1 + 1e-9), np.inf)


def _ordered(
    found: list[_Candidate], scores: Scores, exponent: Fraction, k: int, bits: tuple[Entropy, int]
) -> NDArray[np.intp]:
    source, extra = bits
    while True:
        found.sort(key=lambda candidate: candidate.low)
        tied: set[int] = set()
        reach, owner = Decimal("-Infinity"), -1
        for place, candidate in enumerate(found):
            if place > k - 1 and not candidate.low <= reach:
                break
            if candidate.low <= reach:
                tied |= {owner, place}
            if candidate.high >= reach:
                reach, owner = candidate.high, place
        if not tied:
            return np.array([candidate.record for candidate in found[:k]], dtype=np.intp)
        for place in tied:
            candidate = found[place]
            candidate.prefix = longer(source, [candidate.prefix])[0]
            p = Precision.of(40 + extra + int(candidate.prefix[1] * 0.302))
            waiting = -(p.exact(1) - p.uniform(*candidate.prefix)).ln()
            value = p.exact(exponent) * scores.interval(candidate.record, p) + waiting.ln()
            candidate.low, candidate.high = value.lo, value.hi
