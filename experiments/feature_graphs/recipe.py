"""What the experiments share: the data sets, the folds and the trees of the paper's authors."""

from __future__ import annotations

import argparse
import os
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from rulelens.core.conditions import Interval
from rulelens.core.rule import Rule
from rulelens.core.ruleset import RuleSet
from rulelens.core.schema import Schema
from rulelens.errors import RulelensWarning

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"
IDENTIFIERS = {
    "zoo": "animal_name",
    "bcw_original": "Sample_code_number",
    "bcw_prognostic": "ID",
    "bcw_diagnostic": "ID",
}
GRID = {
    "criterion": ["gini", "entropy"],
    "max_depth": np.linspace(4, 30, 13).astype(int).tolist(),
}


@dataclass(frozen=True)
class DataSet:
    """Features, as numbers, and the class of each row."""

    name: str
    X: pd.DataFrame
    y: pd.Series


def arguments(description: str) -> argparse.ArgumentParser:
    """A parser with the option --data."""
    parser = argparse.ArgumentParser(description=description)
    default = os.environ.get("RULELENS_DATA")
    parser.add_argument(
        "--data",
        type=Path,
        default=default,
        required=default is None,
        help="folder of the data sets [default: RULELENS_DATA]",
    )
    return parser


MANGLED = {
    "10-14": "14-Oct",
    "5-9": "9-May",
    "9-11": "11-Sep",
    "12-14": "14-Dec",
    "3-5": "5-Mar",
    "6-8": "8-Jun",
}
"""Levels of breast_cancer as a spreadsheet made dates of them in the copy that the paper used.

The names themselves do not matter, but they change the order of the 0/1 columns, by which a tree
breaks ties.
"""


def load(folder: Path, name: str) -> DataSet:
    """One data set: the target is the last column; text columns become 0/1 columns."""
    frame = pd.read_csv(folder / f"{name}.csv.gz")
    if name == "breast_cancer":
        frame = frame.replace(MANGLED)
    y = frame.iloc[:, -1]
    drop = [c for c in [IDENTIFIERS.get(name)] if c in frame.columns]
    X = pd.get_dummies(frame.iloc[:, :-1].drop(columns=drop), dtype=float)
    return DataSet(name, X, y)


def folds(data: DataSet, n: int = 10) -> list[tuple[np.ndarray, np.ndarray]]:
    """Training and test rows of each outer fold."""
    warnings.filterwarnings("ignore", message="The least populated class")
    splitter = StratifiedKFold(n, shuffle=True, random_state=42)
    return list(splitter.split(data.X, data.y))


def tuned_tree(X: pd.DataFrame, y: pd.Series, n_folds: int = 5) -> DecisionTreeClassifier:
    """The tree whose criterion and depth do best in so many inner folds.

    Chooses as a grid search would (the first of the best), but a tree that did not use all of
    its depth is not grown again for a larger one.
    """
    warnings.filterwarnings("ignore", message="The least populated class")
    inner = list(StratifiedKFold(n_folds, shuffle=True, random_state=42).split(X, y))
    best, best_score = None, -np.inf
    for criterion in GRID["criterion"]:
        scores, grown = np.zeros(len(inner)), np.zeros(len(inner), dtype=bool)
        for depth in GRID["max_depth"]:
            tree = DecisionTreeClassifier(criterion=criterion, max_depth=depth, random_state=123)
            for k, (train, test) in enumerate(inner):
                if not grown[k]:
                    tree.fit(X.iloc[train], y.iloc[train])
                    scores[k] = tree.score(X.iloc[test], y.iloc[test])
                    grown[k] = tree.get_depth() < depth
            if scores.mean() > best_score:
                best, best_score = clone(tree), scores.mean()
    return best.fit(X, y)


def published_rules(tree: DecisionTreeClassifier, X: pd.DataFrame) -> RuleSet:
    """The rules of a tree as the authors' code reads them.

    It differs from what the tree does, and from `extract_rules`, in two ways. It compares in
    double precision, where the tree rounds a value to single precision first: on tokyo1 one
    row of a fold changes sides. And a missing value satisfies no condition, although the tree
    sends it down a branch; a split "is it missing?" (an infinite threshold, or NaN in
    scikit-learn 1.4) then never holds on its upper side. Rules with a condition that no row
    can satisfy have no part in any graph, and are left out.
    """
    nodes, rules, outcomes = tree.tree_, [], tree.classes_.tolist()

    def walk(node: int, path: list[tuple[str, Interval]], possible: bool) -> None:
        if nodes.children_left[node] < 0:
            if possible:
                label = outcomes[np.argmax(nodes.value[node][0])]
                rules.append(Rule(path, label))
            return
        name, cut = X.columns[nodes.feature[node]], float(nodes.threshold[node])
        below = Interval(high=cut if cut == cut else 0.0, high_closed=True)
        above = Interval(low=cut if np.isfinite(cut) else 0.0)
        walk(nodes.children_left[node], [*path, (name, below)], possible and cut == cut)
        walk(nodes.children_right[node], [*path, (name, above)], possible and np.isfinite(cut))

    walk(0, [], True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RulelensWarning)
        return RuleSet.from_rules(
            rules,
            Schema.numeric(list(X.columns)),
            outcomes=outcomes,
            contradictions="drop",
        )


def with_new_rows(path: Path, name: str, new: pd.DataFrame, order: list[str]) -> pd.DataFrame:
    """The table in `path` with the rows of data set `name` replaced, in the order of the sets."""
    old = pd.read_csv(path) if path.exists() else new[:0]
    whole = pd.concat([old[old["data"] != name], new] if len(old) else [new])
    rank = {n: i for i, n in enumerate(order)}
    return whole.sort_values("data", key=lambda c: c.map(rank), kind="stable")
