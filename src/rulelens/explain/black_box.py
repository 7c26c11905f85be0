"""The model that is explained: anything that turns rows into class labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
        self._dtypes = _dtypes_of(X)

    def _fit_schema(self, model: object, X: Any) -> Schema:
        if self._is_array:
            width = np.asarray(X).shape[1] if np.ndim(X) == 2 else -1
            if self._model_names is not None and width == len(self._model_names):
                plain = read_schema(X)
                from dataclasses import replace

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
        """The table with the model's columns, in its order, and of the type it takes."""
        if self._is_array:
            array = np.asarray(X)
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
        chosen: Any = X[wanted] if hasattr(X, "iloc") else frame.select(wanted).to_native()
        return frame_to_array(chosen) if self._as_array else chosen

    def _one(self, row: Mapping[str, Level | None]) -> object:
        values = [row[n] for n in self.schema.names]
        if self._is_array or self._as_array:
            array = np.array([values], dtype=object)
            if all(f.kind != "categorical" for f in self.schema):
                array = np.array([[np.nan if v is None else float(v) for v in values]])
            elif isinstance(self._dtypes, np.dtype) and self._dtypes.kind == "U":
                array = np.array([["" if v is None else str(v) for v in values]])
            if (
                isinstance(self._dtypes, np.dtype)
                and self._dtypes.kind in "iub"
                and None not in values
            ):
                array = array.astype(self._dtypes)
            names = self._model_names
            return array if names is None or self._as_array else _pandas(array, names)
        return _one_row_frame(self.schema.names, values, self._dtypes)


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


def _dtypes_of(X: Any) -> Any:
    if isinstance(X, np.ndarray | list | tuple):
        return np.asarray(X).dtype
    if hasattr(X, "iloc"):
        return {str(n): (n, X[n].dtype) for n in X.columns}
    import narwhals.stable.v1 as nw

    frame = nw.from_native(X, eager_only=True)
    return frame.head(0)


def _pandas(array: NDArray[Any], names: Sequence[str]) -> object:
    import pandas as pd

    return pd.DataFrame(array, columns=list(names))


def _one_row_frame(names: Sequence[str], values: Sequence[Level | None], kept: Any) -> object:
    """A table of one row, of the same type and column types as the training table."""
    if isinstance(kept, dict):
        import pandas as pd

        columns = [_pandas_cell(kept[n][1], v) for n, v in zip(names, values, strict=True)]
        frame = pd.concat(columns, axis=1)
        frame.columns = pd.Index([kept[n][0] for n in names])
        return frame
    import narwhals.stable.v1 as nw

    series = []
    for name, value in zip(names, values, strict=True):
        dtype = kept.schema[name]
        if isinstance(dtype, nw.Enum | nw.Categorical) or dtype in (nw.Enum, nw.Categorical):
            dtype = nw.String
        if dtype.is_integer() and isinstance(value, float) and not value.is_integer():
            dtype = nw.Float64
        cell = int(value) if dtype.is_integer() and value is not None else value
        series.append(nw.new_series(name, [cell], dtype, backend=kept.implementation))
    return nw.concat([s.to_frame() for s in series], how="horizontal").to_native()


def _pandas_cell(dtype: Any, value: Level | None) -> Any:
    import pandas as pd

    if value is None:
        plain = getattr(dtype, "kind", "O") in "iub" and not pd.api.types.is_extension_array_dtype(
            dtype
        )
        return pd.Series([np.nan], dtype=float) if plain else pd.Series([None], dtype=dtype)
    if isinstance(dtype, pd.CategoricalDtype) and value not in dtype.categories:
        return pd.Series([value], dtype=object)  # an unseen level must not turn into missing
    if pd.api.types.is_integer_dtype(dtype) and not float(value).is_integer():
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
    for label in labels.classes:
        if isinstance(label, float) and not label.is_integer():
            raise ModelError(
                f"The model answered with the number {label!r}, which is no class label. "
                "If it gives scores, turn them into labels: lambda X: score(X) >= 0.5."
            )
    return labels
