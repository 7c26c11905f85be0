"""How far a feature graph can be trusted: bootstrap intervals and permutation tests."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rulelens.core.ruleset import RuleSet
from rulelens.errors import OptionError, RulelensWarning, TableError
from rulelens.frames import Labels, read_labels, read_table
from rulelens.graph.distance import align, changes
from rulelens.graph.feature_graph import FeatureGraph
from rulelens.graph.projections import ONLY_SHARES, project
from rulelens.graph.relevance import feature_entries, rule_entries
from rulelens.graph.replicates import RuleCells
from rulelens.graph.uncertainty import GraphIntervals, GraphTest

Floats: TypeAlias = NDArray[np.float64]
RuleSource: TypeAlias = Callable[[Any, Any], RuleSet]
"""A function that learns rules from a table and its labels."""


def bootstrap(
    rules: RuleSet | RuleSource,
    X: object,
    y: object,
    *,
    n_resamples: int = 1000,
    confidence: float = 0.95,
    random_state: int | np.random.Generator | None = None,
    rule_relevance: str = "relevance",
    feature_relevance: str = "relevance",
    projection: str = "joint",
) -> GraphIntervals:
    """Percentile intervals of every link and every importance, by resampling rows.

    Parameters
    ----------
    rules : RuleSet, or function of (X, y) that gives one
        A rule set is held fixed: the intervals then tell how much the graph of *these* rules
        hangs on the rows. A function learns rules from every resample anew: they then tell
        how much the whole way from rows to graph does, and are wider.
    X : table
    y : array-like of labels, shape (n_rows,)
    n_resamples : int, at least 2
    confidence : float, between 0 and 1
        Share of the resamples that lie within an interval.
    random_state : int or Generator, optional
        The same number gives the same intervals.
    rule_relevance, feature_relevance, projection : str
        See `FeatureGraph.from_rules`.

    Returns
    -------
    GraphIntervals

    Notes
    -----
    A feature relevance cannot be negative, so an interval that starts at 0 or above is no
    sign that a link is real: `permutation_test` asks that.

    References
    ----------
    B. Efron, R. Tibshirani (1993), An introduction to the bootstrap, chapter 13.
    """
    _whole(n_resamples, 2, "n_resamples")
    if not isinstance(confidence, int | float | np.number) or not 0 < confidence < 1:
        raise OptionError(f"confidence must lie between 0 and 1, not {confidence!r}.")
    options = {
        "rule_relevance": rule_relevance,
        "feature_relevance": feature_relevance,
        "projection": projection,
    }
    rng = np.random.default_rng(random_state)
    graph, labels = _observed(rules, X, y, options)
    n = len(labels)
    if not n:
        raise TableError("There are no rows to resample.")

    def draws() -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        for _ in range(n_resamples):
            rows = rng.integers(n, size=n)
            yield rows, labels.codes[rows]

    # 1. Each resample's links as shares of 100, and only those that are not 0.
    d = len(graph.features)
    found: list[NDArray[np.int64]] = []
    values: list[Floats] = []
    sums = np.zeros((n_resamples, d))
    distances = np.zeros(n_resamples)
    for k, A in enumerate(_replicates(rules, X, labels, graph, draws())):
        total = A.sum()
        shares = A / total * 100.0 if total else np.zeros((d, d))
        found.append(np.flatnonzero(shares))
        values.append(shares.ravel()[found[-1]])
        sums[k] = shares.sum(axis=1)
        distances[k] = np.linalg.norm(changes(graph.adjacency, shares))
    # 2. Quantiles of the links that any resample has.
    ends = [(1 - confidence) / 2, (1 + confidence) / 2]
    cells = np.unique(np.concatenate([np.flatnonzero(graph.adjacency), *found]))
    table = np.zeros((n_resamples, len(cells)))
    for k in range(n_resamples):
        table[k, np.searchsorted(cells, found[k])] = values[k]
    low, high, present = np.zeros((3, d * d))
    low[cells], high[cells] = np.quantile(table, ends, axis=0)
    present[cells] = (table != 0).mean(axis=0)
    importance_low, importance_high = np.quantile(sums, ends, axis=0)
    return GraphIntervals(
        graph,
        low.reshape(d, d),
        high.reshape(d, d),
        importance_low,
        importance_high,
        present.reshape(d, d),
        distances,
        float(confidence),
        int(n_resamples),
        not isinstance(rules, RuleSet),
    )


def permutation_test(
    rules: RuleSet | RuleSource,
    X: object,
    y: object,
    *,
    n_permutations: int = 999,
    random_state: int | np.random.Generator | None = None,
    rule_relevance: str = "relevance",
    feature_relevance: str = "relevance",
    projection: str = "joint",
) -> GraphTest:
    """Whether links and importances exceed what shuffled labels give.

    Parameters
    ----------
    rules : RuleSet, or function of (X, y) that gives one
        A function learns rules from every shuffling anew, as it did from the true labels: the
        p-values then hold, whatever it does. A rule set is held fixed, which is much faster,
        and holds **only for rules that were not learned from these labels** (a doctor's
        rules, or rules learned from other rows). Rules that were learned from these labels
        fit them by construction, and far too many links would seem real.
    X : table
    y : array-like of labels, shape (n_rows,)
    n_permutations : int, at least 19
        The least p-value is 1/(n_permutations + 1).
    random_state : int or Generator, optional
        The same number gives the same p-values.
    rule_relevance, feature_relevance, projection : str
        See `FeatureGraph.from_rules`.

    Returns
    -------
    GraphTest
        P-values of links and of importances, one-sided: the share of shufflings, the true
        labels counted among them, whose link (before it is made a share of 100) is as large.

    References
    ----------
    B. Phipson, G. K. Smyth (2010), Permutation p-values should never be zero.
    """
    _whole(n_permutations, 19, "n_permutations")
    options = {
        "rule_relevance": rule_relevance,
        "feature_relevance": feature_relevance,
        "projection": projection,
    }
    rng = np.random.default_rng(random_state)
    graph, labels = _observed(rules, X, y, options)
    if not len(labels):
        raise TableError("There are no rows whose labels could be shuffled.")
    everything = np.arange(len(labels))

    def shuffles() -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        yield everything, labels.codes
        for _ in range(n_permutations):
            yield everything, rng.permutation(labels.codes)

    d = len(graph.features)
    links = np.zeros((d, d), dtype=np.int64)
    sums = np.zeros(d, dtype=np.int64)
    beaten = np.zeros((d, d), dtype=np.int64)
    source = _replicates(rules, X, labels, graph, shuffles(), comparable=True)
    true = next(source)
    # What is equal but for rounding counts as equal.
    link_bar = true - 1e-12 * np.abs(true)
    sum_bar = true.sum(axis=1) - 1e-12 * np.abs(true.sum(axis=1))
    for A in source:
        links += link_bar <= A
        sums += sum_bar <= A.sum(axis=1)
        beaten += link_bar <= A.max(initial=0.0)
    p = (links + 1) / (n_permutations + 1)
    if isinstance(rules, RuleSet):
        # Two features that no rule names together have no link under any labels.
        presence = rules.presence.astype(np.int64)
        p[presence.T @ presence == 0] = np.nan
    importance_p = (sums + 1) / (n_permutations + 1)
    return GraphTest(
        graph,
        p,
        importance_p,
        (beaten + 1) / (n_permutations + 1),
        int(n_permutations),
        not isinstance(rules, RuleSet),
    )


def _whole(value: int, least: int, name: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise OptionError(f"{name} must be a whole number of at least {least}, not {value!r}.")


def _observed(
    rules: RuleSet | RuleSource, X: object, y: object, options: dict[str, str]
) -> tuple[FeatureGraph, Labels]:
    """The graph of the rows as they are, and their labels."""
    learned = rules if isinstance(rules, RuleSet) else _learn(rules, X, y)
    graph = FeatureGraph.from_rules(learned, X, y, **options)
    return graph, read_labels(y)


def _learn(source: RuleSource, X: object, y: object) -> RuleSet:
    if not callable(source):
        raise OptionError(
            f"Give a RuleSet, or a function of X and y that learns one, not a "
            f"{type(source).__name__}."
        )
    rules = source(X, y)
    if not isinstance(rules, RuleSet):
        raise OptionError(
            f"The function gave a {type(rules).__name__}. It must take X and y and give a RuleSet."
        )
    return rules


def _replicates(
    rules: RuleSet | RuleSource,
    X: object,
    labels: Labels,
    graph: FeatureGraph,
    replicates: Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]],
    *,
    comparable: bool = False,
) -> Iterator[Floats]:
    """Links of each replicate before they are shares of 100, over the graph's features.

    ``comparable``: links up to a scale, which differs between replicates, are an error.
    """
    if isinstance(rules, RuleSet):
        cells = RuleCells.of(rules, read_table(X, rules.schema), labels)
        for counts in cells.counts(replicates):
            P = np.zeros((len(rules), len(rules.schema)))
            P[counts.owner, counts.feature] = feature_entries(counts, graph.feature_relevance)
            q = rule_entries(counts.rules, graph.rule_relevance)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RulelensWarning)  # told for the graph itself
                links = _links(graph.projection, P, q, comparable)
            yield links
        return
    one_type = len({type(c) for c in labels.classes}) == 1
    classes = np.array(labels.classes, dtype=None if one_type else object)
    for rows, codes in replicates:
        part = take_rows(X, rows)
        y = classes[codes]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RulelensWarning)
            one = FeatureGraph.from_rules(
                _learn(rules, part, y),
                part,
                y,
                rule_relevance=graph.rule_relevance,
                feature_relevance=graph.feature_relevance,
                projection=graph.projection,
            )
            links = _links(graph.projection, one.contributions, one.rule_weights, comparable)
        if one.features != graph.features:
            if not set(one.features) <= set(graph.features):
                extra = next(f for f in one.features if f not in graph.features)
                raise OptionError(
                    f"The function's rules are over other features for other rows: '{extra}'."
                )
            named = FeatureGraph(
                one.features, links, one.contributions, one.rule_weights, one.outcome, one.outcomes
            )
            links = align([graph, named])[1][1]
        yield links


def _links(projection: str, P: Floats, q: Floats, comparable: bool) -> Floats:
    if comparable:
        warnings.filterwarnings("error", message=f".*{ONLY_SHARES}", category=RulelensWarning)
    try:
        return project(projection, P, q)
    except RulelensWarning:
        raise OptionError(
            "The links are too large to be compared between shufflings. Use a rule relevance "
            "between 0 and 1, such as 'relevance' or 'confidence'."
        ) from None


def take_rows(X: Any, rows: NDArray[np.int64]) -> Any:
    """The rows at the given positions, as a table of the same kind."""
    if isinstance(X, np.ndarray):
        return X[rows]
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if isinstance(X, list | tuple):
        return [X[i] for i in rows.tolist()]
    import narwhals.stable.v1 as nw

    return nw.from_native(X, eager_only=True)[rows.tolist(), :].to_native()
