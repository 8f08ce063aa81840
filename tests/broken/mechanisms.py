"""Mechanisms that promise more than they keep: what the attacks and the checks of this folder must catch.

All are called like those of the package: `release(x, entropy=...)` with one record a row.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from metricdp import Euclidean, Laplace


def words(entropy: Any, *shape: int) -> np.ndarray:
    """Uniform 64-bit numbers."""
    return np.frombuffer(entropy.read(8 * math.prod(shape)), dtype="<u8").reshape(shape)


def uniform(entropy: Any, *shape: int) -> np.ndarray:
    """Uniform floats k·2^-53 in (0, 1], as 1 - numpy's random()."""
    return ((words(entropy, *shape) >> np.uint64(11)) + np.uint64(1)).astype(np.float64) * 2.0**-53


@dataclass(frozen=True)
class NaiveLaplace:
    """x + Laplace noise by inverse transform in floats: the textbook code that Mironov broke in 2012."""

    epsilon: float

    def noise(self, u: np.ndarray) -> np.ndarray:
        """The size of the noise for a uniform number."""
        return -np.log(u) / self.epsilon

    def release(self, x: np.ndarray, *, entropy: Any) -> np.ndarray:
        sign = np.where(uniform(entropy, *x.shape) > 0.5, 1.0, -1.0)
        return x + sign * self.noise(uniform(entropy, *x.shape))


@dataclass(frozen=True)
class NaivePlanar:
    """Planar Laplace noise in floats, as Andrés et al. 2013 wrote it down: angle, and radius by Lambert's W."""

    epsilon: float

    def radius(self, u: np.ndarray) -> np.ndarray:
        """The radius for a uniform number."""
        return -(special.lambertw((u - 1.0) / math.e, -1).real + 1.0) / self.epsilon

    def release(self, x: np.ndarray, *, entropy: Any) -> np.ndarray:
        angle = 2 * math.pi * uniform(entropy, len(x))
        radius = self.radius(uniform(entropy, len(x)) - 2.0**-53)
        return x + np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)


@dataclass(frozen=True)
class HalfTheNoise:
    """Promises epsilon, and adds the noise of 2·epsilon."""

    space: Any
    epsilon: float

    def release(self, x: np.ndarray, *, entropy: Any) -> np.ndarray:
        return Laplace(self.space, 2 * self.epsilon).release(x, entropy=entropy)


@dataclass(frozen=True)
class WrongNorm:
    """Promises epsilon in the norm of `space`, and adds noise for another norm."""

    space: Euclidean
    epsilon: float
    sampled: float

    def release(self, x: np.ndarray, *, entropy: Any) -> np.ndarray:
        return Laplace(Euclidean(self.space.dim, self.sampled), self.epsilon).release(x, entropy=entropy)


@dataclass(frozen=True)
class ShortUniform:
    """Laplace noise on a lattice, correctly rounded, but from one uniform number cut to 64 bits (the first: the sign).

    No output is farther than ln(2^64)/epsilon from its record, and the last of them are far apart.
    """

    epsilon: float
    step: float

    def release(self, x: np.ndarray, *, entropy: Any) -> np.ndarray:
        drawn = words(entropy, *x.shape)
        low = drawn & np.uint64(2**63 - 1)
        size = -np.log((low.astype(np.float64) + 0.5) * 2.0**-63) / self.epsilon
        return np.rint((x + np.where(drawn > low, size, -size)) / self.step) * self.step


@dataclass(frozen=True)
class RoundedNoise:
    """Rounds the noise to the lattice, and not the record: outputs keep the record's last digits."""

    epsilon: float
    step: float

    def release(self, x: np.ndarray, *, entropy: Any) -> np.ndarray:
        noise = NaiveLaplace(self.epsilon).release(np.zeros_like(x), entropy=entropy)
        return x + np.rint(noise / self.step) * self.step


@dataclass(frozen=True)
class ClampedNoise:
    """Cuts the noise at five times its scale: outputs beyond exclude a record."""

    epsilon: float

    def release(self, x: np.ndarray, *, entropy: Any) -> np.ndarray:
        noise = Laplace(Euclidean(x.shape[1], 1), self.epsilon).release(np.zeros_like(x), entropy=entropy)
        return x + np.clip(noise, -5 / self.epsilon, 5 / self.epsilon)


@dataclass(frozen=True)
class ExponentialRadius:
    """In the plane, a radius with the law of one dimension: the density gains a pole at the record."""

    epsilon: float

    def release(self, x: np.ndarray, *, entropy: Any) -> np.ndarray:
        radius = NaiveLaplace(self.epsilon).noise(uniform(entropy, len(x)))
        angle = 2 * math.pi * uniform(entropy, len(x))
        return x + np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)


@dataclass(frozen=True)
class SharedNoise:
    """Adds one noise vector to all rows of a batch: the differences between records stay."""

    mechanism: Any

    def release(self, x: np.ndarray, *, entropy: Any) -> np.ndarray:
        return x + self.mechanism.release(np.zeros((1, x.shape[1])), entropy=entropy)


@dataclass(frozen=True)
class FlatGlobe:
    """Planar noise turned into degrees as at the equator: too little noise to the east everywhere else."""

    epsilon: float

    def release(self, x: np.ndarray, *, entropy: Any) -> np.ndarray:
        noise = NaivePlanar(self.epsilon).release(np.zeros_like(x), entropy=entropy)
        return x + np.degrees(noise / 6371008.8)
