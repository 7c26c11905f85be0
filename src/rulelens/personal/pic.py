"""PIC: for each row the best rule, found in the training rows when the row is asked about."""

from __future__ import annotations

from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rulelens.bits.lattice import ItemTable
from rulelens.discretize.binning import Method
from rulelens.errors import OptionError, did_you_mean
from rulelens.personal.accuracy import Choice
from rulelens.personal.base import ClassWeight, PersonalClassifier
from rulelens.personal.row_search import Counter, Found, search_exact, search_greedy

SEARCHES = {"exact": search_exact, "greedy": search_greedy}


class PIC(PersonalClassifier):
    """Personalised interpretable classification: one rule for each row, no table.

    For a row the best rule is the set of at most `max_length` of its own items (a level, or
    the bin of a number) and the class with the highest
    ``alpha·precision + (1 - alpha)·recall`` on the training rows; among equals the shorter
    rule, then the one that covers more rows of its class, then the order of the features.

    Parameters
    ----------
    max_length : int
        Most conditions of a rule.
    alpha : float in [0, 1]
        Weight of precision. The paper's example uses 0.5, which is a poor choice on most
        tables; 0.9 is better, and `PICSearch` finds a good one.
    search : {"exact", "greedy"}
        "exact": the best rule, for certain; the same as `FastPIC`. "greedy": for each class
        grow the best item by the item that raises the accuracy most, while one does.
    n_bins : int
        Bins of a numeric feature, for "equal_width" and "quantile".
    discretizer : {"equal_width", "quantile", "mdlp", "incremental"}
        How numeric features are cut, learned from the training rows.
    min_count : int
        Least number of covered training rows of the rule's class. Where rows have weights, the
        least sum of weights; 1 asks for any covered row, however light.
    class_weight : None, "balanced" or mapping of class to factor
        How much rows of each class count in the precision, for priors other than those of
        the training rows.
    smoothing : float
        Rows' worth of trust that `predict_proba` puts in the classes' overall shares.

    Attributes
    ----------
    classes_ : array of labels, shape (n_classes,)
    schema_ : Schema
    binning_ : Binning
        How numbers become items. A missing value, or a level that training rows did not
        have, is no item.
    class_counts_ : array, shape (n_classes,)
        Training rows (or the sum of their weights) of each class.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    The paper on personalised interpretable classification, algorithms 1 and 2.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> iris = load_iris(as_frame=True)
    >>> clf = PIC(max_length=2).fit(iris.data, iris.target)
    >>> print(clf.explain(iris.data.iloc[:1]).rules[0])
    IF petal length (cm) < 2.9 THEN 0
    """

    def __init__(
        self,
        max_length: int = 3,
        alpha: float = 0.9,
        *,
        search: Literal["exact", "greedy"] = "exact",
        n_bins: int = 3,
        discretizer: Method = "equal_width",
        min_count: int = 1,
        class_weight: ClassWeight = None,
        smoothing: float = 1.0,
    ) -> None:
        self.max_length = max_length
        self.alpha = alpha
        self.search = search
        self.n_bins = n_bins
        self.discretizer = discretizer
        self.min_count = min_count
        self.class_weight = class_weight
        self.smoothing = smoothing

    def fit(self, X: object, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the bins and keep the training rows, packed into bits.

        Parameters
        ----------
        X : table, shape (n_rows, n_features)
            pandas, polars, pyarrow or numpy; numbers, text and booleans.
        y : array-like of labels, shape (n_rows,)
        sample_weight : array-like of float, shape (n_rows,), optional

        Returns
        -------
        self
        """
        if self.search not in SEARCHES:
            raise OptionError(
                f"Unknown search {self.search!r}. {did_you_mean(self.search, SEARCHES)}"
            )
        table, labels, weights = self._read_training(X, y, sample_weight, reset=True)
        self._learn_items(table, labels)
        codes = self.binning_.codes(table)
        items = ItemTable.from_codes(codes, self.binning_.sizes, labels.codes, len(labels.classes))
        self.counter_ = Counter(items, weights)
        self.class_counts_ = self.counter_.totals
        return self

    def _choose(
        self,
        codes: NDArray[np.integer],
        *,
        top: int = 1,
        among: NDArray[np.bool_] | None = None,
    ) -> Choice:
        yardstick = self._yardstick(self.class_counts_, among)
        search = SEARCHES[self.search]
        different, which = np.unique(codes, axis=0, return_inverse=True)
        found = [
            search(self.counter_, row, yardstick, max_length=self._length, top=top)
            for row in different
        ]
        return self._entries([found[i] for i in which.reshape(-1)])

    def _entries(self, found: list[list[Found]]) -> Choice:
        """Found rules as entries; a row without any gets the most frequent class."""
        totals = self.class_counts_
        fallback: Found = ((), int(totals.argmax()), float("nan"), totals)
        flat = [(i, r, f) for i, row in enumerate(found) for r, f in enumerate(row or [fallback])]
        longest = max(1, min(self._length, len(self.schema_)))
        features = np.full((len(flat), longest), -1, dtype=np.int64)
        for e, (_, _, f) in enumerate(flat):
            features[e, : len(f[0])] = f[0]
        return Choice(
            np.array([i for i, _, _ in flat], dtype=np.int64),
            np.array([r for _, r, _ in flat], dtype=np.int64),
            features,
            np.array([f[1] for _, _, f in flat], dtype=np.int64),
            np.array([f[2] for _, _, f in flat], dtype=np.float64),
            np.array([f[3] for _, _, f in flat]).reshape(len(flat), len(totals)),
        )
