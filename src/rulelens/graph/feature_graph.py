"""The feature graph of a rule set: which features its rules rest on, alone and together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rulelens.core.ruleset import RuleSet
from rulelens.core.schema import Level, level_key
from rulelens.errors import OptionError, UnknownFeatureError, did_you_mean
from rulelens.frames import read_labels, read_table
from rulelens.graph.distance import distance
from rulelens.graph.projections import PROJECTIONS, normalise, project
from rulelens.graph.relevance import relevances

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd
    from matplotlib.axes import Axes

    from rulelens.graph.hypergraph import Hypergraph

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FeatureGraph:
    """Features as nodes; a link weighs how much rules rest on two features together.

    Build one with `from_rules`. All arrays are read-only.

    Parameters
    ----------
    features : tuple of str
        Names of the features, in the order of rows and columns.
    adjacency : array of float64, shape (n_features, n_features)
        Weights of links, which sum to 100; the diagonal is what each feature does alone. All
        zeros where no rule has any relevance. In a directed graph the column's feature gives
        and the row's receives.
    contributions : array of float64, shape (n_rules, n_features)
        How much each rule rests on each feature (the paper's P); 0 where it does not occur.
    rule_weights : array of float64, shape (n_rules,)
        How much each rule matters (the paper's q).
    outcome : array of int64, shape (n_rules,)
        Position of each rule's class in `outcomes`.
    outcomes : tuple of str, int, float or bool
        The classes that rules may speak for.
    rule_relevance, feature_relevance, projection : str
        The options that the graph was made with.

    References
    ----------
    C. Sirocchi, D. Verda, Enhancing interpretability of rule-based classifiers through
    feature graphs.

    Examples
    --------
    >>> import pandas as pd
    >>> from rulelens.core.conditions import Interval
    >>> from rulelens.core.rule import Rule
    >>> from rulelens.core.schema import Schema
    >>> rules = RuleSet.from_rules(
    ...     [Rule({"age": Interval(low=50), "bmi": Interval(low=30)}, "ill"),
    ...      Rule({"age": Interval(high=50, high_closed=True)}, "well")],
    ...     Schema.numeric(["age", "bmi"]))
    >>> X = pd.DataFrame({"age": [60, 70, 61, 40, 30], "bmi": [35, 31, 22, 36, 20]})
    >>> graph = FeatureGraph.from_rules(rules, X, ["ill", "ill", "well", "well", "well"])
    >>> graph.importance().round(1).to_dict()
    {'age': 68.6, 'bmi': 31.4}
    >>> graph.for_class("well").alone().to_dict()
    {'age': 100.0, 'bmi': 0.0}
    """

    features: tuple[str, ...]
    adjacency: Floats
    contributions: Floats
    rule_weights: Floats
    outcome: NDArray[np.int64]
    outcomes: tuple[Level, ...]
    rule_relevance: str = "relevance"
    feature_relevance: str = "relevance"
    projection: str = "joint"

    def __post_init__(self) -> None:
        for name in ("adjacency", "contributions", "rule_weights", "outcome"):
            array = np.array(getattr(self, name), np.int64 if name == "outcome" else np.float64)
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    # ------------------------------------------------------------------ building
    @classmethod
    def from_rules(
        cls,
        rules: RuleSet,
        X: object,
        y: object,
        *,
        rule_relevance: str = "relevance",
        feature_relevance: str = "relevance",
        projection: str = "joint",
    ) -> FeatureGraph:
        """Feature graph of a rule set on labelled rows.

        Parameters
        ----------
        rules : RuleSet
            Each rule counts by itself, whether or not the set is ordered.
        X : table
            Rows with the schema's features (pandas, polars, pyarrow or numpy).
        y : array-like of labels, shape (n_rows,)
        rule_relevance : str
            How much a rule matters: ``"relevance"`` (recall times 1 - error), ``"support"``,
            ``"confidence"``, ``"lift"``, another registered measure, or ``"equal"``.
        feature_relevance : str
            How much a rule rests on a feature: ``"relevance"`` (the rise of its error without
            the feature, times its recall), ``"impurity"``, or a registered one.
        projection : str
            How rules become links: ``"joint"``, the paper's; ``"simple"``, ``"hyperbolic"``,
            ``"resource_allocation"`` (directed), or a registered one.

        Warns
        -----
        RulelensWarning
            The graph is empty, or a relevance leaves [0, 1] (as lift does).

        Raises
        ------
        OptionError
            An unknown relevance or projection.
        TableError
            The table does not have the rules' features, or no rule's outcome is among the
            labels.
        """
        table = read_table(X, rules.schema)
        labels = read_labels(y, table.n_rows)
        P, q = relevances(
            rules,
            table,
            labels,
            rule_relevance=rule_relevance,
            feature_relevance=feature_relevance,
        )
        return cls.from_relevances(
            rules.schema.names,
            P,
            q,
            rules.outcome,
            rules.outcomes,
            rule_relevance=rule_relevance,
            feature_relevance=feature_relevance,
            projection=projection,
        )

    @classmethod
    def from_relevances(
        cls,
        features: Sequence[str],
        contributions: ArrayLike,
        rule_weights: ArrayLike,
        outcome: ArrayLike,
        outcomes: Sequence[Level],
        *,
        rule_relevance: str = "relevance",
        feature_relevance: str = "relevance",
        projection: str = "joint",
    ) -> FeatureGraph:
        """Feature graph of relevances that are known already; see the class for each."""
        if projection not in PROJECTIONS:
            raise OptionError(
                f"Unknown projection {projection!r}. {did_you_mean(projection, PROJECTIONS)}"
            )
        names, classes = tuple(features), tuple(outcomes)
        if isinstance(features, str) or not all(isinstance(n, str) for n in names):
            raise OptionError("Features are a list of names, each of them text.")
        if len(set(names)) != len(names):
            twice = next(n for i, n in enumerate(names) if n in names[:i])
            raise OptionError(f"The feature '{twice}' occurs twice. Give each a name of its own.")
        P = _array(contributions, np.float64, "contributions")
        q = _array(rule_weights, np.float64, "rule_weights")
        codes = _array(outcome, np.int64, "outcome")
        if P.size == 0 and q.size == 0:
            P = P.reshape(0, len(names))
        if P.ndim != 2 or P.shape[1] != len(names):
            raise OptionError(
                f"The contributions have the shape {P.shape}. Give one row a rule, with an entry "
                f"for each of the {len(names)} features."
            )
        if not q.shape == codes.shape == (len(P),):
            raise OptionError(
                f"{len(P)} rows of contributions, {q.size} rule weights and {codes.size} "
                "outcomes: give one of each a rule."
            )
        if len(codes) and not 0 <= codes.min() <= codes.max() < len(classes):
            raise OptionError(
                f"An outcome is a position in the {len(classes)} outcomes, from 0; one lies "
                "outside."
            )
        if not (np.isfinite(P).all() and np.isfinite(q).all()):
            raise OptionError("A relevance is missing or infinite. Replace it by 0.")
        return cls(
            names,
            normalise(project(projection, P, q)),
            P,
            q,
            codes,
            classes,
            rule_relevance,
            feature_relevance,
            projection,
        )

    def select(self, rules: slice | ArrayLike) -> FeatureGraph:
        """The graph of some of the rules, chosen by a slice, positions or a mask.

        Relevances stay those of the whole rule set's rows; only the weights are shared anew.
        """
        everything = np.arange(self.n_rules)
        if isinstance(rules, slice):
            chosen = everything[rules]
        else:
            index = np.asarray(rules)
            index = index if index.size else index.astype(np.int64).reshape(-1)
            fits = (
                index.shape == (self.n_rules,) if index.dtype == bool else index.dtype.kind in "iu"
            )
            if index.ndim != 1 or not fits:
                raise OptionError(
                    f"Choose among {self.n_rules} rules by a slice, by positions or by a mask with "
                    "an entry a rule."
                )
            if (
                index.dtype != bool
                and index.size
                and not (-self.n_rules <= index.min() and index.max() < self.n_rules)
            ):
                raise OptionError(f"There are {self.n_rules} rules; a position lies outside.")
            chosen = everything[index]
        P, q = self.contributions[chosen], self.rule_weights[chosen]
        return replace(
            self,
            adjacency=normalise(project(self.projection, P, q)),
            contributions=P,
            rule_weights=q,
            outcome=self.outcome[chosen],
        )

    def for_class(self, label: Level) -> FeatureGraph:
        """The graph of the rules for one class, whose weights sum to 100 on their own.

        Raises
        ------
        OptionError
            The label is not one of `outcomes`.
        """
        for code, known in enumerate(self.outcomes):
            if level_key(known) == level_key(label):
                return self.select(self.outcome == code)
        raise OptionError(f"Unknown outcome {label!r}. {did_you_mean(label, self.outcomes)}")

    # ------------------------------------------------------------------ reading
    @property
    def n_rules(self) -> int:
        """Number of rules."""
        return len(self.rule_weights)

    @property
    def directed(self) -> bool:
        """Whether a link can weigh more one way than the other (resource allocation)."""
        return not np.array_equal(self.adjacency, self.adjacency.T)

    def importance(self) -> pd.Series:
        """Importance of each feature: the sum of its row of `adjacency`; sums to 100."""
        return self._series(self.adjacency.sum(axis=1), "importance")

    def alone(self) -> pd.Series:
        """What each feature does by itself: the diagonal of `adjacency`."""
        return self._series(self.adjacency.diagonal(), "alone")

    def centrality(self, kind: str = "strength") -> pd.Series:
        """How central each feature is; see `rulelens.graph.centrality.centrality`."""
        from rulelens.graph.centrality import centrality

        return centrality(self, kind)

    def hypergraph(self) -> Hypergraph:
        """The groups of features that rules rest on; see `Hypergraph`."""
        from rulelens.graph.hypergraph import Hypergraph

        return Hypergraph.from_graph(self)

    def _series(self, values: Floats, name: str) -> pd.Series:
        import pandas as pd

        return pd.Series(values, index=pd.Index(self.features, name="feature"), name=name)

    def weight(self, first: str, second: str) -> float:
        """Weight of the link between two features; of one with itself: what it does alone.

        In a directed graph: of the link from the first to the second.
        """
        giver, receiver = self._position(first), self._position(second)
        return float(self.adjacency[receiver, giver])

    def _position(self, name: str) -> int:
        try:
            return self.features.index(name)
        except ValueError:
            raise UnknownFeatureError(
                f"Unknown feature {name!r}. {did_you_mean(name, self.features)}"
            ) from None

    def distance(self, other: FeatureGraph) -> float:
        """Frobenius norm of the difference of two graphs, with features matched by name.

        A feature that only one graph has counts as a node without links in the other.
        """
        return distance(self, other)

    # ------------------------------------------------------------------ other forms
    def to_frame(self) -> pd.DataFrame:
        """One row a link, heaviest first: source, target, weight, kind.

        ``kind`` is ``"alone"`` where source and target are one feature, and ``"together"``
        otherwise. An undirected link appears once, although it counts twice in the sum of
        100. A directed link leads from source to target: what the source gives to the target.
        Links of weight 0 are left out.
        """
        import pandas as pd

        A = self.adjacency.T if self.directed else np.triu(self.adjacency)
        i, j = np.nonzero(A)
        order = np.lexsort((j, i, -np.abs(A[i, j])))
        i, j = i[order], j[order]
        names = np.array(self.features, dtype=object)
        return pd.DataFrame(
            {
                "source": names[i],
                "target": names[j],
                "weight": A[i, j],
                "kind": np.where(i == j, "alone", "together").astype(object),
            }
        )

    def to_networkx(self) -> nx.Graph:
        """networkx Graph (DiGraph if directed): links with ``weight``, nodes with shares.

        Nodes carry ``importance`` and ``alone``; what a feature does alone is also a link
        from it to itself. A directed link leads from the feature that gives to the one that
        receives.

        Raises
        ------
        MissingExtraError
            networkx is not installed.
        """
        from rulelens.graph.exchange import to_networkx

        return to_networkx(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, with a format version; `from_dict` reads them back."""
        from rulelens.graph.exchange import to_dict

        return to_dict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> FeatureGraph:
        """The graph that `to_dict` wrote.

        Raises
        ------
        FormatError
            Not such a document; the message names the place.
        """
        from rulelens.graph.exchange import from_dict

        return from_dict(data)

    def plot(self, ax: Axes | None = None, *, top: int = 20, title: str | None = None) -> Axes:
        """Draw the graph with matplotlib; see `rulelens.plots.graph.plot_graph`."""
        from rulelens.plots.graph import plot_graph

        return plot_graph(self, ax, top=top, title=title)

    def __repr__(self) -> str:
        return (
            f"<FeatureGraph: {len(self.features)} features, {self.n_rules} rules, "
            f"{self.rule_relevance}/{self.feature_relevance}, {self.projection}>"
        )


def _array(values: ArrayLike, dtype: type[np.generic], what: str) -> NDArray[Any]:
    try:
        return np.array(values, dtype)
    except (TypeError, ValueError, OverflowError) as e:
        raise OptionError(f"{what} must be an array of numbers: {e}.") from None
