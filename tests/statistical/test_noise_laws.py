"""Whether the noise follows the analytic laws, in R^d and on the globe.

Every check has error rate alpha = 1e-6 (`laws.ALPHA`): exact noise fails it with at most this probability. The file
makes fewer than 600 of them (`laws.BUDGET`, counted at the end), so a run with fresh randomness raises a false alarm
with probability below 6e-4. Checks of a scale also demand that the same sample rejects the laws whose scale is 15 %
larger and smaller; sample sizes are such that this fails for exact noise with probability below 1e-8 each.

Seeds are fixed, so a run is deterministic; METRICDP_FRESH=1 takes new seeds and prints them (`pytest -s`).
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import pytest
from scipy import stats

from metricdp import Euclidean, Gaussian, Geographic, Laplace

from . import laws
from .laws import RADIUS, Displacement, GaussianLaw, GlobeGaussianLaw, GlobeLaplaceLaw, LaplaceLaw, Sample, seeded

EPSILON = 0.7
RHO = 0.3
SIGMA = 1 / math.sqrt(2 * RHO)
FAMILIES = [(Laplace, dim, norm) for dim in (1, 2, 3, 10, 300) for norm in (1, 2, math.inf)]
FAMILIES += [(Gaussian, dim, 2) for dim in (1, 2, 10, 300)]
PLANES = [family for family in FAMILIES if family[1] >= 2]

METRES = 0.01
"""Epsilon of the ordinary noise on the globe: 127 m to the north and to the east on average."""

PLACES = [(latitude, 2.35) for latitude in (0.0, 45.0, 89.9, 90 - 1e-7, 90.0, -33.0, -90.0)]
PLACES += [(0.0, 180.0), (60.0, -180.0), (-17.0, 179.9999), (89.9999, -179.9999)]
WIDE = [(45.0, 180.0), (90.0, 0.0), (-89.0, 0.0)]
"""Records of the checks with noise as large as the globe."""

AROUND = [(0.0, 0.0), (48.8566, 2.3522), (-45.0, -70.0), (17.5, 179.9995), (-16.5, -179.9995), (83.0, 30.0)]


@lru_cache(maxsize=4)
def euclidean(kind: type, dim: int, norm: float):
    """Noise in units of its scale, added to records of all kinds, and its law."""
    n = {1: 160_000, 2: 160_000, 300: 20_000}.get(dim, 40_000)
    source = seeded(f"{kind.__name__} {dim} {norm}")
    mechanism = kind(Euclidean(dim, norm), EPSILON if kind is Laplace else RHO)
    records = np.random.default_rng(dim).normal(scale=3.0, size=(n, dim))
    noise = mechanism.release(records, entropy=source) - records
    scaled = noise * EPSILON if kind is Laplace else noise / SIGMA
    law = LaplaceLaw(dim, norm) if kind is Laplace else GaussianLaw(dim)
    return Sample(repr(mechanism), source.seed, scaled), law


@lru_cache(maxsize=4)
def globe(mechanism, record, n: int = 40_000):
    """Outputs for one record, seen from it."""
    source = seeded(f"{mechanism!r} {record}")
    outputs = mechanism.release(np.tile(record, (n, 1)), entropy=source)
    assert (np.abs(outputs[:, 0]) <= 90).all()
    assert ((outputs[:, 1] >= -180) & (outputs[:, 1] < 180)).all()
    return Sample(f"{mechanism!r} at {record}", source.seed, outputs), Displacement(record, outputs)


def norm_of(z, law):
    """|z| in the norm of the law."""
    return np.linalg.norm(z, ord=law.norm, axis=1)


@pytest.mark.parametrize(("kind", "dim", "norm"), FAMILIES)
def test_norm_of_the_noise(kind, dim, norm):
    sample, law = euclidean(kind, dim, norm)
    radius = norm_of(sample.noise, law)
    sample.scaled("norm of the noise", law.radius, radius)
    u = law.radius(radius)
    sample.independent("norms of one record and the next", u[:-1:2], u[1::2])


@pytest.mark.parametrize(("kind", "dim", "norm"), FAMILIES)
def test_every_coordinate(kind, dim, norm):
    sample, law = euclidean(kind, dim, norm)
    sample.scaled("size of each coordinate", law.coordinate, np.abs(sample.noise))
    positive = np.count_nonzero(sample.noise > 0, axis=0)
    n = len(sample.noise)
    signs = min(stats.binomtest(int(count), n).pvalue for count in positive) * dim
    sample.accept("sign of each coordinate", signs)


@pytest.mark.parametrize(("kind", "dim", "norm"), PLANES)
def test_direction(kind, dim, norm):
    sample, law = euclidean(kind, dim, norm)
    z = sample.noise
    radius = norm_of(z, law)
    if norm != math.inf:
        direction = law.direction(z)
        sample.uniform("direction", direction)
        sample.independent("norm and direction", law.radius(radius), direction[:, 0])
        return
    largest = np.argmax(np.abs(z), axis=1)
    sample.cells("index of the largest coordinate", np.bincount(largest, minlength=dim))
    others = np.arange(dim) != largest[:, None]
    sides = ((z / radius[:, None] + 1) / 2)[others].reshape(len(z), dim - 1)
    sample.uniform("coordinates beside the largest", sides)
    sample.independent("norm and direction", law.radius(radius), sides[:, 0])


@pytest.mark.parametrize(("kind", "dim", "norm"), PLANES)
def test_pairs_of_coordinates(kind, dim, norm):
    sample, law = euclidean(kind, dim, norm)
    for i, j in sorted({(0, 1), (0, dim - 1), (0, (dim + 1) // 2), (dim // 2 - 1, dim - 1)}):
        if i >= j:
            continue
        first, second = sample.noise[:, i], sample.noise[:, j]
        name = f"coordinates {i} and {j}"
        sample.cells(f"signs of {name}", np.bincount(2 * (first > 0) + (second > 0), minlength=4))
        angle = np.arctan2(second, first) / (2 * math.pi) % 1.0
        if norm == 2:
            sample.uniform(f"angle of {name}", angle)
        elif norm == 1:
            sample.uniform(f"share of {name}", np.abs(first) / (np.abs(first) + np.abs(second)))
        cut = float(np.interp(0.5, law.coordinate(np.linspace(0, 500, 50001)), np.linspace(0, 500, 50001)))
        both = (np.abs(first) <= cut) & (np.abs(second) <= cut)
        sample.probability(f"both {name} below their median", both, law.both_below(cut))
        if norm == 1 or kind is Gaussian:
            sample.independent(name, law.coordinate(np.abs(first)), law.coordinate(np.abs(second)))


@pytest.mark.parametrize(("kind", "dim", "norm"), [family for family in PLANES if family[2] == 2])
def test_all_directions_are_alike(kind, dim, norm):
    sample, law = euclidean(kind, dim, norm)
    tilted = np.random.default_rng(1).normal(size=dim)
    for name, vector in (("diagonal", np.ones(dim)), ("tilted", tilted)):
        along = sample.noise @ (vector / np.linalg.norm(vector))
        sample.scaled(f"component along the {name} vector", law.coordinate, np.abs(along))
        sample.probability(f"sign along the {name} vector", along > 0, 0.5)


def check_globe(sample, seen, law):
    """Distance, bearing, their independence, and that records do not share noise."""
    sample.scaled("angular distance", law.radius, seen.angle)
    sample.uniform("bearing", seen.bearing)
    u = law.radius(seen.angle)
    sample.independent("distance and bearing", u, seen.bearing)
    sample.independent("distances of one record and the next", u[:-1:2], u[1::2])


@pytest.mark.parametrize("record", PLACES)
def test_laplace_on_the_globe(record):
    check_globe(*globe(Laplace(Geographic("m"), METRES), record), GlobeLaplaceLaw(METRES * RADIUS))


@pytest.mark.parametrize("record", PLACES)
def test_gaussian_on_the_globe(record):
    mechanism = Gaussian(Geographic("km"), 0.02)
    check_globe(*globe(mechanism, record), GlobeGaussianLaw(RADIUS / 1000 * math.sqrt(2 * 0.02)))


@pytest.mark.parametrize("sharpness", [0.5, 0.999, 1.001, 3.0])
@pytest.mark.parametrize("record", WIDE)
def test_laplace_as_wide_as_the_globe(record, sharpness):
    mechanism = Laplace(Geographic("m"), sharpness / RADIUS)
    check_globe(*globe(mechanism, record, 250_000), GlobeLaplaceLaw(sharpness))


@pytest.mark.parametrize("ratio", [0.5, 2.0])
@pytest.mark.parametrize("record", WIDE)
def test_gaussian_as_wide_as_the_globe(record, ratio):
    mechanism = Gaussian(Geographic("m"), (ratio / RADIUS) ** 2 / 2)
    check_globe(*globe(mechanism, record, 250_000), GlobeGaussianLaw(ratio))


@pytest.mark.parametrize("record", [(90.0, 10.0), (-90.0, -180.0)])
@pytest.mark.parametrize("mechanism", [Laplace(Geographic(), METRES), Gaussian(Geographic(), 1e-4)])
def test_longitudes_around_a_pole_are_uniform(mechanism, record):
    sample, _ = globe(mechanism, record)
    sample.uniform("longitude", sample.noise[:, 1] / 360 + 0.5)


@pytest.mark.parametrize("record", AROUND)
def test_mean_displacement_to_the_north_and_to_the_east(record):
    """E|north| = E|east| = 2/epsilon · 2/pi; 1.5 % are 6.5 deviations with 160,000 records: alpha below 1e-9."""
    _, seen = globe(Laplace(Geographic("m"), METRES), record, 160_000)
    turn = 2 * math.pi * seen.bearing
    expected = 4 / (math.pi * METRES)
    for name, component in (("north", np.cos(turn)), ("east", np.sin(turn))):
        mean = float(np.mean(np.abs(RADIUS * seen.angle * component)))
        assert abs(mean / expected - 1) < 0.015, f"mean |{name}| at {record} is {mean:.2f} m, not {expected:.2f} m"


def check_error(sample, mechanism, distances):
    """`error(c)` lies within the binomial interval of the empirical c-quantile; 15 % beside it, it does not."""
    for confidence in (0.5, 0.9, 0.99):
        bound = mechanism.error(confidence)
        sample.probability(f"error({confidence})", distances <= bound, confidence)
        for factor in (laws.FACTOR, 1 / laws.FACTOR):
            hits = int(np.count_nonzero(distances <= bound * factor))
            wrong = stats.binomtest(hits, len(distances), confidence).pvalue
            sample.reject(f"error({confidence}) x {factor:.3f}", wrong)


@pytest.mark.parametrize(("kind", "dim", "norm"), FAMILIES)
def test_error_is_the_quantile(kind, dim, norm):
    sample, law = euclidean(kind, dim, norm)
    parameter, scale = (EPSILON, 1 / EPSILON) if kind is Laplace else (RHO, SIGMA)
    check_error(sample, kind(Euclidean(dim, norm), parameter), norm_of(sample.noise, law) * scale)


@pytest.mark.parametrize(
    "mechanism",
    [
        Laplace(Geographic("m"), METRES),
        Laplace(Geographic("m"), 0.5 / RADIUS),
        Laplace(Geographic("m"), 3 / RADIUS),
        Gaussian(Geographic("m"), 2e-8),
        Gaussian(Geographic("m"), (2 / RADIUS) ** 2 / 2),
    ],
    ids=repr,
)
def test_error_is_the_quantile_on_the_globe(mechanism):
    sample, seen = globe(mechanism, (52.0, 13.0), 160_000)
    check_error(sample, mechanism, seen.angle * RADIUS)


def test_the_error_rate_of_this_file():
    assert len(laws.made) < laws.BUDGET, f"{len(laws.made)} checks were made: raise BUDGET and the rates stated"
