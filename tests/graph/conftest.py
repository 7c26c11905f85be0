"""Small random rule sets with labelled rows, and a slow plain reference for P, q and A'."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from rulelens.core.conditions import Interval, Membership, Missing
from rulelens.core.rule import Rule
from rulelens.core.ruleset import RuleSet
from rulelens.core.schema import Feature, Schema

NAMES = ("a", "b c", "größe")


@dataclass(frozen=True)
class Case:
    """A rule set and rows to judge it on."""

    rules: RuleSet
    X: Any
    y: list[str]

    def rows(self) -> list[dict[str, Any]]:
        records = self.X.to_dict("records")
        return [{k: None if v is None or v != v else v for k, v in r.items()} for r in records]


@st.composite
def random_case(draw: st.DrawFn, max_rules: int = 6) -> Case:
    """Rules on two numeric features and one of levels; missing values; unseen classes."""
    import pandas as pd

    schema = Schema(
        [Feature(NAMES[0]), Feature(NAMES[1]), Feature(NAMES[2], "categorical", ("x", "y", "z"))]
    )
    n = draw(st.integers(1, 12))
    number = st.one_of(st.integers(0, 4).map(float), st.none())
    X = pd.DataFrame(
        {
            NAMES[0]: pd.Series(draw(st.lists(number, min_size=n, max_size=n)), dtype=float),
            NAMES[1]: pd.Series(draw(st.lists(number, min_size=n, max_size=n)), dtype=float),
            NAMES[2]: pd.Series(
                draw(st.lists(st.sampled_from(["x", "y", "z", None]), min_size=n, max_size=n)),
                dtype=object,
            ),
        }
    )
    y = draw(st.lists(st.sampled_from(["yes", "no"]), min_size=n, max_size=n))
    interval = st.builds(
        Interval,
        st.sampled_from([-np.inf, 0.0, 1.0, 2.0]),
        st.sampled_from([3.0, 4.0, np.inf]),
        st.booleans(),
        st.booleans(),
        st.booleans(),
    )
    levels = st.one_of(
        st.builds(
            Membership,
            st.sets(st.sampled_from(["x", "y", "z"]), min_size=1, max_size=2),
            st.booleans(),
            st.booleans(),
        ),
        st.just(Missing()),
    )
    condition = {NAMES[0]: interval, NAMES[1]: interval, NAMES[2]: levels}
    chosen = st.sets(st.sampled_from(NAMES), max_size=3)
    rules = []
    for names in draw(st.lists(chosen, max_size=max_rules)):
        conditions = {name: draw(condition[name]) for name in sorted(names)}
        rules.append(Rule(conditions, draw(st.sampled_from(["yes", "no", "never"]))))
    kept = RuleSet.from_rules(rules, schema, outcomes=["yes", "no", "never"])
    return Case(kept, X, y)


@pytest.fixture(scope="session")
def cases() -> Callable[..., st.SearchStrategy[Case]]:
    """Strategy of random cases."""
    return random_case


@pytest.fixture(scope="session")
def reference() -> Callable[..., tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """P, q and A' by loops over rules and rows, as the definitions read."""
    return plain_graph


def plain_graph(
    case: Case, rule_relevance: str, feature_relevance: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rules, rows, y = list(case.rules), case.rows(), case.y
    d = len(case.rules.schema)
    P, q = np.zeros((len(rules), d)), np.zeros(len(rules))
    for k, rule in enumerate(rules):
        full = [rule.covers(row) for row in rows]
        q[k] = _rule_relevance(full, y, rule.outcome, rule_relevance)
        for name in rule.features:
            without = [rule.without(name).covers(row) for row in rows]
            h = case.rules.schema.index(name)
            P[k, h] = _feature_relevance(full, without, y, rule.outcome, feature_relevance)
    A = np.ones((d, d))
    for i in range(d):
        for j in range(d):
            for k in range(len(rules)):
                A[i, j] *= 1 - P[k, i] * P[k, j] * q[k]
    A = 1 - A
    return P, q, 100 * A / A.sum() if A.sum() else A


def _shares(covered: list[bool], y: list[str], outcome: object) -> tuple[float, float]:
    """Recall and error; NaN where there is no such row."""
    own = [c for c, label in zip(covered, y, strict=True) if label == outcome]
    other = [c for c, label in zip(covered, y, strict=True) if label != outcome]
    return (
        sum(own) / len(own) if own else float("nan"),
        sum(other) / len(other) if other else float("nan"),
    )


def _rule_relevance(covered: list[bool], y: list[str], outcome: object, kind: str) -> float:
    recall, error = _shares(covered, y, outcome)
    hits = sum(c and label == outcome for c, label in zip(covered, y, strict=True))
    share = sum(label == outcome for label in y) / len(y)
    confidence = hits / sum(covered) if any(covered) else float("nan")
    value = {
        "relevance": recall * (1 - error),
        "support": hits / len(y),
        "confidence": confidence,
        "lift": confidence / share if share else float("nan"),
        "equal": 1.0,
    }[kind]
    return 0.0 if value != value else value


def _feature_relevance(
    full: list[bool], without: list[bool], y: list[str], outcome: object, kind: str
) -> float:
    if kind == "relevance":
        recall, error = _shares(full, y, outcome)
        value = (_shares(without, y, outcome)[1] - error) * recall
        return 0.0 if value != value else value
    parent = [label for w, label in zip(without, y, strict=True) if w]
    inside = [label for f, label in zip(full, y, strict=True) if f]
    rest = [label for f, w, label in zip(full, without, y, strict=True) if w and not f]
    if not parent:
        return 0.0
    parts = len(inside) * _gini(inside) + len(rest) * _gini(rest)
    return _gini(parent) - parts / len(parent)


def _gini(labels: list[str]) -> float:
    return 1 - sum((labels.count(c) / len(labels)) ** 2 for c in set(labels)) if labels else 0.0
