"""A progress bar on standard error, on terminals only."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from metricdp.release import Progress


@contextmanager
def shown() -> Iterator[Progress | None]:
    """Yields a callback that draws a bar with the time left; None where nobody looks."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=1.0)

        def update(stage: str, share: float) -> None:
            bar.update(task, description=stage, completed=share)

        yield update
