"""Distances between n items: a stored matrix, points under a norm, or all alike; and the laws they must obey."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.csgraph import shortest_path
from scipy.spatial.distance import cdist

from metricdp import entropy
from metricdp.errors import NotAMetricError
from metricdp.spaces._space import Floats

TOLERANCE = 1e-9
"""Relative float noise that a distance matrix may carry: d(i,k) <= (d(i,j) + d(j,k))·(1 + TOLERANCE)."""

EXACT_LIMIT = 500
"""Up to this many items every triple is checked at construction; above it, `RANDOM_TRIPLES` random ones."""

RANDOM_TRIPLES = 1_000_000


class Distances(Protocol):
    """Distances between items 0 … n-1, available in blocks."""

    @property
    def n(self) -> int:
        """Number of items."""
        ...

    @property
    def proof(self) -> str:
        """Why this is a metric, for people."""
        ...

    def block(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Floats:
        """The distances of `rows` to `columns`; an entry does not depend on the block it is computed in."""
        ...

    def pairs(self, left: NDArray[np.intp], right: NDArray[np.intp]) -> Floats:
        """The distances of left[i] to right[i]."""
        ...

    def divided(self, factor: float) -> Distances:
        """All distances divided by a factor."""
        ...

    def to_arrays(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Plain JSON values and arrays, for files."""
        ...

    def digest(self) -> str:
        """SHA-256 of the content."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class MatrixDistances:
    """A stored symmetric matrix."""

    matrix: Floats
    proof: str

    @property
    def n(self) -> int:
        """Number of items."""
        return len(self.matrix)

    def block(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Floats:
        """Entries of the matrix."""
        return np.asarray(self.matrix[np.ix_(rows, columns)])

    def pairs(self, left: NDArray[np.intp], right: NDArray[np.intp]) -> Floats:
        """Entries of the matrix."""
        return np.asarray(self.matrix[left, right])

    def divided(self, factor: float) -> Distances:
        """The matrix divided by a factor."""
        return MatrixDistances(self.matrix / factor, self.proof)

    def to_arrays(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """The matrix."""
        return {"kind": "matrix", "proof": self.proof}, {"distances": self.matrix}

    def digest(self) -> str:
        """SHA-256 of the entries."""
        return hashlib.sha256(b"matrix" + np.ascontiguousarray(self.matrix, "<f8").tobytes()).hexdigest()


@dataclass(frozen=True, slots=True, eq=False)
class PointDistances:
    """Norm of the difference of points; nothing of size n² is stored."""

    points: Floats
    norm: float

    @property
    def n(self) -> int:
        """Number of items."""
        return len(self.points)

    @property
    def proof(self) -> str:
        """A norm is a metric."""
        return "a norm of differences"

    def block(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Floats:
        """Distances, entry by entry from coordinate differences (no Gram products)."""
        name: Literal["cityblock", "euclidean", "chebyshev"]
        name = "cityblock" if self.norm == 1 else "euclidean" if self.norm == 2 else "chebyshev"
        return np.asarray(cdist(self.points[rows], self.points[columns], name))

    def pairs(self, left: NDArray[np.intp], right: NDArray[np.intp]) -> Floats:
        """Distances of the pairs."""
        return np.asarray(np.linalg.norm(self.points[left] - self.points[right], ord=self.norm, axis=-1))

    def divided(self, factor: float) -> Distances:
        """The points divided by a factor."""
        return PointDistances(self.points / factor, self.norm)

    def to_arrays(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """The points."""
        return {"kind": "points", "norm": str(self.norm)}, {"points": self.points}

    def digest(self) -> str:
        """SHA-256 of the points and the norm."""
        head = f"points {self.points.shape} {self.norm}".encode()
        return hashlib.sha256(head + np.ascontiguousarray(self.points, "<f8").tobytes()).hexdigest()


@dataclass(frozen=True, slots=True, eq=False)
class UniformDistances:
    """Every two different items are at distance 1."""

    n: int

    @property
    def proof(self) -> str:
        """Two sides of length 1 are never shorter than the third."""
        return "all distances are 1"

    def block(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Floats:
        """Ones, and zeros where the items are the same."""
        return np.not_equal.outer(rows, columns).astype(np.float64)

    def pairs(self, left: NDArray[np.intp], right: NDArray[np.intp]) -> Floats:
        """1 where the items differ."""
        return np.not_equal(left, right).astype(np.float64)

    def divided(self, factor: float) -> Distances:
        """All distances 1/factor."""
        matrix = np.full((self.n, self.n), 1 / factor)
        np.fill_diagonal(matrix, 0.0)
        return MatrixDistances(matrix, "all distances are equal")

    def to_arrays(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """The number of items."""
        return {"kind": "uniform", "n": self.n}, {}

    def digest(self) -> str:
        """SHA-256 of the number of items."""
        return hashlib.sha256(f"uniform {self.n}".encode()).hexdigest()


def from_arrays(about: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Distances:
    """Back from `to_arrays`."""
    if about["kind"] == "matrix":
        return MatrixDistances(np.asarray(arrays["distances"], dtype=np.float64), str(about["proof"]))
    if about["kind"] == "points":
        return PointDistances(np.asarray(arrays["points"], dtype=np.float64), float(about["norm"]))
    return UniformDistances(int(about["n"]))


def check_matrix(distances: ArrayLike, n: int) -> MatrixDistances:
    """A matrix as distances, or NotAMetricError naming the items at fault.

    Float noise up to `TOLERANCE` (relative) is no error: of d(i,j) and d(j,i) the smaller is kept, which promises more.
    """
    matrix = _numbers(distances, f"a float array of shape ({n}, {n})")
    if matrix.shape != (n, n):
        raise NotAMetricError(
            f"The distances have shape {matrix.shape} for {n} labels.", f"Shape ({n}, {n}).", "One row per label."
        )
    _fail_where(~np.isfinite(matrix), "is not finite", "Distances are finite; a disconnected space cannot be used.")
    _fail_where(np.diag(np.diag(matrix)) != 0, "is not 0 from an item to itself", "The diagonal is 0.")
    low = matrix + np.diag(np.ones(n))
    _fail_where(low <= 0, "is not positive", 'Different items have positive distances; merge duplicates ("merge").')
    gap = np.abs(matrix - matrix.T) > TOLERANCE * np.maximum(matrix, matrix.T)
    _fail_where(gap, "is not symmetric", f"d(i, j) = d(j, i) within a relative {TOLERANCE:g}.")
    result = MatrixDistances(np.minimum(matrix, matrix.T), "")
    result.matrix.setflags(write=False)
    proof = check_triangle(result, exact=n <= EXACT_LIMIT)
    return MatrixDistances(result.matrix, proof)


def check_triangle(distances: Distances, *, exact: bool) -> str:
    """Check the triangle inequality over all triples, or over `RANDOM_TRIPLES` random ones; says which it did."""
    n = distances.n
    if exact:
        everything = np.arange(n)
        matrix = distances.block(everything, everything)
        for j in range(n):
            worst = matrix - (matrix[:, j, None] + matrix[None, j, :]) * (1 + TOLERANCE)
            if worst.max() > 0:
                i, k = divmod(int(worst.argmax()), n)
                _broken_triangle(i, j, k)
        return "triangle inequality checked for all triples"
    draw = entropy.public(n)
    for _ in range(10):
        i, j, k = draw.integers(n, size=(3, RANDOM_TRIPLES // 10))
        over = distances.pairs(i, k) > (distances.pairs(i, j) + distances.pairs(j, k)) * (1 + TOLERANCE)
        if over.any():
            at = int(np.argmax(over))
            _broken_triangle(int(i[at]), int(j[at]), int(k[at]))
    return f"triangle inequality checked for {RANDOM_TRIPLES:,} random triples, not for all"


def metric_closure(distances: ArrayLike) -> Floats:
    """The largest metric below a matrix of distances: shortest paths between all pairs.

    Use it where distances break the triangle inequality (cosine distances, road travel times). The result is at most
    the given matrix, so a promise over it is at least as strong.

    Args:
        distances: a square matrix, finite and positive off the diagonal; of d(i, j) and d(j, i) the smaller counts.

    Raises:
        NotAMetricError: not square, not finite, negative, or zero between different items.
    """
    matrix = _numbers(distances, "a square matrix")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise NotAMetricError(f"The distances have shape {matrix.shape}.", "A square matrix.", "One row per item.")
    np.fill_diagonal(matrix, 0.0)
    _fail_where(~np.isfinite(matrix), "is not finite", "Distances are finite.")
    _fail_where(matrix + np.eye(len(matrix)) <= 0, "is not positive", "Merge items at distance 0 first.")
    closed = np.asarray(shortest_path(np.minimum(matrix, matrix.T), method="FW", directed=False))
    return np.minimum(closed, closed.T)


def smallest_coordinate_gap_is_safe(points: Floats) -> bool:
    """Whether two different points can have distance 0 or infinity only by underflow or overflow of floats."""
    size = np.abs(points[points != 0])
    return bool(size.size == 0 or (size.min() > 1e-130 and size.max() < 1e150 / math.sqrt(points.shape[-1])))


def _numbers(distances: ArrayLike, accepted: str) -> Floats:
    try:
        return np.array(distances, dtype=np.float64)
    except (ValueError, TypeError, OverflowError):
        raise NotAMetricError(
            "The distances are not a matrix of numbers.", f"It must be {accepted}.", "Convert it first."
        ) from None


def _fail_where(bad: NDArray[np.bool_], what: str, accepted: str) -> None:
    if bad.any():
        i, j = divmod(int(bad.argmax()), bad.shape[1])
        raise NotAMetricError(
            f"The distance between items {i} and {j} {what}.", accepted, "Mend the matrix; the labels are public."
        )


def _broken_triangle(i: int, j: int, k: int) -> None:
    raise NotAMetricError(
        f"The triangle inequality fails: d({i}, {k}) is longer than d({i}, {j}) + d({j}, {k}).",
        f"Every detour is at least as long, within a relative {TOLERANCE:g}.",
        "Repair the matrix with metricdp.metric_closure(distances), which shortens d to the shortest paths.",
    )
