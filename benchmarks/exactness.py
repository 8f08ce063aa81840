"""Releases checked against an independent oracle, over norms, dimensions, noise levels and places on the globe.

    python benchmarks/exactness.py [--count N] [--wide N]

Prints how many releases differ from the ideal output rounded exactly (none should), how many the oracle could not tell
(none should), and the share of items that needed more than their first bits.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import sys
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from metricdp import Euclidean, Gaussian, Geographic, Laplace

BATCH = 1 << 15
EPSILONS = (Fraction(1, 10_000), Fraction(1, 100), Fraction(1), Fraction(100))
LATITUDES = (0.0, 45.0, 89.9, 90 - 1e-7, 90.0, -90.0)
LONGITUDES = (0.0, 2.3522, 179.99999, -180.0)

HEAD = f"{'setting':30} {'releases':>9} {'differences':>11} {'undecided':>9} {'refined':>9} {'> 64 bits':>9} seconds"


def load_oracles() -> Any:
    """tests/oracles.py, by its path."""
    path = Path(__file__).parents[1] / "tests" / "oracles.py"
    spec = importlib.util.spec_from_file_location("metricdp_oracles", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def vectors(mechanism: Any, count: int, rng: np.random.Generator) -> np.ndarray:
    """Records spread over a few hundred deviations of the noise."""
    return rng.normal(size=(count, mechanism.space.dim)) * float(mechanism.step) * 2.0**28


def positions(latitude: float, count: int, rng: np.random.Generator) -> np.ndarray:
    """Records at one latitude."""
    return np.stack([np.full(count, latitude), rng.choice(LONGITUDES, count)], axis=1)


def settings() -> Iterator[tuple[str, list[tuple[Any, float | None]]]]:
    """(name, mechanisms with the latitude of their records)."""
    for norm in (1, 2, math.inf):
        for dim in (1, 2, 3, 10):
            yield f"Laplace, norm {norm}, d = {dim}", [(Laplace(Euclidean(dim, norm=norm), e), None) for e in EPSILONS]
    for dim in (1, 2, 10):
        yield f"Gaussian, d = {dim}", [(Gaussian(Euclidean(dim), e**2 / 2), None) for e in EPSILONS]
    for latitude in LATITUDES:
        for kind in (Laplace, Gaussian):
            levels = [e if kind is Laplace else e**2 / 2 for e in (Fraction(1, 10**8), *EPSILONS)]
            name = f"{kind.__name__}, latitude {latitude:.10g}"
            yield name, [(kind(Geographic(), level), latitude) for level in levels]


def wide() -> Iterator[tuple[str, list[tuple[Any, float | None]]]]:
    """300 dimensions."""
    for norm in (1, 2, math.inf):
        yield f"Laplace, norm {norm}, d = 300", [(Laplace(Euclidean(300, norm=norm), e), None) for e in EPSILONS]


def measure(oracles: Any, cases: list[tuple[Any, float | None]], count: int, seed: int) -> tuple[Any, float]:
    """`count` releases spread over the cases, and seconds of processor time."""
    begin, tally, rng = time.process_time(), oracles.Tally(), np.random.default_rng(seed)
    for k, (mechanism, latitude) in enumerate(cases):
        left = count * (k + 1) // len(cases) - count * k // len(cases)
        while left:
            size = min(left, BATCH if latitude is not None or mechanism.space.dim < 100 else 64)
            rows = vectors(mechanism, size, rng) if latitude is None else positions(latitude, size, rng)
            tally += oracles.compare(mechanism, rows, int(rng.integers(2**62)))
            left -= size
    return tally, time.process_time() - begin


def line(name: str, tally: Any, seconds: float) -> str:
    """One row of the table."""
    shares = f"{tally.refined / max(1, tally.items):9.3%} {tally.deep / max(1, tally.items):9.3%}"
    return f"{name:30} {tally.releases:9} {tally.differences:11} {tally.undecided:9} {shares} {seconds:7.1f}"


def main() -> int:
    """Print the table; 1 if anything differs or is undecided."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1_000_000, help="planar and globe releases")
    parser.add_argument("--wide", type=int, default=10_000, help="records in 300 dimensions")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    oracles = load_oracles()
    print(HEAD)
    total, seconds, seed = oracles.Tally(), 0.0, options.seed * 1000
    for groups, count in ((list(settings()), options.count), (list(wide()), options.wide)):
        for k, (name, cases) in enumerate(groups):
            share = count * (k + 1) // len(groups) - count * k // len(groups)
            seed += 1
            tally, spent = measure(oracles, cases, share, seed)
            total, seconds = total + tally, seconds + spent
            print(line(name, tally, spent), flush=True)
    print(line("all", total, seconds))
    return int(total.differences + total.undecided > 0)


if __name__ == "__main__":
    sys.exit(main())
