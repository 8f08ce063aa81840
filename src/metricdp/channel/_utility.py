"""What a channel costs its users, from its integers, in blocks of rows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metricdp.channel._weights import BITS, Floats, Rows
from metricdp.errors import IncompatibleError, InvalidParameterError, OutOfSpaceError
from metricdp.spaces import FiniteSpace

Objective = Literal["mean", "worst"] | tuple[Literal["quantile"], float]


class Rowwise(Protocol):
    """What is needed of a channel here."""

    @property
    def space(self) -> FiniteSpace:
        """Its inputs."""
        ...

    @property
    def law(self) -> Rows:
        """Its rows."""
        ...

    @property
    def outputs(self) -> tuple[Any, ...]:
        """Its labels."""
        ...


def parts(channel: Rowwise) -> Iterator[tuple[NDArray[np.intp], Floats]]:
    """Row numbers and their probabilities, in blocks."""
    n, outputs = channel.law.shape
    size = max(1, (1 << 21) // outputs)
    for start in range(0, n, size):
        rows = np.arange(start, min(start + size, n))
        yield rows, np.ldexp(channel.law.block(rows).astype(np.float64), -BITS)


def output_places(channel: Rowwise) -> NDArray[np.intp]:
    """Row numbers of the outputs; refused where one is no input."""
    try:
        return np.atleast_1d(channel.space.positions(list(channel.outputs)))
    except OutOfSpaceError:
        raise IncompatibleError(
            "Outputs that are no inputs have no distance from them.", "Outputs among the inputs.", "Pass cost=."
        ) from None


def losses(channel: Rowwise, cost: ArrayLike | None) -> Floats:
    """Expected cost of every record; the distance to the output where no cost is given."""
    table = None if cost is None else check_cost(cost, channel.law.shape)
    places = output_places(channel) if table is None else None
    result = np.empty(channel.law.shape[0])
    for rows, law in parts(channel):
        costs = channel.space.block(rows, places) if table is None else table[rows]  # type: ignore[arg-type]
        result[rows] = np.einsum("ij,ij->i", law, costs)
    return result


def stays(channel: Rowwise) -> Floats:
    """The probability of every record to come out as itself."""
    place = {label: k for k, label in enumerate(channel.outputs)}
    own = np.array([place.get(label, -1) for label in channel.space.labels])
    result = np.zeros(channel.law.shape[0])
    for rows, law in parts(channel):
        here = own[rows] >= 0
        result[rows[here]] = law[np.flatnonzero(here), own[rows[here]]]
    return result


def radius(channel: Rowwise, confidence: float) -> float:
    """The distance within which every record's output lies with this probability."""
    places = output_places(channel)
    worst = 0.0
    for rows, law in parts(channel):
        distances = channel.space.block(rows, places)
        order = np.argsort(distances, axis=1, kind="stable")
        reached = np.cumsum(np.take_along_axis(law, order, axis=1), axis=1)
        at = np.minimum((reached < confidence).sum(axis=1), law.shape[1] - 1)
        sorted_distances = np.take_along_axis(distances, order, axis=1)
        worst = max(worst, float(np.take_along_axis(sorted_distances, at[:, None], axis=1).max()))
    return worst


def check_objective(objective: Any) -> Objective:
    """The objective, or what is known."""
    if isinstance(objective, str) and objective in ("mean", "worst"):
        return objective  # type: ignore[return-value]
    if isinstance(objective, tuple | list) and len(objective) == 2 and isinstance(objective[0], str):
        q = objective[1]
        good = isinstance(q, int | float) and not isinstance(q, bool) and 0 < q < 1
        if objective[0] == "quantile" and good:
            return ("quantile", float(q))
    raise InvalidParameterError(
        "That objective is not known.", '"mean", "worst", or ("quantile", q) with 0 < q < 1.', "Choose one of them."
    )


def numbers(values: Any) -> Floats:
    """A copy as float64; empty for what is no array of real numbers (complex and masked arrays too)."""
    try:
        if np.iscomplexobj(values) or isinstance(values, np.ma.MaskedArray):
            return np.empty(0)
        return np.array(values, dtype=np.float64)
    except (ValueError, TypeError, OverflowError):
        return np.empty(0)


def check_prior(prior: ArrayLike | None, n: int) -> Floats:
    """Shares over n records that sum to 1 within 1e-9; uniform by default."""
    if prior is None:
        return np.full(n, 1 / n)
    shares = numbers(prior)
    if shares.shape != (n,) or not (shares >= 0).all() or not abs(shares.sum() - 1) <= 1e-9:
        raise InvalidParameterError(
            "The prior is no law over the records.", f"{n} shares >= 0 that sum to 1 within 1e-9.", "Normalise it."
        )
    shares.setflags(write=False)
    return shares


def check_cost(cost: ArrayLike, shape: tuple[int, int]) -> Floats:
    """Finite costs of this shape."""
    table = numbers(cost)
    if table.shape != shape:
        raise IncompatibleError(f"The costs have shape {table.shape}.", f"{shape}.", "One per record and output.")
    if not np.isfinite(table).all() or np.abs(table).max() > 1e100:
        raise InvalidParameterError("A cost is not finite.", "Costs up to 1e100 in size.", "Mend the costs.")
    table.setflags(write=False)
    return table


def objective_of(costs: Floats, prior: Floats, objective: Objective) -> float:
    """One number from the expected cost of every record.

    The quantile is over records of positive prior: numpy's linear interpolation where their shares are equal, the
    inverse of the weighted distribution function otherwise.
    """
    if objective == "mean":
        return math.fsum((prior * costs).tolist())
    if objective == "worst":
        return float(costs.max())
    kept = prior > 0
    shares = prior[kept]
    if np.allclose(shares, shares[0], rtol=1e-12, atol=0):
        return float(np.quantile(costs[kept], objective[1]))
    return float(np.quantile(costs[kept], objective[1], weights=shares, method="inverted_cdf"))
