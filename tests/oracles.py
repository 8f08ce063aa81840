"""An independent oracle for exact rounding: python-flint balls at 264 bits and more.

Given a mechanism's exact parameters, the stored coordinates of a record and the final bit prefixes of one item, the
oracle encloses the ideal output for *every* continuation of the prefixes and names the one lattice point that all of
them round to. Nothing of `metricdp.noise` is called for the values: the formulas are those of the laws' definitions,
and on the globe they work with absolute latitudes and longitudes of vectors in three dimensions, where the package
works with differences.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, ctx, fmpq

from metricdp import Gaussian, Geographic, Laplace
from metricdp.noise import Record, draw
from metricdp.noise._globe import places_of
from metricdp.testing import SeededEntropy

UNDECIDED, REJECTED = "undecided", "rejected"
UNIT = arb(0, 1)
"""The ball [-1, 1]."""


def ball(prefix: tuple[int, int]) -> arb:
    """All numbers whose bits begin with the prefix: [k, k+1]·2^-b."""
    k, bits = prefix
    return arb((2 * k + 1, -bits - 1), (1, -bits - 1))


def point(numerator: int, bits: int) -> arb:
    """One number, exactly: numerator·2^-bits."""
    return arb((numerator, -bits))


def ratio(value: Fraction | float) -> fmpq:
    """A rational or a float, exactly."""
    return fmpq(*value.as_integer_ratio())


# --- laws in R^d, in the unit of the space -------------------------------------------------------------------------


def normal(u: arb, turn: arb) -> tuple[arb, arb]:
    """Two normals: sqrt(-2 ln u) times the cosine and the sine of a uniform angle."""
    radius = (-2 * u.log()).sqrt()
    sine, cosine = (2 * turn).sin_cos_pi()
    return radius * cosine, radius * sine


def product(numbers: list[arb]) -> arb:
    """The product of all."""
    result = arb(1)
    for number in numbers:
        result *= number
    return result


def flat_laplace(norm: float, dim: int, numbers: list[arb]) -> list[arb]:
    """Noise of density e^(-|z|)."""
    if norm == 1 or dim == 1:
        half = arb(fmpq(1, 2))
        if numbers[0] >= half:
            return [-(2 * numbers[0] - 1).log()]
        return [(2 * numbers[0]).log()] if numbers[0] <= half else [arb.nan()]
    if norm == 2 and dim == 2:
        radius = -numbers[0].log() - numbers[1].log()
        sine, cosine = (2 * numbers[2]).sin_cos_pi()
        return [radius * cosine, radius * sine]
    if norm == 2:
        return mixture(dim, numbers)
    radius = -product(numbers[: dim + 1]).log()
    return [radius * (2 * number - 1) for number in numbers[dim + 1 :]]


def mixture(dim: int, numbers: list[arb]) -> list[arb]:
    """sqrt(2W) times normals, W ~ Gamma((dim+1)/2); normals: all cosines first, then all sines."""
    whole, pairs = (dim + 1) // 2, (dim + 1) // 2
    weight = -product(numbers[:whole]).log()
    rest = numbers[whole:]
    if dim % 2 == 0:
        weight += normal(rest[0], rest[1])[0] ** 2 / 2
        rest = rest[2:]
    mix = (2 * weight).sqrt()
    normals = [normal(*both) for both in zip(rest[:pairs], rest[pairs:], strict=True)]
    return [mix * pair[k] for k in (0, 1) for pair in normals][:dim]


# --- laws on the globe, in degrees ---------------------------------------------------------------------------------

Vector = tuple[arb, arb, arb]


def along(*terms: tuple[arb, Vector]) -> Vector:
    """A sum of multiples of vectors."""
    return tuple(sum((factor * vector[i] for factor, vector in terms), arb(0)) for i in range(3))  # type: ignore[return-value]


def dot(a: Vector, b: Vector) -> arb:
    """Scalar product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def frame(latitude: float, longitude: float) -> tuple[Vector, Vector, Vector]:
    """Unit vectors up, north and east of a position, in absolute coordinates."""
    sine, cosine = (arb(ratio(latitude)) / 180).sin_cos_pi()
    sine_l, cosine_l = (arb(ratio(longitude)) / 180).sin_cos_pi()
    up = (cosine * cosine_l, cosine * sine_l, sine)
    return up, (-sine * cosine_l, -sine * sine_l, cosine), (-sine_l, cosine_l, arb(0))


def position(v: Vector, moves: list[Vector], bend: arb) -> list[arb]:
    """Latitude and longitude in degrees of all vectors v + sum of s_i·moves_i + r, with |s_i| <= 1 and |r| <= bend.

    Taylor: the gradients of latitude and longitude are north/|v| and east/p, where p is the distance from the axis; the
    second derivatives are at most 3/(p·|v|) and 2/p².
    """
    x, y, z = v
    p = (x * x + y * y).sqrt()
    size = (p * p + z * z).sqrt()
    total = sum((dot(move, move).sqrt() for move in moves), bend).upper()
    near = p - total
    if not near > 0:
        return [arb.nan(), arb.nan()]
    north = (-z * x / (p * size), -z * y / (p * size), p / size)
    east = (-y / p, x / p, arb(0))
    spread = sum((abs(dot(north, move)) for move in moves), bend) / size
    spread += total * total / (near * (size - total)) * 3 / 2
    spread_l = sum((abs(dot(east, move)) for move in moves), bend) / p + (total / near) ** 2
    latitude = arb.atan2(z, p) + spread.upper() * UNIT
    longitude = arb.atan2(-y, -x) + arb.pi() if x < 0 else arb.atan2(y, x)
    degree = arb.pi() / 180
    return [latitude / degree, (longitude + spread_l.upper() * UNIT) / degree]


def arc(sharpness: fmpq, numbers: list[arb]) -> arb:
    """The angular distance before acceptance: Gamma(2)/sharpness, or that of a uniform point of the sphere."""
    if sharpness >= 1:
        return (-numbers[0].log() - numbers[1].log()) / sharpness
    low, high = ((1 - 2 * end).acos() for end in (numbers[0].lower(), numbers[0].upper()))
    return low.union(high)


def globe_laplace(sharpness: fmpq, place: tuple[float, float], numbers: list[arb]) -> list[arb] | str:
    """The displaced position, or that the bits are not (or not surely) accepted."""
    t = arc(sharpness, numbers)
    if t > arb.pi():
        return REJECTED
    if not t < arb.pi():
        return UNDECIDED
    middle, spread = t.mid(), t.rad()
    sine, cosine = middle.sin_cos()
    # |d/dt sin(t)/t| < 1/2, |d/dt exp(-sharpness·t)| < 1
    keep = middle.sinc() + spread * UNIT / 2 if sharpness >= 1 else (-sharpness * middle).exp() + spread * UNIT
    if numbers[3] > keep:
        return REJECTED
    if not numbers[3] < keep:
        return UNDECIDED
    up, north, east = frame(*place)
    half = 2 * arb.pi() * numbers[2].rad()
    sine_a, cosine_a = (2 * numbers[2].mid()).sin_cos_pi()
    outward, sideward = along((cosine_a, north), (sine_a, east)), along((-sine_a, north), (cosine_a, east))
    v = along((cosine, up), (sine, outward))
    moves = [along((-sine * spread, up), (cosine * spread, outward)), along((sine * half, sideward))]
    return position(v, moves, spread * spread / 2 + spread * half + (abs(sine) + spread) * half * half / 2)


def globe_gaussian(deviation: arb, place: tuple[float, float], numbers: list[arb]) -> list[arb]:
    """The position below up + deviation·(three normals)."""
    up, north, east = frame(*place)
    height, _ = normal(numbers[2], numbers[3])
    radius = deviation * (-2 * numbers[0].log()).sqrt()
    half = 2 * arb.pi() * numbers[1].rad()
    sine, cosine = (2 * numbers[1].mid()).sin_cos_pi()
    outward, sideward = along((cosine, north), (sine, east)), along((-sine, north), (cosine, east))
    v = along((1 + deviation * height.mid(), up), (radius.mid(), outward))
    moves = [
        along((radius.rad(), outward)),
        along((radius.mid() * half, sideward)),
        along((deviation * height.rad(), up)),
    ]
    return position(v, moves, radius.rad() * half + (radius.mid() + radius.rad()) * half * half / 2)


# --- from values to lattice points ---------------------------------------------------------------------------------


def outputs(mechanism: Any, place: list[float], numbers: list[arb]) -> list[arb] | str:
    """The ideal outputs of one item in lattice steps, counted from 0; `place` holds the coordinates of the item."""
    space, step = mechanism.space, ratio(mechanism._step)
    if isinstance(space, Geographic):
        here, radius = (place[0], place[1]), ratio(space.radius)
        if isinstance(mechanism, Laplace):
            there = globe_laplace(ratio(mechanism.epsilon) * radius, here, numbers)
        else:
            there = globe_gaussian((1 / arb(2 * ratio(mechanism.rho) * radius * radius)).sqrt(), here, numbers)
        return there if isinstance(there, str) else [angle / step for angle in there]
    if isinstance(mechanism, Laplace):
        noise, scale = flat_laplace(space.norm, space.dim, numbers), 1 / arb(ratio(mechanism.epsilon) * step)
    else:
        noise, scale = list(normal(*numbers)), (1 / arb(2 * ratio(mechanism.rho) * step * step)).sqrt()
    return [arb(ratio(x) / step) + z * scale for x, z in zip(place, noise, strict=True)]


def offset(value: arb, x: float, step: Fraction) -> int | None:
    """floor(value + 1/2), counted from the lattice point nearest to the record; None if not unique."""
    found = (value + fmpq(1, 2)).floor().unique_fmpz() if value.is_finite() else None
    return None if found is None else int(found) - round(Fraction(x) / step)


def working_bits(prefixes: list[tuple[int, int]]) -> int:
    """Precision that grows with the longest prefix."""
    return 200 + 2 * max(bits for _, bits in prefixes)


def outcome(mechanism: Any, place: list[float], prefixes: list[tuple[int, int]]) -> list[int] | str:
    """Lattice points as `draw` counts them (longitudes modulo a turn), "undecided", or "rejected"."""
    with ctx.workprec(working_bits(prefixes)):
        values = outputs(mechanism, place, [ball(prefix) for prefix in prefixes])
        if isinstance(values, str):
            return values
        found = [offset(value, x, mechanism._step) for value, x in zip(values, place, strict=True)]
    return UNDECIDED if None in found else found  # type: ignore[return-value]


# --- comparing with the package ------------------------------------------------------------------------------------


@dataclass
class Tally:
    """What a comparison found; `refined` counts items with more than their first bits, `deep` with more than 64."""

    releases: int = 0
    items: int = 0
    differences: int = 0
    undecided: int = 0
    refined: int = 0
    deep: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(*(a + b for a, b in zip(vars(self).values(), vars(other).values(), strict=True)))


def grouped(rows: np.ndarray, wide: int) -> np.ndarray:
    """Coordinates by item, shape (wide, items), padded with zeros."""
    flat = rows.reshape(-1)
    return np.append(flat, np.zeros(-flat.size % wide)).reshape(-1, wide).T


def compare(mechanism: Any, rows: np.ndarray, seed: int, law: Callable[[Any], Any] = lambda law: law) -> Tally:
    """Release the rows, and check every coordinate against the oracle; `law` may wrap the law that is drawn from."""
    space, step, used = mechanism.space, float(mechanism._step), law(mechanism._law)
    globe = isinstance(space, Geographic)
    items = grouped(rows, used.outputs)
    nearest = np.rint(items / step)
    record = Record()
    fractions = np.ascontiguousarray(items / step - nearest)
    steps = draw(used, fractions, SeededEntropy(seed), places_of(items[0]) if globe else None, record)
    tally = Tally(len(rows), items.shape[1], refined=len(record.longer))
    tally.deep = sum(known[0][1] > 64 for known in record.longer.values())
    turn = int(360 / mechanism._step)
    places, found = items.T.tolist(), steps.T.tolist()
    for i, (place, point_) in enumerate(zip(places, found, strict=True)):
        expected = outcome(mechanism, place, record.prefixes(i))
        if globe and not isinstance(expected, str):
            expected, point_ = [expected[0], expected[1] % turn], [point_[0], point_[1] % turn]
        tally.undecided += expected == UNDECIDED
        tally.differences += expected not in (UNDECIDED, point_)
    if used is mechanism._law:
        released = mechanism.release(rows, entropy=SeededEntropy(seed))
        expected = nearest.astype(np.int64) + steps
        if globe:
            expected[1] = (expected[1] + turn // 2) % turn - turn // 2
        expected = (expected.T.reshape(-1)[: rows.size] * step).reshape(rows.shape)
        tally.differences += int((expected != released).sum())
    return tally


__all__ = ["REJECTED", "UNDECIDED", "Gaussian", "Laplace", "Tally", "ball", "compare", "outcome", "outputs", "point"]


def exact_epsilon(weights: Any, distances: Any) -> float:
    """The loss of a table, from its integers (or floats), by rationals and 200-bit logarithms; inf where it is."""
    worst = arb(0)
    rows = [[Fraction(value) for value in row] for row in np.asarray(weights).tolist()]
    for i, u in enumerate(rows):
        for j, v in enumerate(rows):
            if i == j:
                continue
            if any(a > 0 and b == 0 for a, b in zip(u, v, strict=True)):
                return math.inf
            most = max((a / b for a, b in zip(u, v, strict=True) if b > 0), default=Fraction(1))
            if most > 1:
                value = arb(ratio(most)).log() / arb(float(distances[i][j]))
                worst = value if bool(value > worst) else worst
    return float(worst.mid())


def edits(a: str, b: str) -> int:
    """Levenshtein distance."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a):
        last, row[0] = row[0], i + 1
        for j, y in enumerate(b):
            last, row[j + 1] = row[j + 1], min(row[j + 1] + 1, row[j] + 1, last + (x != y))
    return row[-1]
