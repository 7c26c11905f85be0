"""How central each feature is in a graph: several answers to the same question."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rulelens.core.registry import Registry
from rulelens.errors import MissingExtraError, OptionError

if TYPE_CHECKING:
    import pandas as pd

    from rulelens.graph.feature_graph import FeatureGraph

Floats: TypeAlias = NDArray[np.float64]
Centrality: TypeAlias = Callable[[Floats], Floats]

CENTRALITIES: Registry[Centrality] = Registry("centrality", "rulelens.centralities", OptionError)
"""Centralities by name: adjacency, (n_features, n_features) → one number a feature."""

_DAMPING = 0.85
_STEPS = 10_000
_TOLERANCE = 1e-13


def centrality(graph: FeatureGraph, kind: str = "strength") -> pd.Series:
    """Centrality of each feature.

    Parameters
    ----------
    graph : FeatureGraph
        With weights that are not negative.
    kind : str
        ``"strength"`` (the paper's importance), ``"eigenvector"``, ``"pagerank"``,
        ``"betweenness"``, ``"closeness"`` (the last two need networkx), or a registered one.

    Raises
    ------
    OptionError
        An unknown kind, or a graph with weights below 0, as lift gives.

    Examples
    --------
    >>> from rulelens.graph.feature_graph import FeatureGraph
    >>> graph = FeatureGraph.from_relevances(
    ...     ["a", "b", "c"], [[0.5, 0.5, 0], [0.5, 0, 0.5]], [1, 1], [0, 0], ["yes"])
    >>> centrality(graph, "pagerank").round(2).to_dict()
    {'a': 0.46, 'b': 0.27, 'c': 0.27}
    """
    import pandas as pd

    function = CENTRALITIES[kind]
    if (graph.adjacency < 0).any():
        raise OptionError(
            "Centralities need weights of at least 0, and this graph has some below. Use a rule "
            "relevance between 0 and 1, such as 'relevance'."
        )
    index = pd.Index(graph.features, name="feature")
    return pd.Series(function(graph.adjacency), index=index, name=kind)


@CENTRALITIES.register("strength")
def strength(A: Floats) -> Floats:
    """Sum of a feature's links and of what it does alone: the importance, out of 100."""
    out: Floats = A.sum(axis=1)
    return out


@CENTRALITIES.register("eigenvector")
def eigenvector(A: Floats) -> Floats:
    """Central is what is linked to the central: leading eigenvector, summing to 1.

    Power iteration from equal parts on A + I, whose limit is unique. In a graph of several
    parts without links between them only the heaviest parts keep weight.
    """
    n = len(A)
    if not A.any():
        return np.zeros(n)
    M = A / A.sum(axis=1).max() + np.eye(n)
    v = np.full(n, 1 / n)
    for _ in range(_STEPS):
        new = M @ v
        new /= new.sum()
        if np.abs(new - v).max() < _TOLERANCE:
            break
        v = new
    return np.where(new < 1e-9, 0.0, new)


@CENTRALITIES.register("pagerank")
def pagerank(A: Floats) -> Floats:
    """Share of the time that a random walk along the links spends at each feature; sums to 1.

    It follows a link in proportion to its weight with probability 0.85, and jumps to any
    feature otherwise, or where there is no link.
    """
    n = len(A)
    if not n:
        return np.zeros(0)
    out_weight = A.sum(axis=0)
    stuck = out_weight == 0
    M = np.divide(A, out_weight, out=np.zeros(A.shape), where=~stuck)
    M[:, stuck] = 1 / n
    system = np.eye(n) - _DAMPING * M
    v: Floats = np.linalg.solve(system, np.full(n, (1 - _DAMPING) / n))
    v /= v.sum()
    return v


@CENTRALITIES.register("betweenness")
def betweenness(A: Floats) -> Floats:
    """Share of the shortest paths between two others that lead through a feature.

    A link's length is one over its weight.
    """
    nx, graph = _lengths(A)
    found = nx.betweenness_centrality(graph, weight="length")
    return np.array([found[i] for i in range(len(A))], dtype=np.float64)


@CENTRALITIES.register("closeness")
def closeness(A: Floats) -> Floats:
    """One over the mean distance to the features in reach, times the share that is in reach.

    A link's length is one over its weight.
    """
    nx, graph = _lengths(A)
    found = nx.closeness_centrality(graph, distance="length")
    return np.array([found[i] for i in range(len(A))], dtype=np.float64)


def _lengths(A: Floats) -> tuple[Any, Any]:
    try:
        import networkx as nx
    except ImportError:
        raise MissingExtraError(
            "This centrality needs networkx. Install it with: pip install 'rulelens[graph]'"
        ) from None
    graph = nx.Graph() if np.array_equal(A, A.T) else nx.DiGraph()
    graph.add_nodes_from(range(len(A)))
    # A column sends and a row receives, as in pagerank.
    for i, j in zip(*np.nonzero(A), strict=True):
        if i != j:
            graph.add_edge(int(j), int(i), length=1 / float(A[i, j]))
    return nx, graph
