"""Data sets, black boxes and the rules of random rows, as criteria.

The black box follows tables 1 to 3 of the paper: two layers of 32, its class weights, decision
thresholds, bins and supports. Two things differ: categorical columns are one-hot instead of
embeddings of size 2, and scikit-learn's Adam with an L2 term stands for AdamW.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from rulelens.explain.explainer import RuleExplainer
from rulelens.preference.criteria import Criteria


@dataclass(frozen=True)
class Recipe:
    """How a data set is read, learned and cut (the paper's tables 2 and 3 where it has one)."""

    file: str
    drop: tuple[str, ...] = ()
    learning_rate: float = 1e-3
    batch: int = 200
    positive_weight: float = 1.0
    threshold: float = 0.5
    min_support: int = 4
    n_bins: int = 3
    epochs: int = 60
    at_least: int = 25


# The charges are the minutes times a rate; the paper removes highly correlated columns.
CHARGES = tuple(f"Total {part} charge" for part in ("day", "eve", "night", "intl"))

RECIPES = {
    "banking": Recipe(
        "churn_banking",
        ("RowNumber", "CustomerId", "Surname"),
        batch=1024,
        positive_weight=3.5,
        threshold=0.9,
        min_support=1,
        n_bins=4,
        epochs=150,
    ),
    "telecom": Recipe(
        "churn_telecom_3333",
        ("State", "Area code", *CHARGES),
        learning_rate=3e-3,
        batch=512,
        positive_weight=9.0,
        epochs=300,
    ),
    "telecom5000": Recipe(
        "churn_telecom_5000",
        ("State", "Area code", "Phone", *CHARGES),
        learning_rate=3e-3,
        batch=512,
        positive_weight=9.0,
        epochs=300,
    ),
    "heloc": Recipe("heloc", batch=512, min_support=3),
    "wisconsin": Recipe("bcw_original", ("Sample_code_number",), at_least=10),
    "wine": Recipe("", epochs=600),
    "wdbc": Recipe("", min_support=10, epochs=600),
}


class ThresholdMLP(ClassifierMixin, BaseEstimator):
    """The paper's perceptron: two layers of 32, weighted classes, its own threshold."""

    def __init__(self, recipe: Recipe, random_state: int = 0) -> None:
        self.recipe = recipe
        self.random_state = random_state

    def fit(self, X: pd.DataFrame, y: np.ndarray) -> ThresholdMLP:
        """Fit on rows X with classes 0 and 1."""
        r = self.recipe
        numeric = list(X.select_dtypes("number").columns)
        others = [c for c in X.columns if c not in numeric]
        prepare = make_column_transformer(
            (StandardScaler(), numeric), (OneHotEncoder(handle_unknown="ignore"), others)
        )
        network = MLPClassifier(
            (32, 32),
            alpha=1e-5,
            learning_rate_init=r.learning_rate,
            batch_size=min(r.batch, len(X)),
            max_iter=r.epochs,
            random_state=self.random_state,
        )
        self.pipeline_ = make_pipeline(prepare, network)
        weight = np.where(y == 1, r.positive_weight, 1.0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            self.pipeline_.fit(X, y, mlpclassifier__sample_weight=weight)
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        """1 where the probability of class 1 reaches the threshold."""
        return (self.pipeline_.predict_proba(X)[:, 1] >= self.recipe.threshold).astype(int)


def load(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Features and classes 0/1 of a data set; files come from the folder in RULELENS_DATA."""
    if name in ("wine", "wdbc"):
        data = (load_wine if name == "wine" else load_breast_cancer)(as_frame=True)
        return data.data, (data.target == 1).to_numpy().astype(int)
    recipe = RECIPES[name]
    folder = os.environ.get("RULELENS_DATA")
    if not folder:
        raise SystemExit("Set RULELENS_DATA to the folder with the data sets (see README).")
    frame = pd.read_csv(Path(folder) / f"{recipe.file}.csv.gz").dropna()
    target = frame.pop(frame.columns[-1])
    frame = frame.drop(columns=list(recipe.drop))
    positive = {"True", "1", "Good", "4", "True."}
    return frame.reset_index(drop=True), target.astype(str).isin(positive).to_numpy().astype(int)


@dataclass(frozen=True)
class Case:
    """One row's rules as criteria."""

    row: int
    outcome: int
    length: int
    criteria: Criteria


class Cases:
    """Rows of a data set with their rules; the black box is trained once.

    Parameters
    ----------
    max_length : int or "auto"
        As in `RuleExplainer`; 3 for wine and WDBC, where it is enough.
    """

    def __init__(self, name: str, max_length: int | str = "auto", seed: int = 0) -> None:
        recipe = RECIPES[name]
        self.name = name
        self.X, self.y = load(name)
        self.model = ThresholdMLP(recipe, seed).fit(self.X, self.y)
        self.explainer = RuleExplainer(
            self.model,
            n_bins=recipe.n_bins,
            min_support=recipe.min_support,
            max_length=max_length,
        ).fit(self.X)

    def case(self, row: int) -> Case | None:
        """Rules of one row, or None where fewer than two qualify."""
        explanation = self.explainer.explain(self.X.iloc[row])
        if len(explanation) < 2:
            return None
        criteria = explanation.session().criteria
        return Case(row, int(explanation.prediction), explanation.length, criteria)

    def draw(self, n: int, seed: int, *, at_most: int = 2_000) -> Iterator[Case]:
        """`n` random rows with enough rules; a row with more than `at_most` keeps an even share."""
        rng = np.random.default_rng([seed, len(self.X)])
        at_least = RECIPES[self.name].at_least
        found = tried = 0
        while found < n:
            tried += 1
            if tried > 200 * (found + 1):
                raise SystemExit(f"{self.name}: rows with {at_least} rules are too rare.")
            case = self.case(int(rng.integers(len(self.X))))
            if case is None or len(case.criteria) < at_least:
                continue
            c = case.criteria
            if len(c) > at_most:
                kept = np.linspace(0, len(c) - 1, at_most).astype(int)
                ids = tuple(c.alternatives[i] for i in kept)
                fewer = Criteria(ids, c.names, c.values[kept])
                case = Case(case.row, case.outcome, case.length, fewer)
            yield case
            found += 1
