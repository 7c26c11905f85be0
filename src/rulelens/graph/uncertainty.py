"""Results of `bootstrap` and `permutation_test`, as frozen records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rulelens.errors import OptionError, did_you_mean
from rulelens.graph.feature_graph import FeatureGraph

if TYPE_CHECKING:
    import pandas as pd

Floats: TypeAlias = NDArray[np.float64]
Correction: TypeAlias = Literal["bh", "by", "max", "none"]
CORRECTIONS = ("bh", "by", "max", "none")


@dataclass(frozen=True, eq=False)
class GraphIntervals:
    """Bootstrap intervals of a feature graph.

    Parameters
    ----------
    graph : FeatureGraph
        Of the rows as they are.
    low, high : array, shape (n_features, n_features)
        Ends of the interval of each link, as shares of 100.
    importance_low, importance_high : array, shape (n_features,)
    present : array, shape (n_features, n_features)
        Share of the resamples that have the link at all.
    distances : array, shape (n_resamples,)
        Distance of each resample's graph from `graph`.
    confidence : float
    n_resamples : int
    refitted : bool
        Whether rules were learned from each resample anew.
    """

    graph: FeatureGraph
    low: Floats
    high: Floats
    importance_low: Floats
    importance_high: Floats
    present: Floats
    distances: Floats
    confidence: float
    n_resamples: int
    refitted: bool

    def __post_init__(self) -> None:
        _freeze(self, "low", "high", "importance_low", "importance_high", "present", "distances")

    @property
    def usual_distance(self) -> float:
        """How far the choice of rows alone moves the graph, `confidence` of the times at most.

        A yardstick for distances; graphs of two samples of their own lie about 1.4 times as far
        apart.
        """
        return float(np.quantile(self.distances, self.confidence))

    def to_frame(self) -> pd.DataFrame:
        """One row a link that any resample has, heaviest first: weight, low, high, present."""
        return _links(
            self.graph, self.present > 0, low=self.low, high=self.high, present=self.present
        )

    def importance_frame(self) -> pd.DataFrame:
        """One row a feature: importance, low, high, alone."""
        frame = self.graph.importance().to_frame()
        frame["low"], frame["high"] = self.importance_low, self.importance_high
        frame["alone"] = self.graph.alone()
        return frame

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "format": "rulelens.graph_intervals",
            "version": 1,
            "graph": self.graph.to_dict(),
            "low": self.low.tolist(),
            "high": self.high.tolist(),
            "importance_low": self.importance_low.tolist(),
            "importance_high": self.importance_high.tolist(),
            "present": self.present.tolist(),
            "distances": self.distances.tolist(),
            "confidence": self.confidence,
            "n_resamples": self.n_resamples,
            "refitted": self.refitted,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> GraphIntervals:
        """The intervals that `to_dict` wrote.

        Raises
        ------
        FormatError
            Not such a document; the message names the place.
        """
        from rulelens.graph.exchange import intervals_from_dict

        return intervals_from_dict(data)


@dataclass(frozen=True, eq=False)
class GraphTest:
    """Permutation p-values of a feature graph.

    Parameters
    ----------
    graph : FeatureGraph
        With the true labels.
    p_values : array, shape (n_features, n_features)
        One-sided p-value of each link; NaN for two features that no fixed rule names together.
    importance_p_values : array, shape (n_features,)
    max_p_values : array, shape (n_features, n_features)
        Share of the shufflings whose *largest* link is as large as this one.
    n_permutations : int
    refitted : bool
        Whether rules were learned from each shuffling anew. If not, the p-values hold only
        for rules that were not learned from the same labels.
    """

    graph: FeatureGraph
    p_values: Floats
    importance_p_values: Floats
    max_p_values: Floats
    n_permutations: int
    refitted: bool

    def __post_init__(self) -> None:
        _freeze(self, "p_values", "importance_p_values", "max_p_values")

    def adjusted(self, correction: Correction = "bh") -> Floats:
        """P-values of links, corrected for how many links there are; same shape.

        Parameters
        ----------
        correction : {"bh", "by", "max", "none"}
            ``"bh"``: Benjamini-Hochberg, which bounds the share of false discoveries for
            tests that are independent or positively dependent; ``"by"``:
            Benjamini-Yekutieli, for any dependence, and stricter; ``"max"``: compared with the
            largest link of each shuffling, which bounds the chance of any false discovery;
            ``"none"``.

        Notes
        -----
        With n links and B shufflings, Benjamini-Hochberg gives at least n/(B + 1) divided by the
        number of discoveries: take B of at least 20·n, or ``"max"``, for which 99 are enough.
        """
        if correction == "max":
            return np.where(np.isnan(self.p_values), np.nan, self.max_p_values)
        directed = _directed(self.graph, self.p_values)
        which = _cells(self.graph, directed) & ~np.isnan(self.p_values)
        out = np.full(self.p_values.shape, np.nan)
        out[which] = false_discovery(self.p_values[which], correction)
        if not directed:
            mirror = np.isnan(out) & ~np.isnan(out.T)
            out[mirror] = out.T[mirror]
        return out

    def significant(
        self, alpha: float = 0.05, *, correction: Correction = "bh"
    ) -> NDArray[np.bool_]:
        """Links whose corrected p-value is at most `alpha`: bool, (n_features, n_features)."""
        if not isinstance(alpha, int | float | np.number) or not 0 < alpha < 1:
            raise OptionError(f"alpha must lie between 0 and 1, not {alpha!r}.")
        with np.errstate(invalid="ignore"):
            out: NDArray[np.bool_] = self.adjusted(correction) <= alpha
        return out

    def to_frame(self, alpha: float = 0.05, *, correction: Correction = "bh") -> pd.DataFrame:
        """One row a tested link of weight above 0: p_value, adjusted, significant."""
        return _links(
            self.graph,
            (self.graph.adjacency != 0) & ~np.isnan(self.p_values),
            p_value=self.p_values,
            adjusted=self.adjusted(correction),
            significant=self.significant(alpha, correction=correction),
        )

    def importance_frame(self, *, correction: Literal["bh", "by", "none"] = "bh") -> pd.DataFrame:
        """One row a feature: importance, p_value, adjusted."""
        frame = self.graph.importance().to_frame()
        frame["p_value"] = self.importance_p_values
        frame["adjusted"] = false_discovery(self.importance_p_values, correction)
        return frame

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; None where a link was not tested."""
        p = [[None if v != v else v for v in row] for row in self.p_values.tolist()]
        return {
            "format": "rulelens.graph_test",
            "version": 1,
            "graph": self.graph.to_dict(),
            "p_values": p,
            "importance_p_values": self.importance_p_values.tolist(),
            "max_p_values": self.max_p_values.tolist(),
            "n_permutations": self.n_permutations,
            "refitted": self.refitted,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> GraphTest:
        """The test that `to_dict` wrote.

        Raises
        ------
        FormatError
            Not such a document; the message names the place.
        """
        from rulelens.graph.exchange import graph_test_from_dict

        return graph_test_from_dict(data)


def false_discovery(
    p_values: Floats, correction: Literal["bh", "by", "none"] | str = "bh"
) -> Floats:
    """P-values corrected for their number, in the order given.

    Parameters
    ----------
    p_values : array of float in [0, 1], shape (n,)
    correction : {"bh", "by", "none"}
        See `GraphTest.adjusted`.

    References
    ----------
    Y. Benjamini, Y. Hochberg (1995); Y. Benjamini, D. Yekutieli (2001).

    Examples
    --------
    >>> false_discovery(np.array([0.01, 0.04, 0.03])).round(3).tolist()
    [0.03, 0.04, 0.04]
    """
    if correction == "max":
        raise OptionError(
            "The correction 'max' needs the largest link of each shuffling, and is for links only. "
            "Use 'bh', 'by' or 'none'."
        )
    if correction not in CORRECTIONS:
        raise OptionError(
            f"Unknown correction {correction!r}. {did_you_mean(correction, CORRECTIONS)}"
        )
    n = len(p_values)
    if correction == "none" or not n:
        return np.array(p_values, dtype=np.float64)
    order = np.argsort(p_values, kind="stable")
    factor = n / np.arange(1, n + 1)
    if correction == "by":
        factor *= (1 / np.arange(1, n + 1)).sum()
    raised = np.minimum.accumulate((p_values[order] * factor)[::-1])[::-1]
    out = np.empty(n)
    out[order] = np.minimum(raised, 1.0)
    return out


def _freeze(record: object, *names: str) -> None:
    for name in names:
        array = np.array(getattr(record, name), dtype=np.float64)
        array.flags.writeable = False
        object.__setattr__(record, name, array)


def _directed(graph: FeatureGraph, *values: NDArray[Any]) -> bool:
    """Whether a link differs by direction: in the graph, or only in its resamples."""
    same = all(bool(((v == v.T) | ((v != v) & (v.T != v.T))).all()) for v in values)
    return graph.directed or not same


def _cells(graph: FeatureGraph, directed: bool) -> NDArray[np.bool_]:
    """Cells of the adjacency matrix that stand for a link, each link once."""
    d = len(graph.features)
    cells = np.ones((d, d), dtype=bool)
    return cells if directed else np.triu(cells)


def _links(graph: FeatureGraph, which: NDArray[np.bool_], **columns: NDArray[Any]) -> pd.DataFrame:
    import pandas as pd

    directed = _directed(graph, *columns.values())
    i, j = np.nonzero(which & _cells(graph, directed))
    weight = graph.adjacency[i, j]
    order = np.lexsort((j, i, -np.abs(weight)))
    i, j = i[order], j[order]
    names = np.array(graph.features, dtype=object)
    kind = np.where(i == j, "alone", "together").astype(object)
    source, target = (j, i) if directed else (i, j)  # a column gives and a row receives
    frame = {
        "source": names[source],
        "target": names[target],
        "kind": kind,
        "weight": weight[order],
    }
    return pd.DataFrame(frame | {name: values[i, j] for name, values in columns.items()})
