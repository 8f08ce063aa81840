"""One SQLite file of charges; a charge is one transaction, made before anything is sampled."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from metricdp.errors import FileRefusedError, IncompatibleError, InvalidParameterError
from metricdp.guarantee import Guarantee
from metricdp.ledger import _limit

VERSION = "1"
PATIENCE = 120.0
"""Seconds to wait for other processes that hold the file."""

_TABLES = (
    "CREATE TABLE IF NOT EXISTS about (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS totals (subject TEXT PRIMARY KEY, amount TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS charges (id INTEGER PRIMARY KEY, time TEXT NOT NULL, what TEXT NOT NULL,"
    " subject TEXT NOT NULL, amount TEXT NOT NULL)",
)


@dataclass(frozen=True, slots=True)
class Charge:
    """One entry: when, for what, for whom (None: everybody), and how much."""

    time: str
    what: str
    subject: str | None
    guarantee: Guarantee


class Ledger:
    """A budget file that refuses before anything is sampled.

    The file is made when it is missing, and opened when its limit equals the one given; another limit is refused.
    Several processes may make it and charge it at once. After a crash a charge may stand without its release, never a
    release without its charge. The file is readable by its owner only; it holds charges and names of subjects, no data.

    Args:
        path: the file.
        limit: a guarantee that the composition of all charges of one subject must not exceed, or a loss at a distance
            such as "2 at 1 km"; None opens an existing file with the limit it has.

    Raises:
        FileRefusedError: no ledger, another limit, not readable or writable.

    Examples:
        >>> import tempfile, pathlib
        >>> from metricdp import Geographic, Guarantee
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "budget.ledger"
        >>> ledger = Ledger(path, limit="2 at 1 km")
        >>> ledger.charge(Guarantee.pure(1.5, Geographic("km")), "first map")
        >>> ledger.remaining().epsilon
        0.5
    """

    __slots__ = ("limit", "path")

    def __init__(self, path: str | os.PathLike[str], limit: Guarantee | str | None = None) -> None:
        if not isinstance(path, str | os.PathLike) or "\0" in os.fspath(path):
            raise IncompatibleError(f"The path is a {type(path).__name__}.", "A path.", "Pass the name of a file.")
        self.path = Path(path)
        if isinstance(limit, str):
            limit = _limit.parse(limit)
        if limit is not None and not isinstance(limit, Guarantee):
            raise IncompatibleError(
                f"The limit is a {type(limit).__name__}.", 'A Guarantee or a text such as "2 at 1 km".', "Pass one."
            )
        if limit is not None and limit.kind == "mixed":
            raise IncompatibleError(
                "A mixed guarantee cannot be a limit.", "A pure, concentrated or approximate one.", "Convert it first."
            )
        if limit is None and not self.path.is_file():
            raise FileRefusedError(
                "There is no such ledger.", "An existing file, or a limit.", "Pass limit= to make one."
            )
        self.limit = self._open(limit)

    def _open(self, limit: Guarantee | None) -> Guarantee:
        if limit is not None and not self.path.exists():
            with contextlib.suppress(FileExistsError), _files():
                os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        with self._transaction() as connection:
            found = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            if not found and limit is not None:
                for table in _TABLES:
                    connection.execute(table)
                connection.execute("INSERT INTO about VALUES ('metricdp ledger', ?)", (VERSION,))
                connection.execute("INSERT INTO about VALUES ('limit', ?)", (_limit.to_json(limit),))
            try:
                about = dict(connection.execute("SELECT key, value FROM about").fetchall())
            except sqlite3.OperationalError:
                about = {}
        if about.get("metricdp ledger") != VERSION or "limit" not in about:
            raise FileRefusedError(
                "The file is not a ledger of this version.", "A file made by metricdp.Ledger.", "Choose another path."
            )
        known = _limit.from_json(about["limit"])
        if limit is not None and not _limit.same(limit, known):
            raise FileRefusedError(
                f"The ledger has another limit: {known.summary()}, over {known.space.describe()}.",
                "The same limit and space as when it was made.",
                "Open it without a limit, or make a new file.",
            )
        return known

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """A connection inside BEGIN IMMEDIATE: committed and flushed to disk at the end, rolled back on an error."""
        with _files():
            connection = sqlite3.connect(self.path, timeout=PATIENCE, isolation_level=None)
            try:
                connection.execute("PRAGMA synchronous=FULL")
                connection.execute("BEGIN IMMEDIATE")
                try:
                    yield connection
                except BaseException:
                    connection.execute("ROLLBACK")
                    raise
                connection.execute("COMMIT")
            finally:
                connection.close()

    def charge(self, guarantee: Guarantee, what: str, subject: str | None = None) -> None:
        """Add a loss to a subject's account, or refuse; when this returns, the charge is on disk.

        Args:
            guarantee: what the release will cost, over the space of the limit and in its unit.
            what: a word on what it is for; it is stored.
            subject: whose account; None is an account of its own, for everybody.

        Raises:
            LossLimitExceeded: the account would exceed the limit; nothing is written.
            IncompatibleError: another space or unit, or a kind of loss that the limit cannot hold.
        """
        name, amount = self._checked(guarantee, subject)
        if not isinstance(what, str) or not what.strip() or not _storable(what):
            raise InvalidParameterError(
                "The charge has no description.", "A short text.", 'Say what for: "map of May".'
            )
        with self._transaction() as connection:
            total = self._total(connection, name)
            total = amount if total is None else total + amount
            _limit.check(self.limit, total)
            now = datetime.now(UTC).isoformat(timespec="seconds")
            text = _limit.to_json(_limit.stored(total, self.limit.space))
            connection.execute("INSERT OR REPLACE INTO totals VALUES (?, ?)", (name, text))
            connection.execute(
                "INSERT INTO charges (time, what, subject, amount) VALUES (?, ?, ?, ?)",
                (now, what, name, _limit.to_json(amount)),
            )

    def check(self, guarantee: Guarantee, subject: str | None = None) -> None:
        """Raise what `charge` would raise now, and write nothing."""
        name, amount = self._checked(guarantee, subject)
        with self._transaction() as connection:
            total = self._total(connection, name)
        _limit.check(self.limit, amount if total is None else total + amount)

    def _checked(self, guarantee: Guarantee, subject: str | None) -> tuple[str, Guarantee]:
        """The account and the amount as it is stored, or a refusal."""
        if not isinstance(guarantee, Guarantee):
            raise IncompatibleError(
                f"A {type(guarantee).__name__} was charged.", "A Guarantee is accepted.", "Pass mechanism.guarantee."
            )
        if _limit.content_of(guarantee.space) != _limit.content_of(self.limit.space):
            raise IncompatibleError(
                f"The charge is over {guarantee.space.describe()}.",
                f"This ledger counts losses over {self.limit.space.describe()}.",
                f'Restate it (in_unit("{self.limit.unit}")), or keep a ledger for that space.',
            )
        return _account(subject), _limit.stored(guarantee, self.limit.space)

    def spent(self, subject: str | None = None) -> Guarantee | None:
        """The composition of all charges of an account; None when there is none."""
        with self._transaction() as connection:
            return self._total(connection, _account(subject))

    def remaining(self, subject: str | None = None) -> Guarantee | None:
        """The largest loss of the limit's kind that would still be accepted; None when the account is spent."""
        return _limit.left(self.limit, self.spent(subject))

    def subjects(self) -> list[str | None]:
        """All accounts with a charge; None is the account of everybody."""
        with self._transaction() as connection:
            names = [row[0] for row in connection.execute("SELECT subject FROM totals ORDER BY subject")]
        return [name[1:] if name else None for name in names]

    def history(self) -> list[Charge]:
        """All charges, oldest first."""
        with self._transaction() as connection:
            rows = connection.execute("SELECT time, what, subject, amount FROM charges ORDER BY id").fetchall()
        return [
            Charge(time, what, name[1:] if name else None, _limit.from_json(text)) for time, what, name, text in rows
        ]

    @staticmethod
    def _total(connection: sqlite3.Connection, name: str) -> Guarantee | None:
        row = connection.execute("SELECT amount FROM totals WHERE subject = ?", (name,)).fetchone()
        return None if row is None else _limit.from_json(row[0])

    def __repr__(self) -> str:
        return f"Ledger({str(self.path)!r}, limit: {self.limit.summary()})"


def _storable(text: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def _account(subject: str | None) -> str:
    if subject is not None and (not isinstance(subject, str) or not subject or not _storable(subject)):
        raise IncompatibleError("The subject is not a name.", "A non-empty string, or None.", "Pass str(subject).")
    return "" if subject is None else "=" + subject


@contextlib.contextmanager
def _files() -> Iterator[None]:
    """Errors of SQLite and of the file system as refusals."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        busy = "locked" in str(error)
        raise FileRefusedError(
            f"The ledger cannot be used ({'other processes hold it' if busy else error}).",
            "A ledger file in a folder that can be written.",
            "Wait and try again." if busy else "Check the path, the disk and the permissions; nothing was sampled.",
        ) from None
    except OSError as error:
        if isinstance(error, FileExistsError | FileRefusedError):
            raise
        raise FileRefusedError(
            f"The ledger cannot be used ({error.strerror}).", "A path that can be written.", "Check the folder."
        ) from None
