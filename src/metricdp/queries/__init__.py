"""Questions about a private collection of records: nearest neighbours, first hits."""

from metricdp.queries._answer import Answer
from metricdp.queries._neighbours import nearest_neighbours
from metricdp.queries._sparse_vector import sparse_vector

__all__ = ["Answer", "nearest_neighbours", "sparse_vector"]
