"""Sources of bytes that can be had again: for tests, and for runs whose receipt says so."""

from __future__ import annotations

from metricdp.entropy import Entropy, KeyedEntropy, SystemEntropy
from metricdp.errors import InvalidParameterError


class SeededEntropy:
    """Bytes from a seed: anybody who knows the seed can undo the noise. Receipts made with it say so.

    Args:
        seed: a whole number from 0 to 2**64 - 1.
    """

    __slots__ = ("_stream", "seed")
    reproducible = True

    def __init__(self, seed: int) -> None:
        if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**64:
            raise InvalidParameterError("The seed is not a whole number in [0, 2**64).", "0, 1, 2, …", "Pass one.")
        self.seed = seed
        self._stream = KeyedEntropy(b"metricdp seeded: not private" + seed.to_bytes(8, "little"))

    def read(self, count: int) -> bytes:
        """The next `count` bytes."""
        return self._stream.read(count)

    def __repr__(self) -> str:
        return f"SeededEntropy({self.seed})"


class ScriptedEntropy:
    """Bytes that a test wrote down, then bytes of another source.

    Args:
        script: the first bytes handed out.
        then: where the rest comes from; the operating system by default.
    """

    __slots__ = ("_script", "_then", "extra")
    reproducible = True

    def __init__(self, script: bytes, then: Entropy | None = None) -> None:
        self._script = script
        self._then = then or SystemEntropy()
        self.extra = 0
        """How many bytes were read beyond the script."""

    def read(self, count: int) -> bytes:
        """The next bytes of the script, then of the other source."""
        head, self._script = self._script[:count], self._script[count:]
        self.extra += count - len(head)
        return head + self._then.read(count - len(head))


class RecordingEntropy:
    """Counts and keeps what another source hands out."""

    __slots__ = ("_source", "blocks")

    def __init__(self, source: Entropy | None = None) -> None:
        self._source = source or SystemEntropy()
        self.blocks: list[bytes] = []

    @property
    def reproducible(self) -> bool:
        """As the source."""
        return self._source.reproducible

    @property
    def count(self) -> int:
        """How many bytes were read."""
        return sum(map(len, self.blocks))

    def read(self, count: int) -> bytes:
        """The next bytes of the source."""
        block = self._source.read(count)
        self.blocks.append(block)
        return block
