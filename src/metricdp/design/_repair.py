"""From any matrix to one whose columns lie in the cone, at the epsilon asked (proofs/cone_repair.md)."""

from __future__ import annotations

import numpy as np

from metricdp.channel import BITS
from metricdp.design._problem import Floats, Problem

BLOCK = 1 << 22


def hair(problem: Problem) -> float:
    """A relative step below epsilon, large enough that rounding in float64 stays below it on the closest pair."""
    nearest = float(problem.epsilon) * nearest_distance(problem)
    return float(min(max(2.0**-42, problem.shape[1] * 2.0**-50 / max(nearest, 1e-300)), 2.0**-14))


def nearest_distance(problem: Problem) -> float:
    """The smallest distance between two records; 1 for a single record."""
    n = len(problem.space)
    if n == 1:
        return 1.0
    best, everything = np.inf, np.arange(n)
    size = max(1, BLOCK // n)
    for start in range(0, n, size):
        block = problem.space.block(everything[start : start + size], everything)
        block[np.arange(len(block)), everything[start : start + size]] = np.inf
        best = min(best, float(block.min()))
    return best


def closure(matrix: Floats, exponents: Floats) -> Floats:
    """The least columns above these in the cone: r_i = max_j e^(-exponents_ij)·matrix_jk."""
    decay = np.exp(-exponents)
    result = np.array(matrix)
    size = max(1, BLOCK // matrix.size)
    for start in range(0, len(matrix), size):
        part = slice(start, start + size)
        np.maximum(result[part], (decay[part, :, None] * matrix[None]).max(axis=1), out=result[part])
    return result


def into_cone(matrix: Floats, exponents: Floats, fill: Floats) -> Floats:
    """A matrix with rows of sum 1 whose columns keep z_i <= e^(exponents_ij)·z_j, near the one given.

    Never by dividing rows, which close pairs turn into a loss: the closure is scaled by its largest row sum, and what
    rows then lack goes to one fixed output law, with as much of that law everywhere as makes the lack itself lie in
    the cone.

    Args:
        matrix: (n, k), entries >= 0 after clipping; any row sums.
        exponents: epsilon·d between records, obeying the triangle inequality.
        fill: a law over the outputs.
    """
    closed = closure(np.maximum(matrix, 0.0), exponents)
    sums = closed.sum(axis=1)
    most = float(sums.max())
    lack = 1 - sums / most
    with np.errstate(divide="ignore", invalid="ignore"):
        need = (lack[:, None] - lack) / np.expm1(exponents) - lack
    np.fill_diagonal(need, 0.0)
    extra = max(0.0, float(np.nan_to_num(need, nan=0.0, posinf=0.0).max()))
    return np.asarray((closed / most + np.outer(lack + extra, fill)) / (1 + extra))


def with_floor(matrix: Floats, closest: float) -> Floats:
    """The matrix with enough of the uniform law that rounding to integers stays within the cone.

    Args:
        matrix: rows of sum 1.
        closest: epsilon times the smallest distance.
    """
    outputs = matrix.shape[1]
    share = min(outputs * 2.0 ** (4 - BITS) / min(1.0, closest), 2.0**-10)
    return np.asarray((1 - share) * matrix + share / outputs)
