"""The surface of the earth: latitude and longitude in degrees, great-circle distance."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metricdp import units
from metricdp.errors import InvalidParameterError, OutOfSpaceError
from metricdp.spaces._space import Floats, as_rows, broadcast, check_unit, finite_rows, first_bad

EARTH_RADIUS = Fraction(63710088, 10)
"""Mean radius of the sphere in metres, exactly 6,371,008.8."""

WGS84_STRETCH = 1.0057
"""On the WGS84 ellipsoid the loss per true metre is at most this many times the loss per great-circle metre.

The smallest radius of curvature of the ellipsoid is a(1 - e^2) = 6,335,439.4 m, along the meridian at the equator:
a true metre there is an angle of 1/6,335,439.4, which the sphere counts as 1.00562 great-circle metres.
"""


@dataclass(frozen=True, slots=True)
class Geographic:
    """Positions on the globe: rows of (latitude, longitude) in degrees.

    The distance is the great circle on a sphere of radius 6,371,008.8 m. Poles and the antimeridian are ordinary
    places; 180 and -180 are the same meridian.

    Args:
        unit: the unit of distance: "m", "km", "mi", "nmi", "ft", "cm" or "mm".

    Raises:
        InvalidParameterError: the unit is not a length.

    Examples:
        >>> round(Geographic("km").distance([0.0, 179.5], [0.0, -179.5]), 2)
        111.2
    """

    unit: str = "m"

    def __post_init__(self) -> None:
        check_unit(self.unit)
        if not units.known(self.unit):
            raise InvalidParameterError(
                f"The unit {self.unit!r} is not a length.",
                f"A length: {', '.join(units.METRES)}.",
                'Use Geographic("m") or Geographic("km").',
            )

    @property
    def radius(self) -> Fraction:
        """Radius of the sphere in the unit of the space, exactly."""
        return EARTH_RADIUS / units.METRES[self.unit]

    @property
    def diameter(self) -> float:
        """Half the circumference: the distance to the antipode (rounded up)."""
        return math.nextafter(math.pi * float(self.radius), math.inf)

    def check(self, x: ArrayLike, what: str = "record") -> Floats:
        """The positions as float64 of shape (2,) or (n, 2), or an error that names the row."""
        rows = as_rows(x, 2, what)
        inside = np.abs(rows) <= np.array([90.0, 180.0])
        if not inside.all():
            raise OutOfSpaceError(
                f"The {what} at row {first_bad(inside)} is not a position.",
                "Latitudes lie in [-90, 90] and longitudes in [-180, 180], in degrees, latitude first.",
                "Check the order of the columns and the unit of the angles.",
            )
        return rows

    def distance(self, x: ArrayLike, y: ArrayLike) -> Any:
        """Great-circle distance; accurate for near, far and antipodal pairs; batches broadcast."""
        a, b = self.check(x), self.check(y, "second record")
        broadcast(a, b)
        delta = np.radians(b[..., 0] - a[..., 0])
        turn = np.radians(np.remainder(b[..., 1] - a[..., 1] + 180.0, 360.0) - 180.0)
        sin_a, cos_a = sine_and_cosine(a[..., 0])
        _, cos_b = sine_and_cosine(b[..., 0])
        half = 2.0 * np.sin(turn / 2) ** 2
        east = cos_b * np.sin(turn)
        north = np.sin(delta) + sin_a * cos_b * half
        up = np.cos(delta) - cos_a * cos_b * half
        result = float(self.radius) * np.arctan2(np.hypot(east, north), up)
        return float(result) if np.ndim(result) == 0 else result

    def contains(self, x: ArrayLike) -> NDArray[np.bool_]:
        """True where a row is a latitude and a longitude in range."""
        good = finite_rows(x, 2)
        if good.ndim == 0 and not good:
            return good
        with np.errstate(invalid="ignore"):
            return np.asarray(good & (np.abs(np.asarray(x, dtype=np.float64)) <= [90.0, 180.0]).all(axis=-1))

    def with_unit(self, unit: str) -> Geographic:
        """The same globe, distances in another unit."""
        return replace(self, unit=unit)

    def describe(self) -> str:
        """One line for people."""
        return f"positions on the globe (latitude, longitude in degrees), great-circle distance in {self.unit}"

    def identity(self) -> dict[str, Any]:
        """Content, as JSON values."""
        return {"space": "Geographic", "unit": self.unit}


def sine_and_cosine(latitude: Floats) -> tuple[Floats, Floats]:
    """Sine and cosine of latitudes in degrees, each to a few ulps *relatively*, also next to the poles.

    Above 45 degrees the angle to the pole is used; 90 - |latitude| is exact in floats there.
    """
    size = np.abs(latitude)
    near_pole = size > 45.0
    angle = np.where(near_pole, 90.0 - size, size) * (math.pi / 180.0)
    sine, cosine = np.sin(angle), np.cos(angle)
    return np.copysign(np.where(near_pole, cosine, sine), latitude), np.where(near_pole, sine, cosine)
