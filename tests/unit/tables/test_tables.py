"""Tables: what is read, what is refused, and what comes back."""

import csv

import numpy as np
import pytest

from metricdp.errors import FileRefusedError, MissingExtraError
from metricdp.tables import SubjectCounter, _open, open_table

ODD = 'id,lat,note,lon\n1,48.5,"a, ""quoted"" cell",2.25\n2,-1e-3,"two\nlines",0\n\n3,+7, spaced ,180\n'


def write(path, text, encoding="utf-8"):
    path.write_text(text, encoding=encoding)
    return path


def test_other_columns_come_back_as_they_were(tmp_path):
    table = open_table(write(tmp_path / "a.csv", ODD))
    writer = table.writer(tmp_path / "b.csv")
    for chunk, share in table.chunks():
        assert chunk.rows == 3
        assert share == 1.0
        values = chunk.numbers(["lat", "lon"])
        assert values.tolist() == [[48.5, 2.25], [-0.001, 0.0], [7.0, 180.0]]
        writer.write(chunk, ["lat", "lon"], values + 0.1)
    writer.close()
    with (tmp_path / "b.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["note"] for row in rows] == ['a, "quoted" cell', "two\nlines", " spaced "]
    assert [float(row["lat"]) for row in rows] == [48.6, 0.099, 7.1]


def test_a_byte_order_mark_and_other_delimiters_are_understood(tmp_path):
    table = open_table(write(tmp_path / "a.csv", "\ufeffx;y\n1;2\n"), ";")
    assert table.columns == ["x", "y"]
    assert next(table.chunks())[0].numbers(["x"]).tolist() == [[1.0]]


@pytest.mark.parametrize("cell", ["", "nan", "inf", "-Infinity", "1_000", "abc", "1,5", "0x10", "1e999"])
def test_cells_that_are_no_numbers_are_named_by_row(tmp_path, cell):
    path = write(tmp_path / "a.csv", f'x,y\n1,2\n3,4\n5,"{cell}"\n')
    chunk = next(open_table(path).chunks())[0]
    with pytest.raises(FileRefusedError, match="Row 2, column 'y'") as caught:
        chunk.numbers(["x", "y"])
    assert len(cell) < 3 or cell not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("a,b\n1\n", "Row 0 has 1 cells"),
        ("a,b\n1,2\n1,2,3\n", "Row 1 has 3 cells"),
        ('a,b\n1,"2\n', "unclosed"),
        ("a,b\n" + "1," + "x" * 200_000 + "\n", "128 KiB"),
    ],
)
def test_files_that_are_no_tables_are_refused(tmp_path, text, message):
    with pytest.raises(FileRefusedError, match=message):
        list(open_table(write(tmp_path / "a.csv", text)).chunks())


def test_other_encodings_are_refused(tmp_path):
    with pytest.raises(FileRefusedError, match="UTF-8"):
        list(open_table(write(tmp_path / "a.csv", "a\n" * 9000 + "é\n", "latin-1")).chunks())


def test_only_regular_files_are_read(tmp_path):
    import os

    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path):
        with pytest.raises(FileRefusedError, match="pipe"):
            open_table(path)
    with pytest.raises(FileRefusedError, match="No such file"):
        open_table(tmp_path / "none.csv")
    with pytest.raises(FileRefusedError, match="one character"):
        open_table(write(tmp_path / "a.csv", "a\n1\n"), "")


def test_columns_are_found_once():
    for wanted in (["x"], ["a"], ["b", "b"]):
        with pytest.raises(FileRefusedError):
            _open.check_columns(["a", "a", "b"], wanted)


def test_parquet_round_trip(tmp_path):
    import pyarrow as pa
    from pyarrow import parquet

    path = tmp_path / "a.parquet"
    frame = pa.table({"id": ["u", "v", None], "lat": pa.array([1, 2, 3], pa.int32()), "lon": [0.5, 1.5, 2.5]})
    parquet.write_table(frame, path)
    table = open_table(path)
    writer = table.writer(tmp_path / "b.parquet")
    for chunk, _ in table.chunks():
        assert chunk.texts("id") == ["u", "v", "None"]
        writer.write(chunk, ["lat", "lon"], chunk.numbers(["lat", "lon"]) + 0.25)
    writer.close()
    back = parquet.read_table(tmp_path / "b.parquet")
    assert back.column_names == ["id", "lat", "lon"]
    assert back["lat"].to_pylist() == [1.25, 2.25, 3.25]
    assert back["id"].to_pylist() == ["u", "v", None]
    bad = pa.table({"lat": [1.0, None], "text": ["a", "b"]})
    parquet.write_table(bad, path)
    chunk = next(open_table(path).chunks())[0]
    with pytest.raises(FileRefusedError, match="Row 1"):
        chunk.numbers(["lat"])
    with pytest.raises(FileRefusedError, match="holds string"):
        chunk.numbers(["text"])
    with pytest.raises(FileRefusedError, match="not a Parquet file"):
        open_table(write(tmp_path / "c.parquet", "text"))


def test_parquet_names_its_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"metricdp\[parquet\]"):
        open_table(write(tmp_path / "a.parquet", "x"))


def test_subjects_are_counted_exactly(monkeypatch):
    monkeypatch.setattr("metricdp.tables._subjects.BATCH", 1000)
    names = [f"user {i}" for i in np.random.default_rng(1).zipf(1.4, size=20_000) % 5000]
    counter = SubjectCounter()
    for start in range(0, len(names), 777):
        counter.add(names[start : start + 777])
    assert counter.largest == max(names.count(name) for name in ("user 1", "user 2"))
    assert counter.subjects == len(set(names))
    assert SubjectCounter().largest == 0
