"""GPX in, GPX out: the same points in the same pieces, and nothing else of the old file."""

import xml.etree.ElementTree as ET
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

import metricdp as md
from metricdp import receipts, release
from metricdp.tables import open_table

RIDE = """<?xml version="1.0" encoding="UTF-8"?>
<gpx version="1.1" creator="device" xmlns="http://www.topografix.com/GPX/1/1" xmlns:x="http://www.example.org/x">
<metadata><name>secret ride</name><bounds minlat="48.1" minlon="2.2" maxlat="48.2" maxlon="2.3"/></metadata>
<wpt lat="48.1" lon="2.2"><ele>33.25</ele><name>home</name></wpt>
<rte><name>plan</name><rtept lat="48.11" lon="2.21"/></rte>
<trk><name>commute</name><trkseg>
<trkpt lat="48.12" lon="2.22"><ele>34.5</ele><time>2024-05-01T08:30:15Z</time>
<extensions><x:hr>141</x:hr></extensions></trkpt>
<trkpt lat="48.13" lon="2.23"><time>2024-05-01T10:31:20+02:00</time></trkpt>
</trkseg><trkseg><trkpt lat="48.14" lon="2.24"/></trkseg></trk>
<trk><trkseg><trkpt lat="48.15" lon="2.25"/></trkseg></trk>
</gpx>"""
MECHANISM = md.Gaussian(md.Geographic("m"), "5e-6")
TAGS = "{http://www.topografix.com/GPX/1/1}"


@pytest.fixture
def ride(tmp_path):
    path = tmp_path / "ride.gpx"
    path.write_text(RIDE)
    return path


def released(ride, **options):
    out = ride.with_name("out.gpx")
    receipt = release.run(release.plan(ride, MECHANISM, ["lat", "lon"], **options), out)
    return receipt, out.read_text(), ET.fromstring(out.read_text())


def test_pieces_and_counts_stay_and_nothing_else_does(ride):
    receipt, text, root = released(ride)
    assert [child.tag.removeprefix(TAGS) for child in root] == ["wpt", "rte", "trk", "trk"]
    segments = [[len(segment) for segment in track] for track in root.iter(f"{TAGS}trk")]
    assert segments == [[2, 1], [1]]
    gone = ["secret", "home", "plan", "commute", "ele", "hr", "33.25", "34.5", "bounds", "device", "example"]
    assert not [word for word in gone if word in text]
    assert receipt["rows"] == 6
    positions = [(float(p.get("lat")), float(p.get("lon"))) for p in root.iter() if p.get("lat")]
    assert len(positions) == 6
    assert not {f"{lat}" for lat, _ in positions} & {"48.1", "48.11", "48.12", "48.13", "48.14", "48.15"}


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ("keep", ["2024-05-01T08:30:15Z", "2024-05-01T08:31:20Z"]),
        ("hour", ["2024-05-01T08:00:00Z", "2024-05-01T08:00:00Z"]),
        ("drop", []),
    ],
)
def test_times(ride, times, expected):
    receipt, _, root = released(ride, times=times)
    found = [element.text for element in root.iter(f"{TAGS}time")]
    assert found == expected
    assert receipt["time stamps"] == times
    assert all(datetime.fromisoformat(text) for text in found)


def test_a_trace_is_one_subject_and_says_what_the_whole_loses(ride, tmp_path):
    plan = release.plan(ride, MECHANISM, ["lat", "lon"])
    assert plan.largest == 6
    assert plan.charge.exact_rho == 6 * MECHANISM.rho
    words = plan.describe()
    assert "rho = 0.00003 per m²" in words
    assert "largest distance of a row" in words
    assert "sum of distances" in words
    pure = release.plan(ride, md.Laplace(md.Geographic("m"), "0.01"), ["lat", "lon"]).describe()
    assert "epsilon = 0.06 per m" in pure
    budget = md.Ledger(tmp_path / "b", limit=md.Guarantee.concentrated("1e-5", md.Geographic("m")))
    with pytest.raises(md.LossLimitExceeded):
        release.run(plan, tmp_path / "o.gpx", ledger=budget)
    assert not (tmp_path / "o.gpx").exists()


def test_receipts_lie_beside(ride):
    receipt, _, _ = released(ride)
    words = receipts.in_words(receipts.read(ride.with_name("out.gpx")), ride.with_name("out.gpx"))
    assert "6 rows" in words
    assert receipt["output"]["sha256"] == receipts.file_hash(ride.with_name("out.gpx"))


BOMB = (
    '<?xml version="1.0"?><!DOCTYPE gpx [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>'
    '<gpx><wpt lat="1" lon="2">&b;</wpt></gpx>'
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (BOMB, "document type"),
        ("<gpx><trk>", "well-formed"),
        ("", "well-formed"),
        ("<kml/>", "not GPX"),
        ('<gpx xmlns="http://www.topografix.com/GPX/1/1"/>', "no rows"),
        (RIDE.replace('lat="48.13"', 'lat="north"'), "Row 3"),
        (RIDE.replace('lat="48.13"', 'lat="nan"'), "Row 3"),
        (RIDE.replace('lat="48.13"', ""), "Row 3"),
        (RIDE.replace('lat="48.13"', 'lat="98.13"'), "row 3"),
        (RIDE.replace("2024-05-01T10:31:20+02:00", "NaN"), "row 3"),
        (RIDE.replace('encoding="UTF-8"', 'encoding="klingon"'), "klingon|encoding|well-formed"),
    ],
)
def test_bad_files_are_refused_without_showing_them(ride, text, message):
    ride.write_text(text)
    with pytest.raises(md.MetricDPError, match=message) as error:
        release.plan(ride, MECHANISM, ["lat", "lon"])
    for secret in ("48.1", "98.13", "north", "home", "secret"):
        assert secret not in str(error.value)


def test_dropped_times_need_not_be_readable(ride):
    ride.write_text(RIDE.replace("2024-05-01T10:31:20+02:00", "NaN"))
    assert release.plan(ride, MECHANISM, ["lat", "lon"], times="drop").rows == 6
    with pytest.raises(md.InvalidParameterError):
        open_table(ride, times="minute")
    (ride.parent / "x.csv").write_text("lat,lon\n1,2\n")
    with pytest.raises(md.InvalidParameterError, match="GPX files only"):
        open_table(ride.parent / "x.csv", times="drop")


def test_many_points_round_trip(tmp_path):
    rng = np.random.default_rng(0)
    walk = np.array([48.0, 2.0]) + np.cumsum(rng.normal(size=(40_000, 2)) * 1e-5, axis=0)
    points = "".join(f'<trkpt lat="{a!r}" lon="{b!r}"><ele>12.34</ele></trkpt>' for a, b in walk.tolist())
    path = Path(tmp_path / "long.gpx")
    path.write_text(f'<gpx version="1.1" creator="x"><trk><trkseg>{points}</trkseg></trk></gpx>')
    release.run(release.plan(path, MECHANISM, ["lat", "lon"]), tmp_path / "o.gpx")
    root = ET.fromstring((tmp_path / "o.gpx").read_text())
    out = np.array([[float(p.get("lat")), float(p.get("lon"))] for p in root.iter(f"{TAGS}trkpt")])
    assert out.shape == walk.shape
    moved = md.Geographic("m").distance(walk, out)
    assert moved.mean() == pytest.approx(MECHANISM.mean_error, rel=0.02)
