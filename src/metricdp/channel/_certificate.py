"""What was verified about a channel: the loss of the very integers that are sampled."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from metricdp.exact import decimal_text, non_negative


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
        method: how it was verified: "exact" (every pair at every output, in integers) or "kernel" (every pair, by the
            triangle inequality, an upper bound; proofs/kernel.md).
        objective: what a solver minimised, if one supplied bounds; they are its claim and are not verified again.
        value: the loss of the design under that objective.
        lower_bound: no channel with this promise has a smaller one.
    """

    epsilon: float
    worst: tuple[int, int] | None
    output: int | None
    distance: float
    metric: str
    bits: int
    weights_sha256: str
    space_sha256: str
    method: str = "exact"
    objective: str | None = None
    value: float | None = None
    lower_bound: float | None = None

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
        at = "" if self.worst is None else f"; worst rows {self.worst[0]} and {self.worst[1]}"
        at += "" if self.output is None else f", output {self.output}"
        how = "exact on" if self.method == "exact" else "at most, for"
        return f"epsilon = {text} over {self.metric}, {how} integers of total 2^{self.bits}{at}"

    def without_bounds(self) -> Certificate:
        """What is verified again wherever it arrives: all but the bounds on optimality."""
        return replace(self, objective=None, value=None, lower_bound=None)
