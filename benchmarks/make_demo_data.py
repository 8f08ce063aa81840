"""Writes the bundled demo data: a made-up week of a made-up courier in a made-up city. Holds no real person's places.

Command: python benchmarks/make_demo_data.py
"""

import csv
from pathlib import Path

import numpy as np

TARGET = Path(__file__).parents[1] / "src" / "metricdp" / "data" / "demo_positions.csv"


def main() -> None:
    rng = np.random.default_rng(2024)
    centre = np.array([48.8530, 2.3499])
    metre = np.array([1 / 111195.0, 1 / (111195.0 * np.cos(np.radians(centre[0])))])
    stops = rng.normal(0, [1500, 2200], size=(28, 2))
    stops[0] = 0
    rows = []
    for courier in range(6):
        order = rng.permutation(28)[:12]
        position, minute = stops[0].copy(), 480
        for stop in order:
            steps = max(4, int(np.hypot(*(stops[stop] - position)) / 120))
            for k in range(1, steps + 1):
                bend = 90 * np.sin(np.pi * k / steps) * rng.normal()
                point = position + (stops[stop] - position) * k / steps + bend
                place = centre + point * metre
                minute += 1
                clock = f"{minute // 60:02d}:{minute % 60:02d}"
                rows.append([f"courier {courier + 1}", clock, f"{place[0]:.6f}", f"{place[1]:.6f}"])
            position = stops[stop]
    with TARGET.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([["person", "time", "latitude", "longitude"], *rows])
    print(f"{len(rows)} rows in {TARGET}")


if __name__ == "__main__":
    main()
