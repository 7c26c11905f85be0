"""Tables with numbers, levels and holes, and rows at the edges of rules."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from rulelens.core.ruleset import RuleSet


def mixed(
    seed: int, n: int = 300, *, missing: float = 0.1, classes: int = 2
) -> tuple[pd.DataFrame, Any]:
    """Three numeric columns and two of levels (text, whole numbers), with holes."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "a b": rng.normal(size=n),
            "colour": pd.Categorical(rng.choice(["red", "blue", "dark green", "ü"], n)),
            "steps": rng.integers(0, 8, n).astype(float),
            "grade": pd.Categorical(rng.integers(1, 6, n)),
            "tiny": rng.normal(size=n) * 1e-3,
        }
    )
    score = frame["a b"] + (frame["colour"] == "blue") + frame["grade"].astype(int) % 3
    score += 300 * frame["tiny"] + rng.normal(size=n) * 0.4
    y = np.searchsorted(np.quantile(score, np.linspace(0, 1, classes + 1)[1:-1]), score)
    for c in frame.columns if missing else []:
        frame.loc[rng.random(n) < missing, c] = np.nan
    return frame, y


def numbers(seed: int, n: int = 300, *, missing: float = 0.0, classes: int = 2) -> tuple[Any, Any]:
    """Five numeric columns."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    X[:, 1] = rng.integers(0, 6, n)
    X[:, 2] = np.round(X[:, 2], 1)
    score = X[:, 0] + (X[:, 1] > 2) - X[:, 3] * X[:, 4] + rng.normal(size=n) * 0.3
    y = np.searchsorted(np.quantile(score, np.linspace(0, 1, classes + 1)[1:-1]), score)
    if missing:
        X[rng.random(X.shape) < missing] = np.nan
    return X, y


def edge_rows(
    rules: RuleSet, X: pd.DataFrame, *, n: int = 1500, limit: float = 3e38
) -> pd.DataFrame:
    """Rows of X with numbers at, and an ulp (single, double) around, the ends of conditions."""
    rng = np.random.default_rng(9)
    rows = X.iloc[rng.integers(len(X), size=n)].reset_index(drop=True)
    c = rules.conditions
    for i, f in enumerate(rules.schema):
        if not f.is_numeric:
            continue
        ends = np.concatenate([c.low[c.feature == i], c.high[c.feature == i]])
        ends = np.unique(ends[np.isfinite(ends)])
        if not len(ends):
            continue
        with np.errstate(over="ignore"):
            single = ends.astype(np.float32)
            near = [ends, np.nextafter(ends, np.inf), np.nextafter(ends, -np.inf), single]
            near += [np.nextafter(single, np.float32(v)) for v in (np.inf, -np.inf)]
        values = np.unique(np.concatenate([v.astype(float) for v in near]))
        values = values[np.abs(values) < limit]
        hit = rng.random(n) < 0.5
        column = rows[f.name].to_numpy(dtype=float).copy()
        column[hit & ~np.isnan(column)] = rng.choice(values, (hit & ~np.isnan(column)).sum())
        rows[f.name] = column
    return rows


def one_rule_of_each_tree(rules: RuleSet, X: Any) -> np.ndarray:
    """Leaf of each tree that each row reaches, by the rules; an error unless it is one."""
    covered = rules.coverage(X)
    tree = rules.provenance["tree"]
    out = []
    for t in np.unique(tree[tree >= 0]):
        mine = np.flatnonzero(tree == t)
        assert (covered[:, mine].sum(axis=1) == 1).all()
        out.append(rules.provenance["leaf"][mine[covered[:, mine].argmax(axis=1)]])
    return np.array(out).T
