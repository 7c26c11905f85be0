"""Feature graphs over time, and over folds: how much they move."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rulelens.errors import OptionError
from rulelens.graph.comparison import GraphDifference
from rulelens.graph.distance import align, distance
from rulelens.graph.feature_graph import FeatureGraph

if TYPE_CHECKING:
    import pandas as pd

Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Drift:
    """How far each graph of a sequence is from the one before, and from the first.

    Parameters
    ----------
    times : tuple
        Dates, numbers or names, in order.
    from_previous, from_first : tuple of float
        Distances; 0 for the first graph.
    drivers : tuple
        For each graph but the first, the link that changed most since the one before: source,
        target, change; None for the first, and where nothing changed.
    """

    times: tuple[Any, ...]
    from_previous: tuple[float, ...]
    from_first: tuple[float, ...]
    drivers: tuple[tuple[str, str, float] | None, ...]

    def beyond(self, limit: float) -> tuple[Any, ...]:
        """Times whose graph is farther than `limit` from the one before."""
        pairs = zip(self.times, self.from_previous, strict=True)
        return tuple(t for t, d in pairs if d > limit)

    def to_frame(self) -> pd.DataFrame:
        """One row a time: from_previous, from_first, and the link that changed most."""
        import pandas as pd

        rows = [d if d is not None else (None, None, np.nan) for d in self.drivers]
        return pd.DataFrame(
            {
                "time": list(self.times),
                "from_previous": self.from_previous,
                "from_first": self.from_first,
                "source": pd.Series([r[0] for r in rows], dtype=object),
                "target": pd.Series([r[1] for r in rows], dtype=object),
                "change": [r[2] for r in rows],
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; times that are not text or numbers are written as text."""
        return {
            "format": "rulelens.drift",
            "version": 1,
            "times": [_plain(t) for t in self.times],
            "from_previous": list(self.from_previous),
            "from_first": list(self.from_first),
            "drivers": [None if d is None else list(d) for d in self.drivers],
        }


def _plain(time: Any) -> str | int | float:
    value = time.item() if isinstance(time, np.integer | np.floating) else time
    return value if isinstance(value, str | int | float) else str(value)


def drift(graphs: Mapping[Any, FeatureGraph]) -> Drift:
    """Distances along a sequence of graphs.

    Parameters
    ----------
    graphs : mapping of time to FeatureGraph
        In order of time. Times may be dates or numbers, which must rise; or text: any names,
        but dates such as "2026-01-31" must rise, too.

    Raises
    ------
    OptionError
        No graph, times that do not rise, or times of several kinds.

    Examples
    --------
    >>> graphs = {year: FeatureGraph.from_relevances(["a", "b"], [[1, x]], [1], [0], ["yes"])
    ...           for year, x in ((2024, 0.0), (2025, 0.0), (2026, 0.5))}
    >>> drift(graphs).to_frame()[["time", "from_previous"]].round(1).values.tolist()
    [[2024.0, 0.0], [2025.0, 0.0], [2026.0, 64.8]]
    """
    times, states = list(graphs), list(graphs.values())
    if not times:
        raise OptionError("There is no graph. Give at least one.")
    for a, b in pairwise(times):
        if not _rises(a, b):
            raise OptionError(f"Times must rise, but {a!r} stands before {b!r}. Sort the graphs.")
    drivers: list[tuple[str, str, float] | None] = [None]
    steps = [0.0]
    for before, after in pairwise(states):
        change = GraphDifference.between(before, after)
        steps.append(change.distance)
        top = change.drivers(1)
        drivers.append(
            (str(top["source"][0]), str(top["target"][0]), float(top["change"][0]))
            if len(top)
            else None
        )
    return Drift(
        tuple(times),
        tuple(steps),
        tuple(distance(states[0], g) for g in states),
        tuple(drivers),
    )


def _rises(before: Any, after: Any) -> bool:
    """Whether a time is earlier than the next; names that are no dates need no order."""
    if isinstance(before, str) and isinstance(after, str):
        try:
            before, after = datetime.fromisoformat(before), datetime.fromisoformat(after)
        except ValueError:
            return True
    try:
        return bool(before < after)
    except TypeError:
        raise OptionError(
            f"The times {before!r} and {after!r} cannot be compared. Give all as dates of one "
            "kind, all as numbers, or all as text."
        ) from None


def stability(graphs: Sequence[FeatureGraph]) -> float:
    """Average Spearman correlation of the importances of all pairs of graphs.

    Parameters
    ----------
    graphs : sequence of at least two FeatureGraph
        Of folds or resamples, say.

    Returns
    -------
    float
        Up to 1; NaN if no pair has a correlation. A pair with a graph whose features are all
        equally important has none and is left out.

    Examples
    --------
    >>> graphs = [FeatureGraph.from_relevances(["a", "b", "c"], [P], [1], [0], ["yes"])
    ...           for P in ([0.5, 0.3, 0.1], [0.4, 0.2, 0.3])]
    >>> round(stability(graphs), 3)
    0.5
    """
    if len(graphs) < 2:
        raise OptionError(f"Stability needs at least 2 graphs, found {len(graphs)}.")
    _, stack = align(graphs)
    return mean_spearman(stack.sum(axis=2))


def mean_spearman(values: Floats) -> float:
    """Average Spearman correlation of all pairs of rows; see `stability`."""
    ranks = np.array([_ranks(row) for row in values])
    centred = ranks - ranks.mean(axis=1, keepdims=True)
    norms = np.linalg.norm(centred, axis=1)
    pairs = [
        float(centred[i] @ centred[j] / (norms[i] * norms[j]))
        for i, j in combinations(range(len(values)), 2)
        if norms[i] and norms[j]
    ]
    return float(np.mean(pairs)) if pairs else float("nan")


def _ranks(values: Floats) -> Floats:
    """Ranks from 1; equal values share the mean of theirs."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    out: Floats = (last - (counts - 1) / 2)[inverse]
    return out
