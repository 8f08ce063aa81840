"""From a law to lattice points: floats where they decide the rounding, then more bits, then intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import ROUND_FLOOR, Decimal

import numpy as np
from numpy.typing import NDArray

from metricdp.entropy import Entropy, words
from metricdp.errors import EntropyError
from metricdp.noise._bits import Bits, Prefix, Record, longer, prefixes
from metricdp.noise._interval import Interval, Precision
from metricdp.noise._law import Floats, Law

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
HALF = Decimal("0.5")
ROUNDS = 2048
CHUNK = 1 << 17
"""Numbers drawn at once: they stay in the processor's cache."""


def draw(
    law: Law, fractions: Floats, source: Entropy, places: Floats | None = None, record: Record | None = None
) -> Ints:
    """round(fraction + F) for every item and coordinate, where F is the ideal law: exactly, with probability 1.

    Args:
        law: the ideal random function, in steps.
        fractions: shape (outputs, count): where each record lies between lattice points, in [-1/2, 1/2].
        source: where bits come from.
        places: shape (k, count): what the law depends on besides its bits.
        record: filled with all bits used, for the oracle.
    """
    outputs, count = fractions.shape
    result = np.empty((outputs, count), dtype=np.int64)
    size = max(1, CHUNK // (law.numbers + outputs))
    for start in range(0, count, size):
        part = slice(start, min(count, start + size))
        result[:, part] = _chunk(law, fractions[:, part], source, None if places is None else places[:, part], record)
    return result


def _chunk(law: Law, fractions: Floats, source: Entropy, places: Floats | None, record: Record | None) -> Ints:
    count = fractions.shape[1]
    with np.errstate(all="ignore"):
        bits = Bits.first(source, law.numbers, count, law.bits)
        steps, again = _decide(law, bits, fractions, places, record, np.arange(count))
        if record is not None:
            record.words.append(bits.words)
        rounds = 0
        while again.size:
            rounds = check_rounds(rounds)
            bits = Bits.first(source, law.numbers, again.size, law.bits)
            if record is not None:
                record.longer.update({record.first + int(i): prefixes(bits.words, k) for k, i in enumerate(again)})
            chosen = None if places is None else places[:, again]
            redrawn, rejected = _decide(law, bits, fractions[:, again], chosen, record, again)
            steps[:, again] = redrawn
            again = again[rejected]
        if record is not None:
            record.first += count
    return steps


def check_rounds(rounds: int) -> int:
    """One more round of rejection; at least a quarter is kept in each, so a fair source never comes to the end."""
    if rounds >= ROUNDS:
        raise EntropyError(
            f"All of {ROUNDS} draws of one record were rejected.",
            "A source of uniform, independent bytes needs fewer than 100.",
            "Replace the source of randomness: it returns the same bytes for ever.",
        )
    return rounds + 1


def _decide(
    law: Law, bits: Bits, fractions: Floats, places: Floats | None, record: Record | None, names: NDArray[np.intp]
) -> tuple[Ints, NDArray[np.intp]]:
    """Lattice points of all items, and which of them must be drawn afresh."""
    steps, open_, rejected = _in_floats(law, bits, fractions, places)
    left = np.flatnonzero(open_)
    again = [np.flatnonzero(rejected)]
    if left.size and bits.bits == 32:
        bits = bits.doubled(left)
        fractions = fractions[:, left]
        places = None if places is None else places[:, left]
        names = names[left]
        if record is not None:
            record.longer.update({record.first + int(i): prefixes(bits.words, k) for k, i in enumerate(names)})
        more, open_, rejected = _in_floats(law, bits, fractions, places)
        steps[:, left] = more
        again.append(left[rejected])
        still = np.flatnonzero(open_)
    else:
        still, left = left, np.arange(steps.shape[1])
    for item in still:
        known = prefixes(bits.words, int(item))
        place = None if places is None else places[:, item]
        known, exact = _in_intervals(law, bits.source, known, fractions[:, item], place)
        if record is not None:
            record.longer[record.first + int(names[item])] = known
        if exact is None:
            again.append(left[item : item + 1])
        else:
            steps[:, left[item]] = exact
    return steps, np.concatenate(again)


def _in_floats(law: Law, bits: Bits, fractions: Floats, places: Floats | None) -> tuple[Ints, Flags, Flags]:
    """(lattice points, items not decided, items to draw afresh)."""
    values, errors, verdict = law.floats(bits.words, places)
    position = values + fractions
    nearest = np.rint(position)
    position -= nearest
    np.abs(position, out=position)
    position += errors
    position += np.abs(nearest) * 2.0**-51
    decided: Flags = np.asarray((position < 0.5).all(axis=0))
    ends = bits.at_the_end()
    if ends is not None:
        decided &= ~ends
    if verdict is None:
        rejected: Flags = np.zeros(decided.shape, dtype=np.bool_)
    else:
        rejected = verdict < 0
        if ends is not None:
            rejected &= ~ends
        decided &= verdict > 0
    open_ = ~(decided | rejected)
    nearest[:, open_ | rejected] = 0
    return nearest.astype(np.int64), open_, rejected


def _in_intervals(
    law: Law, source: Entropy, known: list[Prefix], fraction: Floats, place: Floats | None
) -> tuple[list[Prefix], list[int] | None]:
    """The bits used in the end, and the lattice point (None: draw afresh)."""
    while True:
        known = longer(source, known)
        precision = Precision.of(30 + int(known[0][1] * 0.302))
        outcome = law.interval([precision.uniform(*prefix) for prefix in known], place)
        if outcome == -1:
            return known, None
        if isinstance(outcome, list):
            points = [_lattice(value + precision.exact(float(at))) for value, at in zip(outcome, fraction, strict=True)]
            if None not in points:
                return known, [int(point) for point in points if point is not None]


Real = Callable[[Precision], Interval]
"""A real number: an interval around it, as narrow as the precision allows."""


def draw_reals(law: Law, reals: Sequence[Real], source: Entropy) -> list[int]:
    """round(real + F) for each coordinate of one item whose numbers are not floats, exactly.

    Args:
        law: the ideal random function, in steps; as many outputs as there are reals.
        reals: where the item lies, in steps.
        source: where bits come from.
    """
    rounds = 0
    while True:
        known = [(int(word), 64) for word in words(source, law.numbers, 64)]
        while True:
            precision = Precision.of(40 + int(known[0][1] * 0.302))
            outcome = law.interval([precision.uniform(*prefix) for prefix in known], None)
            if outcome == -1:
                break
            if isinstance(outcome, list):
                points = [_lattice(value + real(precision)) for value, real in zip(outcome, reals, strict=True)]
                if None not in points:
                    return [int(point) for point in points if point is not None]
            known = longer(source, known)
        rounds = check_rounds(rounds)


def _lattice(moved: Interval) -> int | None:
    """The one lattice point that all of an interval rounds to, or None."""
    if not moved.bounded:
        return None
    low = moved.p.down.add(moved.lo, HALF).to_integral_value(ROUND_FLOOR)
    high = moved.p.up.add(moved.hi, HALF).to_integral_value(ROUND_FLOOR)
    return int(low) if low == high else None
