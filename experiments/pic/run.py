"""Accuracy, rule length and time of personal rules beside plain peers on the same items.

    OMP_NUM_THREADS=1 python experiments/pic/run.py [table ...]

Ten stratified folds, shuffled with seed 0 (three for tables over 20,000 rows). In each fold
the bins, alpha, length, least count and class weights of PIC are chosen by three inner folds of
the training rows; the peers work on the items of the bins so chosen. Reads the folder in
RULELENS_DATA; writes results/accuracy.csv, one line a table and method.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from peers import cba, neighbours, ripper, tree
from sklearn.model_selection import StratifiedKFold
from tables import TARGETS, load

from rulelens.frames import read_table
from rulelens.personal.base import PersonalClassifier
from rulelens.personal.fast_pic import FastPIC
from rulelens.personal.pic import PIC
from rulelens.personal.tuning import PICSearch

HERE = Path(__file__).parent
if "RULELENS_DATA" not in os.environ:
    raise SystemExit("Set RULELENS_DATA to the folder with the data sets.")
DATA = Path(os.environ["RULELENS_DATA"])
LARGE = 20_000


def search(X: pd.DataFrame) -> PICSearch:
    """What is tried: longer rules where there are few features, more where there are few rows."""
    d = X.shape[1]
    wide = d <= 10 or len(X) <= 1000
    has_numbers = any(pd.api.types.is_numeric_dtype(X[c]) for c in X)
    return PICSearch(
        max_lengths=range(1, 7) if d <= 10 else range(1, 4),
        alphas=(0.5, 0.8, 0.9, 0.95, 0.99, 0.999) if wide else (0.9, 0.99),
        n_bins=(3, 5) if wide else (5,),
        min_counts=(1, 3, 10) if wide else (1, 10),
        class_weights=(None, "balanced") if wide else (None,),
        discretizers=("equal_width", "mdlp") if has_numbers else ("equal_width",),
        cv=StratifiedKFold(3, shuffle=True, random_state=0),
    )


def personal(model: PersonalClassifier, X: pd.DataFrame) -> tuple[np.ndarray, float]:
    """Predictions, and the mean number of conditions of the rules."""
    result = model.explain(X)
    outcome = np.array(result.rules.outcomes, dtype=object)[result.rules.outcome[result.best]]
    return outcome, float(result.rules.lengths[result.best].mean())


def balanced(truth: np.ndarray, outcome: np.ndarray) -> float:
    """Mean over the classes of the share of their rows that are right."""
    return float(np.mean([(outcome[truth == c] == c).mean() for c in np.unique(truth)]))


def one_fold(
    a: pd.DataFrame, ya: np.ndarray, b: pd.DataFrame, yb: np.ndarray
) -> Iterator[tuple[str, float, float, float, float]]:
    """Method, accuracy, balanced accuracy, rule length, CPU seconds."""

    def judge(
        method: str, answer: Callable[[], tuple[np.ndarray, float]]
    ) -> tuple[str, float, float, float, float]:
        start = time.process_time()
        outcome, length = answer()
        spent = time.process_time() - start
        return method, (outcome == yb).mean(), balanced(yb, outcome), length, spent

    tuned = search(a)
    yield judge("PIC, tuned", lambda: personal(tuned.fit(a, ya), b))
    yield judge("PIC, defaults", lambda: personal(FastPIC().fit(a, ya), b))
    best = {
        k: v for k, v in tuned.best_params_.items() if k in ("max_length", "alpha", "min_count")
    }
    greedy = PIC(
        search="greedy",
        n_bins=tuned.best_params_["n_bins"],
        discretizer=tuned.best_params_["discretizer"],
        class_weight=tuned.best_params_["class_weight"],
        **best,
    )
    yield judge("PIC, greedy", lambda: personal(greedy.fit(a, ya), b))
    codes = [tuned.binning_.codes(read_table(part, tuned.schema_)) for part in (a, b)]
    labels = tuned.classes_
    place = np.searchsorted(labels, ya)
    for method, peer in (("tree", tree), ("CBA", cba), ("3-NN", neighbours), ("RIPPER", ripper)):

        def ask(
            peer: Callable[..., tuple[np.ndarray, float]] = peer,
        ) -> tuple[np.ndarray, float]:
            outcome, length = peer(codes[0], place, codes[1])
            return labels[outcome], length

        yield judge(method, ask)


def one_table(name: str) -> pd.DataFrame:
    X, y = load(DATA, name)
    folds = StratifiedKFold(3 if len(y) > LARGE else 10, shuffle=True, random_state=0)
    lines = []
    with warnings.catch_warnings():
        # nursery has a class of two rows.
        warnings.filterwarnings("ignore", "The least populated class")
        for train, test in folds.split(X, y):
            lines += one_fold(
                X.iloc[train], y.iloc[train].to_numpy(), X.iloc[test], y.iloc[test].to_numpy()
            )
    columns = ["method", "accuracy", "balanced_accuracy", "rule_length", "seconds_a_fold"]
    frame = pd.DataFrame(lines, columns=columns)
    out = frame.groupby("method", sort=False).mean().round(4).reset_index()
    out.insert(0, "table", name)
    return out


def main() -> None:
    target = HERE / "results" / "accuracy.csv"
    target.parent.mkdir(exist_ok=True)
    for name in sys.argv[1:] or list(TARGETS):
        lines = one_table(name)
        print(lines.to_string(index=False), flush=True)
        if target.exists():
            old = pd.read_csv(target)
            lines = pd.concat([old[old["table"] != name], lines], ignore_index=True)
        lines.to_csv(target, index=False)
    whole = pd.read_csv(target)
    print(whole.pivot(index="table", columns="method", values="accuracy").round(3).to_string())
    means = whole.groupby("method")[["accuracy", "balanced_accuracy", "rule_length"]].mean()
    print(means.round(4).to_string())


if __name__ == "__main__":
    main()
