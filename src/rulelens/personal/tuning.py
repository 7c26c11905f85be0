"""Choose alpha, length and bins of FastPIC by cross-validation, counting each fold once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import check_cv
from sklearn.utils.validation import check_is_fitted

from rulelens.bits.cube import Cube
from rulelens.discretize.binning import Method, learn_binning
from rulelens.errors import OptionError, TableError, did_you_mean
from rulelens.frames import Labels, read_labels
from rulelens.personal.accuracy import Choice, Yardstick
from rulelens.personal.base import (
    ClassWeight,
    PersonalClassifier,
    class_array,
    class_factors,
    with_levels_in_use,
)
from rulelens.personal.fast_pic import FastPIC
from rulelens.personal.ranked_cube import RankedCube

SCORINGS = ("accuracy", "balanced_accuracy")


class PICSearch(PersonalClassifier):
    """FastPIC with alpha, length and bins chosen by cross-validation.

    For each fold and each way of cutting the numbers the training rows are counted once, up
    to the greatest length; every length and every alpha is then judged on these counts. Bins
    are learned from the training rows of the fold only.

    Parameters
    ----------
    max_lengths : sequence of int
    alphas : sequence of float in [0, 1]
    n_bins : sequence of int
        Tried with the methods that take a number of bins.
    discretizers : sequence of {"equal_width", "quantile", "mdlp", "incremental"}
    min_counts : sequence of int
    class_weights : sequence of None, "balanced" or mapping
        "balanced" often helps where some classes are rare, though accuracy is the score.
    smoothing, memory_limit
        As in `FastPIC`.
    cv : int, splitter or iterable
        As in scikit-learn; a number means stratified folds in the order of the rows.
    scoring : {"accuracy", "balanced_accuracy"}

    Attributes
    ----------
    best_params_ : dict
        Options of the best `FastPIC`. Among equal scores: the shorter rules, then the first
        of the given options.
    best_score_ : float
        Mean over folds. Chosen as the best of many, it is a little too high for new rows.
    cv_results_ : dict of lists
        One entry a combination: its options, and mean and standard deviation of the score.
    best_estimator_ : FastPIC
        Fitted on all rows; it answers for `predict`, `explain` and the rest.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> iris = load_iris(as_frame=True)
    >>> search = PICSearch(max_lengths=(1, 2), n_bins=(3, 5)).fit(iris.data, iris.target)
    >>> search.best_params_["max_length"] <= 2, search.best_score_ > 0.9
    (True, True)
    """

    def __init__(
        self,
        max_lengths: Sequence[int] = (1, 2, 3),
        alphas: Sequence[float] = (0.5, 0.7, 0.8, 0.9, 0.95, 0.99),
        *,
        n_bins: Sequence[int] = (3, 5),
        discretizers: Sequence[Method] = ("equal_width", "quantile"),
        min_counts: Sequence[int] = (1,),
        class_weights: Sequence[ClassWeight] = (None,),
        smoothing: float = 1.0,
        memory_limit: int = 1 << 30,
        cv: Any = 5,
        scoring: str = "accuracy",
    ) -> None:
        self.max_lengths = max_lengths
        self.alphas = alphas
        self.n_bins = n_bins
        self.discretizers = discretizers
        self.min_counts = min_counts
        self.class_weights = class_weights
        self.smoothing = smoothing
        self.memory_limit = memory_limit
        self.cv = cv
        self.scoring = scoring

    def fit(self, X: object, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Judge all combinations, then fit the best one on all rows.

        Parameters
        ----------
        X : table, shape (n_rows, n_features)
        y : array-like of labels, shape (n_rows,)
        sample_weight : array-like of float, shape (n_rows,), optional
            Used in the counts and in the score.

        Returns
        -------
        self
        """
        if self.scoring not in SCORINGS:
            raise OptionError(
                f"Unknown scoring {self.scoring!r}. {did_you_mean(self.scoring, SCORINGS)}"
            )
        for name in (
            "max_lengths",
            "alphas",
            "n_bins",
            "discretizers",
            "min_counts",
            "class_weights",
        ):
            if not len(getattr(self, name)):
                raise OptionError(f"{name} is empty. Give at least one value to try.")
        table, labels, weights = self._read_training(X, y, sample_weight, reset=True)
        self.schema_, self.classes_ = table.schema, class_array(labels.classes)
        # 1. One column of scores a fold; one row a combination.
        cuts = self._ways_to_cut()
        options: list[dict[str, Any]] = [
            {
                "discretizer": m,
                "n_bins": b,
                "max_length": int(length),
                "alpha": float(a),
                "min_count": int(c),
                "class_weight": w,
            }
            for (m, b), (length, a, c, w) in product(cuts, self._judged())
        ]
        for o in options:
            FastPIC(**o, smoothing=self.smoothing)._check_options()
        target = np.asarray(y)
        if target.dtype.kind == "O":
            target = read_labels(target).codes
        splitter = check_cv(self.cv, target, classifier=True)
        # Folds are of the rows as given; rows of weight 0 have no place in the table.
        used = np.arange(table.n_rows)
        if sample_weight is not None:
            given = np.broadcast_to(np.asarray(sample_weight), target.shape)
            used = np.flatnonzero(given > 0)
        place = np.full(len(target), -1)
        place[used] = np.arange(len(used))
        scores = []
        for fold_rows in splitter.split(np.zeros((len(place), 1)), target):
            train, test = (place[r][place[r] >= 0] for r in fold_rows)
            fold: list[float] = []
            if not len(train) or not len(test):
                raise TableError(
                    "A fold has no rows with a weight above 0. Shuffle the rows, use fewer folds, "
                    "or leave these rows out."
                )
            # Levels that only the other rows have are none here, as in a fit on these rows.
            whole = with_levels_in_use(table, train)
            part = whole.take(train)
            for method, n_bins in cuts:
                mine = Labels(labels.classes, labels.codes[train])
                binning = learn_binning(part, mine, method=method, n_bins=n_bins)
                model = FastPIC(int(max(self.max_lengths)), memory_limit=self.memory_limit)
                model.binning_, model.classes_ = binning, self.classes_
                model._length = model.max_length
                model._start(len(train))
                cube = model._count(part, mine, None if weights is None else weights[train])
                codes = binning.codes(whole.take(test))
                w = None if weights is None else weights[test]
                fold += self._judge(cube, codes, labels.codes[test], w)
            scores.append(fold)
        # 2. The best mean; the shortest rules among equals.
        mean, spread = np.mean(scores, axis=0), np.std(scores, axis=0)
        lengths = np.array([o["max_length"] for o in options])
        best = int(np.lexsort((np.arange(len(options)), lengths, -np.round(mean, 12)))[0])
        self.best_params_ = options[best]
        self.best_score_ = float(mean[best])
        self.cv_results_ = {
            **{name: [o[name] for o in options] for name in options[0]},
            "mean_score": mean.tolist(),
            "std_score": spread.tolist(),
        }
        # 3. All rows.
        model = FastPIC(
            **self.best_params_,
            smoothing=self.smoothing,
            memory_limit=self.memory_limit,
        )
        self.best_estimator_ = model.fit(X, y, sample_weight)
        self.classes_ = model.classes_
        self.binning_ = model.binning_
        self.schema_ = model.schema_
        self.class_counts_ = model.class_counts_
        return self

    def _ways_to_cut(self) -> list[tuple[Method, int]]:
        """Each method with each number of bins, where it takes one."""
        found: list[tuple[Method, int]] = []
        for method in self.discretizers:
            counts = self.n_bins if method in ("equal_width", "quantile") else self.n_bins[:1]
            found += [(method, int(b)) for b in counts]
        return list(dict.fromkeys(found))

    def _judge(
        self,
        cube: Cube,
        codes: NDArray[np.integer],
        truth: NDArray[np.int64],
        weights: NDArray[np.float64] | None,
    ) -> list[float]:
        """Scores of one fold, in the order of `_judged`."""
        found: dict[tuple[int, int], float] = {}
        rest = list(product(self.alphas, self.min_counts, self.class_weights))
        for i, (alpha, min_count, class_weight) in enumerate(rest):
            factors = class_factors(class_weight, self.classes_, cube.totals)
            ranked = RankedCube.of(cube, Yardstick(alpha, cube.totals, factors, min_count))
            by_length = ranked.best_by_length(codes)
            for length in set(self.max_lengths):
                columns = by_length[min(length, len(by_length)) - 1]
                # Cutting may leave no item at all, and then there is no rule to look up.
                outcome = np.full(len(truth), cube.totals.argmax(), dtype=np.int64)
                found_rule = columns >= 0
                outcome[found_rule] = ranked.outcome[columns[found_rule]]
                found[length, i] = _score(self.scoring, truth, outcome, weights)
        return [found[length, i] for length in self._lengths() for i in range(len(rest))]

    def _lengths(self) -> list[int]:
        return sorted({int(length) for length in self.max_lengths})

    def _judged(self) -> list[tuple[int, float, int, ClassWeight]]:
        """Options that one cube can judge."""
        return list(product(self._lengths(), self.alphas, self.min_counts, self.class_weights))

    def _least(self) -> float:
        return float(self.best_params_["min_count"])

    def _class_factors(self, totals: NDArray[Any]) -> NDArray[np.float64] | None:
        return self.best_estimator_._class_factors(totals)

    def _choose(
        self,
        codes: NDArray[np.integer],
        *,
        top: int = 1,
        among: NDArray[np.bool_] | None = None,
    ) -> Choice:
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_._choose(codes, top=top, among=among)


def _score(
    scoring: str,
    truth: NDArray[np.int64],
    outcome: NDArray[np.int64],
    weights: NDArray[np.float64] | None,
) -> float:
    """Share of rows, or mean over classes of the share of their rows, that are right."""
    w = np.ones(len(truth)) if weights is None else weights
    right = w * (truth == outcome)
    if scoring == "accuracy":
        return float(right.sum() / w.sum())
    rows, hits = np.bincount(truth, w), np.bincount(truth, right)
    return float((hits[rows > 0] / rows[rows > 0]).mean())
