"""Finite mechanisms as tables of integers: what is sampled is what is certified."""

from metricdp.channel._certificate import Certificate
from metricdp.channel._channel import Channel
from metricdp.channel._loss import Loss, exact_loss, loss_of
from metricdp.channel._weights import BITS

__all__ = ["BITS", "Certificate", "Channel", "Loss", "exact_loss", "loss_of"]
