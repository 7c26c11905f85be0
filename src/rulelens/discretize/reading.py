"""Rows for estimators: any table, with scikit-learn's checks of shape and names."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from rulelens.core.schema import Schema
from rulelens.errors import TableError
from rulelens.frames import Table, read_table


def read_rows(estimator: BaseEstimator, X: object, schema: Schema | None) -> Table:
    """Rows of a table with names, or of anything that is an array.

    Parameters
    ----------
    estimator : estimator
        Gets ``n_features_in_`` and, where there are names, ``feature_names_in_`` if `schema`
        is None, that is, in fit; later tables are compared with them.
    X : table
    schema : Schema or None

    Raises
    ------
    TableError
        No rows, or what `rulelens.frames.read_table` refuses.
    """
    reset = schema is None
    if hasattr(X, "tocsr") or not (hasattr(X, "columns") or hasattr(X, "column_names")):
        array: Any = X if hasattr(X, "tocsr") else np.asarray(X)
        if isinstance(X, list | tuple):
            array = _as_plain_array(np.array(X, dtype=object))
        return read_table(_check(estimator, array, reset, is_array=True), schema)
    _check(estimator, X, reset, is_array=False)
    table = read_table(X, schema)
    if not table.n_rows:
        raise TableError(
            f"Found array with 0 sample(s) (shape=(0, {len(table.schema)})) while a minimum "
            "of 1 is required."
        )
    return table


def _check(estimator: BaseEstimator, X: object, reset: bool, *, is_array: bool) -> Any:
    """scikit-learn's checks, by the names that they have in its releases before and from 1.6."""
    try:
        from sklearn.utils.validation import validate_data
    except ImportError:
        if is_array:
            return estimator._validate_data(
                X, dtype=None, force_all_finite="allow-nan", reset=reset
            )
        return estimator._validate_data(X, reset=reset, cast_to_ndarray=False)
    if is_array:
        return validate_data(estimator, X, dtype=None, ensure_all_finite="allow-nan", reset=reset)
    return validate_data(estimator, X, skip_check_array=True, reset=reset)


def _as_plain_array(array: NDArray[Any]) -> NDArray[Any]:
    """Rows of numbers only as a numeric array; mixed rows stay as they are."""
    kinds = {type(v) for v in array.ravel()} if array.ndim == 2 else set()
    if kinds and all(issubclass(k, int | float | np.number) for k in kinds) and bool not in kinds:
        return array.astype(np.float64)
    return array
