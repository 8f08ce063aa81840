"""Tables in files, read twice in chunks and written back with some columns replaced."""

from metricdp.tables._open import Chunk, Table, Writer, open_table
from metricdp.tables._subjects import SubjectCounter

__all__ = ["Chunk", "SubjectCounter", "Table", "Writer", "open_table"]
