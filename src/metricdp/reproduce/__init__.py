"""The papers' tables and figures, computed again: cells that are kept as they finish, and a page that compares."""

from metricdp.reproduce._harness import Artefact, Cell, Options, Paper, papers, run

__all__ = ["Artefact", "Cell", "Options", "Paper", "papers", "run"]
