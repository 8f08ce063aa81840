"""Known attacks win against naive and broken mechanisms, and not against those of the package.

"Wins": the guesses of the attack are right more often than the promise allows, at alpha = 1e-6 (`attacks.ALPHA`). The
file makes fewer than 60 checks that something private is not caught, each with a false alarm probability of at most
1e-6: below 6e-5 in total. Seeds are fixed; METRICDP_FRESH=1 takes new ones and prints them.

- Mironov 2012: an output that no uniform float leads to excludes a record. Wins for all pairs.
- Haney et al. 2022: an output finer than the floats near the noise it would take excludes a record. Wins for pairs of
  unlike exponents whatever the sampler; 1 and 1 + 2^-20 have the same floats around them, so nobody commits there.
- Learned: granularities that were twice as frequent under one record in a training sample.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.statistical.laws import Displacement, GlobeLaplaceLaw, LaplaceLaw, ks, seeded

from metricdp import Euclidean, Geographic, Laplace
from metricdp.testing import ScriptedEntropy

from . import attacks
from .attacks import ALPHA, either, float_sum, in_naive_support, in_planar_support, learned, off_by_steps, within
from .mechanisms import (
    ClampedNoise,
    ExponentialRadius,
    FlatGlobe,
    HalfTheNoise,
    NaiveLaplace,
    NaivePlanar,
    RoundedNoise,
    SharedNoise,
    ShortUniform,
    WrongNorm,
)

RADIUS = 6371008.8
DEGREE = math.radians(1) * RADIUS
PAIRS = [(0.0, 1.0, 0.01), (0.0, 2.0**-10, 1.0), (1.0, 1 + 2.0**-20, 0.1)]
"""Two records (their coordinates in every dimension), and epsilon: the promised loss is at most 0.015."""

MANY = 400_000
FEW = 4_000


def attack(name, mechanism, records, epsilon):
    """One attack on one mechanism that promises epsilon in norm 2, per coordinate unit."""
    pair = np.array(records)
    dim = pair.shape[1]
    loss = epsilon * float(np.linalg.norm(pair[1] - pair[0]))
    name_of = f"{name} attack on {mechanism!r}, {dim} coordinates {records[0][0]} and {records[1][0]}"
    source = seeded(name_of)
    count = MANY
    if name == "Mironov":
        count = FEW
        method = either(in_naive_support(epsilon) if dim == 1 else in_planar_support(epsilon))
    elif name == "Haney":
        method = either(float_sum)
    else:
        count = MANY // 4
        method = learned(mechanism, pair, count, source)
    return attacks.run(f"{name_of} (seed {source.seed})", method, mechanism, pair, count, loss, source)


def both(records, dim):
    """The pair of records in one or two dimensions."""
    return [[value] * dim for value in records]


@pytest.mark.parametrize(("first", "second", "epsilon"), PAIRS)
@pytest.mark.parametrize("kind", [NaiveLaplace, NaivePlanar])
def test_attacks_win_against_floats(kind, first, second, epsilon):
    records = both((first, second), 1 if kind is NaiveLaplace else 2)
    mironov = attack("Mironov", kind(epsilon), records, epsilon)
    assert mironov.wins, mironov
    assert mironov.committed > FEW // 4, mironov
    haney = attack("Haney", kind(epsilon), records, epsilon)
    if first == 0:
        assert haney.wins, haney
    else:
        assert haney.committed == 0, haney


def test_the_learned_attack_wins_against_floats():
    outcome = attack("learned", NaiveLaplace(0.01), [[0.0], [1.0]], 0.01)
    assert outcome.wins, outcome


@pytest.mark.parametrize(("first", "second", "epsilon"), PAIRS)
@pytest.mark.parametrize("kind", [NaiveLaplace, NaivePlanar])
def test_the_true_record_is_always_possible(kind, first, second, epsilon):
    dim = 1 if kind is NaiveLaplace else 2
    support = (in_naive_support if dim == 1 else in_planar_support)(epsilon)
    for value in (first, second):
        record = np.full(dim, value)
        outputs = kind(epsilon).release(np.tile(record, (FEW, 1)), entropy=seeded(f"truth {kind} {value}"))
        assert support(outputs, record).mean() > 0.999
        assert float_sum(outputs, record).all()


@pytest.mark.parametrize(("first", "second", "epsilon"), PAIRS)
@pytest.mark.parametrize("name", ["Mironov", "Haney", "learned"])
@pytest.mark.parametrize("dim", [1, 2])
def test_attacks_fail_against_the_package(name, dim, first, second, epsilon):
    outcome = attack(name, Laplace(Euclidean(dim), epsilon), both((first, second), dim), epsilon)
    assert not outcome.wins, outcome


@pytest.mark.parametrize(("first", "second", "epsilon"), PAIRS)
@pytest.mark.parametrize("name", ["Mironov", "Haney", "learned"])
def test_attacks_fail_against_the_package_on_the_globe(name, first, second, epsilon):
    """The same numbers in degrees; near the equator the plane of degrees stretches no distance."""
    outcome = attack(name, Laplace(Geographic("m"), epsilon / DEGREE), both((first, second), 2), epsilon)
    assert not outcome.wins, outcome


def law_rejects(mechanism, law, records):
    """Whether the test of the law of the norm, as in tests/statistical, rejects the noise."""
    noise = mechanism.release(records, entropy=seeded(repr(mechanism))) - records
    return ks(law.radius(np.linalg.norm(noise, ord=law.norm, axis=1))) < ALPHA


@pytest.mark.parametrize(
    ("broken", "space"),
    [
        (HalfTheNoise(Euclidean(1), 1.0), Euclidean(1)),
        (HalfTheNoise(Euclidean(3), 1.0), Euclidean(3)),
        (WrongNorm(Euclidean(3, 1), 1.0, sampled=2), Euclidean(3, 1)),
        (WrongNorm(Euclidean(3, 2), 1.0, sampled=1), Euclidean(3, 2)),
        (WrongNorm(Euclidean(3, math.inf), 1.0, sampled=2), Euclidean(3, math.inf)),
        (ExponentialRadius(1.0), Euclidean(2)),
    ],
    ids=repr,
)
def test_the_test_of_the_law_catches(broken, space):
    law = LaplaceLaw(space.dim, space.norm)
    records = np.random.default_rng(2).normal(size=(40_000, space.dim))
    assert law_rejects(broken, law, records)
    assert not law_rejects(Laplace(space, 1.0), law, records)


@pytest.mark.parametrize("latitude", [0.0, 30.0, 60.0])
def test_the_test_of_the_law_catches_degrees_of_the_equator(latitude):
    record = (latitude, 10.0)
    for mechanism in (FlatGlobe(0.01), Laplace(Geographic("m"), 0.01)):
        outputs = mechanism.release(np.tile(record, (40_000, 1)), entropy=seeded(f"{mechanism!r} {latitude}"))
        p = ks(GlobeLaplaceLaw(0.01 * RADIUS).radius(Displacement(record, outputs).angle))
        assert (p < ALPHA) == (isinstance(mechanism, FlatGlobe) and latitude > 0), (mechanism, p)


def beyond_both(outputs, first, second):
    """Commit where an output lies beyond one record, seen from the other, in all coordinates."""
    low, high = np.minimum(first, second), np.maximum(first, second)
    sure = (outputs > high).all(axis=1).astype(int) - (outputs < low).all(axis=1)
    towards = 1 if first[0] < second[0] else 0
    return np.where(sure == 0, -1, np.where(sure > 0, towards, 1 - towards))


@pytest.mark.parametrize(
    ("broken", "private", "distance"),
    [
        (HalfTheNoise(Euclidean(1), 1.0), Laplace(Euclidean(1), 1.0), 1.0),
        (WrongNorm(Euclidean(2, 2), 1.0, sampled=1), Laplace(Euclidean(2, 2), 1.0), math.sqrt(2)),
        (WrongNorm(Euclidean(2, math.inf), 1.0, sampled=1), Laplace(Euclidean(2, math.inf), 1.0), 1.0),
    ],
    ids=repr,
)
def test_likelihoods_show_a_loss_above_the_promise(broken, private, distance):
    """Norm-2 noise under a promise in norm 1 is wrong and yet keeps it, since |x|_2 <= |x|_1; norm 1 for 2 does not."""
    pair = np.zeros((2, private.space.dim))
    pair[1] = 1.0
    for mechanism, wins in ((broken, True), (private, False)):
        source = seeded(f"beyond {mechanism!r}")
        outcome = attacks.run(f"{mechanism!r}", beyond_both, mechanism, pair, 40_000, distance, source)
        assert outcome.committed > 5_000
        assert outcome.wins == wins, outcome


def test_last_digits_of_a_record_beside_the_lattice():
    first, second, epsilon = PAIRS[2]
    pair = np.array(both((first, second), 1))
    private = Laplace(Euclidean(1), epsilon)
    for mechanism, wins in ((RoundedNoise(epsilon, private.step), True), (private, False)):
        method = either(off_by_steps(private.step))
        source = seeded(f"digits {mechanism!r}")
        outcome = attacks.run(f"{mechanism!r}", method, mechanism, pair, FEW, epsilon * 2.0**-20, source)
        assert outcome.committed == FEW
        assert outcome.wins == wins, outcome


def test_noise_that_ends_excludes_a_record():
    pair = np.array([[0.0], [1.0]])
    for mechanism, wins in ((ClampedNoise(1.0), True), (Laplace(Euclidean(1), 1.0), False)):
        source = seeded(f"end {mechanism!r}")
        outcome = attacks.run(f"{mechanism!r}", either(within(5.0)), mechanism, pair, 40_000, 1.0, source)
        assert outcome.committed > 100
        assert outcome.wins == wins, outcome


def test_shared_noise_keeps_differences():
    records = np.random.default_rng(3).integers(-9, 10, size=(50, 2)).astype(float)
    private = Laplace(Euclidean(2), 0.01)
    for mechanism, keeps in ((SharedNoise(private), True), (private, False)):
        outputs = mechanism.release(records, entropy=seeded("shared"))
        assert np.allclose(np.diff(outputs, axis=0), np.diff(records, axis=0)) == keeps


def tail(mechanism, target, record=0.0):
    """The output at a record (a multiple of the step) for a uniform number of 64 zeros and bits that aim at -target."""
    after = round(2.0**127 * math.exp(-target * mechanism.epsilon))
    script = bytes(8) + (after & (2**64 - 1)).to_bytes(8, "little")
    return float(mechanism.release(np.array([[record]]), entropy=ScriptedEntropy(script))[0, 0])


def test_finite_support():
    """A number of 64 bits stops at 44 scales, among gaps; the package reads on and reaches every lattice point."""
    private = Laplace(Euclidean(1), 1.0)
    short = ShortUniform(1.0, private.step)
    targets = 45.0 + np.arange(20) * private.step
    assert [tail(private, target) for target in targets] == [-target for target in targets]
    assert len({tail(short, target) for target in targets}) == 1
    gaps = []
    for record in (0.0, 1.0):
        words = [k.to_bytes(8, "little") for k in range(100)]
        gaps.append({short.release(np.array([[record]]), entropy=ScriptedEntropy(word))[0, 0] for word in words})
    assert gaps[0].isdisjoint(gaps[1]), "the farthest outputs of one record are impossible for the other"
