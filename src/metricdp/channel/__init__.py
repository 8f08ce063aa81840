"""Finite mechanisms as rows of integers: what is sampled is what is certified."""

from metricdp.channel._certificate import Certificate
from metricdp.channel._channel import Channel
from metricdp.channel._kernel import Kernel
from metricdp.channel._loss import Loss, exact_loss, loss_of
from metricdp.channel._sparse import Sparse
from metricdp.channel._storage import read_arrays, write_arrays
from metricdp.channel._utility import Objective, check_cost, check_objective, check_prior, numbers, objective_of
from metricdp.channel._weights import BITS

__all__ = [
    "BITS",
    "Certificate",
    "Channel",
    "Kernel",
    "Loss",
    "Objective",
    "Sparse",
    "check_cost",
    "check_objective",
    "check_prior",
    "exact_loss",
    "loss_of",
    "numbers",
    "objective_of",
    "read_arrays",
    "write_arrays",
]
