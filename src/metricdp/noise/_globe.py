"""Laws on the sphere, as differences of latitude and longitude from the record.

Absolute latitudes lose everything near a pole; differences keep their relative precision. With up, north and east the
components of the displaced point in the frame of a record at latitude phi (the vector need not have length 1),

    X = cos(phi)·up - sin(phi)·north,    p = |(X, east)|,    q = p - X,
    longitude difference = angle of (X, east),
    latitude difference  = angle of (up + cos(phi)·q, north - sin(phi)·q).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metricdp.exact import sqrt_up
from metricdp.noise._bits import Words
from metricdp.noise._interval import Interval, angle
from metricdp.noise._law import TINY, Floats, uniforms
from metricdp.noise._plane import TURN, exact_polar, half_width, polar
from metricdp.spaces._geographic import sine_and_cosine

DEGREES = 180 / math.pi
NEAR_CUT = 3.0
"""Differences of latitude beyond this many radians are left to intervals: the angle jumps at pi."""


def places_of(latitudes: Floats) -> Floats:
    """What the laws need of a record: sine, cosine and latitude in degrees, shape (3, count)."""
    sine, cosine = sine_and_cosine(latitudes)
    return np.stack([sine, cosine, latitudes])


def differences(parts: list[Floats], errors: list[Floats], places: Floats, step: float) -> tuple[Floats, Floats]:
    """Differences (latitude, longitude) in steps, with bounds; `parts` and `errors` are of up, north, east.

    Derived in proofs/rounding.md; sine and cosine of the latitude carry relative errors below 2^-48.
    """
    up, north, east = parts
    e_up, e_north, e_east = errors
    sine, cosine = places[0], places[1]
    first, second = cosine * up, sine * north
    x = first - second
    e_x = cosine * e_up + np.abs(sine) * e_north + (np.abs(first) + np.abs(second)) * (4 * TINY)
    p = np.sqrt(x * x + east * east)
    e_p = e_x + e_east + p * (2 * TINY)
    whole = p + np.abs(x)
    ratio = east / whole
    q = np.where(x > 0, east * ratio, whole)
    e_q = (e_p + e_x) * (q / whole) + (2 * np.abs(ratio) + e_east / whole) * e_east
    e_q *= 1.25
    e_q += q * (4 * TINY)
    n = north - sine * q
    d = up + cosine * q
    e_n = e_north + e_q + (np.abs(north) + q) * (4 * TINY)
    e_d = e_up + e_q + (np.abs(up) + q) * (4 * TINY)
    size = n * n + d * d
    turn = np.arctan2(n, d)
    e_turn = (np.abs(d) * e_n + np.abs(n) * e_d) / size * 1.25 + np.abs(turn) * (2 * TINY)
    longitude = np.arctan2(east, x)
    e_longitude = (np.abs(x) * e_east + np.abs(east) * e_x) / (p * p) * 1.25 + np.abs(longitude) * (2 * TINY)
    unsure = ((e_n + e_d) * 16 > np.sqrt(size)) | ((e_p + e_x) * 16 > whole)
    e_turn[unsure | (np.abs(turn) > NEAR_CUT)] = np.inf
    e_longitude[(e_x + e_east) * 16 > p] = np.inf
    scale = DEGREES / step
    values = np.stack([turn, longitude])
    values *= scale
    bounds = np.stack([e_turn, e_longitude])
    bounds *= scale
    bounds += np.abs(values) * TINY
    return values, bounds


def exact_differences(up: Interval, north: Interval, east: Interval, latitude: float, step: Fraction) -> list[Interval]:
    """The same in intervals."""
    p = up.p
    turn = p.pi() / p.exact(180)
    near_pole = abs(latitude) > 45
    degrees = 90 - abs(Fraction(latitude)) if near_pole else abs(Fraction(latitude))
    cosine, sine = (p.exact(degrees) * turn).cos_sin()
    if near_pole:
        cosine, sine = sine, cosine
    if latitude < 0:
        sine = -sine
    x = cosine * up - sine * north
    q = (x.square() + east.square()).sqrt() - x
    difference = angle(north - sine * q, up + cosine * q) / turn
    if not difference.bounded:
        return [difference, difference]
    if latitude + difference.float() > 180:
        difference = difference - p.exact(360)
    elif latitude + difference.float() < -180:
        difference = difference + p.exact(360)
    steps = p.exact(1 / step)
    return [difference * steps, angle(east, x) / turn * steps]


@dataclass(frozen=True, slots=True)
class SphereLaplace:
    """Density proportional to e^(-sharpness·t) at angular distance t, in all directions alike.

    The radius t has density proportional to e^(-sharpness·t)·sin t on [0, pi]. For sharpness >= 1 it is drawn from
    Gamma(2) and kept with probability sin(t)/t (0 beyond pi), which is near 1 at any useful noise; for less from the
    uniform law of the sphere, kept with probability e^(-sharpness·t).

    Attributes:
        sharpness: epsilon times the radius of the sphere.
        step: the lattice, in degrees.
    """

    sharpness: Fraction
    step: Fraction
    numbers: int = 4
    outputs: int = 2
    bits: int = 32

    def floats(self, words: Words, places: Any) -> tuple[Floats, Floats, NDArray[np.int8]]:
        """Numbers: two of the radius, direction, acceptance."""
        u, width = uniforms(words)
        half = half_width(words)
        if self.sharpness >= 1:
            scale = float(1 / self.sharpness)
            t = np.log(u[0] * u[1])
            t *= -scale
            e_t = (width[0] + width[1] + (2.0**-50 + TINY)) * scale + t * (2 * TINY)
            sine = np.sin(t)
            keep = np.where(t < math.pi, sine / t, 0.0)
        else:
            t = 2 * np.arcsin(np.sqrt(u[0]))
            e_u = half + 3 * TINY
            e_t = 1.5 * e_u / np.sqrt(u[0] * (1 - u[0])) + t * (4 * TINY)
            e_t[np.minimum(u[0], 1 - u[0]) < 4 * e_u] = np.inf
            sine = np.sin(t)
            keep = np.exp(-float(self.sharpness) * t)
        slack = e_t + (half + 8 * TINY)
        verdict = np.zeros(len(t), dtype=np.int8)
        verdict[u[3] <= keep - slack] = 1
        verdict[u[3] >= keep + slack] = -1
        direction = u[2] * TURN
        e_direction = TURN * half + 8 * TINY
        north, east = np.cos(direction), np.sin(direction)
        north *= sine
        east *= sine
        e_side = e_t + t * e_direction
        errors = [np.abs(sine) * e_t + (e_t * e_t + 2 * TINY), e_side, e_side]
        values, bounds = differences([np.cos(t), north, east], errors, places, float(self.step))
        return values, bounds, verdict

    def interval(self, uniforms: list[Interval], place: Any) -> list[Interval] | int:
        """The same in intervals."""
        p = uniforms[0].p
        sharpness = p.exact(self.sharpness)
        if self.sharpness >= 1:
            t = -(uniforms[0].ln() + uniforms[1].ln()) / sharpness
            if t.lo > p.pi().hi:
                return -1
            cosine, sine = t.cos_sin()
            keep = sine / t if t.hi < p.pi().lo else p.exact(0).widened(Decimal(1))
        else:
            root = uniforms[0].sqrt()
            rest = (p.exact(1) - uniforms[0]).sqrt()
            t = p.exact(2) * angle(root, rest)
            cosine, sine = t.cos_sin()
            keep = (-(sharpness * t)).exp()
        if uniforms[3].lo >= keep.hi:
            return -1
        if uniforms[3].hi > keep.lo:
            return 0
        north, east = (p.exact(2) * p.pi() * uniforms[2]).cos_sin()
        return exact_differences(cosine, sine * north, sine * east, float(place[2]), self.step)


@dataclass(frozen=True, slots=True)
class SphereGaussian:
    """Normal noise of the given variance (in squared radians) in all three dimensions, projected back to the sphere."""

    variance: Fraction
    step: Fraction
    numbers: int = 4
    outputs: int = 2
    bits: int = 32

    def floats(self, words: Words, places: Any) -> tuple[Floats, Floats, None]:
        """Two pairs of normals: (north, east) and (up, not used)."""
        u, width = uniforms(words)
        half = half_width(words)
        scale = float(sqrt_up(self.variance))
        north, east, e_side = polar(u[0], width[0], u[1], half)
        up, _, e_up = polar(u[2], width[2], u[3], half)
        parts = [1.0 + scale * up, scale * north, scale * east]
        errors = [scale * (e_up + np.abs(up) * (2 * TINY)) + np.abs(parts[0]) * TINY]
        errors += [scale * (e_side + np.abs(part) * (2 * TINY)) for part in (north, east)]
        values, bounds = differences(parts, errors, places, float(self.step))
        return values, bounds, None

    def interval(self, uniforms: list[Interval], place: Any) -> list[Interval]:
        """The same in intervals."""
        p = uniforms[0].p
        scale = p.exact(self.variance).sqrt()
        north, east = exact_polar(uniforms[0], uniforms[1])
        up, _ = exact_polar(uniforms[2], uniforms[3])
        return exact_differences(p.exact(1) + scale * up, scale * north, scale * east, float(place[2]), self.step)
