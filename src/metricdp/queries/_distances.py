"""Distances from records to one public place, in floats with error bounds and in intervals: scores for a selection."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metricdp.errors import IncompatibleError, InvalidParameterError, OutOfSpaceError
from metricdp.noise import Interval, Precision, Scores, angle
from metricdp.spaces import Euclidean, FiniteSpace, Geographic, Space

Floats = NDArray[np.float64]


LARGEST = 1e150
"""Coordinates beyond this lie outside the public domain: their squares leave float64."""


@dataclass(frozen=True, slots=True)
class PlaneDistances:
    """Norms of differences."""

    points: Floats
    query: Floats
    norm: float

    def floats(self) -> tuple[Floats, Floats]:
        """Values and error bounds."""
        with np.errstate(over="ignore", under="ignore"):
            values = np.linalg.norm(self.points - self.query, ord=self.norm, axis=-1)
            error = values * (self.points.shape[1] + 8) * 2.0**-52 + 1e-140
        good = np.isfinite(values + error)
        return np.where(good, values, 0.0), np.where(good, error, np.inf)

    def interval(self, record: int, p: Precision) -> Interval:
        """From the exact rationals of the coordinates."""
        pairs = zip(self.points[record].tolist(), self.query.tolist(), strict=True)
        gaps = [abs(Fraction(a) - Fraction(b)) for a, b in pairs]
        if self.norm == 2:
            return p.exact(sum((gap * gap for gap in gaps), Fraction(0))).sqrt()
        return p.exact(max(gaps) if math.isinf(self.norm) else sum(gaps, Fraction(0)))


@dataclass(frozen=True, slots=True)
class GlobeDistances:
    """Great circles."""

    points: Floats
    query: Floats
    space: Geographic

    def floats(self) -> tuple[Floats, Floats]:
        """Values and error bounds."""
        values = np.asarray(self.space.distance(self.points, self.query))
        return values, values * 2.0**-46 + float(self.space.radius) * 2.0**-46

    def interval(self, record: int, p: Precision) -> Interval:
        """By the angle of two vectors, from the exact rationals of the degrees."""
        radian = p.pi() / p.exact(180)
        (lat_a, lon_a), (lat_b, lon_b) = self.points[record].tolist(), self.query.tolist()
        turn = Fraction(lon_b) - Fraction(lon_a)
        turn -= 360 * round(turn / 360)
        (cos_a, sin_a), (cos_b, sin_b), (cos_t, sin_t) = (
            (p.exact(Fraction(degrees)) * radian).cos_sin() for degrees in (Fraction(lat_a), Fraction(lat_b), turn)
        )
        east = cos_b * sin_t
        north = cos_a * sin_b - sin_a * cos_b * cos_t
        along = sin_a * sin_b + cos_a * cos_b * cos_t
        return angle((east.square() + north.square()).sqrt(), along) * p.exact(self.space.radius)


@dataclass(frozen=True, slots=True)
class TableDistances:
    """Distances of a finite space, which are the floats it stores."""

    values: Floats

    def floats(self) -> tuple[Floats, Floats]:
        """Values without error."""
        return self.values, np.zeros(len(self.values))

    def interval(self, record: int, p: Precision) -> Interval:
        """The float itself."""
        return p.exact(float(self.values[record]))


@dataclass(frozen=True, slots=True, eq=False)
class Reached:
    """Records of a space, ready to be measured from public places."""

    space: Space
    records: Any
    n: int

    @classmethod
    def of(cls, points: ArrayLike, space: Space | None) -> Reached:
        """Check the records; Euclidean (norm 2) by default, of the dimension they have.

        Raises:
            OutOfSpaceError, IncompatibleError: before anything else; naming rows only.
        """
        if space is None:
            try:
                shape = np.shape(points)
            except ValueError:
                shape = ()
            if len(shape) != 2:
                raise IncompatibleError(
                    f"The points have shape {shape}.", "Shape (n, d).", "Pass one row per record, or space=."
                )
            space = Euclidean(shape[1])
        if isinstance(space, FiniteSpace):
            records: Any = np.atleast_1d(space.positions(points))
            if records.ndim != 1:
                raise IncompatibleError("The records are no list of labels.", "One label each.", "Pass a list.")
        elif isinstance(space, Euclidean | Geographic):
            records = space.check(points)
            if records.ndim == 1:
                records = records[None]
            if records.ndim != 2:
                raise IncompatibleError(f"The points have shape {records.shape}.", "(n, d).", "One row per record.")
            far = np.abs(records).max(axis=1) > LARGEST
            if far.any():
                raise OutOfSpaceError(
                    f"The record at row {int(far.argmax())} lies outside the public domain.",
                    f"Coordinates up to {LARGEST:g} in size.",
                    "Rescale the coordinates.",
                )
        else:
            raise IncompatibleError(
                f"There are no distances to measure in a {type(space).__name__}.",
                "Euclidean, Geographic or a FiniteSpace.",
                "Pass space=Geographic(), say.",
            )
        if len(records) == 0:
            raise InvalidParameterError("There are no points.", "At least one.", "Pass the records.")
        return cls(space, records, len(records))

    def place(self, query: Any) -> Any:
        """A public place of the same space."""
        if isinstance(self.space, FiniteSpace):
            return int(self.space.positions([query])[0])
        assert isinstance(self.space, Euclidean | Geographic)
        place = self.space.check(query, "query")
        if place.ndim != 1:
            raise IncompatibleError("Several queries were given.", "One place.", "Ask one at a time.")
        return place

    def distances(self, query: Any) -> Scores:
        """Distances of all records from a public place."""
        place = self.place(query)
        if isinstance(self.space, Euclidean):
            return PlaneDistances(self.records, place, float(self.space.norm))
        if isinstance(self.space, Geographic):
            return GlobeDistances(self.records, place, self.space)
        assert isinstance(self.space, FiniteSpace)
        if self.space.points is not None:
            points = self.space.points
            return PlaneDistances(points[self.records], points[place], float(self.space.norm or 2))
        return TableDistances(self.space.block(self.records, [place])[:, 0])

    def stretch(self, query: Any) -> Fraction:
        """How far distances from the place move per unit that a record moves, in the distances the space stores.

        1 in R^d and on the globe; a hair more where stored distances of points are rounded; what a public matrix has at
        worst, since a matrix may carry float noise that breaks the triangle inequality for close items.
        """
        if not isinstance(self.space, FiniteSpace):
            return Fraction(1)
        if self.space.points is not None:
            return 1 + Fraction(self.space.points.shape[1] + 16, 2**51)
        place, everything = self.place(query), np.arange(len(self.space))
        reach = self.space.block(everything, [place])[:, 0]
        worst, size = 1.0, max(1, (1 << 22) // len(everything))
        for start in range(0, len(everything), size):
            rows = everything[start : start + size]
            apart = self.space.block(rows, everything)
            with np.errstate(divide="ignore", invalid="ignore"):
                moved = np.abs(reach[rows][:, None] - reach) / apart
            worst = max(worst, float(np.nan_to_num(moved, nan=0.0, posinf=0.0).max()))
        return Fraction(worst * (1 + 2.0**-48)) if worst > 1 else Fraction(1)
