"""The price of safety: CPU nanoseconds a record, beside the unsafe version in plain NumPy, in the same run.

Command: python benchmarks/noise.py [--quick] [--opendp]
"""

import argparse
import math
import os
import statistics
import time

import numpy as np

import metricdp as md
from metricdp.noise import Record, draw
from metricdp.noise._globe import places_of

RUNS = 5


def cpu(function, count):
    """Median CPU seconds a record of RUNS runs, in nanoseconds."""
    times = []
    for _ in range(RUNS):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return statistics.median(times) / count * 1e9


def unsafe_plane(x, epsilon):
    rng = np.random.default_rng()
    radius, angle = rng.gamma(2, 1 / epsilon, len(x)), rng.random(len(x)) * (2 * math.pi)
    return np.stack([x[:, 0] + radius * np.cos(angle), x[:, 1] + radius * np.sin(angle)], axis=1)


def unsafe_globe(x, epsilon):
    rng = np.random.default_rng()
    t = rng.gamma(2, 1 / (epsilon * 6371008.8), len(x))
    bearing = rng.random(len(x)) * (2 * math.pi)
    phi, lam = np.radians(x[:, 0]), np.radians(x[:, 1])
    sine = np.sin(phi) * np.cos(t) + np.cos(phi) * np.sin(t) * np.cos(bearing)
    east = np.arctan2(np.sin(bearing) * np.sin(t) * np.cos(phi), np.cos(t) - np.sin(phi) * sine)
    return np.degrees(np.stack([np.arcsin(sine), np.remainder(lam + east + math.pi, 2 * math.pi) - math.pi], axis=1))


def unsafe_vectors(x, norm):
    rng = np.random.default_rng()
    n, d = x.shape
    if norm == 1:
        return x + rng.laplace(size=(n, d))
    if norm == 2:
        g = rng.normal(size=(n, d))
        return x + g * (rng.gamma(d, 1, n) / np.linalg.norm(g, axis=1))[:, None]
    return x + rng.uniform(-1, 1, (n, d)) * rng.gamma(d + 1, 1, n)[:, None]


def planar_and_globe(n):
    rng = np.random.default_rng(1)
    plane = rng.normal(size=(n, 2)) * 1000
    globe = np.c_[rng.uniform(-80, 80, n), rng.uniform(-180, 180, n)]
    print(f"operating system's bytes: {cpu(lambda: os.urandom(12 * n), n):.1f} ns for the 12 of a planar record")
    rows = [
        ("plane", md.Laplace(md.Euclidean(2), "0.01"), plane, lambda: unsafe_plane(plane, 0.01), "<= 3; 2 with numba"),
        ("globe", md.Laplace(md.Geographic("m"), "0.01"), globe, lambda: unsafe_globe(globe, 0.01), "<= 2"),
        (
            "plane, Gaussian",
            md.Gaussian(md.Euclidean(2), "5e-5"),
            plane,
            lambda: rng.normal(0, 100, (n, 2)) + plane,
            "-",
        ),
    ]
    print("| law | safe ns | unsafe ns | ratio | asked | safe records a second |\n|---|---|---|---|---|---|")
    for name, mechanism, x, unsafe, asked in rows:
        safe, plain = cpu(lambda m=mechanism, x=x: m.release(x), n), cpu(unsafe, n)
        print(f"| {name} | {safe:.0f} | {plain:.0f} | {safe / plain:.2f} | {asked} | {1e9 / safe:,.0f} |")


def vectors(n):
    x = np.random.default_rng(2).normal(size=(n, 300))
    print("\n| 300 dimensions, norm | safe µs | unsafe µs | ratio | asked µs |\n|---|---|---|---|---|")
    for norm, asked in ((1, 20), (2, 60), (math.inf, 40)):
        mechanism = md.Laplace(md.Euclidean(300, norm), 1)
        safe = cpu(lambda m=mechanism: m.release(x), n) / 1000
        plain = cpu(lambda norm=norm: unsafe_vectors(x, norm), n) / 1000
        print(f"| {norm:g} | {safe:.1f} | {plain:.1f} | {safe / plain:.2f} | <= {asked} |")


def refinements(n):
    """What depends on the record: how many releases needed more bits, and what they cost."""
    print("\n| epsilon per m | latitude | share refined | ns a record |\n|---|---|---|---|")
    for epsilon in ("1e-4", "0.01", "1", "100"):
        mechanism = md.Laplace(md.Geographic("m"), epsilon)
        for latitude in (0.0, 45.0, 80.0, 89.9, 89.999, 90 - 1e-7, 90.0):
            x = np.tile([latitude, 12.3], (n, 1))
            record = Record()
            scaled = x / mechanism.step
            fractions = np.ascontiguousarray((scaled - np.rint(scaled)).T)
            draw(mechanism._law, fractions, md.SystemEntropy(), places_of(x[:, 0]), record)
            start = time.process_time()
            mechanism.release(x)
            spent = (time.process_time() - start) / n * 1e9
            print(f"| {epsilon} | {latitude:.9g} | {len(record.longer) / n:.2%} | {spent:,.0f} |")


def against_opendp(n):
    import opendp.prelude as dp

    dp.enable_features("contrib")
    x = np.random.default_rng(3).normal(size=n)
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l1_distance(T=float)
    theirs = dp.m.make_laplace(*space, scale=1.0)
    values = x[: n // 10].tolist()
    slow = cpu(lambda: theirs(values), len(values))
    ours = md.Laplace(md.Euclidean(1), 1)
    fast = cpu(lambda: ours.release(x[:, None]), n)
    print(f"\nscalar Laplace: OpenDP {slow:.0f} ns, ours {fast:.1f} ns, ratio {slow / fast:.0f} (asked: >= 20)")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a hundredth of the records")
    parser.add_argument("--opendp", action="store_true", help="beside OpenDP (extra bench)")
    options = parser.parse_args()
    scale = 100 if options.quick else 1
    planar_and_globe(1_000_000 // scale)
    vectors(5000 // scale)
    refinements(50_000 // scale)
    if options.opendp:
        against_opendp(1_000_000 // scale)


if __name__ == "__main__":
    main()
