"""The model that is explained: anything that turns rows into class labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rulelens.core.schema import Level, Schema
from rulelens.errors import ModelError, TableError, did_you_mean
from rulelens.frames import Labels, read_labels, read_schema


class BlackBox:
    """A model asked with tables of the kind that it was first shown.

    Parameters
    ----------
    model : object with ``predict``, or callable
        Takes a table and gives one class label a row.
    X : table
        Rows of the kind that the model takes. Names that the model knows
        (``feature_names_in_``) are put into its own order; columns that it does not know are
        left out.

    Attributes
    ----------
    schema : Schema
        The features that the model is given, in its order.
    """

    def __init__(self, model: object, X: object) -> None:
        predict = getattr(model, "predict", None)
        if callable(predict):
            self._predict: Callable[[Any], Any] = predict
        elif callable(model):
            self._predict = model
        else:
            raise ModelError(
                f"A {type(model).__name__} cannot be asked: it has no predict and is not callable. "
                "Give a fitted model, or a function from a table to class labels."
            )
        known = getattr(model, "feature_names_in_", None)
        self._model_names = None if known is None else [str(n) for n in known]
        self._is_array = isinstance(X, np.ndarray | list | tuple)
        self.schema = self._fit_schema(model, X)
        # A scikit-learn model fitted on plain arrays warns about names: give it arrays.
        nameless = hasattr(model, "n_features_in_") and known is None
        self._as_array = nameless and all(f.kind != "categorical" for f in self.schema)
        self._kept = _kind_of_table(X, self.schema)

    def _fit_schema(self, model: object, X: Any) -> Schema:
        if self._is_array:
            width = np.shape(X)[1] if np.ndim(X) == 2 else -1
            if self._model_names is not None and width == len(self._model_names):
                plain = read_schema(X)
                return Schema(
                    replace(f, name=n) for f, n in zip(plain, self._model_names, strict=True)
                )
        schema = read_schema(X)
        if self._model_names is not None:
            lacking = [n for n in self._model_names if n not in schema]
            if lacking:
                raise ModelError(
                    f"The model was fitted with a feature '{lacking[0]}' that the table lacks. "
                    f"{did_you_mean(lacking[0], schema.names)}"
                )
            return Schema(schema[n] for n in self._model_names)
        expected = getattr(model, "n_features_in_", None)
        if expected is not None and int(expected) != len(schema):
            raise ModelError(
                f"The model was fitted on {expected} features, but the table has {len(schema)}. "
                "Give the columns that it was fitted on, without the target."
            )
        return schema

    def labels(self, X: object, n_rows: int) -> Labels:
        """The model's labels of all rows of a table, checked.

        Raises
        ------
        ModelError
            The model is not fitted, or does not give one class label a row.
        """
        return _check_labels(self._ask(self._columns(X)), n_rows)

    def label(self, row: Mapping[str, Level | None]) -> Level:
        """The model's label of one row, given as plain values by name."""
        found = _check_labels(self._ask(self._one(row)), 1)
        answer: Level = found.classes[int(found.codes[0])]
        return answer

    def _ask(self, table: object) -> object:
        try:
            return self._predict(table)
        except (ValueError, AttributeError, TypeError) as e:
            if type(e).__name__ == "NotFittedError":
                raise ModelError("The model is not fitted. Fit it before you explain it.") from e
            e.add_note("This came from the model itself, while Rulelens asked it for predictions.")
            raise

    def _columns(self, X: Any) -> object:
        """The table with the model's columns, in its order, and of the type it takes.

        Always a copy or a view that cannot be written through: a model may change what it gets.
        """
        if self._is_array:
            array = X.copy() if isinstance(X, np.ndarray) else self._from_list(X)
            if array.ndim != 2 or array.shape[1] != len(self.schema):
                raise TableError(
                    f"Expected rows of {len(self.schema)} columns, found shape {array.shape}."
                )
            return array if self._model_names is None else _pandas(array, self._model_names)
        import narwhals.stable.v1 as nw

        frame = nw.from_native(X, eager_only=True)
        names = {str(n): n for n in (X.columns if hasattr(X, "iloc") else frame.columns)}
        missing = [n for n in self.schema.names if n not in names]
        if missing:
            raise TableError(
                f"The table has no column {missing[0]!r}. {did_you_mean(missing[0], names)}"
            )
        wanted = [names[n] for n in self.schema.names]
        # pandas allows names that are no text, which narwhals does not select by.
        chosen: Any = X[wanted].copy() if hasattr(X, "iloc") else frame.select(wanted).to_native()
        return frame_to_array(chosen) if self._as_array else chosen

    def _from_list(self, rows: Any) -> NDArray[Any]:
        """A list of rows as an array; numpy alone would turn mixed values into text."""
        array = np.array(rows, dtype=object)
        return array if self._has_text else array.astype(np.float64)

    @property
    def _has_text(self) -> bool:
        return any(f.kind == "categorical" for f in self.schema)

    def _one(self, row: Mapping[str, Level | None]) -> object:
        values = [row[n] for n in self.schema.names]
        if not (self._is_array or self._as_array):
            return _one_row_frame(self.schema.names, values, self._kept)
        array = self._one_row_array(values)
        names = self._model_names
        return array if names is None or self._as_array else _pandas(array, names)

    def _one_row_array(self, values: Sequence[Level | None]) -> NDArray[Any]:
        """One row of the type of the training array."""
        if isinstance(self._kept, _ArrayKind):
            dtype, missing = self._kept.dtype, self._kept.missing
            if dtype.kind == "O":
                cells = [m if v is None else v for v, m in zip(values, missing, strict=True)]
                return np.array([cells], dtype=object)
            if dtype.kind in "US":
                return np.array([["" if v is None else str(v) for v in values]])
            if dtype.kind in "iub" and None in values:
                dtype = np.dtype(np.float64)
        else:
            dtype = np.dtype(np.float64)
        numbers = np.array([[np.nan if v is None else float(v) for v in values]])
        with np.errstate(over="ignore"):
            whole = dtype.kind not in "iu" or (
                (numbers == np.round(numbers)).all() and (np.abs(numbers) < 2**53).all()
            )
            return numbers.astype(dtype) if whole else numbers


def frame_to_array(native: Any) -> NDArray[np.float64]:
    """A table of numbers and booleans as a float64 array, NaN for missing."""
    from rulelens.frames import read_table

    table = read_table(native)
    columns = []
    for feature, column in zip(table.schema, table.columns, strict=True):
        if feature.is_numeric:
            columns.append(column)
        else:
            columns.append(np.where(column < 0, np.nan, column.astype(np.float64)))
    return np.column_stack(columns)


@dataclass(frozen=True, eq=False)
class _ArrayKind:
    """Type of a training array, and what stands for missing in each column."""

    dtype: np.dtype[Any]
    missing: list[object]


def _kind_of_table(X: Any, schema: Schema) -> Any:
    """What one row must look like to look like the training table; holds no rows."""
    if isinstance(X, np.ndarray):
        objects = X.dtype.kind == "O"
        return _ArrayKind(X.dtype, [_missing_in(c) for c in X.T] if objects else [])
    if isinstance(X, list | tuple):
        array = np.array(X, dtype=object)
        text = any(f.kind == "categorical" for f in schema)
        dtype = np.dtype(object) if text else np.dtype(np.float64)
        return _ArrayKind(dtype, [_missing_in(c) for c in array.T])
    if hasattr(X, "iloc"):
        return {
            str(n): (
                n,
                X[n].dtype,
                _missing_in(X[n].to_numpy()) if X[n].dtype.kind == "O" else None,
            )
            for n in X.columns
        }
    import narwhals.stable.v1 as nw

    return nw.from_native(X, eager_only=True).head(0)


def _missing_in(column: NDArray[Any]) -> object:
    """What stands for missing in a column of objects: models may tell None from NaN."""
    for value in column:
        if value is None or type(value).__name__ == "NAType" or value != value:
            return value
    return np.nan


def _pandas(array: NDArray[Any], names: Sequence[str]) -> object:
    import pandas as pd

    return pd.DataFrame(array, columns=list(names))


def _one_row_frame(names: Sequence[str], values: Sequence[Level | None], kept: Any) -> object:
    """A table of one row, of the same type and column types as the training table."""
    if isinstance(kept, dict):
        import pandas as pd

        columns = [
            _pandas_cell(kept[n][1], kept[n][2], v) for n, v in zip(names, values, strict=True)
        ]
        frame = pd.concat(columns, axis=1)
        frame.columns = pd.Index([kept[n][0] for n in names])
        return frame
    import narwhals.stable.v1 as nw

    series = []
    for name, value in zip(names, values, strict=True):
        dtype = kept.schema[name]
        if isinstance(dtype, nw.Enum) and value not in (None, *dtype.categories):
            dtype = nw.String  # an unseen level must not turn into missing
        if dtype.is_integer() and value is not None and not _fits_whole(value):
            dtype = nw.Float64
        cell = int(value) if dtype.is_integer() and value is not None else value
        if dtype == nw.Categorical:
            plain = nw.new_series(name, [cell], nw.String, backend=kept.implementation)
            series.append(plain.cast(nw.Categorical))
        else:
            series.append(nw.new_series(name, [cell], dtype, backend=kept.implementation))
    return nw.concat([s.to_frame() for s in series], how="horizontal").to_native()


def _fits_whole(value: Level) -> bool:
    return float(value).is_integer() and abs(float(value)) < 2**53


def _pandas_cell(dtype: Any, missing: object, value: Level | None) -> Any:
    import pandas as pd

    extension = pd.api.types.is_extension_array_dtype(dtype)
    if value is None and not extension and dtype.kind in "iub":
        return pd.Series([np.nan], dtype=float)
    if value is None:
        return pd.Series([missing if dtype.kind == "O" and not extension else None], dtype=dtype)
    if isinstance(dtype, pd.CategoricalDtype) and value not in dtype.categories:
        return pd.Series([value], dtype=object)  # an unseen level must not turn into missing
    if pd.api.types.is_integer_dtype(dtype) and not _fits_whole(value):
        return pd.Series([float(value)])
    return pd.Series([value], dtype=object).astype(dtype)


def _check_labels(answer: Any, n_rows: int) -> Labels:
    shape = np.shape(answer)
    if len(shape) == 2 and shape[1] > 1:
        raise ModelError(
            f"The model answered with {shape[1]} numbers a row, as predict_proba does. "
            "Give a function that returns one class label a row."
        )
    if not shape or shape[0] != n_rows:
        found = f"{shape[0]} labels" if shape else f"a single {type(answer).__name__}"
        raise ModelError(f"The model answered with {found} for {n_rows} rows. Expected one a row.")
    try:
        labels = read_labels(answer, n_rows, what="The model's answer")
    except TableError as e:
        raise ModelError(str(e)) from e
    if len({isinstance(c, bool) for c in labels.classes}) > 1 and any(
        not isinstance(c, str | bool) for c in labels.classes
    ):
        raise ModelError(
            f"The model answered with booleans and numbers: {list(labels.classes)!r}. "
            "Give labels of one kind."
        )
    for label in labels.classes:
        if isinstance(label, float) and not label.is_integer():
            raise ModelError(
                f"The model answered with the number {label!r}, which is no class label. "
                "If it gives scores, turn them into labels: lambda X: score(X) >= 0.5."
            )
    return labels
