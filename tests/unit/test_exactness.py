"""Every release is the ideal output, rounded exactly: a reduced form of benchmarks/exactness.py."""

from __future__ import annotations

import decimal
import importlib.util
import math
import sys
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx

from metricdp import EntropyError, Euclidean, Gaussian, Geographic, Laplace
from metricdp.noise import draw
from metricdp.noise._globe import places_of
from metricdp.noise._interval import Precision
from metricdp.testing import ScriptedEntropy, SeededEntropy


def load(name: str, path: Path) -> Any:
    """A module outside the package, by its path."""
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


oracles = load("metricdp_oracles", Path(__file__).parents[1] / "oracles.py")
EPSILONS = (Fraction(1, 10_000), Fraction(1, 100), Fraction(1), Fraction(100))
LATITUDES = (0.0, 45.0, 89.9, 90 - 1e-7, 90.0, -90.0)
LONGITUDES = (0.0, 12.3, 179.99999, -180.0)
SHARPNESSES = (Fraction(1, 10**8), *EPSILONS)
"""Per metre; the first gives a sharpness below 1."""
FAMILIES = {
    "norm 1": Laplace(Euclidean(3, norm=1), 1),
    "one coordinate": Laplace(Euclidean(1), "0.1"),
    "plane": Laplace(Euclidean(2), "0.3"),
    "norm 2, odd": Laplace(Euclidean(3), 1),
    "norm 2, even": Laplace(Euclidean(4), 1),
    "norm inf": Laplace(Euclidean(3, norm=math.inf), 1),
    "normal": Gaussian(Euclidean(2), "0.5"),
    "globe": Laplace(Geographic(), "0.01"),
    "globe, flat": Laplace(Geographic(), "1e-8"),
    "globe, wide": Laplace(Geographic(), "1e-6"),
    "globe, normal": Gaussian(Geographic(), "1e-4"),
}
family = pytest.mark.parametrize("mechanism", FAMILIES.values(), ids=FAMILIES)


def clean(tally: Any) -> bool:
    """No difference, and nothing that the oracle could not tell."""
    return (tally.differences, tally.undecided) == (0, 0)


def rows_for(mechanism: Any, count: int, latitude: float | None = None) -> np.ndarray:
    """Records that do not depend on anything random; on the globe at one latitude, or at all of them."""
    if isinstance(mechanism.space, Geographic):
        latitudes = np.resize(LATITUDES if latitude is None else [latitude], count)
        return np.stack([latitudes, np.resize(LONGITUDES, count)], axis=1)
    scale = 1000 * float(mechanism.step) * 2**20
    return np.random.default_rng(count).normal(size=(count, mechanism.space.dim)) * scale


def one_record(mechanism: Any) -> list[float]:
    """A record of the space."""
    return [10.0, 20.0] if isinstance(mechanism.space, Geographic) else [0.3] * mechanism.space.dim


@dataclass
class Blind:
    """A law whose floats never decide, so that intervals must."""

    law: Any

    def __getattr__(self, name: str) -> Any:
        return getattr(self.law, name)

    def floats(self, words: Any, places: Any) -> Any:
        values, errors, verdict = self.law.floats(words, places)
        return values, np.full_like(errors, np.inf), None if verdict is None else np.zeros_like(verdict)


@dataclass
class Same:
    """A broken source: one byte for ever, until the test loses patience."""

    byte: int
    reproducible: bool = True
    left: int = 500_000

    def read(self, count: int) -> bytes:
        self.left -= count
        assert self.left >= 0, "asked for ever"
        return bytes([self.byte]) * count


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("dim", [1, 2, 3, 10])
@pytest.mark.parametrize("norm", [1, 2, math.inf])
def test_laplace_in_space(norm, dim, epsilon):
    mechanism = Laplace(Euclidean(dim, norm=norm), epsilon)
    assert clean(oracles.compare(mechanism, rows_for(mechanism, 1000), 1))


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("dim", [1, 2, 10])
def test_gaussian_in_space(dim, epsilon):
    mechanism = Gaussian(Euclidean(dim), epsilon**2 / 2)
    assert clean(oracles.compare(mechanism, rows_for(mechanism, 1001), 2))


@pytest.mark.parametrize("epsilon", SHARPNESSES)
@pytest.mark.parametrize("latitude", LATITUDES)
def test_globe(latitude, epsilon):
    for mechanism in (Laplace(Geographic(), epsilon), Gaussian(Geographic(), epsilon**2 / 2)):
        assert clean(oracles.compare(mechanism, rows_for(mechanism, 400, latitude), 3))


@pytest.mark.parametrize("norm", [1, 2, math.inf])
def test_300_dimensions(norm):
    mechanism = Laplace(Euclidean(300, norm=norm), Fraction(1, 3))
    assert clean(oracles.compare(mechanism, rows_for(mechanism, 50), 4))


@family
def test_chunks(mechanism, monkeypatch):
    """Items drawn in many chunks, some of them rejected or refined, keep their own bits."""
    monkeypatch.setattr("metricdp.noise._draw.CHUNK", 100)
    tally = oracles.compare(mechanism, rows_for(mechanism, 300), 10)
    assert clean(tally)


@family
def test_intervals_alone_give_the_same_points(mechanism):
    tally = oracles.compare(mechanism, rows_for(mechanism, 60), 5, Blind)
    assert clean(tally)
    assert tally.deep == tally.items > 0


@family
def test_precision_of_the_program_does_not_matter(mechanism):
    with decimal.localcontext(decimal.Context(prec=3)):
        assert clean(oracles.compare(mechanism, rows_for(mechanism, 24), 6, Blind))


@family
def test_intervals_contain_the_ideal_value(mechanism):
    """At 192 bits: the ideal value of a number in the middle of the prefixes lies inside, and the interval is small."""
    law, bits = mechanism._law, 192
    precision = Precision.of(30 + int(bits * 0.302))
    rng = np.random.default_rng(7)
    items = oracles.grouped(rows_for(mechanism, 24), law.outputs)
    checked = 0
    for column in range(items.shape[1]):
        numbers = [int.from_bytes(rng.bytes(bits // 8), "big") for _ in range(law.numbers)]
        place = items[:, column]
        where = places_of(place[:1])[:, 0] if isinstance(mechanism.space, Geographic) else None
        found = law.interval([precision.uniform(k, bits) for k in numbers], where)
        with ctx.workprec(800):
            ideal = oracles.outputs(mechanism, place.tolist(), [oracles.point(2 * k + 1, bits + 1) for k in numbers])
            assert (found == -1) == (ideal == oracles.REJECTED)
            if found == -1:
                continue
            for j, interval in enumerate(found):
                value = ideal[j] - arb(oracles.ratio(place[j])) / oracles.ratio(mechanism._step)
                if where is not None and j == 1:
                    turn = arb(oracles.ratio(360 / mechanism._step))
                    value -= turn * round(float((value - arb(str(interval.lo))) / turn))
                assert arb(oracles.ratio(Fraction(interval.lo))) < value < arb(oracles.ratio(Fraction(interval.hi)))
                assert Fraction(interval.hi) - Fraction(interval.lo) < Fraction(1, 10**15)
                checked += 1
    assert checked > 20


def test_operations_enclose():
    """`decimal` rounds square roots to nearest whatever the mode, and `-x` and `abs(x)` to the thread's precision."""
    precision = Precision.of(50)
    for n in range(2, 60):
        root = precision.exact(n).sqrt()
        assert Fraction(root.lo) ** 2 <= n <= Fraction(root.hi) ** 2
        for x in (Fraction(n, 7), Fraction(-n, 7)):
            interval = precision.exact(x)
            for found, value in ((-interval, -x), (interval.square(), x * x)):
                assert Fraction(found.lo) <= value <= Fraction(found.hi)
            with ctx.workprec(400):
                sine, cosine = arb(oracles.ratio(x)).sin_cos()
                for found, value in zip(interval.cos_sin(), (cosine, sine), strict=True):
                    assert abs(x) > 8 or oracles.ratio(Fraction(found.lo)) < value < oracles.ratio(Fraction(found.hi))


def test_a_rounding_decided_by_the_fiftieth_digit():
    """Bits chosen so that the ideal output lies 1e-28 to 1e-25 steps from the middle between two lattice points."""
    mechanism = Laplace(Euclidean(1), 1)
    scale, bits = mechanism._law.scale, 256
    for exponent in range(25, 29):
        for side in (-1, 1):
            with ctx.workprec(600):
                target = arb(oracles.ratio(Fraction(2_000_001, 2) + side * Fraction(1, 10**exponent)))
                low = int(((-target / oracles.ratio(scale)).exp() * 2 ** (bits - 1)).floor().unique_fmpz())
            first, second, *rest = (low >> shift & 0xFFFFFFFF for shift in range(bits - 32, -1, -32))
            script = b"".join(word.to_bytes(4, "little") for word in (first, second))
            pairs = zip(rest[::2], rest[1::2], strict=True)
            script += b"".join((high << 32 | word).to_bytes(8, "little") for high, word in pairs)
            steps = draw(mechanism._law, np.zeros((1, 1)), ScriptedEntropy(script, SeededEntropy(8)))
            assert steps[0, 0] == -(1_000_000 + (side > 0)), (exponent, side)


@family
@pytest.mark.parametrize("byte", [0, 255])
def test_extreme_prefixes_ask_for_more(mechanism, byte):
    law = mechanism._law
    items = oracles.grouped(np.array([one_record(mechanism)]), law.outputs).shape[1]
    script = bytes([byte]) * (items * law.numbers * law.bits // 8)
    source = ScriptedEntropy(script, SeededEntropy(9))
    mechanism.release(one_record(mechanism), entropy=source)
    assert source.extra >= len(script)


@pytest.mark.parametrize("name", [name for name in FAMILIES if name != "globe, flat"])
def test_zeros_for_ever_are_refused(name):
    mechanism = FAMILIES[name]
    with pytest.raises(EntropyError):
        mechanism.release(one_record(mechanism), entropy=Same(0))


@family
def test_ones_for_ever_end(mechanism):
    """Most laws give the record itself, whatever bits follow; rejection and tiny distances must not go on for ever."""
    try:
        mechanism.release(one_record(mechanism), entropy=Same(255))
    except EntropyError:
        assert isinstance(mechanism.space, Geographic)


def test_zeros_for_ever_are_a_point_where_the_law_is_finite():
    """The uniform law of the sphere has no logarithm: zeros are the record itself, whatever bits follow."""
    assert FAMILIES["globe, flat"].release([10.0, 20.0], entropy=Same(0)).tolist() == [10.0, 20.0]
