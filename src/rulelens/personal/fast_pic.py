"""FastPIC: the same rules as exact PIC, from counts made once."""

from __future__ import annotations

import warnings
from os import PathLike
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from rulelens.bits.cube import Cube, CubeShape, bytes_text, estimate_bytes
from rulelens.discretize.binning import Method
from rulelens.errors import OptionError, RulelensWarning, SizeError, TableError, did_you_mean
from rulelens.frames import Labels, Table, read_labels
from rulelens.personal.accuracy import Choice
from rulelens.personal.base import ClassWeight, PersonalClassifier, is_number
from rulelens.personal.ranked_cube import ORDER_BYTES, RankedCube

STORAGES = ("auto", "dense", "sparse")


class FastPIC(PersonalClassifier):
    """PIC from a table of counts of all sets of items: exact, and fast for many rows.

    Gives the same rule as ``PIC(search="exact")`` for every row. Fitting counts every set of
    at most `max_length` items once; a prediction then costs the same however many training
    rows there were. Counts can grow (`partial_fit`), shrink (`forget`) and be joined
    (`merge`).

    Parameters
    ----------
    max_length, alpha, n_bins, discretizer, min_count, class_weight, smoothing
        As in `PIC`.
    storage : {"auto", "dense", "sparse"}
        "dense" has a count for every set of items, "sparse" for those that occur; "auto" takes
        the first of the two that fits.
    memory_limit : int
        Bytes. A table that may take more is refused before any work.

    Attributes
    ----------
    cube_ : Cube
        The counts.
    classes_, schema_, binning_, class_counts_, n_features_in_, feature_names_in_
        As in `PIC`.

    References
    ----------
    The paper on personalised interpretable classification, algorithm 3.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> iris = load_iris(as_frame=True)
    >>> clf = FastPIC(max_length=2).fit(iris.data, iris.target)
    >>> rules = clf.explain(iris.data.iloc[[0, 120]])
    >>> print(rules.rules)
    0: IF petal length (cm) < 2.9 THEN 0
    1: IF petal length (cm) >= 4.93 AND petal width (cm) >= 1.7 THEN 2
    >>> rules.to_frame()[["row", "outcome", "precision", "recall", "length"]].round(2)
       row  outcome  precision  recall  length
    0    0        0       1.00     1.0       1
    1    1        2       0.98     0.8       2
    """

    def __init__(
        self,
        max_length: int = 3,
        alpha: float = 0.9,
        *,
        n_bins: int = 3,
        discretizer: Method = "equal_width",
        min_count: int = 1,
        class_weight: ClassWeight = None,
        smoothing: float = 1.0,
        storage: Literal["auto", "dense", "sparse"] = "auto",
        memory_limit: int = 1 << 30,
    ) -> None:
        self.max_length = max_length
        self.alpha = alpha
        self.n_bins = n_bins
        self.discretizer = discretizer
        self.min_count = min_count
        self.class_weight = class_weight
        self.smoothing = smoothing
        self.storage = storage
        self.memory_limit = memory_limit

    # ------------------------------------------------------------------ learning
    def fit(self, X: object, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the bins and count all sets of items.

        Parameters
        ----------
        X : table, shape (n_rows, n_features)
            pandas, polars, pyarrow or numpy; numbers, text and booleans.
        y : array-like of labels, shape (n_rows,)
        sample_weight : array-like of float, shape (n_rows,), optional

        Returns
        -------
        self

        Raises
        ------
        SizeError
            The table of counts may take more than `memory_limit`.
        """
        table, labels, weights = self._read_training(X, y, sample_weight, reset=True)
        self._learn_items(table, labels)
        self._start(table.n_rows)
        return self._keep(self._count(table, labels, weights))

    def partial_fit(
        self,
        X: object,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Count more rows. The first call also learns the bins, which then stay.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        classes : array-like of labels, optional
            All classes, if the first rows do not have every one of them.

        Warns
        -----
        RulelensWarning
            Later rows have levels that the first rows lacked: these are no items.
        """
        if not hasattr(self, "cube_"):
            table, labels, weights = self._read_training(X, y, sample_weight, reset=True)
            if classes is not None:
                every = read_labels(classes, what="classes")
                labels = _among(labels, every)
            self._learn_items(table, labels)
            self._start(table.n_rows)
            return self._keep(self._count(table, labels, weights))
        table, labels, weights = self._read_training(X, y, sample_weight, reset=False)
        new = [
            f.name
            for f, c in zip(table.schema, table.columns, strict=True)
            if not f.is_numeric and (c >= len(f.levels)).any()
        ]
        if new:
            warnings.warn(
                f"Levels that the first rows lacked are no items and are not counted: in "
                f"{', '.join(new)}. Fit anew to use them.",
                RulelensWarning,
                stacklevel=2,
            )
        return self._keep(self._grown(self._count(table, labels, weights)))

    def forget(self, X: object, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Take rows out of the counts, as if they had never been given; the bins stay.

        Raises
        ------
        TableError
            Some of the rows were never counted.
        """
        check_is_fitted(self, "cube_")
        table, labels, weights = self._read_training(X, y, sample_weight, reset=False)
        return self._keep(self.cube_.minus(self._count(table, labels, weights)))

    def merge(self, other: FastPIC) -> Self:
        """Add the counts of a classifier with the same bins and classes, such as another site's.

        Raises
        ------
        TableError
            The bins or classes differ.
        """
        check_is_fitted(self, "cube_")
        check_is_fitted(other, "cube_")
        same = (
            self.schema_ == other.schema_
            and self.classes_.tolist() == other.classes_.tolist()
            and all(
                np.array_equal(a, b)
                for a, b in zip(self.binning_.cuts, other.binning_.cuts, strict=True)
            )
        )
        if not same:
            raise TableError(
                "The two classifiers have other features, bins or classes. Let both start from "
                "one fitted classifier (copy.deepcopy), and count each part with partial_fit."
            )
        return self._keep(self._grown(other.cube_))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted classifier to an npz file, without training rows; see `load`."""
        from rulelens.personal.storage import save_fast_pic

        check_is_fitted(self, "cube_")
        save_fast_pic(self, path)

    @staticmethod
    def load(path: str | PathLike[str]) -> FastPIC:
        """Read a classifier that `save` wrote. Nothing in the file is executed."""
        from rulelens.personal.storage import load_fast_pic

        return load_fast_pic(path)

    def _start(self, n_rows: int) -> None:
        """Choose how counts are stored, or refuse."""
        if not is_number(self.memory_limit):
            raise OptionError(f"memory_limit is a number of bytes, not {self.memory_limit!r}.")
        if self.storage not in STORAGES:
            raise OptionError(
                f"Unknown storage {self.storage!r}. {did_you_mean(self.storage, STORAGES)}"
            )
        sizes, k = self.binning_.sizes, len(self.classes_)
        if not CubeShape(tuple(sizes), self.max_length).can_be_numbered(k):
            raise SizeError(
                f"Counts of all sets of up to {self.max_length} conditions on {len(sizes)} "
                "features: a set has more combinations than 64 bits can number. Use "
                "PIC(search='exact'), which gives the same rules without a table, or a smaller "
                "max_length."
            )
        dense = estimate_bytes(sizes, self.max_length, k, beside=ORDER_BYTES)
        sparse = estimate_bytes(sizes, self.max_length, k, n_rows=n_rows, beside=ORDER_BYTES)
        needed = {"auto": min(dense, sparse), "dense": dense, "sparse": sparse}[self.storage]
        if needed > self.memory_limit:
            raise SizeError(
                f"Counts of all sets of up to {self.max_length} conditions on {len(sizes)} "
                f"features would take up to {bytes_text(needed)}; memory_limit is "
                f"{bytes_text(self.memory_limit)}. Use PIC(search='exact'), which gives the "
                "same rules without a table, or a smaller max_length, or raise memory_limit."
            )
        self._sparse = self.storage == "sparse" or (
            self.storage == "auto" and dense > self.memory_limit
        )

    def _grown(self, more: Cube) -> Cube:
        """The counts with others added; a sparse table may outgrow the limit."""
        cube = self.cube_.plus(more)
        needed = cube.counts.nbytes + (8 + ORDER_BYTES) * cube.counts.shape[1]
        if self._sparse and needed > self.memory_limit:
            raise SizeError(
                f"With these rows the table of counts would take {bytes_text(needed)}; "
                f"memory_limit is {bytes_text(self.memory_limit)}. The counts are as before. "
                "Raise memory_limit with set_params, or use PIC(search='exact'), which needs no "
                "table."
            )
        return cube

    def _count(self, table: Table, labels: Labels, weights: NDArray[np.float64] | None) -> Cube:
        return Cube.count(
            self.binning_.codes(table),
            self.binning_.sizes,
            self._codes_of_labels(labels),
            len(self.classes_),
            max_length=self._length,
            weights=weights,
            sparse=self._sparse,
        )

    def _keep(self, cube: Cube) -> Self:
        self.cube_ = cube
        self.class_counts_ = cube.totals
        self.ranked_ = RankedCube.of(cube, self._yardstick(cube.totals))
        return self

    def _choose(
        self,
        codes: NDArray[np.integer],
        *,
        top: int = 1,
        among: NDArray[np.bool_] | None = None,
    ) -> Choice:
        # Options that were set since then hold, as in PIC; the counts do not depend on them.
        ranked, yardstick = self.ranked_, self._yardstick(self.class_counts_, among)
        if not yardstick.same_order(ranked.yardstick):
            ranked = RankedCube.of(self.cube_, yardstick)
        return ranked.choose(codes, top=top)


def _among(labels: Labels, every: Labels) -> Labels:
    """The same labels as positions among all classes."""
    codes: Any = np.array([every.code_of(c) for c in labels.classes], dtype=np.int64)
    if (codes < 0).any():
        unknown = labels.classes[int((codes < 0).argmax())]
        raise TableError(
            f"The class {unknown!r} is not in classes. {did_you_mean(unknown, every.classes)}"
        )
    return Labels(every.classes, codes[labels.codes])
