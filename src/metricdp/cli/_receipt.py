"""metricdp receipt."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from metricdp import receipts
from metricdp.cli._say import say
from metricdp.errors import FileRefusedError


def receipt(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A receipt, or the output it lies beside.")],
) -> None:
    """Print a receipt in words; exit code 5 where the output (named, or beside it) is not the file that was released.

    Example:
        metricdp receipt private.csv.receipt.json
    """
    found = receipts.read(file)
    say(receipts.in_words(found, file))
    if receipts.same_file(found, file) is False:
        raise FileRefusedError(
            "The output is not the file that was released.", "The file whose hash the receipt holds.", "Find it."
        )
