"""Which columns of a table hold a record, and how far apart two are: what several verbs are told in the same words."""

from __future__ import annotations

from pathlib import Path

from metricdp.errors import InvalidParameterError


def named(source: Path, lat: str | None, lon: str | None, columns: str | None) -> tuple[list[str], bool]:
    """The columns of the coordinates, and whether they are positions on the globe; GPX files need no names."""
    if source.suffix.lower() == ".gpx" and lat is None and lon is None and columns is None:
        return ["lat", "lon"], True
    if (lat is None) != (lon is None) or (lat is None) == (columns is None):
        raise InvalidParameterError(
            "The columns are not clear.", "Either --lat and --lon, or --columns a,b,c.", "Name the columns of a record."
        )
    if lat is not None and lon is not None:
        return [lat, lon], True
    return [name.strip() for name in str(columns).split(",")], False


def norm_of(text: str) -> float:
    """The norm that a text names."""
    if text not in ("1", "2", "inf"):
        raise InvalidParameterError("The norm is none of 1, 2, inf.", "1, 2 or inf.", "Choose one of them.")
    return float(text)
