"""Exact noise: ideal real-valued laws, rounded to a public lattice without error.

`draw` asks a `Law` for float values with proven error bounds, and for more random bits wherever a rounding is not yet
decided. Proof: proofs/rounding.md.
"""

from metricdp.noise._bits import Bits, Record, longer
from metricdp.noise._draw import Real, draw, draw_reals
from metricdp.noise._globe import SphereGaussian, SphereLaplace
from metricdp.noise._interval import Interval, Precision, angle
from metricdp.noise._law import Law
from metricdp.noise._plane import CubeLaplace, IndependentGaussian, IndependentLaplace, MixtureLaplace, PlanarLaplace
from metricdp.noise._select import Scores, smallest

__all__ = [
    "Bits",
    "CubeLaplace",
    "IndependentGaussian",
    "IndependentLaplace",
    "Interval",
    "Law",
    "MixtureLaplace",
    "PlanarLaplace",
    "Precision",
    "Real",
    "Record",
    "Scores",
    "SphereGaussian",
    "SphereLaplace",
    "angle",
    "draw",
    "draw_reals",
    "longer",
    "smallest",
]
