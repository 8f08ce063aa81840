"""Where the command starts: an interrupt while the rest is being imported is one message too."""

from __future__ import annotations

import sys


def main() -> None:
    """Import the command line and run it."""
    try:
        from metricdp.cli import main as run
    except KeyboardInterrupt:
        sys.stderr.write("metricdp: Stopped.\n")
        sys.exit(130)
    run()
