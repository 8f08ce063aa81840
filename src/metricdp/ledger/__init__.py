"""The budget that refuses: an append-only file of charges with a limit."""

from metricdp.ledger._ledger import Charge, Ledger

__all__ = ["Charge", "Ledger"]
