"""How many rows the largest subject has, in 12 bytes a subject."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

BATCH = 1 << 20


class SubjectCounter:
    """Counts rows per subject by a 64-bit hash; two subjects with one hash can only make the largest count larger.

    Ten million subjects take 120 MB, and twice that while a batch is merged.
    """

    __slots__ = ("_buffer", "_counts", "_hashes", "_held")

    def __init__(self) -> None:
        self._hashes: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._counts: NDArray[np.uint32] = np.empty(0, dtype=np.uint32)
        self._buffer: list[NDArray[np.int64]] = []
        self._held = 0

    def add(self, subjects: list[str]) -> None:
        """Count one row for each."""
        self._buffer.append(np.fromiter(map(hash, subjects), dtype=np.int64, count=len(subjects)))
        self._held += len(subjects)
        if self._held >= BATCH:
            self._merge()

    def _merge(self) -> None:
        if not self._buffer:
            return
        fresh, counts = np.unique(np.concatenate(self._buffer), return_counts=True)
        self._buffer, self._held = [], 0
        at = np.searchsorted(self._hashes, fresh)
        inside = at < len(self._hashes)
        known = np.zeros(len(fresh), dtype=bool)
        known[inside] = self._hashes[at[inside]] == fresh[inside]
        self._counts[at[known]] += counts[known].astype(np.uint32)
        self._hashes = np.insert(self._hashes, at[~known], fresh[~known])
        self._counts = np.insert(self._counts, at[~known], counts[~known].astype(np.uint32))

    @property
    def subjects(self) -> int:
        """How many different subjects."""
        self._merge()
        return len(self._hashes)

    @property
    def largest(self) -> int:
        """Rows of the largest subject; 0 without rows."""
        self._merge()
        return int(self._counts.max()) if len(self._counts) else 0
