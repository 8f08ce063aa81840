"""Real extracts (../shared/data): what synthetic data would not show. Run by `make test-data`."""

import csv
import gzip
from pathlib import Path

import numpy as np
import pytest

import metricdp as md
from metricdp import receipts, release
from oracles import edits

DATA = Path(__file__).parents[3] / "shared" / "data"
pytestmark = pytest.mark.data


def rows_of(name):
    with gzip.open(DATA / name, "rt", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def trace(tmp_path):
    path = tmp_path / "taxis.csv"
    with gzip.open(DATA / "cabspotting" / "cabspotting_20taxis.csv.gz", "rb") as file:
        path.write_bytes(file.read())
    return path


def test_a_fleet_is_released(trace, tmp_path):
    mechanism = md.Laplace(md.Geographic("m"), "0.01")
    plan = release.plan(trace, mechanism, ["lat", "lon"], subject="taxi")
    assert (plan.rows, plan.subjects) == (320_941, 20)
    receipt = release.run(plan, tmp_path / "out.csv")
    assert receipt["output"]["sha256"] == receipts.file_hash(tmp_path / "out.csv")
    with trace.open(newline="") as before, (tmp_path / "out.csv").open(newline="") as after:
        pairs = list(zip(csv.DictReader(before), csv.DictReader(after), strict=True))
    assert all(x["t"] == z["t"] and x["occupied"] == z["occupied"] and x["taxi"] == z["taxi"] for x, z in pairs)
    x, z = (np.array([[float(p[i]["lat"]), float(p[i]["lon"])] for p in pairs]) for i in (0, 1))
    moved = md.Geographic("m").distance(x, z)
    assert moved.mean() == pytest.approx(200, rel=0.01)
    assert (moved <= mechanism.error(0.95)).mean() == pytest.approx(0.95, abs=0.003)


def test_cities_everywhere_are_moved_alike():
    rows = rows_of("places/cities1000_geonames.csv.gz")
    x = np.array([[float(r["lat"]), float(r["lon"])] for r in rows])
    z = md.Laplace(md.Geographic("km"), 10).release(x)
    moved = md.Geographic("km").distance(x, z)
    bands = np.digitize(np.abs(x[:, 0]), [15, 30, 45, 60])
    for band in range(5):
        assert moved[bands == band].mean() == pytest.approx(0.2, rel=6 / np.sqrt((bands == band).sum()))
        north = np.abs(z[:, 0] - x[:, 0])[bands == band].mean() * np.pi / 180 * 6371.0088
        assert north == pytest.approx(4 / (np.pi * 10), rel=6 / np.sqrt((bands == band).sum()))


def test_rome_is_a_metric():
    arcs = [(int(r["u"]), int(r["v"]), float(r["length_m"])) for r in rows_of("roads/rome99_arcs.csv.gz")]
    space = md.FiniteSpace.from_graph(arcs, directed=True, unit="m")
    assert len(space) == 3353
    u, v = arcs[0][:2]
    assert 0 < space.distance(u, v) == space.distance(v, u) <= space.diameter


def test_words_are_a_space():
    with np.load(DATA / "embeddings" / "glove_6B_100d_40k.npz", allow_pickle=False) as file:
        words, vectors = file["words"][:6000].tolist(), file["vectors"][:6000]
    space = md.FiniteSpace.from_points(vectors, words)
    assert space.distance("good", "bad") == pytest.approx(
        np.linalg.norm(vectors[words.index("good")].astype(float) - vectors[words.index("bad")].astype(float)),
        rel=1e-12,
    )
    assert space.diameter > 5
    assert md.Laplace(md.Euclidean(100), 20).release(vectors).shape == (6000, 100)


@pytest.fixture(scope="module")
def vectors():
    with np.load(DATA / "embeddings" / "glove_6B_100d_40k.npz") as file:
        return file["vectors"].astype(np.float64)


@pytest.mark.parametrize(("epsilon", "times"), [("2", 80), ("1.5", 3.4)])
def test_kernels_over_words_lose_many_times_less_than_the_exponential_mechanism(vectors, epsilon, times):
    rows = np.random.default_rng(0).choice(len(vectors), 3000, replace=False)
    problem = md.design.Problem(md.FiniteSpace.from_points(vectors[rows]), epsilon)
    kernel = md.design.solve(problem, "kernel")
    calibrated = md.design.solve(problem, "calibrated")
    assert kernel.certify().certificate.epsilon <= float(epsilon)
    assert kernel.value <= calibrated.value
    assert md.design.solve(problem, "exponential").value >= times * kernel.value


def test_words_become_words(vectors, tmp_path):
    problem = md.design.Problem(md.FiniteSpace.from_points(vectors[:6000]), 2)
    solution = md.design.solve(problem, "kernel")
    assert solution.value <= 0.2
    channel = solution.certify()
    assert channel.certificate.epsilon <= 2
    channel.save(tmp_path / "words.npz")
    assert (tmp_path / "words.npz").stat().st_size < 8_000_000
    drawn = channel.release(list(range(100)))
    assert np.mean([a == b for a, b in zip(range(100), drawn, strict=True)]) > 0.8


def test_edit_distance_on_200_strings():
    with np.load(DATA / "embeddings" / "glove_6B_100d_40k.npz") as file:
        words = file["words"][5000:5200].tolist()

    space = md.FiniteSpace(words, [[edits(a, b) for b in words] for a in words])
    solution = md.design.solve(md.design.Problem(space, 2), "auto")
    channel = solution.certify()
    assert channel.certificate.epsilon <= 2
    assert md.audit.exact(channel).epsilon == channel.certificate.epsilon
    assert channel.release(words[7]) in words
