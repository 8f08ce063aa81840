"""Finite mechanisms as tables of integers: what is sampled is what is certified."""

from metricdp.channel._loss import Loss, exact_loss, loss_of

__all__ = ["Loss", "exact_loss", "loss_of"]
