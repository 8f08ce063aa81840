"""What is promised: the loss as a function of distance."""

from metricdp.guarantee._explain import epsilon_for
from metricdp.guarantee._guarantee import Guarantee

__all__ = ["Guarantee", "epsilon_for"]
