"""Receipts: what was released, how, and what it promises; written beside every output file.

A receipt holds hashes of the output and of public parameters, never of the input.
"""

from __future__ import annotations

import hashlib
import json
import platform
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import numpy as np
import scipy

import metricdp
from metricdp.entropy import Entropy
from metricdp.errors import FileRefusedError, IncompatibleError
from metricdp.guarantee import Guarantee
from metricdp.spaces import Product

ENDING = ".receipt.json"
KEYS = {"output", "parameters", "guarantee of one record", "expected displacement", "randomness", "versions"}


def path_of(output: Path) -> Path:
    """Where the receipt of an output lies: `out.csv.receipt.json` beside `out.csv`."""
    return output.with_name(output.name + ENDING)


def describe_guarantee(g: Guarantee) -> dict[str, Any]:
    """A guarantee as JSON: numbers as exact fractions and as text."""
    part = g.approximated
    return {
        "summary": g.summary(),
        "kind": g.kind,
        "epsilon": None if g.exact_epsilon is None else str(g.exact_epsilon),
        "rho": None if g.exact_rho is None else str(g.exact_rho),
        "delta": None if part is None else str(part.delta),
        "radius": None if part is None or part.radius is None else str(part.radius),
        "unit": g.unit,
        "status": g.status,
        "proof": g.proof,
        "assumptions": list(g.assumptions),
        "in words": g.explain(),
    }


def parameters_hash(parameters: dict[str, Any]) -> str:
    """SHA-256 of the public parameters in canonical JSON."""
    return hashlib.sha256(json.dumps(parameters, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def file_hash(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def make(
    mechanism: Any,
    *,
    output: Path,
    output_name: str,
    source: Entropy,
    moved: dict[str, Any],
    about: dict[str, Any],
) -> dict[str, Any]:
    """The receipt of one output file.

    Args:
        mechanism: Laplace, Gaussian or Channel (anything with a space, a guarantee, an error and a step).
        output: where the finished output lies now.
        output_name: its final name.
        source: where the bits came from.
        moved: its `displacement`.
        about: rows, columns, subject column, charge.
    """
    parameters = {
        "mechanism": type(mechanism).__name__,
        "arguments": repr(mechanism),
        "space": mechanism.space.identity(),
        "step": repr(mechanism.step),
    }
    return {
        "receipt": "metricdp 1",
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "output": {"name": output_name, "sha256": file_hash(output)},
        "parameters": parameters,
        "parameters sha256": parameters_hash(parameters),
        "guarantee of one record": describe_guarantee(mechanism.guarantee),
        "expected displacement": moved,
        "randomness": {"source": type(source).__name__, "reproducible": source.reproducible},
        **about,
        "versions": {
            "metricdp": metricdp.__version__,
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "python": platform.python_version(),
            "platform": platform.platform(),
        },
    }


def displacement(mechanism: Any) -> dict[str, Any]:
    """How far records move; None where outputs have no distance from them."""
    try:
        mean, most = mechanism.mean_error, mechanism.error(0.95)
    except IncompatibleError:
        mean, most = None, None
    return {"mean": mean, "95 %": most, "unit": mechanism.space.unit}


def write(receipt: dict[str, Any], path: Path) -> None:
    """As indented JSON."""
    path.write_text(json.dumps(receipt, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def read(path: Path) -> dict[str, Any]:
    """A receipt from its file (or from the output it lies beside)."""
    if path.is_file() and not path.name.endswith(ENDING) and path_of(path).exists():
        path = path_of(path)
    try:
        receipt = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FileRefusedError(
            f"{path.name} cannot be read ({error.strerror}).", "A receipt.", "Check the path."
        ) from None
    except ValueError:
        receipt = None
    if not isinstance(receipt, dict) or receipt.get("receipt") != "metricdp 1" or not receipt.keys() >= KEYS:
        raise FileRefusedError(f"{path.name} is not a receipt.", "A file ending in .receipt.json.", "Check the path.")
    return receipt


def in_words(receipt: dict[str, Any], beside: Path | None = None) -> str:
    """A receipt for people; where the output lies beside it, its hash is compared."""
    output, moved = receipt["output"], receipt["expected displacement"]
    unit = f" {moved['unit']}" if moved["unit"] else ""
    lines = [
        f"{output['name']}: released {receipt['made']} by metricdp {receipt['versions']['metricdp']}.",
        f"Mechanism: {receipt['parameters']['arguments']}.",
        f"Rows: {receipt.get('rows', '?')}; columns replaced: {', '.join(receipt.get('columns', []))}.",
        "Expected: outputs have no distance from records."
        if moved["mean"] is None
        else f"Expected: records move by {moved['mean']:.4g}{unit} on average, "
        f"95 % of them by less than {moved['95 %']:.4g}{unit}.",
        f"Charge: {receipt.get('charge', 'none')}",
        "",
        "For each record:",
        receipt["guarantee of one record"]["in words"],
    ]
    if receipt["randomness"]["reproducible"]:
        lines += ["", "NOT PRIVATE: the noise was made from a seed or key; whoever knows it can undo it."]
    if beside is not None:
        same = same_file(receipt, beside)
        name = _output_of(receipt, beside).name
        if same is not None:
            lines += ["", f"{name} beside it {'is' if same else 'IS NOT'} the file that was released."]
    return "\n".join(lines)


def _output_of(receipt: dict[str, Any], asked: Path) -> Path:
    """The output that is meant: the file itself, or the one that a receipt names, beside it."""
    return asked.with_name(receipt["output"]["name"]) if asked.name.endswith(ENDING) else asked


def same_file(receipt: dict[str, Any], asked: Path) -> bool | None:
    """Whether the output is the one that was released; None where it is not there."""
    file = _output_of(receipt, asked)
    return file_hash(file) == receipt["output"]["sha256"] if file.is_file() else None


def trace_text(guarantee: Guarantee, rows: int) -> str:
    """What a trace of so many records loses against another, by the distance of traces (all three of them)."""
    natural: Literal["sum", "l2"] = "sum" if guarantee.kind == "pure" else "l2"
    whole = replace(guarantee, space=Product(guarantee.space, rows, natural))
    names: dict[Literal["max", "l2", "sum"], str] = {
        "max": "the largest distance of a row",
        "l2": "the root of the summed squares",
        "sum": "the sum of distances",
    }
    stated = "; ".join(f"{whole.under(combine).summary()} by {name}" for combine, name in names.items())
    return f"the file is one subject's trace of {rows} rows; against another trace it loses {stated}"


def rows_text(guarantee: Guarantee, rows: int, subject: str | None) -> str:
    """The charge of a table in words."""
    if subject is None:
        return f"{guarantee.summary()} for each row; each row counts as a subject of its own"
    return (
        f"{(rows * guarantee).summary()}: the largest subject (column {subject!r}) has "
        f"{rows} rows, each {guarantee.summary()}"
    )
