"""Paper 004, Concentrated Geo-Privacy: what follows from guarantees alone (the implied promises of Lemma 3.7)."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

from metricdp.guarantee import Guarantee
from metricdp.reproduce._harness import Artefact, Cell, Options, Paper
from metricdp.spaces import Euclidean

PLANE = Euclidean(2, unit="m")
DELTA = "1e-10"
RHOS = ("5e-8", "9e-7", "5e-5", "2.5e-4", "5e-4")
"""The values of rho of the paper's experiments, per squared metre."""


def implied_epsilon(_: Options, rho: str, radius: str, method: str) -> float:
    """Epsilon per unit that rho implies up to a radius at delta = 1e-10."""
    g = Guarantee.concentrated(rho, PLANE, gaussian=method == "gaussian")
    return float(g.as_approximate(DELTA, radius, method=method).epsilon or 0)  # type: ignore[arg-type]


def largest_rho(_: Options, epsilon: str, radius: str, method: str) -> float:
    """The largest rho (to 1e-9, from below) that implies epsilon up to a radius at delta = 1e-10."""
    low, high = Fraction(0), Fraction(epsilon) / Fraction(radius)
    for _step in range(40):
        middle = (low + high) / 2
        g = Guarantee.concentrated(middle, PLANE, gaussian=method == "gaussian")
        reached = g.as_approximate(DELTA, radius, method=method).exact_epsilon  # type: ignore[arg-type]
        low, high = (middle, high) if reached is not None and reached <= Fraction(epsilon) else (low, middle)
    return float(low)


def _text_cells(_: Options) -> list[Cell]:
    methods = ("paper", "renyi", "gaussian")
    cells = [
        Cell(f"rho that implies (1, 1e-10, 10), {m}", largest_rho, {"epsilon": "1", "radius": "10", "method": m}, 0.01)
        for m in methods
    ]
    return cells + [
        Cell(f"epsilon implied by rho = 0.01, {m}", implied_epsilon, {"rho": "0.01", "radius": "10", "method": m}, 1.0)
        for m in methods
    ]


def _curve_cells(options: Options) -> list[Cell]:
    cells = []
    for rho in RHOS[:2] if options.quick else RHOS:
        for times in (5, 10) if options.quick else (5, 7, 10, 14, 20, 30, 50):
            reach = f"{times / float(Fraction(rho)) ** 0.5:.4g}"
            for method in ("paper", "gaussian"):
                arguments = {"rho": rho, "radius": reach, "method": method}
                cells.append(Cell(f"rho = {rho}, radius {reach}, {method}", implied_epsilon, arguments, unit="per m"))
    return cells


def _draw(values: dict[str, Any], path: Path) -> None:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return
    axes = Figure(figsize=(6.5, 4.5), layout="constrained").add_subplot()
    curves: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for name, value in values.items():
        rho, radius, method = (part.strip() for part in name.split(","))
        if value is not None:
            curves.setdefault((rho, method), []).append((float(radius.removeprefix("radius ")), float(value)))
    colours = {rho: f"C{i}" for i, rho in enumerate(dict.fromkeys(rho for rho, _ in curves))}
    for (rho, method), points in curves.items():
        x, y = zip(*sorted(points), strict=True)
        label = rho if method == "gaussian" else None
        axes.plot(x, y, color=colours[rho], linestyle="-" if method == "gaussian" else ":", label=label)
    axes.set(xscale="log", yscale="log", xlabel="radius (m)", ylabel="epsilon per m at delta = 1e-10")
    axes.legend(title="exact Gaussian (solid), Lemma 3.7 (dotted)")
    axes.figure.savefig(path, dpi=130)  # type: ignore[union-attr]


PAPER = Paper(
    "004",
    "Paper 004: Concentrated Geo-Privacy",
    [
        Artefact(
            "lemma37",
            "what rho = 0.01 implies",
            _text_cells,
            "The paper rounds rho ≈ 0.01 for (1, 1e-10, 10); the exact form of its own lemma does not allow that much.",
        ),
        Artefact(
            "figure6",
            "implied (epsilon, delta, radius) curves",
            _curve_cells,
            "The paper draws curves without numbers; ours by its lemma and by the exact Gaussian curve.",
            _draw,
        ),
    ],
)
