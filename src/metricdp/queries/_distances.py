"""Distances from records to one public place, in floats with error bounds and in intervals: scores for a selection."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metricdp.errors import IncompatibleError, InvalidParameterError
from metricdp.noise import Interval, Precision, Scores, angle
from metricdp.spaces import Euclidean, FiniteSpace, Geographic, Space

Floats = NDArray[np.float64]


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
        return values, np.where(np.isfinite(values), error, np.inf)

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
    n: int = field(default=0)

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
        elif isinstance(space, Euclidean | Geographic):
            records = space.check(points)
            if records.ndim == 1:
                records = records[None]
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
        return TableDistances(self.space.block(self.records, [place])[:, 0])
