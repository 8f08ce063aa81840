"""Rows a second and peak memory of `metricdp release` on a large CSV file, every row a subject of its own.

Command: python benchmarks/table.py [--quick] [--rows N]      (full: 10,000,000 rows)
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np


def make(path, rows):
    rng = np.random.default_rng(1)
    with path.open("w") as file:
        file.write("user,time,lat,lon\n")
        for start in range(0, rows, 100_000):
            count = min(100_000, rows - start)
            lat, lon = rng.uniform(-60, 70, count), rng.uniform(-180, 180, count)
            file.writelines(
                f"person-{start + i},{1_700_000_000 + start + i},{lat[i]:.6f},{lon[i]:.6f}\n" for i in range(count)
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rows", type=int, default=10_000_000)
    options = parser.parse_args()
    rows = 100_000 if options.quick else options.rows
    with tempfile.TemporaryDirectory() as folder:
        source, out = Path(folder, "in.csv"), Path(folder, "out.csv")
        make(source, rows)
        command = [sys.executable, "-m", "metricdp", "release", source, "--lat", "lat", "--lon", "lon"]
        command += ["--epsilon", "0.01", "--subject", "user", "--out", out]
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        seconds = time.perf_counter() - start
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        size = source.stat().st_size / 2**20
        print(
            f"{rows:,} rows ({size:.0f} MiB), {rows:,} subjects: {seconds:.1f} s, {rows / seconds:,.0f} rows a second,"
        )
        print(f"peak memory {peak:.0f} MiB (asked: < 500 MB at 10,000,000)")


if __name__ == "__main__":
    main()
