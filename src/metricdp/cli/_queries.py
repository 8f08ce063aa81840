"""metricdp knn, metricdp hull."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from metricdp import queries
from metricdp.cli._columns import named
from metricdp.cli._say import say
from metricdp.errors import FileRefusedError, InvalidParameterError
from metricdp.ledger import Ledger
from metricdp.spaces import Euclidean, Geographic
from metricdp.tables import open_table
from metricdp.tables._open import check_columns

Source = Annotated[Path, typer.Argument(metavar="IN", help="CSV, GPX or Parquet: one record a row.")]
Columns = Annotated[str | None, typer.Option(help="Numeric columns, comma separated.")]
Epsilon = Annotated[str | None, typer.Option(help="Pure loss per unit of distance, for the whole answer.")]
Rho = Annotated[str | None, typer.Option(help="Instead: concentrated loss per squared unit.")]
Book = Annotated[Path | None, typer.Option(help="Budget file over tuples of all records (made in Python).")]
Delimiter = Annotated[str, typer.Option(help="Of CSV.")]


def knn(
    source: Source,
    query: Annotated[str, typer.Option(help='A public place, such as "48.85,2.35".')],
    k: Annotated[int, typer.Option("-k", help="How many neighbours.")] = 1,
    columns: Columns = None,
    lat: Annotated[str | None, typer.Option(help="Instead of --columns: latitudes in degrees…")] = None,
    lon: Annotated[str | None, typer.Option(help="…and longitudes.")] = None,
    epsilon: Epsilon = None,
    rho: Rho = None,
    unit: Annotated[str | None, typer.Option(help="Unit of distance; m for positions.")] = None,
    method: Annotated[str, typer.Option(help="gumbel, or paper (Algorithm 3 of paper 004).")] = "gumbel",
    ledger: Book = None,
    delimiter: Delimiter = ",",
) -> None:
    """Which rows lie nearest to a public place, nearest first; their positions stay private.

    Example:
        metricdp knn trips.csv --lat lat --lon lon --query 48.85,2.35 -k 5 --rho 5e-6
    """
    points, space = _points(source, columns, lat, lon, unit, delimiter)
    try:
        place = [float(part) for part in query.split(",")]
    except ValueError:
        raise InvalidParameterError("The query is no place.", "Numbers, comma separated.", "Mend --query.") from None
    book = None if ledger is None else Ledger(ledger)
    found = queries.nearest_neighbours(
        points,
        place,
        k,
        epsilon=epsilon,
        rho=rho,
        method=method,  # type: ignore[arg-type]
        space=space,
        ledger=book,
    )
    say(f"Rows (from 0, nearest first): {', '.join(map(str, found.value.tolist()))}")
    per = f" {space.unit}" if space.unit else ""
    say(f"At most {found.about['excess']:.4g}{per} farther than the true neighbours, in 95 % of answers.")
    say(f"Promised: {found.guarantee.summary()}, over {found.guarantee.space.describe()}.")


def hull(
    source: Source,
    out: Annotated[Path | None, typer.Option(help="A .geojson file to write.")] = None,
    columns: Columns = None,
    epsilon: Epsilon = None,
    rho: Rho = None,
    unit: Annotated[str | None, typer.Option(help="Unit of the coordinates.")] = None,
    method: Annotated[str, typer.Option(help="double_circle, or paper (Algorithm 4 of paper 004).")] = "double_circle",
    ledger: Book = None,
    delimiter: Delimiter = ",",
) -> None:
    """The outline of points in a plane (projected coordinates), privately.

    Example:
        metricdp hull sightings.csv --columns east,north --unit m --rho 5e-5 --out outline.geojson
    """
    if out is not None and not out.parent.is_dir():
        raise FileRefusedError("The output is no file in an existing folder.", "A file name.", "Make the folder first.")
    points, space = _points(source, columns, None, None, unit, delimiter)
    book = None if ledger is None else Ledger(ledger)
    found = queries.convex_hull(points, epsilon=epsilon, rho=rho, method=method, space=space, ledger=book)  # type: ignore[arg-type]
    for x, y in found.vertices.tolist():
        say(f"{x!r},{y!r}")
    per = f" {space.unit}" if space.unit else ""
    say(f"{found.about['k']} places; within {found.about['error']:.4g}{per} of the true outline in 95 % of answers.")
    say(f"Promised: {found.guarantee.summary()}, over {found.guarantee.space.describe()}.")
    if out is not None:
        out.write_text(json.dumps(found.geojson()) + "\n", encoding="utf-8")
        say(f"Wrote {out}.")


def _points(
    source: Path, columns: str | None, lat: str | None, lon: str | None, unit: str | None, delimiter: str
) -> tuple[Any, Euclidean | Geographic]:
    names, positions = named(source, lat, lon, columns)
    table = open_table(source, delimiter, "drop" if source.suffix.lower() == ".gpx" else "keep")
    check_columns(table.columns, names)
    blocks = [chunk.numbers(names) for chunk, _ in table.chunks()]
    if not blocks:
        raise FileRefusedError(f"{source.name} has no rows.", "At least one row.", "Check the file.")
    space = Geographic(unit or "m") if positions else Euclidean(len(names), 2, unit or "")
    return np.concatenate(blocks), space
