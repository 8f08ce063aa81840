"""Attacks that guess which of two records an output came from, and how well a private mechanism lets them guess.

An attack looks at outputs and says 0 or 1 for each, or -1 where it does not commit itself. Whatever it looks at, under
a promise of loss L between the two records each committed guess (the records being equally likely beforehand) is right
with probability at most 1/(1 + e^-L), given all that was guessed before.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from .mechanisms import NaiveLaplace, NaivePlanar

Attack = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
ALPHA = 1e-6


@dataclass(frozen=True)
class Outcome:
    """How an attack fared."""

    name: str
    outputs: int
    committed: int
    right: int
    loss: float

    @property
    def bound(self) -> float:
        """The largest probability of a right guess under the promise."""
        return 1 / (1 + math.exp(-self.loss))

    @property
    def p(self) -> float:
        """Probability that guessing at the bound is right at least this often."""
        return float(stats.binom.sf(self.right - 1, self.committed, self.bound))

    @property
    def wins(self) -> bool:
        """Clearly better than the promise allows; false with probability at most ALPHA for a private mechanism."""
        return self.p < ALPHA

    def __str__(self) -> str:
        return (
            f"{self.name}: {self.right} of {self.committed} guesses right ({self.outputs} outputs, bound "
            f"{self.bound:.6f}): p = {self.p:.3g}, alpha = {ALPHA:g}"
        )


def run(name: str, attack: Attack, mechanism: Any, pair: np.ndarray, count: int, loss: float, entropy: Any) -> Outcome:
    """Release one of two records `count` times, chosen by fair coins, and let the attack guess."""
    coins = np.frombuffer(entropy.read(count), dtype=np.uint8) & 1
    outputs = mechanism.release(pair[coins], entropy=entropy)
    guesses = attack(outputs, pair[0], pair[1])
    committed = guesses >= 0
    return Outcome(name, count, int(committed.sum()), int((guesses[committed] == coins[committed]).sum()), loss)


def either(possible: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Attack:
    """Commit where an output is possible for exactly one of the records."""

    def attack(outputs: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        of_first, of_second = possible(outputs, first), possible(outputs, second)
        return np.where(of_first == of_second, -1, np.where(of_first, 0, 1))

    return attack


def in_naive_support(epsilon: float, width: int = 8) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """Mironov 2012: is there a uniform float u with x + noise(u) = y, bit for bit? (Each coordinate by itself.)

    The inverse gives u up to a few units of its grid 2^-53; all grid points within `width` are tried.
    """
    sampler = NaiveLaplace(epsilon)

    def possible(outputs: np.ndarray, record: np.ndarray) -> np.ndarray:
        away = outputs - record
        nearest = np.rint(np.exp(-np.abs(away) * epsilon) * 2.0**53)
        hit = np.zeros(outputs.shape, dtype=bool)
        for offset in range(-width, width + 1):
            u = np.clip(nearest + offset, 1, 2.0**53) * 2.0**-53
            hit |= record + np.where(away > 0, 1.0, -1.0) * sampler.noise(u) == outputs
        return hit.all(axis=1)

    return possible


def in_planar_support(epsilon: float, width: int = 6, turn: int = 3) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """The same for the naive planar noise: grid points of the angle and of the radius around the inverse."""
    sampler = NaivePlanar(epsilon)

    def possible(outputs: np.ndarray, record: np.ndarray) -> np.ndarray:
        away = outputs - record
        size = np.hypot(away[:, 0], away[:, 1]) * epsilon
        nearest = np.rint((1 - (1 + size) * np.exp(-size)) * 2.0**53)
        angles = np.rint(np.arctan2(away[:, 1], away[:, 0]) / (2 * math.pi) % 1.0 * 2.0**53)
        hit = np.zeros(len(outputs), dtype=bool)
        turns = [2 * math.pi * (np.clip(angles + k, 1, 2.0**53) * 2.0**-53) for k in range(-turn, turn + 1)]
        sides = [(np.cos(angle), np.sin(angle)) for angle in turns]
        for offset in range(-width, width + 1):
            radius = sampler.radius(np.clip(nearest + offset, 0, 2.0**53 - 1) * 2.0**-53)
            for cosine, sine in sides:
                first = record[0] + radius * cosine == outputs[:, 0]
                hit |= first & (record[1] + radius * sine == outputs[:, 1])
        return hit

    return possible


def float_sum(outputs: np.ndarray, record: np.ndarray) -> np.ndarray:
    """Haney et al. 2022: is there any float n with x + n = y in floats? True of all y for x = 0, but not for x = 1.

    An output near 0 with bits finer than the unit in the last place of the numbers near -x cannot come from x, however
    carefully the noise was drawn.
    """
    noise = outputs - record
    hit = record + noise == outputs
    for side in (-np.inf, np.inf):
        near = noise
        for _ in range(2):
            near = np.nextafter(near, side)
            hit |= record + near == outputs
    return hit.all(axis=1)


def off_by_steps(step: float) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """Is the output a whole number of steps away from the record? For noise on a lattice and records beside it."""

    def possible(outputs: np.ndarray, record: np.ndarray) -> np.ndarray:
        return np.asarray(((outputs - record) % step == 0).all(axis=1))

    return possible


def within(reach: float) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """Is the output within this distance of the record in every coordinate?"""

    def possible(outputs: np.ndarray, record: np.ndarray) -> np.ndarray:
        return np.asarray((np.abs(outputs - record) <= reach * (1 + 1e-12)).all(axis=1))

    return possible


def traits(outputs: np.ndarray) -> list[tuple[int, ...]]:
    """The granularity of every coordinate: exponent, and the place and number of the last bits that are set."""
    mantissas, exponents = np.frexp(outputs)
    whole = np.abs(np.ldexp(mantissas, 53)).astype(np.int64)
    lowest = np.frexp((whole & -whole).astype(np.float64))[1]
    odd = whole >> np.maximum(lowest - 1, 0)
    columns = np.concatenate([np.clip(exponents, -40, 40), np.clip(exponents + lowest - 54, -80, 80), odd & 7], axis=1)
    return [tuple(row) for row in columns.tolist()]


def learned(mechanism: Any, pair: np.ndarray, count: int, entropy: Any) -> Attack:
    """Learn from outputs of known records which granularities speak for one of them; commit where the odds are 2."""
    seen = [Counter(traits(mechanism.release(np.tile(record, (count, 1)), entropy=entropy))) for record in pair]

    def vote(trait: tuple[int, ...]) -> int:
        first, second = seen[0][trait], seen[1][trait]
        if first + second < 6 or max(first, second) < 2 * min(first, second):
            return -1
        return 0 if first > second else 1

    def attack(outputs: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        known = {trait: vote(trait) for trait in seen[0].keys() | seen[1].keys()}
        return np.array([known.get(trait, -1) for trait in traits(outputs)])

    return attack
