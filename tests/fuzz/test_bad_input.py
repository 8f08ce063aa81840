"""Malformed input of every kind: refused as ours, before anything is sampled, without the value in the message.

Ten thousand calls and more: METRICDP_FUZZ sets how many examples each of the tests below tries.
"""

import math
import os
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import metricdp as md
from metricdp import release
from metricdp.cli import main
from metricdp.testing import RecordingEntropy

EXAMPLES = int(os.environ.get("METRICDP_FUZZ", "1500"))
many = settings(max_examples=EXAMPLES)

JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.binary(max_size=8),
    st.complex_numbers(),
    st.decimals(),
    st.fractions(),
    st.lists(st.floats(), max_size=3),
    st.dictionaries(st.text(max_size=2), st.integers(), max_size=2),
    st.just(object()),
    st.just(np.float32("nan")),
)
SECRET = st.floats(min_value=123456.5, max_value=999999.5).map(lambda v: round(v, 4))
MECHANISMS = [
    md.Laplace(md.Euclidean(2), "0.5"),
    md.Laplace(md.Euclidean(3), 1),
    md.Gaussian(md.Euclidean(2), "0.5"),
    md.Laplace(md.Geographic(), "0.01"),
    md.Gaussian(md.Geographic(), "1e-5"),
]


def assert_refused_by_us_or_fine(call):
    """Nothing but our errors may leave, and each of them has its three parts."""
    try:
        call()
    except md.MetricDPError as error:
        parts = (error.refused, error.accepted, error.remedy)
        assert all(len(part) > 3 for part in parts), parts


@many
@given(
    st.sampled_from(MECHANISMS),
    st.lists(st.tuples(st.floats(-80, 80), st.floats(-170, 170)), max_size=4),
    st.sampled_from([math.nan, math.inf, -math.inf, 1e308]),
    SECRET,
    st.integers(0, 4),
)
def test_bad_rows_are_refused_before_sampling(mechanism, rows, bad, secret, at):
    rows = [list(row) for row in rows]
    rows.insert(min(at, len(rows)), [secret, bad])
    if mechanism.space == md.Euclidean(3):
        rows = [[*row, 1.0] for row in rows]
    recorder = RecordingEntropy()
    with pytest.raises(md.OutOfSpaceError, match=r"row \d") as caught:
        mechanism.release(rows, entropy=recorder)
    assert str(int(secret)) not in str(caught.value)
    assert recorder.count == 0


@many
@given(st.sampled_from(MECHANISMS), JUNK)
def test_junk_records_raise_ours_or_work(mechanism, junk):
    recorder = RecordingEntropy()
    try:
        out = mechanism.release(junk, entropy=recorder)
    except md.MetricDPError:
        assert recorder.count == 0
    else:
        assert np.asarray(out).shape == np.shape(junk)


@many
@given(st.sampled_from([md.Laplace, md.Gaussian]), JUNK, JUNK)
def test_junk_mechanisms(kind, space, number):
    assert_refused_by_us_or_fine(lambda: kind(space, number))
    assert_refused_by_us_or_fine(lambda: kind(md.Euclidean(2), number))


@many
@given(JUNK, JUNK, JUNK)
def test_junk_guarantees(a, b, c):
    space = md.Euclidean(2)
    g = md.Guarantee.concentrated(1, space)
    for call in (
        lambda: md.Guarantee.pure(a, space),
        lambda: md.Guarantee.pure(1, a),
        lambda: md.Guarantee.approximate(a, b, space, radius=c),
        lambda: g.as_approximate(a, b),
        lambda: g.loss(a),
        lambda: g.delta_at(a, b),
        lambda: g.epsilon_at(a, b),
        lambda: g.in_unit(a),
        lambda: md.epsilon_for(loss=a, radius=b),
    ):
        assert_refused_by_us_or_fine(call)


@many
@given(JUNK, JUNK, JUNK)
def test_junk_spaces(a, b, c):
    for call in (
        lambda: md.Euclidean(a, b, c),
        lambda: md.Geographic(a),
        lambda: md.FiniteSpace(a, b, c),
        lambda: md.FiniteSpace.from_points(a, labels=b),
        lambda: md.FiniteSpace.from_graph(a, b),
        lambda: md.Discrete(a),
        lambda: md.Product(a, b, c),
        lambda: md.Product(md.Euclidean(1), b, c),
        lambda: md.Hamming(a),
        lambda: md.Geographic().distance(a, b),
        lambda: md.Discrete(["x", "y"]).distance(a, b),
        lambda: md.metric_closure(a),
    ):
        assert_refused_by_us_or_fine(call)


CELLS = st.one_of(
    st.floats().map(repr),
    st.text(max_size=6),
    st.sampled_from(["", "nan", "inf", "91", "-181", "1_0", "1e400", "\x00", '"', "0x1", "٣"]),
)


@settings(max_examples=max(100, EXAMPLES // 5))
@given(
    st.lists(st.lists(CELLS, min_size=1, max_size=4), max_size=6),
    st.sampled_from([b"", b"\xff\xfe", b"\xef\xbb\xbf"]),
    st.sampled_from(["lat,lon", "lat", "lat,lat", "", "a,b,c", "lon,lat,x"]),
)
def test_junk_tables(tmp_path_factory, rows, start, header):
    folder = tmp_path_factory.mktemp("fuzz")
    source, out = folder / "in.csv", folder / "out.csv"
    text = "\n".join([header, *(",".join(row) for row in rows)])
    source.write_bytes(start + text.encode("utf-8", "surrogatepass"))
    with pytest.raises(SystemExit) as left:
        main(["release", str(source), "--lat", "lat", "--lon", "lon", "--epsilon", "1", "--out", str(out)])
    assert left.value.code in {0, 3, 5}
    assert out.exists() == (left.value.code == 0)
    assert len(list(folder.iterdir())) == (3 if left.value.code == 0 else 1)


@settings(max_examples=max(100, EXAMPLES // 5))
@given(JUNK, JUNK, JUNK)
def test_junk_ledgers(tmp_path_factory, a, b, c):
    folder = tmp_path_factory.mktemp("fuzz")
    assert_refused_by_us_or_fine(lambda: md.Ledger(folder / "new", limit=a if not isinstance(a, str) else a + "!"))
    ledger = md.Ledger(folder / "l", limit=md.Guarantee.pure(1, md.Geographic("km")))
    assert_refused_by_us_or_fine(lambda: ledger.charge(a, b, c))
    assert_refused_by_us_or_fine(lambda: ledger.charge(md.Guarantee.pure(1, md.Geographic("km")), b, c))
    assert_refused_by_us_or_fine(lambda: md.Ledger(folder / "l", limit=b))


def test_numbers_of_every_type_are_understood():
    for number in (1, 1.0, "1", Decimal(1), Fraction(1), np.int32(1), np.float64(1)):
        assert md.Laplace(md.Euclidean(1), number).guarantee.epsilon == 1


def test_no_refusal_depends_on_a_valid_value():
    """Unusual records are released like any other: the whole public domain, its corners and its specks."""
    for mechanism in MECHANISMS:
        if isinstance(mechanism.space, md.Geographic):
            values = [[90.0, 180.0], [-90.0, -180.0], [5e-324, -5e-324], [-0.0, 179.99999999999997], [89.999999999, 0]]
        else:
            edge = 2.0**52 * mechanism.step
            width = mechanism.space.dim
            values = [[edge] * width, [-edge] * width, [5e-324] * width, [-0.0] * width]
        assert np.isfinite(mechanism.release(values)).all()
        assert release.check_rows(mechanism, np.array(values), 0) is None
