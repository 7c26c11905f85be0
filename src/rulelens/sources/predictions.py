"""A model's scores and predictions, rebuilt from the rules that were extracted from it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from rulelens.bits.coverage import coverage
from rulelens.core.provenance import SECOND_FROM, SHARE, VALUE
from rulelens.core.ruleset import RuleSet
from rulelens.errors import RuleError
from rulelens.frames import Table, read_table
from rulelens.sources.scores import is_scored, score_weights

_BLOCK = 64 << 20
"""Entries of one block of the coverage matrix."""


def raw_scores(rules: RuleSet, X: object) -> NDArray[np.float64]:
    """Sum of the values of the rules that cover each row.

    Parameters
    ----------
    rules : RuleSet
        Extracted from a boosted model.
    X : table

    Returns
    -------
    array of float64
        Shape (n_rows,) for a model of two classes with one score, above 0 for the second
        class; else (n_rows, n_classes).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import GradientBoostingClassifier
    >>> from rulelens.sources.extract import extract_rules
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GradientBoostingClassifier(n_estimators=5, random_state=0).fit(X, y)
    >>> bool(np.allclose(raw_scores(extract_rules(model), X), model.decision_function(X)))
    True
    """
    if not is_scored(rules):
        raise RuleError(
            "These rules carry no values to add up. raw_scores is for the rules of a boosted "
            "model, extracted from it, or read from JSON or text."
        )
    weights = score_weights(rules)
    table = read_table(X, rules.schema)
    tree = rules.provenance.get("tree", np.zeros(len(rules), np.int64))
    parts = [np.flatnonzero(tree == t) for t in np.unique(tree)]
    # Tree after tree, and in single precision where the model does so: the last bits decide
    # where a score is next to 0 or classes are equal.
    single = rules.provenance[VALUE].dtype == np.float32
    precision = np.float32 if single else np.float64
    sums = np.zeros((table.n_rows, len(rules.outcomes)), precision)
    for rows, block in _blocks(table, len(rules)):
        covered = coverage(rules, block)
        for part in parts:
            together = slice(part[0], part[-1] + 1)  # as sources give them; no copy
            mine = together if len(part) == part[-1] + 1 - part[0] else part
            sums[rows] += (covered[:, mine] @ weights[mine]).astype(precision)
    out = sums.astype(np.float64)
    one_score = len(rules.outcomes) == 2 and not weights[:, 0].any()
    return out[:, 1] if one_score else out


def class_shares(rules: RuleSet, X: object) -> NDArray[np.float64]:
    """Class shares of the leaf that each row reaches, averaged over the trees.

    Parameters
    ----------
    rules : RuleSet
        Extracted from a tree or a forest.
    X : table

    Returns
    -------
    array of float64, shape (n_rows, n_classes)
        What ``predict_proba`` of the model gives.

    Raises
    ------
    RuleError
        The rules carry no shares, or some rules of a tree are not among them.
    """
    names = [f"{SHARE}{c}" for c in rules.outcomes]
    if not set(names) <= set(rules.provenance) or "tree" not in rules.provenance:
        raise RuleError(
            "These rules carry no class shares. class_shares is for the rules of a tree or forest, "
            "extracted from it, or read from JSON or text."
        )
    shares = np.stack([rules.provenance[n].astype(np.float64) for n in names], axis=1)
    table = read_table(X, rules.schema)
    trees = np.unique(rules.provenance["tree"])
    out = np.zeros((table.n_rows, len(names)))
    # Tree after tree, as the model adds them up: the last bits decide where classes are equal.
    for tree in trees:
        part = np.flatnonzero(rules.provenance["tree"] == tree)
        chosen = rules[part]
        for rows, block in _blocks(table, len(part)):
            covered = coverage(chosen, block)
            if (covered.sum(axis=1) != 1).any():
                raise RuleError(
                    f"Of tree {tree} a row is covered by no rule or by several, so that its class "
                    "shares are not known. Give all rules of each tree, as they were extracted."
                )
            out[rows] += shares[part][covered.argmax(axis=1)]
    averaged: NDArray[np.float64] = out / len(trees)
    return averaged


def predict_rules(rules: RuleSet, X: object) -> NDArray[np.object_]:
    """The class that the rules give each row, as the model does from which they come.

    Parameters
    ----------
    rules : RuleSet
        Extracted from a model, or an ordered list.
    X : table

    Returns
    -------
    array of labels, shape (n_rows,)
        None where no rule of an ordered list without default fires.
    """
    labels = np.empty(len(rules.outcomes) + 1, dtype=object)
    labels[:-1] = rules.outcomes
    labels[-1] = rules.default
    if rules.ordered:
        codes = np.append(rules.outcome, len(rules.outcomes))[rules.first_match(X)]
    elif is_scored(rules):
        scores = raw_scores(rules, X)
        if scores.ndim > 1:
            codes = scores.argmax(axis=1)
        elif SECOND_FROM in rules.provenance and len(rules):
            codes = (scores >= rules.provenance[SECOND_FROM].astype(np.float64)[0]).astype(int)
        else:
            codes = (scores > 0).astype(int)
    elif any(name.startswith(SHARE) for name in rules.provenance):
        codes = class_shares(rules, X).argmax(axis=1)
    else:
        raise RuleError(
            "An unordered set of rules without values or class shares does not say which rule "
            "decides where several fire. Give rules as they were extracted from a model, or read "
            "from JSON or text, or an ordered list."
        )
    predicted: NDArray[np.object_] = labels[codes]
    return predicted


def _blocks(table: Table, n_rules: int) -> Iterator[tuple[slice, Table]]:
    step = max(1, _BLOCK // max(1, n_rules))
    for start in range(0, table.n_rows, step):
        rows = slice(start, min(start + step, table.n_rows))
        yield rows, table.take(rows)
