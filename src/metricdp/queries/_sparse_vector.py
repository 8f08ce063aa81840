"""The sparse vector technique (paper 004, Algorithm 1), drawn from its exact law with the same work whatever happens.

One query after the other is compared with a noisy threshold until the first lies below it. Instead of drawing the noise
of every comparison, the place where the run stops is drawn at once from its law, by one uniform number; where the
queries are cycled through, for all rounds together.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metricdp import entropy as randomness
from metricdp.entropy import Entropy, words
from metricdp.errors import IncompatibleError, InvalidParameterError
from metricdp.exact import Number, positive, rational
from metricdp.guarantee import Guarantee
from metricdp.ledger import Ledger
from metricdp.noise import Interval, Precision, Scores, longer
from metricdp.noise._interval import power_of_ten
from metricdp.queries._answer import ASSUMPTIONS, Answer, charge
from metricdp.queries._distances import TableDistances
from metricdp.spaces import Euclidean, Product, Space
from metricdp.spaces._space import as_rows

Floats = NDArray[np.float64]

FIRST_BITS = 128


@dataclass(slots=True)
class Noisy:
    """A real number plus Laplace noise of some scales, known as far as its bits are."""

    value: Any
    scales: tuple[Fraction, ...]
    source: Entropy
    prefixes: list[tuple[int, int]]

    @classmethod
    def of(cls, value: Any, scales: tuple[Fraction, ...], source: Entropy) -> Noisy:
        """`value` gives an interval at any precision; two numbers are drawn for each noise, for side and size."""
        drawn = words(source, 4 * len(scales), 64).tolist()
        pairs = [(drawn[i] << 64 | drawn[i + 1], FIRST_BITS) for i in range(0, len(drawn), 2)]
        return cls(value, scales, source, pairs)

    def interval(self, p: Precision) -> Interval:
        """What is known of the sum."""
        total = self.value(p)
        for place, scale in enumerate(self.scales):
            side, bits = self.prefixes[2 * place]
            size = -p.uniform(*self.prefixes[2 * place + 1]).ln() * p.exact(scale)
            total = total + (size if side >> (bits - 1) else -size)
        return total  # type: ignore[no-any-return]

    def refined(self) -> None:
        """64 more bits of every number."""
        self.prefixes = longer(self.source, self.prefixes)

    def floats(self) -> tuple[float, float]:
        """A float and a bound of its error."""
        known = self.interval(Precision.of(60))
        if not known.bounded:
            return 0.0, math.inf
        middle = known.float()
        return middle, float(known.width) + abs(middle) * 2.0**-51


def stop(scores: Scores, threshold: Noisy, scale: Fraction, *, cycle: bool, source: Entropy) -> int | None:
    """The first query whose value plus Laplace noise lies at or below the threshold; None where a single round ends.

    Args:
        scores: true values of the queries.
        threshold: with its noise.
        scale: of the noise of each comparison.
        cycle: begin again after the last query, until one stops.
        source: where bits come from.
    """
    key = [(int(words(source, 1, 64)[0]), 64)]
    values, errors = scores.floats()
    found = _in_floats(values, errors, threshold.floats(), float(scale), key[0], cycle)
    while found is _OPEN:
        threshold.refined()
        key = longer(source, key)
        found = _in_intervals(scores, len(values), threshold, scale, key[0], cycle)
    assert found is None or isinstance(found, int)
    return found


_OPEN = object()
_FLAT = -30.0
LARGEST_BLUR = 0.25
"""Of (threshold - value)/scale: beyond it the first-order bounds of floats do not hold."""


def _in_floats(
    values: Floats, errors: Floats, threshold: tuple[float, float], scale: float, key: tuple[int, int], cycle: bool
) -> object:
    """The place, None, or _OPEN where floats cannot tell."""
    middle, error = threshold
    with np.errstate(all="ignore"):
        u = (middle - values) / scale
        blur = (error + errors + (abs(middle) + np.abs(values)) * 2.0**-51) / scale + np.abs(u) * 2.0**-50
        stay = np.where(u < 0, np.log1p(-0.5 * np.exp(np.minimum(u, 0))), -math.log(2) - u)
        doubt = np.abs(stay) * (2 * blur + 2.0**-47) + np.where(u < 0, 0.0, blur)
        runs, doubts = np.cumsum(stay), np.cumsum(doubt)
        doubts += np.abs(runs) * len(runs) * 2.0**-52
    last, slack = float(runs[-1]), float(doubts[-1])
    if (
        not float(blur.max()) < LARGEST_BLUR
        or not (math.isfinite(slack) and np.isfinite(runs).all())
        or (cycle and float(u.max()) < _FLAT)
    ):
        return _OPEN
    draw = (key[0] + 0.5) * 2.0 ** -key[1]
    share = math.expm1(last) if cycle else -1.0
    inside = 1 + draw * share
    if inside <= 2.0**-40:
        return _OPEN
    limit = math.log1p(draw * share)
    slack = (2.0**-63 + draw * 2.0**-47) / inside + (slack if cycle else 0.0) + abs(limit) * 2.0**-47
    place = int(np.argmax(runs <= limit)) if last <= limit else len(runs)
    before = float(runs[place - 1] - doubts[place - 1]) if place else 0.0
    if place and not before > limit + slack:
        return _OPEN
    if place == len(runs):
        return _OPEN if cycle else None
    return place if float(runs[place] + doubts[place]) < limit - slack else _OPEN


def _in_intervals(
    scores: Scores, n: int, threshold: Noisy, scale: Fraction, key: tuple[int, int], cycle: bool
) -> object:
    """The same at the precision of the bits; all queries are looked at."""
    p = Precision.of(60 + int(key[1] * 0.302))
    one, half = p.exact(1), p.exact(Fraction(1, 2))
    level = threshold.interval(p)
    depths = [(level - scores.interval(record, p)) / p.exact(scale) for record in range(n)]
    if any(not u.bounded or u.lo < 0 < u.hi for u in depths):
        return _OPEN
    shift = max(u.hi for u in depths) if cycle else Decimal(0)
    if shift > _FLAT:
        shift = Decimal(0)
    common, whole = Interval(shift, shift, p), _exp(Interval(shift, shift, p))
    # the probability that some query up to here has stopped, over e^shift; tiny ones keep all their digits
    stopped = [p.exact(0)]
    for u in depths:
        here = half * _exp(u - common) if u.hi <= 0 else one - half * _exp(-u)
        stopped.append(stopped[-1] + (one - whole * stopped[-1]) * here)
    draw = p.uniform(*key)
    limit = draw * stopped[-1] if cycle else draw
    for place in range(n):
        if stopped[place + 1].lo > limit.hi:
            return place
        if not stopped[place + 1].hi < limit.lo:
            return _OPEN
    return _OPEN if cycle else None


def _exp(x: Interval) -> Interval:
    """e^x; below e^-1000000 any number up to 10^-400000, which no comparison will ever hang on."""
    if x.bounded and x.hi < -(10**6):
        return Interval(Decimal(0), power_of_ten(-400_000), x.p)
    return x.exp()


def sparse_vector(
    values: ArrayLike,
    threshold: Number,
    *,
    epsilon: Number,
    constant: Number = 1,
    offset: Number = 0,
    split: tuple[Number, Number] = (1, 1),
    among: Sequence[int] | None = None,
    cycle: bool = False,
    space: Space | None = None,
    entropy: Entropy | None = None,
    ledger: Ledger | None = None,
    subject: str | None = None,
) -> Answer:
    """The number of the first value below a threshold, with noise on both; epsilon-private however many there are.

    Definition:
        W ~ Lap(K/e1), V_j ~ Lap(2K/e2); the first j with value_j + V_j <= threshold + offset + W, where
        e1 : e2 is `split` and e1 + e2 = epsilon.

    Guarantee:
        loss <= epsilon·d, pure, where every value moves by at most `constant` per unit of d. Without `space` d is
        the largest move of a value itself, and loss <= (epsilon/constant)·d. Proof: proofs/sparse_vector.md.

    Args:
        values: true answers of the queries, in the order they are asked.
        threshold: public.
        epsilon: total loss per unit of distance.
        constant: how far each value moves per unit of distance.
        offset: added to the threshold; either sign.
        split: shares of the threshold's and of the comparisons' noise; (1, 2**(2/3)) is the better choice for one hit.
        among: positions of the values to ask, in this order; all by default. Public, as is the order.
        cycle: begin again after the last until one lies below; there always is an answer then.
        space: what the promise is over; by default tuples of the values under the largest difference.
        entropy: where bits come from.
        ledger: charged before anything is sampled.
        subject: whose account.

    Returns:
        `.value` is a position in `values`, or None where none of them lay below (without `cycle`).

    Examples:
        >>> sparse_vector([9.0, 8.0, 0.0, 7.0], 3, epsilon=100).value
        2
    """
    source = randomness.source(entropy)
    answers = _finite(values)
    places = chosen_places(among, len(answers))
    budget, k = positive(epsilon, "epsilon"), positive(constant, "constant")
    level = rational(threshold, "threshold") + rational(offset, "offset")
    if not isinstance(split, tuple | list) or len(split) != 2:
        raise InvalidParameterError("The split is no pair.", "Two positive shares.", "Use (1, 1).")
    first, second = (positive(part, "split") for part in split)
    over = Product(Euclidean(1), len(answers), "max") if space is None else space
    promised = budget / k if space is None else budget
    one, two = budget * first / (first + second), budget * second / (first + second)
    if not all(Fraction(1, 10**250) < scale < 10**250 for scale in (k / one, 2 * k / two)):
        raise InvalidParameterError(
            "The noise leaves the range of float64.", "Noise between 1e-250 and 1e250.", "Rescale the values."
        )
    guarantee = Guarantee.pure(promised, over, status="proved", proof="sparse_vector", assumptions=ASSUMPTIONS)
    charge(ledger, guarantee, "sparse vector", subject)
    noisy = Noisy.of(lambda p: p.exact(level), (k / one,), source)
    found = stop(TableDistances(answers[places]), noisy, 2 * k / two, cycle=bool(cycle), source=source)
    return Answer(None if found is None else int(places[found]), guarantee, {"asked": len(places)})


def _finite(values: ArrayLike) -> Floats:
    try:
        rows = np.reshape(np.ma.getdata(values) if np.ma.isMaskedArray(values) else np.asarray(values), (-1, 1))
    except (ValueError, TypeError):
        rows = np.empty((0, 1))
    if np.ndim(values) != 1 or rows.size == 0 or np.ma.isMaskedArray(values):
        raise InvalidParameterError("The values are no numbers.", "One finite number per query.", "Pass a list.")
    return np.asarray(as_rows(rows, 1, "value")[:, 0])


def chosen_places(among: Iterable[int] | None, n: int) -> NDArray[np.intp]:
    """Positions to look at: whole numbers from 0 to n - 1, all different."""
    if among is None:
        return np.arange(n)
    try:
        places = np.array(list(among))
    except (TypeError, ValueError):
        raise IncompatibleError("The subset is no list.", "Positions.", "Pass a list of numbers.") from None
    good = places.ndim == 1 and places.size > 0 and places.dtype.kind in "iu"
    if not good or places.min() < 0 or places.max() >= n or len(np.unique(places)) < len(places):
        raise InvalidParameterError("The subset is no set of positions.", f"0 to {n - 1}, each once.", "Mend it.")
    return places.astype(np.intp)


def least(scores: Scores, p: Precision) -> Interval:
    """The smallest score."""
    values, errors = scores.floats()
    limit = float((values + errors).min())
    near = [scores.interval(int(i), p) for i in np.flatnonzero(~(values - errors > limit))]
    low: Decimal = min(each.lo for each in near)
    return Interval(low, min(each.hi for each in near), p)


def greatest(scores: Scores, p: Precision) -> Interval:
    """The largest score."""
    values, errors = scores.floats()
    limit = float((values - errors).max())
    near = [scores.interval(int(i), p) for i in np.flatnonzero(~(values + errors < limit))]
    low: Decimal = max(each.lo for each in near)
    return Interval(low, max(each.hi for each in near), p)
