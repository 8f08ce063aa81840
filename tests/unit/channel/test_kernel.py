"""Rows made when they are asked for."""

import math
import os
import pickle
import subprocess
import sys

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

import metricdp as md
from metricdp.channel import BITS, Kernel
from metricdp.channel._exponential import DEEPEST, RELATIVE_ERROR, negative_exponential
from metricdp.channel._kernel import Grid
from metricdp.testing import SeededEntropy
from oracles import exact_epsilon


def kernel(seed, n=40, dim=3, exponent=2.0, reach=math.inf):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, dim))
    return md.FiniteSpace.from_points(points), Kernel.of(points, rng.random(n), exponent, reach)


def test_the_exponential_is_within_its_error():
    rng = np.random.default_rng(0)
    t = np.concatenate([rng.random(2000) * DEEPEST, rng.random(2000) * 3, [0.0, DEEPEST, 5e-324, 1e9]])
    found = negative_exponential(t.copy())
    flint.ctx.prec = 200
    for x, e in zip(np.minimum(t, DEEPEST).tolist(), found.tolist(), strict=True):
        assert abs(float((flint.arb(e) / (-flint.arb(x)).exp() - 1).mid())) < RELATIVE_ERROR


def test_grid_distances_are_exact_whole_numbers_under_the_root():
    points = np.random.default_rng(1).normal(size=(30, 100)) * 7 + 1000
    grid = Grid.of(points)
    steps = grid.steps.astype(int).tolist()
    for i in range(0, 30, 7):
        for k in range(30):
            square = sum((a - b) ** 2 for a, b in zip(steps[i], steps[k], strict=True))
            assert square < 2**53
            assert grid.distances(np.array([i]))[0, k] == math.sqrt(square) * 2.0**-grid.shift
    moved = np.sqrt(((points - points[0] - (grid.steps - grid.steps[0]) * 2.0**-grid.shift) ** 2).sum(axis=1))
    assert (moved <= grid.moved + grid.moved[0]).all()


def test_the_same_integers_in_whatever_batch():
    _, rule = kernel(0)
    whole = rule.block(np.arange(40))
    for rows in ([3], [39, 0, 3], list(range(17)), [5, 5]):
        assert np.array_equal(rule.block(np.array(rows)), whole[rows])
    assert (whole.sum(axis=1, dtype=np.uint64) == 2**BITS).all()
    assert rule.floor == 2**30
    assert whole.min() >= rule.floor


def test_the_same_integers_whatever_the_threads():
    code = (
        "import numpy as np; from metricdp.channel import Kernel; p = np.random.default_rng(0).normal(size=(300, 50));"
        "print(Kernel.of(p, np.ones(300), 1.5).digest(), "
        "hash(Kernel.of(p, np.ones(300), 1.5).block(np.arange(300)).tobytes()))"
    )
    found = set()
    for threads in ("1", "2"):
        env = {**os.environ, "OPENBLAS_NUM_THREADS": threads, "PYTHONHASHSEED": "0"}
        found.add(subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, check=True).stdout)
    assert len(found) == 1


@settings(max_examples=40)
@given(
    st.integers(0, 10**6),
    st.integers(2, 12),
    st.integers(1, 6),
    st.floats(-3, 3),
    st.floats(-4, 2),
    st.sampled_from([math.inf, 1.0, 0.01]),
)
def test_the_certificate_is_an_upper_bound_and_close(seed, n, dim, size, exponent, reach):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, dim)) * 10**size
    if seed % 3 == 0:
        points[1] = points[0] + 1e-7 * 10**size
    y = rng.random(n) ** (4 if seed % 2 else 1)
    space = md.FiniteSpace.from_points(points)
    rule = Kernel.of(points, y, 10**exponent / 10**size, reach * 10**size)
    channel = md.Channel(space, rule).certify()
    exact = exact_epsilon(channel.weights, space.matrix())
    assert channel.certificate.epsilon >= exact * (1 - 1e-15)
    assert channel.certificate.method == "kernel"
    nearest = space.matrix()[~np.eye(n, dtype=bool)].min()
    assert channel.certificate.epsilon <= 10**exponent / 10**size * 2.1 + 1e-8 / nearest
    if y.min() > 1e-3 and reach == math.inf:
        assert channel.certificate.epsilon <= exact * (1 + 1e-3) + 1e-8 / nearest


def test_it_saves_in_little_and_loads(tmp_path):
    space, rule = kernel(3, n=200)
    channel = md.Channel(space, rule).certify()
    channel.save(tmp_path / "k.npz")
    assert (tmp_path / "k.npz").stat().st_size < 40_000
    back = md.Channel.load(tmp_path / "k.npz")
    assert back == channel
    assert hash(back) == hash(channel)
    assert np.array_equal(back.weights, channel.weights)
    assert pickle.loads(pickle.dumps(channel)) == channel


def test_it_releases_what_its_rows_say():
    space, rule = kernel(4, n=8, exponent=1.0)
    channel = md.Channel(space, rule).certify()
    row = channel.probabilities(3)
    for shape in (200_000, 5):
        drawn = channel.release([3] * shape, entropy=SeededEntropy(1))
        assert set(drawn) <= set(range(8))
    counts = np.bincount(channel.release([3] * 200_000, entropy=SeededEntropy(2)), minlength=8)
    statistic = ((counts - 200_000 * row) ** 2 / (200_000 * row)).sum()
    assert statistic < chi2.isf(1e-6, 7)
    mixed = np.random.default_rng(0).integers(8, size=100_000)
    out = np.array(channel.release(mixed.tolist(), entropy=SeededEntropy(3)))
    for i in (0, 7):
        here = np.bincount(out[mixed == i], minlength=8)
        expected = (mixed == i).sum() * channel.probabilities(i)
        assert ((here - expected) ** 2 / expected).sum() < chi2.isf(1e-6, 7)


def test_many_records_and_few_give_the_same_law_by_both_routes():
    space, rule = kernel(4, n=30)
    channel = md.Channel(space, rule).certify()
    few = channel.release([7] * 29, entropy=SeededEntropy(5))
    many = channel.release([7] * 30, entropy=SeededEntropy(5))
    table = md.Channel(space, channel.weights).certify()
    assert few == table.release([7] * 29, entropy=SeededEntropy(5))
    assert many == table.release([7] * 30, entropy=SeededEntropy(5))


def test_it_is_refused_over_other_points_or_with_wrong_numbers():
    space, rule = kernel(5)
    other, _ = kernel(6)
    with pytest.raises(md.NotCertified, match="other points"):
        md.Channel(other, rule).certify()
    with pytest.raises(md.IncompatibleError):
        md.Channel(md.Discrete(range(3)), rule)
    with pytest.raises(md.NotCertified, match="exceeds"):
        md.Channel(space, Kernel(rule.grid, rule.y, rule.exponent, rule.reach, rule.scales * 1.1)).certify()
    for y, exponent in ((rule.y * 3, 1.0), (rule.y[:5], 1.0), (-rule.y, 1.0), (rule.y, 0.0), (rule.y, math.inf)):
        with pytest.raises(md.InvalidParameterError):
            Kernel(rule.grid, y, exponent, math.inf, rule.scales)
    with pytest.raises(md.NotCertified):
        md.Channel(space, rule).release(3)
