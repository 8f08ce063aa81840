"""What is to be designed: records, a promise, and what an output costs."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist

from metricdp.channel import Objective, check_cost, check_objective, check_prior, numbers
from metricdp.errors import IncompatibleError, InvalidParameterError, OutOfSpaceError
from metricdp.exact import Number, decimal_text, positive, round_down
from metricdp.spaces import FiniteSpace

Floats = NDArray[np.float64]

LARGEST_EXPONENT = 700
"""Of epsilon·diameter: beyond it e**(-epsilon·d) leaves float64."""

_NORMS: dict[float, Literal["cityblock", "euclidean", "chebyshev"]] = {1: "cityblock", 2: "euclidean"}


class Problem:
    """Find rows z_i of probabilities over outputs with z_ik <= e^(epsilon·d_ij)·z_jk that cost little.

    Args:
        space: the records.
        epsilon: the loss allowed per unit of distance, over all pairs.
        prior: how often each record occurs; uniform by default. Zeros are fine. It shapes utility only: the promise
            does not depend on it, but it must be public.
        cost: (inputs, outputs), what output k costs for record i; their distance by default.
        outputs: labels of the space, or points (k, d) where the space has points, or any labels together with `cost`;
            the inputs by default.
        objective: "mean" (over the prior), "worst" (over records), or ("quantile", q) of the records' expected costs.
        pairs: "all": the promise is kept for every pair of records.
        components: None; parts of a split problem come with decomposition methods.

    Raises:
        InvalidParameterError: the prior does not sum to 1, costs are not finite, or epsilon·diameter exceeds 700 (the
            message names the largest epsilon that works).
        IncompatibleError: shapes do not fit, or outputs without distances have no cost.

    Examples:
        >>> from metricdp import FiniteSpace
        >>> from metricdp.design import Problem
        >>> Problem(FiniteSpace.from_points([[0, 0], [3, 4]], unit="km"), "0.5")
        <Problem: 2 records, 2 outputs, epsilon = 0.5 per km, mean cost>
    """

    __slots__ = (
        "_cost",
        "_places",
        "_points",
        "components",
        "epsilon",
        "objective",
        "outputs",
        "pairs",
        "prior",
        "space",
    )
    space: FiniteSpace
    epsilon: Fraction
    prior: Floats
    outputs: tuple[Hashable, ...]
    objective: Objective
    pairs: str
    components: None

    def __init__(
        self,
        space: FiniteSpace,
        epsilon: Number,
        *,
        prior: ArrayLike | None = None,
        cost: ArrayLike | None = None,
        outputs: Iterable[Hashable] | ArrayLike | None = None,
        objective: Objective = "mean",
        pairs: str = "all",
        components: None = None,
    ) -> None:
        if not isinstance(space, FiniteSpace):
            raise IncompatibleError(f"The space is a {type(space).__name__}.", "A FiniteSpace.", "Pass one.")
        if not isinstance(pairs, str) or pairs != "all" or components is not None:
            raise InvalidParameterError(
                "That choice of pairs or components is not known.", 'pairs="all", components=None.', "Leave them out."
            )
        self.space, self.epsilon, self.pairs, self.components = space, positive(epsilon, "epsilon"), pairs, components
        _check_exponent(space, self.epsilon)
        self.objective = check_objective(objective)
        self.prior = check_prior(prior, len(space))
        self._set_outputs(outputs, cost is not None)
        self._check_reach()
        self._cost = None if cost is None else check_cost(cost, (len(space), len(self.outputs)))

    def _set_outputs(self, outputs: Any, has_cost: bool) -> None:
        space = self.space
        self._places: NDArray[np.intp] | None = None
        self._points: Floats | None = None
        if outputs is None:
            self.outputs, self._places = space.labels, np.arange(len(space))
            return
        points = _points(outputs, space)
        if points is not None:
            self.outputs, self._points = tuple(range(len(points))), points
            return
        try:
            labels = tuple(label.item() if isinstance(label, np.generic) else label for label in outputs)
            unique = len(set(labels))
        except TypeError:
            raise IncompatibleError("The outputs are no labels.", "Labels or points.", "Pass a list.") from None
        if not labels or unique < len(labels):
            raise InvalidParameterError("There are no outputs, or two are equal.", "Different labels.", "Drop one.")
        self.outputs = labels
        try:
            self._places = np.atleast_1d(space.positions(list(labels)))
        except OutOfSpaceError:
            if not has_cost:
                raise IncompatibleError(
                    "Outputs that are no records have no distance from them.",
                    "Labels of the space, points, or a cost for every record and output.",
                    "Pass cost=.",
                ) from None

    def _check_reach(self) -> None:
        """Outputs may be as far from records as records from each other, in units of 1/epsilon."""
        if self._points is None:
            return
        with np.errstate(over="ignore"):
            width = float(self.reach().max())
        if not float(self.epsilon) * width <= LARGEST_EXPONENT:
            raise InvalidParameterError(
                f"epsilon times the largest distance to an output is {float(self.epsilon) * width:.4g}.",
                f"Up to {LARGEST_EXPONENT}.",
                "Use outputs nearer to the records, or a smaller epsilon.",
            )

    @property
    def shape(self) -> tuple[int, int]:
        """Records and outputs."""
        return len(self.space), len(self.outputs)

    @property
    def over_records(self) -> bool:
        """Whether the outputs are the records themselves, in order."""
        return self._places is not None and np.array_equal(self._places, np.arange(len(self.space)))

    @property
    def has_distances(self) -> bool:
        """Whether records have distances to outputs."""
        return self._places is not None or self._points is not None

    @property
    def costs_are_distances(self) -> bool:
        """Whether no cost was given."""
        return self._cost is None

    def reach(self, rows: NDArray[np.intp] | None = None) -> Floats:
        """Distances from these records (all by default) to the outputs."""
        rows = np.arange(len(self.space)) if rows is None else rows
        if self._places is not None:
            return self.space.block(rows, self._places)
        if self._points is None or self.space.points is None:
            raise IncompatibleError(
                "The outputs have no distances from the records.",
                "Outputs among the records, or points.",
                'Use method="optimal", which needs costs only.',
            )
        return np.asarray(cdist(self.space.points[rows], self._points, _NORMS.get(self.space.norm or 2, "chebyshev")))

    def costs(self, rows: NDArray[np.intp] | None = None) -> Floats:
        """What the outputs cost for these records (all by default)."""
        if self._cost is None:
            return self.reach(rows)
        return self._cost if rows is None else self._cost[rows]

    def own_outputs(self) -> NDArray[np.intp]:
        """For every record the number of the output that is itself, or -1."""
        if self._points is not None and self.space.points is not None:
            place = {tuple(point): k for k, point in enumerate(self._points.tolist())}
            return np.array([place.get(tuple(point), -1) for point in self.space.points.tolist()], dtype=np.intp)
        labels = {label: k for k, label in enumerate(self.outputs)}
        return np.array([labels.get(label, -1) for label in self.space.labels], dtype=np.intp)

    def with_epsilon(self, epsilon: Number) -> Problem:
        """The same problem for another promise."""
        other = object.__new__(Problem)
        for name in Problem.__slots__:
            setattr(other, name, getattr(self, name))
        other.epsilon = positive(epsilon, "epsilon")
        _check_exponent(other.space, other.epsilon)
        return other

    def __repr__(self) -> str:
        unit = f" per {self.space.unit}" if self.space.unit else ""
        name = self.objective if isinstance(self.objective, str) else f"{float(self.objective[1]):g}-quantile"
        n, k = self.shape
        return f"<Problem: {n} records, {k} outputs, epsilon = {decimal_text(self.epsilon)}{unit}, {name} cost>"


def _check_exponent(space: FiniteSpace, epsilon: Fraction) -> None:
    width = 2 * float(space.block([0], np.arange(len(space))).max())
    if float(epsilon) * width > LARGEST_EXPONENT:
        width = space.diameter
    if float(epsilon) * width > LARGEST_EXPONENT:
        largest = round_down(Fraction(LARGEST_EXPONENT) / Fraction(width))
        raise InvalidParameterError(
            f"epsilon times the diameter is {float(epsilon) * width:.4g}.",
            f"Up to {LARGEST_EXPONENT}: epsilon up to {largest:.6g} on this space.",
            "Use a smaller epsilon, or split the space.",
        )


def _points(outputs: Any, space: FiniteSpace) -> Floats | None:
    """Outputs given as points of the space's plane, or None."""
    if space.points is None or not isinstance(outputs, np.ndarray) or outputs.ndim != 2:
        return None
    points = numbers(outputs)
    if points.ndim != 2:
        raise IncompatibleError("The outputs are no points.", "Real numbers, or labels in a list.", "Convert them.")
    if points.shape[1] != space.points.shape[1] or points.size == 0 or not np.isfinite(points).all():
        raise IncompatibleError(
            f"The outputs have shape {outputs.shape}.",
            f"Finite points in {space.points.shape[1]} dimensions.",
            "Match the space.",
        )
    return points
