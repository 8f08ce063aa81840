"""metricdp release."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from metricdp import release as table
from metricdp.channel import Channel
from metricdp.cli._columns import named, norm_of
from metricdp.cli._progress import shown
from metricdp.cli._say import say
from metricdp.entropy import Entropy
from metricdp.errors import InvalidParameterError
from metricdp.exact import positive
from metricdp.ledger import Ledger
from metricdp.mechanisms import Gaussian, Laplace
from metricdp.spaces import Euclidean, Geographic
from metricdp.tables import open_table


def release(
    source: Annotated[Path, typer.Argument(metavar="IN", help="CSV (or Parquet) file with a header.")],
    out: Annotated[Path | None, typer.Option(help="File to write; its receipt is OUT.receipt.json.")] = None,
    lat: Annotated[str | None, typer.Option(help="Column of latitudes in degrees.")] = None,
    lon: Annotated[str | None, typer.Option(help="Column of longitudes in degrees.")] = None,
    columns: Annotated[
        str | None, typer.Option(help="Instead of --lat/--lon: numeric columns, comma separated.")
    ] = None,
    norm: Annotated[str, typer.Option(help="Norm of --columns: 1, 2 or inf.")] = "2",
    channel: Annotated[
        Path | None, typer.Option(metavar="CHANNEL.npz", help="A saved channel, for one column of labels.")
    ] = None,
    column: Annotated[str | None, typer.Option(help="With --channel: the column of labels.")] = None,
    epsilon: Annotated[str | None, typer.Option(help="Loss per unit of distance (Laplace noise).")] = None,
    rho: Annotated[str | None, typer.Option(help="Loss per squared unit (Gaussian noise).")] = None,
    unit: Annotated[str | None, typer.Option(help="Unit of distance: m (default for positions), km, mi, …")] = None,
    ledger: Annotated[Path | None, typer.Option(help="Budget file to charge; see metricdp ledger create.")] = None,
    subject: Annotated[str | None, typer.Option(help="Column that says whose row it is.")] = None,
    whole_trace: Annotated[
        bool, typer.Option("--whole-trace", help="The budget is for all rows of a GPX file together, not for each.")
    ] = False,
    time: Annotated[str, typer.Option(help="Time stamps of GPX: keep, hour (cut to the hour) or drop.")] = "keep",
    delimiter: Annotated[str, typer.Option(help="Of CSV.")] = ",",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check every row, print the plan, and stop.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    seed: Annotated[
        int | None, typer.Option(help="NOT PRIVATE: reproducible noise, for tests; marks the receipt.")
    ] = None,
) -> None:
    """Release positions, vectors or labels of a table, row by row; every other column comes back as it was.

    Every row is checked first, then the ledger is charged, then noise is drawn.

    Examples:
        metricdp release trips.csv --lat lat --lon lon --epsilon 0.01 --out private.csv

        metricdp release trips.csv --lat lat --lon lon --rho 5e-6 --subject user --ledger budget.ledger --out p.csv

        metricdp release table.csv --columns height,weight --norm 1 --epsilon 0.5 --out private.csv --dry-run

        metricdp release ride.gpx --rho 5e-6 --time hour --out private.gpx

        metricdp release visits.csv --channel channel.npz --column place --out private.csv
    """
    mechanism: Laplace | Gaussian | Channel
    if channel is not None or column is not None:
        if whole_trace:
            raise InvalidParameterError("--whole-trace is for GPX files.", "A .gpx file.", "Leave it out.")
        mechanism, names = _from_file(channel, column, [lat, lon, columns, epsilon, rho, unit])
    else:
        if whole_trace:
            epsilon, rho = _shares(source, time, epsilon, rho)
        names, positions = named(source, lat, lon, columns)
        mechanism = _mechanism(None if positions else len(names), norm, epsilon, rho, unit)
    if out is None and not dry_run:
        raise InvalidParameterError("There is no --out.", "A file to write.", "Pass --out FILE, or --dry-run.")
    bits: Entropy | None = None
    if seed is not None:
        from metricdp.testing import SeededEntropy

        bits = SeededEntropy(seed)
    book = Ledger(ledger) if ledger is not None else None
    if out is not None:
        table.check_target(out, source, book)
    with shown() as progress:
        plan = table.plan(source, mechanism, names, subject=subject, delimiter=delimiter, times=time, progress=progress)
    say(plan.describe())
    if book is not None:
        rest = book.remaining()
        say(f"Ledger: limit {book.limit.summary()}; left: {rest.summary() if rest else 'nothing'}.")
    if seed is not None:
        say("NOT PRIVATE: --seed makes noise that anybody can repeat; for tests only.")
    if book is not None:
        book.check(table.in_unit_of(book, plan.charge))
    if dry_run or out is None:
        return
    if not yes and sys.stdin.isatty() and sys.stdout.isatty():
        typer.confirm("Release?", abort=True)
    with shown() as progress:
        table.run(plan, out, ledger=book, entropy=bits, progress=progress)
    say(f"Wrote {out} and {out.name}.receipt.json.")


def _shares(source: Path, time: str, epsilon: str | None, rho: str | None) -> tuple[str | None, str | None]:
    """The budget of one row, so that all rows of the trace together keep what was asked, under the largest distance."""
    if source.suffix.lower() != ".gpx":
        raise InvalidParameterError("--whole-trace is for GPX files.", "A .gpx file.", "Use --subject and --ledger.")
    rows = max(1, sum(chunk.rows for chunk, _ in open_table(source, times=time).chunks()))
    one, other = (None if value is None else str(positive(value, "the budget") / rows) for value in (epsilon, rho))
    return one, other


def _from_file(
    path: Path | None, column: str | None, others: list[str | None]
) -> tuple[Laplace | Gaussian | Channel, list[str]]:
    if path is None or column is None or any(value is not None for value in others):
        raise InvalidParameterError(
            "--channel and --column belong together, and to nothing else.",
            "--channel CHANNEL.npz --column NAME; the channel holds its own epsilon and unit.",
            "Make one by metricdp design.",
        )
    found = Channel.load(path)
    if not all(isinstance(label, str) for label in (*found.space.labels, *found.outputs)):
        raise InvalidParameterError(
            "The labels of the channel are no texts, so cells of a table cannot be looked up.",
            "A channel whose inputs and outputs are texts.",
            "Make it by metricdp design, or from a FiniteSpace with texts as labels.",
        )
    return found, [column]


def _mechanism(
    dim: int | None, norm: str, epsilon: str | None, rho: str | None, unit: str | None
) -> Laplace | Gaussian:
    """For vectors of this dimension, or for positions."""
    if (epsilon is None) == (rho is None):
        raise InvalidParameterError(
            "Not exactly one of --epsilon and --rho was given.",
            "--epsilon (Laplace noise) or --rho (Gaussian noise).",
            "See metricdp explain --help for what a value means.",
        )
    space = Geographic(unit or "m") if dim is None else Euclidean(dim, norm_of(norm), unit or "")
    return Laplace(space, epsilon) if epsilon is not None else Gaussian(space, str(rho))
