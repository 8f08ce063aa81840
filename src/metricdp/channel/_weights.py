"""Rows of integers with one power-of-two total: from probabilities, and drawing from them exactly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from metricdp.entropy import Entropy, words

BITS = 62
"""Every row of weights sums to 2**BITS."""

Weights = NDArray[np.uint64]
Floats = NDArray[np.float64]


def from_probabilities(rows: Floats) -> Weights:
    """Integers proportional to the rows: rounded down, at least 1 where positive, the rest on the largest entry.

    Rows must sum to 1 within 1e-9; the largest entry takes up what is missing. What the loss becomes is for the
    certificate to say.
    """
    scaled = np.floor(np.ldexp(rows, BITS)).astype(np.uint64)
    scaled[(rows > 0) & (scaled == 0)] = 1
    total = np.uint64(1 << BITS)
    largest = rows.argmax(axis=1)
    places = np.arange(len(rows))
    missing = total - scaled.sum(axis=1, dtype=np.uint64)  # modulo 2**64, so a surplus is taken away
    scaled[places, largest] += missing
    return scaled


def totals_are_exact(weights: Weights) -> bool:
    """Whether every row sums to 2**BITS, in integers of any size."""
    return all(sum(row) == 1 << BITS for row in weights.tolist())


def cumulative(weights: Weights) -> Weights:
    """Running sums of each row; the last is 2**BITS."""
    return np.cumsum(weights, axis=1, dtype=np.uint64)


def draw(sums: Weights, rows: NDArray[np.intp], source: Entropy) -> NDArray[np.intp]:
    """One output per row number, with exactly the probabilities weight/2**BITS.

    A uniform integer u in [0, 2**BITS) selects the first output whose running sum exceeds it, by as many halvings for
    every row and every u: the work does not depend on either.
    """
    u = words(source, len(rows), 64) >> np.uint64(64 - BITS)
    outputs = sums.shape[1]
    place = np.zeros(len(rows), dtype=np.intp)
    step = 1 << max(0, (outputs - 1).bit_length())
    while step := step >> 1:
        ahead = np.minimum(place + step, outputs)
        place = np.where(sums[rows, ahead - 1] <= u, ahead, place)
    return place
