"""What may be done with releases for free."""

import numpy as np
import pytest

import metricdp as md
from metricdp import places
from metricdp.testing import SeededEntropy

PLANE = md.Euclidean(2)


def test_snap_takes_the_nearest_place_also_across_the_antimeridian():
    out = places.snap([[10.0, 179.9], [50.0, 2.0]], [[10.0, -179.9], [10.0, 170.0], [51.0, 2.0]])
    assert out.tolist() == [[10.0, -179.9], [51.0, 2.0]]
    many = np.random.default_rng(0).random((500, 2))
    snapped = places.snap(many, many[:50], space=PLANE)
    slow = [min(many[:50].tolist(), key=lambda q, p=p: (q[0] - p[0]) ** 2 + (q[1] - p[1]) ** 2) for p in many]
    assert snapped.tolist() == slow


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_remap_never_costs_more_on_average(kind):
    rng = np.random.default_rng(0)
    mechanism = md.Laplace(PLANE, 1) if kind == "laplace" else md.Gaussian(PLANE, "0.3")
    source = SeededEntropy(1)
    gain = []
    for _ in range(100):
        prior = rng.random((12, 2)) * 3
        weights = rng.dirichlet(np.ones(12))
        truth = prior[rng.choice(12, 200, p=weights)]
        out = mechanism.release(truth, entropy=source)
        better = places.remap(out, prior, mechanism, weights=weights)
        gain.append(np.linalg.norm(out - truth, axis=1).mean() - np.linalg.norm(better - truth, axis=1).mean())
    assert min(gain) > 0


def test_remap_is_the_best_choice_of_the_posterior():
    mechanism = md.Laplace(PLANE, 1)
    prior = np.array([[0.0, 0], [1, 0], [5, 0]])
    weights = np.array([0.6, 0.3, 0.1])
    z = np.array([0.7, 0.2])
    posterior = weights * np.exp(-np.linalg.norm(prior - z, axis=1))
    expected = [float(posterior @ np.linalg.norm(prior - q, axis=1)) for q in prior]
    assert places.remap([z], prior, mechanism, weights=weights)[0].tolist() == prior[int(np.argmin(expected))].tolist()


@pytest.mark.parametrize("mechanism", [md.Laplace(md.Geographic("m"), "0.01"), md.Gaussian(md.Geographic("m"), "5e-6")])
def test_the_cloak_covers_the_truth_in_its_share_of_releases(mechanism):
    home = np.tile([60.0, 10.0], (100_000, 1))
    out = mechanism.release(home, entropy=SeededEntropy(4))
    covered = (mechanism.space.distance(home, out) <= places.cloak(mechanism)).mean()
    assert 0.94 <= covered <= 0.96


def test_refusals():
    mechanism = md.Laplace(PLANE, 1)
    for call in (
        lambda: places.snap([], [[0, 0]]),
        lambda: places.snap([[0, 0]], [[0, 0]], space=md.Discrete(["a", "b"])),
        lambda: places.snap([[0, 99]], [[95, 0]]),
        lambda: places.remap([[0, 0]], [[0, 0], [1, 1]], mechanism, weights=[1, 1]),
        lambda: places.cloak(mechanism, 2),
    ):
        with pytest.raises(md.MetricDPError):
            call()
