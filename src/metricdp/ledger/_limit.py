"""Limits and amounts: how they are written down, compared and added, exactly."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NoReturn

from metricdp import units
from metricdp.errors import FileRefusedError, IncompatibleError, InvalidParameterError, LossLimitExceeded
from metricdp.exact import decimal_text, positive
from metricdp.guarantee import Guarantee
from metricdp.guarantee._guarantee import Approximate
from metricdp.spaces import Geographic, Space


@dataclass(frozen=True, slots=True)
class StoredSpace:
    """A space that a ledger knows by its identity only: enough to compare and to print."""

    content: str
    description: str
    unit: str
    diameter: float

    def identity(self) -> dict[str, Any]:
        """Content, as JSON values."""
        return dict(json.loads(self.content))

    def describe(self) -> str:
        """One line for people."""
        return self.description

    def contains(self, x: Any) -> Any:
        """Not known here."""
        self._unknown(x)

    def distance(self, x: Any, y: Any) -> Any:
        """Not known here."""
        self._unknown((x, y))

    def with_unit(self, unit: str) -> StoredSpace:
        """Not known here."""
        self._unknown(unit)

    def _unknown(self, _: object) -> NoReturn:
        raise IncompatibleError(
            "A space read from a ledger has no distances.", "Its name and unit are known.", "Use the original space."
        )


def content_of(space: Space) -> str:
    """The identity of a space as text."""
    return space.content if isinstance(space, StoredSpace) else json.dumps(space.identity(), sort_keys=True)


def store_space(space: Space) -> StoredSpace:
    """A space as a limit keeps it; its diameter is computed here, once."""
    if isinstance(space, StoredSpace):
        return space
    return StoredSpace(content_of(space), space.describe(), space.unit, space.diameter)


def to_json(g: Guarantee) -> str:
    """A guarantee as text; numbers as exact fractions."""
    part, space = g.approximated, store_space(g.space)
    value = {
        "space": space.content,
        "describe": space.description,
        "unit": space.unit,
        "diameter": repr(space.diameter),
        "parts": [[str(e), n] for e, n in g.parts],
        "gaussian_rho": str(g.gaussian_rho),
        "other_rho": str(g.other_rho),
        "approximated": part
        and [str(part.epsilon), str(part.delta), None if part.radius is None else str(part.radius)],
        "status": g.status,
    }
    return json.dumps(value, sort_keys=True)


def from_json(text: str) -> Guarantee:
    """Back from `to_json`; the space is a `StoredSpace`."""
    try:
        value = json.loads(text)
        part = value["approximated"]
        return Guarantee(
            StoredSpace(value["space"], value["describe"], value["unit"], float(value["diameter"])),
            parts=tuple((Fraction(e), int(n)) for e, n in value["parts"]),
            gaussian_rho=Fraction(value["gaussian_rho"]),
            other_rho=Fraction(value["other_rho"]),
            approximated=part
            and Approximate(Fraction(part[0]), Fraction(part[1]), None if part[2] is None else Fraction(part[2])),
            status=value["status"],
        )
    except (ValueError, KeyError, TypeError, IndexError):
        raise FileRefusedError(
            "An entry of the ledger cannot be read.", "A file written by metricdp.", "Restore it from a backup."
        ) from None


def stored(g: Guarantee, space: Space) -> Guarantee:
    """The same amounts over the limit's space, as the ledger adds them."""
    return replace(g, space=space, assumptions=(), proof="")


def same(a: Guarantee, b: Guarantee) -> bool:
    """Whether two limits are equal in every number and in the identity of their spaces, however they were composed."""
    x, y = ((g.kind, g.exact_epsilon, g.exact_rho, g.approximated, content_of(g.space)) for g in (a, b))
    return x == y


def parse(text: str) -> Guarantee:
    """A loss at a distance, "2 at 1 km", as the pure guarantee epsilon = 2 per km for positions."""
    match = re.fullmatch(r"\s*([0-9.eE+-]+)\s+at\s+([0-9.eE+-]+)\s*([A-Za-z]+)\s*", text)
    if match is None or not units.known(match[3]):
        raise InvalidParameterError(
            "The limit is not a loss at a distance.",
            'Text such as "2 at 1 km" (units: ' + ", ".join(units.METRES) + "), or a Guarantee.",
            "Write the largest total loss and where it is reached.",
        )
    return Guarantee.pure(positive(match[1], "the loss") / positive(match[2], "the distance"), Geographic(match[3]))


def check(limit: Guarantee, total: Guarantee) -> None:
    """Raise LossLimitExceeded unless the total loss lies within the limit."""
    if limit.kind == "pure":
        if total.kind != "pure":
            raise IncompatibleError(
                f"A {total.kind} charge does not fit a pure limit.",
                "Pure charges; others where the limit states a delta.",
                "Make the ledger with limit=Guarantee.approximate(epsilon, delta, space, radius=...).",
            )
        within = _at_most(total.exact_epsilon, limit.exact_epsilon)
    elif limit.kind == "concentrated":
        within = _at_most(total.as_concentrated().exact_rho, limit.exact_rho)
    else:
        within = _approximately(limit, total)
    if not within:
        raise LossLimitExceeded(
            f"The charge would bring the total to {total.summary()}.",
            f"The limit is {limit.summary()}.",
            "Release less, use a smaller epsilon or rho, or stop here: nothing was sampled.",
        )


def left(limit: Guarantee, total: Guarantee | None) -> Guarantee | None:
    """What can still be charged, in the kind of the limit (pure for approximate limits); None when it is spent."""
    if total is None:
        return limit
    if limit.kind == "concentrated":
        rho = (limit.exact_rho or Fraction(0)) - (total.as_concentrated().exact_rho or Fraction(0))
        return Guarantee.concentrated(rho, limit.space) if rho > 0 else None
    if limit.kind == "pure":
        epsilon = (limit.exact_epsilon or Fraction(0)) - (total.exact_epsilon or Fraction(0))
    else:
        part = limit.approximated
        assert part is not None
        epsilon = part.epsilon - (total.as_approximate(part.delta, part.radius).exact_epsilon or Fraction(0))
    return Guarantee.pure(epsilon, limit.space) if epsilon > 0 else None


def describe(limit: Guarantee) -> str:
    """The summary, and beside it the loss at one unit of distance where there is such a number."""
    if limit.kind == "pure" and limit.exact_epsilon is not None:
        return f"{limit.summary()}: epsilon·d <= {decimal_text(limit.exact_epsilon)} at 1 {limit.unit or 'unit'}"
    return limit.summary()


def _approximately(limit: Guarantee, total: Guarantee) -> bool:
    part = limit.approximated
    assert part is not None
    spent = total.approximated
    if total.kind in ("pure", "approximate"):
        simple = _at_most(total.exact_epsilon, part.epsilon) and (spent is None or spent.delta <= part.delta)
        reach = spent.radius if spent else None
        if simple and (reach is None or (part.radius is not None and reach >= part.radius)):
            return True
    try:
        converted = total.as_approximate(part.delta, part.radius)
    except InvalidParameterError:
        if spent is not None:
            return False
        raise
    return _at_most(converted.exact_epsilon, part.epsilon)


def _at_most(a: Fraction | None, b: Fraction | None) -> bool:
    return a is not None and b is not None and a <= b
