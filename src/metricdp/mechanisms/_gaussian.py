"""Gaussian noise for concentrated guarantees, in R^d and on the globe."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from numpy.typing import ArrayLike
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import gammaincinv, ndtr

from metricdp.entropy import Entropy
from metricdp.errors import IncompatibleError
from metricdp.exact import Number, decimal_text, positive, sqrt_up
from metricdp.guarantee import Guarantee
from metricdp.mechanisms import _mechanism
from metricdp.noise import IndependentGaussian, Law, SphereGaussian
from metricdp.spaces import Euclidean, Geographic


@dataclass(frozen=True, slots=True)
class Gaussian:
    """Adds independent normal noise of variance 1/(2·rho) to every coordinate.

    On the globe the noise is added in three dimensions and the point is projected back to the sphere; a chord is never
    longer than its arc, so the promise holds for great-circle distances.

    Definition:
        z = x + N(0, I/(2·rho)), then each coordinate is rounded to the nearest multiple of `step`.

    Guarantee:
        For all x, x' in `space` and alpha > 1: Rényi divergence <= alpha·rho·d(x, x')² (rho-CGP).
        Proof: proofs/gaussian.md, proofs/rounding.md.
        Assumes: elementary functions within 8 ulp; uniform, secret random bytes.

    Args:
        space: `Euclidean` with norm 2, or `Geographic`.
        rho: loss per squared unit of the space's distance, greater than 0.

    Raises:
        InvalidParameterError: rho is not positive, or so large that the lattice is too fine for the globe.
        IncompatibleError: the space has another norm.

    References:
        Liang, Yi: Concentrated Geo-Privacy, CCS 2023, Theorem 3.1.

    Examples:
        >>> Gaussian(Euclidean(3), 0.5).release([0.0, 0.0, 0.0]).shape
        (3,)
        >>> Gaussian(Euclidean(1, unit="km"), 0.02).guarantee.in_unit("m").rho
        2e-08
    """

    space: Euclidean | Geographic
    rho: Fraction
    _step: Fraction = field(init=False, repr=False, compare=False)
    _law: Law = field(init=False, repr=False, compare=False)

    def __init__(self, space: Euclidean | Geographic, rho: Number) -> None:
        if not isinstance(space, Geographic) and not (
            isinstance(space, Euclidean) and (space.norm == 2 or space.dim == 1)
        ):
            raise IncompatibleError(
                f"There is no Gaussian noise for a {type(space).__name__}"
                + (" with that norm." if isinstance(space, Euclidean) else "."),
                "Euclidean(dim, norm=2) and Geographic() are accepted.",
                "Use norm 2, or Laplace, which takes any norm.",
            )
        exact = positive(rho, "rho")
        variance = 1 / (2 * exact)
        step: Fraction
        law: Law
        if isinstance(space, Geographic):
            variance /= space.radius**2
            step = _mechanism.globe_step(sqrt_up(variance))
            law = SphereGaussian(variance, step)
        else:
            step = _mechanism.power_of_two_below(sqrt_up(variance) / 2**20)
            law = IndependentGaussian(variance / step**2)
        for name, value in (("space", space), ("rho", exact), ("_step", step), ("_law", law)):
            object.__setattr__(self, name, value)

    @property
    def guarantee(self) -> Guarantee:
        """Concentrated rho per squared unit of distance, for one release of one record."""
        about: dict[str, Any] = {"status": "proved", "assumptions": _mechanism.ASSUMPTIONS, "proof": "gaussian"}
        return Guarantee.concentrated(self.rho, self.space, gaussian=True, **about)

    @property
    def step(self) -> float:
        """The lattice of the outputs, a power of two, in the unit of the coordinates (degrees on the globe)."""
        return float(self._step)

    def release(self, x: ArrayLike, *, entropy: Entropy | None = None) -> Any:
        """One noisy output per record; see `Laplace.release`."""
        return _mechanism.release(self.space, self._law, self._step, x, entropy)

    def check(self, x: ArrayLike) -> Any:
        """The records as float64, or OutOfSpaceError: what `release` refuses, without releasing."""
        return _mechanism.check_domain(self.space, self._step, x)

    def error(self, confidence: float = 0.95) -> float:
        """The distance from the record that an output keeps with this probability, lattice included."""
        _mechanism.check_confidence(confidence)
        deviation = float(sqrt_up(1 / (2 * self.rho)))
        if isinstance(self.space, Geographic):
            radius = float(self.space.radius)
            return radius * (_projected_quantile(radius / deviation, confidence) + math.radians(self.step))
        quantile = math.sqrt(2 * float(gammaincinv(self.space.dim / 2, confidence)))
        return deviation * quantile + math.sqrt(self.space.dim) * self.step / 2

    @property
    def mean_error(self) -> float:
        """The expected distance of an output from its record (without the lattice)."""
        deviation = float(sqrt_up(1 / (2 * self.rho)))
        if isinstance(self.space, Geographic):
            radius = float(self.space.radius)
            return radius * _projected_mean(radius / deviation)
        half = self.space.dim / 2
        return deviation * math.sqrt(2) * math.exp(math.lgamma(half + 0.5) - math.lgamma(half))

    def __repr__(self) -> str:
        return f"Gaussian({self.space!r}, rho={decimal_text(self.rho)})"


def _projected_beyond(ratio: float, t: float) -> float:
    """P(angle > t) between a unit vector and itself plus normal noise of deviation 1/ratio in 3 dimensions.

    Phi(-ratio) + cos(t)·e^(-ratio²·sin²(t)/2)·Phi(ratio·cos(t)); proofs/gaussian.md.
    """
    inside = math.cos(t) * math.exp(-((ratio * math.sin(t)) ** 2) / 2) * float(ndtr(ratio * math.cos(t)))
    return float(ndtr(-ratio)) + inside


def _projected_quantile(ratio: float, confidence: float) -> float:
    return float(brentq(lambda t: _projected_beyond(ratio, t) - (1 - confidence), 0.0, math.pi, xtol=1e-18, rtol=1e-14))


def _projected_mean(ratio: float) -> float:
    top = min(math.pi, 12 / ratio)
    return float(quad(lambda t: _projected_beyond(ratio, t), 0.0, top, epsabs=1e-12 * top)[0])
