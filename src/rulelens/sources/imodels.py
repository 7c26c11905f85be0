"""Rules of imodels: RuleFit, SkopeRules, FIGS, greedy rule lists and shrunken trees.

BoostedRulesClassifier and GreedyTreeClassifier are scikit-learn's AdaBoost and tree
underneath and need no source of their own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rulelens.core.conditions import Condition, Interval
from rulelens.core.provenance import SCORE_CLASS, SHARE, VALUE
from rulelens.core.rule import Rule
from rulelens.core.ruleset import RuleSet
from rulelens.core.schema import Level, Schema
from rulelens.errors import ModelError, UnsupportedModelError
from rulelens.sources.extract import SOURCES, extract_rules
from rulelens.sources.fitted import check_fitted, labels_of, named_by_place, schema_of
from rulelens.sources.scores import score_rules
from rulelens.sources.tree_paths import Tree, leaves_of


@SOURCES.register("imodels.RuleFitClassifier")
def rulefit_rules(model: Any, schema: Schema | None) -> RuleSet:
    """Rules of RuleFit. Their values add up to ``2 f - 1``, f being what the model adds up.

    Raises
    ------
    ModelError
        The model has linear terms, which are no rules.
    """
    check_fitted(model, "rules_without_feature_names_")
    schema = _schema_of(model, schema)
    n = len(schema)
    if model.include_linear and np.any(np.asarray(model.coef)[:n] != 0):
        raise ModelError(
            "The model has linear terms, which are no rules. Fit it with include_linear=False."
        )
    weighted = [(r, 2 * float(r.args[0])) for r in model.rules_without_feature_names_]
    start = 2 * float(np.ravel(model.intercept)[0]) - 1
    return _weighted_rules(model, schema, weighted, start)


@SOURCES.register("imodels.SkopeRulesClassifier")
def skope_rules(model: Any, schema: Schema | None) -> RuleSet:
    """Rules of SkopeRules. Their values add up to ``2 p - 1``, p being the model's probability."""
    check_fitted(model, "rules_without_feature_names_")
    schema = _schema_of(model, schema)
    rules = model.rules_without_feature_names_
    total = sum(float(r.args[0]) for r in rules)
    weighted = [(r, 2 * float(r.args[0]) / total) for r in rules] if total else []
    return _weighted_rules(model, schema, weighted, -1.0)


def _weighted_rules(
    model: Any, schema: Schema, weighted: list[tuple[Any, float]], start: float
) -> RuleSet:
    """Rules of text conditions such as ``X0 <= 0.5``, compared in double precision."""
    position = {name: i for i, name in enumerate(model.feature_placeholders)}
    classes = labels_of(model.classes_)
    if len(classes) != 2:
        raise ModelError(f"The model has {len(classes)} classes; two are supported.")
    made = [Rule([], classes[int(start > 0)], {VALUE: start, SCORE_CLASS: 1})]
    for rule, value in weighted:
        conditions: list[tuple[str, Condition]] = [
            (schema[position[feature]].name, _comparison(symbol, float(number)))
            for (feature, symbol), number in rule.agg_dict.items()
        ]
        made.append(Rule(conditions, classes[int(value > 0)], {VALUE: value, SCORE_CLASS: 1}))
    return RuleSet.from_rules(made, schema, outcomes=classes)


def _comparison(symbol: str, number: float) -> Interval:
    if symbol in ("<", "<="):
        return Interval(high=number, high_closed=symbol == "<=")
    if symbol in (">", ">="):
        return Interval(low=number, low_closed=symbol == ">=")
    return Interval(number, number, True, True)


@SOURCES.register("imodels.FIGSClassifier")
def figs_rules(model: Any, schema: Schema | None) -> RuleSet:
    """Rules of FIGS: leaf values of its trees, which add up to a score for each class."""
    check_fitted(model, "trees_")
    if hasattr(model, "_encoder"):
        raise UnsupportedModelError(
            "This FIGSClassifier encodes categorical features itself, which cannot be undone. "
            "Encode them in a pipeline before it."
        )
    schema = _schema_of(model, schema)
    grown = [_figs_nodes(root) for root in model.trees_]
    leaves = leaves_of([g[0] for g in grown], schema, closed_left=True, float32=False)
    values = np.array(
        [
            np.ravel(grown[t][1][k].value)
            for t, k in zip(leaves.tree.tolist(), leaves.node.tolist(), strict=True)
        ]
    ).reshape(len(leaves.tree), -1)
    outcomes = labels_of(model.classes_)
    n_scores = values.shape[1]
    if n_scores != len(outcomes):
        raise UnsupportedModelError(
            f"The leaves have {n_scores} values for {len(outcomes)} classes. imodels has one a "
            "class from version 2 on."
        )
    return score_rules(
        schema,
        leaves.repeated(n_scores),
        values.T.ravel(),
        np.repeat(np.arange(n_scores), len(leaves.tree)),
        outcomes=outcomes,
        base=[],
    )


def _figs_nodes(root: Any) -> tuple[Tree, list[Any]]:
    nodes, left, right = [root], [], []
    for node in nodes:  # grows while it is read
        if node.left is None or node.right is None:
            left.append(-1)
            right.append(-1)
            continue
        left.append(len(nodes))
        right.append(len(nodes) + 1)
        nodes += [node.left, node.right]
    inner = np.array(left) >= 0
    tree = Tree(
        np.array(left),
        np.array(right),
        np.array([int(n.feature) if i else 0 for n, i in zip(nodes, inner, strict=True)]),
        np.array([float(n.threshold) if i else 0.0 for n, i in zip(nodes, inner, strict=True)]),
        np.zeros(len(nodes), dtype=bool),
    )
    return tree, nodes


@SOURCES.register("imodels.GreedyRuleListClassifier")
@SOURCES.register("imodels.OneRClassifier")
def rule_list(model: Any, schema: Schema | None) -> RuleSet:
    """An ordered list with a default; provenance ``probability`` of the second class."""
    check_fitted(model, "rules_")
    schema = _schema_of(model, schema)
    classes = labels_of(model.classes_)
    made = []
    for rule in model.rules_[:-1]:
        cut = float(rule["cutoff"])
        condition = Interval(high=cut) if rule["flip"] else Interval(low=cut, low_closed=True)
        name = schema[int(rule["index_col"])].name
        share = float(rule["val_right"])
        made.append(Rule({name: condition}, _likelier(share, classes), {"probability": share}))
    default = _likelier(float(model.rules_[-1]["val"]), classes)
    return RuleSet.from_rules(made, schema, outcomes=classes, ordered=True, default=default)


def _likelier(probability: float, classes: list[Level]) -> Level:
    return classes[int(probability > 1 - probability)]


@SOURCES.register("imodels.HSTreeClassifier")
def shrunken_rules(model: Any, schema: Schema | None) -> RuleSet:
    """Rules of a tree or forest whose leaf shares were drawn towards those of their parents."""
    check_fitted(model, "estimator_")
    rules = extract_rules(model.estimator_, _schema_of(model, schema))
    # imodels fits on the classes' positions, unless the tree was fitted elsewhere.
    classes = labels_of(getattr(model, "classes_", rules.outcomes))
    if len(classes) != len(rules.outcomes):
        raise ModelError(
            f"The tree has {len(rules.outcomes)} classes, but the model {len(classes)}. "
            "Fit the model again."
        )
    names = {f"{SHARE}{a}": f"{SHARE}{b}" for a, b in zip(rules.outcomes, classes, strict=True)}
    return RuleSet.from_arrays(
        rules.schema,
        rules.conditions,
        rules.offsets,
        rules.indices,
        rules.outcome,
        outcomes=classes,
        provenance={names.get(k, k): column for k, column in rules.provenance.items()},
    )


def _schema_of(model: Any, schema: Schema | None) -> Schema:
    names = getattr(model, "feature_names_in_", None)
    n = int(model.n_features_in_)
    made_up = [f"X{i}" for i in range(n)]
    if names is not None and list(map(str, names)) == made_up and named_by_place(made_up, schema):
        names = None  # names that imodels makes up for an array
    return schema_of(names, n, schema)
