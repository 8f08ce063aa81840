"""Draws from a channel: never outside the support, and of the law that the weights say.

Command: python benchmarks/draws.py [--draws 1e9]

Chi-square at 1e-6 over the drawn counts must accept the row, and reject the same counts against a row whose first output is
15 % likelier.
"""

import argparse
import time

import numpy as np
from scipy.stats import chi2

import metricdp as md
from metricdp import entropy
from metricdp.channel import _weights


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=float, default=1e9)
    options = parser.parse_args()
    space = md.FiniteSpace.from_points(np.random.default_rng(0).random((1000, 2)))
    rows = np.exp(-8 * space.matrix()) * (space.matrix() < 0.3)
    channel = md.Channel.from_matrix(space, rows / rows.sum(axis=1, keepdims=True))
    counts = np.zeros(1000, dtype=np.int64)
    batch, total, row = 1_000_000, int(options.draws), 17
    start = time.perf_counter()
    for done in range(0, total, batch):
        size = min(batch, total - done)
        drawn = _weights.draw(channel.law.sums, np.full(size, row), entropy.SYSTEM)
        counts += np.bincount(drawn, minlength=1000)
    seconds = time.perf_counter() - start
    law = channel.probabilities(row)
    assert not counts[law == 0].any()
    inside = law > 0
    wrong = law.copy()
    wrong[row] *= 1.15
    wrong /= wrong.sum()

    def statistic(expected):
        return float(((counts[inside] - total * expected[inside]) ** 2 / (total * expected[inside])).sum())

    limit = chi2.isf(1e-6, inside.sum() - 1)
    print(f"{total:,} draws, {total / seconds:,.0f} a second; support {inside.sum()} of 1,000 outputs, none outside")
    print(f"chi-square {statistic(law):.1f} (accepts below {limit:.1f}); 15 % off: {statistic(wrong):,.0f}")
    assert statistic(law) < limit < statistic(wrong)


if __name__ == "__main__":
    main()
