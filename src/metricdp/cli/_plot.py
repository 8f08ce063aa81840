"""metricdp plot."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from metricdp import plots
from metricdp.cli._say import say
from metricdp.errors import FileRefusedError, InvalidParameterError
from metricdp.spaces import Geographic
from metricdp.tables import open_table


def plot(
    source: Annotated[Path, typer.Argument(metavar="IN", help="The true table.")],
    released: Annotated[Path, typer.Argument(metavar="OUT", help="The released table.")],
    picture: Annotated[Path | None, typer.Option("--picture", help="Default: OUT.png beside OUT.")] = None,
    lat: Annotated[str | None, typer.Option(help="Column of latitudes.")] = None,
    lon: Annotated[str | None, typer.Option(help="Column of longitudes.")] = None,
    columns: Annotated[str | None, typer.Option(help="Or: two numeric columns, comma separated.")] = None,
    delimiter: Annotated[str, typer.Option(help="Of CSV.")] = ",",
) -> None:
    """Draw records before and after; without columns, those of the receipt. The picture shows the records in clear.

    Example:
        metricdp plot trips.csv private.csv
    """
    names, globe = _columns(released, lat, lon, columns)
    before, after = (
        np.concatenate(
            [np.empty((0, len(names))), *(c.numbers(names) for c, _ in open_table(path, delimiter).chunks())]
        )
        for path in (source, released)
    )
    if before.shape != after.shape or not len(before):
        raise FileRefusedError(
            f"The tables have {len(before)} and {len(after)} rows.", "Tables of one release.", "Check the files."
        )
    target = picture or released.with_name(released.name + ".png")
    axes = plots.before_and_after(before, after, space=Geographic() if globe else None)
    axes.set_title(f"{source.name} and {released.name}")
    try:
        plots.save(axes, target)
    except (OSError, ValueError):
        raise FileRefusedError(
            "The picture could not be written.", "A .png, .svg or .pdf in a folder of yours.", "Choose another path."
        ) from None
    say(target.resolve())


def _columns(released: Path, lat: str | None, lon: str | None, columns: str | None) -> tuple[list[str], bool]:
    if (lat is None) != (lon is None):
        raise InvalidParameterError("Only one of --lat and --lon was given.", "Both.", "Name both columns.")
    if lat is not None and lon is not None:
        return [lat, lon], True
    if columns is not None:
        names = columns.split(",")
        if len(names) != 2:
            raise InvalidParameterError("Not exactly two columns were named.", "Two.", "Pass --columns a,b.")
        return names, False
    from metricdp import receipts

    if not receipts.path_of(released).exists():
        raise InvalidParameterError("No columns were named.", "--lat and --lon, or --columns a,b.", "Name two columns.")
    receipt = receipts.read(released)
    if len(receipt["columns"]) != 2:
        raise InvalidParameterError("The receipt names other than two columns.", "Two.", "Pass --columns a,b.")
    return receipt["columns"], receipt["parameters"]["space"]["space"] == "Geographic"
