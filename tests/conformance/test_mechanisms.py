"""Every mechanism through the same checks."""

import math
import pickle
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import metricdp as md
from metricdp.testing import RecordingEntropy, ScriptedEntropy, SeededEntropy

GLOBE = np.array([[0.0, 0.0], [45.0, 179.9999], [89.9, -180.0], [90.0, 12.0], [-90.0, 180.0], [-33.9, 18.4]])
PLANE = np.random.default_rng(1).normal(size=(6, 300)) * 100

MECHANISMS = {
    f"Laplace {d} norm {norm:g}": (lambda d=d, norm=norm: md.Laplace(md.Euclidean(d, norm), "0.1"), PLANE[:, :d])
    for d in (1, 2, 3, 4, 10, 300)
    for norm in (1, 2, math.inf)
}
MECHANISMS |= {
    f"Gaussian {d}": (lambda d=d: md.Gaussian(md.Euclidean(d), "0.02"), PLANE[:, :d]) for d in (1, 2, 3, 10, 300)
}
MECHANISMS |= {
    f"Laplace globe {e}": (lambda e=e: md.Laplace(md.Geographic("m"), e), GLOBE) for e in ("1e-9", "1e-6", "0.01", "9")
}
MECHANISMS |= {
    f"Gaussian globe {r}": (lambda r=r: md.Gaussian(md.Geographic("km"), r), GLOBE) for r in ("1e-9", "1e-4", "50")
}


@pytest.fixture(params=MECHANISMS)
def case(request):
    make, records = MECHANISMS[request.param]
    return make(), records


def test_it_follows_the_protocol(case):
    mechanism, _ = case
    assert isinstance(mechanism, md.Mechanism)
    assert pickle.loads(pickle.dumps(mechanism)) == mechanism
    with pytest.raises(AttributeError):
        mechanism.space = None
    assert mechanism.guarantee.status == "proved"
    assert mechanism.guarantee.space == mechanism.space
    page = Path(__file__).parents[2] / "proofs" / f"{mechanism.guarantee.proof}.md"
    assert page.is_file()


def test_outputs_lie_on_the_lattice_and_in_the_space(case):
    mechanism, records = case
    out = mechanism.release(records)
    assert out.shape == records.shape
    assert out.dtype == np.float64
    assert math.log2(mechanism.step).is_integer()
    assert np.array_equal(np.rint(out / mechanism.step) * mechanism.step, out)
    assert np.all(mechanism.space.contains(out))
    if isinstance(mechanism.space, md.Geographic):
        assert (out[:, 1] >= -180).all()
        assert (out[:, 1] < 180).all()
        assert mechanism.step <= 2.0**-15


def test_one_record_is_a_batch_of_one(case):
    mechanism, records = case
    one = mechanism.release(records[0], entropy=SeededEntropy(3))
    assert one.shape == records[0].shape
    assert np.array_equal(one, mechanism.release(records[:1], entropy=SeededEntropy(3))[0])
    assert mechanism.release(records[:0]).shape == records[:0].shape


def test_inputs_are_not_changed(case):
    mechanism, records = case
    copy = records.copy()
    copy.setflags(write=False)
    mechanism.release(copy)
    assert np.array_equal(copy, records)


def test_bad_records_are_refused_before_anything_is_sampled(case):
    mechanism, records = case
    for bad in (math.nan, math.inf, 1e300):
        wrong = records.copy()
        wrong[4, 0] = bad
        recorder = RecordingEntropy()
        with pytest.raises(md.OutOfSpaceError, match="row 4"):
            mechanism.release(wrong, entropy=recorder)
        assert recorder.count == 0


def test_extreme_words_ask_for_more(case):
    mechanism, records = case
    usual = RecordingEntropy()
    mechanism.release(records[:1], entropy=usual)
    need = len(usual.blocks[0])
    for byte in (b"\0", b"\xff"):
        source = ScriptedEntropy(byte * need)
        mechanism.release(records[:1], entropy=source)
        assert source.extra > 0


def test_a_source_that_stands_still_is_refused(case):
    """Nothing but zeros is a radius without end, except where the radius is drawn from the whole sphere."""
    mechanism, records = case
    if isinstance(mechanism, md.Laplace) and mechanism.error(0.5) > 6_000_000:
        return

    class Zeros:
        reproducible = True

        def read(self, count):
            return bytes(count)

    with pytest.raises(md.EntropyError):
        mechanism.release(records[:1], entropy=Zeros())


def test_most_outputs_stay_within_the_error(case):
    mechanism, records = case
    x = np.repeat(records[:1], 2000, axis=0)
    moved = np.asarray(mechanism.space.distance(x, mechanism.release(x, entropy=SeededEntropy(8))))
    for confidence in (0.5, 0.95):
        share = (moved <= mechanism.error(confidence)).mean()
        assert abs(share - confidence) < 6 * math.sqrt(confidence * (1 - confidence) / 2000)
    assert moved.mean() == pytest.approx(mechanism.mean_error, rel=6 * moved.std() / moved.mean() / math.sqrt(2000))
    for bad in (0, 1, math.nan, "high"):
        with pytest.raises(md.InvalidParameterError):
            mechanism.error(bad)


def test_the_step_is_at_most_a_millionth_of_the_noise(case):
    mechanism, records = case
    x = np.repeat(records[:1], 4000, axis=0)
    if isinstance(mechanism.space, md.Euclidean):
        deviation = (mechanism.release(x) - x).std()
        assert 2**-21 * deviation * 0.95 < mechanism.step < 2**-20 * deviation * 1.05


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, "x", None, True, [1]])
@pytest.mark.parametrize("kind", [md.Laplace, md.Gaussian])
def test_bad_parameters_are_refused(kind, bad):
    with pytest.raises(md.MetricDPError):
        kind(md.Euclidean(2), bad)


@pytest.mark.parametrize("space", [md.Discrete(["a", "b"]), md.Hamming(3), 0.01, None, md.Product(md.Euclidean(1), 2)])
@pytest.mark.parametrize("kind", [md.Laplace, md.Gaussian])
def test_other_spaces_are_refused(kind, space):
    with pytest.raises(md.IncompatibleError):
        kind(space, 1)


def test_gaussian_needs_the_euclidean_norm():
    with pytest.raises(md.IncompatibleError):
        md.Gaussian(md.Euclidean(2, 1), 1)
    assert md.Gaussian(md.Euclidean(1, 1), 1).release([[0.0]]).shape == (1, 1)


def test_noise_too_small_for_the_globe_is_refused():
    with pytest.raises(md.InvalidParameterError, match="too small"):
        md.Laplace(md.Geographic("m"), 1e5)
    with pytest.raises(md.InvalidParameterError, match="too small"):
        md.Gaussian(md.Geographic("m"), 1e9)
    assert md.Laplace(md.Geographic("m"), 260).release([[90.0, 180.0]]).shape == (1, 2)


def test_units_describe_the_same_noise():
    metres, kilometres = md.Laplace(md.Geographic("m"), "0.01"), md.Laplace(md.Geographic("km"), 10)
    assert metres.step == kilometres.step
    assert metres.guarantee.in_unit("km").exact_epsilon == kilometres.guarantee.exact_epsilon == Fraction(10)
    assert metres.error(0.9) == pytest.approx(1000 * kilometres.error(0.9), rel=1e-12)


def test_near_poles_the_same_place_has_the_same_law():
    mechanism = md.Laplace(md.Geographic(), 0.01)
    runs = [mechanism.release(np.tile([90.0, lon], (4000, 1)), entropy=SeededEntropy(4)) for lon in (0.0, 60.0)]
    turned = np.remainder(runs[0][:, 1] + 60.0 + 180.0, 360.0) - 180.0
    assert np.array_equal(runs[0][:, 0], runs[1][:, 0])
    assert np.allclose(turned, runs[1][:, 1], atol=1e-9)
