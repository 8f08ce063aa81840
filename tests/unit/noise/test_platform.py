"""The one assumption on floats: elementary functions of this platform are within 8 ulp (and far from it)."""

import flint
import numpy as np
import pytest

from metricdp.noise._law import ULPS

RNG = np.random.default_rng(11)
UNIT = RNG.random(6000)
ANGLES = np.concatenate([UNIT * 2 * np.pi, np.arange(1, 9) * np.pi / 4, UNIT[:500] * 1e-9])
FUNCTIONS = {
    "log": (np.log, "log", np.concatenate([UNIT, 1 - UNIT[:500] * 1e-9, UNIT[:500] * 1e-15])),
    "exp": (np.exp, "exp", -60 * UNIT),
    "sin": (np.sin, "sin", ANGLES),
    "cos": (np.cos, "cos", ANGLES),
    "sqrt": (np.sqrt, "sqrt", UNIT),
    "arcsin": (np.arcsin, "asin", UNIT),
}


def ulps(ours, exact):
    flint.ctx.prec = 200
    return max(abs(float((flint.arb(a) - b) / np.spacing(abs(float(b))))) for a, b in zip(ours, exact, strict=True))


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("block", [1, 64, 6000])
def test_functions_are_within_the_stated_ulps(name, block):
    ours, theirs, x = FUNCTIONS[name]
    values = np.concatenate([ours(x[i : i + block]) for i in range(0, min(len(x), 40 * block), block)])
    flint.ctx.prec = 200
    exact = [getattr(flint.arb(float(v)), theirs)() for v in x[: len(values)]]
    assert ulps(values.tolist(), exact) <= ULPS / 2


def test_the_angle_of_a_vector_is_within_the_stated_ulps():
    y, x = RNG.normal(size=(2, 4000)) * np.array([[1e-6], [1.0]])
    flint.ctx.prec = 200
    exact = [flint.arb.atan2(flint.arb(float(a)), flint.arb(float(b))) for a, b in zip(y, x, strict=True)]
    assert ulps(np.arctan2(y, x).tolist(), exact) <= ULPS / 2
