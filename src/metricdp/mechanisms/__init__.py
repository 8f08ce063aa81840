"""How to release: one family a file."""

from metricdp.mechanisms._gaussian import Gaussian
from metricdp.mechanisms._laplace import Laplace
from metricdp.mechanisms._mechanism import Mechanism

__all__ = ["Gaussian", "Laplace", "Mechanism"]
