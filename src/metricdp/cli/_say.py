"""Printing that survives a reader who went away."""

from __future__ import annotations

import os
import sys

import typer


def say(text: object) -> None:
    """Print to standard output; once nobody reads it any more, be silent and go on.

    A terminal that cannot show a letter gets a question mark for it.
    """
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        typer.echo(str(text).encode(encoding, "replace").decode(encoding))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
