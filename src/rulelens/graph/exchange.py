"""Feature graphs, their intervals and tests from plain values; graphs for other packages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rulelens.core.schema import level_key
from rulelens.errors import FormatError, MissingExtraError
from rulelens.graph.feature_graph import FeatureGraph
from rulelens.graph.uncertainty import GraphIntervals, GraphTest

if TYPE_CHECKING:
    import networkx as nx

FORMAT = "rulelens.feature_graph"
VERSION = 1
_LARGEST = float(np.finfo(np.float64).max)


def to_dict(graph: FeatureGraph) -> dict[str, Any]:
    """Plain values for JSON; contributions are written as (position, value) pairs a rule."""
    contributions = [
        [[int(j), float(row[j])] for j in np.flatnonzero(row)] for row in graph.contributions
    ]
    return {
        "format": FORMAT,
        "version": VERSION,
        "rule_relevance": graph.rule_relevance,
        "feature_relevance": graph.feature_relevance,
        "projection": graph.projection,
        "features": list(graph.features),
        "adjacency": graph.adjacency.tolist(),
        "outcomes": list(graph.outcomes),
        "rules": {
            "outcome": graph.outcome.tolist(),
            "weight": graph.rule_weights.tolist(),
            "contributions": contributions,
        },
    }


def from_dict(data: Mapping[str, Any]) -> FeatureGraph:
    """Read what `to_dict` wrote; a FormatError names the place of a fault."""
    _check_format(data, FORMAT, "feature graph")
    features = _list(data, "features", str)
    if len(set(features)) != len(features):
        raise FormatError("features: a name occurs twice.")
    outcomes = _list(data, "outcomes", (str, int, float))
    if any(isinstance(v, float) and not np.isfinite(v) for v in outcomes):
        raise FormatError("outcomes: a number is not finite.")
    if len({level_key(v) for v in outcomes}) != len(outcomes):
        raise FormatError("outcomes: one occurs twice.")
    d = len(features)
    rules = data.get("rules")
    if not isinstance(rules, Mapping):
        raise FormatError(f"rules: expected an object, found {rules!r}.")
    outcome = _list(rules, "outcome", int, "rules.")
    weight = _numbers(
        _list(rules, "weight", (int, float), "rules."), (len(outcome),), "rules.weight"
    )
    if outcome and not 0 <= min(outcome) <= max(outcome) < len(outcomes):
        raise FormatError(f"rules.outcome: positions must lie in 0..{len(outcomes) - 1}.")
    return FeatureGraph(
        tuple(features),
        _numbers(_list(data, "adjacency", list), (d, d), "adjacency"),
        _contributions(_list(rules, "contributions", list, "rules."), len(outcome), d),
        weight,
        np.array(outcome, np.int64),
        tuple(outcomes),
        *(_text(data, k) for k in ("rule_relevance", "feature_relevance", "projection")),
    )


def intervals_from_dict(data: Mapping[str, Any]) -> GraphIntervals:
    """Read what `GraphIntervals.to_dict` wrote; a FormatError names the place of a fault."""
    _check_format(data, "rulelens.graph_intervals", "document of intervals")
    graph = from_dict(data.get("graph", {}))
    d = len(graph.features)
    n = _whole(data, "n_resamples")
    (confidence,) = _numbers([data.get("confidence")], (1,), "confidence").tolist()
    if not 0 < confidence < 1:
        raise FormatError(f"confidence: expected a number between 0 and 1, found {confidence!r}.")
    return GraphIntervals(
        graph,
        _array(data, "low", (d, d)),
        _array(data, "high", (d, d)),
        _array(data, "importance_low", (d,)),
        _array(data, "importance_high", (d,)),
        _array(data, "present", (d, d)),
        _array(data, "distances", (n,)),
        confidence,
        n,
        _flag(data, "refitted"),
    )


def graph_test_from_dict(data: Mapping[str, Any]) -> GraphTest:
    """Read what `GraphTest.to_dict` wrote; a FormatError names the place of a fault."""
    _check_format(data, "rulelens.graph_test", "test")
    graph = from_dict(data.get("graph", {}))
    d = len(graph.features)
    rows = _list(data, "p_values", list)
    untested = [[v is None for v in row] for row in rows]
    p = _numbers([[0.0 if v is None else v for v in row] for row in rows], (d, d), "p_values")
    p[np.array(untested, dtype=bool).reshape(d, d)] = np.nan
    return GraphTest(
        graph,
        p,
        _array(data, "importance_p_values", (d,)),
        _array(data, "max_p_values", (d, d)),
        _whole(data, "n_permutations"),
        _flag(data, "refitted"),
    )


def _check_format(data: object, name: str, what: str) -> None:
    found = data.get("format") if isinstance(data, Mapping) else type(data).__name__
    if not isinstance(data, Mapping) or found != name:
        raise FormatError(f'Expected a document with "format": "{name}", found {found!r}.')
    if data.get("version") != VERSION:
        raise FormatError(
            f"This {what} has format version {data.get('version')!r}; version {VERSION} "
            "can be read. Write it again, or update Rulelens."
        )


def _array(data: Mapping[str, Any], key: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
    return _numbers(_list(data, key, object), shape, key)


def _whole(data: Mapping[str, Any], key: str) -> int:
    value = data.get(key)
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise FormatError(f"{key}: expected a whole number of at least 1, found {value!r}.")
    return value


def _flag(data: Mapping[str, Any], key: str) -> bool:
    value = data.get(key)
    if not isinstance(value, bool):
        raise FormatError(f"{key}: expected true or false, found {value!r}.")
    return value


def _text(data: Mapping[str, Any], key: str) -> str:
    if not isinstance(data.get(key), str):
        raise FormatError(f"{key}: expected text, found {data.get(key)!r}.")
    return str(data[key])


def _list(
    data: Mapping[str, Any], key: str, kind: type | tuple[type, ...], where: str = ""
) -> list[Any]:
    values = data.get(key)
    if not isinstance(values, list):
        raise FormatError(f"{where}{key}: expected a list, found {values!r}.")
    for i, v in enumerate(values):
        if not isinstance(v, kind) or (kind is int and isinstance(v, bool)):
            raise FormatError(f"{where}{key}[{i}]: {v!r} is of the wrong kind.")
    return values


def _numbers(values: list[Any], shape: tuple[int, ...], where: str) -> NDArray[np.float64]:
    rows = [values] if len(shape) == 1 else values
    if len(values) != shape[0] or any(
        not isinstance(row, list) or len(row) != shape[-1] for row in rows
    ):
        raise FormatError(f"{where}: expected finite numbers of the shape {shape}.")
    for k, row in enumerate(rows):
        for v in row:
            if not _finite(v):
                place = where if len(shape) == 1 else f"{where}[{k}]"
                raise FormatError(f"{place}: expected finite numbers, found {v!r:.40}.")
    return np.array(values, np.float64).reshape(shape)


def _finite(value: object) -> bool:
    """Whether this is a number that a float holds; True and False are none."""
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and abs(value) <= _LARGEST  # False for NaN; exact for whole numbers of any size
    )


def _contributions(rows: list[Any], n: int, d: int) -> NDArray[np.float64]:
    if len(rows) != n:
        raise FormatError(f"rules.contributions: {len(rows)} rules; expected {n}.")
    out = np.zeros((n, d))
    for k, row in enumerate(rows):
        seen = set()
        for pair in row:
            if not (
                isinstance(pair, list)
                and len(pair) == 2
                and isinstance(pair[0], int)
                and not isinstance(pair[0], bool)
                and 0 <= pair[0] < d
                and _finite(pair[1])
            ):
                raise FormatError(
                    f"rules.contributions[{k}]: {pair!r:.60} is not a feature's position "
                    f"(0..{d - 1}) and a number."
                )
            if pair[0] in seen:
                raise FormatError(
                    f"rules.contributions[{k}]: the feature at position {pair[0]} occurs twice."
                )
            seen.add(pair[0])
            out[k, pair[0]] = pair[1]
    return out


def to_networkx(graph: FeatureGraph) -> nx.Graph:
    """networkx graph; see `FeatureGraph.to_networkx`."""
    try:
        import networkx as nx
    except ImportError:
        raise MissingExtraError(
            "to_networkx needs networkx. Install it with: pip install 'rulelens[graph]'"
        ) from None
    out = nx.DiGraph() if graph.directed else nx.Graph()
    importance = graph.adjacency.sum(axis=1)
    for i, name in enumerate(graph.features):
        out.add_node(name, importance=float(importance[i]), alone=float(graph.adjacency[i, i]))
    # A column gives and a row receives.
    for i, j in zip(*np.nonzero(graph.adjacency), strict=True):
        out.add_edge(graph.features[j], graph.features[i], weight=float(graph.adjacency[i, j]))
    return out
