"""What somebody who knows the prior can do with outputs: guess better, and remap them for utility.

Both are computed from the integers of a channel. Remapping looks at outputs only, so it cannot weaken the promise.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metricdp.channel import Channel, check_cost, check_prior
from metricdp.errors import IncompatibleError, InvalidParameterError, OutOfSpaceError

Floats = NDArray[np.float64]

LARGEST = 5000
"""Inputs and outputs up to which best guesses are computed (n²·k operations)."""


@dataclass(frozen=True, slots=True)
class Adversary:
    """How well an observer who knows the prior can guess, before and after seeing an output.

    Attributes:
        expected_error: distance between the record and the best guess from the output, on average.
        prior_error: the same without an output.
        success: probability that the most likely record, given the output, is the right one.
        prior_success: the same without an output.
        min_entropy_leakage: log2 of their ratio, in bits.
        conditional_entropy: of the record given the output, in bits.
        prior_entropy: of the record, in bits.
        stay: the share of records that come out as themselves.
    """

    expected_error: float
    prior_error: float
    success: float
    prior_success: float
    min_entropy_leakage: float
    conditional_entropy: float
    prior_entropy: float
    stay: float

    def __str__(self) -> str:
        return (
            f"best guess off by {self.expected_error:.4g} on average ({self.prior_error:.4g} without the output), "
            f"right with probability {self.success:.2%} ({self.prior_success:.2%}); {self.min_entropy_leakage:.3f} "
            f"bits of min-entropy leak; {self.conditional_entropy:.3f} of {self.prior_entropy:.3f} bits stay unknown; "
            f"{self.stay:.1%} of records come out as themselves"
        )


def adversary(channel: Channel, prior: ArrayLike | None = None) -> Adversary:
    """The best any observer with this prior can do (uniform by default).

    Args:
        channel: up to 5,000 inputs and outputs.
        prior: over the inputs.

    Examples:
        >>> from metricdp import Channel, FiniteSpace, bayes
        >>> space = FiniteSpace(["a", "b"], [[0, 1], [1, 0]])
        >>> report = bayes.adversary(Channel.from_matrix(space, [[0.75, 0.25], [0.25, 0.75]]))
        >>> report.success, report.prior_success, round(report.min_entropy_leakage, 3)
        (0.75, 0.5, 0.585)
    """
    shares, joint = _joint(channel, prior)
    distances = channel.space.matrix()
    marginal = joint.sum(axis=0)
    error = float((distances @ joint).min(axis=0).sum())
    success, before = float(joint.max(axis=0).sum()), float(shares.max())
    return Adversary(
        expected_error=error,
        prior_error=float((distances @ shares).min()),
        success=min(success, 1.0),
        prior_success=before,
        min_entropy_leakage=max(0.0, math.log2(success / before)),
        conditional_entropy=max(0.0, _entropy(joint.ravel()) - _entropy(marginal)),
        prior_entropy=_entropy(shares),
        stay=channel.stay(shares),
    )


def _joint(channel: Channel, prior: ArrayLike | None) -> tuple[Floats, Floats]:
    if not isinstance(channel, Channel):
        raise IncompatibleError(f"The channel is a {type(channel).__name__}.", "A Channel.", "Pass one.")
    if max(channel.law.shape) > LARGEST:
        raise InvalidParameterError(
            f"The channel has {channel.law.shape[0]} inputs.", f"Up to {LARGEST}.", "Look at a part of the space."
        )
    shares = check_prior(prior, len(channel.space))
    return shares, shares[:, None] * channel.matrix()


def _labels(outputs: object) -> tuple[Hashable, ...]:
    try:
        labels: tuple[Hashable, ...] = tuple(outputs)  # type: ignore[arg-type]
        unique = len(set(labels))
    except TypeError:
        raise IncompatibleError("The outputs are no labels.", "Hashable labels.", "Pass a list.") from None
    if not labels or unique < len(labels):
        raise InvalidParameterError("There are no outputs, or two are equal.", "Different labels.", "Drop one.")
    return labels


def _entropy(law: Floats) -> float:
    positive = law[law > 0]
    return abs(math.fsum((positive * np.log2(positive)).tolist()))


def remap(
    channel: Channel,
    prior: ArrayLike | None = None,
    cost: ArrayLike | None = None,
    outputs: Sequence[Hashable] | None = None,
) -> Channel:
    """The channel followed by the best replacement of each output: post-processing, so the promise stands.

    Args:
        channel: certified or not; the result is certified if it is, at most at the same epsilon.
        prior: what the replacement is best for; public.
        cost: (inputs, new outputs); the distance between inputs by default.
        outputs: the new outputs that `cost` speaks of; the inputs by default.

    Returns:
        A channel over those of the new outputs that are used, in their order.

    Examples:
        >>> from metricdp import Channel, FiniteSpace, bayes
        >>> space = FiniteSpace(["a", "b"], [[0, 1], [1, 0]])
        >>> channel = Channel.from_matrix(space, [[0.6, 0.4], [0.4, 0.6]]).certify()
        >>> bayes.remap(channel, [0.9, 0.1]).outputs
        ('a',)
    """
    _, joint = _joint(channel, prior)
    labels = channel.space.labels if outputs is None else _labels(outputs)
    if cost is None:
        try:
            places = channel.space.positions(list(labels))
        except OutOfSpaceError:
            raise IncompatibleError(
                "New outputs that are no inputs have no distance.", "Inputs.", "Pass cost=."
            ) from None
        table = channel.space.block(np.arange(len(channel.space)), places)
    else:
        table = check_cost(cost, (len(channel.space), len(labels)))
    best = (table.T @ joint).argmin(axis=0)
    used = np.unique(best)
    weights = np.zeros((len(channel.space), len(used)), dtype=np.uint64)
    place = np.searchsorted(used, best)
    old = channel.weights
    for k in range(old.shape[1]):
        weights[:, place[k]] += old[:, k]
    result = Channel(channel.space, weights, [labels[k] for k in used])
    return result if channel.certificate is None else result.certify()
