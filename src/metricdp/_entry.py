"""Where the command starts: an interrupt while the rest is being imported is one message too."""

from __future__ import annotations

import signal
import sys


def _stop(*_: object) -> None:
    raise KeyboardInterrupt


def main() -> None:
    """Import the command line and run it."""
    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), _stop)
    try:
        from metricdp.cli import main as run
    except KeyboardInterrupt:
        sys.stderr.write("metricdp: Stopped.\n")
        sys.exit(130)
    run()
