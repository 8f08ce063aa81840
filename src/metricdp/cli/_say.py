"""Printing that survives a reader who went away."""

from __future__ import annotations

import os
import sys

import typer


def say(text: object) -> None:
    """Print to standard output; once nobody reads it any more, be silent and go on."""
    try:
        typer.echo(text)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
