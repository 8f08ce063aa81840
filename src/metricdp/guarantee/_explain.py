"""Guarantees in words, and the epsilon that a wish asks for."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from metricdp import units
from metricdp.errors import InvalidParameterError
from metricdp.exact import Number, decimal_text, positive, round_down
from metricdp.spaces import WGS84_STRETCH, Geographic, Product

if TYPE_CHECKING:
    from metricdp.guarantee._guarantee import Guarantee

ODDS = (1.2, 2.7, 20.0)
"""Changes of an observer's odds for which `explain` names the distance."""

ODDS_CHANGE = "an observer's odds can change at most"
WGS84_STRETCH_SQUARED = 1.0115
"""The same for losses that grow with the square of the distance, rounded up."""

DELTA = Fraction(1, 10**6)
"""Probability left out where a concentrated promise is put into words."""


def epsilon_for(*, loss: Number | None = None, radius: Number, odds: Number | None = None) -> float:
    """The epsilon (per unit of distance) that allows a total loss at a radius, rounded down.

    Rounded down as a decimal: the float returned stands for its shortest decimal, as everywhere in this library.

    Args:
        loss: the largest total loss epsilon·d, a natural logarithm: log(2) lets odds double.
        odds: instead of `loss`, the largest factor by which an observer's odds may change, above 1.
        radius: the distance at which that loss is reached.

    Examples:
        >>> epsilon_for(loss=2, radius=1000)
        0.002
    """
    if (loss is None) == (odds is None):
        raise InvalidParameterError(
            "Not exactly one of loss and odds was given.", "One of them.", "Pass loss= or odds=."
        )
    reach = positive(radius, "radius")
    if loss is not None:
        return _decimal_down(positive(loss, "loss") / reach)
    factor = positive(odds, "odds")
    if factor <= 1:
        raise InvalidParameterError("The odds may not change at all.", "odds > 1.", "Choose a factor such as 2.")
    return _decimal_down(Fraction(math.nextafter(math.log(round_down(factor)), 0)) / reach)


def _decimal_down(exact: Fraction) -> float:
    """The largest float whose shortest decimal is at most `exact`."""
    near = float(exact)
    return near if Fraction(repr(near)) <= exact else math.nextafter(near, 0)


def explain(g: Guarantee) -> str:
    """The promise, its meaning at three distances, and its limits."""
    lines = [f"Promised: {g.summary()}, over {g.space.describe()}."]
    lines.append(_meaning(g))
    if g.kind == "pure":
        lines.append(
            "For any two records d apart, no output is more than e^(epsilon·d) times likelier for one of them."
        )
    elif g.kind == "concentrated":
        lines.append("The Rényi divergence of order alpha between the outputs of records d apart is <= alpha·rho·d².")
    elif g.kind == "approximate":
        within = " (within the radius)" if g.radius is not None else ""
        lines.append(f"For any set S of outputs and records d apart{within}, P[S] <= e^(epsilon·d)·P'[S] + delta.")
    lines.append(
        "Not promised: that records far apart look alike; that releases do not add up (each further release of the "
        "same record adds its loss); anything about columns, times or counts released beside it."
    )
    inner = g.space.space if isinstance(g.space, Product) else g.space
    if isinstance(inner, Geographic):
        times = WGS84_STRETCH if g.kind in ("pure", "approximate") else WGS84_STRETCH_SQUARED
        lines.append(
            "Distances are great circles on a sphere; on the WGS84 ellipsoid the loss at a distance is at most "
            f"{times} times the stated one" + (f", and the radius {WGS84_STRETCH} times smaller." if g.radius else ".")
        )
    if g.assumptions:
        lines.append("Rests on: " + "; ".join(g.assumptions) + ".")
    if g.proof:
        lines.append(f"Proof: proofs/{g.proof}.md; status: {g.status}.")
    else:
        lines.append(f"Status: {g.status}.")
    return "\n".join(lines)


def _meaning(g: Guarantee) -> str:
    """Such as: within 18.2 m an observer's odds can change at most 1.2-fold; within 100 m 2.7-fold."""
    if g.kind == "mixed":
        return "Several kinds of loss are composed: epsilon_at(d, delta) gives the loss at a distance."
    if g.kind == "concentrated":
        reach = [(_distance_for(g, math.log(odds)), odds) for odds in ODDS]
        return _reaches(g, reach, ODDS_CHANGE) + f", except with probability {float(DELTA):g}."
    epsilon = g.exact_epsilon or Fraction(0)
    part = g.approximated
    if float(epsilon) == 0:
        near = f" within {length(round_down(part.radius), g.unit)}" if part and part.radius is not None else ""
        return f"The probability of any outcome is the same for all records{near}, up to delta."
    reach = [(math.log(odds) / float(epsilon), odds) for odds in ODDS]
    if part is None:
        return _reaches(g, reach, ODDS_CHANGE) + "."
    if part.radius is not None:
        limit = round_down(part.radius)
        loss = math.nextafter(float(epsilon) * limit, math.inf)
        whole = math.exp(loss) if loss < 700 else math.inf
        reach = [(d, odds) for d, odds in reach if d <= limit] or [(limit, whole)]
    what = "the probability of any outcome grows at most"
    return _reaches(g, reach, what) + f"; each time plus {decimal_text(part.delta)}."


def _reaches(g: Guarantee, reach: list[tuple[float, float]], what: str) -> str:
    first, *rest = reach
    text = f"Within {length(first[0], g.unit)} {what} {_fold(first[1])}-fold"
    return text + "".join(f"; within {length(d, g.unit)} {_fold(odds)}-fold" for d, odds in rest)


def _fold(odds: float) -> str:
    """A factor, rounded up to one decimal, or to three digits where it is large."""
    if math.isinf(odds):
        return "any number of"
    exact = Fraction(odds)
    return f"{math.ceil(exact * 10 - Fraction(1, 10**9)) / 10:.1f}" if odds < 1000 else decimal_text(exact, 3)


def _distance_for(g: Guarantee, loss: float) -> float:
    """The distance within which the loss exceeds `loss` with probability at most DELTA.

    With r = rho·d², Markov's inequality for the Rényi divergence gives P[L > e] <= exp(-(e-r)²/(4r)) for e > r.
    """
    spread = math.log(float(1 / DELTA))
    root = loss / (math.sqrt(spread) + math.sqrt(spread + loss))
    return math.nextafter(root, 0) / math.sqrt(math.nextafter(float(g.exact_rho or 0), math.inf)) * (1 - 1e-12)


def length(value: float, unit: str) -> str:
    """A distance for people, rounded down to three digits; lengths in km, m, cm or mm."""
    if units.known(unit):
        metres = value * float(units.METRES[unit])
        shown = next((name for name in ("km", "m", "cm") if metres >= float(units.METRES[name])), "mm")
        unit, value = shown, metres / float(units.METRES[shown])
    return f"{decimal_text(Fraction(max(value, 0.0)), 3, up=False)} {unit}".rstrip()
