"""Channels: seconds of a certificate and draws a second, and the audit of the same matrix.

Command: python benchmarks/channel.py [--quick]
"""

import argparse
import statistics
import time

import numpy as np

import metricdp as md


def median(function, runs):
    times = []
    for _ in range(runs):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return statistics.median(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    print("| n | certify s | audit s | draws a second |\n|---|---|---|---|")
    for n in (100, 300) if options.quick else (100, 300, 1000):
        space = md.FiniteSpace.from_points(np.random.default_rng(n).random((n, 2)))
        rows = np.exp(-2 * space.matrix())
        rows /= rows.sum(axis=1, keepdims=True)
        channel = md.Channel.from_matrix(space, rows).certify()
        runs = 1 if options.quick else 5
        certify = median(channel.certify, runs)
        audit = median(lambda rows=rows, space=space: md.audit.exact(rows, space), runs)
        x = np.random.default_rng(1).integers(n, size=100_000).tolist()
        draw = median(lambda channel=channel, x=x: channel.release(x), runs)
        print(f"| {n} | {certify:.3f} | {audit:.3f} | {len(x) / draw:,.0f} |")


if __name__ == "__main__":
    main()
