"""The exact loss of anybody's matrix (proofs/audit.md)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metricdp.audit._report import AuditReport
from metricdp.channel import BITS, Channel, loss_of
from metricdp.errors import IncompatibleError, InvalidParameterError
from metricdp.exact import Number, non_negative, round_up
from metricdp.spaces import FiniteSpace

Floats = NDArray[np.float64]

ROW_TOLERANCE = 1e-9
"""How far a row of anybody's float matrix may be from summing to 1; it is audited as it stands, not normalised."""


def exact(matrix: Channel | ArrayLike, space: FiniteSpace | ArrayLike | None = None, delta: Number = 0) -> AuditReport:
    """The smallest epsilon for which a matrix is (epsilon, delta)-private, whoever made it.

    For every ordered pair of rows u, v the smallest B >= 1 with sum_k max(0, M_uk - B·M_vk) <= delta is
    max_j (A_j - delta)/B_j over prefix sums of the outputs sorted by M_uk/M_vk; epsilon is the largest ln(B)/d(u, v).
    At delta = 0 that is the largest log-ratio over the distance. Rows at distance 0 must differ by at most delta in
    total variation. An output that is impossible from both rows is passed over.

    Args:
        matrix: a `Channel`, audited in its integers; or probabilities (n, k), one row per input, entries >= 0, rows
            summing to 1 within 1e-9.
        space: the inputs, in the order of the rows; or their distances as an (n, n) matrix, which need not be a metric
            (0 for inputs that must be alike, inf for pairs without a promise). A channel brings its own.
        delta: what is added to the probability of every set of outputs, in [0, 1).

    Returns:
        A report with `.epsilon` (rounded up, `inf` where there is none), `.worst` and the infinite pairs.

    Raises:
        IncompatibleError: shapes do not fit.
        InvalidParameterError: entries are negative or not finite, or rows do not sum to 1.

    Notes:
        n²·k operations at delta = 0 (1,000 inputs and outputs in seconds), times log k otherwise.

    Examples:
        >>> from metricdp import FiniteSpace
        >>> space = FiniteSpace(["a", "b"], [[0, 2], [2, 0]])
        >>> report = exact([[0.8, 0.2], [0.2, 0.8]], space)
        >>> round(report.epsilon, 6), report.worst
        (0.693147, (0, 1))
    """
    if space is None and isinstance(matrix, Channel):
        space = matrix.space
    if space is None:
        raise IncompatibleError("There is no space.", "A FiniteSpace, or distances.", "Pass it second.")
    rows = matrix.weights if isinstance(matrix, Channel) else _probabilities(matrix)
    distances, unit = _distances(space, len(rows))
    left_out = non_negative(delta, "delta")
    if left_out >= 1:
        raise InvalidParameterError("delta is 1 or more.", "0 <= delta < 1.", "Choose a small delta.")
    if len(rows) == 1:
        return AuditReport(0.0, float(left_out), None, None, 0.0, (), 0, 1, rows.shape[1], unit)
    n, outputs = rows.shape
    found = loss_of(rows, distances, left_out * (1 << BITS if isinstance(matrix, Channel) else 1))
    return AuditReport(
        found.epsilon,
        round_up(left_out),
        found.worst,
        found.output,
        float(distances[found.worst]),
        found.infinite,
        found.infinite_pairs,
        n,
        outputs,
        unit,
    )


def _probabilities(matrix: ArrayLike) -> Floats:
    if isinstance(matrix, np.ma.MaskedArray):
        matrix = matrix.filled(np.nan)
    try:
        rows = np.asarray(matrix, dtype=np.float64)
    except (ValueError, TypeError):
        rows = np.empty(0)
    if rows.ndim != 2 or rows.size == 0:
        raise IncompatibleError(
            "The matrix has no rows and columns of numbers.", "Probabilities of shape (inputs, outputs).", "Convert it."
        )
    if not (np.isfinite(rows).all() and (rows >= 0).all()):
        bad = int(np.argmin((np.isfinite(rows) & (rows >= 0)).all(axis=1)))
        raise InvalidParameterError(
            f"Row {bad} has an entry that is negative or not finite.", "Probabilities.", "Mend the matrix."
        )
    off = np.abs(rows.sum(axis=1) - 1)
    if off.max() > ROW_TOLERANCE:
        raise InvalidParameterError(
            f"Row {int(off.argmax())} sums to 1 only within {off.max():.1e}.",
            f"Within {ROW_TOLERANCE:g}.",
            "Normalise it yourself first: that changes the loss.",
        )
    return rows


def _distances(space: FiniteSpace | ArrayLike, n: int) -> tuple[Floats, str]:
    if isinstance(space, FiniteSpace):
        distances, unit = space.matrix(), space.unit
    else:
        try:
            distances, unit = np.asarray(space, dtype=np.float64), ""
        except (ValueError, TypeError):
            distances, unit = np.empty(0), ""
    if distances.shape != (n, n):
        raise IncompatibleError(
            f"There are {n} rows and distances of shape {distances.shape}.", f"A space of {n} items.", "Match them."
        )
    if np.isnan(distances).any() or (distances < 0).any():
        raise InvalidParameterError("A distance is negative or no number.", "Distances >= 0.", "Mend the distances.")
    return distances, unit
