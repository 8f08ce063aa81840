"""Where randomness comes from: the only file of the package that touches a generator.

Production noise is `os.urandom`. `KeyedEntropy` is for noise that must come out the same again (a key and a label give
one stream). `public` is for choices that hold no secret, such as partitions and projections. Seeded noise for
reproducible runs is `metricdp.testing.SeededEntropy`, and it marks the receipt.
"""

from __future__ import annotations

import hashlib
import itertools
import os
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from metricdp.errors import EntropyError, IncompatibleError, InvalidParameterError


@runtime_checkable
class Entropy(Protocol):
    """A source of uniform random bytes.

    `reproducible` is False only where nobody, with any key or seed, can draw the same bytes again.
    """

    @property
    def reproducible(self) -> bool:
        """Whether the same bytes can be had again."""
        ...

    def read(self, count: int) -> bytes:
        """The next `count` bytes, never handed out before."""
        ...


class SystemEntropy:
    """The operating system's generator (`os.urandom`): what every release uses unless told otherwise."""

    __slots__ = ()
    reproducible = False

    def read(self, count: int) -> bytes:
        """The next `count` bytes."""
        return os.urandom(count)

    def __repr__(self) -> str:
        return "SystemEntropy()"


class KeyedEntropy:
    """One stream of bytes per (secret, label): SHAKE-256 of both and a block counter.

    Whoever holds the secret can undo the noise: keep it as you keep the records. Two uses of one stream give the same
    noise, which reveals the difference of the two records: use a label once. Threads may share a stream (the block
    counter is atomic); a forked process starts with a copy of it, so give each process a label of its own.

    Args:
        secret: at least 16 bytes, unpredictable.
        label: the name of the stream.
    """

    __slots__ = ("_blocks", "_prefix")
    reproducible = True

    def __init__(self, secret: bytes, label: str = "") -> None:
        if not isinstance(secret, bytes | bytearray):
            raise IncompatibleError(
                f"The secret is a {type(secret).__name__}.", "Bytes are accepted.", "Pass os.urandom(32), kept safe."
            )
        if len(secret) < 16:
            raise InvalidParameterError(
                f"The secret has {len(secret)} bytes.", "At least 16 are accepted.", "Pass os.urandom(32), kept safe."
            )
        if not isinstance(label, str):
            raise IncompatibleError(f"The label is a {type(label).__name__}.", "Text.", "Name the stream.")
        self._prefix = hashlib.sha256(b"metricdp keyed entropy\0" + bytes(secret)).digest()
        self._prefix += hashlib.sha256(label.encode("utf-8", "surrogatepass")).digest()
        self._blocks = itertools.count()

    def stream(self, label: str) -> KeyedEntropy:
        """A separate stream under the same secret, named by `label` beneath this one."""
        return KeyedEntropy(self._prefix, label)

    def read(self, count: int) -> bytes:
        """The next `count` bytes of this stream."""
        if not isinstance(count, int) or count < 0:
            raise InvalidParameterError("A negative number of bytes.", "0 or more.", "Ask for some.")
        block = next(self._blocks).to_bytes(8, "little")
        return hashlib.shake_256(self._prefix + block).digest(count)

    def __repr__(self) -> str:
        return "KeyedEntropy(<secret>)"


SYSTEM = SystemEntropy()
"""The default source."""


def words(source: Entropy, count: int, bits: int) -> NDArray[np.uint64] | NDArray[np.uint32]:
    """`count` uniform words of 32 or 64 bits from `source`, checked for length."""
    size = count * bits // 8
    raw = source.read(size)
    if not isinstance(raw, bytes | bytearray | memoryview) or len(raw) != size:
        raise EntropyError(
            f"The source of randomness did not return the {size} bytes asked for.",
            "An Entropy returns exactly as many bytes as asked.",
            "Mend its read method, or leave `entropy` out to use the operating system's generator.",
        )
    return np.frombuffer(raw, dtype="<u4" if bits == 32 else "<u8")


def source(entropy: Entropy | None) -> Entropy:
    """The given source, or the operating system's; anything else is refused."""
    if entropy is None:
        return SYSTEM
    if isinstance(entropy, type) or not isinstance(entropy, Entropy):
        raise IncompatibleError(
            f"entropy is a {type(entropy).__name__}.",
            "A source of bytes is accepted: SystemEntropy(), KeyedEntropy(secret), metricdp.testing.SeededEntropy(n).",
            "Leave entropy out for production noise; a seed is never taken here.",
        )
    return entropy


def public(seed: int) -> np.random.Generator:
    """A generator for choices that are public anyway (partitions, projections, random checks); never for noise.

    Args:
        seed: any non-negative integer; the same seed gives the same choices.
    """
    if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
        raise InvalidParameterError(
            "The public seed is not a whole number >= 0.", "0, 1, 2, … are accepted.", "Pass one."
        )
    return np.random.Generator(np.random.Philox(seed))
