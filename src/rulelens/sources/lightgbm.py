"""Rules of LightGBM classifiers, from the text that a booster saves.

LightGBM compares numbers in double precision by ``<=``, numbers within 1e-35 of 0 being 0; the
levels that a split lists go to the left, all others and missing values to the right. Where a
column had no missing value in training, a missing value counts as 0.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rulelens.core.ruleset import RuleSet
from rulelens.core.schema import Level, Schema, level_key
from rulelens.errors import ModelError
from rulelens.sources.extract import SOURCES
from rulelens.sources.fitted import (
    check_fitted,
    code_of_level,
    labels_of,
    schema_of,
)
from rulelens.sources.scores import least_likelier, score_rules
from rulelens.sources.tree_paths import Leaves, Tree, leaves_of

_ZERO = float(np.float32(1e-35))
_CATEGORICAL, _DEFAULT_LEFT, _MISSING_ZERO, _MISSING_NAN = 1, 2, 4, 8


@SOURCES.register("lightgbm.LGBMClassifier")
def classifier_rules(model: Any, schema: Schema | None) -> RuleSet:
    """Rules of a classifier with scikit-learn's face; see `extract_rules` and `score_rules`."""
    if not model.__sklearn_is_fitted__():
        raise ModelError("This LGBMClassifier is not fitted. Call fit(X, y) first.")
    return _rules(model.booster_, schema, labels_of(model.classes_))


@SOURCES.register("lightgbm.Booster")
def booster_rules(model: Any, schema: Schema | None) -> RuleSet:
    """Rules of a booster; its classes are 0, 1, …"""
    check_fitted(model, "model_to_string")
    return _rules(model, schema, None)


def _rules(booster: Any, schema: Schema | None, classes: list[Level] | None) -> RuleSet:
    head, trees, tail = _split(booster.model_to_string())
    objective = head.get("objective", "")
    if objective.split(" ")[0] not in ("binary", "multiclass", "multiclassova"):
        raise ModelError(
            f"The booster's objective is '{objective}', but rules need a classifier: binary, "
            "multiclass or multiclassova."
        )
    n_scores = int(head["num_tree_per_iteration"])
    names, schema = _match_names(head["feature_names"].split(" "), schema)
    levels = _levels(tail, trees, head["feature_infos"].split(" "))
    known = {f: list(by_code.values()) for f, by_code in levels.items()}
    schema = schema_of(names, int(head["max_feature_idx"]) + 1, schema, levels=known)
    arrays = [_arrays(t, levels, schema) for t in trees]
    leaves = leaves_of(arrays, schema, closed_left=True, float32=False)
    values = [_numbers(t, "leaf_value") for t in trees]
    # A leaf's number in LightGBM counts leaves only; in our arrays they come after the splits.
    shift = np.array([len(v) - 1 for v in values], dtype=np.int64)
    leaves = _renumbered(leaves, shift)
    value = np.array(
        [values[t][k] for t, k in zip(leaves.tree.tolist(), leaves.node.tolist(), strict=True)]
    )
    target = None if n_scores == 1 else leaves.tree % n_scores
    outcomes = classes if classes is not None else list(range(max(2, n_scores)))
    slope = re.search(r"sigmoid:(\S+)", objective)
    # A score just above 0 has a probability of exactly a half, which gives the first class.
    return score_rules(
        schema,
        leaves,
        value,
        target,
        outcomes=outcomes,
        base=[],
        second_from=least_likelier(float(slope[1]) if slope else 1.0, np.float64),
    )


def _renumbered(leaves: Leaves, shift: NDArray[np.int64]) -> Leaves:
    return replace(leaves, node=leaves.node - shift[leaves.tree])


def _split(text: str) -> tuple[dict[str, str], list[dict[str, str]], str]:
    """Head, trees and tail of a saved model; lines are ``key=value``."""
    body, _, tail = text.partition("\nend of trees")
    head, *parts = re.split(r"\n(?=Tree=\d)", body)
    return _pairs(head), [_pairs(part) for part in parts], tail


def _pairs(text: str) -> dict[str, str]:
    return {key: value for key, _, value in (line.partition("=") for line in text.splitlines())}


def _match_names(names: list[str], schema: Schema | None) -> tuple[list[str] | None, Schema | None]:
    """Names as the caller knows them: LightGBM makes underscores of spaces."""
    written: dict[str, list[str]] = {}
    for n in () if schema is None else schema.names:
        written.setdefault(re.sub(r"\s", "_", n), []).append(n)
    made_up = all(re.fullmatch(r"Column_\d+", n) for n in names)
    if made_up and not set(names) <= set(written):
        return None, schema  # the columns had no names
    for n in names:
        if len(written.get(n, [])) > 1:
            both = " and ".join(f"'{v}'" for v in written[n])
            raise ModelError(
                f"LightGBM writes the names {both} alike, as '{n}'. Give the table without those "
                "that the model was not fitted on."
            )
    if set(names) <= set(written):
        return [written[n][0] for n in names], schema
    return names, schema


def _levels(
    tail: str, trees: list[dict[str, str]], infos: list[str]
) -> dict[int, dict[int, Level]]:
    """Levels of each categorical feature by the booster's codes."""
    m = re.search(r"^pandas_categorical:(.*)$", tail, re.MULTILINE)
    stored = (json.loads(m[1]) if m else None) or []
    m = re.search(r"^\[categorical_feature: ?([\d,]*)\]$", tail, re.MULTILINE)
    listed = [int(v) for v in m[1].split(",")] if m and m[1] else []
    split = {
        int(f)
        for t in trees
        for f, d in zip(_numbers(t, "split_feature"), _numbers(t, "decision_type"), strict=True)
        if int(d) & _CATEGORICAL
    }
    features = sorted({*listed, *split})
    if stored:
        if len(stored) != len(features):
            raise ModelError(
                f"The model has {len(features)} categorical features, but the levels of "
                f"{len(stored)} only. Fit it on a pandas table whose categorical columns have the "
                "type 'category'."
            )
        return {f: dict(enumerate(v)) for f, v in zip(features, stored, strict=True)}
    # Without stored levels the column held the codes themselves: the model lists those it saw.
    # ("-1:2:0:1": -1 stands for missing).
    seen = {f: sorted(map(int, re.findall(r"-?\d+", infos[f]))) for f in features}
    return {f: {v: v for v in codes if v >= 0} for f, codes in seen.items()}


def _numbers(tree: dict[str, str], key: str) -> NDArray[np.float64]:
    return np.array([float(v) for v in tree.get(key, "").split()], dtype=float)


def _arrays(tree: dict[str, str], levels: dict[int, dict[int, Level]], schema: Schema) -> Tree:
    if tree.get("is_linear", "0") != "0":
        raise ModelError(
            "The trees have linear leaves, which are no rules. Fit with linear_tree=False."
        )
    n_leaves = int(tree["num_leaves"])
    n_splits = n_leaves - 1
    left, right, feature, decision = (
        _numbers(tree, key).astype(np.int64)[:n_splits]
        for key in ("left_child", "right_child", "split_feature", "decision_type")
    )
    threshold = _numbers(tree, "threshold")[:n_splits]
    number = threshold
    by_level = (decision & _CATEGORICAL) > 0
    if (~by_level & ((decision & 12) == _MISSING_ZERO)).any():
        raise ModelError(
            "The model takes zeros for missing, so that a split is no interval. Fit with "
            "zero_as_missing=False."
        )
    as_nan = (decision & 12) == _MISSING_NAN
    missing_left = np.where(as_nan, (decision & _DEFAULT_LEFT) > 0, threshold >= 0) & ~by_level
    # LightGBM takes numbers up to 1e-35 (in single precision) from 0 for 0.
    threshold = np.where((threshold >= 0) & (threshold < _ZERO), _ZERO, threshold)
    below_zero = (threshold < 0) & (threshold >= -_ZERO)
    threshold = np.where(below_zero, np.nextafter(-_ZERO, -np.inf), threshold)
    level_set = np.full(n_splits, -1)
    level_set[by_level] = np.arange(by_level.sum())
    sets = [
        _goes_left(tree, int(number[k]), levels[int(feature[k])], schema[int(feature[k])].levels)
        for k in np.flatnonzero(by_level)
    ]

    def joined(inner: NDArray[Any], leaf: Any) -> NDArray[Any]:
        return np.concatenate([inner, np.full(n_leaves, leaf, dtype=inner.dtype)])

    # Children below 0 are leaves; ours stand after the splits.
    left, right = (np.where(c < 0, n_splits + ~c, c) for c in (left, right))
    return Tree(
        joined(left, -1),
        joined(right, -1),
        joined(feature, 0),
        joined(threshold, 0.0),
        joined(missing_left, False),
        joined(level_set, -1),
        sets,
    )


def _goes_left(
    tree: dict[str, str], number: int, codes: dict[int, Level], levels: tuple[Level, ...]
) -> NDArray[np.bool_]:
    """Which levels go left; a level never seen goes right."""
    bounds = _numbers(tree, "cat_boundaries").astype(int)
    words = [int(w) for w in tree["cat_threshold"].split()][bounds[number] : bounds[number + 1]]
    listed = {32 * i + b for i, w in enumerate(words) for b in range(32) if w >> b & 1}
    left = {level_key(v): code for code, v in codes.items() if code in listed}
    return np.array([*(code_of_level(left, v) is not None for v in levels), False])
