"""Tables released in two passes, and their receipts."""

import csv
import json
import os
from fractions import Fraction

import numpy as np
import pytest

import metricdp as md
from metricdp import receipts, release
from metricdp.testing import SeededEntropy

MECHANISM = md.Laplace(md.Geographic("m"), "0.01")


@pytest.fixture
def trips(tmp_path):
    rng = np.random.default_rng(1)
    path = tmp_path / "trips.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["who", "lat", "lon", "note"])
        for i in range(500):
            writer.writerow([f"user{i % 7}", repr(rng.uniform(-90, 90)), repr(rng.uniform(-180, 180)), f"n{i}"])
    return path


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_a_table_is_released_row_by_row(trips, tmp_path):
    seen = []
    planned = release.plan(trips, MECHANISM, ["lat", "lon"], subject="who", progress=lambda *a: seen.append(a))
    assert (planned.rows, planned.subjects, planned.largest) == (500, 7, 72)
    assert planned.charge.exact_epsilon == Fraction(72, 100)
    assert "0.72" in planned.describe()
    receipt = release.run(planned, tmp_path / "out.csv", progress=lambda *a: seen.append(a))
    assert seen == [("checking rows", 1.0), ("releasing", 1.0)]
    before, after = rows_of(trips), rows_of(tmp_path / "out.csv")
    assert [(r["who"], r["note"]) for r in before] == [(r["who"], r["note"]) for r in after]
    x, z = ([[float(r["lat"]), float(r["lon"])] for r in rows] for rows in (before, after))
    moved = md.Geographic().distance(x, z)
    assert (moved > 0).all()
    assert 150 < moved.mean() < 250
    assert receipts.read(tmp_path / "out.csv") == json.loads((tmp_path / "out.csv.receipt.json").read_text())
    assert receipt["output"]["sha256"] == receipts.file_hash(tmp_path / "out.csv")
    assert not [p for p in tmp_path.iterdir() if p.name.startswith(".")]


def test_receipts_hold_nothing_of_the_input(trips, tmp_path):
    release.run(release.plan(trips, MECHANISM, ["lat", "lon"]), tmp_path / "out.csv")
    text = (tmp_path / "out.csv.receipt.json").read_text()
    assert receipts.file_hash(trips) not in text
    for row in rows_of(trips)[:100]:
        assert row["lat"] not in text
        assert row["lon"][:9] not in text
    assert '"reproducible": false' in text
    words = receipts.in_words(json.loads(text), tmp_path / "out.csv")
    assert "is the file that was released" in words
    assert "each row counts as a subject of its own" in words
    (tmp_path / "out.csv").write_text("changed")
    assert "IS NOT the file" in receipts.in_words(json.loads(text), tmp_path / "out.csv")


def test_seeded_releases_say_so(trips, tmp_path):
    planned = release.plan(trips, MECHANISM, ["lat", "lon"])
    first = release.run(planned, tmp_path / "a.csv", entropy=SeededEntropy(1))
    release.run(planned, tmp_path / "b.csv", entropy=SeededEntropy(1))
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    assert first["randomness"] == {"source": "SeededEntropy", "reproducible": True}
    assert "NOT PRIVATE" in receipts.in_words(first)


def test_the_ledger_is_charged_first_and_refuses(trips, tmp_path):
    ledger = md.Ledger(tmp_path / "l", limit="20 at 1 km")
    planned = release.plan(trips, MECHANISM, ["lat", "lon"])
    release.run(planned, tmp_path / "a.csv", ledger=ledger)
    assert ledger.spent().epsilon == 10
    by_user = release.plan(trips, MECHANISM, ["lat", "lon"], subject="who")
    with pytest.raises(md.LossLimitExceeded):
        release.run(by_user, tmp_path / "b.csv", ledger=ledger)
    assert not (tmp_path / "b.csv").exists()
    assert ledger.spent().epsilon == 10


def test_a_file_that_changes_is_refused(trips, tmp_path):
    planned = release.plan(trips, MECHANISM, ["lat", "lon"])
    with trips.open("a") as file:
        file.write("user9,1,2,x\n")
    with pytest.raises(md.FileRefusedError, match="changed"):
        release.run(planned, tmp_path / "out.csv")

    def touch(stage, share):
        os.utime(trips, (share, share))

    with pytest.raises(md.FileRefusedError, match="changed"):
        release.plan(trips, MECHANISM, ["lat", "lon"], progress=touch)
    planned = release.plan(trips, MECHANISM, ["lat", "lon"])
    with pytest.raises(md.FileRefusedError, match="changed"):
        release.run(planned, tmp_path / "out.csv", progress=touch)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["trips.csv"]


def test_bad_rows_are_named_from_the_start_of_the_file(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("lat,lon\n" + "1,2\n" * 40_000 + "91.5,2\n")
    with pytest.raises(md.OutOfSpaceError, match="row 40000") as caught:
        release.plan(path, MECHANISM, ["lat", "lon"])
    assert "91" not in caught.value.refused
    path.write_text("lat,lon\n")
    with pytest.raises(md.FileRefusedError, match="no rows"):
        release.plan(path, MECHANISM, ["lat", "lon"])
    path.write_text("x\n1e300\n")
    with pytest.raises(md.OutOfSpaceError, match="row 0"):
        release.plan(path, md.Laplace(md.Euclidean(1), 1), ["x"])
    path.write_text("lat,lon\n1,2\n")
    with pytest.raises(md.InvalidParameterError):
        release.plan(path, MECHANISM, ["lat", "lon"], subject="lat")


def test_outputs_that_cannot_be_made_are_refused(trips, tmp_path):
    planned = release.plan(trips, MECHANISM, ["lat", "lon"])
    for out in (trips, tmp_path, tmp_path / "none" / "out.csv"):
        with pytest.raises(md.FileRefusedError):
            release.run(planned, out)
    (tmp_path / "link.csv").symlink_to(trips)
    with pytest.raises(md.FileRefusedError, match="is the input"):
        release.run(planned, tmp_path / "link.csv")


def test_a_full_disk_leaves_the_charge_and_no_file(trips, tmp_path, monkeypatch):
    ledger = md.Ledger(tmp_path / "l", limit="20 at 1 km")
    planned = release.plan(trips, MECHANISM, ["lat", "lon"])

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("metricdp.tables._csv.CsvWriter.write", full)
    with pytest.raises(md.FileRefusedError, match="the charge stands"):
        release.run(planned, tmp_path / "out.csv", ledger=ledger)
    assert ledger.spent().epsilon == 10
    assert sorted(p.name for p in tmp_path.iterdir()) == ["l", "trips.csv"]


def test_vectors_and_parquet(tmp_path):
    import pandas as pd

    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [0, 5, 9], "c": ["x", "y", "z"]})
    frame.to_parquet(tmp_path / "in.parquet")
    mechanism = md.Gaussian(md.Euclidean(2), "0.5")
    release.run(release.plan(tmp_path / "in.parquet", mechanism, ["a", "b"]), tmp_path / "out.parquet")
    back = pd.read_parquet(tmp_path / "out.parquet")
    assert back["c"].tolist() == ["x", "y", "z"]
    assert not np.array_equal(back[["a", "b"]], frame[["a", "b"]])


def test_receipts_are_recognised(tmp_path):
    (tmp_path / "a.receipt.json").write_text("{}")
    for name in ("a.receipt.json", "none.receipt.json"):
        with pytest.raises(md.FileRefusedError):
            receipts.read(tmp_path / name)
