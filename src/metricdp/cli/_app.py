"""The family of verbs, and how errors become exit codes."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

import metricdp
from metricdp.cli import (
    _audit,
    _certify,
    _demo,
    _design,
    _explain,
    _ledger,
    _plot,
    _queries,
    _receipt,
    _release,
    _reproduce,
)
from metricdp.errors import (
    EntropyError,
    FileRefusedError,
    LossLimitExceeded,
    MetricDPError,
    MissingExtraError,
    NotCertified,
    SolverFailed,
)

CODES: list[tuple[type[BaseException], int]] = [
    (LossLimitExceeded, 4),
    (NotCertified, 4),
    (SolverFailed, 4),
    (FileRefusedError, 5),
    (MissingExtraError, 6),
    (EntropyError, 7),
    (MetricDPError, 3),
]

app = typer.Typer(
    name="metricdp",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="""Share records one by one with metric differential privacy: near ones cannot be told apart.

Examples:

    metricdp release trips.csv --lat latitude --lon longitude --epsilon 0.01 --out private.csv

    metricdp explain --epsilon 0.01 --unit m

    metricdp demo

Exit codes: 0 done; 1 an error of the program itself; 2 wrong usage; 3 a parameter or a record was refused;
4 the ledger refused, or more loss was found than promised; 5 a file cannot be read or written; 6 an extra is not
installed; 7 the source of randomness is broken; 130 interrupted.
""",
)
app.command("release")(_release.release)
app.command("explain")(_explain.explain)
app.command("audit")(_audit.audit)
app.command("design")(_design.design_command)
app.command("certify")(_certify.certify)
app.command("knn")(_queries.knn)
app.command("hull")(_queries.hull)
app.command("plot")(_plot.plot)
app.command("receipt")(_receipt.receipt)
app.command("demo")(_demo.demo)
app.command("reproduce")(_reproduce.reproduce)
app.add_typer(_ledger.app, name="ledger")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"metricdp {metricdp.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Share records one by one with metric differential privacy."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; every refusal is one message on standard error and an exit code."""
    try:
        result = app(args=arguments, standalone_mode=False)
        code = result if isinstance(result, int) else 0
    except (typer.Abort, KeyboardInterrupt):
        code = _fail("Stopped.", 130)
    except MetricDPError as error:
        code = _fail(str(error), next(number for kind, number in CODES if isinstance(error, kind)))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except OSError as error:
        code = _fail(f"A file cannot be read or written ({error.strerror}).", 5)
    except Exception as error:  # noqa: BLE001  (no traceback: it could show a record)
        code = _unexpected(error)
    sys.exit(code)


def _unexpected(error: Exception) -> int:
    """Wrong usage, which Typer describes itself, or an error of ours, of which only the kind is shown."""
    describe = getattr(error, "format_message", None)
    if describe is None:
        kind = type(error).__name__
        return _fail(f"An error of the program itself ({kind}); no more is shown, since it could hold a record.", 1)
    message = describe()
    if type(error).__name__ == "NoArgsIsHelpError":
        typer.echo(message, err=True)
        return 2
    return _fail(message, 2)


def _fail(message: str, code: int) -> int:
    encoding = getattr(sys.stderr, "encoding", None) or "utf-8"
    typer.echo(f"metricdp: {message}".encode(encoding, "replace").decode(encoding), err=True)
    return code
