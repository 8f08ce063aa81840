"""The command line: parse, call, print. Exit codes: see `metricdp --help`."""

from metricdp.cli._app import main

__all__ = ["main"]
