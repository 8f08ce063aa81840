"""Loss curves at one distance, in 50-digit decimals: delta for epsilon and back, never rounded the wrong way.

Notation: `eps` is the total loss allowed at the distance, `r` is rho·d², `pure` lists (epsilon_i·d, how many times).
Every function here returns an upper bound that is within 1e-15 (relatively) of the exact value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from scipy.optimize import brentq, minimize_scalar

DIGITS = 50
UP = Context(prec=DIGITS, rounding=ROUND_CEILING, Emax=10**9, Emin=-(10**9))
WORK = Context(prec=DIGITS + 20, Emax=10**9, Emin=-(10**9))
SLACK = Decimal(1) + Decimal(10) ** -40
"""Every intermediate is good to 60 digits; results are multiplied by this before they are rounded up."""

SERIES = 5
"""Normal tails are summed as a series up to here (which costs 6 digits) and as a continued fraction beyond."""

Pure = Sequence[tuple[Decimal, int]]


def decimal(exact: Fraction) -> Decimal:
    """A rational as a decimal of 70 digits."""
    return WORK.divide(Decimal(exact.numerator), Decimal(exact.denominator))


def gaussian_delta(eps: Decimal, r: Decimal) -> Decimal:
    """Exact profile of Gaussian noise: Phi(-z1) - e^eps Phi(-z2), z = (eps ∓ r)/sqrt(2r).

    With phi the normal density and R(z) = Phi(-z)/phi(z), e^eps phi(z2) = phi(z1), so it is
    phi(z1)·(R(z1) - R(z2)).
    """
    if r == 0:
        return Decimal(0) if eps >= 0 else WORK.subtract(1, eps.exp(WORK))
    spread = WORK.sqrt(WORK.multiply(2, r))
    z1, z2 = WORK.divide(WORK.subtract(eps, r), spread), WORK.divide(WORK.add(eps, r), spread)
    extra = max(0, -spread.adjusted()) + 20
    work = Context(prec=WORK.prec + 2 * extra, Emax=10**9, Emin=-(10**9))
    density = _density(z1, work)
    if z1 > SERIES:
        result = work.multiply(density, work.subtract(_mills(z1, work), _mills(z2, work)))
    else:
        result = work.subtract(_upper_tail(z1, work), work.multiply(density, _mills(z2, work)))
    return UP.multiply(max(result, Decimal(0)), SLACK)


def _density(z: Decimal, work: Context) -> Decimal:
    two_pi = work.multiply(2, _pi(work))
    return work.divide(work.divide(work.multiply(z, z), -2).exp(work), work.sqrt(two_pi))


def _upper_tail(z: Decimal, work: Context) -> Decimal:
    """Phi(-z): by series around 0, by the continued fraction beyond `SERIES`."""
    if z < 0:
        return work.subtract(1, _upper_tail(-z, work))
    if z > SERIES:
        return work.multiply(_density(z, work), _mills(z, work))
    term = total = z
    n = 0
    square = work.multiply(z, z)
    while term > Decimal(10) ** (-work.prec - 5):
        n += 1
        term = work.divide(work.multiply(term, square), 2 * n + 1)
        total = work.add(total, term)
    return work.subtract(Decimal("0.5"), work.multiply(_density(z, work), total))


def _mills(z: Decimal, work: Context) -> Decimal:
    """Phi(-z)/phi(z): Laplace's continued fraction beyond `SERIES`, whose convergents bracket the value."""
    if z <= SERIES:
        return work.divide(_upper_tail(z, work), _density(z, work))
    depth = 32
    while True:
        low, high = (_convergent(z, depth + odd, work) for odd in (0, 1))
        if abs(work.subtract(high, low)) <= abs(high).scaleb(-work.prec + 8, work):
            return high
        depth *= 2


def _convergent(z: Decimal, depth: int, work: Context) -> Decimal:
    tail = z
    for k in range(depth, 0, -1):
        tail = work.add(z, work.divide(k, tail))
    return work.divide(1, tail)


def _pi(work: Context) -> Decimal:
    return _digits_of_pi(work.prec)


@lru_cache(maxsize=64)
def _digits_of_pi(digits: int) -> Decimal:
    """Pi by Machin's formula."""
    extended = Context(prec=digits + 10)

    def arctan_of_inverse(n: int) -> Decimal:
        term = total = extended.divide(1, n)
        k = 1
        while abs(term) > Decimal(10) ** (-extended.prec):
            term = extended.divide(term, -n * n)
            k += 2
            total = extended.add(total, extended.divide(term, k))
        return total

    difference = extended.subtract(extended.multiply(4, arctan_of_inverse(5)), arctan_of_inverse(239))
    return extended.multiply(4, difference)


def renyi_delta(eps: Decimal, r: Decimal, pure: Pure) -> Decimal:
    """Inf over alpha of e^((alpha-1)(C(alpha)-eps)) / (alpha-1) · (1-1/alpha)^alpha (Canonne, Kamath, Steinke)."""

    def slope(alpha: float) -> float:
        inner = _curve_slope(alpha, float(r), pure)
        return _curve(alpha, float(r), pure) - float(eps) + (alpha - 1) * inner + math.log1p(-1 / alpha)

    def value(alpha: float) -> float:
        gap = _curve(alpha, float(r), pure) - float(eps)
        return (alpha - 1) * gap - math.log(alpha - 1) + alpha * math.log1p(-1 / alpha)

    alpha = min(_stationary(slope, pure), key=value)
    exact = Decimal(alpha)
    less = WORK.subtract(exact, 1)
    power = WORK.multiply(less, WORK.subtract(_exact_curve(exact, r, pure), eps))
    power = WORK.add(power, WORK.multiply(exact, WORK.divide(less, exact).ln(WORK)))
    return min(Decimal(1), UP.multiply(WORK.divide(power.exp(WORK), less), SLACK))


def renyi_epsilon(delta: Decimal, r: Decimal, pure: Pure) -> Decimal:
    """The smallest eps whose Rényi delta is at most `delta`: inf over alpha, each alpha being valid."""
    log_delta = delta.ln(WORK)
    log_float = float(log_delta)

    def value(log_less: float) -> float:
        less = math.exp(log_less)
        alpha = 1 + less
        return _curve(alpha, float(r), pure) + (-log_float - log_less + alpha * (log_less - math.log1p(less))) / less

    edges = [-30.0, *sorted(math.log(a - 1) for a in _breaks(pure) if a > 1.0000001), 80.0]
    best = math.inf
    at = 0.0
    for left, right in pairwise(edges):
        steps = [left + (right - left) * k / 64 for k in range(65)]
        k = min(range(65), key=lambda k: value(steps[k]))
        low, high = steps[max(0, k - 1)], steps[min(64, k + 1)]
        found = minimize_scalar(value, bounds=(low, high), method="bounded", options={"xatol": 1e-12})
        for point in (float(found.x), steps[k]):
            if value(point) < best:
                best, at = value(point), point
    less = Decimal(math.exp(at))
    alpha = WORK.add(less, 1)
    inner = WORK.subtract(WORK.multiply(alpha, WORK.divide(less, alpha).ln(WORK)), less.ln(WORK))
    bonus = WORK.divide(WORK.subtract(inner, log_delta), less)
    total = WORK.add(_exact_curve(alpha, r, pure), bonus)
    return max(Decimal(0), _raised(total))


def paper_delta(eps: Decimal, r: Decimal) -> Decimal:
    """Lemma 3.7 in its exact form: 2/(s+1)·exp(-(eps-r)²/(4r)), s = eps/r > 1; 1 where it says nothing."""
    if r == 0:
        return Decimal(0) if eps >= 0 else Decimal(1)
    if eps <= r:
        return Decimal(1)
    gap = WORK.subtract(eps, r)
    power = WORK.divide(WORK.multiply(gap, gap), WORK.multiply(-4, r)).exp(WORK)
    return UP.multiply(WORK.divide(WORK.multiply(2, power), WORK.add(WORK.divide(eps, r), 1)), SLACK)


def pure_delta(eps: Decimal, total: Decimal, delta: Decimal) -> Decimal:
    """Best delta at `eps` of anything (total, delta)-private: randomised response is the worst case."""
    if eps >= total:
        return delta
    grown = total.exp(WORK)
    share = WORK.divide(WORK.subtract(grown, eps.exp(WORK)), WORK.add(grown, 1))
    return UP.multiply(WORK.add(delta, WORK.multiply(WORK.subtract(1, delta), share)), SLACK)


def smallest_epsilon(delta_of: Callable[[Decimal], Decimal], delta: Decimal, high: Decimal) -> Decimal:
    """The smallest eps with delta_of(eps) <= delta, from above and to 1e-17; delta_of is decreasing, delta > 0.

    False position on ln(delta_of/delta), which is nearly straight, with the Illinois rule; a point just beyond each
    estimate is tried as the upper end, so that both ends close in.
    """

    def excess(eps: Decimal) -> Decimal:
        value = delta_of(eps)
        return WORK.divide(value, delta).ln(WORK) if value > 0 else Decimal(-(10**6))

    low, at_low = Decimal(0), excess(Decimal(0))
    if at_low <= 0:
        return low
    at_high = excess(high)
    while at_high > 0:
        low, at_low, high = high, at_high, WORK.multiply(high, 2)
        at_high = excess(high)
    side = 0
    for _ in range(200):
        gap = WORK.subtract(high, low)
        if gap <= high.scaleb(-17, WORK):
            break
        share = WORK.divide(at_low, WORK.subtract(at_low, at_high))
        middle = WORK.add(low, WORK.multiply(gap, share))
        nudge = high.scaleb(-18, WORK) * 4
        middle = min(max(WORK.add(middle, nudge if side >= 0 else -nudge), low + nudge), high - nudge)
        value = excess(middle)
        if value <= 0:
            high, at_high = middle, min(value, Decimal("-1e-60"))
            at_low = WORK.divide(at_low, 2) if side == 1 else at_low
            side = 1
        else:
            low, at_low = middle, value
            at_high = WORK.divide(at_high, 2) if side == -1 else at_high
            side = -1
    return high


def _raised(value: Decimal) -> Decimal:
    return UP.add(value, UP.multiply(abs(value), Decimal(10) ** -40))


def _curve(alpha: float, r: float, pure: Pure) -> float:
    return alpha * r + sum(n * min(alpha * float(e) ** 2 / 2, float(e)) for e, n in pure)


def _curve_slope(alpha: float, r: float, pure: Pure) -> float:
    return r + sum(n * float(e) ** 2 / 2 for e, n in pure if alpha * float(e) < 2)


def _exact_curve(alpha: Decimal, r: Decimal, pure: Pure) -> Decimal:
    """C(alpha): a bound on the Rényi divergence of order alpha, alpha·r + sum min(alpha·e²/2, e)."""
    total = WORK.multiply(alpha, r)
    for e, n in pure:
        total = WORK.add(total, WORK.multiply(n, min(WORK.divide(WORK.multiply(alpha, WORK.multiply(e, e)), 2), e)))
    return total


def _breaks(pure: Pure) -> list[float]:
    return sorted({2 / float(e) for e, _ in pure if e > 0})


def _stationary(slope: Callable[[float], float], pure: Pure) -> list[float]:
    """Candidates for the best alpha: where the slope changes sign, between and at the kinks of the curve."""
    smallest, largest = 1 + 1e-12, 1e30
    edges = [smallest, *(b for b in _breaks(pure) if smallest < b < largest), largest]
    found = list(edges)
    for left, right in pairwise(edges):
        low, high = math.nextafter(left, math.inf), math.nextafter(right, 0)
        if low < high and slope(low) < 0 < slope(high):
            root = brentq(lambda t: slope(1 + math.exp(t)), math.log(low - 1), math.log(high - 1), xtol=1e-14)
            found.append(1 + math.exp(float(root)))
    return found
