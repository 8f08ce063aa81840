"""metricdp explain."""

from __future__ import annotations

from typing import Annotated

import typer

from metricdp.cli._say import say
from metricdp.errors import InvalidParameterError
from metricdp.exact import Number
from metricdp.guarantee import Guarantee, epsilon_for
from metricdp.mechanisms import Gaussian, Laplace
from metricdp.spaces import Euclidean, Geographic
from metricdp.units import METRES, known


def explain(
    epsilon: Annotated[str | None, typer.Option(help="Loss per unit of distance.")] = None,
    rho: Annotated[str | None, typer.Option(help="Loss per squared unit of distance.")] = None,
    unit: Annotated[str, typer.Option(help="Unit of distance; a length means positions on the globe.")] = "m",
    dim: Annotated[int | None, typer.Option(help="Vectors with this many numbers instead of positions.")] = None,
    odds: Annotated[str | None, typer.Option(help="Find epsilon: odds may change at most this many times…")] = None,
    radius: Annotated[str | None, typer.Option(help="…within this distance.")] = None,
    delta: Annotated[str | None, typer.Option(help="Restate as (epsilon, delta) up to --radius.")] = None,
) -> None:
    """Say what a number promises, and how far records will move.

    Examples:
        metricdp explain --epsilon 0.01 --unit m

        metricdp explain --odds 2 --radius 500 --unit m

        metricdp explain --rho 5e-6 --unit m --delta 1e-9 --radius 1000
    """
    space: Geographic | Euclidean
    if dim is None and not known(unit):
        raise InvalidParameterError(
            f"{unit!r} is no unit of length.", f"{', '.join(METRES)}; any name for vectors.", "Pass --dim for vectors."
        )
    if radius is not None and odds is None and delta is None:
        raise InvalidParameterError("--radius says nothing alone.", "With --odds or --delta.", "Drop it, or add one.")
    space = Geographic(unit) if dim is None else Euclidean(dim, 2, unit)
    value: Number | None = epsilon
    if odds is not None:
        if epsilon is not None or rho is not None or radius is None:
            raise InvalidParameterError(
                "--odds finds epsilon.", "--odds with --radius, and neither --epsilon nor --rho.", "Drop the others."
            )
        value = epsilon_for(odds=odds, radius=radius)
    if (value is None) == (rho is None):
        raise InvalidParameterError(
            "Not exactly one of --epsilon, --rho and --odds was given.", "One of them.", "See --help for examples."
        )
    mechanism = Laplace(space, value) if value is not None else Gaussian(space, str(rho))
    guarantee: Guarantee = mechanism.guarantee
    if delta is not None:
        guarantee = guarantee.as_approximate(delta, radius)
    say(guarantee.explain())
    per = f" {unit}" if unit else ""
    say(
        f"{type(mechanism).__name__} noise at this value moves records by {mechanism.mean_error:.4g}{per} on average, "
        f"95 % of them by less than {mechanism.error(0.95):.4g}{per}."
    )
