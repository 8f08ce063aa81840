"""metricdp reproduce."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from metricdp import reproduce as harness
from metricdp.cli._progress import shown
from metricdp.cli._say import say


def reproduce(
    paper: Annotated[str, typer.Argument(metavar="PAPER", help="Number of the paper, such as 004; `list` names all.")],
    artefact: Annotated[str, typer.Option(help="A figure or table, or all.")] = "all",
    quick: Annotated[bool, typer.Option("--quick", help="A reduced form, in minutes.")] = False,
    data: Annotated[Path | None, typer.Option(help="Folder with the original data.")] = None,
    limit: Annotated[float, typer.Option(help="Seconds a cell may take.")] = 1800.0,
    seed: Annotated[int, typer.Option(help="Of the public random choices.")] = 0,
    out: Annotated[Path, typer.Option(help="Folder of results; finished cells are kept there.")] = Path("reproduction"),
) -> None:
    """Compute a paper's tables and figures again, our value beside the paper's. Can be stopped and resumed.

    Examples:
        metricdp reproduce list

        metricdp reproduce 004 --artefact figure6 --quick
    """
    if paper == "list":
        for name, title in harness.papers().items():
            say(f"{name}  {title}")
        return
    with shown() as progress:
        page = harness.run(
            paper, artefact, harness.Options(quick=quick, data=data, limit=limit, seed=seed), out, progress=progress
        )
    say(page.resolve())
