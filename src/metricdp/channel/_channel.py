"""A finite mechanism: one row of integer weights per record."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metricdp import entropy as randomness
from metricdp.channel import _storage, _weights
from metricdp.channel._certificate import Certificate, certify, hash_of
from metricdp.channel._weights import BITS, Weights
from metricdp.entropy import Entropy
from metricdp.errors import IncompatibleError, InvalidParameterError, NotCertified
from metricdp.exact import Number, positive
from metricdp.guarantee import Guarantee
from metricdp.spaces import FiniteSpace

Floats = NDArray[np.float64]


class Channel:
    """A `Mechanism` over a finite space whose law is a table of integers with one power-of-two total.

    What is certified is what is sampled: the certificate is computed from these integers, and the sampler draws from
    the same. A channel without a certificate cannot release.

    Definition:
        P[M(x) = k] = w(x, k)/2**62.

    Guarantee:
        For all x, x' in `space`: loss <= certificate.epsilon·d(x, x'), pure. Proof: proofs/certificate.md.
        Assumes: uniform, secret random bytes.

    Args:
        space: the inputs.
        weights: shape (inputs, outputs), unsigned integers, every row summing to 2**62; or use `from_matrix`.
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

    __slots__ = ("_sums", "certificate", "outputs", "space", "weights")
    space: FiniteSpace
    outputs: tuple[Hashable, ...]
    weights: Weights
    certificate: Certificate | None
    _sums: Weights

    def __init__(self, space: FiniteSpace, weights: ArrayLike, outputs: Iterable[Hashable] | None = None) -> None:
        if not isinstance(space, FiniteSpace):
            raise IncompatibleError(f"The space is a {type(space).__name__}.", "A FiniteSpace.", "Pass one.")
        try:
            table = np.array(weights)
        except ValueError:
            table = np.empty(0)
        if table.dtype != np.uint64 or table.ndim != 2 or len(table) != len(space) or table.size == 0:
            raise IncompatibleError(
                f"The weights have type {table.dtype} and shape {table.shape}.",
                f"uint64 of shape ({len(space)}, outputs).",
                "Use Channel.from_matrix for probabilities.",
            )
        try:
            labels = space.labels if outputs is None else tuple(outputs)
            set(labels)
        except TypeError:
            raise IncompatibleError("The outputs are no labels.", "Hashable labels.", "Pass a list.") from None
        if len(labels) != table.shape[1] or len(set(labels)) != len(labels):
            raise IncompatibleError(
                f"There are {len(labels)} labels for {table.shape[1]} outputs, or two are equal.",
                "One label per column, all different.",
                "Pass outputs=.",
            )
        self._set(space, table, labels, None)

    def _set(
        self, space: FiniteSpace, weights: Weights, outputs: tuple[Hashable, ...], certificate: Certificate | None
    ) -> None:
        sums = _weights.cumulative(weights)
        for array in (weights, sums):
            array.setflags(write=False)
        values = (space, weights, outputs, certificate, sums)
        for name, value in zip(("space", "weights", "outputs", "certificate", "_sums"), values, strict=True):
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"A Channel is frozen: {name} cannot be set.")

    def __getstate__(self) -> tuple[object, ...]:
        return self.space, self.weights, self.outputs, self.certificate

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        space, weights, outputs, certificate = state
        channel = Channel(space, weights, outputs)
        if certificate is not None:
            channel = channel.with_certificate(certificate)
        self._set(channel.space, channel.weights, channel.outputs, channel.certificate)

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
        channel = object.__new__(Channel)
        channel._set(self.space, self.weights, self.outputs, certify(self.weights, self.space, limit))
        return channel

    def with_certificate(self, certificate: Certificate) -> Channel:
        """The same channel with a certificate made before; verified again, and refused unless it says the same."""
        verified = self.certify()
        if verified.certificate != certificate:
            raise NotCertified(
                "The certificate is for other weights or another metric.", "Its own.", "Call certify() again."
            )
        return verified

    def _certified(self) -> Certificate:
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
        certificate = self._certified()
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

    def _distances_to_outputs(self) -> Floats:
        if any(label not in self.space.labels for label in self.outputs):
            raise IncompatibleError(
                "Outputs that are no inputs have no distance from them.",
                "Outputs among the inputs.",
                "Use expected_cost.",
            )
        return self.space.block(np.arange(len(self.space)), self.space.positions(list(self.outputs)))

    def error(self, confidence: float = 0.95) -> float:
        """The distance that every record's output keeps with this probability (the largest over the records)."""
        if not (isinstance(confidence, float | int) and 0 < confidence < 1):
            raise InvalidParameterError("The confidence does not lie between 0 and 1.", "0 < c < 1.", "Use 0.95, say.")
        distances, matrix = self._distances_to_outputs(), self.matrix()
        order = np.argsort(distances, axis=1, kind="stable")
        reached = np.cumsum(np.take_along_axis(matrix, order, axis=1), axis=1)
        at = np.minimum((reached < confidence).sum(axis=1), matrix.shape[1] - 1)
        return float(np.take_along_axis(np.take_along_axis(distances, order, axis=1), at[:, None], axis=1).max())

    @property
    def mean_error(self) -> float:
        """The expected distance of an output from its record, over a uniform prior."""
        return self.expected_cost(self._distances_to_outputs())

    def matrix(self) -> Floats:
        """The law as floats: each entry the weight over the total, to the nearest float."""
        return np.ldexp(self.weights.astype(np.float64), -BITS)

    def release(self, x: Any, *, entropy: Entropy | None = None) -> Any:
        """One label per record: a label for a label, a list for a sequence of them.

        Raises:
            NotCertified: the channel has no certificate.
            OutOfSpaceError: an unknown record, named by position, before anything is sampled.
        """
        self._certified()
        source = randomness.source(entropy)
        rows = self.space.positions(x)
        drawn = _weights.draw(self._sums, np.atleast_1d(rows), source)
        labels = [self.outputs[k] for k in drawn]
        return labels[0] if np.ndim(rows) == 0 else labels

    def expected_cost(self, cost: ArrayLike, prior: ArrayLike | None = None) -> float:
        """Mean of cost[x, output] under a prior over the inputs (uniform by default), as a float."""
        table = _numbers(cost)
        if table.shape != self.weights.shape or not np.isfinite(table).all():
            raise IncompatibleError(f"The costs have shape {table.shape}.", f"{self.weights.shape}.", "Match them.")
        return float(self._prior(prior) @ (self.matrix() * table).sum(axis=1))

    def stay(self, prior: ArrayLike | None = None) -> float:
        """The share of records that come out as themselves, under a prior (uniform by default)."""
        place = {label: k for k, label in enumerate(self.outputs)}
        matrix = self.matrix()
        same = [matrix[i, place[label]] if label in place else 0.0 for i, label in enumerate(self.space.labels)]
        return float(self._prior(prior) @ np.array(same))

    def _prior(self, prior: ArrayLike | None) -> Floats:
        n = len(self.space)
        if prior is None:
            return np.full(n, 1 / n)
        weights = _numbers(prior)
        if weights.shape != (n,) or not (weights >= 0).all() or abs(weights.sum() - 1) > 1e-9:
            raise InvalidParameterError(
                "The prior is no law over the inputs.", f"{n} shares that sum to 1.", "Mend it."
            )
        return weights

    def probabilities(self, x: Hashable) -> Floats:
        """The law of the output for one record, over `outputs`."""
        row = self.space.positions(x)
        if np.ndim(row):
            raise IncompatibleError("Several records were given.", "One label.", "Use matrix() for all laws.")
        return np.asarray(self.matrix()[int(row)])

    def save(self, path: str | os.PathLike[str]) -> None:
        """One .npz file of plain arrays, with a hash over all of them."""
        _storage.save(path, self.space, self.weights, self.outputs, self.certificate)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Channel:
        """A saved channel; any change of the file that would change the channel is refused."""
        space, weights, outputs, certificate = _storage.load(path)
        channel = Channel(space, weights, outputs)
        return channel if certificate is None else channel.with_certificate(certificate)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Channel)
            and self.space == other.space
            and self.outputs == other.outputs
            and np.array_equal(self.weights, other.weights)
            and self.certificate == other.certificate
        )

    def __hash__(self) -> int:
        return hash((self.space, self.outputs, hash_of(self.weights)))

    def __repr__(self) -> str:
        state = "not certified" if self.certificate is None else str(self.certificate)
        return f"<Channel: {len(self.space)} inputs, {len(self.outputs)} outputs; {state}>"


def _numbers(values: ArrayLike) -> Floats:
    try:
        return np.asarray(values, dtype=np.float64)
    except (ValueError, TypeError):
        return np.empty(0)
