"""How far a sequence of feature graphs moves, as a line."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rulelens.graph.drift import Drift
from rulelens.plots.text import inches, plain, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_STEP, _WAY, _LIMIT = "#2a6f97", "#7a8b99", "#c4622d"


def plot_drift(
    drift: Drift,
    ax: Axes | None = None,
    *,
    limit: float | None = None,
    title: str | None = None,
) -> Axes:
    """Draw the distance of each graph from the one before (dots) and from the first (crosses).

    Parameters
    ----------
    drift : Drift
    ax : matplotlib Axes, optional
        By default a new figure.
    limit : float, optional
        Drawn as a dashed line; steps beyond it are ringed, and named by their time.
    title : str, optional

    Returns
    -------
    matplotlib Axes
        `Drift.to_frame` holds the numbers.
    """
    n = len(drift.times)
    places = list(range(n))
    names = [plain(str(t), width=16) for t in drift.times]
    longest = max((inches(name, 10) for name in names), default=0.0)
    step, turned = max(1, n // 12), 0
    if ax is None:
        wide = max(5.0, 0.45 * n + 2)
        # Beside each other they must not touch: matplotlib leaves a margin of 5 % at both ends.
        turned = 30 if longest + 0.08 > 0.9 * (wide - 1.05) * step / max(n - 1, 1) else 0
        ax = _axes(wide, longest, turned=bool(turned), titled=title is not None)
    else:
        figure = ax.get_figure(root=True)
        room = 0.9 * ax.get_window_extent().width / (100.0 if figure is None else figure.dpi)
        step = max(step, math.ceil((longest + 0.08) * max(n - 1, 1) / room))
    shown = places[::step]
    labels = names[::step]
    ax.plot(places, drift.from_first, color=_WAY, marker="x", linestyle=":", label="from the first")
    ax.plot(
        places[1:], drift.from_previous[1:], color=_STEP, marker="o", label="from the one before"
    )
    if limit is not None:
        ax.axhline(limit, color=_LIMIT, linestyle="--", linewidth=1, label=f"limit {limit:g}")
        beyond = [k for k in places if drift.from_previous[k] > limit]
        ax.plot(
            beyond,
            [drift.from_previous[k] for k in beyond],
            color=_LIMIT,
            marker="o",
            markersize=11,
            fillstyle="none",
            linestyle="none",
        )
    ax.set_xticks(
        shown, labels, rotation=turned, ha="right" if turned else "center", **style(*labels)
    )
    ax.set_ylim(bottom=0)
    ax.set_ylabel("distance")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False)
    if title is not None:
        ax.set_title(plain(title), **style(plain(title)))
    return ax


def _axes(wide: float, longest: float, *, turned: bool, titled: bool) -> Axes:
    """A new figure with room for the labels of the times, the same at every drawing."""
    import matplotlib.pyplot as plt

    left = max(0.75, 0.87 * longest if turned else 0.5 * longest)
    right = 0.3 if turned else max(0.3, 0.5 * longest)
    below = 0.3 + (0.5 * longest if turned else 0.1)
    above = 0.4 if titled else 0.15
    high = 2.6 + below + above
    figure = plt.figure(figsize=(wide, high))
    return figure.add_axes(
        (left / wide, below / high, 1 - (left + right) / wide, 1 - (below + above) / high)
    )
