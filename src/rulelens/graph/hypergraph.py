"""Rules as hyperedges: which groups of features act together, not only which pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rulelens.core.schema import Level
from rulelens.errors import MissingExtraError

if TYPE_CHECKING:
    import pandas as pd

    from rulelens.graph.feature_graph import FeatureGraph


@dataclass(frozen=True, slots=True)
class Hyperedge:
    """A group of features that rules for one class rest on.

    Parameters
    ----------
    features : tuple of str
        In the graph's order, at least one.
    outcome : str, int, float or bool
        The class that the rules speak for.
    weight : float
        Sum of the rules' weights.
    rules : tuple of int
        Positions of the rules.
    """

    features: tuple[str, ...]
    outcome: Level
    weight: float
    rules: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Hypergraph:
    """Features and the groups in which rules use them, heaviest first.

    Examples
    --------
    >>> from rulelens.graph.feature_graph import FeatureGraph
    >>> graph = FeatureGraph.from_relevances(
    ...     ["a", "b"], [[0.5, 0.2], [0.1, 0.3], [0.5, 0]], [0.5, 0.25, 0.5], [0, 0, 0], ["yes"])
    >>> for edge in Hypergraph.from_graph(graph).edges:
    ...     print(edge.features, edge.weight, edge.rules)
    ('a', 'b') 0.75 (0, 1)
    ('a',) 0.5 (2,)
    """

    features: tuple[str, ...]
    edges: tuple[Hyperedge, ...]

    @classmethod
    def from_graph(cls, graph: FeatureGraph) -> Hypergraph:
        """The groups of features behind a feature graph.

        A feature belongs to a rule's group if the rule rests on it: if its contribution is
        not 0. Rules that rest on no feature, or have no weight, have no group.
        """
        found: dict[tuple[int, tuple[int, ...]], list[int]] = {}
        for k in range(graph.n_rules):
            group = tuple(np.flatnonzero(graph.contributions[k]).tolist())
            if group and graph.rule_weights[k] != 0:
                found.setdefault((int(graph.outcome[k]), group), []).append(k)
        edges = [
            Hyperedge(
                tuple(graph.features[i] for i in group),
                graph.outcomes[code],
                float(graph.rule_weights[rules].sum()),
                tuple(rules),
            )
            for (code, group), rules in found.items()
        ]
        edges.sort(key=lambda e: (-e.weight, e.rules))
        return cls(graph.features, tuple(edges))

    def to_frame(self) -> pd.DataFrame:
        """One row a group: features (a tuple), size, outcome, weight, n_rules."""
        import pandas as pd

        return pd.DataFrame(
            {
                "features": pd.Series([e.features for e in self.edges], dtype=object),
                "size": [len(e.features) for e in self.edges],
                "outcome": pd.Series([e.outcome for e in self.edges], dtype=object),
                "weight": [e.weight for e in self.edges],
                "n_rules": [len(e.rules) for e in self.edges],
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "format": "rulelens.hypergraph",
            "version": 1,
            "features": list(self.features),
            "edges": [
                {
                    "features": list(e.features),
                    "outcome": e.outcome,
                    "weight": e.weight,
                    "rules": list(e.rules),
                }
                for e in self.edges
            ],
        }

    def to_xgi(self) -> Any:
        """xgi Hypergraph: a node a feature, an edge a group with ``weight`` and ``outcome``.

        Raises
        ------
        MissingExtraError
            xgi is not installed.
        """
        try:
            import xgi
        except ImportError:
            raise MissingExtraError(
                "to_xgi needs xgi. Install it with: pip install 'rulelens[graph]'"
            ) from None
        out: Any = xgi.Hypergraph()  # type: ignore[no-untyped-call]
        out.add_nodes_from(self.features)
        for e in self.edges:
            out.add_edge(e.features, weight=e.weight, outcome=e.outcome, n_rules=len(e.rules))
        return out
