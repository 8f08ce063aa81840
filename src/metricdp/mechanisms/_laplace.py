"""Laplace noise: density proportional to e^(-epsilon·d), in R^d and on the globe."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from numpy.typing import ArrayLike
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import gammaincinv

from metricdp.entropy import Entropy
from metricdp.errors import IncompatibleError
from metricdp.exact import Number, decimal_text, positive, sqrt_up
from metricdp.guarantee import Guarantee
from metricdp.mechanisms import _mechanism
from metricdp.noise import CubeLaplace, IndependentLaplace, Law, MixtureLaplace, PlanarLaplace, SphereLaplace
from metricdp.spaces import Euclidean, Geographic


@dataclass(frozen=True, slots=True)
class Laplace:
    """Moves each record by noise whose density falls like e^(-epsilon·distance), in all directions alike.

    The released number is exactly the ideal real-valued output, rounded to a public lattice; so it is private as
    returned, bits and all.

    Definition:
        f(z | x) proportional to e^(-epsilon·d(x, z)) with respect to volume (on the globe: to area), d the distance of
        the space; then each coordinate is rounded to the nearest multiple of `step`.

    Guarantee:
        For all x, x' in `space`: loss <= epsilon·d(x, x'), pure. Proof: proofs/laplace.md, proofs/rounding.md.
        Assumes: elementary functions within 8 ulp; uniform, secret random bytes.

    Args:
        space: `Euclidean` (any dimension and norm) or `Geographic`.
        epsilon: loss per unit of the space's distance, greater than 0.

    Raises:
        InvalidParameterError: epsilon is not positive, or so large that the lattice is too fine for the globe.
        IncompatibleError: no Laplace noise is known for the space.

    Notes:
        One coordinate has standard deviation sqrt(2)/epsilon (norm 1), sqrt(d+1)/epsilon (norm 2),
        sqrt((d+1)(d+2)/3)/epsilon (norm inf). The step is the largest power of two at most 2^-20 of it.

    References:
        Andrés, Bordenabe, Chatzikokolakis, Palamidessi: Geo-indistinguishability, CCS 2013.
        Mironov: On significance of the least significant bits for differential privacy, CCS 2012.

    Examples:
        >>> mechanism = Laplace(Geographic("m"), 0.01)
        >>> mechanism.release([[48.8566, 2.3522], [90.0, 0.0]]).shape
        (2, 2)
        >>> round(mechanism.error(0.95))
        474
    """

    space: Euclidean | Geographic
    epsilon: Fraction
    _step: Fraction = field(init=False, repr=False, compare=False)
    _law: Law = field(init=False, repr=False, compare=False)

    def __init__(self, space: Euclidean | Geographic, epsilon: Number) -> None:
        if not isinstance(space, Euclidean | Geographic):
            raise IncompatibleError(
                f"There is no Laplace noise for a {type(space).__name__}.",
                "Euclidean and Geographic spaces are accepted; mechanisms take the space first.",
                "Use Laplace(Geographic(), 0.01), say.",
            )
        exact = positive(epsilon, "epsilon")
        step, law = _globe(space, exact) if isinstance(space, Geographic) else _flat(space, exact)
        for name, value in (("space", space), ("epsilon", exact), ("_step", step), ("_law", law)):
            object.__setattr__(self, name, value)

    @property
    def guarantee(self) -> Guarantee:
        """Pure epsilon per unit of distance, for one release of one record."""
        return Guarantee.pure(
            self.epsilon, self.space, status="proved", assumptions=_mechanism.ASSUMPTIONS, proof="laplace"
        )

    @property
    def step(self) -> float:
        """The lattice of the outputs, a power of two, in the unit of the coordinates (degrees on the globe)."""
        return float(self._step)

    def release(self, x: ArrayLike, *, entropy: Entropy | None = None) -> Any:
        """One noisy output per record.

        Args:
            x: one record or a batch of them (first axis).
            entropy: where bits come from; the operating system's generator by default.

        Returns:
            Array of the shape of x, in the same coordinates.

        Raises:
            OutOfSpaceError: before anything is sampled; names the row, never the value.
        """
        return _mechanism.release(self.space, self._law, self._step, x, entropy)

    def check(self, x: ArrayLike) -> Any:
        """The records as float64, or OutOfSpaceError: what `release` refuses, without releasing."""
        return _mechanism.check_domain(self.space, self._step, x)

    def error(self, confidence: float = 0.95) -> float:
        """The distance from the record that an output keeps with this probability, lattice included."""
        _mechanism.check_confidence(confidence)
        epsilon = float(self.epsilon)
        if isinstance(self.space, Geographic):
            radius = float(self.space.radius)
            return radius * (_sphere_quantile(epsilon * radius, confidence) + math.radians(self.step))
        norm = self.space.norm
        corner = 1.0 if math.isinf(norm) else self.space.dim ** (1 / norm)
        return float(gammaincinv(self.space.dim, confidence)) / epsilon + corner * self.step / 2

    @property
    def mean_error(self) -> float:
        """The expected distance of an output from its record (without the lattice)."""
        epsilon = float(self.epsilon)
        if isinstance(self.space, Geographic):
            radius = float(self.space.radius)
            return radius * _sphere_mean(epsilon * radius)
        return self.space.dim / epsilon

    def __repr__(self) -> str:
        return f"Laplace({self.space!r}, epsilon={decimal_text(self.epsilon)})"


def _flat(space: Euclidean, epsilon: Fraction) -> tuple[Fraction, Law]:
    d = space.dim
    if space.norm == 1 or d == 1:
        variance = Fraction(2)
    elif space.norm == 2:
        variance = Fraction(d + 1)
    else:
        variance = Fraction((d + 1) * (d + 2), 3)
    step = _mechanism.power_of_two_below(sqrt_up(variance) / epsilon / 2**20)
    scale = 1 / (epsilon * step)
    if space.norm == 1 or d == 1:
        return step, IndependentLaplace(scale)
    if space.norm == 2:
        return step, PlanarLaplace(scale) if d == 2 else MixtureLaplace(scale, d)
    return step, CubeLaplace(scale, d)


def _globe(space: Geographic, epsilon: Fraction) -> tuple[Fraction, Law]:
    sharpness = epsilon * space.radius
    step = _mechanism.globe_step(sqrt_up(Fraction(3)) / sharpness)
    return step, SphereLaplace(sharpness, step)


def _sphere_beyond(sharpness: float, t: float) -> float:
    """P(angle > t) where the density is proportional to e^(-sharpness·t)·sin t on [0, pi]."""
    last = math.exp(-sharpness * math.pi)
    tail = math.exp(-sharpness * t) * (sharpness * math.sin(t) + math.cos(t)) + last
    return tail / (1 + last)


def _sphere_quantile(sharpness: float, confidence: float) -> float:
    return float(
        brentq(lambda t: _sphere_beyond(sharpness, t) - (1 - confidence), 0.0, math.pi, xtol=1e-18, rtol=1e-14)
    )


def _sphere_mean(sharpness: float) -> float:
    top = min(math.pi, 60 / sharpness)
    return float(quad(lambda t: _sphere_beyond(sharpness, t), 0.0, top, epsabs=1e-12 * top)[0])
