"""A finite mechanism: one row of integer weights per record."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metricdp import entropy as randomness
from metricdp.channel import _storage, _utility, _weights
from metricdp.channel._certificate import Certificate
from metricdp.channel._kernel import Kernel
from metricdp.channel._loss import loss_of
from metricdp.channel._sparse import Sparse
from metricdp.channel._utility import Objective
from metricdp.channel._verify import verify
from metricdp.channel._weights import BITS, Rows, Table, Weights
from metricdp.entropy import Entropy
from metricdp.errors import IncompatibleError, InvalidParameterError, NotCertified
from metricdp.exact import Number, non_negative, positive
from metricdp.guarantee import Guarantee
from metricdp.spaces import FiniteSpace

Floats = NDArray[np.float64]


class Channel:
    """A `Mechanism` over a finite space whose law is integers with one power-of-two total, stored or made row by row.

    What is certified is what is sampled: the certificate is computed from these integers, and the sampler draws from
    the same. A channel without a certificate cannot release.

    Definition:
        P[M(x) = k] = w(x, k)/2**62.

    Guarantee:
        For all x, x' in `space`: loss <= certificate.epsilon·d(x, x'), pure. Proof: proofs/certificate.md.
        Assumes: uniform, secret random bytes.

    Args:
        space: the inputs.
        weights: shape (inputs, outputs), unsigned integers, every row summing to 2**62; or a `Kernel`, which makes
            its rows when they are asked for, or `Sparse` rows; or use `from_matrix`.
        outputs: labels of the columns; the inputs by default.

    Raises:
        IncompatibleError: shapes or types do not fit.

    Examples:
        >>> from metricdp import Channel, FiniteSpace
        >>> space = FiniteSpace(["a", "b"], [[0, 1], [1, 0]])
        >>> channel = Channel.from_matrix(space, [[0.75, 0.25], [0.25, 0.75]]).certify("1.1")
        >>> round(channel.guarantee.epsilon, 6), channel.release("a") in ("a", "b")
        (1.098612, True)
    """

    __slots__ = ("certificate", "law", "outputs", "space")
    space: FiniteSpace
    outputs: tuple[Hashable, ...]
    law: Rows
    certificate: Certificate | None

    def __init__(
        self, space: FiniteSpace, weights: ArrayLike | Rows, outputs: Iterable[Hashable] | None = None
    ) -> None:
        if not isinstance(space, FiniteSpace):
            raise IncompatibleError(f"The space is a {type(space).__name__}.", "A FiniteSpace.", "Pass one.")
        law = weights if isinstance(weights, Kernel | Sparse) else _table(weights, len(space))
        if law.shape[0] != len(space):
            raise IncompatibleError(f"The law has {law.shape[0]} rows.", f"{len(space)}.", "Match the space.")
        try:
            labels = space.labels if outputs is None else tuple(outputs)
            set(labels)
        except TypeError:
            raise IncompatibleError("The outputs are no labels.", "Hashable labels.", "Pass a list.") from None
        if len(labels) != law.shape[1] or len(set(labels)) != len(labels):
            raise IncompatibleError(
                f"There are {len(labels)} labels for {law.shape[1]} outputs, or two are equal.",
                "One label per column, all different.",
                "Pass outputs=.",
            )
        self._set(space, law, labels, None)

    def _set(
        self, space: FiniteSpace, law: Rows, outputs: tuple[Hashable, ...], certificate: Certificate | None
    ) -> None:
        values = (space, law, outputs, certificate)
        for name, value in zip(("space", "law", "outputs", "certificate"), values, strict=True):
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"A Channel is frozen: {name} cannot be set.")

    def __getstate__(self) -> tuple[object, ...]:
        return self.space, self.law, self.outputs, self.certificate

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        space, law, outputs, certificate = state
        channel = Channel(space, law.weights if isinstance(law, Table) else law, outputs)
        if certificate is not None:
            channel = channel.with_certificate(certificate)
        self._set(channel.space, channel.law, channel.outputs, channel.certificate)

    @classmethod
    def from_matrix(cls, space: FiniteSpace, matrix: ArrayLike, outputs: Iterable[Hashable] | None = None) -> Channel:
        """Probabilities rounded to integers (not yet certified): rows sum to 1 within 1e-9, entries >= 0."""
        try:
            rows = np.asarray(matrix, dtype=np.float64)
        except (ValueError, TypeError):
            rows = np.empty(0)
        if isinstance(matrix, np.ma.MaskedArray) or np.iscomplexobj(matrix):
            rows = np.empty(0)
        if rows.ndim != 2 or rows.size == 0 or not np.isfinite(rows).all() or (rows < 0).any():
            raise InvalidParameterError(
                "The matrix holds no probabilities.", "A row per input, entries >= 0.", "Mend it."
            )
        if isinstance(space, FiniteSpace) and len(rows) != len(space):
            raise IncompatibleError(
                f"The matrix has {len(rows)} rows for {len(space)} inputs.", "A row per input.", "Match the space."
            )
        off = np.abs(rows.sum(axis=1) - 1).max()
        if off > 1e-9:
            raise InvalidParameterError(f"A row sums to 1 only within {off:.1e}.", "1e-9.", "Normalise the rows.")
        return cls(space, _weights.from_probabilities(rows), outputs)

    def certify(self, epsilon: Number | None = None) -> Channel:
        """The same channel with its certificate, or NotCertified with the worst pair.

        Args:
            epsilon: the loss that must not be exceeded; None accepts any finite loss.
        """
        limit = None if epsilon is None else positive(epsilon, "epsilon")
        return self._with(verify(self.law, self.space, limit))

    def _with(self, certificate: Certificate) -> Channel:
        channel = object.__new__(Channel)
        channel._set(self.space, self.law, self.outputs, certificate)
        return channel

    def with_claim(self, certificate: Certificate) -> Channel:
        """The same channel with a solver's bounds in its certificate, all else unchanged."""
        if self.require_certificate().without_bounds() != certificate.without_bounds():
            raise NotCertified("The certificate differs in more than bounds.", "Bounds only.", "Call certify() again.")
        return self._with(certificate)

    def with_certificate(self, certificate: Certificate) -> Channel:
        """The same channel with a certificate made before; verified again, and refused unless it says the same.

        Bounds on optimality are taken over as they are: they are a solver's claim about utility, not about privacy.
        """
        claimed = certificate.without_bounds() if isinstance(certificate, Certificate) else None
        if self.certify().certificate != claimed:
            raise NotCertified(
                "The certificate is for other weights or another metric.", "Its own.", "Call certify() again."
            )
        return self._with(certificate)

    def require_certificate(self) -> Certificate:
        """The certificate, or NotCertified: what everything asks that would release."""
        if self.certificate is None:
            raise NotCertified(
                "The channel has no certificate, so it cannot release.",
                "A certified channel.",
                "Call certify(epsilon).",
            )
        return self.certificate

    @property
    def guarantee(self) -> Guarantee:
        """Pure, with the realised epsilon of the certificate."""
        certificate = self.require_certificate()
        assumptions = ("the operating system's random bytes are uniform and secret",)
        if certificate.epsilon == 0:
            return Guarantee.approximate(
                0, 0, self.space, status="certified", proof="certificate", assumptions=assumptions
            )
        return Guarantee.pure(
            certificate.epsilon, self.space, status="certified", proof="certificate", assumptions=assumptions
        )

    @property
    def step(self) -> float:
        """No lattice: outputs are labels."""
        return 0.0

    def error(self, confidence: float = 0.95) -> float:
        """The distance that every record's output keeps with this probability (the largest over the records)."""
        if not (isinstance(confidence, float | int) and 0 < confidence < 1):
            raise InvalidParameterError("The confidence does not lie between 0 and 1.", "0 < c < 1.", "Use 0.95, say.")
        return _utility.radius(self, float(confidence))

    @property
    def mean_error(self) -> float:
        """The expected distance of an output from its record, over a uniform prior."""
        return self.loss()

    def compressed(self) -> Channel:
        """The same integers, stored as exceptions from the commonest weight of each output; certified again if it was.

        Worth it where most entries of a column are alike; `save` then writes the exceptions only. It is another object
        with the same law: `==` compares how rows are stored as well.
        """
        channel = Channel(self.space, Sparse.of(self.weights), self.outputs)
        return channel if self.certificate is None else channel.certify()

    def check(self, x: Any) -> None:
        """Refuse records that are no inputs, naming the first by its position."""
        self.space.positions(x)

    @property
    def weights(self) -> Weights:
        """All rows of integers; 8 bytes an entry, made here where they are not stored."""
        return self.law.weights if isinstance(self.law, Table) else self.law.block(np.arange(len(self.space)))

    def matrix(self) -> Floats:
        """The law as floats: each entry the weight over the total, to the nearest float."""
        return np.ldexp(self.weights.astype(np.float64), -BITS)

    def epsilon(self, delta: Number = 0) -> float:
        """The smallest epsilon of the (epsilon, delta)-promise that the integers keep, exact and rounded up.

        Args:
            delta: in [0, 1). One point of the curve for each value; n²·k·log k operations.
        """
        left_out = non_negative(delta, "delta")
        if left_out >= 1:
            raise InvalidParameterError("delta is 1 or more.", "0 <= delta < 1.", "Choose a small delta.")
        if len(self.space) == 1:
            return 0.0
        return loss_of(self.weights, self.space.matrix(), left_out * (1 << BITS)).epsilon

    def release(self, x: Any, *, entropy: Entropy | None = None) -> Any:
        """One label per record: a label for a label, a list for a sequence of them.

        Raises:
            NotCertified: the channel has no certificate.
            OutOfSpaceError: an unknown record, named by position, before anything is sampled.
        """
        self.require_certificate()
        source = randomness.source(entropy)
        rows = self.space.positions(x)
        drawn = self.law.draw(np.atleast_1d(rows), source)
        labels = [self.outputs[k] for k in drawn]
        return labels[0] if np.ndim(rows) == 0 else labels

    def loss(
        self, objective: Objective = "mean", *, prior: ArrayLike | None = None, cost: ArrayLike | None = None
    ) -> float:
        """What the channel costs, computed from its integers.

        Args:
            objective: "mean" over the prior, "worst" over records, or ("quantile", q) of the records' expected costs.
            prior: over the inputs; uniform by default.
            cost: (inputs, outputs); the distance by default.
        """
        kind, shares = _utility.check_objective(objective), _utility.check_prior(prior, len(self.space))
        return _utility.objective_of(_utility.losses(self, cost), shares, kind)

    def expected_cost(self, cost: ArrayLike, prior: ArrayLike | None = None) -> float:
        """Mean of cost[x, output] under a prior over the inputs (uniform by default)."""
        return self.loss("mean", prior=prior, cost=cost)

    def stay(self, prior: ArrayLike | None = None) -> float:
        """The share of records that come out as themselves, under a prior (uniform by default)."""
        return float(_utility.check_prior(prior, len(self.space)) @ _utility.stays(self))

    def probabilities(self, x: Hashable) -> Floats:
        """The law of the output for one record, over `outputs`."""
        row = self.space.positions(x)
        if np.ndim(row):
            raise IncompatibleError("Several records were given.", "One label.", "Use matrix() for all laws.")
        return np.asarray(np.ldexp(self.law.block(np.atleast_1d(row))[0].astype(np.float64), -BITS))

    def save(self, path: str | os.PathLike[str]) -> None:
        """One .npz file of plain arrays, with a hash over all of them."""
        _storage.save(path, self.space, self.law, self.outputs, self.certificate)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Channel:
        """A saved channel; any change of the file that would change the channel is refused."""
        space, law, outputs, certificate = _storage.load(path)
        channel = Channel(space, law, outputs)
        return channel if certificate is None else channel.with_certificate(certificate)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Channel)
            and self.space == other.space
            and self.outputs == other.outputs
            and self.law.digest() == other.law.digest()
            and self.certificate == other.certificate
        )

    def __hash__(self) -> int:
        return hash((self.space, self.outputs, self.law.digest()))

    def __repr__(self) -> str:
        state = "not certified" if self.certificate is None else str(self.certificate)
        return f"<Channel: {len(self.space)} inputs, {len(self.outputs)} outputs; {state}>"


def _table(weights: Any, n: int) -> Table:
    try:
        table = np.array(weights)
    except ValueError:
        table = np.empty(0)
    if table.dtype != np.uint64 or table.ndim != 2 or len(table) != n or table.size == 0:
        raise IncompatibleError(
            f"The weights have type {table.dtype} and shape {table.shape}.",
            f"uint64 of shape ({n}, outputs).",
            "Use Channel.from_matrix for probabilities.",
        )
    return Table(table)
