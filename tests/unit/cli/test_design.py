"""From a table of places to a certified channel to a released column."""

import csv

import numpy as np
import pytest

import metricdp as md
from metricdp import audit

PLACES = "name,x,y,visits\nhome,0,0,10\nwork,3,1,8\ngym,1,2,2\nshop,2,2,1\npark,0.5,3,0\n"
VISITS = "who,place\na,home\nb,work\nc,gym\nd,home\n"
DESIGN = ["design", "places.csv", "--columns", "x,y", "--label", "name"]


@pytest.fixture(autouse=True)
def files(tmp_path):
    (tmp_path / "places.csv").write_text(PLACES)
    (tmp_path / "visits.csv").write_text(VISITS)


def test_design_then_release_a_column(run, tmp_path):
    printed = run(*DESIGN, "--epsilon", "2", "--prior", "visits", "--unit", "km", "--out", "c.npz")
    assert "come out as themselves" in printed
    assert "Certified: epsilon = 2 over all pairs of d" in printed
    assert "no output is more" not in printed
    channel = md.Channel.load(tmp_path / "c.npz")
    assert channel.certificate.epsilon <= 2
    assert audit.exact(channel).epsilon == channel.certificate.epsilon
    again = run("certify", "c.npz", "--epsilon", "2")
    assert "says the same" in again
    assert "Claimed by its designer" in again
    released = run("release", "visits.csv", "--channel", "c.npz", "--column", "place", "--out", "o.csv")
    assert "come out as themselves" in released
    assert "epsilon = 2 per km" in released
    rows = list(csv.DictReader((tmp_path / "o.csv").read_text().splitlines()))
    assert [row["who"] for row in rows] == list("abcd")
    assert {row["place"] for row in rows} <= {"home", "work", "gym", "shop", "park"}
    assert "Mechanism: <Channel: 5 inputs" in run("receipt", "o.csv")


@pytest.mark.parametrize("method", ["exponential", "calibrated", "kernel", "optimal", "auto"])
def test_methods_objectives_and_shares(run, method):
    printed = run(*DESIGN, "--stay", "0.5", "--method", method, "--objective", "worst", "--out", "c.npz")
    assert "is the smallest found that keeps 0.5 of records" in printed
    assert "50.0% of records come out as themselves" in printed or "50.1%" in printed


def test_places_on_the_globe_and_quantiles(run):
    arguments = ["design", "places.csv", "--lat", "x", "--lon", "y", "--epsilon", "0.01", "--out", "c.npz"]
    assert "epsilon = 0.01 per km" in run(*arguments)
    assert "kernel" in run(*arguments, "--objective", "0.9", "--reach", "200")


def test_merged_points_share_their_names(run, tmp_path):
    (tmp_path / "places.csv").write_text(PLACES + "flat,0,0,5\n")
    assert "the same point" in run(*DESIGN, "--epsilon", "1", "--out", "c.npz", code=3)
    run(*DESIGN, "--epsilon", "1", "--merge", "--prior", "visits", "--out", "c.npz")
    assert md.Channel.load(tmp_path / "c.npz").release("flat") in ("home", "work", "gym", "shop", "park")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ([*DESIGN, "--out", "c.npz"], 3),
        ([*DESIGN, "--epsilon", "1", "--stay", "0.5", "--out", "c.npz"], 3),
        ([*DESIGN, "--epsilon", "2000", "--out", "c.npz"], 3),
        ([*DESIGN, "--epsilon", "1", "--out", "c.txt"], 5),
        ([*DESIGN, "--epsilon", "1", "--out", "none/c.npz"], 5),
        ([*DESIGN, "--epsilon", "1", "--method", "simplex", "--out", "c.npz"], 3),
        ([*DESIGN, "--epsilon", "0.1", "--method", "tight", "--out", "c.npz"], 4),
        ([*DESIGN, "--epsilon", "1", "--objective", "best", "--out", "c.npz"], 3),
        ([*DESIGN, "--epsilon", "1", "--norm", "3", "--out", "c.npz"], 3),
        ([*DESIGN, "--epsilon", "1", "--prior", "name", "--out", "c.npz"], 5),
        (["design", "places.csv", "--epsilon", "1", "--out", "c.npz"], 3),
        (["design", "none.csv", "--columns", "x", "--epsilon", "1", "--out", "c.npz"], 5),
        (["release", "visits.csv", "--channel", "none.npz", "--column", "place", "--out", "o.csv"], 5),
        (["release", "visits.csv", "--channel", "none.npz", "--out", "o.csv"], 3),
    ],
)
def test_refusals_leave_no_file(run, tmp_path, arguments, code):
    run(*arguments, code=code)
    assert not (tmp_path / "c.npz").exists()
    assert not (tmp_path / "o.csv").exists()


def test_unknown_labels_are_refused_by_row_and_never_shown(run, tmp_path):
    run(*DESIGN, "--epsilon", "1", "--out", "c.npz")
    (tmp_path / "visits.csv").write_text(VISITS + "e,hideout\n")
    error = run("release", "visits.csv", "--channel", "c.npz", "--column", "place", "--out", "o.csv", code=3)
    assert "row 4" in error
    assert "hideout" not in error
    assert not (tmp_path / "o.csv").exists()


def test_channels_without_texts_are_refused(run, tmp_path):
    md.Channel.from_matrix(md.Discrete([1, 2]), np.full((2, 2), 0.5)).certify().save(tmp_path / "c.npz")
    assert "no texts" in run("release", "visits.csv", "--channel", "c.npz", "--column", "place", "--out", "o", code=3)


def test_parquet_columns_of_labels(run, tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pa.table({"place": ["home", "gym"], "n": [1, 2]}), tmp_path / "v.parquet")
    run(*DESIGN, "--epsilon", "1", "--out", "c.npz")
    run("release", "v.parquet", "--channel", "c.npz", "--column", "place", "--out", "o.parquet")
    out = parquet.read_table(tmp_path / "o.parquet")
    assert out["n"].to_pylist() == [1, 2]
    assert out.schema.field("place").type == pa.string()


def test_a_share_that_no_record_is_needed_for_is_refused(run, tmp_path):
    (tmp_path / "places.csv").write_text("name,x,y,visits\na,0,0,90\nb,1,0,5\nc,0,1,5\n")
    error = run(*DESIGN, "--stay", "0.5", "--prior", "visits", "--out", "c.npz", code=3)
    assert "ignores its record keeps 90.0%" in error
    run(*DESIGN, "--stay", "0.95", "--prior", "visits", "--out", "c.npz")


def test_a_budget_for_a_channel(run):
    run(*DESIGN, "--epsilon", "1", "--out", "c.npz")
    assert "1.5" in run("ledger", "create", "b", "--epsilon", "1.5", "--channel", "c.npz")
    arguments = ["release", "visits.csv", "--channel", "c.npz", "--column", "place", "--ledger", "b", "--out", "o.csv"]
    assert "Wrote" in run(*arguments)
    assert "limit" in run(*arguments, code=4)
    run("ledger", "create", "d", "--limit", "2 at 1 km", "--channel", "c.npz", code=3)


def test_a_channel_without_certificate_is_refused(run, tmp_path):
    space = md.FiniteSpace.from_points([[0.0], [1.0]], labels=["home", "work"])
    md.Channel.from_matrix(space, [[0.9, 0.1], [0.1, 0.9]]).save(tmp_path / "c.npz")
    arguments = ["release", "visits.csv", "--channel", "c.npz", "--column", "place", "--out", "o.csv"]
    assert "no certificate" in run(*arguments, code=4)


def test_a_receipt_of_another_file_says_so(run, tmp_path):
    run(*DESIGN, "--epsilon", "1", "--out", "c.npz")
    run("release", "visits.csv", "--channel", "c.npz", "--column", "place", "--out", "o.csv")
    run("receipt", "o.csv")
    (tmp_path / "copy.csv").write_text((tmp_path / "o.csv").read_text() + "e,home\n")
    (tmp_path / "copy.csv.receipt.json").write_text((tmp_path / "o.csv.receipt.json").read_text())
    assert "not the file that was released" in run("receipt", "copy.csv", code=5)
    run("receipt", "o.csv.receipt.json")
