"""The ledger under load: 8 processes against one limit, and processes killed at random moments.

Command: python benchmarks/ledger.py [--quick]      (full: 8 x 2,000 charges, 1,000 kills)
"""

import argparse
import multiprocessing
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import metricdp as md

KM = md.Geographic("km")
LOOP = """
import sys
import metricdp as md
ledger = md.Ledger(sys.argv[1], limit=md.Guarantee.pure(1000000, md.Geographic("km")))
charge = md.Guarantee.pure(1, md.Geographic("km"))
print("ready", flush=True)
while True:
    ledger.charge(charge, "before the release")
    print("released", flush=True)
"""


def spend(path, count):
    ledger = md.Ledger(path, limit=md.Guarantee.pure(1, KM))
    charge = md.Guarantee.pure("0.0002", KM)
    done = 0
    for _ in range(count):
        try:
            ledger.charge(charge, "load")
            done += 1
        except md.LossLimitExceeded:
            pass
    return done


def load(folder, count):
    start = time.perf_counter()
    with multiprocessing.get_context("spawn").Pool(8) as pool:
        done = sum(pool.starmap(spend, [(folder / "load", count)] * 8, chunksize=1))
    seconds = time.perf_counter() - start
    print(
        f"8 x {count} charges of 0.0002 against 1: {done} succeeded, {seconds:.1f} s, {8 * count / seconds:.0f} a second"
    )
    assert done == min(5000, 8 * count)


def kills(folder, count):
    path = folder / "kills"
    released = under = corrupt = standing = 0
    rng = random.Random(1)
    for _ in range(count):
        process = subprocess.Popen([sys.executable, "-c", LOOP, str(path)], stdout=subprocess.PIPE, text=True)
        process.stdout.readline()
        time.sleep(rng.random() * 0.05)
        process.send_signal(signal.SIGKILL)
        released += process.stdout.read().count("released")
        process.wait()
        try:
            ledger = md.Ledger(path)
            total = ledger.spent()
            charged = int(total.exact_epsilon) if total else 0
        except md.MetricDPError:
            corrupt += 1
            continue
        under += charged < released
        standing = charged - released
    print(
        f"{count} kills, {released} releases: {under} under-counts, {corrupt} corrupt, {standing} charges without release"
    )
    assert under == corrupt == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        load(Path(folder), 700 if options.quick else 2000)
        kills(Path(folder), 10 if options.quick else 1000)


if __name__ == "__main__":
    main()
