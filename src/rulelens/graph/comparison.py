"""Two feature graphs side by side: what changed, and which links drive the distance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rulelens.graph.distance import align, changes
from rulelens.graph.feature_graph import FeatureGraph

if TYPE_CHECKING:
    import pandas as pd

Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class GraphDifference:
    """The second graph minus the first, over all features of either.

    Parameters
    ----------
    features : tuple of str
    first, second : array, shape (n_features, n_features)
        Weights, zero where a graph does not have a feature.
    names : tuple of two str
        What to call the two.

    Examples
    --------
    >>> one = FeatureGraph.from_relevances(["a", "b"], [[1, 0], [0, 1]], [1, 1], [0, 0], ["yes"])
    >>> two = FeatureGraph.from_relevances(["a", "b"], [[1, 0]], [1], [0], ["yes"])
    >>> change = GraphDifference.between(one, two)
    >>> round(change.distance, 2), change.importance().to_dict()
    (70.71, {'a': 50.0, 'b': -50.0})
    """

    features: tuple[str, ...]
    first: Floats
    second: Floats
    names: tuple[str, str] = ("first", "second")

    def __post_init__(self) -> None:
        for name in ("first", "second"):
            array = np.array(getattr(self, name), dtype=np.float64)
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    @classmethod
    def between(
        cls,
        first: FeatureGraph,
        second: FeatureGraph,
        *,
        names: tuple[str, str] = ("first", "second"),
    ) -> GraphDifference:
        """Difference of two graphs, with features matched by name."""
        features, (a, b) = align([first, second])
        return cls(features, a, b, (str(names[0]), str(names[1])))

    @property
    def difference(self) -> Floats:
        """Second minus first; above 0 where a link became stronger.

        Exactly 0 where the two are equal but for rounding.
        """
        return changes(self.first, self.second)

    @property
    def distance(self) -> float:
        """Frobenius norm of the difference."""
        return float(np.linalg.norm(self.difference))

    def importance(self) -> pd.Series:
        """Change of each feature's importance; sums to 0 unless a graph is empty."""
        import pandas as pd

        index = pd.Index(self.features, name="feature")
        return pd.Series(self.difference.sum(axis=1), index=index, name="change")

    def drivers(self, top: int | None = None) -> pd.DataFrame:
        """Links that changed, those that drive the distance most first.

        Returns
        -------
        pandas DataFrame
            source, target, kind, first, second, change, and ``share``: the part of the
            squared distance, which sums to 1 over all links. A directed link leads from
            source to target.
        """
        import pandas as pd

        D = self.difference
        symmetric = np.array_equal(D, D.T)
        i, j = np.nonzero(np.triu(D) if symmetric else D)
        twice = np.where((i != j) & symmetric, 2.0, 1.0)
        square = twice * D[i, j] ** 2
        order = np.lexsort((j, i, -square))[:top]
        i, j = i[order], j[order]
        # A column gives and a row receives.
        source, target = (i, j) if symmetric else (j, i)
        labels = np.array(self.features, dtype=object)
        return pd.DataFrame(
            {
                "source": labels[source],
                "target": labels[target],
                "kind": np.where(i == j, "alone", "together").astype(object),
                "first": self.first[i, j],
                "second": self.second[i, j],
                "change": D[i, j],
                "share": square[order] / square.sum() if len(square) else square,
            }
        )

    def to_frame(self) -> pd.DataFrame:
        """All links that changed: `drivers`."""
        return self.drivers()

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "format": "rulelens.graph_difference",
            "version": 1,
            "names": list(self.names),
            "features": list(self.features),
            "first": self.first.tolist(),
            "second": self.second.tolist(),
            "distance": self.distance,
        }
