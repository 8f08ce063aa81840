"""metricdp design."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from metricdp import bayes, design
from metricdp.channel import Objective
from metricdp.cli._columns import named, norm_of
from metricdp.cli._progress import shown
from metricdp.cli._say import say
from metricdp.errors import FileRefusedError, InvalidParameterError
from metricdp.exact import decimal_text, positive
from metricdp.spaces import FiniteSpace, Geographic
from metricdp.tables import open_table
from metricdp.tables._open import check_columns

OBSERVED = 1000
"""Records up to which an observer's best guesses are computed."""

GLOBE = 3000
"""Places for which distances on the globe are kept as a table."""


def design_command(
    source: Annotated[Path, typer.Argument(metavar="POINTS.csv", help="One row per record: CSV or Parquet.")],
    out: Annotated[Path, typer.Option(metavar="CHANNEL.npz", help="File to write.")],
    columns: Annotated[str | None, typer.Option(help="Numeric columns, comma separated: the coordinates.")] = None,
    lat: Annotated[str | None, typer.Option(help="Instead of --columns: latitudes in degrees…")] = None,
    lon: Annotated[str | None, typer.Option(help="…and longitudes.")] = None,
    epsilon: Annotated[str | None, typer.Option(help="Loss per unit of distance.")] = None,
    stay: Annotated[
        str | None, typer.Option(help="Instead of --epsilon: the share of records that should stay as they are.")
    ] = None,
    method: Annotated[str, typer.Option(help=", ".join(design.METHODS) + ".")] = "auto",
    objective: Annotated[str, typer.Option(help="mean, worst, or a quantile such as 0.95.")] = "mean",
    label: Annotated[str | None, typer.Option(help="Column of names; row numbers by default.")] = None,
    prior: Annotated[str | None, typer.Option(help="Column of counts or weights; all alike by default.")] = None,
    norm: Annotated[str, typer.Option(help="Norm of --columns: 1, 2 or inf.")] = "2",
    unit: Annotated[str | None, typer.Option(help="Unit of distance; km for --lat and --lon by default.")] = None,
    reach: Annotated[float | None, typer.Option(help="Count distances beyond this as this.")] = None,
    merge: Annotated[bool, typer.Option("--merge", help="Give equal points one row.")] = False,
    delimiter: Annotated[str, typer.Option(help="Of CSV.")] = ",",
    time_limit: Annotated[float | None, typer.Option(help="Seconds; the best design so far is kept.")] = None,
    checkpoint: Annotated[Path | None, typer.Option(help="File from which a killed optimal run goes on.")] = None,
) -> None:
    """Design a channel between records and save it with its certificate.

    Prints the expected cost, a lower bound for any channel with this promise, the share of records that come out as
    themselves, and the loss verified on the integers that will be sampled.

    Examples:
        metricdp design places.csv --columns x,y --label name --epsilon 2 --out channel.npz

        metricdp design places.csv --lat lat --lon lon --label name --prior visits --epsilon 0.5 --out channel.npz

        metricdp design words.csv --columns a,b,c --label word --stay 0.5 --method kernel --out channel.npz
    """
    if (epsilon is None) == (stay is None):
        raise InvalidParameterError("Not exactly one of --epsilon and --stay was given.", "One.", "Choose one.")
    if not out.parent.is_dir() or out.suffix != ".npz":
        raise FileRefusedError("The output is no .npz file in an existing folder.", "CHANNEL.npz.", "Choose another.")
    goal = _objective(objective)
    space, shares = _space(source, columns, lat, lon, label, prior, norm, unit, merge, delimiter)
    say(f"Records: {space.describe()}.")
    options: dict[str, Any] = {} if reach is None else {"reach": reach}
    with shown() as progress:
        if stay is not None:
            found = design.epsilon_for(
                space, stay=stay, method=method, prior=shares, objective=goal, progress=progress, **options
            )
            epsilon = repr(found)
            per = f" per {space.unit}" if space.unit else ""
            text = decimal_text(positive(found, "epsilon"))
            say(f"epsilon = {text}{per} is the smallest found that keeps {stay} of records.")
        assert epsilon is not None
        problem = design.Problem(space, epsilon, prior=shares, objective=goal)
        solution = design.solve(
            problem,
            method,
            progress=progress,
            time_limit=time_limit,
            checkpoint=None if checkpoint is None else str(checkpoint),
            **options,
        )
        channel = solution.certify()
    for line in solution.log:
        say(f"  {line}")
    say(str(solution))
    say(f"Certified: {channel.certificate}")
    if max(channel.law.shape) <= OBSERVED:
        seen = bayes.adversary(channel, shares)
        say(f"An observer who knows {'this' if prior else 'a uniform'} prior: {seen}.")
        if seen.expected_error < 0.99 * channel.loss(prior=shares):
            say(f"bayes.remap (Python) brings the mean distance of {channel.loss(prior=shares):.4g} to that, for free.")
    channel.save(out)
    say(f"Wrote {out}.")


def _objective(text: str) -> Objective:
    if text in ("mean", "worst"):
        return text  # type: ignore[return-value]
    try:
        return ("quantile", float(text))
    except ValueError:
        raise InvalidParameterError("That objective is not known.", "mean, worst, or 0.95.", "Choose one.") from None


def _space(
    source: Path,
    columns: str | None,
    lat: str | None,
    lon: str | None,
    label: str | None,
    prior: str | None,
    norm: str,
    unit: str | None,
    merge: bool,
    delimiter: str,
) -> tuple[FiniteSpace, Any]:
    names, positions = named(source, lat, lon, columns)
    size = norm_of(norm)
    points, labels, weights = _read(source, names, label, prior, delimiter)
    if not positions:
        space = FiniteSpace.from_points(
            points, labels, size, unit=unit or "", duplicates="merge" if merge else "refuse"
        )
    else:
        if merge or len(points) > GLOBE:
            raise InvalidParameterError(
                f"{len(points)} places on the globe, or --merge.", f"Up to {GLOBE} different places.", "Project them."
            )
        globe = Geographic(unit or "km")
        everything = np.arange(len(points))
        distances = np.array([globe.distance(points[i], points) for i in everything]).reshape(len(points), -1)
        distances = np.maximum(distances, distances.T)
        np.fill_diagonal(distances, 0.0)
        space = FiniteSpace(labels, distances, globe.unit)
    if weights is None:
        return space, None
    shares = np.zeros(len(space))
    np.add.at(shares, space.positions(labels), weights)
    return space, shares / shares.sum()


def _read(
    source: Path, names: list[str], label: str | None, prior: str | None, delimiter: str
) -> tuple[Any, list[str], Any]:
    table = open_table(source, delimiter)
    check_columns(table.columns, names)
    extra = [name for name in (label, prior) if name is not None]
    check_columns(table.columns, extra)
    points: list[Any] = []
    labels: list[str] = []
    weights: list[Any] = []
    for chunk, _ in table.chunks():
        points.append(chunk.numbers(names))
        labels += chunk.texts(label) if label is not None else [str(len(labels) + i) for i in range(chunk.rows)]
        if prior is not None:
            weights.append(chunk.numbers([prior])[:, 0])
    if not labels:
        raise FileRefusedError(f"{source.name} has no rows.", "At least one row.", "Check the file.")
    counts = np.concatenate(weights) if weights else None
    if counts is not None and ((counts < 0).any() or counts.sum() <= 0):
        raise InvalidParameterError("The prior has negative weights, or none.", "Counts >= 0.", "Mend the column.")
    return np.concatenate(points), labels, counts
