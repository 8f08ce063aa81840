"""Queries from the shell."""

import json

import pytest


@pytest.fixture(autouse=True)
def files(tmp_path):
    (tmp_path / "p.csv").write_text(
        "lat,lon,x,y\n48.85,2.35,0,0\n40.7,-74.0,100,0\n35.7,139.7,0,100\n48.9,2.3,100,100\n"
    )
    (tmp_path / "r.gpx").write_text('<gpx><wpt lat="48.85" lon="2.35"/><wpt lat="10" lon="2.35"/></gpx>')


def test_knn(run):
    text = run("knn", "p.csv", "--lat", "lat", "--lon", "lon", "--query", "48.86,2.34", "-k", "2", "--epsilon", "10")
    assert "Rows (from 0, nearest first): 0, 3" in text
    assert "epsilon = 10 per m" in text
    assert "0" in run("knn", "r.gpx", "--query", "48,2", "--rho", "1", "--method", "paper").splitlines()[0]
    assert "2" in run("knn", "p.csv", "--columns", "x,y", "--query", "0,99", "--epsilon", "50").splitlines()[0]


def test_hull(run, tmp_path):
    text = run("hull", "p.csv", "--columns", "x,y", "--unit", "m", "--epsilon", "500", "--out", "o.geojson")
    assert "of the true outline" in text
    assert json.loads((tmp_path / "o.geojson").read_text())["type"] == "Polygon"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["knn", "p.csv", "--lat", "lat", "--query", "1,2", "--epsilon", "1"], 3),
        (["knn", "p.csv", "--columns", "x,y", "--query", "a,b", "--epsilon", "1"], 3),
        (["knn", "p.csv", "--columns", "x,y", "--query", "1,2"], 3),
        (["knn", "p.csv", "--columns", "x,z", "--query", "1,2", "--epsilon", "1"], 5),
        (["hull", "p.csv", "--columns", "lat,lon,x", "--epsilon", "1"], 3),
        (["hull", "p.csv", "--columns", "x,y", "--epsilon", "1", "--out", "none/o.geojson"], 5),
        (["hull", "none.csv", "--columns", "x,y", "--epsilon", "1"], 5),
        (["hull", "r.gpx", "--epsilon", "1"], 3),
    ],
)
def test_refusals(run, arguments, code):
    assert "What to do:" in run(*arguments, code=code)
