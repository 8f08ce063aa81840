"""metricdp certify."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from metricdp.channel import Channel
from metricdp.cli._say import say


def certify(
    file: Annotated[Path, typer.Argument(metavar="CHANNEL.npz", help="A saved channel.")],
    epsilon: Annotated[str | None, typer.Option(help="The loss that must not be exceeded.")] = None,
) -> None:
    """Verify a saved channel again, from the file alone: every row total, every pair of rows, every output.

    Example:
        metricdp certify channel.npz --epsilon 2
    """
    channel = Channel.load(file)
    again = channel.certify(epsilon)
    say(str(again.certificate))
    say(f"{again.guarantee.explain()}\nStays as it is: {again.stay():.1%} of records (uniform prior).")
    if channel.certificate is None:
        say("The file itself holds no certificate.")
    elif channel.certificate.without_bounds() == again.certificate:
        say("The certificate in the file says the same.")
    claim = channel.certificate
    if claim is not None and claim.value is not None:
        say(f"Claimed by its designer, not verified: {claim.objective} cost {claim.value:.6g}, where no channel")
        say(f"with the epsilon asked costs less than {claim.lower_bound:.6g}.")
