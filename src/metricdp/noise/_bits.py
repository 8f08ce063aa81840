"""Uniform numbers known by a prefix of their bits, which grows when a rounding needs more.

A uniform number in (0, 1) is an infinite string of fair bits. `Bits` holds a prefix of each: first 32 bits (or 64),
then 64, then as many as it takes. Every continuation of the prefix stays possible, so a decision made from it holds
for the one number that the string stands for.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from metricdp.entropy import Entropy, words
from metricdp.errors import EntropyError

Words = NDArray[np.uint32] | NDArray[np.uint64]
Prefix = tuple[int, int]
"""(the bits as an integer, how many bits)."""

LIMIT = 640
"""Nobody needs this many bits of one number (probability below 2**-500): the source must be broken."""


@dataclass(slots=True)
class Record:
    """What was drawn, for the oracle: the words of each item, and longer prefixes where they were needed."""

    words: list[Words] = field(default_factory=list)
    longer: dict[int, list[Prefix]] = field(default_factory=dict)
    first: int = 0

    def prefixes(self, item: int) -> list[Prefix]:
        """The final prefixes of an item's numbers."""
        if item in self.longer:
            return self.longer[item]
        for block in self.words:
            if item < block.shape[1]:
                return prefixes(block, item)
            item -= block.shape[1]
        raise IndexError(item)


@dataclass(slots=True)
class Bits:
    """Prefixes for `count` items of `numbers` uniform numbers each, as words of shape (numbers, count)."""

    source: Entropy
    words: Words

    @classmethod
    def first(cls, source: Entropy, numbers: int, count: int, bits: int) -> Bits:
        """Fresh prefixes of 32 or 64 bits."""
        return cls(source, words(source, numbers * count, bits).reshape(numbers, count))

    @property
    def bits(self) -> int:
        """Length of the prefixes."""
        return self.words.dtype.itemsize * 8

    def at_the_end(self) -> NDArray[np.bool_] | None:
        """Items with a prefix of all zeros or all ones, which always ask for more; None when there are none."""
        top = np.iinfo(self.words.dtype).max
        if self.words.size == 0 or (self.words.min() > 0 and self.words.max() < top):
            return None
        return np.asarray(((self.words == 0) | (self.words == top)).any(axis=0))

    def doubled(self, items: NDArray[np.intp]) -> Bits:
        """The prefixes of some items, from 32 to 64 bits."""
        more = words(self.source, self.words.shape[0] * len(items), 32).reshape(-1, len(items))
        return Bits(self.source, (self.words[:, items].astype(np.uint64) << np.uint64(32)) | more)


def prefixes(block: Words, item: int) -> list[Prefix]:
    """The prefixes of one item as Python integers."""
    bits = block.dtype.itemsize * 8
    return [(int(word), bits) for word in block[:, item]]


def longer(source: Entropy, known: list[Prefix]) -> list[Prefix]:
    """Each prefix with 64 more bits."""
    if known[0][1] >= LIMIT:
        raise EntropyError(
            f"{LIMIT} bits of a number did not decide a rounding.",
            "A source of uniform, independent bytes needs fewer than 200.",
            "Replace the source of randomness: it returns the same bytes for ever.",
        )
    more = words(source, len(known), 64)
    return [((value << 64) | int(word), bits + 64) for (value, bits), word in zip(known, more, strict=True)]
