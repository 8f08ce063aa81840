"""Channels: what is sampled is what is certified, and a file that was changed is refused."""

import io
import math
import pickle
import zipfile
from fractions import Fraction

import flint
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

import metricdp as md
from metricdp import audit
from metricdp.channel import BITS, _weights
from metricdp.testing import RecordingEntropy, SeededEntropy

POINTS = np.random.default_rng(1).random((12, 2))
SPACE = md.FiniteSpace.from_points(POINTS, [f"place {i}" for i in range(12)], unit="km")


def exponential(space, a=1.0):
    rows = np.exp(-a * space.matrix())
    return rows / rows.sum(axis=1, keepdims=True)


CHANNEL = md.Channel.from_matrix(SPACE, exponential(SPACE)).certify(2)


@given(st.integers(1, 30), st.integers(0, 10**6))
def test_the_certificate_equals_an_oracle_from_above(n, seed):
    rng = np.random.default_rng(seed)
    space = md.FiniteSpace.from_points(rng.normal(size=(n, 2)))
    rows = exponential(space, rng.uniform(0.1, 6)) * rng.uniform(0.8, 1.2, size=(n, n))
    rows /= rows.sum(axis=1, keepdims=True)
    channel = md.Channel.from_matrix(space, rows).certify()
    flint.ctx.prec = 300
    w, d = channel.weights.tolist(), space.matrix()
    assert all(sum(row) == 2**BITS for row in w)
    worst = flint.arb(0)
    for i in range(n):
        for j in range(n):
            if i != j:
                ratio = max(Fraction(a, b) for a, b in zip(w[i], w[j], strict=True))
                value = (flint.arb(ratio.numerator) / ratio.denominator).log() / flint.arb(float(d[i, j]))
                worst = max(worst, value)
    assert bool(flint.arb(channel.certificate.epsilon) >= worst - flint.arb(2) ** -290)
    assert channel.certificate.epsilon <= float(worst.mid()) * (1 + 1e-12)
    assert audit.exact(channel).epsilon == channel.certificate.epsilon


def test_it_is_a_mechanism_that_promises_what_was_certified():
    assert isinstance(CHANNEL, md.Mechanism)
    assert CHANNEL.guarantee.status == "certified"
    assert CHANNEL.guarantee.exact_epsilon == Fraction(repr(CHANNEL.certificate.epsilon))
    assert 1 < CHANNEL.certificate.epsilon < 2
    assert "all pairs of d" in repr(CHANNEL)
    assert CHANNEL.step == 0
    assert 0 < CHANNEL.mean_error < CHANNEL.error(0.95) <= SPACE.diameter
    rows = CHANNEL.matrix()
    assert np.allclose(rows.sum(axis=1), 1, atol=1e-12)
    assert (rows > 0).all()
    assert CHANNEL.expected_cost(SPACE.matrix()) == pytest.approx((rows * SPACE.matrix()).sum() / 12)
    assert CHANNEL.stay() == pytest.approx(np.trace(rows) / 12)
    assert np.array_equal(CHANNEL.probabilities("place 3"), rows[3])


def test_it_is_frozen_and_pickles():
    assert pickle.loads(pickle.dumps(CHANNEL)) == CHANNEL
    assert hash(CHANNEL) == hash(pickle.loads(pickle.dumps(CHANNEL)))
    with pytest.raises(AttributeError):
        CHANNEL.weights = None
    with pytest.raises(ValueError, match="read-only"):
        CHANNEL.law.weights[0, 0] = 1


def test_without_a_certificate_nothing_is_released():
    plain = md.Channel.from_matrix(SPACE, exponential(SPACE))
    for use in (lambda: plain.release("place 1"), lambda: plain.guarantee):
        with pytest.raises(md.NotCertified, match="no certificate"):
            use()
    with pytest.raises(md.NotCertified, match="items"):
        plain.certify("0.9")
    zero = np.eye(12)
    with pytest.raises(md.NotCertified, match="infinite"):
        md.Channel.from_matrix(SPACE, zero).certify(100)
    other = md.FiniteSpace.from_points(POINTS * 2, SPACE.labels, unit="km")
    with pytest.raises(md.NotCertified, match="other weights"):
        md.Channel(other, CHANNEL.weights).with_certificate(CHANNEL.certificate)
    short = CHANNEL.weights.copy()
    short[0, 0] -= np.uint64(1)
    with pytest.raises(md.NotCertified, match="another total"):
        md.Channel(SPACE, short).certify()


def test_draws_follow_the_integers_and_a_row_15_percent_off_is_rejected():
    n = 400_000
    x = ["place 5"] * n
    drawn = CHANNEL.release(x, entropy=SeededEntropy(3))
    counts = np.array([drawn.count(label) for label in CHANNEL.outputs])
    law = CHANNEL.matrix()[5]
    limit = chi2.isf(1e-6, 11)
    assert ((counts - n * law) ** 2 / (n * law)).sum() < limit
    wrong = law.copy()
    wrong[5] *= 1.15
    wrong /= wrong.sum()
    assert ((counts - n * wrong) ** 2 / (n * wrong)).sum() > limit


@given(st.integers(1, 9), st.integers(0, 10**6))
def test_every_integer_selects_its_output(outputs, seed):
    """The halving search against the definition, at the borders of every output."""
    rng = np.random.default_rng(seed)
    row = rng.dirichlet(np.full(outputs, 0.3))[None]
    weights = _weights.from_probabilities(row)
    sums = _weights.cumulative(weights)
    assert int(sums[0, -1]) == 2**BITS
    borders = [0, 2**BITS - 1, *(int(s) + o for s in sums[0] for o in (-1, 0, 1))]
    for u in (b for b in borders if 0 <= b < 2**BITS):

        class One:
            reproducible = True

            def read(self, count, u=u):
                return (u << (64 - BITS)).to_bytes(8, "little") * (count // 8)

        drawn = int(_weights.draw(sums, np.array([0]), One())[0])
        assert drawn == int((sums[0] <= np.uint64(u)).sum())
        assert weights[0, drawn] > 0


def test_unknown_records_are_refused_before_sampling():
    recorder = RecordingEntropy()
    with pytest.raises(md.OutOfSpaceError, match="row 1") as caught:
        CHANNEL.release(["place 1", "secret place"], entropy=recorder)
    assert "secret" not in str(caught.value)
    assert recorder.count == 0
    assert CHANNEL.release([]) == []


def test_other_outputs_and_small_spaces(tmp_path):
    one = md.Channel.from_matrix(md.Discrete(["only"]), [[0.25, 0.75]], outputs=["x", "y"]).certify()
    assert one.guarantee.epsilon == 0
    assert one.release("only") in ("x", "y")
    with pytest.raises(md.IncompatibleError, match="no distance"):
        one.error()
    one.save(tmp_path / "c.npz")
    assert md.Channel.load(tmp_path / "c.npz") == one


def test_bad_input_is_refused():
    for matrix in ([[0.5, 0.6]] * 12, [[1.5, -0.5]] * 12, "matrix", [[math.nan]]):
        with pytest.raises(md.InvalidParameterError):
            md.Channel.from_matrix(SPACE, matrix)
    for weights, outputs in ((np.ones((12, 12)), None), (CHANNEL.weights[:5], None), (CHANNEL.weights, ["a"] * 12)):
        with pytest.raises(md.IncompatibleError):
            md.Channel(SPACE, weights, outputs)
    with pytest.raises(md.IncompatibleError):
        md.Channel(md.Euclidean(2), CHANNEL.weights)
    with pytest.raises(md.InvalidParameterError):
        CHANNEL.stay([1.0])
    with pytest.raises(md.IncompatibleError):
        CHANNEL.expected_cost([[1.0]])
    with pytest.raises(md.IncompatibleError):
        audit.exact([[1.0]])
    with pytest.raises(md.InvalidParameterError):
        CHANNEL.error(2)


SPACES = {
    "points": SPACE,
    "merged": md.FiniteSpace.from_points([[0.0], [1.0], [0.0]], ["a", "b", "c"], duplicates="merge"),
    "matrix": md.FiniteSpace([("a", 1), ("b", 2)], [[0, 2], [2, 0]], "m"),
    "discrete": md.Discrete([1, 2, 3]),
    "graph": md.FiniteSpace.from_graph([("a", "b", 1.5), ("b", "c", 2)]),
}


@pytest.mark.parametrize("name", SPACES)
def test_files_bring_everything_back(tmp_path, name):
    space = SPACES[name]
    channel = md.Channel.from_matrix(space, exponential(space)).certify()
    channel.save(tmp_path / "c.npz")
    back = md.Channel.load(tmp_path / "c.npz")
    assert back == channel
    assert back.space == space
    assert back.release(space.labels[0]) in space.labels
    with np.load(tmp_path / "c.npz", allow_pickle=False) as file:
        assert all(file[key].dtype != object for key in file.files)
    if name == "merged":
        assert back.space.distance("a", "c") == 0


def test_any_changed_byte_is_found_or_changes_nothing(tmp_path):
    small = md.Channel.from_matrix(md.Discrete(["a", "b"]), [[0.75, 0.25], [0.25, 0.75]]).certify()
    path = tmp_path / "c.npz"
    small.save(path)
    whole = path.read_bytes()
    found = 0
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        try:
            assert md.Channel.load(path) == small
        except md.FileRefusedError:
            found += 1
    assert found > len(whole) / 2


def test_a_permuted_array_with_valid_checksums_is_found(tmp_path):
    path = tmp_path / "c.npz"
    CHANNEL.save(path)
    with zipfile.ZipFile(path) as old:
        members = {name: old.read(name) for name in old.namelist()}
    swapped = io.BytesIO()
    np.save(swapped, CHANNEL.weights[:, ::-1])
    members["weights.npy"] = swapped.getvalue()
    with zipfile.ZipFile(path, "w") as new:
        for name, content in members.items():
            new.writestr(name, content)
    with pytest.raises(md.FileRefusedError, match="changed"):
        md.Channel.load(path)
    for bad in (b"", b"text", b"PK\3\4"):
        path.write_bytes(bad)
        with pytest.raises(md.FileRefusedError):
            md.Channel.load(path)
    with pytest.raises(md.FileRefusedError):
        md.Channel.load(tmp_path / "none.npz")
    with pytest.raises(md.FileRefusedError):
        CHANNEL.save(tmp_path / "no folder" / "c.npz")
    unwritable = md.Channel.from_matrix(md.Discrete([frozenset([1]), "b"]), exponential(md.Discrete(["a", "b"])))
    with pytest.raises(md.IncompatibleError, match="written down"):
        unwritable.save(path)


def test_neither_pickles_nor_certificates_are_trusted():
    import dataclasses

    back = pickle.loads(pickle.dumps(CHANNEL))
    for array in (back.weights, back.law.sums, CHANNEL.law.sums):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 0
    with pytest.raises(md.NotCertified):
        CHANNEL.with_certificate(dataclasses.replace(CHANNEL.certificate, epsilon=1e-6))
    with pytest.raises(md.NotCertified):
        CHANNEL.with_certificate(None)
    state = (SPACE, np.roll(CHANNEL.weights, 1, axis=1), CHANNEL.outputs, CHANNEL.certificate)
    with pytest.raises(md.NotCertified):
        object.__new__(md.Channel).__setstate__(state)
