"""How far apart two or more feature graphs are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

    from rulelens.graph.feature_graph import FeatureGraph

Floats = NDArray[np.float64]
_ROUNDING = 1e-12


def align(graphs: Sequence[FeatureGraph]) -> tuple[tuple[str, ...], Floats]:
    """Adjacency matrices over all features that occur, in the order of their first use.

    Returns
    -------
    features : tuple of str
    adjacency : array, shape (n_graphs, n_features, n_features)
        A feature that a graph does not have is a row and column of zeros.
    """
    features = tuple(dict.fromkeys(name for g in graphs for name in g.features))
    position = {name: i for i, name in enumerate(features)}
    out = np.zeros((len(graphs), len(features), len(features)))
    for k, g in enumerate(graphs):
        at = [position[name] for name in g.features]
        out[k][np.ix_(at, at)] = g.adjacency
    return features, out


def changes(a: Floats, b: Floats) -> Floats:
    """b - a, and exactly 0 where they are equal but for rounding.

    The same rules in another order give links that differ in the last digits: that is no
    distance.
    """
    out: Floats = b - a
    out[np.abs(out) <= _ROUNDING * np.maximum(np.abs(a), np.abs(b))] = 0.0
    return out


def distance(first: FeatureGraph, second: FeatureGraph) -> float:
    """Frobenius norm of the difference of two adjacency matrices, matched by name.

    Parameters
    ----------
    first, second : FeatureGraph

    Returns
    -------
    float
        From 0 (equal graphs) to 100·√2 (for weights that are not negative).

    References
    ----------
    C. Sirocchi, D. Verda, Enhancing interpretability of rule-based classifiers through
    feature graphs, equation 4.
    """
    _, (a, b) = align([first, second])
    return float(np.linalg.norm(changes(a, b)))


def distance_matrix(graphs: Mapping[str, FeatureGraph]) -> pd.DataFrame:
    """Distances between all pairs of graphs, by name.

    Parameters
    ----------
    graphs : mapping of str to FeatureGraph

    Returns
    -------
    pandas DataFrame, shape (n_graphs, n_graphs)
        Symmetric, with zeros on the diagonal.

    Examples
    --------
    >>> from rulelens.graph.feature_graph import FeatureGraph
    >>> one, two = (FeatureGraph.from_relevances(["a", "b"], [P], [1.0], [0], ["yes"])
    ...             for P in ([1, 0], [0, 1]))
    >>> distance_matrix({"one": one, "two": two}).round(1).values.tolist()
    [[0.0, 141.4], [141.4, 0.0]]
    """
    import pandas as pd

    names = list(graphs)
    _, stack = align(list(graphs.values()))
    flat = stack.reshape(len(names), stack.shape[1] ** 2)
    out = np.zeros((len(names), len(names)))
    for i in range(len(names) - 1):
        out[i, i + 1 :] = np.linalg.norm(changes(flat[i], flat[i + 1 :]), axis=1)
    return pd.DataFrame(out + out.T, index=names, columns=names)
