"""The exponential function by additions and multiplications alone, so that every machine computes the same float."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

DEEPEST = 700.0
"""Exponents beyond this are cut: e**-700 is about 1e-304."""

RELATIVE_ERROR = 2.0**-50
"""Of `negative_exponential`, against the exponential of the float it is given (tested with 200 bits)."""

_LN2_HIGH = float.fromhex("0x1.62e42fee00000p-1")
"""ln 2 cut to 32 bits, so that its products with whole numbers up to 2**20 are exact."""

_LN2_LOW = float.fromhex("0x1.a39ef35793c76p-33")
_PER_TURN = float.fromhex("0x1.71547652b82fep+0")
_COEFFICIENTS = tuple(1 / math.factorial(j) for j in range(13, -1, -1))


def negative_exponential(t: Floats) -> Floats:
    """e**-t in place, for 0 <= t; t beyond `DEEPEST` counts as that.

    Only IEEE operations that are correctly rounded everywhere: no library exponential, whose last bits depend on the
    processor, and nothing that a compiler may fuse.
    """
    np.minimum(t, DEEPEST, out=t)
    turns = np.rint(t * -_PER_TURN)
    np.negative(t, out=t)
    t -= turns * _LN2_HIGH
    t -= turns * _LN2_LOW
    result = np.full_like(t, _COEFFICIENTS[0])
    for coefficient in _COEFFICIENTS[1:]:
        result *= t
        result += coefficient
    powers = ((turns.astype(np.int64) + 1023) << 52).view(np.float64)
    return np.multiply(result, powers, out=t)
