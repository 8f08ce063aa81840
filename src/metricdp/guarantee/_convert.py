"""Conversions between kinds of promises, each from the safe side."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from metricdp.errors import IncompatibleError, InvalidParameterError
from metricdp.exact import rational
from metricdp.guarantee import _curves
from metricdp.guarantee._curves import decimal, decimal_down

if TYPE_CHECKING:
    from metricdp.guarantee._guarantee import Guarantee

FAR = Decimal("1e60")
"""Losses beyond this (a distance far outside any use) count as unlimited, and squares below its inverse as that."""

Method = Literal["auto", "paper", "renyi", "gaussian"]


def check_method(g: Guarantee, method: Method) -> None:
    """Refuse a conversion that is not valid for the guarantee."""
    if method not in ("auto", "paper", "renyi", "gaussian"):
        raise InvalidParameterError(
            "That conversion is not known.", '"auto", "paper", "renyi" or "gaussian".', "Choose one of them."
        )
    if method == "gaussian" and not only_gaussian(g):
        raise IncompatibleError(
            "Not all of this loss came from Gaussian noise.",
            'The exact Gaussian curve holds for Gaussian noise alone; "renyi" and "paper" hold for any.',
            'Use method="auto".',
        )


def only_gaussian(g: Guarantee) -> bool:
    """Whether the concentrated part came from Gaussian noise alone."""
    return g.gaussian_rho > 0 and g.other_rho == 0


def delta_at(g: Guarantee, d: Fraction, epsilon: Fraction, method: Method) -> float:
    """See `Guarantee.delta_at`."""
    check_method(g, method)
    return min(1.0, _curves.float_up(_delta(g, d, decimal_down(epsilon), method)))


def _delta(g: Guarantee, d: Fraction, eps: Decimal, method: Method) -> Decimal:
    """Total delta at distance d and total loss eps, at most 1."""
    part = g.approximated
    offset, extra = Decimal(0), Decimal(0)
    if part is not None:
        if part.radius is not None and d > part.radius:
            return Decimal(1)
        offset, extra = decimal(part.epsilon * d), decimal(part.delta)
    pure_total = decimal(sum((e * n for e, n in g.parts), Fraction(0)) * d)
    if g.kind in ("pure", "approximate"):
        best = _curves.pure_delta(eps, _curves.WORK.add(offset, pure_total), extra)
        if (len(g.parts) == 1 and g.parts[0][1] == 1) or d == 0:
            return best
        if eps >= offset and not _is_far(g, d):
            spent = _curves.renyi_delta(_curves.WORK.subtract(eps, offset), Decimal(0), _pure(g, d))
            best = min(best, _curves.UP.add(spent, extra))
        return best
    if eps < offset or _is_far(g, d):
        return Decimal(1)
    eps = min(_curves.WORK.subtract(eps, offset), FAR)
    if d == 0:
        return extra
    found = [_concentrated_delta(g, d, eps, way) for way in _ways(g, method)]
    return min(Decimal(1), _curves.UP.add(min(found), extra))


def _ways(g: Guarantee, method: Method) -> list[str]:
    if method == "auto":
        return ["gaussian", "renyi"] if only_gaussian(g) and g.parts else ["gaussian" if only_gaussian(g) else "renyi"]
    return [method]


def _concentrated_delta(g: Guarantee, d: Fraction, eps: Decimal, way: str) -> Decimal:
    r = _square(g, d)
    if way == "renyi":
        return _curves.renyi_delta(eps, r, _pure(g, d))
    spent = decimal(sum((e * n for e, n in g.parts), Fraction(0)) * d)
    rest = _curves.WORK.subtract(eps, spent)
    if way == "gaussian":
        return _curves.gaussian_delta(rest, r)
    return _curves.paper_delta(rest, r)


def _square(g: Guarantee, d: Fraction) -> Decimal:
    return max(decimal((g.gaussian_rho + g.other_rho) * d * d), _curves.WORK.divide(1, FAR))


def _is_far(g: Guarantee, d: Fraction) -> bool:
    return _square(g, d) > FAR or any(loss > FAR for loss, _ in _pure(g, d))


def _pure(g: Guarantee, d: Fraction) -> list[tuple[Decimal, int]]:
    return [(decimal(e * d), n) for e, n in g.parts]


def epsilon_at(g: Guarantee, d: Fraction, delta: Fraction, method: Method) -> Decimal | None:
    """See `Guarantee.epsilon_at`; None where nothing is promised."""
    check_method(g, method)
    part = g.approximated
    if part is not None and ((part.radius is not None and d > part.radius) or delta < part.delta):
        return None
    if d == 0:
        return Decimal(0)
    if delta >= 1:
        return Decimal(0)
    limit = decimal_down(delta)
    total = decimal(sum((e * n for e, n in g.parts), Fraction(0)) * d + (part.epsilon * d if part else 0))
    if g.kind in ("pure", "approximate"):
        if delta == (part.delta if part else 0):
            return total
        return _curves.smallest_epsilon(lambda e: _delta(g, d, e, method), limit, total)
    rest = delta - (part.delta if part else 0)
    if rest <= 0 or _is_far(g, d):
        return None
    offset = decimal(part.epsilon * d) if part else Decimal(0)
    found = []
    for way in _ways(g, method):
        r = _square(g, d)
        start = _curves.renyi_epsilon(decimal_down(rest), r, _pure(g, d))
        if way == "renyi":
            found.append(start)
        else:
            guess = max(start, Decimal("1e-30"))
            found.append(
                _curves.smallest_epsilon(
                    lambda e, way=way: _concentrated_delta(g, d, e, way),  # type: ignore[misc]
                    decimal_down(rest),
                    guess,
                )
            )
    return _curves.UP.add(min(found), offset)


def epsilon_per_unit(
    g: Guarantee, delta: Fraction, radius: Fraction | None, method: Method
) -> tuple[Fraction, Fraction | None]:
    """(epsilon, radius) of the (epsilon, delta) promise: the total loss at the radius, spread over the distance.

    The worst pair within the radius lies at the radius (proofs/composition).
    """
    check_method(g, method)
    part = g.approximated
    limit = _reach(g, radius)
    exact = g.exact_epsilon
    if radius is None and exact is not None:
        if part is not None and delta < part.delta:
            raise _nothing(delta)
        if limit is None or sum(n for _, n in g.parts) < 2:
            return exact, part.radius if part else None
    if limit is None:
        raise InvalidParameterError(
            "No radius was given on an unbounded space.",
            "A concentrated guarantee is (epsilon, delta)-private only up to some distance (paper 004, Lemma 3.8).",
            "Pass radius=, the largest distance that must be covered.",
        )
    total = epsilon_at(g, limit, delta, method)
    if total is None:
        raise _nothing(delta)
    with_digits = Context(prec=17, rounding=ROUND_CEILING).create_decimal(
        _curves.UP.divide(total, _down(limit)) if total else total
    )
    return Fraction(with_digits), limit


def _reach(g: Guarantee, radius: Fraction | None) -> Fraction | None:
    """The radius asked for; else the diameter or the radius of the approximate part, whichever is smaller."""
    if radius is not None:
        return radius
    limit = g.approximated.radius if g.approximated else None
    if g.kind == "pure" and sum(n for _, n in g.parts) < 2:
        return None
    diameter = g.space.diameter
    if math.isinf(diameter):
        return limit
    whole = rational(diameter, "the diameter")
    return whole if limit is None else min(limit, whole)


def _down(exact: Fraction) -> Decimal:
    value = decimal(exact)
    return _curves.WORK.subtract(value, _curves.WORK.multiply(value, Decimal("1e-45")))


def _nothing(delta: Fraction) -> InvalidParameterError:
    return InvalidParameterError(
        f"Nothing is promised with delta = {float(delta):g}.",
        "delta must exceed the delta already spent, and the radius must lie within the promise's.",
        "Choose a larger delta or a smaller radius.",
    )
