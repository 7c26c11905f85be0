"""How far apart two or more feature graphs are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from rulelens.graph.feature_graph import FeatureGraph

Floats = NDArray[np.float64]


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
    return float(np.linalg.norm(a - b))
