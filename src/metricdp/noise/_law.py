"""The role of a law: one ideal random function, in floats with error bounds and in intervals.

Both views are of the same function F(item, u_1 … u_k) of infinitely many bits, so whichever decides a rounding, the
result is the same.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from metricdp.noise._bits import Words
from metricdp.noise._interval import Interval

Floats = NDArray[np.float64]

ULPS = 8
"""Assumed of the platform's log, exp, sin, cos, sqrt, arctan2 and arcsin: at most 8 ulp from the exact value.

The tests measure it (0.5 to 0.8 where it was tried) and fail where it does not hold with a factor of two to spare.
"""

TINY = 2.0**-49
"""Relative error of one such function: 8 ulp, each at most 2**-52."""


class Law(Protocol):
    """An ideal random vector, in lattice steps.

    `numbers` is how many uniform numbers one item takes, `outputs` how many coordinates it gives, and `bits` the length
    of the first prefixes (32 or 64).
    """

    @property
    def numbers(self) -> int: ...

    @property
    def outputs(self) -> int: ...

    @property
    def bits(self) -> int: ...

    def floats(self, words: Words, places: Any) -> tuple[Floats, Floats, NDArray[np.int8] | None]:
        """Values and error bounds of shape (outputs, count), and verdicts: 1 keep, -1 draw afresh, 0 not decided.

        |F - value| <= error for every continuation of the prefixes; an error may be infinite. Verdicts are None for
        laws without rejection. `places` is what the noise depends on besides the bits (the latitude on the globe).
        """
        ...

    def interval(self, uniforms: list[Interval], place: Any) -> list[Interval] | int:
        """The same in intervals: the coordinates, or -1 (draw afresh), or 0 (not decided)."""
        ...


def uniforms(words: Words) -> tuple[Floats, Floats]:
    """Middles u of the intervals that prefixes stand for, and bounds h on |ln U - ln u| for every U in them.

    For a prefix k of b bits, U lies in [k, k+1]·2^-b and u = (k + 1/2)·2^-b up to 2^-52 relatively, so that
    |ln U - ln u| <= 1/(2k) + 2^-51; infinite for k = 0.
    """
    bits = words.dtype.itemsize * 8
    number = words.astype(np.float64)
    width = np.divide(0.5, number)
    width += 2.0**-51
    number += 0.5
    number *= 2.0**-bits
    return number, width
