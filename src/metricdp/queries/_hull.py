"""A private convex hull (paper 004, Algorithm 4), and the version with the query points twice as far out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metricdp import entropy as randomness
from metricdp.entropy import Entropy
from metricdp.errors import IncompatibleError, InvalidParameterError, MissingExtraError
from metricdp.exact import Number, positive, sqrt_up
from metricdp.guarantee import Guarantee
from metricdp.ledger import Ledger
from metricdp.mechanisms import Gaussian, Laplace
from metricdp.noise import Real, draw_reals, smallest
from metricdp.queries._answer import Budget, charge
from metricdp.queries._distances import PlaneDistances, Reached
from metricdp.queries._neighbours import one_by_sparse_vector, paper_epsilon
from metricdp.queries._sparse_vector import greatest
from metricdp.spaces import Euclidean

Floats = NDArray[np.float64]
Method = Literal["double_circle", "paper"]

BETA = 0.05
"""Error statements hold with probability 95 %."""

FEWEST, MOST = 8, 128
"""Anchors that "auto" chooses among."""

FRAME = Fraction(1, 20)
"""Share of the budget for centre and radius."""


@dataclass(frozen=True, slots=True, eq=False)
class Hull:
    """A released hull.

    Attributes:
        vertices: (m, 2), counter-clockwise; what is drawn.
        anchors: row numbers of the records behind it (released too: they are part of the private selection).
        points: where the anchors were released, in the order of `anchors`.
        guarantee: over tuples of all records under the largest distance.
        about: centre, radius, k, split and a bound of the error.
    """

    vertices: Floats
    anchors: NDArray[np.intp]
    points: Floats
    guarantee: Guarantee
    about: dict[str, Any] = field(default_factory=dict)

    @property
    def polygon(self) -> Any:
        """As shapely (extra `geo`): a polygon, or a line or point where there is no more."""
        try:
            from shapely import MultiPoint  # type: ignore[import-untyped,unused-ignore]
        except ImportError:
            raise MissingExtraError(
                "Polygons need shapely.", "`.vertices` needs nothing.", "Install it: pip install 'metricdp[geo]'."
            ) from None
        return MultiPoint(self.vertices).convex_hull

    def geojson(self) -> dict[str, Any]:
        """A GeoJSON geometry; coordinates as they are."""
        rows = self.vertices.tolist()
        if len(rows) == 1:
            return {"type": "Point", "coordinates": rows[0]}
        if len(rows) == 2:
            return {"type": "LineString", "coordinates": rows}
        ring = [*rows, rows[0]]
        return {"type": "Polygon", "coordinates": [ring]}


def convex_hull(
    points: ArrayLike,
    *,
    epsilon: Number | None = None,
    rho: Number | None = None,
    method: Method = "double_circle",
    k: int | Literal["auto"] = "auto",
    split: Sequence[Number] | Literal["auto"] = "auto",
    space: Euclidean | None = None,
    entropy: Entropy | None = None,
    ledger: Ledger | None = None,
    subject: str | None = None,
) -> Hull:
    """The outline of a private set of points in the plane.

    Definition:
        A private centre (midpoints of the coordinates, sqrt(2)-Lipschitz) and a private radius around it; k places
        evenly on a circle; the record nearest to each, privately; those records with noise; their hull.
        "double_circle": circle of twice the radius, one exponential selection for each place. "paper": circle of the
        radius, Algorithm 2 for each place.

    Guarantee:
        Over tuples of all records under the largest distance any of them moves: pure epsilon, or rho. Proof:
        proofs/hull.md.

    Args:
        points: (n, 2).
        epsilon: total pure loss per unit of distance; or
        rho: total concentrated loss per squared unit.
        method: "double_circle" or "paper".
        k: how many places; "auto" balances the errors from the private radius, 8 to 128.
        split: shares for frame (centre and radius), selection and release; "auto" takes 1/20 for the frame, and what is
            best for the rest ("paper": half for the release).
        space: `Euclidean(2)`, to give it a unit.
        entropy: where bits come from.
        ledger: charged before anything is sampled.
        subject: whose account.

    Returns:
        A `Hull`; `.about["error"]` bounds the Hausdorff distance to the true hull in 95 % of answers.

    Examples:
        >>> square = [[0, 0], [0, 100], [100, 0], [100, 100], [50, 50]]
        >>> hull = convex_hull(square, epsilon=1000)
        >>> len(hull.vertices), len(hull.anchors)
        (4, 5)
    """
    source = randomness.source(entropy)
    budget = Budget.of(epsilon, rho)
    where = Euclidean(2) if space is None else space
    if not isinstance(where, Euclidean) or where.dim != 2 or where.norm != 2:
        raise IncompatibleError("Hulls are drawn in the plane.", "Euclidean(2) with norm 2.", "Project the points.")
    reached = Reached.of(points, where)
    if not isinstance(method, str) or method not in ("double_circle", "paper"):
        raise InvalidParameterError("That method is not known.", "double_circle or paper.", "Choose one of them.")
    whole = isinstance(k, int | np.integer) and not isinstance(k, bool) and k >= 3
    if not whole and not (isinstance(k, str) and k == "auto"):
        raise InvalidParameterError("k is no whole number >= 3.", "3, 4, …, or auto.", "Use auto.")
    shares = _shares(split)
    _check_size(budget)
    guarantee = budget.guarantee(where, reached.n, "hull")
    charge(ledger, guarantee, "convex hull", subject)
    frame = FRAME if shares is None else shares[0]
    if shares is None and method == "paper":
        frame = FRAME / 2
    centre, radius = _framed(reached, budget.share(frame), source)
    plan = _planned(reached.n, radius, budget, method, k, shares, frame)
    circle = radius * (2 if method == "double_circle" else 1)
    if plan.k >= reached.n:
        anchors = np.arange(reached.n)
    else:
        angles = 2 * math.pi * np.arange(plan.k) / plan.k
        places = centre + circle * np.column_stack([np.cos(angles), np.sin(angles)])
        anchors = np.unique([_nearest(reached, place, plan, method, source) for place in places])
    released = _released(reached.records[anchors], plan.release, where, source)
    about = {
        "centre": centre.tolist(),
        "radius": radius,
        "k": plan.k,
        "split": tuple(map(float, plan.shares)),
        "error": plan.error,
        "method": method,
    }
    return Hull(outline(released), anchors, released, guarantee, about)


@dataclass(frozen=True, slots=True)
class _Plan:
    k: int
    selection: Budget
    release: Budget
    shares: tuple[Fraction, Fraction, Fraction]
    error: float


def _shares(split: Any) -> tuple[Fraction, Fraction, Fraction] | None:
    if isinstance(split, str) and split == "auto":
        return None
    if not isinstance(split, list | tuple) or len(split) != 3:
        raise InvalidParameterError("The split is no triple.", "Frame, selection, release; or auto.", "Use auto.")
    frame, selection, release = (positive(part, "split") for part in split)
    total = frame + selection + release
    return frame / total, selection / total, release / total


def _check_size(budget: Budget) -> None:
    """Refuse budgets whose noise leaves float64, by public numbers, before anything is charged."""
    size = budget.epsilon if budget.epsilon is not None else budget.rho
    assert size is not None
    if not Fraction(1, 10**120) < size < 10**120:
        raise InvalidParameterError("The budget is out of range.", "1e-120 to 1e120.", "Rescale the coordinates.")


def _framed(reached: Reached, budget: Budget, source: Entropy) -> tuple[Floats, float]:
    """A private centre (2/3 of the budget) and a radius that holds all records in 95 % of draws."""
    around = _noise(Euclidean(2), budget.share(Fraction(2, 3)), Fraction(2))
    outward = _noise(Euclidean(1), budget.share(Fraction(1, 3)), Fraction(1))
    low, high = reached.records.min(axis=0), reached.records.max(axis=0)
    middles = [(Fraction(a) + Fraction(b)) / 2 for a, b in zip(low.tolist(), high.tolist(), strict=True)]
    centre = np.array(_with_noise(around, [_fixed(middle) for middle in middles], source))
    scores = PlaneDistances(reached.records, centre, 2)
    radius = _with_noise(outward, [lambda p: greatest(scores, p)], source)[0]
    if isinstance(outward, Gaussian):
        spread = math.sqrt(math.log(2 / BETA) / float(outward.rho))
    else:
        spread = math.log(1 / BETA) / float(outward.epsilon)
    return centre, max(radius + spread, spread / 4)


def _noise(space: Euclidean, budget: Budget, squared: Fraction) -> Gaussian | Laplace:
    """Noise for a map that moves by at most sqrt(`squared`) per unit."""
    if budget.rho is not None:
        return Gaussian(space, budget.rho / squared)
    assert budget.epsilon is not None
    return Laplace(space, budget.epsilon / sqrt_up(squared))


def _fixed(value: Fraction) -> Real:
    return lambda p: p.exact(value)


def _with_noise(noise: Gaussian | Laplace, reals: list[Real], source: Entropy) -> list[float]:
    """Coordinates that are no floats, with noise, rounded to the lattice of the mechanism once."""
    step, law = noise._step, noise._law  # noqa: SLF001

    def in_steps(real: Real) -> Real:
        return lambda p: real(p) / p.exact(step)

    unused = [_fixed(Fraction(0))] * (law.outputs - len(reals))
    drawn = draw_reals(law, [in_steps(real) for real in [*reals, *unused]], source)
    return [float(point * step) for point in drawn[: len(reals)]]


def _nearest(reached: Reached, place: Floats, plan: _Plan, method: Method, source: Entropy) -> int:
    scores = PlaneDistances(reached.records, place, 2)
    if method == "double_circle":
        return int(smallest(scores, plan.selection.exponent(plan.k), 1, source)[0])
    return one_by_sparse_vector(scores, paper_epsilon(plan.k, plan.selection), Fraction(0), source)


def _released(anchors: Floats, budget: Budget, space: Euclidean, source: Entropy) -> Floats:
    """Each anchor with its share of the budget, under the largest distance."""
    each = budget.share(Fraction(1, len(anchors)))
    noise = _noise(space, each, Fraction(1))
    rows = anchors.tolist()
    return np.array([_with_noise(noise, [_fixed(Fraction(value)) for value in row], source) for row in rows])


def _planned(
    n: int,
    radius: float,
    budget: Budget,
    method: Method,
    k: int | Literal["auto"],
    shares: tuple[Fraction, Fraction, Fraction] | None,
    frame: Fraction,
) -> _Plan:
    """Number of places and split with the smallest bound of the error, from public and released numbers only."""
    rest = 1 - frame
    if shares is not None:
        halves = [shares[1]]
    elif method == "paper":
        halves = [Fraction(1, 2) - frame]
    else:
        halves = [rest * Fraction(part, 20) for part in range(4, 20)]
    numbers = range(min(FEWEST, n), min(MOST, n) + 1) if k == "auto" else [min(int(k), n)]
    best: _Plan | None = None
    for selection in halves:
        for count in numbers:
            parts = (frame, selection, rest - selection)
            plan = _bounded(n, count, radius, budget, method, parts)
            if best is None or plan.error < best.error:
                best = plan
    assert best is not None
    return best


def _bounded(
    n: int, k: int, radius: float, budget: Budget, method: Method, parts: tuple[Fraction, Fraction, Fraction]
) -> _Plan:
    """The plan with this many places, and the sum of its three errors (proofs/hull.md)."""
    frame, selection, release = parts
    if k >= n:
        selection, release = Fraction(0), selection + release
        picked, shape = 0.0, 0.0
    elif method == "double_circle":
        picked = math.log(3 * n * k / BETA) / float(budget.share(selection).exponent(k))
        shape = 2 * math.pi**2 * radius / k**2 / (1 - 2 * math.pi / k) if k > 6 else 4 * radius
    else:
        each = float(paper_epsilon(k, budget.share(selection)))
        size = math.log(3 * (4 * n + 2) * k / BETA)
        picked = 3 / each * (math.sqrt(2 * size) + size) + 12 / each * size
        shape = 2 * math.pi * radius / k
    anchors = min(k, n)
    share = budget.share(release / anchors)
    tail = math.log(3 * anchors / BETA)
    moved = math.sqrt(tail / float(share.rho)) if share.rho is not None else 2 * tail / float(share.epsilon or 1)
    chosen = budget.share(selection) if selection else budget
    return _Plan(k, chosen, budget.share(release), (frame, selection, release), picked + shape + moved)


def outline(points: Floats) -> Floats:
    """Vertices of the convex hull, counter-clockwise (monotone chain); the two ends where points lie on a line."""
    rows = sorted({tuple(point) for point in points.tolist()})
    if len(rows) < 3:
        return np.array(rows)

    def chain(ordered: list[Any]) -> list[Any]:
        kept: list[Any] = []
        for point in ordered:
            while len(kept) > 1 and _turn(kept[-2], kept[-1], point) <= 0:
                kept.pop()
            kept.append(point)
        return kept[:-1]

    return np.array(chain(rows) + chain(rows[::-1]))


def _turn(a: Any, b: Any, c: Any) -> float:
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))
