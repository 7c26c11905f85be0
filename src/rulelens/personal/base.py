"""What PIC and FastPIC share: reading tables, predicting from chosen rules, explaining."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    assert_all_finite,
    check_is_fitted,
    column_or_1d,
)

from rulelens.core.schema import Level, Schema, level_key
from rulelens.discretize.binning import learn_binning
from rulelens.discretize.cuts import Binning
from rulelens.discretize.reading import read_rows
from rulelens.errors import OptionError, TableError, did_you_mean
from rulelens.frames import Labels, Table, read_labels
from rulelens.personal.accuracy import Choice, Yardstick
from rulelens.personal.records import PersonalRules, personal_rules

ClassWeight = Mapping[Any, float] | str | None


class PersonalClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the two classifiers; see `PIC` and `FastPIC`."""

    schema_: Any
    binning_: Binning
    classes_: NDArray[Any]
    class_counts_: NDArray[Any]
    _length: int  # max_length as it was in fit; other options may be set later

    # ------------------------------------------------------------------ reading
    def _read(self, X: object, *, reset: bool) -> Table:
        return read_rows(self, X, None if reset else self.schema_)

    def _read_training(
        self, X: object, y: ArrayLike, sample_weight: ArrayLike | None, *, reset: bool
    ) -> tuple[Table, Labels, NDArray[np.float64] | None]:
        """Rows, labels and weights; rows of weight 0 are as if they were not there."""
        if y is None:
            raise TableError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y "
                "is None."
            )
        table = self._read(X, reset=reset)
        labels = column_or_1d(np.asarray(y), warn=True)
        if labels.dtype.kind == "f":
            assert_all_finite(labels, input_name="y", estimator_name=type(self).__name__)
        if labels.dtype.kind == "O":
            # Columns of objects, as pandas gives them: text, numbers or both, and missing labels.
            _check_objects(labels)
        else:
            check_classification_targets(labels)
        if len(labels) != table.n_rows:
            raise TableError(
                f"Found input variables with inconsistent numbers of samples: "
                f"[{table.n_rows}, {len(labels)}]"
            )
        if sample_weight is None:
            return table, read_labels(labels), None
        weights = np.asarray(
            _check_sample_weight(sample_weight, np.zeros((table.n_rows, 1)), dtype=np.float64)
        )
        if (weights < 0).any():
            raise TableError("Negative values in data passed to `sample_weight`. Weights are >= 0.")
        if not weights.any():
            raise TableError("Sample weights must contain at least one non-zero number.")
        if weights.max() > 1e300 / len(weights):
            raise TableError(
                f"The sum of the weights may be too large for a number (one is {weights.max()!r}). "
                "Only their ratios matter: divide them by their mean."
            )
        keep = np.flatnonzero(weights > 0)
        table = table.take(keep)
        if reset and len(keep) < len(weights):
            table = with_levels_in_use(table)
        return table, read_labels(labels[keep]), _exactly_summable(weights[keep])

    def _codes(self, X: object) -> NDArray[np.int32]:
        check_is_fitted(self, "binning_")
        if not np.any(self.class_counts_):
            raise TableError(
                "No training rows are left, since all were forgotten, and so there is no rule to "
                "give. Add rows with partial_fit, or fit anew."
            )
        return self.binning_.codes(self._read(X, reset=False))

    # ------------------------------------------------------------------ learning
    def _learn_items(self, table: Table, labels: Labels) -> None:
        """Bins and classes, from training rows only."""
        self._check_options()
        self._length = int(self.max_length)
        self.schema_ = table.schema
        self.classes_ = class_array(labels.classes)
        self.binning_ = learn_binning(table, labels, method=self.discretizer, n_bins=self.n_bins)

    def _check_options(self) -> None:
        if not is_whole(self.max_length) or self.max_length < 1:
            raise OptionError(
                f"max_length must be a whole number of at least 1, not {self.max_length!r}."
            )
        if not (is_number(self.alpha) and 0 <= self.alpha <= 1):
            raise OptionError(f"alpha must lie in [0, 1], not {self.alpha!r}.")
        if not (is_number(self.min_count) and self.min_count >= 1):
            raise OptionError(f"min_count must be at least 1, not {self.min_count!r}.")
        if not (is_number(self.smoothing) and 0 <= self.smoothing < np.inf):
            raise OptionError(f"smoothing must be at least 0, not {self.smoothing!r}.")
        _check_class_weight(self.class_weight)

    def _codes_of_labels(self, labels: Labels) -> NDArray[np.int64]:
        """Labels as positions in `classes_`; an error for a class that was not there."""
        place = {level_key(c): i for i, c in enumerate(self.classes_.tolist())}
        unknown = [c for c in labels.classes if level_key(c) not in place]
        if unknown:
            raise TableError(
                f"The class {unknown[0]!r} was not among those at first. "
                f"{did_you_mean(unknown[0], self.classes_.tolist())} "
                "Name all classes in the first call of partial_fit: classes=[...]."
            )
        by_code = np.array([place[level_key(c)] for c in labels.classes], dtype=np.int64)
        return by_code[labels.codes]

    def _yardstick(self, totals: NDArray[Any], among: NDArray[np.bool_] | None = None) -> Yardstick:
        self._check_options()
        return Yardstick(self.alpha, totals, self._class_factors(totals), self.min_count, among)

    def _class_factors(self, totals: NDArray[Any]) -> NDArray[np.float64] | None:
        return class_factors(self.class_weight, self.classes_, totals)

    @abstractmethod
    def _choose(
        self,
        codes: NDArray[np.integer],
        *,
        top: int = 1,
        among: NDArray[np.bool_] | None = None,
    ) -> Choice:
        """The best rules of rows, of any class or of some."""

    # ------------------------------------------------------------------ answering
    def predict(self, X: object) -> NDArray[Any]:
        """Class of each row: the outcome of its personal rule.

        Parameters
        ----------
        X : table, shape (n_rows, n_features)

        Returns
        -------
        array of labels, shape (n_rows,)
        """
        outcome = self._choose(self._codes(X)).outcome
        labels: NDArray[Any] = self.classes_[outcome]
        return labels

    def predict_proba(self, X: object) -> NDArray[np.float64]:
        """Share of each class among the training rows that the row's rule covers, smoothed.

        ``(covered rows of the class + smoothing·share of the class)/(covered rows + smoothing)``.
        A rule is chosen for recall too, so the most probable class is not always the predicted
        one. For probabilities that match frequencies on new rows, wrap the classifier in
        scikit-learn's CalibratedClassifierCV.

        Returns
        -------
        array of float64, shape (n_rows, n_classes)
            Columns in the order of `classes_`; rows sum to 1.
        """
        choice = self._choose(self._codes(X))
        totals = np.asarray(self.class_counts_, dtype=np.float64)
        factors = self._class_factors(totals)
        counts = np.asarray(choice.counts, dtype=np.float64)
        if factors is not None:
            counts, totals = counts * factors, totals * factors
        prior = totals / totals.sum()
        smoothed: NDArray[np.float64] = counts + max(self.smoothing, 1e-12) * prior
        smoothed /= smoothed.sum(axis=1, keepdims=True)
        return smoothed

    def explain(self, X: object, *, runners_up: int = 0) -> PersonalRules:
        """The personal rule of each row, with its counts and how sure its precision is.

        Parameters
        ----------
        X : table, shape (n_rows, n_features)
        runners_up : int
            How many next best rules to give for each row besides its own. A rule that only
            adds conditions to a better one of the same outcome, and is no more precise, is
            passed over.

        Returns
        -------
        PersonalRules
            ``.rules`` is the set of all of them, which feature graphs and exports take.
        """
        if not is_whole(runners_up) or runners_up < 0:
            raise OptionError(
                f"runners_up must be a whole number of at least 0, not {runners_up!r}."
            )
        codes = self._codes(X)
        return self._records(self._choose(codes, top=runners_up + 1), codes)

    def _records(self, choice: Choice, codes: NDArray[np.integer]) -> PersonalRules:
        classes: list[Level] = self.classes_.tolist()
        return personal_rules(
            choice, codes, self.binning_, classes, self.class_counts_, min_count=self._least()
        )

    def _least(self) -> float:
        return float(self.min_count)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def class_array(classes: Sequence[Level]) -> NDArray[Any]:
    """Labels as an array that keeps the type of each."""
    one_type = len({type(c) for c in classes}) <= 1
    return np.array(classes, dtype=None if one_type else object)


def class_factors(
    given: ClassWeight, classes: NDArray[Any], totals: NDArray[Any]
) -> NDArray[np.float64] | None:
    """Factor of each class, shape (n_classes,); None where all count alike."""
    if given is None:
        return None
    if isinstance(given, str):
        _check_class_weight(given)
        filled = np.maximum(np.asarray(totals, dtype=np.float64), 1e-300)
        return np.where(totals > 0, totals.sum() / (len(totals) * filled), 0.0)
    _check_class_weight(given)
    by_label = {level_key(_plain(c)): float(w) for c, w in given.items()}
    known = {level_key(c) for c in classes.tolist()}
    # A class that is not there may be missing from a fold only; one of another type never comes.
    spelled = {str(c): c for c in classes.tolist()}
    for c in given:
        if level_key(_plain(c)) not in known and str(c) in spelled:
            raise OptionError(
                f"class_weight names {_plain(c)!r}, and the class is {spelled[str(c)]!r}. "
                "Write it as in the labels: text is not a number."
            )
    return np.array([by_label.get(level_key(c), 1.0) for c in classes.tolist()])


def _check_class_weight(given: ClassWeight) -> None:
    if given is None or (isinstance(given, str) and given == "balanced"):
        return
    if not isinstance(given, Mapping):
        raise OptionError(f"class_weight must be None, 'balanced' or a mapping, not {given!r}.")
    for label, weight in given.items():
        if not (is_number(weight) and 0 < weight < np.inf):
            raise OptionError(
                f"class_weight of {_plain(label)!r} must be a number above 0, not {weight!r}."
            )


def is_number(value: object) -> bool:
    """Whether an option is a number; True is none."""
    return isinstance(value, Real) and not isinstance(value, bool)


def is_whole(value: object) -> bool:
    """Whether an option is a whole number; True is none."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _check_objects(labels: NDArray[Any]) -> None:
    """An error for missing labels, for labels of no use, and for fractions, as in regression."""
    found = read_labels(labels)
    if {type(c) for c in found.classes} == {float}:
        check_classification_targets(np.array(found.classes)[found.codes])


def _exactly_summable(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights with 17 to 31 binary digits: around 1, as multiples of 2**-30.

    Sums are then exact in any order, so that taking rows away leaves what would have been
    without them, to the last bit, as long as the total is at most 2**23 times the least weight.
    What a weight becomes depends on itself alone, or it could not be taken away.
    """
    _, exponent = np.frexp(weights)
    unit = np.maximum(np.minimum(-30, exponent - 17), exponent - 31)
    return np.asarray(np.ldexp(np.round(np.ldexp(weights, -unit)), unit), dtype=np.float64)


def with_levels_in_use(table: Table, rows: NDArray[np.integer] | None = None) -> Table:
    """The same table, with only the levels that occur in it, or in some of its rows."""
    features, columns = [], []
    for f, column in zip(table.schema, table.columns, strict=True):
        if f.kind == "categorical":
            seen = column if rows is None else column[rows]
            used = np.unique(seen[(seen >= 0) & (seen < len(f.levels))]).astype(np.int64)
            # Other levels are unknown now; the last place, which -1 finds, is for missing.
            place = np.full(len(f.levels) + 2, len(used), dtype=np.int32)
            place[used] = np.arange(len(used))
            place[-1] = -1
            f = replace(f, levels=tuple(f.levels[i] for i in used.tolist()))
            column = place[column]
        features.append(f)
        columns.append(column)
    return Table(Schema(features), tuple(columns), table.n_rows)


def _plain(value: Any) -> Level:
    out: Level = value.item() if isinstance(value, np.generic) else value
    return out
