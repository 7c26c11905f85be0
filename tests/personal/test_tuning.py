"""The search gives the scores that scikit-learn's own cross-validation gives."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.metrics import balanced_accuracy_score, make_scorer
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from rulelens.errors import OptionError
from rulelens.personal.fast_pic import FastPIC
from rulelens.personal.tuning import PICSearch

CV = StratifiedKFold(3, shuffle=True, random_state=1)
NAMES = ["discretizer", "n_bins", "max_length", "alpha", "min_count", "class_weight"]


@pytest.mark.parametrize("scoring", ["accuracy", "balanced_accuracy"])
def test_scores_are_those_of_a_plain_grid_search(scoring):
    X, y = load_wine(return_X_y=True, as_frame=True)
    y = y.map({0: "a", 1: "b", 2: "c"})
    search = PICSearch(
        max_lengths=(1, 3),
        alphas=(0.5, 0.9),
        n_bins=(3, 4),
        min_counts=(1, 4) if scoring == "accuracy" else (1,),
        class_weights=(None, "balanced"),
        discretizers=("equal_width", "mdlp"),
        cv=CV,
        scoring=scoring,
    ).fit(X, y)
    plain = GridSearchCV(
        FastPIC(),
        {
            "max_length": [1, 3],
            "alpha": [0.5, 0.9],
            "n_bins": [3, 4],
            "min_count": [1, 4] if scoring == "accuracy" else [1],
            "class_weight": [None, "balanced"],
            "discretizer": ["equal_width", "mdlp"],
        },
        cv=CV,
        scoring=make_scorer(balanced_accuracy_score) if "b" in scoring[:1] else "accuracy",
    ).fit(X, y)
    ours = dict(
        zip(
            zip(*(search.cv_results_[n] for n in NAMES), strict=True),
            search.cv_results_["mean_score"],
            strict=True,
        )
    )
    for params, score in zip(
        plain.cv_results_["params"], plain.cv_results_["mean_test_score"], strict=True
    ):
        key = tuple(params[n] for n in NAMES)
        if params["discretizer"] == "mdlp" and params["n_bins"] != 3:
            assert key not in ours
            continue
        assert ours.pop(key) == pytest.approx(score, abs=1e-12)
    assert not ours
    assert search.best_score_ == pytest.approx(plain.best_score_)
    assert search.best_estimator_.get_params()["alpha"] == search.best_params_["alpha"]
    assert (search.predict(X) == search.best_estimator_.predict(X)).all()
    np.testing.assert_array_equal(search.predict_proba(X), search.best_estimator_.predict_proba(X))
    assert search.explain(X).to_dict() == search.best_estimator_.explain(X).to_dict()


def test_shorter_rules_win_among_equal_scores():
    X = pd.DataFrame({"c": ["a", "b"] * 20, "d": ["p", "q", "r", "s"] * 10})
    search = PICSearch(max_lengths=(2, 1)).fit(X, ["no", "yes"] * 20)
    assert search.best_params_["max_length"] == 1
    assert search.best_score_ == 1.0


def test_weights_count_in_the_score():
    X, y = load_iris(return_X_y=True)
    w = np.where(y == 0, 1.0, 1e-9)
    assert PICSearch(n_bins=(3,)).fit(X, y, sample_weight=w).best_score_ > 0.999


def test_a_way_of_cutting_that_leaves_no_item_gives_the_most_frequent_class():
    """MDLP finds no cut in noise; the search then ended in an IndexError of numpy."""
    X = pd.DataFrame({"a": np.arange(40) % 7, "b": np.arange(40) % 3})
    y = np.arange(40) % 4 == 0
    search = PICSearch((1, 2), (0.9,), n_bins=(3,), discretizers=("mdlp",), cv=CV).fit(X, y)
    plain = GridSearchCV(FastPIC(discretizer="mdlp"), {"max_length": [1, 2]}, cv=CV).fit(X, y)
    assert search.best_score_ == pytest.approx(plain.best_score_)
    assert not search.predict(X).any()


@pytest.mark.parametrize(
    "bad",
    [
        {"scoring": "acuracy"},
        {"alphas": ()},
        {"alphas": (2,)},
        {"max_lengths": (0,)},
        {"n_bins": (1,)},
        {"discretizers": ("equal",)},
        {"memory_limit": 10},
    ],
)
def test_options_are_checked(bad):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(OptionError):
        PICSearch(**bad).fit(X, y)
