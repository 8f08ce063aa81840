"""The promise of a mechanism, as an exact and immutable record."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

from metricdp import units
from metricdp.errors import IncompatibleError, InvalidParameterError
from metricdp.exact import Number, decimal_text, non_negative, positive, round_down, round_up, sqrt_up
from metricdp.guarantee import _convert, _explain
from metricdp.guarantee._curves import float_up
from metricdp.spaces import Product, Space, is_space

Status = Literal["proved", "certified", "assumed"]
_STRENGTH: dict[Status, int] = {"proved": 2, "certified": 1, "assumed": 0}


@dataclass(frozen=True, slots=True)
class Approximate:
    """An (epsilon, delta) part: for records up to `radius` apart (`None`: any), epsilon·d except delta."""

    epsilon: Fraction
    delta: Fraction
    radius: Fraction | None


@dataclass(frozen=True, slots=True)
class Guarantee:
    """For all x, x' of the space: the divergence between the outputs is at most `loss(d(x, x'))`.

    Make one with `Guarantee.pure`, `.concentrated` or `.approximate`; a composition remembers its parts, since many
    small pure losses convert to a smaller concentrated one than their sum does. All numbers are exact rationals of the
    decimals that were written; `epsilon`, `delta` and `rho` are their float views, rounded up.

    Attributes:
        space: what is protected; it carries the unit.
        parts: pure parts as (epsilon, how many times), sorted.
        gaussian_rho: the concentrated part that came from Gaussian noise.
        other_rho: the concentrated part that came from anywhere else.
        approximated: the (epsilon, delta) part, or None.
        status: "proved" (on a page), "certified" (checked number by number) or "assumed".
        assumptions: what the promise rests on besides the proof.
        proof: the page of `proofs/` it comes from.

    Examples:
        >>> from metricdp import Geographic, Guarantee
        >>> g = Guarantee.pure("0.01", Geographic("m"))
        >>> (g + g).epsilon, (3 * g).loss(100), g.in_unit("km").epsilon
        (0.02, 3.0, 10.0)
    """

    space: Space
    parts: tuple[tuple[Fraction, int], ...] = ()
    gaussian_rho: Fraction = Fraction(0)
    other_rho: Fraction = Fraction(0)
    approximated: Approximate | None = None
    status: Status = "assumed"
    assumptions: tuple[str, ...] = ()
    proof: str = ""

    def __post_init__(self) -> None:
        if not is_space(self.space):
            raise IncompatibleError(
                f"A {type(self.space).__name__} was given as the space.",
                "Guarantees take their numbers first, then the space: Guarantee.pure(0.01, Geographic()).",
                "Pass a Space.",
            )
        if self.status not in _STRENGTH or not isinstance(self.assumptions, tuple) or not isinstance(self.proof, str):
            raise InvalidParameterError(
                "The status, the assumptions or the proof of a guarantee are not what they should be.",
                'Status "proved", "certified" or "assumed"; assumptions a tuple of texts; proof the name of a page.',
                "Leave them out where there is no proof.",
            )

    @classmethod
    def pure(cls, epsilon: Number, space: Space, **about: Any) -> Guarantee:
        """Outputs differ by at most the factor e^(epsilon·d)."""
        return cls(space, parts=((positive(epsilon, "epsilon"), 1),), **about)

    @classmethod
    def concentrated(cls, rho: Number, space: Space, *, gaussian: bool = False, **about: Any) -> Guarantee:
        """Rényi divergence of every order alpha > 1 is at most alpha·rho·d² (paper 004, Definition 3).

        Args:
            rho: loss per squared unit of distance.
            space: what is protected.
            gaussian: only where the outputs are Gaussian noise (or computed from it): conversions are then tighter.
            **about: status, assumptions, proof.
        """
        exact = positive(rho, "rho")
        if gaussian:
            return cls(space, gaussian_rho=exact, **about)
        return cls(space, other_rho=exact, **about)

    @classmethod
    def approximate(
        cls, epsilon: Number, delta: Number, space: Space, *, radius: Number | None = None, **about: Any
    ) -> Guarantee:
        """P[S] <= e^(epsilon·d)·P'[S] + delta for records up to `radius` apart (None: any two)."""
        exact_delta = non_negative(delta, "delta")
        if exact_delta >= 1:
            raise InvalidParameterError("delta is 1 or more.", "0 <= delta < 1.", "Choose a small delta such as 1e-9.")
        reach = None if radius is None else positive(radius, "radius")
        return cls(space, approximated=Approximate(non_negative(epsilon, "epsilon"), exact_delta, reach), **about)

    @property
    def kind(self) -> Literal["pure", "concentrated", "approximate", "mixed"]:
        """Which numbers say it all: epsilon; rho; epsilon, delta and radius; or none ("mixed": use the curves)."""
        if self.approximated is not None:
            return "mixed" if self.gaussian_rho or self.other_rho else "approximate"
        return "concentrated" if self.gaussian_rho or self.other_rho else "pure"

    @property
    def exact_epsilon(self) -> Fraction | None:
        """Loss per unit of distance as a rational; None where there is no such number."""
        if self.kind not in ("pure", "approximate"):
            return None
        total = sum((e * n for e, n in self.parts), Fraction(0))
        return total + (self.approximated.epsilon if self.approximated else 0)

    @property
    def exact_rho(self) -> Fraction | None:
        """Loss per squared unit of distance as a rational (pure parts count epsilon²/2); None where there is none."""
        if self.kind != "concentrated":
            return None
        return self.gaussian_rho + self.other_rho + sum((n * e * e / 2 for e, n in self.parts), Fraction(0))

    @property
    def epsilon(self) -> float | None:
        """Loss per unit of distance, rounded up; None for concentrated and mixed guarantees."""
        exact = self.exact_epsilon
        return None if exact is None else round_up(exact)

    @property
    def delta(self) -> float:
        """What is added to every probability, rounded up; 0 for pure and concentrated guarantees."""
        return round_up(self.approximated.delta) if self.approximated else 0.0

    @property
    def rho(self) -> float | None:
        """Loss per squared unit of distance, rounded up; None unless the guarantee is concentrated."""
        exact = self.exact_rho
        return None if exact is None else round_up(exact)

    @property
    def radius(self) -> float | None:
        """How far an (epsilon, delta) promise reaches, rounded down; None for no limit."""
        limit = self.approximated.radius if self.approximated else None
        return None if limit is None else round_down(limit)

    @property
    def unit(self) -> str:
        """The unit of distance, from the space."""
        return self.space.unit

    def loss(self, d: Number) -> float:
        """The loss at distance d, rounded up: epsilon·d (pure, approximate within its radius) or rho·d² (concentrated).

        Raises:
            IncompatibleError: a mixed guarantee has no single loss; use `epsilon_at(d, delta)`.
        """
        distance = non_negative(d, "the distance")
        if self.approximated and self.approximated.radius is not None and distance > self.approximated.radius:
            return math.inf
        if (rho := self.exact_rho) is not None:
            return round_up(rho * distance * distance)
        epsilon = self.exact_epsilon
        if epsilon is None:
            raise IncompatibleError(
                "A mixed guarantee has no single loss.", "epsilon_at(d, delta) is defined.", "Choose a delta."
            )
        return round_up(epsilon * distance)

    def delta_at(self, d: Number, epsilon: Number, *, method: _convert.Method = "auto") -> float:
        """The smallest delta known with P[S] <= e^epsilon·P'[S] + delta for records d apart, rounded up.

        `epsilon` is the *total* loss at that distance. delta is not the probability that the loss exceeds it.
        """
        return _convert.delta_at(self, non_negative(d, "the distance"), non_negative(epsilon, "epsilon"), method)

    def epsilon_at(self, d: Number, delta: Number, *, method: _convert.Method = "auto") -> float:
        """The smallest *total* loss e known with P[S] <= e^e·P'[S] + delta for records d apart, rounded up."""
        total = _convert.epsilon_at(self, non_negative(d, "the distance"), non_negative(delta, "delta"), method)
        return math.inf if total is None else float_up(total)

    def __add__(self, other: Guarantee) -> Guarantee:
        """Both releases together, chosen adaptively: losses add (proofs/composition)."""
        if not isinstance(other, Guarantee):
            raise _not_a_guarantee(other)
        if self.space != other.space:
            lengths = units.known(self.unit) and units.known(other.unit)
            hint = f' Restate one of them with .in_unit("{self.unit}").' if lengths else ""
            raise IncompatibleError(
                f"A promise over {self.space.describe()} and one over {other.space.describe()} do not add.",
                "Guarantees over equal spaces with equal units compose.",
                "Use the same space for both." + hint,
            )
        counts: Counter[Fraction] = Counter()
        for epsilon, n in (*self.parts, *other.parts):
            counts[epsilon] += n
        return replace(
            self,
            parts=tuple(sorted(counts.items())),
            gaussian_rho=self.gaussian_rho + other.gaussian_rho,
            other_rho=self.other_rho + other.other_rho,
            approximated=_add_approximate(self.approximated, other.approximated),
            status=min(self.status, other.status, key=_STRENGTH.__getitem__),
            assumptions=tuple(sorted({*self.assumptions, *other.assumptions})),
            proof="composition",
        )

    def __radd__(self, other: object) -> Guarantee:
        if isinstance(other, int) and other == 0:  # so that sum() works
            return self
        raise _not_a_guarantee(other)

    def __mul__(self, n: int) -> Guarantee:
        """The same release n times."""
        if isinstance(n, bool) or not isinstance(n, int):
            raise IncompatibleError(
                f"A guarantee was multiplied by a {type(n).__name__}.", "A whole number of releases.", "Use 2 * g, say."
            )
        if n < 1:
            raise InvalidParameterError(f"{n} releases were asked for.", "1, 2, 3, …", "Count at least one release.")
        part = self.approximated
        if part is not None and n * part.delta >= 1:
            raise _no_promise_left()
        return replace(
            self,
            parts=tuple((e, n * count) for e, count in self.parts),
            gaussian_rho=n * self.gaussian_rho,
            other_rho=n * self.other_rho,
            approximated=part and Approximate(n * part.epsilon, n * part.delta, part.radius),
            assumptions=tuple(sorted(set(self.assumptions))),
            proof=self.proof if n == 1 else "composition",
        )

    __rmul__ = __mul__

    def in_unit(self, unit: str) -> Guarantee:
        """The same promise with distances in another unit of length, exactly: m -> km takes epsilon·10³, rho·10⁶."""
        return self._scaled(units.ratio(self.unit, unit), self.space.with_unit(unit))

    def under(self, combine: Literal["max", "sum", "l2"]) -> Guarantee:
        """The promise over tuples restated for another product metric.

        max -> l2 -> sum is free, because max <= l2 <= sum. The way back costs a factor per tuple of n: n from sum to
        max, sqrt(n) from l2 to max and from sum to l2 (their squares for rho).
        """
        space = self.space
        if not isinstance(space, Product):
            raise IncompatibleError("The space is no Product.", "A guarantee over tuples.", "Use Product(space, n).")
        target = replace(space, combine=combine)
        order = ("max", "l2", "sum")
        steps = order.index(space.combine) - order.index(combine)
        if steps <= 0:
            return replace(self, space=target)
        if space.n is None:
            raise IncompatibleError(
                "Tuples of any length have no largest factor between these metrics.",
                "max -> l2 -> sum is free; the way back needs a length n.",
                "Use Product(space, n) with the largest length.",
            )
        factor = Fraction(space.n) if steps == 2 else sqrt_up(Fraction(space.n))
        return self._scaled(factor, target, Fraction(space.n) ** steps)

    def _scaled(self, factor: Fraction, space: Space, square: Fraction | None = None) -> Guarantee:
        squared = factor * factor if square is None else square
        part = self.approximated
        if part is not None:
            reach = None if part.radius is None else part.radius / factor
            part = Approximate(part.epsilon * factor, part.delta, reach)
        return replace(
            self,
            space=space,
            parts=tuple((e * factor, n) for e, n in self.parts),
            gaussian_rho=self.gaussian_rho * squared,
            other_rho=self.other_rho * squared,
            approximated=part,
        )

    def as_concentrated(self) -> Guarantee:
        """The concentrated promise that follows: a pure part counts epsilon²/2 (paper 004, Lemma 3.6)."""
        if self.approximated is not None:
            raise IncompatibleError(
                "An (epsilon, delta) promise implies no concentrated one.",
                "Pure and concentrated guarantees are accepted.",
                "Convert before composing, or use delta_at.",
            )
        extra = sum((n * e * e / 2 for e, n in self.parts), Fraction(0))
        return replace(self, parts=(), other_rho=self.other_rho + extra)

    def as_approximate(
        self, delta: Number, radius: Number | None = None, *, method: _convert.Method = "auto"
    ) -> Guarantee:
        """The (epsilon, delta) promise that follows for records up to `radius` apart (default: the diameter).

        Args:
            delta: greater than 0 unless the guarantee is pure.
            radius: needed on unbounded spaces: no Gaussian is (epsilon, delta)-private there (paper 004, Lemma 3.8).
            method: "paper" (Lemma 3.7, exact form), "renyi" (any concentrated guarantee), "gaussian" (only where all
                noise was Gaussian), "auto" (the smallest valid one).
        """
        exact_delta = non_negative(delta, "delta")
        if exact_delta >= 1:
            raise InvalidParameterError("delta is 1 or more.", "0 <= delta < 1.", "Choose a small delta such as 1e-9.")
        reach = None if radius is None else positive(radius, "radius")
        epsilon, limit = _convert.epsilon_per_unit(self, exact_delta, reach, method)
        return replace(
            self,
            parts=(),
            gaussian_rho=Fraction(0),
            other_rho=Fraction(0),
            approximated=Approximate(epsilon, exact_delta, limit),
            proof=self.proof if self.kind in ("pure", "approximate") else "composition",
        )

    def explain(self) -> str:
        """The promise in words, with distances: what an observer may learn, and what is not promised."""
        return _explain.explain(self)

    def __str__(self) -> str:
        return _explain.explain(self)

    def __repr__(self) -> str:
        return f"<Guarantee: {self.summary()}>"

    def summary(self) -> str:
        """One line: the numbers, the unit and the status."""
        per = f" per {self.unit}" if self.unit else " per unit of distance"
        if self.kind == "pure":
            text = f"epsilon = {_text(self.exact_epsilon)}{per}"
        elif self.kind == "concentrated":
            square = f" per {self.unit}²" if self.unit else " per unit of distance squared"
            text = f"rho = {_text(self.exact_rho)}{square}"
        elif self.kind == "approximate":
            text = f"epsilon = {_text(self.exact_epsilon)}{per}, delta = {_text(self.approximated.delta)}"  # type: ignore[union-attr]
            limit = self.approximated.radius  # type: ignore[union-attr]
            text += "" if limit is None else f", within {decimal_text(limit, up=False)} {self.unit}".rstrip()
        else:
            text = "a composition of several kinds; use epsilon_at(d, delta)"
        return f"{text} ({self.kind}, {self.status})"


def _not_a_guarantee(other: object) -> IncompatibleError:
    return IncompatibleError(
        f"A {type(other).__name__} was added to a guarantee.", "Another guarantee.", "Write g1 + g2, or 2 * g."
    )


def _no_promise_left() -> InvalidParameterError:
    return InvalidParameterError("The deltas add up to 1 or more.", "A total below 1.", "Nothing is promised then.")


def _text(exact: Fraction | None) -> str:
    return "none" if exact is None else decimal_text(exact)


def _add_approximate(a: Approximate | None, b: Approximate | None) -> Approximate | None:
    if a is None or b is None:
        return a or b
    limits = [limit for limit in (a.radius, b.radius) if limit is not None]
    delta = a.delta + b.delta
    if delta >= 1:
        raise _no_promise_left()
    return Approximate(a.epsilon + b.epsilon, delta, min(limits) if limits else None)
