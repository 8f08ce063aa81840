"""Questions about a private collection of records: nearest neighbours, first hits, outlines."""

from metricdp.queries._answer import Answer
from metricdp.queries._hull import Hull, convex_hull
from metricdp.queries._neighbours import nearest_neighbours
from metricdp.queries._sparse_vector import sparse_vector

__all__ = ["Answer", "Hull", "convex_hull", "nearest_neighbours", "sparse_vector"]
