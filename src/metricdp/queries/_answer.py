"""What a query returns, and how it is paid for."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from metricdp.errors import IncompatibleError, InvalidParameterError
from metricdp.exact import Number, positive
from metricdp.guarantee import Guarantee
from metricdp.ledger import Ledger
from metricdp.spaces import Product, Space


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """A released value with its promise; NumPy takes it for its value.

    Attributes:
        value: what was released.
        guarantee: over tuples of all records, under the largest distance any of them moves.
        about: in words, how it was found and how good it is.
    """

    value: Any
    guarantee: Guarantee
    about: dict[str, Any] = field(default_factory=dict)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self.value, dtype=dtype, copy=copy)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.value)

    def __len__(self) -> int:
        return len(self.value)

    def __getitem__(self, key: Any) -> Any:
        return self.value[key]

    def __repr__(self) -> str:
        return f"Answer({self.value!r}, {self.guarantee.summary()})"


@dataclass(frozen=True, slots=True)
class Budget:
    """Exactly one of epsilon (pure) and rho (concentrated)."""

    epsilon: Fraction | None
    rho: Fraction | None

    @classmethod
    def of(cls, epsilon: Number | None, rho: Number | None) -> Budget:
        """Refuses both and neither."""
        if (epsilon is None) == (rho is None):
            raise InvalidParameterError(
                "Not exactly one of epsilon and rho was given.",
                "epsilon (pure loss per unit of distance) or rho (per squared unit).",
                "Choose one of them.",
            )
        if epsilon is not None:
            return cls(positive(epsilon, "epsilon"), None)
        return cls(None, positive(rho, "rho"))

    def share(self, part: Fraction) -> Budget:
        """A part of it."""
        return Budget(
            None if self.epsilon is None else self.epsilon * part, None if self.rho is None else self.rho * part
        )

    def exponent(self, selections: int) -> Fraction:
        """The largest exponent a at which so many selections by e^(-a·d) cost no more than this.

        One selection is 2a-pure and a²/2-concentrated, per unit that records move (proofs/nearest_neighbours.md).
        """
        if self.epsilon is not None:
            return self.epsilon / (2 * selections)
        assert self.rho is not None
        return root_down(2 * self.rho / selections)

    def guarantee(self, space: Space, n: int, proof: str) -> Guarantee:
        """Over tuples of n records, under the largest distance."""
        over = Product(space, n, "max")
        about: dict[str, Any] = {"status": "proved", "proof": proof, "assumptions": ASSUMPTIONS}
        if self.epsilon is not None:
            return Guarantee.pure(self.epsilon, over, **about)
        assert self.rho is not None
        return Guarantee.concentrated(self.rho, over, **about)


ASSUMPTIONS = (
    "elementary functions of this platform (log, log1p, exp, expm1, sin, cos, arctan2, sqrt) are within 8 ulp",
    "the operating system's random bytes are uniform and secret",
)


def root_down(value: Fraction) -> Fraction:
    """A rational at most the square root, less than 2**-60 below it (relatively)."""
    shift = max(0, 64 - value.numerator.bit_length() // 2 + value.denominator.bit_length() // 2)
    return Fraction(math.isqrt((value.numerator << (2 * shift)) // value.denominator), 1 << shift)


def charge(ledger: Ledger | None, guarantee: Guarantee, what: str, subject: str | None) -> None:
    """Write the cost before anything is sampled."""
    if ledger is None:
        if subject is not None:
            raise InvalidParameterError("A subject without a ledger.", "ledger=.", "Pass both, or neither.")
        return
    if not isinstance(ledger, Ledger):
        raise IncompatibleError(f"The ledger is a {type(ledger).__name__}.", "A Ledger.", "Open one.")
    if subject is None:
        ledger.charge(guarantee, what)
    else:
        ledger.charge(guarantee, what, subject=subject)
