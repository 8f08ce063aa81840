"""GPX 1.1: tracks, routes and waypoints as rows of positions; a new file with nothing else of the old one."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal
from xml.etree import ElementTree as ET
from xml.parsers import expat

import numpy as np

from metricdp.errors import FileRefusedError, InvalidParameterError
from metricdp.tables import _open
from metricdp.tables._open import ROWS, Chunk, Floats, Replaced

Times = Literal["keep", "hour", "drop"]
NAMESPACE = "http://www.topografix.com/GPX/1/1"
COLUMNS = ["lat", "lon"]
ENCODINGS = ("utf-8", "utf-16", "iso-8859-1", "us-ascii")


@dataclass(frozen=True, slots=True)
class Position:
    """One point as it stands in the file: its texts, and which piece it belongs to."""

    piece: tuple[str, int, int]
    lat: str
    lon: str
    time: str | None


@dataclass(slots=True)
class GpxChunk:
    """Consecutive points."""

    points: list[Position]
    start: int

    @property
    def rows(self) -> int:
        """How many."""
        return len(self.points)

    def numbers(self, columns: Sequence[str]) -> Floats:
        """Latitudes and longitudes; refused by row where one is no finite number."""
        result = np.empty((len(self.points), len(columns)))
        for j, name in enumerate(columns):
            for i, text in enumerate(self.texts(name)):
                try:
                    result[i, j] = float(text) if "_" not in text else np.nan
                except ValueError:
                    result[i, j] = np.nan
                if not np.isfinite(result[i, j]):
                    raise _open.not_a_number(self.start + i, name)
        return result

    def texts(self, column: str) -> list[str]:
        """A column as it stands."""
        return [point.lat if column == "lat" else point.lon for point in self.points]


class GpxTable:
    """A GPX file: the rows are its points, in order; they count as one subject.

    Args:
        path: the file.
        times: what becomes of time stamps: "keep", "hour" (cut to the hour), or "drop".
    """

    one_subject = True
    columns = COLUMNS

    def __init__(self, path: Path, times: Times = "keep") -> None:
        if times not in ("keep", "hour", "drop"):
            raise InvalidParameterError("That treatment of times is not known.", "keep, hour, drop.", "Choose one.")
        self._path, self._times = path, times

    def chunks(self) -> Iterator[tuple[Chunk, float]]:
        """All points, in chunks."""
        points = [self._timed(i, point) for i, point in enumerate(_read(self._path))]
        for start in range(0, len(points), ROWS):
            part = points[start : start + ROWS]
            yield GpxChunk(part, start), (start + len(part)) / len(points)

    def _timed(self, row: int, point: Position) -> Position:
        if point.time is None or self._times == "drop":
            return Position(point.piece, point.lat, point.lon, None)
        try:
            moment = datetime.fromisoformat(point.time.strip())
            moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
        except (ValueError, OverflowError):
            raise FileRefusedError(
                f"The point at row {row} has no time that can be read.",
                "ISO 8601, such as 2024-05-01T08:30:00Z.",
                "Mend it, or drop times.",
            ) from None
        if self._times == "hour":
            moment = moment.replace(minute=0, second=0, microsecond=0)
        text = moment.isoformat().replace("+00:00", "Z")
        return Position(point.piece, point.lat, point.lon, text)

    def writer(self, path: Path) -> GpxWriter:
        """A writer of a new file."""
        return GpxWriter(path)


class GpxWriter:
    """Writes positions and times, in the pieces they came from; no elevation, name, extension or anything else."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("xb")
        self._root = ET.Element("gpx", {"xmlns": NAMESPACE, "version": "1.1", "creator": "metricdp"})
        self._at: tuple[str, int, int] | None = None
        self._parent: ET.Element = self._root

    def write(self, chunk: Chunk, columns: Sequence[str], values: Replaced) -> None:
        """Points in the order they were read: waypoints, routes, tracks."""
        assert isinstance(chunk, GpxChunk)
        assert not isinstance(values, list)
        assert list(columns) == COLUMNS
        for point, row in zip(chunk.points, values, strict=True):
            if point.piece != self._at:
                self._begin(point.piece)
            tag = {"wpt": "wpt", "rte": "rtept", "trk": "trkpt"}[point.piece[0]]
            latitude, longitude = (np.format_float_positional(value, trim="-") for value in row)
            element = ET.SubElement(self._parent, tag, {"lat": latitude, "lon": longitude})
            if point.time is not None:
                ET.SubElement(element, "time").text = point.time

    def _begin(self, piece: tuple[str, int, int]) -> None:
        kind, number, _ = piece
        if kind == "wpt":
            self._parent = self._root
        elif kind == "rte":
            self._parent = ET.SubElement(self._root, "rte")
        else:
            same = self._at is not None and self._at[:2] == (kind, number)
            track = self._root[-1] if same else ET.SubElement(self._root, "trk")
            self._parent = ET.SubElement(track, "trkseg")
        self._at = piece

    def close(self) -> None:
        """Write the file and flush it to disk."""
        try:
            ET.ElementTree(self._root).write(self._file, encoding="UTF-8", xml_declaration=True)
            self._file.flush()
            os.fsync(self._file.fileno())
        finally:
            self._file.close()


def _read(path: Path) -> list[Position]:
    """All points: waypoints first, then routes, then tracks (the order of the schema).

    Raises:
        FileRefusedError: not GPX, or XML with a document type (which could hold entity bombs); shows no content.
    """
    root = _parsed(path)
    if root.tag.rsplit("}", 1)[-1] != "gpx":
        raise FileRefusedError(f"{path.name} is XML, but not GPX.", "A file whose root is <gpx>.", "Check the file.")
    found = [_position(element, ("wpt", 0, 0)) for element in _children(root, "wpt")]
    for number, route in enumerate(_children(root, "rte")):
        found += [_position(element, ("rte", number, 0)) for element in _children(route, "rtept")]
    for number, track in enumerate(_children(root, "trk")):
        for part, segment in enumerate(_children(track, "trkseg")):
            found += [_position(element, ("trk", number, part)) for element in _children(segment, "trkpt")]
    return found


def _parsed(path: Path) -> ET.Element:
    """The tree; the first pass of a bare parser refuses document types before any entity could be expanded."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise FileRefusedError(
            f"{path.name} cannot be read ({error.strerror}).", "A readable file.", "Check it."
        ) from None
    guard = expat.ParserCreate()

    def refuse(*_: object) -> None:
        raise FileRefusedError(
            f"{path.name} declares a document type.", "Plain GPX without one.", "Remove the <!DOCTYPE …> line."
        )

    def declared(_version: object, encoding: str | None, _alone: object) -> None:
        if encoding is not None and encoding.lower() not in ENCODINGS:
            raise FileRefusedError(f"{path.name} has an unusual encoding.", f"{', '.join(ENCODINGS)}.", "Convert it.")

    guard.StartDoctypeDeclHandler = refuse
    guard.XmlDeclHandler = declared
    try:
        guard.Parse(raw, True)
        return ET.fromstring(raw)  # noqa: S314  (the guard has refused entities)
    except (expat.ExpatError, ET.ParseError):
        raise FileRefusedError(
            f"{path.name} is not well-formed XML.", "A GPX file, complete.", "Export it again."
        ) from None
    except (LookupError, ValueError):
        raise FileRefusedError(f"{path.name} has an unknown encoding.", "UTF-8.", "Convert it.") from None


def _children(element: ET.Element, name: str) -> list[ET.Element]:
    return [child for child in element if isinstance(child.tag, str) and child.tag.rsplit("}", 1)[-1] == name]


def _position(element: ET.Element, piece: tuple[str, int, int]) -> Position:
    times = _children(element, "time")
    time = times[0].text if times and times[0].text and times[0].text.strip() else None
    return Position(piece, element.get("lat", ""), element.get("lon", ""), time)
