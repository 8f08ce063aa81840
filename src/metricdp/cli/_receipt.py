"""metricdp receipt."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from metricdp import receipts
from metricdp.cli._say import say


def receipt(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A receipt, or the output it lies beside.")],
) -> None:
    """Print a receipt in words, and whether the output beside it is the file that was released.

    Example:
        metricdp receipt private.csv.receipt.json
    """
    found = receipts.read(file)
    say(receipts.in_words(found, file))
