"""Runs cells one by one, keeps each result on disk, and writes a Markdown page with ratios."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import signal
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import metricdp
from metricdp.errors import FileRefusedError, InvalidParameterError

_PAPERS = {"004": "metricdp.reproduce._paper004"}


@dataclass(frozen=True, slots=True)
class Options:
    """How much to compute, and from what."""

    quick: bool = False
    data: Path | None = None
    limit: float = 1800.0
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Cell:
    """One number of a table: what it is, how to compute it, and what the paper says (None: nothing).

    `compute(options, **arguments)` is a function at the top of a module, so that it can run in a process of its own.
    """

    name: str
    compute: Callable[..., Any]
    arguments: dict[str, Any]
    paper: float | None = None
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Artefact:
    """A table or a figure: its cells, and what is said beside them; `draw(values, path)` makes a picture."""

    name: str
    title: str
    cells: Callable[[Options], Sequence[Cell]]
    remark: str = ""
    draw: Callable[[dict[str, Any], Path], None] | None = None


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper and its artefacts."""

    name: str
    title: str
    artefacts: Sequence[Artefact]


def papers() -> dict[str, str]:
    """Numbers and titles of the papers that can be reproduced."""
    return {name: import_module(module).PAPER.title for name, module in _PAPERS.items()}


def run(
    paper: str, artefact: str, options: Options, out: Path, *, progress: Callable[[str, float], None] | None = None
) -> Path:
    """Compute what is missing, write the page, and return its path.

    Args:
        paper: number of the paper.
        artefact: name of one artefact, or "all".
        options: how much to compute.
        out: folder of results; a cell that is there for the same arguments, options and version is not computed again.
        progress: called with the cell's name and the share done.
    """
    if not options.limit > 0:
        raise InvalidParameterError("The time limit is not positive.", "Seconds > 0.", "Pass --limit 300, say.")
    if paper not in _PAPERS:
        raise InvalidParameterError(
            "That paper cannot be reproduced.", f"Known papers: {', '.join(_PAPERS)}.", "See metricdp reproduce list."
        )
    known: Paper = import_module(_PAPERS[paper]).PAPER
    chosen = [a for a in known.artefacts if artefact in ("all", a.name)]
    if not chosen:
        names = ", ".join(a.name for a in known.artefacts)
        raise InvalidParameterError("That artefact is not known.", f"Known: {names}, all.", "Choose one of them.")
    folder = out / paper
    try:
        (folder / "cells").mkdir(parents=True, exist_ok=True)
    except OSError:
        raise FileRefusedError("The folder cannot be made.", "A folder of yours.", "Choose another --out.") from None
    plan = [(a, cell) for a in chosen for cell in a.cells(options)]
    results: dict[str, dict[str, Any]] = {a.name: {} for a in chosen}
    for done, (a, cell) in enumerate(plan):
        if progress is not None:
            progress(f"{a.name}: {cell.name}", done / len(plan))
        results[a.name][cell.name] = _cell(folder / "cells", paper, a, cell, options)
    return _page(known, chosen, results, options, folder)


def _cell(folder: Path, paper: str, artefact: Artefact, cell: Cell, options: Options) -> dict[str, Any]:
    """The result of a cell: kept, or computed within the time limit and kept."""
    shown = {key: str(value) for key, value in asdict(options).items() if key != "limit"}
    key = [metricdp.__version__, paper, artefact.name, cell.name, cell.arguments, shown]
    digest = hashlib.sha256(json.dumps(key, sort_keys=True, default=str).encode()).hexdigest()[:24]
    file = folder / f"{digest}.json"
    kept = _kept(file)
    if kept is not None and (kept["error"] is None or kept["seconds"] >= options.limit):
        return kept
    start = time.perf_counter()
    value, error = _within(options.limit, cell, options)
    result = {
        "cell": cell.name,
        "value": value,
        "paper": cell.paper,
        "unit": cell.unit,
        "seconds": time.perf_counter() - start,
        "error": error,
    }
    part = file.with_suffix(".part")
    part.write_text(json.dumps(result), encoding="utf-8")
    part.replace(file)
    return result


def _kept(file: Path) -> dict[str, Any] | None:
    """A result that was kept whole; None where there is none, or half of one."""
    try:
        kept: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return kept if {"value", "error", "seconds", "paper", "unit"} <= kept.keys() else None


def _work(pipe: Any, cell: Cell, options: Options) -> None:
    try:
        pipe.send((cell.compute(options, **cell.arguments), None))
    except Exception as error:  # noqa: BLE001  (reported in the page)
        pipe.send((None, f"{type(error).__name__}: {error}"))


def _within(limit: float, cell: Cell, options: Options) -> tuple[Any, str | None]:
    """Run a cell in a process of its own, ended at the limit."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(theirs, cell, options), daemon=True)
    before = signal.getsignal(signal.SIGINT)
    main = threading.current_thread() is threading.main_thread()
    if main:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # inherited: an interrupt is ours to report
    process.start()
    if main:
        signal.signal(signal.SIGINT, before)
    theirs.close()
    try:
        if not ours.poll(limit):
            return None, f"stopped after {limit:g} s"
        value, error = ours.recv()
        return value, error
    except EOFError:
        return None, "the process ended by itself"
    finally:
        process.kill()
        process.join()


def _page(
    paper: Paper, chosen: list[Artefact], results: dict[str, dict[str, Any]], options: Options, folder: Path
) -> Path:
    about = f"metricdp {metricdp.__version__}; quick: {options.quick}; seed {options.seed}."
    lines = [f"# {paper.title}", "", about, ""]
    for artefact in chosen:
        cells = results[artefact.name]
        lines += [f"## {artefact.name}: {artefact.title}", "", artefact.remark, ""]
        lines += ["| cell | ours | paper | ours / paper | seconds |", "|---|---|---|---|---|"]
        for name, cell in cells.items():
            ours = cell["error"] or _number(cell["value"], cell["unit"])
            comparable = cell["error"] is None and cell["paper"] and isinstance(cell["value"], float)
            ratio = f"{cell['value'] / cell['paper']:.4g}" if comparable else ""
            theirs = "" if cell["paper"] is None else _number(cell["paper"], cell["unit"])
            lines.append(f"| {name} | {ours} | {theirs} | {ratio} | {cell['seconds']:.2f} |")
        lines.append("")
        if artefact.draw is not None:
            picture = folder / f"{artefact.name}.png"
            artefact.draw({name: cell["value"] for name, cell in cells.items()}, picture)
            lines += [f"![{artefact.title}]({picture.name})", ""]
    page = folder / "README.md"
    page.write_text("\n".join(lines), encoding="utf-8")
    return page


def _number(value: Any, unit: str) -> str:
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return f"{text} {unit}".rstrip()
