"""The k records nearest to a public place (paper 004, Algorithms 2 and 3; and one draw for all k)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metricdp import entropy as randomness
from metricdp.entropy import Entropy
from metricdp.errors import InvalidParameterError
from metricdp.exact import Number, rational
from metricdp.guarantee import Guarantee
from metricdp.ledger import Ledger
from metricdp.noise import Interval, Precision, Scores, smallest
from metricdp.queries._answer import Answer, Budget, charge, root_down
from metricdp.queries._distances import Reached
from metricdp.queries._sparse_vector import Noisy, chosen_places, least, stop
from metricdp.spaces import Product, Space

Method = Literal["gumbel", "paper"]

CONFIDENCE = 0.95


class Some:
    """The scores of some records."""

    def __init__(self, scores: Scores, places: NDArray[np.intp]) -> None:
        self._scores, self._places = scores, places
        values, errors = scores.floats()
        self._floats = values[places], errors[places]

    def floats(self) -> tuple[Any, Any]:
        """Values and error bounds."""
        return self._floats

    def interval(self, record: int, p: Precision) -> Interval:
        """An interval around one value."""
        return self._scores.interval(int(self._places[record]), p)


def nearest_neighbours(
    points: ArrayLike,
    query: Any,
    k: int,
    *,
    epsilon: Number | None = None,
    rho: Number | None = None,
    method: Method = "gumbel",
    space: Space | None = None,
    among: Sequence[int] | None = None,
    offset: Number = 0,
    entropy: Entropy | None = None,
    ledger: Ledger | None = None,
    subject: str | None = None,
) -> Answer:
    """Which k records lie nearest to a public place, nearest first; the positions themselves stay private.

    Definition:
        "gumbel": one draw in which any order of k records has the law of drawing them one after the other, each with
        probability proportional to e^(-a·distance) among those left; a = epsilon/(2k), or sqrt(2·rho/k).
        "paper": k times Algorithm 2 with epsilon/k or sqrt(2·rho/k): a noisy smallest distance as threshold (2/3 of it
        for the comparisons), then sparse vector through the records.

    Guarantee:
        Over tuples of all records under the largest distance any of them moves: pure epsilon per unit, or rho per
        squared unit. Proof: proofs/nearest_neighbours.md.

    Args:
        points: (n, d) records, positions on the globe, or labels of a finite space.
        query: a public place.
        k: how many; from n on all records are returned, in the order they are stored, and nothing is charged.
        epsilon: total pure loss per unit of distance; or
        rho: total concentrated loss per squared unit.
        method: "gumbel" (less excess wherever the budget says anything) or "paper".
        space: of the records; Euclidean with norm 2 by default.
        among: row numbers to choose from; all by default. Public: they must not be chosen by looking at the records.
        offset: of the paper's threshold (its gamma_0), either sign.
        entropy: where bits come from.
        ledger: charged before anything is sampled.
        subject: whose account.

    Returns:
        `.value` holds row numbers; `.about["excess"]` is how much farther than the true j-th neighbour any of them may
        be, in 95 % of answers. Distances or positions need a query and a charge of their own.

    Raises:
        OutOfSpaceError, InvalidParameterError: before anything is sampled.

    Notes:
        n operations and 8·n random bytes; near ties are decided with more bits and exact distances.

    Examples:
        >>> found = nearest_neighbours([[0, 0], [50, 0], [0, 1]], [0, 0], 2, epsilon=100)
        >>> found.value.tolist()
        [0, 2]
    """
    source = randomness.source(entropy)
    budget = Budget.of(epsilon, rho)
    reached = Reached.of(points, space)
    places = chosen_places(among, reached.n)
    reached.place(query)
    if np.ndim(k) or isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise InvalidParameterError("k is no whole number >= 1.", "1, 2, …", "Ask for at least one neighbour.")
    if not isinstance(method, str) or method not in ("gumbel", "paper"):
        raise InvalidParameterError("That method is not known.", "gumbel or paper.", "Choose one of them.")
    shift = rational(offset, "offset")
    if k >= len(places):
        nothing = Guarantee.approximate(
            0, 0, Product(reached.space, reached.n, "max"), status="proved", proof="nearest_neighbours"
        )
        return Answer(places, nothing, {"excess": 0.0, "method": "all records"})
    guarantee = budget.guarantee(reached.space, reached.n, "nearest_neighbours")
    charge(ledger, guarantee, f"{k} nearest neighbours", subject)
    scores = Some(reached.distances(query), places)
    stretch = reached.stretch(query)
    if method == "gumbel":
        exponent = budget.exponent(int(k)) / stretch
        chosen = smallest(scores, exponent, int(k), source)
        excess = math.log(len(places) * k / (1 - CONFIDENCE)) / float(exponent)
    else:
        chosen = _paper(scores, int(k), (paper_epsilon(int(k), budget) / stretch, shift), source)
        excess = paper_excess(len(places), int(k), budget)
    return Answer(places[chosen], guarantee, {"excess": excess, "method": method})


def paper_epsilon(k: int, budget: Budget) -> Fraction:
    """The pure loss of each of k calls of Algorithm 2."""
    if budget.epsilon is not None:
        return budget.epsilon / k
    assert budget.rho is not None
    return root_down(2 * budget.rho / k)


def _paper(scores: Scores, k: int, about: tuple[Fraction, Fraction], source: Entropy) -> NDArray[np.intp]:
    each, offset = about
    left = np.arange(len(scores.floats()[0]))
    found = []
    for _ in range(k):
        place = one_by_sparse_vector(Some(scores, left), each, offset, source)
        found.append(int(left[place]))
        left = np.delete(left, place)
    return np.array(found, dtype=np.intp)


def one_by_sparse_vector(scores: Scores, epsilon: Fraction, offset: Fraction, source: Entropy) -> int:
    """Algorithm 2: W and Z are Lap(3/epsilon), the noise of comparisons Lap(6/epsilon)."""
    side = 3 / epsilon
    threshold = Noisy.of(lambda p: least(scores, p) + p.exact(offset), (side, side), source)
    found = stop(scores, threshold, 2 * side, cycle=True, source=source)
    assert found is not None
    return found


def paper_excess(n: int, k: int, budget: Budget) -> float:
    """Theorem 4.12 for all j at once: beta/k in place of beta."""
    size = math.log((4 * n + 2) * k / (1 - CONFIDENCE))
    each = float(paper_epsilon(k, budget))
    return 3 / each * (math.sqrt(2 * size) + size) + 6 / each * 2 * size
