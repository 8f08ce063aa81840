"""Pictures: one function a figure, each returns the Axes it drew on. Needs the extra `plots`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from metricdp.errors import MissingExtraError
from metricdp.guarantee import Guarantee
from metricdp.spaces import Geographic, Space

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BEFORE, AFTER = "#1f4e79", "#d9772b"
MOST = 20_000
"""Points drawn at most; a larger table is thinned evenly."""


def _axes(ax: Any) -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError(
            "Pictures need matplotlib.", "Everything else works without.", "Install it: pip install 'metricdp[plots]'."
        ) from None
    return Figure(figsize=(7.5, 6.5), layout="constrained").add_subplot() if ax is None else ax


def before_and_after(
    before: ArrayLike, after: ArrayLike, *, space: Space | None = None, lines: int = 150, ax: Axes | None = None
) -> Axes:
    """Records and their releases on one plane, with lines between some of them.

    On the globe the horizontal axis is longitude, drawn in its true proportion at the middle latitude. The picture
    shows the records in clear: it is for whoever may see them.

    Args:
        before: records, shape (n, 2) or more columns (the first two are drawn).
        after: their releases, the same shape.
        space: `Geographic` draws a map; anything else a plane.
        lines: how many pairs are joined.
        ax: where to draw; a new figure by default.
    """
    axes = _axes(ax)
    x, z = np.asarray(before, dtype=float), np.asarray(after, dtype=float)
    every = max(1, -(-len(x) // MOST))
    x, z = x[::every], z[::every]
    globe = isinstance(space, Geographic)
    first, second = (1, 0) if globe else (0, min(1, x.shape[1] - 1))
    if globe:
        middle = float(np.median(x[:, 1]))
        x, z = (np.c_[p[:, 0], np.remainder(p[:, 1] - middle + 180, 360) - 180 + middle] for p in (x, z))
        scale = max(0.05, float(np.cos(np.radians(np.clip(np.median(x[:, 0]), -87, 87)))))
        axes.set_aspect(1 / scale)
        axes.set(xlabel="longitude (degrees)", ylabel="latitude (degrees)")
    else:
        unit = f" ({space.unit})" if space is not None and space.unit else ""
        axes.set(xlabel=f"first coordinate{unit}", ylabel=f"second coordinate{unit}")
    size = float(np.clip(9000 / len(x), 1, 16))
    joined = slice(None, None, max(1, len(x) // max(1, lines)))
    axes.plot(
        np.stack([x[joined, first], z[joined, first]]),
        np.stack([x[joined, second], z[joined, second]]),
        color="0.6",
        linewidth=0.5,
        zorder=1,
    )
    axes.scatter(z[:, first], z[:, second], s=size, color=AFTER, label="released", zorder=2, linewidths=0)
    axes.scatter(x[:, first], x[:, second], s=size, color=BEFORE, label="true (secret)", zorder=3, linewidths=0)
    axes.ticklabel_format(useOffset=False)
    axes.legend(loc="upper right", framealpha=0.9, markerscale=3)
    return axes  # type: ignore[no-any-return]


def loss_curve(guarantee: Guarantee, radius: float, *, delta: float = 1e-6, ax: Axes | None = None) -> Axes:
    """How much an observer's odds may change, against distance.

    Args:
        guarantee: the promise.
        radius: the largest distance drawn.
        delta: what is added to every probability where the promise is not pure.
        ax: where to draw; a new figure by default.
    """
    axes = _axes(ax)
    distances = np.linspace(0, radius, 41)
    pure = guarantee.kind == "pure"
    losses = [guarantee.loss(float(d)) if pure else guarantee.epsilon_at(float(d), delta) for d in distances]
    axes.plot(distances, np.exp(np.minimum(losses, 700)), color=BEFORE)
    axes.set_yscale("log")
    label = "largest change of odds" if pure else f"largest growth of a probability (plus {delta:g})"
    axes.set(xlabel=f"distance ({guarantee.unit})".replace(" ()", ""), ylabel=label)
    axes.grid(alpha=0.3)
    return axes  # type: ignore[no-any-return]


def save(axes: Axes, path: Any, *, dpi: int = 130) -> None:
    """Write the figure of the axes to a file (.png, .svg, .pdf)."""
    figure: Any = axes.figure
    figure.savefig(path, dpi=dpi)
