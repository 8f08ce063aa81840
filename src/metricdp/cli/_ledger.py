"""metricdp ledger create, metricdp ledger show."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from metricdp.channel import Channel
from metricdp.cli._columns import norm_of
from metricdp.cli._say import say
from metricdp.errors import FileRefusedError, InvalidParameterError
from metricdp.exact import positive
from metricdp.guarantee import Guarantee
from metricdp.ledger import Ledger
from metricdp.ledger._limit import describe, parse
from metricdp.spaces import Euclidean, Geographic

app = typer.Typer(no_args_is_help=True, help="Budget files that refuse before anything is sampled.")


@app.command("create")
def create(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to make.")],
    limit: Annotated[str | None, typer.Option(help='Loss at a distance: "2 at 1 km".')] = None,
    rho: Annotated[str | None, typer.Option(help="Instead: a concentrated limit, per squared unit.")] = None,
    epsilon: Annotated[str | None, typer.Option(help="Instead: a limit per unit, with --delta and --radius.")] = None,
    delta: Annotated[str | None, typer.Option(help="With --epsilon: also takes concentrated charges.")] = None,
    radius: Annotated[str | None, typer.Option(help="With --delta: the largest distance that is covered.")] = None,
    unit: Annotated[str, typer.Option(help="Unit of --rho and --epsilon.")] = "m",
    columns: Annotated[int | None, typer.Option(help="For vectors with this many numbers, not positions.")] = None,
    norm: Annotated[str, typer.Option(help="Norm of the vectors: 1, 2 or inf.")] = "2",
    channel: Annotated[
        Path | None, typer.Option(metavar="CHANNEL.npz", help="For releases through this channel; with --epsilon.")
    ] = None,
) -> None:
    """Make a budget file: for positions on the globe, (with --columns) for vectors, (with --channel) for labels.

    Examples:
        metricdp ledger create budget.ledger --limit "2 at 1 km"

        metricdp ledger create budget.ledger --rho 1e-4 --unit m

        metricdp ledger create budget.ledger --epsilon 0.02 --delta 1e-9 --radius 1000 --unit m

        metricdp ledger create heights.ledger --epsilon 3 --columns 2 --norm 1 --unit cm

        metricdp ledger create visits.ledger --epsilon 20 --channel channel.npz
    """
    if file.exists():
        raise FileRefusedError("The file exists.", "A new file.", "Choose another name; a budget is never reset.")
    if sum(value is not None for value in (limit, rho, epsilon)) != 1:
        raise InvalidParameterError(
            "Not exactly one of --limit, --rho and --epsilon was given.", "One of them.", "See --help for examples."
        )
    size = norm_of(norm)
    if (delta is not None and epsilon is None) or (radius is not None and delta is None):
        raise InvalidParameterError("An option has no use here.", "--epsilon, --delta and --radius.", "See --help.")
    if channel is not None:
        if epsilon is None or delta is not None or columns is not None:
            raise InvalidParameterError("A channel's budget is pure.", "--channel with --epsilon.", "Drop the others.")
        space_of = Channel.load(channel).space
        book = Ledger(file, limit=Guarantee.pure(positive(epsilon, "epsilon"), space_of))
        say(f"{file.name}: {describe(book.limit)}")
        return
    space: Geographic | Euclidean = Geographic(unit) if columns is None else Euclidean(columns, size, unit)
    if limit is not None:
        bound = parse(limit)
        if columns is not None:
            bound = Guarantee.pure(bound.exact_epsilon or 0, Euclidean(columns, size, bound.unit))
    elif rho is not None:
        bound = Guarantee.concentrated(rho, space)
    elif delta is not None:
        bound = Guarantee.approximate(positive(str(epsilon), "epsilon"), delta, space, radius=radius)
    else:
        bound = Guarantee.pure(str(epsilon), space)
    ledger = Ledger(file, limit=bound)
    say(f"Made {file}: {describe(ledger.limit)}, over {ledger.limit.space.describe()}.")


@app.command("show")
def show(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A budget file.")],
    last: Annotated[int, typer.Option(help="How many charges to print, newest last.")] = 20,
) -> None:
    """Print the limit, what is left of every account, and the last charges.

    Example:
        metricdp ledger show budget.ledger
    """
    ledger = Ledger(file)
    say(f"Limit: {describe(ledger.limit)}, over {ledger.limit.space.describe()}.")
    for subject in ledger.subjects() or [None]:
        rest = ledger.remaining(subject)
        name = "the common account" if subject is None else f"subject {subject}"
        say(f"Left for {name}: {rest.summary() if rest else 'nothing'}.")
    history = ledger.history()
    shown = f", the last {last}" if 0 < last < len(history) else ""
    say(f"Charges: {len(history)}{shown}.")
    for charge in history[-last:] if last > 0 else []:
        who = f" [{charge.subject}]" if charge.subject else ""
        say(f"  {charge.time}  {charge.guarantee.summary()}  {charge.what}{who}")
