"""metricdp demo."""

from __future__ import annotations

import importlib.util
from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated

import typer

from metricdp import receipts, release
from metricdp.cli._plot import plot
from metricdp.cli._say import say
from metricdp.errors import FileRefusedError
from metricdp.mechanisms import Laplace
from metricdp.spaces import Geographic


def demo(
    folder: Annotated[Path, typer.Option(help="Where to write.")] = Path("demo-output"),
) -> None:
    """Release a bundled table of made-up trips, print what is promised, and draw before and after.

    Example:
        metricdp demo --folder /tmp/metricdp-demo
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise FileRefusedError("The folder cannot be made.", "A folder of yours.", "Choose another --folder.") from None
    out = folder / "private_positions.csv"
    with as_file(files("metricdp") / "data" / "demo_positions.csv") as source:
        mechanism = Laplace(Geographic("m"), "0.01")
        plan = release.plan(source, mechanism, ["latitude", "longitude"], subject="person")
        say(plan.describe())
        release.run(plan, out)
        say(f"Wrote {out.resolve()} and its receipt {receipts.path_of(out).name}.")
        if importlib.util.find_spec("matplotlib") is None:
            say("No picture: it needs matplotlib (pip install 'metricdp[plots]').")
            return
        plot(source, out, folder / "before_and_after.png", "latitude", "longitude", None)
