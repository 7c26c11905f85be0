"""How far a sequence of feature graphs moves, as a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rulelens.graph.drift import Drift
from rulelens.plots.text import plain, style

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
    if ax is None:
        import matplotlib.pyplot as plt

        wide = max(5.0, 0.45 * len(drift.times) + 2)
        _, ax = plt.subplots(figsize=(wide, 3.2), layout="constrained")
    n = len(drift.times)
    places = list(range(n))
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
    step = max(1, n // 12)
    shown = places[::step]
    labels = [plain(str(drift.times[k]), width=16) for k in shown]
    turned = 30 if sum(map(len, labels)) > 60 else 0
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
