"""After a release: looking at outputs and public knowledge only, these cost no privacy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metricdp.channel import check_prior
from metricdp.errors import IncompatibleError, InvalidParameterError
from metricdp.mechanisms import Gaussian, Laplace
from metricdp.spaces import Euclidean, Geographic, Space

Floats = NDArray[np.float64]

BLOCK = 1 << 21


def snap(released: ArrayLike, candidates: ArrayLike, *, space: Space | None = None) -> Floats:
    """Every released point replaced by the nearest of public places (roads, shops, a grid).

    Args:
        released: (n, d) outputs of a mechanism.
        candidates: (m, d) public places; they must not be chosen by looking at the records.
        space: `Geographic` by default.

    Examples:
        >>> snap([[0.2, 0.1]], [[0, 0], [1, 1]]).tolist()
        [[0.0, 0.0]]
    """
    points, places, where = _both(released, candidates, space)
    nearest = np.concatenate(
        [where.distance(part[:, None], places[None]).argmin(axis=1) for part in _parts(points, places)]
    )
    return np.asarray(places[nearest])


def remap(
    released: ArrayLike,
    prior_points: ArrayLike,
    mechanism: Laplace | Gaussian,
    *,
    weights: ArrayLike | None = None,
) -> Floats:
    """Every released point replaced by the public place that is best on average, given mechanism and public prior.

    Of the prior's places the one is taken whose expected distance to the truth, given the output, is smallest. (On the
    globe Gaussian noise counts as falling like e^(-rho·d²), which it does up to curvature.)

    Args:
        released: (n, d) outputs of `mechanism`.
        prior_points: (m, d) public places where records may be (a few thousand at most: m² operations for each output).
        mechanism: what released them.
        weights: how likely each place is before; uniform by default, must sum to 1.
    """
    _check(mechanism)
    points, places, where = _both(released, prior_points, mechanism.space)
    shares = check_prior(weights, len(places))
    between = where.distance(places[:, None], places[None])
    best = []
    for part in _parts(points, places):
        apart = where.distance(part[:, None], places[None])
        if isinstance(mechanism, Laplace):
            logs = -float(mechanism.epsilon) * apart
        else:
            logs = -float(mechanism.rho) * apart**2
        with np.errstate(divide="ignore"):
            logs += np.log(shares)
        posterior = np.exp(logs - logs.max(axis=1, keepdims=True))
        best.append((posterior @ between).argmin(axis=1))
    return np.asarray(places[np.concatenate(best)])


def cloak(mechanism: Laplace | Gaussian, confidence: float = 0.95) -> float:
    """The radius of a disc around an output that covers the record in this share of releases.

    It is a statement about releases, not a posterior: what an observer believes depends on what it knew before.

    Examples:
        >>> round(cloak(Laplace(Geographic("m"), 0.01)))
        474
    """
    _check(mechanism)
    return mechanism.error(confidence)


def _check(mechanism: object) -> None:
    if not isinstance(mechanism, Laplace | Gaussian):
        raise IncompatibleError(f"That is a {type(mechanism).__name__}.", "Laplace or Gaussian.", "Pass a mechanism.")


def _both(released: ArrayLike, candidates: ArrayLike, space: Space | None) -> tuple[Floats, Floats, Any]:
    where = Geographic() if space is None else space
    if not isinstance(where, Euclidean | Geographic):
        raise IncompatibleError("There are no points in such a space.", "Euclidean or Geographic.", "Pass one.")
    points, places = np.atleast_2d(where.check(released)), np.atleast_2d(where.check(candidates, "candidate"))
    if len(points) == 0 or len(places) == 0:
        raise InvalidParameterError("There are no points or no candidates.", "At least one of each.", "Pass some.")
    return points, places, where


def _parts(points: Floats, places: Floats) -> list[Floats]:
    size = max(1, BLOCK // len(places))
    return [points[start : start + size] for start in range(0, len(points), size)]
