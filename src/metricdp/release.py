"""A table released in two passes: check and count every row, charge, then sample and write."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metricdp import entropy as randomness
from metricdp import receipts, units
from metricdp.channel import Channel
from metricdp.entropy import Entropy
from metricdp.errors import FileRefusedError, InvalidParameterError, OutOfSpaceError
from metricdp.guarantee import Guarantee
from metricdp.ledger import Ledger
from metricdp.mechanisms import Gaussian, Laplace
from metricdp.spaces import Geographic
from metricdp.tables import SubjectCounter, Table, open_table
from metricdp.tables._open import Chunk, Signature, check_columns, signature

Progress = Callable[[str, float], None]
"""Called with what is done and the share of it that is done."""


def _silent(stage: str, share: float) -> None:
    """No progress."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a release will do and cost, after every row was checked and before anything is charged or sampled."""

    source: Path
    table: Table
    mechanism: Laplace | Gaussian | Channel
    columns: tuple[str, ...]
    subject: str | None
    rows: int
    subjects: int
    largest: int
    seen: Signature
    times: str
    moved: dict[str, Any]

    @property
    def charge(self) -> Guarantee:
        """What the largest subject loses: its rows times the guarantee of one record."""
        return self.largest * self.mechanism.guarantee

    def describe(self) -> str:
        """What is printed before work starts."""
        return "\n".join(
            [
                f"{self.rows:,} rows of {self.source.name}, columns {', '.join(self.columns)}; {self.mechanism!r}.",
                self.mechanism.guarantee.explain(),
                self._displacement(f" {self.mechanism.space.unit}" if self.mechanism.space.unit else ""),
                f"Charge: {self.charged()}.",
            ]
        )

    def charged(self) -> str:
        """The charge in words; for a file of one subject's rows under all three distances between traces."""
        one = self.mechanism.guarantee
        if not self.table.one_subject:
            return receipts.rows_text(one, self.largest, self.subject)
        return receipts.trace_text(one, self.rows)

    def _displacement(self, unit: str) -> str:
        moved = self.moved
        if moved["mean"] is None:
            return "Outputs are no inputs, so records have no distance from them."
        text = f"Records will move by {moved['mean']:.4g}{unit} on average, 95 % of them by less than "
        text += f"{moved['95 %']:.4g}{unit}"
        if isinstance(self.mechanism, Channel):
            return f"{text}; {self.mechanism.stay():.1%} come out as themselves (if all inputs are equally frequent)."
        text += "."
        return text


def plan(
    source: str | os.PathLike[str],
    mechanism: Laplace | Gaussian | Channel,
    columns: Sequence[str],
    *,
    subject: str | None = None,
    delimiter: str = ",",
    times: str = "keep",
    progress: Progress | None = None,
) -> Plan:
    """First pass: check every row and count the rows of the largest subject.

    Args:
        source: CSV, GPX (columns lat and lon), or Parquet with its extra; a regular file.
        mechanism: what to release the columns through; a channel takes one column of labels (as text).
        columns: names, one per coordinate (latitude first on the globe).
        subject: the column that says whose row it is; without it each row is a subject of its own.
        delimiter: of CSV.
        times: of GPX: "keep" time stamps, cut them to the "hour", or "drop" them; the promise is about positions only.
        progress: called with the share read so far.

    Raises:
        FileRefusedError, OutOfSpaceError: naming the row, never its value.
    """
    path = Path(source)
    report = progress or _silent
    if isinstance(mechanism, Channel):
        mechanism.require_certificate()
    seen = signature(path)
    table = open_table(path, delimiter, times)
    check_columns(table.columns, list(columns))
    if isinstance(mechanism, Channel) and len(columns) != 1:
        raise InvalidParameterError("A channel releases one column.", "One name.", "Release them one by one.")
    if subject is not None:
        check_columns(table.columns, [subject])
        if subject in columns:
            raise InvalidParameterError(
                "The subject's column is to be replaced.", "Another column.", "Name the column of user ids."
            )
    if table.one_subject and (not isinstance(mechanism.space, Geographic) or list(columns) != table.columns):
        raise InvalidParameterError(
            "A GPX file holds positions on the globe.", "Columns lat, lon in this order.", "Leave --columns out."
        )
    counter = SubjectCounter()
    rows = 0
    for chunk, share in table.chunks():
        check_rows(mechanism, _records(mechanism, chunk, columns), rows)
        if subject is not None:
            counter.add(chunk.texts(subject))
        rows += chunk.rows
        report("checking rows", share)
    if rows == 0:
        raise FileRefusedError(f"{path.name} has no rows.", "At least one row.", "Check the file.")
    if signature(path) != seen:
        raise _changed(path)
    largest, subjects = (counter.largest, counter.subjects) if subject is not None else (1, rows)
    if table.one_subject:
        largest, subjects = rows, 1
    moved = receipts.displacement(mechanism)
    return Plan(path, table, mechanism, tuple(columns), subject, rows, subjects, largest, seen, times, moved)


def _records(mechanism: Laplace | Gaussian | Channel, chunk: Chunk, columns: Sequence[str]) -> Any:
    """What the mechanism takes: numbers, or the labels of one column."""
    return chunk.texts(columns[0]) if isinstance(mechanism, Channel) else chunk.numbers(columns)


def check_rows(mechanism: Laplace | Gaussian | Channel, values: Any, start: int) -> None:
    """Refuse records outside the mechanism's domain by their position in the file."""
    try:
        mechanism.check(values)
    except OutOfSpaceError:
        for i, row in enumerate(values):
            try:
                mechanism.check(row)
            except OutOfSpaceError as error:
                refused = error.refused.replace("at row 0", f"at row {start + i}")
                raise OutOfSpaceError(refused, error.accepted, error.remedy) from None
        raise


def run(
    planned: Plan,
    out: str | os.PathLike[str],
    *,
    ledger: Ledger | None = None,
    entropy: Entropy | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Charge, then sample and write the output and its receipt; returns the receipt.

    The output is written to a temporary file beside it and renamed at the end, so there is a whole file or none. An
    error after the charge leaves the charge standing.

    Raises:
        LossLimitExceeded: before anything is sampled.
        FileRefusedError: the input changed since it was planned, or the output cannot be written.
    """
    target = Path(out)
    bits = randomness.source(entropy)
    check_target(target, planned.source, ledger)
    if signature(planned.source) != planned.seen:
        raise _changed(planned.source)
    if ledger is not None:
        ledger.charge(in_unit_of(ledger, planned.charge), f"release of {target.name}")
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    note = receipts.path_of(part)
    renamed = False
    try:
        _sample(planned, part, bits, progress or _silent)
        receipt = receipts.make(
            planned.mechanism,
            output=part,
            output_name=target.name,
            source=bits,
            moved=planned.moved,
            about={
                "rows": planned.rows,
                "columns": list(planned.columns),
                "subject column": planned.subject,
                "time stamps": planned.times,
                "charge": planned.charged() + ".",
                "ledger": "charged" if ledger is not None else "none",
            },
        )
        receipts.write(receipt, note)
        note.replace(receipts.path_of(target))
        renamed = True
        part.replace(target)
    except BaseException as error:
        part.unlink(missing_ok=True)
        note.unlink(missing_ok=True)
        if renamed:
            receipts.path_of(target).unlink(missing_ok=True)
        if isinstance(error, OSError) and not isinstance(error, FileRefusedError):
            stands = "the charge stands in the ledger" if ledger is not None else "nothing was charged"
            raise FileRefusedError(
                f"The output could not be written ({error.strerror}); no output was made.",
                "A folder with room for the whole table.",
                f"Mend that and run it again; {stands}.",
            ) from None
        raise
    return receipt


def in_unit_of(ledger: Ledger, charge: Guarantee) -> Guarantee:
    """The charge restated in the ledger's unit of length, exactly; as it is where there is no ratio."""
    both = units.known(charge.unit) and units.known(ledger.limit.unit)
    return charge.in_unit(ledger.limit.unit) if both else charge


def _sample(planned: Plan, part: Path, bits: Entropy, report: Progress) -> None:
    writer = planned.table.writer(part)
    try:
        rows = 0
        counter = SubjectCounter()
        for chunk, share in planned.table.chunks():
            records = _records(planned.mechanism, chunk, planned.columns)
            if planned.subject is not None:
                counter.add(chunk.texts(planned.subject))
            rows += chunk.rows
            values = planned.mechanism.release(records, entropy=bits)
            writer.write(chunk, planned.columns, [values] if isinstance(values, list) else values)
            report("releasing", share)
        if signature(planned.source) != planned.seen or rows != planned.rows or counter.largest > planned.largest:
            raise _changed(planned.source)
    finally:
        writer.close()


def check_target(target: Path, source: Path, ledger: Ledger | None = None) -> None:
    """Refuse an output that would replace the input or the ledger, or that cannot be made."""
    for path in (target, receipts.path_of(target)):
        for kept, name in ((source, "input"), (ledger.path if ledger else None, "ledger")):
            if kept is not None and path.exists() and kept.exists() and path.samefile(kept):
                raise FileRefusedError(f"The output is the {name}.", "Another file.", "Choose another --out.")
        if path.exists() and not path.is_file():
            raise FileRefusedError("The output is no regular file.", "A file name.", "Choose another --out.")
    if not target.parent.is_dir():
        raise FileRefusedError("The output is no file in an existing folder.", "A file name.", "Make the folder first.")
    if not os.access(target.parent, os.W_OK):
        raise FileRefusedError("The folder of the output cannot be written.", "A folder of yours.", "Choose another.")


def _changed(path: Path) -> FileRefusedError:
    return FileRefusedError(
        f"{path.name} changed while it was read; there is no output file.",
        "A file that stands still from the first pass to the last.",
        "Copy it, and release the copy.",
    )
