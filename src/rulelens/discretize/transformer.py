"""Discretisation as a scikit-learn transformer."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from rulelens.discretize.binning import Method, learn_binning
from rulelens.discretize.reading import read_rows
from rulelens.errors import OptionError
from rulelens.frames import read_labels


class Discretizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turn each feature into the number of its item: the bin of a number, or the level.

    Parameters
    ----------
    method : {"equal_width", "quantile", "mdlp", "incremental"}
        "equal_width": parts of the range. "quantile": about as many rows in each. "mdlp":
        cuts that tell of the class (Fayyad and Irani). "incremental": few cuts of all
        features together that keep rows of different classes apart (Ferrari and Muselli).
        The last two need class labels.
    n_bins : int
        For the first two.

    Attributes
    ----------
    binning_ : Binning
        ``binning_.cuts`` are the cut points; ``binning_.condition(feature, item)`` is the
        condition that an item stands for.
    schema_ : Schema
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"age": [20.0, 40.0, 60.0, None], "city": ["b", "a", "a", "b"]})
    >>> d = Discretizer("equal_width", n_bins=2).fit(X)
    >>> d.transform(X).tolist()
    [[0, 1], [1, 0], [1, 0], [-1, 1]]
    >>> print(d.binning_.condition(0, 1).describe("age"))
    age >= 40
    """

    def __init__(self, method: Method = "quantile", n_bins: int = 4) -> None:
        self.method = method
        self.n_bins = n_bins

    def fit(self, X: object, y: ArrayLike | None = None) -> Self:
        """Learn the cut points.

        Parameters
        ----------
        X : table, shape (n_rows, n_features)
        y : array-like of labels, shape (n_rows,), optional
            Needed by "mdlp" and "incremental".

        Returns
        -------
        self
        """
        table = read_rows(self, X, None)
        if y is None and self.method in ("mdlp", "incremental"):
            raise OptionError(
                f"This Discretizer estimator requires y to be passed, but the target y is None: "
                f"method='{self.method}' needs class labels."
            )
        labels = None if y is None else read_labels(y, table.n_rows)
        self.binning_ = learn_binning(table, labels, method=self.method, n_bins=self.n_bins)
        self.schema_ = table.schema
        return self

    def transform(self, X: object) -> NDArray[np.int32]:
        """Item of each row on each feature.

        Returns
        -------
        array of int32, shape (n_rows, n_features)
            From 0; -1 for a missing value, for a level that training rows did not have, and
            for a feature that tells no training row from another.
        """
        check_is_fitted(self, "binning_")
        return self.binning_.codes(read_rows(self, X, self.schema_))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.transformer_tags.preserves_dtype = []
        tags.target_tags.required = self.method in ("mdlp", "incremental")
        return tags
