"""The role of a mechanism, and what additive noise shares."""

from __future__ import annotations

import numbers
from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from metricdp import entropy as randomness
from metricdp.entropy import Entropy
from metricdp.errors import InvalidParameterError, OutOfSpaceError
from metricdp.guarantee import Guarantee
from metricdp.noise import Law, draw
from metricdp.noise._globe import places_of
from metricdp.spaces import Euclidean, Geographic, Space
from metricdp.spaces._space import Floats

ASSUMPTIONS = (
    "log, exp, sin, cos, sqrt, arctan2 and arcsin of this platform are within 8 ulp",
    "the operating system's random bytes are uniform and secret",
)

LARGEST_EXPONENT = 820
LARGEST = 2.0**52
"""Coordinates beyond this many lattice steps lie outside the public domain."""


@runtime_checkable
class Mechanism(Protocol):
    """Something that releases records of a space privately. `release` does not charge a ledger."""

    @property
    def space(self) -> Space:
        """What it takes."""
        ...

    @property
    def guarantee(self) -> Guarantee:
        """What it promises for one release of one record."""
        ...

    @property
    def step(self) -> float:
        """The lattice that outputs lie on; 0 where there is none."""
        ...

    def error(self, confidence: float = 0.95) -> float:
        """The distance from the record that an output keeps with this probability."""
        ...

    @property
    def mean_error(self) -> float:
        """The expected distance of an output from its record."""
        ...

    def release(self, x: Any, *, entropy: Entropy | None = None) -> Any:
        """One private output per record."""
        ...


def power_of_two_below(value: Fraction) -> Fraction:
    """The largest power of two at most `value`; refused beyond what float64 holds comfortably."""
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    if abs(exponent) > LARGEST_EXPONENT:
        raise InvalidParameterError(
            "epsilon or rho is so large or so small that the noise leaves the range of float64.",
            "Noise between 1e-240 and 1e240.",
            "Rescale the unit of the coordinates.",
        )
    power = Fraction(2) ** exponent
    return power if power <= value else power / 2


def check_confidence(confidence: object) -> None:
    """Refuse a confidence outside (0, 1)."""
    if not (isinstance(confidence, float | int | numbers.Real) and 0 < float(confidence) < 1):
        raise InvalidParameterError(
            "The confidence does not lie strictly between 0 and 1.", "0 < confidence < 1.", "Use 0.95, say."
        )


def check_domain(space: Euclidean | Geographic, step: Fraction, x: ArrayLike) -> Floats:
    """The records as floats, or OutOfSpaceError naming the row; the domain depends on public parameters only."""
    rows = space.check(x)
    if isinstance(space, Geographic):
        return rows
    size = float(step)
    inside = np.abs(rows.reshape(-1, space.dim)) <= LARGEST * size
    if not inside.all():
        raise OutOfSpaceError(
            f"The record at row {int(np.argmin(inside.all(axis=1)))} lies outside the mechanism's public domain.",
            f"Coordinates up to {LARGEST * size:.3g} in size are accepted at this noise.",
            "Use a smaller epsilon or rho, or shift the origin by a public amount.",
        )
    return rows


def release(space: Euclidean | Geographic, law: Law, step: Fraction, x: ArrayLike, source: Entropy | None) -> Floats:
    """One noisy output per record, in the coordinates of the space."""
    if isinstance(space, Geographic):
        return release_positions(space, law, step, x, source)
    return release_vectors(space, law, step, x, source)


def release_vectors(space: Euclidean, law: Law, step: Fraction, x: ArrayLike, source: Entropy | None) -> Floats:
    """Records plus noise, each coordinate rounded to the lattice."""
    origin = randomness.source(source)
    rows = check_domain(space, step, x)
    size = float(step)
    scaled = rows.reshape(-1, space.dim) / size
    base = np.rint(scaled)
    fractions = scaled - base
    flat = _as_items(fractions, law.outputs, space.dim)
    steps = draw(law, flat, origin).T.reshape(-1)[: base.size].reshape(base.shape)
    result = (base.astype(np.int64) + steps).astype(np.float64) * size
    return np.asarray(result.reshape(rows.shape))


def _as_items(fractions: Floats, outputs: int, dim: int) -> Floats:
    """Coordinates grouped into items of `outputs`, padded with zeros, shape (outputs, items)."""
    if outputs == dim:
        return np.ascontiguousarray(fractions.T)
    flat = fractions.reshape(-1)
    flat = np.append(flat, np.zeros(-flat.size % outputs))
    return np.ascontiguousarray(flat.reshape(-1, outputs).T)


def release_positions(space: Geographic, law: Law, step: Fraction, x: ArrayLike, source: Entropy | None) -> Floats:
    """Positions moved on the globe; latitude and longitude rounded to the lattice, longitudes in [-180, 180)."""
    origin = randomness.source(source)
    rows = space.check(x)
    size = float(step)
    scaled = rows.reshape(-1, 2) / size
    base = np.rint(scaled)
    fractions = np.ascontiguousarray((scaled - base).T)
    places = places_of(rows.reshape(-1, 2)[:, 0])
    points = base.astype(np.int64).T + draw(law, fractions, origin, places)
    turn = int(360 / step)
    points[1] = (points[1] + turn // 2) % turn - turn // 2
    result = points.T.astype(np.float64) * size
    return np.asarray(result.reshape(rows.shape))


def globe_step(deviation: Fraction) -> Fraction:
    """The lattice on the globe in degrees: 2^-20 of the deviation given in radians, at most 1 radian."""
    degrees = Fraction("57.29577951308232")
    power_of_two_below(deviation)
    step = power_of_two_below(min(deviation, Fraction(1)) * degrees / 2**20)
    if Fraction(180) / step > 2**52:
        raise InvalidParameterError(
            "The noise is too small for positions in float64.",
            "On the globe the noise must exceed about 7 millimetres (epsilon up to 260 per m).",
            "Use a smaller epsilon or rho.",
        )
    return step
