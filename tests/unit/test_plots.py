"""Pictures return the Axes they drew on."""

import numpy as np
import pytest

import metricdp as md
from metricdp import plots


def test_maps_and_planes(tmp_path):
    x = np.array([[10.0, 179.9], [10.1, -179.9], [10.2, 179.8]])
    axes = plots.before_and_after(x, x + 0.01, space=md.Geographic())
    assert axes.get_xlabel() == "longitude (degrees)"
    low, high = axes.get_xlim()
    assert high - low < 2  # both sides of the antimeridian lie together
    plots.save(axes, tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes()[:4] == b"\x89PNG"
    plane = plots.before_and_after(np.zeros((50_000, 3)), np.ones((50_000, 3)), space=md.Euclidean(3, unit="km"))
    assert plane.get_xlabel() == "first coordinate (km)"
    line = plots.before_and_after(np.zeros((3, 1)), np.ones((3, 1)), ax=plane)
    assert line is plane


def test_loss_curves():
    space = md.Euclidean(2, unit="m")
    pure = plots.loss_curve(md.Guarantee.pure("0.01", space), 300)
    assert pure.lines[0].get_ydata()[-1] == pytest.approx(np.exp(3))
    rho = plots.loss_curve(md.Guarantee.concentrated("1e-4", space, gaussian=True), 300)
    assert "1e-06" in rho.get_ylabel()


def test_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    with pytest.raises(md.MissingExtraError, match=r"metricdp\[plots\]"):
        plots.loss_curve(md.Guarantee.pure(1, md.Euclidean(1)), 1)
