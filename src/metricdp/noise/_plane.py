"""Laws in R^d: Laplace for the norms 1, 2 and infinity, and Gaussian."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from metricdp.exact import sqrt_up
from metricdp.noise._bits import Words
from metricdp.noise._interval import Interval
from metricdp.noise._law import TINY, Floats, uniforms

TURN = 2 * math.pi
GROUP = 8
"""Uniform numbers multiplied before one logarithm is taken: 8 numbers above 2**-64 stay above 2**-512."""


def sum_of_exponentials(u: Floats, width: Floats) -> tuple[Floats, Floats]:
    """-ln of the product of the rows of u (Gamma distributed), and its error."""
    count = len(u)
    total = np.zeros(u.shape[1])
    error = width.sum(axis=0)
    for start in range(0, count, GROUP):
        total -= np.log(np.multiply.reduce(u[start : start + GROUP], axis=0))
    error *= 1 + count * 2.0**-52
    error += total * (2 * TINY + (count // GROUP + 2) * 2.0**-52) + count * (2.0**-50 + TINY)
    return total, error


def polar(u: Floats, width: Floats, turn: Floats, half: float) -> tuple[Floats, Floats, Floats]:
    """Box and Muller: two independent normals from two uniforms, and their common error.

    The radius is s = sqrt(-2 ln u); |sqrt(S) - sqrt(s)| <= e/(1.8·sqrt(s)) where |S - s| <= e <= s/4.
    `half` bounds the distance of the angle's uniform from the middle of its interval.
    """
    square = -2.0 * np.log(u)
    error = 2.0 * width + square * TINY
    radius = np.sqrt(square)
    spread = np.divide(error, 1.8 * radius)
    spread[error > square * 0.25] = np.inf
    angle = turn * TURN
    spread += radius * (TURN * half + 8 * TINY)
    return radius * np.cos(angle), radius * np.sin(angle), spread


def exact_polar(u: Interval, turn: Interval) -> tuple[Interval, Interval]:
    """The same in intervals."""
    p = u.p
    radius = (p.exact(-2) * u.ln()).sqrt()
    cosine, sine = (p.exact(2) * p.pi() * turn).cos_sin()
    return radius * cosine, radius * sine


def half_width(words: Words) -> float:
    """Largest |U - u| of a prefix: half its interval, and the rounding of the middle."""
    return 0.5 ** (words.dtype.itemsize * 8 + 1) + 2.0**-52


@dataclass(frozen=True, slots=True)
class IndependentLaplace:
    """One coordinate: density proportional to e^(-|z|/scale). The first bit is the sign, the others the size."""

    scale: Fraction
    numbers: int = 1
    outputs: int = 1
    bits: int = 32

    def floats(self, words: Words, places: Any) -> tuple[Floats, Floats, None]:
        """-ln of the number behind the sign bit, with the sign."""
        bits = words.dtype.itemsize * 8
        low = words & words.dtype.type((1 << (bits - 1)) - 1)
        number = low.astype(np.float64)
        width = np.divide(0.5, number)
        number += 0.5
        number *= 2.0 ** -(bits - 1)
        size = -np.log(number)
        scale = float(self.scale)
        error = scale * (width + (2.0**-50 + TINY) * (1.0 + size))
        size *= scale
        return np.where(words > low, size, -size), error, None

    def interval(self, uniforms: list[Interval], place: Any) -> list[Interval]:
        """The same; both signs stay possible only before the first bit is known, which never happens."""
        p = uniforms[0].p
        half = p.exact(Fraction(1, 2))
        negative = uniforms[0].hi <= half.lo
        rest = p.exact(2) * (uniforms[0] if negative else uniforms[0] - half)
        size = p.exact(-self.scale) * rest.ln()
        return [-size if negative else size]


@dataclass(frozen=True, slots=True)
class PlanarLaplace:
    """Two coordinates: density proportional to e^(-|z|/scale); radius Gamma(2), uniform angle."""

    scale: Fraction
    numbers: int = 3
    outputs: int = 2
    bits: int = 32

    def floats(self, words: Words, places: Any) -> tuple[Floats, Floats, None]:
        """Radius -ln(u1·u2), angle 2·pi·u3."""
        scale = float(self.scale)
        u, width = uniforms(words)
        radius = np.log(u[0] * u[1])
        radius *= -scale
        error = width[0] + width[1]
        error += 2.0**-50 + TINY
        error *= scale
        error += radius * (TURN * half_width(words) + 8 * TINY)
        angle = u[2] * TURN
        values = np.empty((2, words.shape[1]))
        np.multiply(radius, np.cos(angle), out=values[0])
        np.multiply(radius, np.sin(angle), out=values[1])
        return values, np.broadcast_to(error, values.shape), None

    def interval(self, uniforms: list[Interval], place: Any) -> list[Interval]:
        """The same in intervals."""
        p = uniforms[0].p
        radius = p.exact(-self.scale) * (uniforms[0].ln() + uniforms[1].ln())
        cosine, sine = (p.exact(2) * p.pi() * uniforms[2]).cos_sin()
        return [radius * cosine, radius * sine]


class MixtureLaplace:
    """d coordinates: density proportional to e^(-|z|_2/scale), as sqrt(2W) times d normals, W ~ Gamma((d+1)/2).

    The characteristic function of sqrt(2W)·g is E e^(-W|t|²) = (1+|t|²)^(-(d+1)/2), which is that of the density
    e^(-|z|) in d dimensions. W is a sum of (d+1)//2 exponentials, and half a squared normal more where d is even.
    """

    __slots__ = ("dim", "exponentials", "numbers", "outputs", "pairs", "scale")
    bits = 64

    def __init__(self, scale: Fraction, dim: int) -> None:
        self.scale = scale
        self.dim = self.outputs = dim
        self.exponentials = (dim + 1) // 2 + (1 - dim % 2) * 2
        self.pairs = (dim + 1) // 2
        self.numbers = self.exponentials + 2 * self.pairs

    def floats(self, words: Words, places: Any) -> tuple[Floats, Floats, None]:
        """First the numbers of W, then those of the normals (sizes, then angles)."""
        u, width = uniforms(words)
        half = half_width(words)
        m, pairs = self.exponentials, self.pairs
        whole = m if self.dim % 2 else m - 2
        weight, error = sum_of_exponentials(u[:whole], width[:whole])
        if whole < m:
            normal, _, spread = polar(u[whole], width[whole], u[whole + 1], half)
            weight += normal * normal / 2
            error += (np.abs(normal) + spread) * spread + weight * TINY
        mix = np.sqrt(2.0 * weight) * float(self.scale)
        relative = error / (1.8 * weight) + 4 * TINY
        relative[error > weight * 0.25] = np.inf
        first, second, spread = polar(u[m : m + pairs], width[m : m + pairs], u[m + pairs :], half)
        values = np.concatenate([first, second])[: self.dim]
        spread = np.concatenate([spread, spread])[: self.dim]
        errors = mix * (spread + (np.abs(values) + spread) * relative)
        return mix * values, errors, None

    def interval(self, uniforms: list[Interval], place: Any) -> list[Interval]:
        """The same in intervals."""
        p = uniforms[0].p
        m, pairs = self.exponentials, self.pairs
        whole = m if self.dim % 2 else m - 2
        weight = p.exact(0)
        for number in uniforms[:whole]:
            weight = weight - number.ln()
        if whole < m:
            normal, _ = exact_polar(uniforms[whole], uniforms[whole + 1])
            weight = weight + normal.square() / p.exact(2)
        mix = (p.exact(2) * weight).sqrt() * p.exact(self.scale)
        both = [exact_polar(uniforms[m + i], uniforms[m + pairs + i]) for i in range(pairs)]
        normals = [pair[0] for pair in both] + [pair[1] for pair in both]
        return [mix * normal for normal in normals[: self.dim]]


class CubeLaplace:
    """d coordinates: density proportional to e^(-|z|_inf/scale): radius Gamma(d+1) times a uniform point of a cube."""

    __slots__ = ("dim", "numbers", "outputs", "scale")
    bits = 64

    def __init__(self, scale: Fraction, dim: int) -> None:
        self.scale = scale
        self.dim = self.outputs = dim
        self.numbers = 2 * dim + 1

    def floats(self, words: Words, places: Any) -> tuple[Floats, Floats, None]:
        """First the d+1 numbers of the radius, then the d of the point."""
        count = self.dim + 1
        u, width = uniforms(words[:count])
        radius, error = sum_of_exponentials(u, width)
        point = uniforms(words[count:])[0]
        point *= 2.0
        point -= 1.0
        scale = float(self.scale)
        radius *= scale
        error = error * scale + radius * (2 * half_width(words) + 8 * TINY)
        return radius * point, np.broadcast_to(error, point.shape), None

    def interval(self, uniforms: list[Interval], place: Any) -> list[Interval]:
        """The same in intervals."""
        p = uniforms[0].p
        radius = p.exact(0)
        for number in uniforms[: self.dim + 1]:
            radius = radius - number.ln()
        radius = radius * p.exact(self.scale)
        return [radius * (p.exact(2) * number - p.exact(1)) for number in uniforms[self.dim + 1 :]]


@dataclass(frozen=True, slots=True)
class IndependentGaussian:
    """Two independent normals with the variance given (in squared steps)."""

    variance: Fraction
    numbers: int = 2
    outputs: int = 2
    bits: int = 32

    def floats(self, words: Words, places: Any) -> tuple[Floats, Floats, None]:
        """Box and Muller."""
        u, width = uniforms(words)
        first, second, spread = polar(u[0], width[0], u[1], half_width(words))
        scale = float(sqrt_up(self.variance))
        values = np.stack([first, second])
        values *= scale
        errors = scale * spread + np.abs(values) * TINY
        return values, errors, None

    def interval(self, uniforms: list[Interval], place: Any) -> list[Interval]:
        """The same in intervals."""
        scale = uniforms[0].p.exact(self.variance).sqrt()
        first, second = exact_polar(*uniforms)
        return [scale * first, scale * second]
