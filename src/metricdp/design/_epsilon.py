"""The epsilon that buys what can be stated: a share of records that stay, or a loss."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from numpy.typing import ArrayLike

from metricdp.channel import Objective
from metricdp.design._kernels import Geometry
from metricdp.design._problem import LARGEST_EXPONENT, Problem
from metricdp.design._repair import nearest_distance
from metricdp.design._solution import Solution
from metricdp.design._solve import Progress, solve
from metricdp.errors import InvalidParameterError
from metricdp.exact import Number, rational, round_up
from metricdp.spaces import FiniteSpace

STEPS = 40
SMALLEST = 1e-9


def epsilon_for(
    space: FiniteSpace,
    *,
    stay: Number | None = None,
    loss: Number | None = None,
    method: str = "auto",
    prior: ArrayLike | None = None,
    cost: ArrayLike | None = None,
    objective: Objective = "mean",
    tolerance: float = 1e-3,
    progress: Progress | None = None,
    **options: Any,
) -> float:
    """The smallest epsilon found at which a design keeps a share of records as they are, or costs at most a loss.

    Args:
        space: the records.
        stay: the share (under the prior) that should come out as themselves, in (0, 1).
        loss: what the objective may be; exactly one of `stay` and `loss`.
        method: as for `solve`.
        prior: as for `Problem`.
        cost: as for `Problem`.
        objective: as for `Problem`; what `loss` is about.
        tolerance: relative, of the epsilon returned: a design at it meets the aim, one at epsilon(1 - tolerance) or
            slightly more did not. Shares of some methods jump: look at what the design at it keeps.
        progress: called with a stage and a share in [0, 1].
        **options: as for `solve`.

    Raises:
        InvalidParameterError: not exactly one aim, one that a channel meets which ignores its record, or one that no
            epsilon up to 700/diameter reaches.

    Examples:
        >>> from metricdp import FiniteSpace, design
        >>> space = FiniteSpace.from_points([[0.0], [1.0]])
        >>> round(design.epsilon_for(space, stay=0.75, method="exponential"), 2)
        2.2
    """
    if (stay is None) == (loss is None):
        raise InvalidParameterError("Not exactly one of stay and loss was given.", "One of them.", "Choose one.")
    aim = rational(stay if stay is not None else loss, "stay" if stay is not None else "loss")
    if stay is not None and not 0 < aim < 1:
        raise InvalidParameterError("The share does not lie between 0 and 1.", "0 < stay < 1.", "Use 0.3, say.")
    wanted = float(aim)
    if not isinstance(tolerance, int | float) or not SMALLEST <= tolerance < 1:
        raise InvalidParameterError("The tolerance is too small or too large.", f"{SMALLEST:g} to 1.", "Use 1e-3.")
    template = Problem(space, Fraction(1, 10**280), prior=prior, cost=cost, objective=objective)
    _check_aim(template, wanted if stay is not None else None, wanted)

    def meets(epsilon: float) -> bool:
        found: Solution = solve(template.with_epsilon(Fraction(epsilon)), method, **options)
        return found.stay >= wanted if stay is not None else found.value <= wanted

    watch = progress or (lambda _stage, _share: None)
    largest = LARGEST_EXPONENT / max(2 * float(space.block([0], range(len(space))).max()), 1e-300) * (1 - 1e-9)
    high = min(largest, 1 / nearest_distance(template))
    low = 0.0
    step = 0
    while not meets(high):
        low, high = high, min(2 * high, largest)
        step += 1
        watch("searching epsilon", min(0.9, step / STEPS))
        if low == largest:
            raise InvalidParameterError(
                "No epsilon up to the largest that this space takes reaches that.",
                f"What epsilon = {largest:.6g} reaches.",
                "Ask for less, or use another method.",
            )
    while high - low > tolerance * high:
        middle = (low + high) / 2
        if meets(middle):
            high = middle
        else:
            low = middle
        step += 1
        watch("searching epsilon", min(0.99, step / STEPS))
        if high < 1e-9 * largest:
            break
    return round_up(Fraction(high))


def _check_aim(template: Problem, stay: float | None, loss: float) -> None:
    """Refuse what a channel reaches that gives every record the same output: no epsilon is needed for that."""
    most = float(template.prior.max())
    if stay is not None and stay <= most:
        raise InvalidParameterError(
            f"A channel that ignores its record keeps {most:.1%} already: so many records are alike.",
            f"A share above {most:.4g}.",
            "Ask for more, or design at an epsilon of your choice.",
        )
    if stay is None:
        constant = Geometry(template, math.inf).one_output()
        if loss >= constant:
            raise InvalidParameterError(
                f"One output for all records costs {constant:.6g} already.",
                "A smaller loss.",
                "Ask for less, or design at an epsilon of your choice.",
            )
