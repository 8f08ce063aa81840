"""Exact noise: ideal real-valued laws, rounded to a public lattice without error.

`draw` asks a `Law` for float values with proven error bounds, and for more random bits wherever a rounding is not yet
decided. Proof: proofs/rounding.md.
"""

from metricdp.noise._bits import Bits, Record
from metricdp.noise._draw import draw
from metricdp.noise._globe import SphereGaussian, SphereLaplace
from metricdp.noise._law import Law
from metricdp.noise._plane import CubeLaplace, IndependentGaussian, IndependentLaplace, MixtureLaplace, PlanarLaplace

__all__ = [
    "Bits",
    "CubeLaplace",
    "IndependentGaussian",
    "IndependentLaplace",
    "Law",
    "MixtureLaplace",
    "PlanarLaplace",
    "Record",
    "SphereGaussian",
    "SphereLaplace",
    "draw",
]
