"""What an audit found."""

from __future__ import annotations

import math
from dataclasses import dataclass

from metricdp.exact import Number, decimal_text, non_negative
from metricdp.guarantee._explain import length

SHOWN = 20


@dataclass(frozen=True, slots=True)
class AuditReport:
    """The smallest epsilon that a matrix meets, and where it is reached.

    Attributes:
        epsilon: loss per unit of distance, rounded up; `inf` where there is none. Exact to 1e-12 (relatively) unless
            more than 400 pairs (or 300,000 entries) tie for the worst: then within 2^-46·(1 + ln(1/p))/d.
        delta: the delta it was computed for.
        worst: (row, other row) that reach epsilon; None for a single row.
        output: the output at which they differ most; None where all rows are equal.
        distance: between the two rows.
        infinite: up to 1,000 triples (row, other row, output) where an output is possible from one row and not from the
            other, or rows at distance 0 differ by more than delta.
        infinite_pairs: how many ordered pairs of rows have infinite loss.
        rows: how many inputs.
        outputs: how many outputs.
        unit: of the distance.
    """

    epsilon: float
    delta: float
    worst: tuple[int, int] | None
    output: int | None
    distance: float
    infinite: tuple[tuple[int, int, int], ...]
    infinite_pairs: int
    rows: int
    outputs: int
    unit: str = ""

    def meets(self, epsilon: Number) -> bool:
        """Whether the matrix keeps the promise of this epsilon (at the delta of the report)."""
        if math.isinf(self.epsilon):
            return False
        return non_negative(epsilon, "epsilon") >= non_negative(self.epsilon, "epsilon")

    def __str__(self) -> str:
        per = f" per {self.unit}" if self.unit else " per unit of distance"
        delta = f", delta = {self.delta:g}" if self.delta else ""
        if self.worst is None:
            return f"{self.rows} row, {self.outputs} outputs: nothing to compare; epsilon = 0{per}{delta}."
        i, j = self.worst
        apart = length(self.distance, self.unit)
        head = f"{self.rows} inputs, {self.outputs} outputs: "
        if math.isinf(self.epsilon):
            lines = [head + f"infinite loss for {self.infinite_pairs} ordered pairs of inputs{delta}."]
            for a, b, k in self.infinite[:SHOWN]:
                lines.append(
                    f"  output {k} is possible from input {a} and not, or not as often as it must be, from {b}"
                )
            if self.infinite_pairs > SHOWN:
                lines.append("  …")
            return "\n".join(lines)
        text = decimal_text(non_negative(self.epsilon, "epsilon"), 12)
        at = "" if self.output is None else f", most at output {self.output}"
        return head + f"epsilon = {text}{per}{delta}; worst inputs {i} and {j}, {apart} apart{at}."
