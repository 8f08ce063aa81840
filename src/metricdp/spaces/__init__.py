"""What is protected: points with a distance and its unit."""

from metricdp.spaces._databases import Hamming, SymmetricDifference
from metricdp.spaces._euclidean import Euclidean
from metricdp.spaces._finite import Discrete, FiniteSpace
from metricdp.spaces._geographic import EARTH_RADIUS, WGS84_STRETCH, Geographic
from metricdp.spaces._metrics import metric_closure
from metricdp.spaces._product import Product
from metricdp.spaces._space import Space, is_space

__all__ = [
    "EARTH_RADIUS",
    "WGS84_STRETCH",
    "Discrete",
    "Euclidean",
    "FiniteSpace",
    "Geographic",
    "Hamming",
    "Product",
    "Space",
    "SymmetricDifference",
    "is_space",
    "metric_closure",
]
