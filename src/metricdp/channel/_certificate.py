"""What was verified about a table of integers: the loss of the very numbers that are sampled."""

from __future__ import annotations

import hashlib
import math
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from metricdp.channel._loss import loss_of
from metricdp.channel._weights import BITS, Weights, totals_are_exact
from metricdp.errors import NotCertified
from metricdp.exact import decimal_text, non_negative
from metricdp.spaces import FiniteSpace


@dataclass(frozen=True, slots=True)
class Certificate:
    """The loss of a table of weights over a space, exact and rounded up.

    Attributes:
        epsilon: realised loss per unit of distance, over all pairs of records.
        worst: row numbers of the pair that reaches it; None for a single row.
        output: the output at which it is reached.
        distance: between the two.
        metric: the metric it speaks of.
        bits: every row of weights sums to 2**bits exactly.
        weights_sha256: of the weights.
        space_sha256: of the space, labels and distances.
    """

    epsilon: float
    worst: tuple[int, int] | None
    output: int | None
    distance: float
    metric: str
    bits: int
    weights_sha256: str
    space_sha256: str

    def to_json(self) -> dict[str, Any]:
        """As JSON values; the float as its exact hexadecimal."""
        return {**asdict(self), "epsilon": self.epsilon.hex(), "distance": self.distance.hex()}

    @staticmethod
    def from_json(value: dict[str, Any]) -> Certificate:
        """Back from `to_json`."""
        worst = value["worst"]
        return Certificate(
            **{
                **value,
                "epsilon": float.fromhex(value["epsilon"]),
                "distance": float.fromhex(value["distance"]),
                "worst": None if worst is None else (int(worst[0]), int(worst[1])),
            }
        )

    def __str__(self) -> str:
        text = decimal_text(non_negative(self.epsilon, "epsilon"), 12)
        at = "" if self.worst is None else f"; worst rows {self.worst[0]} and {self.worst[1]}, output {self.output}"
        return f"epsilon = {text} over {self.metric}, exact on integers of total 2^{self.bits}{at}"


def hash_of(weights: Weights) -> str:
    """SHA-256 of the shape and the entries."""
    head = f"{weights.shape} {BITS}".encode()
    return hashlib.sha256(head + np.ascontiguousarray(weights, "<u8").tobytes()).hexdigest()


def certify(weights: Weights, space: FiniteSpace, epsilon: Fraction | None) -> Certificate:
    """Verify a table: exact totals, every pair of rows, every output.

    Raises:
        NotCertified: a row does not sum to the total, the loss is infinite, or above the epsilon asked for.
    """
    if not totals_are_exact(weights):
        raise NotCertified("A row of weights has another total.", f"2**{BITS} in every row.", "Make it again.")
    about = {
        "metric": "all pairs of d",
        "bits": BITS,
        "weights_sha256": hash_of(weights),
        "space_sha256": str(space.identity()["sha256"]),
    }
    if len(weights) == 1:
        return Certificate(0.0, None, None, 0.0, **about)  # type: ignore[arg-type]
    distances = space.matrix()
    found = loss_of(weights, distances)
    i, j = found.worst
    apart = f"items {i} and {j} (distance {distances[i, j]:g})"
    if math.isinf(found.epsilon):
        raise NotCertified(
            f"The loss is infinite: output {found.output} is possible from item {i} and not from item {j}, and so for "
            f"{found.infinite_pairs} ordered pairs.",
            "Every output reachable from all items or from none.",
            "Mix every row with one fixed output law, then certify again.",
        )
    if epsilon is not None and non_negative(found.epsilon, "epsilon") > epsilon:
        raise NotCertified(
            f"The loss is {found.epsilon!r}, reached by {apart} at output {found.output}.",
            f"At most {decimal_text(epsilon, 12)}.",
            "Design at a slightly smaller epsilon, or ask for no more than that.",
        )
    return Certificate(found.epsilon, (i, j), found.output, float(distances[i, j]), **about)  # type: ignore[arg-type]
