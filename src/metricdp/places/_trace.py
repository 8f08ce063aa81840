"""All points of a trace, under one promise for the whole (paper 004, Theorems 4.6 and 4.8)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from metricdp.entropy import Entropy
from metricdp.errors import IncompatibleError, InvalidParameterError
from metricdp.exact import sqrt_up
from metricdp.guarantee import Guarantee
from metricdp.mechanisms import Gaussian, Laplace
from metricdp.spaces import Euclidean, Geographic, Product

Metric = Literal["max", "sum", "l2"]


def release_trace(
    points: ArrayLike,
    guarantee: Guarantee,
    metric: Metric | None = None,
    method: Literal["auto", "composition"] = "auto",
    *,
    entropy: Entropy | None = None,
) -> Any:
    """Every point of a trace with noise of its own, so that the whole trace keeps the promise.

    Definition:
        n points, each through Laplace noise at epsilon/n ("max"), epsilon/sqrt(n) ("l2") or epsilon ("sum"); for rho
        through Gaussian noise at rho/n ("max") or rho ("l2", "sum"). Roots are rounded to the safe side.

    Guarantee:
        The one given, over traces of n points. Proof: proofs/composition.md.

    Args:
        points: (n, d) points, or (n, 2) positions on the globe.
        guarantee: `Guarantee.pure` or `.concentrated` over a `Product` of `Euclidean` (norm 2 for rho) or `Geographic`.
        metric: repeats how the product combines distances; another one is refused.
        method: "composition"; "auto" takes it.
        entropy: where bits come from.

    Returns:
        An array of the shape of `points`.

    Raises:
        IncompatibleError: the guarantee is over no product, of another length or kind, or speaks of another metric.
        OutOfSpaceError: naming the row; before anything is sampled.

    Examples:
        >>> from metricdp import Geographic, Guarantee, Product
        >>> trace = [[48.85, 2.35], [48.86, 2.36]]
        >>> release_trace(trace, Guarantee.concentrated("5e-6", Product(Geographic("m"), 2, "l2"))).shape
        (2, 2)
    """
    mechanism = mechanism_for(points, guarantee, metric, method)
    return mechanism.release(points, entropy=entropy)


def mechanism_for(
    points: ArrayLike, guarantee: Guarantee, metric: Metric | None = None, method: str = "auto"
) -> Laplace | Gaussian:
    """The mechanism of one point."""
    if not isinstance(guarantee, Guarantee) or not isinstance(guarantee.space, Product):
        raise IncompatibleError(
            "The promise is not over traces.", "A Guarantee over a Product space.", "Use Product(Geographic(), n)."
        )
    product = guarantee.space
    if metric is not None and metric != product.combine:
        raise IncompatibleError(
            f"The metric {metric!r} is not that of the promise ({product.combine!r}).", "The same.", "Leave it out."
        )
    if method not in ("auto", "composition"):
        raise InvalidParameterError("That method is not known.", "auto or composition.", "Choose one of them.")
    inner = product.space
    if not isinstance(inner, Euclidean | Geographic):
        raise IncompatibleError("There is no noise for such records.", "Euclidean or Geographic.", "Use a channel.")
    n = _length(points)
    if product.n is not None and product.n != n:
        raise IncompatibleError(f"There are {n} points for traces of {product.n}.", "As many.", "Match the Product.")
    if product.n is None and (product.combine == "max" or (guarantee.kind == "pure" and product.combine == "l2")):
        raise IncompatibleError(
            "Traces of any length have no promise under this metric.", "A Product with a length.", "Pass its n."
        )
    if guarantee.kind == "pure" and guarantee.exact_epsilon is not None:
        shares = {"max": Fraction(n), "l2": sqrt_up(Fraction(n)), "sum": Fraction(1)}
        return Laplace(inner, guarantee.exact_epsilon / shares[product.combine])
    if guarantee.kind == "concentrated" and guarantee.exact_rho is not None:
        return Gaussian(inner, guarantee.exact_rho / (n if product.combine == "max" else 1))
    raise IncompatibleError(
        "The promise is neither pure nor concentrated.", "Guarantee.pure or .concentrated.", "Convert it first."
    )


def _length(points: ArrayLike) -> int:
    try:
        shape = np.shape(points)
    except ValueError:
        shape = ()
    if len(shape) != 2 or shape[0] == 0:
        raise IncompatibleError(f"The points have shape {shape}.", "(n, d) with n >= 1.", "One row per point.")
    return int(shape[0])
