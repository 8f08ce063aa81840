"""The analytic laws of the noise, derived here and not taken from the package, and the tests against them.

Every check has a false alarm probability of at most ALPHA for exact noise: one-sample Kolmogorov-Smirnov, binomial and
chi-square tests (at least 25 expected per cell). `scaled` also demands that the same sample rejects, at the same ALPHA,
the law whose scale is 15 % larger and the one whose scale is 15 % smaller. Where k checks are combined into one, the
smallest p-value times k is compared with ALPHA.

Outputs lie on a lattice of at most 2^-20 standard deviations (2^-19 where deviations differ by direction), which moves
a distribution function by less than 1e-6: far below what any of these tests resolves.
"""

from __future__ import annotations

import math
import os
import zlib
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np
from scipy import special, stats

from metricdp.testing import SeededEntropy

ALPHA = 1e-6
BUDGET = 600
"""No more checks than this are made in one file, so that it raises a false alarm with probability < BUDGET·ALPHA."""

FACTOR = 1.15
FRESH = os.environ.get("METRICDP_FRESH") == "1"
RADIUS = 6371008.8

made: list[str] = []


def seeded(name: str) -> SeededEntropy:
    """Fixed bytes for a name; with METRICDP_FRESH=1 new ones, whose seed is printed."""
    seed = int.from_bytes(os.urandom(8), "little") if FRESH else zlib.crc32(name.encode())
    if FRESH:
        print(f"{name}: SeededEntropy({seed})")
    return SeededEntropy(seed)


@dataclass(frozen=True)
class Sample:
    """Noise, where it came from, and the seed that gives it again."""

    name: str
    seed: int
    noise: np.ndarray

    def accept(self, what: str, p: float) -> None:
        """The exact law gives a smaller p-value with probability ALPHA."""
        made.append(what)
        assert p >= ALPHA, (
            f"{self.name}: {what}: p = {p:.3g} < {ALPHA:g}. A false alarm has probability {ALPHA:g} here and less than "
            f"{BUDGET * ALPHA:g} over the whole file. Seed {self.seed}."
        )

    def reject(self, what: str, p: float) -> None:
        """The test must see that the law is another one."""
        assert p < ALPHA, (
            f"{self.name}: {what}: p = {p:.3g}, but this law is wrong and must be rejected at {ALPHA:g}: the test has "
            f"lost its power, or the noise has another scale. Seed {self.seed}."
        )

    def scaled(self, what: str, cdf, values: np.ndarray) -> None:
        """`values` follow `cdf` at scale 1, and follow it neither at scale 1.15 nor at 1/1.15.

        `cdf` takes values, and a second argument by which the scale of the law is multiplied. Of many columns (which
        are combined), the first three and the last must each reject the wrong scales.
        """
        columns = values.reshape(len(values), -1)
        self.uniform(what, cdf(columns, 1.0))
        some = columns[:, [*range(min(3, columns.shape[1])), -1]]
        for factor in (FACTOR, 1 / FACTOR):
            self.reject(f"{what}, scale x {factor:.3f}", max(ks(column) for column in cdf(some, factor).T))

    def uniform(self, what: str, values: np.ndarray) -> None:
        """`values` are uniform on [0, 1]; columns are combined."""
        columns = values.reshape(len(values), -1).T
        self.accept(what, ks(*columns) * len(columns))

    def cells(self, what: str, counts: np.ndarray) -> None:
        """All cells are equally likely."""
        counts = np.asarray(counts).ravel()
        assert counts.sum() / counts.size >= 25
        self.accept(what, float(stats.chisquare(counts).pvalue))

    def independent(self, what: str, u: np.ndarray, v: np.ndarray, cells: int = 8) -> None:
        """Two uniform numbers are independent: all cells of a grid are equally likely."""
        edges = np.linspace(0, 1, cells + 1)
        self.cells(what, np.histogram2d(u, v, bins=[edges, edges])[0])

    def probability(self, what: str, hits: np.ndarray, p: float) -> None:
        """An event has this probability (exact binomial test)."""
        self.accept(what, float(stats.binomtest(int(hits.sum()), hits.size, p).pvalue))


def ks(*samples: np.ndarray) -> float:
    """Smallest p-value of the Kolmogorov-Smirnov tests of samples of one size for the uniform law on [0, 1].

    Massart's inequality P(D >= d) <= 2·e^(-2nd²) holds for every n, and is all but an equality for small p-values.
    """
    n = samples[0].size
    middles = _middles(n)
    farthest = max(np.abs(np.sort(sample) - middles).max() for sample in samples)
    return min(1.0, 2 * math.exp(-2 * n * (farthest + 0.5 / n) ** 2))


@dataclass(frozen=True)
class LaplaceLaw:
    """Density proportional to e^(-|z|) in `dim` dimensions, |.| the norm: what is known about it in closed form."""

    dim: int
    norm: float

    @cached_property
    def kind(self) -> float:
        """In one dimension all norms are the same."""
        return 1 if self.dim == 1 else self.norm

    def radius(self, r: np.ndarray, factor: float = 1.0) -> np.ndarray:
        """P(|z| <= r). The sphere of radius r has area proportional to r^(d-1), so |z| is Gamma(d)."""
        return special.gammainc(self.dim, r / factor)

    def coordinate(self, x: np.ndarray, factor: float = 1.0) -> np.ndarray:
        """P(|z_1| <= x): 1 - e^-x for norm 1, mixtures over the radius else."""
        d, x = self.dim, x / factor
        if self.kind == 1:
            return -np.expm1(-x)
        if self.kind == 2:
            return np.interp(x, *_round_marginal(d))
        rest = x / (d - 1) * special.gammaincc(d - 1, x)  # uniform on [-r, r] where another coordinate is the largest
        return special.gammainc(d, x) + (1 - 1 / d) * rest

    def direction(self, z: np.ndarray) -> np.ndarray:
        """A function of each coordinate of z/|z| that is uniform on [0, 1], for norms 1 and 2 and d >= 2.

        Norm 1: the shares |z_i|/|z| of exponentials are Beta(1, d-1). Norm 2: squares of the coordinates of a uniform
        direction are Beta(1/2, (d-1)/2).
        """
        size = np.linalg.norm(z, ord=self.norm, axis=1, keepdims=True)
        share = np.abs(z) / size
        if self.norm == 1:
            return special.betainc(1, self.dim - 1, share)
        return special.betainc(0.5, (self.dim - 1) / 2, np.minimum(share * share, 1.0))

    def both_below(self, a: float) -> float:
        """P(|z_1| <= a and |z_2| <= a): how the sizes of two coordinates hang together."""
        d = self.dim
        if self.norm == 1:
            return (-math.expm1(-a)) ** 2
        radius = special.gammaincinv(d, _middles(2000))
        if self.norm == 2:
            share = 1.0 if d == 2 else -np.expm1(np.log(_middles(500)) * 2 / (d - 2))  # Beta(1, (d-2)/2)
            plane = np.outer(radius, np.sqrt(share))
            cut = np.arccos(np.clip(a / plane, math.sqrt(0.5), 1.0))
            return float(np.mean(1 - cut * 4 / math.pi))
        inside = np.minimum(a / radius, 1.0)
        one_is_largest = (radius <= a) * inside
        return float(np.mean(2 / d * one_is_largest + (1 - 2 / d) * inside**2))


def _middles(count: int) -> np.ndarray:
    return (np.arange(count) + 0.5) / count


@lru_cache
def _round_marginal(dim: int) -> tuple[np.ndarray, np.ndarray]:
    """A table of P(|z_1| <= x) for norm 2: |z_1|² = r²·b with r ~ Gamma(d) and b ~ Beta(1/2, (d-1)/2)."""
    radius = special.gammaincinv(dim, _middles(1000))
    x = np.concatenate([np.linspace(0, 4, 400, endpoint=False), np.linspace(4, 12, 200)]) * math.sqrt((dim + 1) / 2)
    share = np.minimum(x[:, None] / radius, 1.0) ** 2
    return x, special.betainc(0.5, (dim - 1) / 2, share).mean(axis=1)


@dataclass(frozen=True)
class GaussianLaw(LaplaceLaw):
    """Independent standard normals; directions are those of norm 2."""

    norm: float = 2

    def radius(self, r: np.ndarray, factor: float = 1.0) -> np.ndarray:
        """|z|² is chi-square."""
        return special.gammainc(self.dim / 2, (r / factor) ** 2 / 2)

    def coordinate(self, x: np.ndarray, factor: float = 1.0) -> np.ndarray:
        """P(|z_1| <= x) = erf(x/sqrt(2))."""
        return special.erf(x / factor / math.sqrt(2))

    def both_below(self, a: float) -> float:
        """Coordinates are independent."""
        return float(special.erf(a / math.sqrt(2))) ** 2


@dataclass(frozen=True)
class GlobeLaplaceLaw:
    """Angular distance with density proportional to e^(-k·t)·sin t on [0, pi]; k = epsilon·R."""

    sharpness: float

    def radius(self, t: np.ndarray, factor: float = 1.0) -> np.ndarray:
        """Integral of e^(-ks)·sin s from t to pi: (e^(-kt)·(k·sin t + cos t) + e^(-k·pi))/(1 + k²)."""
        k = self.sharpness / factor
        end = math.exp(-k * math.pi)
        return 1 - (np.exp(-k * t) * (k * np.sin(t) + np.cos(t)) + end) / (1 + end)


@dataclass(frozen=True)
class GlobeGaussianLaw:
    """The angle between a unit vector and itself plus N(0, I/k²) in three dimensions; k = R/sigma."""

    ratio: float

    def radius(self, t: np.ndarray, factor: float = 1.0) -> np.ndarray:
        """P(angle > t) = Phi(-k) + cos t·e^(-k²·sin²t/2)·Phi(k·cos t)."""
        k = self.ratio / factor
        inside = np.cos(t) * np.exp(-((k * np.sin(t)) ** 2) / 2) * special.ndtr(k * np.cos(t))
        return 1 - special.ndtr(-k) - inside


@dataclass(frozen=True)
class Displacement:
    """Where outputs lie, seen from one record: by unit vectors in three dimensions, so that poles are ordinary places.

    Vectors are good to 3e-16 radians, 2 nanometres on the ground.
    """

    record: tuple[float, float]
    outputs: np.ndarray
    parts: tuple[np.ndarray, np.ndarray, np.ndarray] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        turn = np.radians(self.outputs[:, 1] - self.record[1])
        sin_from, cos_from = _sin_cos(np.array(self.record[0]))
        sin_to, cos_to = _sin_cos(self.outputs[:, 0])
        ahead = cos_to * np.cos(turn)
        up = cos_from * ahead + sin_from * sin_to
        north = cos_from * sin_to - sin_from * ahead
        object.__setattr__(self, "parts", (up, north, cos_to * np.sin(turn)))

    @cached_property
    def angle(self) -> np.ndarray:
        """Angular distance from the record."""
        up, north, east = self.parts
        return np.arctan2(np.hypot(north, east), up)

    @cached_property
    def bearing(self) -> np.ndarray:
        """Bearing of the great circle at the record, in turns, 0 = north."""
        _, north, east = self.parts
        return np.arctan2(east, north) / (2 * math.pi) % 1.0


def _sin_cos(latitude: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sine and cosine of degrees, the cosine from the distance to the pole."""
    return np.sin(np.radians(latitude)), np.sin(np.radians(90.0 - np.abs(latitude)))
