"""The border: any table becomes arrays and a schema here, and nowhere else.

pandas, polars and pyarrow tables are read through narwhals, so none of them is imported
unless the caller's own table is one. Numeric columns become float64 with NaN for missing;
the others become codes of their levels, with -1 for missing and ``len(levels)`` for a level
that the schema does not have.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rulelens.core.schema import Feature, Level, Schema, level_key
from rulelens.errors import SchemaError, TableError, did_you_mean

Codes: TypeAlias = NDArray[np.int32]
ColumnData: TypeAlias = NDArray[np.float64] | Codes

MISSING_CODE = -1
_EXACT = 2**53


@dataclass(frozen=True, eq=False)
class Table:
    """Rows as arrays, one a feature of the schema.

    Parameters
    ----------
    schema : Schema
    columns : tuple of arrays, each of shape (n_rows,)
        float64 (NaN: missing) for numeric features; int32 codes for the others.
    n_rows : int
    """

    schema: Schema
    columns: tuple[ColumnData, ...]
    n_rows: int

    def values(self, name: str) -> list[Level | None]:
        """One column as plain values; None for missing and for unknown levels."""
        i = self.schema.index(name)
        feature, column = self.schema[i], self.columns[i]
        if feature.is_numeric:
            return [None if np.isnan(v) else float(v) for v in column]
        levels = (*feature.levels, None)
        return [None if c < 0 else levels[c] for c in column]

    def take(self, rows: NDArray[np.integer] | slice) -> Table:
        """The rows at the given positions."""
        columns = tuple(c[rows] for c in self.columns)
        return Table(self.schema, columns, len(np.arange(self.n_rows)[rows]))


@dataclass(frozen=True, eq=False)
class Labels:
    """Class labels as codes: ``classes[codes[i]]`` is the label of row i."""

    classes: tuple[Level, ...]
    codes: NDArray[np.int64]

    @cached_property
    def _positions(self) -> dict[tuple[str, Level], int]:
        return {level_key(c): i for i, c in enumerate(self.classes)}

    def code_of(self, label: Level) -> int:
        """Code of a label; -1 where it does not occur."""
        return self._positions.get(level_key(label), -1)

    def __len__(self) -> int:
        return len(self.codes)


def read_schema(X: object) -> Schema:
    """Schema of a table: names, kinds and the levels that occur.

    Raises
    ------
    TableError
        No columns, a name twice, a column of dates or of mixed types.

    Examples
    --------
    >>> import pandas as pd
    >>> schema = read_schema(pd.DataFrame({"a b": [1, 2], "ok": [True, False]}))
    >>> [(f.name, f.kind) for f in schema]
    [('a b', 'numeric'), ('ok', 'boolean')]
    """
    return Schema(_feature(name, column) for name, column in _columns(X).items())


def read_table(X: object, schema: Schema | None = None) -> Table:
    """Rows of a table, as arrays in the schema's order.

    Parameters
    ----------
    X : pandas, polars or pyarrow table, numpy array of two dimensions, or list of rows
        A numpy array has no names: its columns are taken in the schema's order, or called
        ``x0``, ``x1``, … where no schema is given. In a table with names, columns are found
        by name, in any order; columns that the schema does not have are not read.
    schema : Schema, optional
        By default the table's own.

    Raises
    ------
    TableError
        A column of the schema is not there, or has another kind.
    """
    if isinstance(X, Table) and (schema is None or X.schema == schema):
        return X  # read already
    columns = _columns(X, None if schema is None else schema.names)
    schema = (
        Schema(_feature(name, column) for name, column in columns.items())
        if schema is None
        else schema
    )
    missing = [f.name for f in schema if f.name not in columns]
    if missing:
        raise TableError(
            f"The table has no column {missing[0]!r}"
            + (f" (and lacks {len(missing) - 1} more)" if len(missing) > 1 else "")
            + f". {did_you_mean(missing[0], columns)}"
        )
    data = tuple(_encode(f, columns[f.name]) for f in schema)
    return Table(schema, data, len(next(iter(columns.values()))))


def read_labels(y: object, n_rows: int | None = None, *, what: str = "y") -> Labels:
    """Class labels of rows, as plain Python values and codes.

    Raises
    ------
    TableError
        Not one label a row, a missing label, or labels that are not text, numbers or booleans.
    """
    if isinstance(y, Labels):
        if n_rows is not None and len(y) != n_rows:
            raise TableError(f"{what} has {len(y)} labels, but there are {n_rows} rows.")
        return y  # read already
    array = _one_dimensional(y, what)
    if array.dtype.kind == "T":
        array = array.astype(object)
    if n_rows is not None and len(array) != n_rows:
        raise TableError(f"{what} has {len(array)} labels, but there are {n_rows} rows.")
    if array.dtype.kind in "biufU":
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            gone = np.flatnonzero(np.isnan(array))
            if len(gone):
                raise _missing_labels(what, len(gone), int(gone[0]))
            raise TableError(f"{what} has infinite labels. Use finite numbers, text or booleans.")
        found, inverse = np.unique(array, return_inverse=True)
        return Labels(tuple(found.tolist()), inverse.astype(np.int64).reshape(-1))
    values = array.tolist()
    for cls in set(map(type, values)):
        if cls.__hash__ is None:
            raise TableError(f"{what} holds a {cls.__name__}. Use text, numbers or booleans.")
    levels = _levels(_distinct(values), what)
    codes = _look_up(values, {level_key(v): i for i, v in enumerate(levels)}, len(levels))
    gone = np.flatnonzero(codes == MISSING_CODE)
    if len(gone):
        raise _missing_labels(what, len(gone), int(gone[0]))
    return Labels(levels, codes.astype(np.int64))


def _missing_labels(what: str, how_many: int, first: int) -> TableError:
    return TableError(
        f"{what} is missing in {how_many} rows, the first of them row {first}. Remove these rows."
    )


# ---------------------------------------------------------------------- columns
def _columns(X: object, names: Sequence[str] | None = None) -> dict[str, Any]:
    """Columns by name: numpy arrays or narwhals series."""
    if isinstance(X, Table):
        raise TableError("These rows were read with another schema. Pass the original table.")
    if hasattr(X, "toarray") and hasattr(X, "tocsr"):
        raise TableError("A sparse matrix is not supported. Pass X.toarray().")
    if type(X).__name__ == "LazyFrame":
        raise TableError("A LazyFrame has no rows yet. Pass X.collect().")
    if isinstance(X, np.ma.MaskedArray):
        raise TableError("A masked array is not supported. Pass X.filled(...) with NaN or a level.")
    if isinstance(X, np.ndarray | list | tuple):
        return _array_columns(X, names)
    names_given = getattr(X, "column_names", getattr(X, "columns", None))
    if isinstance(X, Mapping) or names_given is None:
        names_given = []
    _check_names([n for n in names_given if not hasattr(n, "to_numpy")])
    import narwhals.stable.v1 as nw

    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        raise TableError(
            f"Expected a table (pandas, polars, pyarrow or a two-dimensional numpy array), "
            f"found {type(X).__name__}."
        )
    return _frame_columns(frame, X)


def _array_columns(X: object, names: Sequence[str] | None) -> dict[str, Any]:
    try:
        # A list of rows may mix text and numbers: numpy alone would turn all of it into text.
        array = X if isinstance(X, np.ndarray) else np.array(X, dtype=object)
    except ValueError as e:
        raise TableError(f"The rows differ in length or form: {e}.") from None
    if array.dtype.names is not None:
        raise TableError("A structured array is not supported. Pass pandas.DataFrame(array).")
    if array.ndim != 2:
        raise TableError(
            f"Expected two dimensions (rows and columns), found {array.ndim}. "
            "One row is X.reshape(1, -1)."
        )
    n = array.shape[1]
    if names is not None and len(names) != n:
        raise TableError(
            f"The array has {n} columns, but the rules were made for {len(names)}: "
            f"{', '.join(list(names)[:6])}{', …' if len(names) > 6 else ''}."
        )
    if n == 0:
        raise TableError("The table has no columns.")
    return {name: array[:, i] for i, name in enumerate(names or [f"x{i}" for i in range(n)])}


def _frame_columns(frame: Any, native: Any) -> dict[str, Any]:
    given = list(native.columns) if hasattr(native, "iloc") else frame.columns
    if not given:
        raise TableError("The table has no columns.")
    return {str(name): frame[:, i] for i, name in enumerate(given)}


def _check_names(names: Sequence[object]) -> None:
    seen: set[str] = set()
    for position, name in enumerate(names):
        if isinstance(name, tuple):
            raise TableError(
                f"The column name {name!r} has several levels. Join them into one text first."
            )
        text = str(name)
        if not text or name is None or name != name:
            raise TableError(f"Column {position} has no name. Name it.")
        if text in seen or name in names[:position]:
            raise TableError(f"The column name '{text}' occurs twice. Rename one of them.")
        seen.add(text)


def _one_dimensional(values: object, what: str) -> NDArray[Any]:
    if hasattr(values, "to_pylist"):
        items = values.to_pylist()
        array: NDArray[Any] = np.empty(len(items), dtype=object)
        array[:] = items
    elif isinstance(values, list | tuple):
        try:
            array = np.array(values, dtype=object)
        except ValueError as e:
            raise TableError(f"{what} must have one dimension: {e}.") from None
    else:
        array = np.asarray(values.to_numpy() if hasattr(values, "to_numpy") else values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise TableError(f"{what} must have one dimension, found {array.ndim}.")
    return array


def _plain_value(value: object) -> Level | None:
    """A plain str, bool, int or float; None for every kind of missing."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or (isinstance(value, float) and value != value):
        return None
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, bytes):
        return value.decode("utf-8", errors="replace")
    if type(value).__name__ == "Decimal":
        return float(value)  # type: ignore[arg-type]
    return value  # type: ignore[return-value]  # checked by the caller


# ---------------------------------------------------------------------- kinds
def _kind_of(name: str, column: Any) -> str:
    """numeric, categorical or boolean; an error for a column that is none of them."""
    if isinstance(column, np.ndarray):
        if column.dtype.kind in _KINDS:
            return _KINDS[column.dtype.kind]
        if column.dtype.kind in "mM":
            raise _date_error(name, str(column.dtype))
        if column.dtype.kind == "O":
            return _kind_of_objects(name, column.tolist())
        raise _type_error(name, str(column.dtype))
    import narwhals.stable.v1 as nw

    dtype = column.dtype
    if dtype == nw.Boolean:
        return "boolean"
    if dtype.is_temporal():
        raise _date_error(name, str(dtype))
    if dtype.is_numeric():
        return "numeric"
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        return "categorical"
    if dtype in (nw.Object, nw.Unknown):
        return _kind_of_objects(name, column.to_list())
    raise _type_error(name, str(dtype))


_KINDS = {
    "b": "boolean",
    "i": "numeric",
    "u": "numeric",
    "f": "numeric",
    "U": "categorical",
    "T": "categorical",
}


def _kind_of_objects(name: str, values: list[object]) -> str:
    kinds = set()
    for cls in set(map(type, values)):
        # One value of each type decides, but a NaN says only that a value is missing.
        some = (_plain_value(v) for v in values if type(v) is cls)
        v = next((v for v in some if v is not None), None)
        if v is None:
            continue
        if isinstance(v, bool):
            kinds.add("boolean")
        elif isinstance(v, int | float) or type(v).__name__ == "Decimal":
            kinds.add("numeric")
        elif isinstance(v, str):
            kinds.add("categorical")
        elif type(v).__module__.split(".")[0] in ("datetime", "pandas"):
            raise _date_error(name, type(v).__name__)
        else:
            raise _type_error(name, type(v).__name__)
    if len(kinds) > 1:
        raise TableError(
            f"Feature '{name}' mixes {' and '.join(sorted(kinds))} values. "
            "Make it one kind, for example all text, before you use it."
        )
    return kinds.pop() if kinds else "numeric"


def _date_error(name: str, dtype: str) -> TableError:
    return TableError(
        f"Feature '{name}' holds dates or times ({dtype}), which rules cannot use. "
        "Turn it into a number, such as days since a fixed day, or leave it out."
    )


def _type_error(name: str, dtype: str) -> TableError:
    return TableError(
        f"Feature '{name}' has the type {dtype}, which rules cannot use. "
        "Turn it into numbers, text or booleans, or leave it out."
    )


def _feature(name: str, column: Any) -> Feature:
    kind = _kind_of(name, column)
    if kind == "categorical":
        levels = _levels(_distinct(_to_list(column)), f"Feature '{name}'")
        return Feature(name, "categorical", levels)
    return Feature(name, "boolean" if kind == "boolean" else "numeric")


def _to_list(column: Any) -> list[object]:
    out: list[object] = column.tolist() if isinstance(column, np.ndarray) else column.to_list()
    return out


def _levels(values: list[Level], what: str) -> tuple[Level, ...]:
    """Distinct values, sorted within their type."""
    unique = {}
    for v in values:
        if isinstance(v, float) and not np.isfinite(v):
            raise TableError(f"{what} holds {v!r}. Use finite numbers, text or booleans.")
        if not isinstance(v, str | bool | int | float):
            raise TableError(
                f"{what} holds a {type(v).__name__} value. Use text, numbers or booleans."
            )
        unique[level_key(v)] = v
    return tuple(unique[k] for k in sorted(unique))


def _encode(feature: Feature, column: Any) -> ColumnData:
    if feature.is_numeric:
        return _encode_numbers(feature, column)
    return _encode_levels(feature, column)


def _encode_numbers(feature: Feature, column: Any) -> NDArray[np.float64]:
    kind = _kind_of(feature.name, column)
    if kind == "categorical":
        raise TableError(
            f"Feature '{feature.name}' is numeric, but the table has text in it. "
            "Turn the column into numbers."
        )
    if isinstance(column, np.ndarray) and column.dtype.kind in "biuf":
        array = column
    elif isinstance(column, np.ndarray) or not column.dtype.is_numeric():
        values = [_plain_value(v) for v in _to_list(column)]
        whole = [v for v in values if isinstance(v, int)]
        if whole:
            _check_exact(feature.name, min(whole), max(whole))
        array = np.array([np.nan if v is None else float(v) for v in values], dtype=np.float64)
    else:
        import narwhals.stable.v1 as nw

        if column.dtype.is_integer():
            present = column.drop_nulls()
            if len(present):
                _check_exact(feature.name, present.min(), present.max())
        array = column.cast(nw.Float64).to_numpy()
    if array.dtype.kind in "iu" and len(array):
        _check_exact(feature.name, array.min(), array.max())
    out: NDArray[np.float64] = np.array(array, dtype=np.float64)
    return out


def _check_exact(name: str, low: object, high: object) -> None:
    for value in (low, high):
        if abs(int(value)) > _EXACT:  # type: ignore[call-overload]
            raise TableError(
                f"Feature '{name}' holds whole numbers beyond 2**53, which cannot be told "
                "apart as numbers. Turn the column into text, or leave it out."
            )


def _encode_levels(feature: Feature, column: Any) -> Codes:
    _kind_of(feature.name, column)  # an error for dates and the like
    values = _to_list(column)
    fits = {level_key(v)[0] for v in feature.levels} or {"text"}
    if feature.kind == "boolean":
        fits.add("number")
    for v in _distinct(values):
        kind = level_key(v)[0]
        if kind not in fits:
            known = f" with levels such as {feature.levels[0]!r}" if feature.levels else ""
            raise TableError(
                f"Feature '{feature.name}' is {feature.kind}{known}, but the table has {kind} "
                f"values such as {v!r}. Convert the column."
            )
    positions = {level_key(v): i for i, v in enumerate(feature.levels)}
    if feature.kind == "boolean":
        positions |= {("number", 0): 0, ("number", 1): 1}
    return _look_up(values, positions, len(feature.levels))


def _distinct(values: list[object]) -> list[Level]:
    """The different values that are not missing, in no order; 1 and True both stay."""
    found: Iterable[object] = dict.fromkeys(values)
    if _mixes_booleans(values):
        found = [v for _, v in {(type(v), v) for v in values}]
    return [p for v in found if (p := _plain_value(v)) is not None]


def _look_up(values: list[object], positions: dict[tuple[str, Level], int], unknown: int) -> Codes:
    """Code of each value: -1 for missing, `unknown` where it has no position."""

    def code(value: object) -> int:
        plain = _plain_value(value)
        return MISSING_CODE if plain is None else positions.get(level_key(plain), unknown)

    if _mixes_booleans(values):
        return np.fromiter(map(code, values), np.int32, len(values))
    # Each different value is looked up once; the rest is a plain dictionary's work.
    known = {v: code(v) for v in set(values)}
    return np.fromiter(map(known.__getitem__, values), np.int32, len(values))


def _mixes_booleans(values: list[object]) -> bool:
    """Whether True may stand beside 1, which a set cannot tell apart."""
    types = set(map(type, values))
    return not types.isdisjoint((bool, np.bool_)) and len(types) > 1


def one_row(row: object, schema: Schema) -> dict[str, Level | None]:
    """One row as a mapping from feature name to plain value; None for missing.

    Parameters
    ----------
    row : mapping, pandas Series, table with one row, or sequence of values
        By name where it has names (more names than the schema's are not read); a sequence
        or one-dimensional array goes by position.
    schema : Schema

    Raises
    ------
    TableError
        Not exactly one row, or a feature is not there.
    """
    if isinstance(row, list | tuple) and len(row) == 1 and isinstance(row[0], list | tuple):
        row = row[0]
    if isinstance(row, Mapping):
        _check_names(list(row))
        given = {str(k): v for k, v in row.items()}
    elif hasattr(row, "to_dict") and hasattr(row, "index") and getattr(row, "ndim", 0) == 1:
        _check_names(list(row.index))
        given = {str(k): v for k, v in row.to_dict().items()}
    elif (hasattr(row, "shape") and len(row.shape) == 2) or hasattr(row, "columns"):
        columns = _columns(row, schema.names)
        lengths = {len(c) for c in columns.values()}
        if lengths != {1}:
            raise TableError(f"Expected one row, found {max(lengths)}. Pass a single row.")
        given = {k: _to_list(c)[0] for k, c in columns.items()}
    elif isinstance(row, Sequence | np.ndarray) and not isinstance(row, str | bytes):
        if len(row) != len(schema):
            raise TableError(f"The row has {len(row)} values; expected {len(schema)}.")
        given = dict(zip(schema.names, list(row), strict=True))
    else:
        raise TableError(
            f"Expected one row (a mapping, a Series, a table of one row or a sequence), "
            f"found {type(row).__name__}."
        )
    missing = [n for n in schema.names if n not in given]
    if missing:
        others = [n for n in given if n not in schema]
        raise TableError(
            f"The row has no value for {missing[0]!r}."
            + (f" {did_you_mean(missing[0], others)}" if others else "")
        )
    return {name: _plain_value(given[name]) for name in schema.names}


def plain_rows(X: object, schema: Schema) -> Iterator[dict[str, Level | None]]:
    """Rows of a table as `one_row` gives one, levels that the schema lacks included."""
    columns = _columns(X, schema.names)
    missing = [n for n in schema.names if n not in columns]
    if missing:
        raise TableError(
            f"The table has no column {missing[0]!r}. {did_you_mean(missing[0], columns)}"
        )
    lists = [[_plain_value(v) for v in _to_list(columns[n])] for n in schema.names]
    return (dict(zip(schema.names, row, strict=True)) for row in zip(*lists, strict=True))


def encode_row(row: Mapping[str, Level | None], schema: Schema) -> Table:
    """One row, as `one_row` gives it, as a table of one row."""
    columns: list[ColumnData] = []
    for f in schema:
        value = row[f.name]
        if f.is_numeric:
            if value is not None and (isinstance(value, str) or not np.isscalar(value)):
                raise TableError(f"Feature '{f.name}' is numeric, but the row has {value!r}.")
            if isinstance(value, int):
                _check_exact(f.name, value, value)
            columns.append(np.array([np.nan if value is None else float(value)]))
        else:
            columns.append(_encode_levels(f, np.array([value], dtype=object)))
    return Table(schema, tuple(columns), 1)


__all__ = [
    "MISSING_CODE",
    "Labels",
    "SchemaError",
    "Table",
    "encode_row",
    "one_row",
    "plain_rows",
    "read_labels",
    "read_schema",
    "read_table",
]
