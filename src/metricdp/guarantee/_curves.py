"""Loss curves at one distance, in 50-digit decimals: delta for epsilon and back, never rounded the wrong way.

Notation: `eps` is the total loss allowed at the distance, `r` is rho·d², `pure` lists (epsilon_i·d, how many times).
Every function here returns an upper bound that is within 1e-12 (relatively) of the exact value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache

from scipy.optimize import brentq

DIGITS = 50
UP = Context(prec=DIGITS, rounding=ROUND_CEILING, Emax=10**9, Emin=-(10**9))
WORK = Context(prec=DIGITS + 20, Emax=10**9, Emin=-(10**9))
WORK_UP = Context(prec=DIGITS + 20, rounding=ROUND_CEILING, Emax=10**9, Emin=-(10**9))
WORK_DOWN = Context(prec=DIGITS + 20, rounding=ROUND_FLOOR, Emax=10**9, Emin=-(10**9))
SLACK = Decimal("1." + 39 * "0" + "1")
"""Every intermediate is good to 60 digits; results are multiplied by this before they are rounded up."""

SMALLEST = Decimal("1e-900000000")
"""A positive delta below this is rounded up to it."""

SERIES = 5
"""Normal tails are summed as a series up to here (which costs 6 digits) and as a continued fraction beyond."""

Pure = Sequence[tuple[Decimal, int]]
Curve = Callable[[float, "Piece"], float]
LOWEST, HIGHEST = -300.0, 300.0
"""Range of ln(alpha - 1) that is searched."""


def float_up(value: Decimal) -> float:
    """As `exact.round_up`, but never by way of a Fraction: exponents may be huge."""
    near = float(value)
    while not math.isinf(near) and min(Decimal(near), Decimal(repr(near))) < value:
        near = math.nextafter(near, math.inf)
    return near


def decimal(exact: Fraction) -> Decimal:
    """A rational as a decimal of 70 digits, rounded up: for losses, squares and deltas that were spent."""
    return WORK_UP.divide(Decimal(exact.numerator), Decimal(exact.denominator))


def decimal_down(exact: Fraction) -> Decimal:
    """The same, rounded down: for what is allowed."""
    return WORK_DOWN.divide(Decimal(exact.numerator), Decimal(exact.denominator))


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
    return UP.multiply(max(result, SMALLEST), SLACK)


def _density(z: Decimal, work: Context) -> Decimal:
    two_pi = work.multiply(2, _pi(work))
    return work.divide(work.divide(work.multiply(z, z), -2).exp(work), work.sqrt(two_pi))


def _upper_tail(z: Decimal, work: Context) -> Decimal:
    """Phi(-z): by series around 0, by the continued fraction beyond `SERIES`."""
    if z < 0:
        return work.subtract(1, _upper_tail(z.copy_negate(), work))
    if z > SERIES:
        return work.multiply(_density(z, work), _mills(z, work))
    term = total = z
    n = 0
    square = work.multiply(z, z)
    while term > Decimal((0, (1,), -work.prec - 5)):
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
        if work.subtract(high, low).copy_abs() <= high.copy_abs().scaleb(-work.prec + 8, work):
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
        while term.copy_abs() > Decimal((0, (1,), -extended.prec)):
            term = extended.divide(term, -n * n)
            k += 2
            total = extended.add(total, extended.divide(term, k))
        return total

    difference = extended.subtract(extended.multiply(4, arctan_of_inverse(5)), arctan_of_inverse(239))
    return extended.multiply(4, difference)


def renyi_delta(eps: Decimal, r: Decimal, pure: Pure) -> Decimal:
    """Inf over alpha of e^((alpha-1)(C(alpha)-eps)) / (alpha-1) · (1-1/alpha)^alpha (Canonne, Kamath, Steinke)."""
    target = float(eps)

    def slope(t: float, piece: Piece) -> float:
        return piece.curve(t) - target + math.exp(t) * piece.quadratic + log_share(t)

    def value(t: float, piece: Piece) -> float:
        return math.exp(t) * (piece.curve(t) - target) + log_factor(t)

    less = Decimal(math.exp(_best(slope, value, _pieces(r, pure))))
    power = WORK.multiply(less, WORK.subtract(_exact_curve(WORK.add(less, 1), r, pure), eps))
    power = WORK.add(power, _exact_log_factor(less))
    return min(Decimal(1), UP.multiply(max(power.exp(WORK), SMALLEST), SLACK)) if power < 0 else Decimal(1)


def renyi_epsilon(delta: Decimal, r: Decimal, pure: Pure) -> Decimal:
    """The smallest eps whose Rényi delta is at most `delta`: inf over alpha, each alpha being valid.

    eps(alpha) = C + (ln(1/delta) + log_factor)/(alpha-1); its derivative has the sign of
    (alpha-1)²·C' + ln(alpha) + ln(delta).
    """
    log_delta = delta.ln(WORK)
    wanted = float(log_delta)

    def slope(t: float, piece: Piece) -> float:
        return math.exp(2 * t) * piece.quadratic + math.log1p(math.exp(t)) + wanted

    def value(t: float, piece: Piece) -> float:
        return piece.curve(t) + (log_factor(t) - wanted) / math.exp(t)

    less = Decimal(math.exp(_best(slope, value, _pieces(r, pure))))
    bonus = WORK.divide(WORK.subtract(_exact_log_factor(less), log_delta), less)
    return max(Decimal(0), _raised(WORK.add(_exact_curve(WORK.add(less, 1), r, pure), bonus)))


@dataclass(frozen=True, slots=True)
class Piece:
    """Where C(alpha) = alpha·quadratic + flat, for t = ln(alpha - 1) from `low` to `high`."""

    low: float
    high: float
    quadratic: float
    flat: float

    def curve(self, t: float) -> float:
        """C at alpha = 1 + e^t."""
        return (1 + math.exp(t)) * self.quadratic + self.flat


def log_factor(t: float) -> float:
    """Ln of (1/(alpha-1))·(1-1/alpha)^alpha at alpha = 1 + e^t, without cancellation."""
    less = math.exp(t)
    if t > 0:
        return -t - (1 + less) * math.log1p(1 / less)
    return less * t - (1 + less) * math.log1p(less)


def log_share(t: float) -> float:
    """ln(1 - 1/alpha) at alpha = 1 + e^t."""
    return -math.log1p(math.exp(-t)) if t > 0 else t - math.log1p(math.exp(t))


def _exact_log_factor(less: Decimal) -> Decimal:
    alpha = WORK.add(less, 1)
    return WORK.subtract(WORK.multiply(alpha, WORK.divide(less, alpha).ln(WORK)), less.ln(WORK))


def _pieces(r: Decimal, pure: Pure) -> list[Piece]:
    """A pure loss e counts alpha·e²/2 up to alpha = 2/e and e beyond."""
    quadratic, flat = float(r) + sum(n * float(e) ** 2 / 2 for e, n in pure), 0.0
    pieces, low = [], LOWEST
    for e, n in sorted(pure, reverse=True):
        size = float(e)
        high = math.log(2 / size - 1) if 0 < size < 2 * (1 - 1e-15) else LOWEST
        if high > low:
            pieces.append(Piece(low, min(high, HIGHEST), quadratic, flat))
            low = min(high, HIGHEST)
        quadratic, flat = max(float(r), quadratic - n * size**2 / 2), flat + n * size
    return [*pieces, Piece(low, HIGHEST, float(r) if pure else quadratic, flat)]


def _best(slope: Curve, value: Curve, pieces: list[Piece]) -> float:
    """The best t: at the edge of a piece, or where the slope turns from falling to rising within one."""
    found: list[tuple[float, float]] = []
    for piece in pieces:
        points = [piece.low, piece.high]
        if slope(piece.low, piece) < 0 < slope(piece.high, piece):
            root = brentq(lambda t, piece=piece: slope(t, piece), piece.low, piece.high, xtol=1e-15, rtol=1e-15)
            points.append(float(root))
        found += [(value(t, piece), t) for t in points]
    return min(found)[1]


def paper_delta(eps: Decimal, r: Decimal) -> Decimal:
    """Lemma 3.7 in its exact form: 2/(s+1)·exp(-(eps-r)²/(4r)), s = eps/r > 1; 1 where it says nothing."""
    if r == 0:
        return Decimal(0) if eps >= 0 else Decimal(1)
    if eps <= r:
        return Decimal(1)
    gap = WORK.subtract(eps, r)
    power = WORK.divide(WORK.multiply(gap, gap), WORK.multiply(-4, r)).exp(WORK)
    value = WORK.divide(WORK.multiply(2, power), WORK.add(WORK.divide(eps, r), 1))
    return min(Decimal(1), UP.multiply(max(value, SMALLEST), SLACK))


def pure_delta(eps: Decimal, total: Decimal, delta: Decimal) -> Decimal:
    """Best delta at `eps` of anything (total, delta)-private: randomised response is the worst case."""
    if eps >= total:
        return delta
    kept, least = WORK.subtract(eps, total).exp(WORK), total.copy_negate().exp(WORK)
    share = WORK.divide(WORK.subtract(1, kept), WORK.add(1, least))
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
        nudge = WORK.multiply(4, high.scaleb(-18, WORK))
        middle = WORK.add(middle, nudge) if side >= 0 else WORK.subtract(middle, nudge)
        middle = min(max(middle, WORK.add(low, nudge)), WORK.subtract(high, nudge))
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
    return UP.add(value, UP.multiply(value.copy_abs(), Decimal("1e-40")))


def _exact_curve(alpha: Decimal, r: Decimal, pure: Pure) -> Decimal:
    """C(alpha): a bound on the Rényi divergence of order alpha, alpha·r + sum min(alpha·e²/2, e)."""
    total = WORK.multiply(alpha, r)
    for e, n in pure:
        total = WORK.add(total, WORK.multiply(n, min(WORK.divide(WORK.multiply(alpha, WORK.multiply(e, e)), 2), e)))
    return total
