"""Finitely many labelled items with distances: words, places, categories."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components, shortest_path

from metricdp import units
from metricdp.errors import IncompatibleError, InvalidParameterError, NotAMetricError, OutOfSpaceError
from metricdp.spaces import _metrics
from metricdp.spaces._metrics import Distances, MatrixDistances, PointDistances, UniformDistances
from metricdp.spaces._space import Floats, as_rows, check_unit

BLOCK = 1024


class FiniteSpace:
    """Labelled items with a distance matrix.

    Args:
        labels: one hashable label per item, all different.
        distances: symmetric (n, n), zero on the diagonal only, obeying the triangle inequality (checked for all
            triples up to n = 500, above for a million random ones; `check_triangle(exact=True)` checks all).
        unit: the unit of the distances.

    Raises:
        NotAMetricError: naming the items, when a law of metrics fails.
        InvalidParameterError: no labels, or duplicate labels.

    Examples:
        >>> space = FiniteSpace(["north", "south"], [[0, 2], [2, 0]], unit="km")
        >>> space.distance("north", "south"), space.diameter
        (2.0, 2.0)
    """

    __slots__ = ("_digest", "_distances", "_positions", "labels", "unit")
    labels: tuple[Hashable, ...]
    unit: str
    _distances: Distances
    _positions: dict[Hashable, int]
    _digest: str

    def __init__(self, labels: Iterable[Hashable], distances: ArrayLike | Distances, unit: str = "") -> None:
        names = _labels(labels)
        if not isinstance(distances, MatrixDistances | PointDistances | UniformDistances):
            distances = _metrics.check_matrix(distances, len(names))  # type: ignore[arg-type]
        self._set(names, distances, unit, {label: i for i, label in enumerate(names)})

    def _set(
        self, labels: tuple[Hashable, ...], distances: Distances, unit: str, positions: dict[Hashable, int]
    ) -> None:
        check_unit(unit)
        head = json.dumps([[repr(k), v] for k, v in positions.items()]).encode()
        digest = hashlib.sha256(head + distances.digest().encode()).hexdigest()
        for name, value in (
            ("labels", labels),
            ("unit", unit),
            ("_distances", distances),
            ("_positions", positions),
            ("_digest", digest),
        ):
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"A FiniteSpace is frozen: {name} cannot be set.")

    def __getstate__(self) -> tuple[object, ...]:
        return self.labels, self._distances, self.unit, self._positions

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self._set(*state)

    @classmethod
    def from_points(
        cls,
        points: ArrayLike,
        labels: Iterable[Hashable] | None = None,
        norm: float = 2,
        *,
        unit: str = "",
        duplicates: Literal["refuse", "merge"] = "refuse",
    ) -> FiniteSpace:
        """Points under a norm; distances are computed in blocks when needed, and the norm proves the metric.

        Args:
            points: shape (n, d).
            labels: one per row; the row numbers by default.
            norm: 1, 2 or inf.
            unit: the unit of the coordinates.
            duplicates: "refuse" equal rows, or "merge" them: their labels become names of one item.
        """
        if duplicates not in ("refuse", "merge"):
            raise InvalidParameterError("That treatment of duplicates is not known.", "refuse or merge.", "Choose one.")
        try:
            array = np.asarray(points)
        except ValueError:
            array = np.empty(0)
        if array.ndim != 2 or array.size == 0:
            raise InvalidParameterError(
                f"The points have shape {array.shape}.", "Shape (n, d) with n, d >= 1.", "Pass one row per item."
            )
        if not isinstance(norm, int | float | np.number) or norm not in (1, 2, math.inf):
            raise InvalidParameterError("The norm is none of 1, 2, inf.", "1, 2 or math.inf.", "Choose one of them.")
        rows = as_rows(array, array.shape[1], "point").copy() + 0.0
        if not _metrics.smallest_coordinate_gap_is_safe(rows):
            raise InvalidParameterError(
                "The coordinates are too small or too large for distances in float64.",
                "Sizes between 1e-130 and 1e150 (or 0) are accepted.",
                "Rescale the points.",
            )
        names = _labels(range(len(rows)) if labels is None else labels)
        if len(names) != len(rows):
            raise InvalidParameterError(
                f"There are {len(names)} labels for {len(rows)} points.", "One label per row.", "Check the lengths."
            )
        _, first, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        order = np.sort(first)
        if len(order) < len(rows) and duplicates != "merge":
            twin = int(np.setdiff1d(np.arange(len(rows)), order)[0])
            raise NotAMetricError(
                f"Rows {int(first[inverse[twin]])} and {twin} are the same point "
                f"({len(rows) - len(order)} duplicates).",
                "Different items have different points.",
                'Pass duplicates="merge" to give equal points one row.',
            )
        position = {int(row): place for place, row in enumerate(order)}
        kept = rows[order]
        kept.setflags(write=False)
        space = object.__new__(cls)
        space._set(
            tuple(names[i] for i in order),
            PointDistances(kept, float(norm)),
            unit,
            {name: position[int(first[inverse[i]])] for i, name in enumerate(names)},
        )
        return space

    @classmethod
    def from_graph(cls, edges: Iterable[Sequence[Any]], directed: bool = False, *, unit: str = "") -> FiniteSpace:
        """Shortest paths of a graph.

        Args:
            edges: (from, to, length) triples with positive lengths; of parallel edges the shortest counts.
            directed: edges go one way; the distance is then the longer of the two directions, which is a metric.
            unit: the unit of the lengths.

        Raises:
            NotAMetricError: the graph is not (strongly) connected: some distance would be infinite.
        """
        if not isinstance(edges, Iterable) or isinstance(edges, str | bytes):
            raise IncompatibleError("The edges are no sequence.", "(from, to, length) triples.", "Pass a list.")
        triples = [tuple(edge) if isinstance(edge, Iterable) else () for edge in edges]
        if not triples or any(len(edge) != 3 for edge in triples):
            raise InvalidParameterError("There are no edges, or not triples.", "(from, to, length).", "Pass some.")
        if not all(isinstance(node, Hashable) for edge in triples for node in edge[:2]):
            raise IncompatibleError("A node is not hashable.", "Strings, numbers, tuples.", "Convert them.")
        names = tuple(dict.fromkeys(node for edge in triples for node in edge[:2]))
        position = {name: i for i, name in enumerate(names)}
        lengths = as_rows([[edge[2]] for edge in triples], 1, "edge length")[:, 0]
        if (lengths <= 0).any():
            raise NotAMetricError(
                f"Edge {int(np.argmax(lengths <= 0))} has no positive length.", "Lengths > 0.", "Merge its two ends."
            )
        ends = np.array([[position[edge[0]], position[edge[1]]] for edge in triples])
        order = np.argsort(-lengths, kind="stable")
        shortest = {(int(i), int(j)): float(w) for (i, j), w in zip(ends[order], lengths[order], strict=True)}
        if not directed:
            for (i, j), w in list(shortest.items()):
                shortest[j, i] = min(w, shortest.get((j, i), math.inf))
                shortest[i, j] = min(w, shortest[j, i])
        keys = np.array([pair for pair in shortest if pair[0] != pair[1]]).reshape(-1, 2)
        values = [shortest[int(i), int(j)] for i, j in keys]
        graph = coo_array((values, (keys[:, 0], keys[:, 1])), shape=(len(names), len(names))).tocsr()
        parts, part = connected_components(graph, directed=True, connection="strong")
        if parts > 1:
            sizes = np.sort(np.bincount(part))[::-1]
            raise NotAMetricError(
                f"The graph falls into {parts} parts (sizes {', '.join(map(str, sizes[:5]))}{', …' * (parts > 5)}).",
                "Every node is reachable from every other.",
                "Keep one part, or add the missing edges.",
            )
        paths = np.asarray(shortest_path(graph, directed=True))
        matrix = np.maximum(paths, paths.T)
        if not np.isfinite(matrix).all():
            raise NotAMetricError("A path is longer than float64 holds.", "Finite distances.", "Rescale the lengths.")
        matrix.setflags(write=False)
        return cls(names, MatrixDistances(matrix, "shortest paths of a graph"), unit)

    def __len__(self) -> int:
        return len(self.labels)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FiniteSpace) and self._digest == other._digest and self.unit == other.unit

    def __hash__(self) -> int:
        return hash((self._digest, self.unit))

    def __repr__(self) -> str:
        return f"<FiniteSpace: {self.describe()}>"

    @property
    def diameter(self) -> float:
        """The largest distance, computed in blocks."""
        starts = range(0, len(self), BLOCK)
        everything = np.arange(len(self))
        return max(float(self.block(everything[s : s + BLOCK], everything).max()) for s in starts)

    @property
    def points(self) -> Floats | None:
        """The points (n, d) of a space made by `from_points`, else None."""
        return self._distances.points if isinstance(self._distances, PointDistances) else None

    @property
    def norm(self) -> float | None:
        """The norm (1, 2 or inf) of a space made by `from_points`, else None."""
        return self._distances.norm if isinstance(self._distances, PointDistances) else None

    def positions(self, x: Any) -> NDArray[np.intp]:
        """Row numbers of labels (one label or a sequence of them); unknown ones are refused by position."""
        single = self._is_label(x) or isinstance(x, str | bytes) or not isinstance(x, Iterable)
        items = [x] if single else list(x)
        found = np.empty(len(items), dtype=np.intp)
        for i, label in enumerate(items):
            if not self._is_label(label):
                raise OutOfSpaceError(
                    f"The record at row {i} is not a label of the space.",
                    f"One of its {len(self)} labels is accepted.",
                    "Check spelling and type; an unknown value is never passed through.",
                )
            found[i] = self._positions[label]
        return found[0] if single else found

    def _is_label(self, x: Any) -> bool:
        try:
            return x in self._positions
        except TypeError:
            return False

    def distance(self, x: Any, y: Any) -> Any:
        """Distance between labels, or between two sequences of labels of one length."""
        left, right = np.atleast_1d(self.positions(x)), np.atleast_1d(self.positions(y))
        if left.size != right.size and min(left.size, right.size) != 1:
            raise IncompatibleError(
                f"{left.size} and {right.size} labels do not pair up.", "One length, or one label.", "Check them."
            )
        left, right = np.broadcast_arrays(left, right)
        result = self._distances.pairs(left, right)
        return float(result[0]) if self._is_label(x) and self._is_label(y) else result

    def contains(self, x: Any) -> Any:
        """Whether a label, or each label of a sequence, belongs to the space."""
        if self._is_label(x):
            return np.asarray(True)
        if isinstance(x, str | bytes) or not isinstance(x, Iterable):
            return np.asarray(False)
        return np.array([self._is_label(label) for label in x], dtype=bool)

    def block(self, rows: ArrayLike, columns: ArrayLike) -> Floats:
        """Distances between items by row number; an entry does not depend on the block it is computed in."""
        return self._distances.block(self._numbers(rows), self._numbers(columns))

    def _numbers(self, rows: ArrayLike) -> NDArray[np.intp]:
        numbers = np.asarray(rows)
        if numbers.size and (numbers.dtype.kind not in "iu" or numbers.min() < 0 or numbers.max() >= len(self)):
            raise OutOfSpaceError(
                "A row number does not belong to the space.", f"0 to {len(self) - 1}.", "Use positions(labels)."
            )
        return numbers.astype(np.intp).reshape(-1)

    def matrix(self) -> Floats:
        """All distances (n, n); 8·n² bytes."""
        return self.block(np.arange(len(self)), np.arange(len(self)))

    def check_triangle(self, *, exact: bool = True) -> str:
        """Check the triangle inequality; exactly over all triples (n³ operations) unless the norm proves it."""
        if not isinstance(self._distances, MatrixDistances) or self._distances.proof.startswith("shortest"):
            return self._distances.proof
        return _metrics.check_triangle(self._distances, exact=exact)

    def with_unit(self, unit: str) -> FiniteSpace:
        """The same items with distances in another unit: rescaled where both are lengths, renamed otherwise."""
        distances = self._distances
        if unit != self.unit and units.known(unit) and units.known(self.unit):
            distances = distances.divided(float(units.ratio(self.unit, unit)))
        space = object.__new__(FiniteSpace)
        space._set(self.labels, distances, unit, self._positions)
        return space

    def to_arrays(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """The space as plain JSON values and plain arrays, for files."""
        about = {"unit": self.unit, "names": [[label, place] for label, place in self._positions.items()]}
        kind, arrays = self._distances.to_arrays()
        return {**about, **kind}, arrays

    @classmethod
    def from_arrays(cls, about: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> FiniteSpace:
        """Back from `to_arrays`; the laws are not checked again."""
        positions = {_tuples(label): int(place) for label, place in about["names"]}
        first: dict[int, Hashable] = {}
        for label, place in positions.items():
            first.setdefault(place, label)
        space = object.__new__(cls)
        distances = _metrics.from_arrays(about, arrays)
        space._set(tuple(first[i] for i in range(distances.n)), distances, about["unit"], positions)
        return space

    def describe(self) -> str:
        """One line for people."""
        unit = f", unit {self.unit}" if self.unit else ""
        return f"{len(self)} labelled items ({self._distances.proof}){unit}"

    def identity(self) -> dict[str, Any]:
        """Content, as JSON values."""
        return {"space": "FiniteSpace", "items": len(self), "sha256": self._digest, "unit": self.unit}


def Discrete(labels: Iterable[Hashable], unit: str = "") -> FiniteSpace:  # noqa: N802
    """A finite space whose items are all at distance 1: ordinary local privacy.

    Examples:
        >>> Discrete(["yes", "no"]).diameter
        1.0
    """
    names = _labels(labels)
    return FiniteSpace(names, UniformDistances(len(names)), unit)


def _tuples(label: Any) -> Hashable:
    return tuple(_tuples(part) for part in label) if isinstance(label, list) else label


def _labels(labels: Iterable[Hashable]) -> tuple[Hashable, ...]:
    if isinstance(labels, str | bytes) or not isinstance(labels, Iterable):
        raise IncompatibleError(
            f"The labels are a {type(labels).__name__}.", "A sequence of labels is accepted.", "Pass a list."
        )
    names = tuple(label.item() if isinstance(label, np.generic) else label for label in labels)
    if not names:
        raise InvalidParameterError("There are no labels.", "At least one item.", "Pass the public items.")
    try:
        unique = len(set(names))
    except TypeError:
        raise IncompatibleError("A label is not hashable.", "Strings, numbers, tuples.", "Convert them.") from None
    if unique < len(names):
        seen: set[Hashable] = set()
        twin = next(i for i, name in enumerate(names) if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise InvalidParameterError(
            f"Label {twin} occurs twice ({len(names) - unique} duplicates).", "Labels are unique.", "Drop one of them."
        )
    return names
