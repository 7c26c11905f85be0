"""What scikit-learn's transformers do to columns, each as a function of one feature."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from rulelens.core.schema import Level
from rulelens.errors import UnsupportedModelError
from rulelens.sources.derived import UNSEEN, Derived, Floats, Step
from rulelens.sources.fitted import check_fitted

Columns: TypeAlias = list[Derived]
Levels: TypeAlias = dict[int, list[Level]]


def through(step: Any, columns: Columns, levels: Levels) -> Columns:
    """The columns after a fitted transformer.

    Parameters
    ----------
    step : transformer
    columns : list of Derived
    levels : dict
        Levels that encoders know are added here, by the feature's position, where the
        column has no levels yet.

    Raises
    ------
    UnsupportedModelError
        The step cannot be undone exactly.
    """
    if step is None or (isinstance(step, str) and step == "passthrough"):
        return columns
    if isinstance(step, str) and step == "drop":
        return []
    name = type(step).__name__
    if hasattr(step, "get_support") and callable(step.get_support):
        check_fitted(step, "n_features_in_")
        return [c for c, kept in zip(columns, step.get_support(), strict=True) if kept]
    if name not in _STEPS or not type(step).__module__.startswith("sklearn."):
        raise UnsupportedModelError(
            f"The step {name} cannot be undone exactly. Steps that can: {', '.join(_STEPS)}, and "
            "selections of features."
        )
    return _STEPS[name](step, columns, levels)


def _pipeline(step: Any, columns: Columns, levels: Levels) -> Columns:
    for _, inner in step.steps:
        columns = through(inner, columns, levels)
    return columns


def _union(step: Any, columns: Columns, levels: Levels) -> Columns:
    return [c for _, inner in step.transformer_list for c in through(inner, columns, levels)]


def _column_transformer(step: Any, columns: Columns, levels: Levels) -> Columns:
    check_fitted(step, "transformers_")
    names = getattr(step, "feature_names_in_", None)
    known = [] if names is None else [str(n) for n in names]
    out: Columns = []
    for _, inner, chosen in step.transformers_:
        at = _positions(chosen, known, len(columns))
        if at:
            out += through(inner, [columns[i] for i in at], levels)
    return out


def _positions(chosen: Any, names: list[str], n: int) -> list[int]:
    """Positions of the columns that a slice, a mask, names or positions choose."""
    if isinstance(chosen, slice) and not isinstance(chosen.start or chosen.stop, str):
        return list(range(n))[chosen]
    if isinstance(chosen, slice):
        first = 0 if chosen.start is None else names.index(chosen.start)
        last = n - 1 if chosen.stop is None else names.index(chosen.stop)
        return list(range(first, last + 1))
    items = np.asarray([chosen] if isinstance(chosen, str | int) else list(chosen))
    if items.dtype == bool:
        return np.flatnonzero(items).tolist()
    return [names.index(str(i)) if isinstance(i, str) else int(i) % n for i in items.tolist()]


def _function(step: Any, columns: Columns, levels: Levels) -> Columns:  # noqa: ARG001
    if step.func is not None:
        raise UnsupportedModelError(
            "A FunctionTransformer cannot be undone exactly unless it has no function. Leave it "
            "out, or apply it to the table before."
        )
    return columns


def _each(columns: Columns, step_of: Callable[[int], Step]) -> Columns:
    return [c.then(step_of(j)) for j, c in enumerate(columns)]


def _standard(step: Any, columns: Columns, levels: Levels) -> Columns:  # noqa: ARG001
    check_fitted(step, "n_features_in_")
    shift = step.mean_ if step.with_mean else None
    return _each(columns, lambda j: _affine(shift, step.scale_ if step.with_std else None, j))


def _robust(step: Any, columns: Columns, levels: Levels) -> Columns:  # noqa: ARG001
    check_fitted(step, "n_features_in_")
    shift = step.center_ if step.with_centering else None
    return _each(columns, lambda j: _affine(shift, step.scale_ if step.with_scaling else None, j))


def _max_abs(step: Any, columns: Columns, levels: Levels) -> Columns:  # noqa: ARG001
    check_fitted(step, "scale_")
    if getattr(step, "clip", False):
        return _each(columns, lambda j: lambda v: np.clip(v / float(step.scale_[j]), -1.0, 1.0))
    return _each(columns, lambda j: _affine(None, step.scale_, j))


def _affine(shift: Any, scale: Any, j: int) -> Step:
    """``(v - shift) / scale`` in the scaler's order of operations."""

    def apply(v: Floats) -> Floats:
        if shift is not None:
            v = v - float(shift[j])
        return v if scale is None else v / float(scale[j])

    return apply


def _min_max(step: Any, columns: Columns, levels: Levels) -> Columns:  # noqa: ARG001
    check_fitted(step, "scale_")

    def step_of(j: int) -> Step:
        def apply(v: Floats) -> Floats:
            v = v * float(step.scale_[j]) + float(step.min_[j])
            return np.clip(v, *step.feature_range) if step.clip else v

        return apply

    return _each(columns, step_of)


def _bins(step: Any, columns: Columns, levels: Levels) -> Columns:  # noqa: ARG001
    check_fitted(step, "bin_edges_")
    if step.encode != "ordinal":
        raise UnsupportedModelError(
            f"A KBinsDiscretizer with encode='{step.encode}' cannot be undone to one interval. Use "
            "encode='ordinal'."
        )

    def step_of(j: int) -> Step:
        edges = np.asarray(step.bin_edges_[j][1:-1], dtype=float)

        def apply(v: Floats) -> Floats:
            codes = np.searchsorted(edges, v, side="right").astype(float)
            return np.where(np.isnan(v), np.nan, codes)

        return apply

    return _each(columns, step_of)


def _binarizer(step: Any, columns: Columns, levels: Levels) -> Columns:  # noqa: ARG001
    check_fitted(step, "n_features_in_")
    return [c.then(lambda v: (v > float(step.threshold)).astype(np.float64)) for c in columns]


def _imputer(step: Any, columns: Columns, levels: Levels) -> Columns:
    check_fitted(step, "statistics_")
    mark = step.missing_values
    if not _is_missing_mark(mark):
        raise UnsupportedModelError(
            f"A SimpleImputer that takes {mark!r} for missing cannot be undone. Use NaN."
        )
    out = []
    for column, fill in zip(columns, np.asarray(step.statistics_, dtype=object), strict=True):
        if fill is None or fill != fill:
            if not step.keep_empty_features:
                continue  # the imputer drops a column without any value
            raise UnsupportedModelError("A SimpleImputer with an empty column cannot be undone.")
        out.append(_filled(column, fill))
    return out + _indicator(step.indicator_, columns, levels) if step.add_indicator else out


def _indicator(step: Any, columns: Columns, levels: Levels) -> Columns:  # noqa: ARG001
    """For some of the columns, 1 where the value is missing and 0 elsewhere."""
    check_fitted(step, "features_")
    if not _is_missing_mark(step.missing_values):
        raise UnsupportedModelError(
            f"A MissingIndicator that takes {step.missing_values!r} for missing cannot be undone. "
            "Use NaN."
        )
    out = []
    for f in step.features_.tolist():
        column = columns[f]
        if column.outputs is None:
            out.append(column.then(lambda v: np.isnan(v).astype(np.float64)))
        else:
            out.append(replace(column, outputs=tuple(float(_gone(v)) for v in column.outputs)))
    return out


def _is_missing_mark(mark: Any) -> bool:
    return _gone(mark) or type(mark).__name__ == "NAType"


def _filled(column: Derived, fill: Any) -> Derived:
    if column.outputs is not None:
        return replace(column, outputs=tuple(fill if _gone(v) else v for v in column.outputs))
    if isinstance(fill, str):
        return column  # levels, which the second walk follows
    return column.then(lambda v: np.where(np.isnan(v), float(fill), v))


def _one_hot(step: Any, columns: Columns, levels: Levels) -> Columns:
    check_fitted(step, "categories_")
    drop = step.drop_idx_ if step.drop_idx_ is not None else [None] * len(columns)
    out = []
    for column, categories, dropped, rare in zip(
        columns, step.categories_, drop, _rare(step, columns), strict=True
    ):
        known = np.asarray(categories).tolist()
        places = _places(known, rare)
        joined = rare is not None and step.handle_unknown in ("infrequent_if_exist", "warn")
        unseen = max(places) if joined else None
        for k in range(max(places, default=-1) + 1):
            if dropped is None or k != places[dropped]:
                out.append(_coded(column, known, levels, partial(_is_at, places, unseen, k)))
    return out


def _ordinal(step: Any, columns: Columns, levels: Levels) -> Columns:
    check_fitted(step, "categories_")
    unknown = float(step.unknown_value) if step.unknown_value is not None else math.nan
    out = []
    for column, categories, rare in zip(
        columns, step.categories_, _rare(step, columns), strict=True
    ):
        known = np.asarray(categories).tolist()
        # NaN has a code of its own, None the one of its place.
        gone = [k for k, v in enumerate(known) if _gone(v) and v is not None]
        codes = {k: float(place) for k, place in enumerate(_places(known, rare))}
        codes |= dict.fromkeys(gone, float(step.encoded_missing_value))
        out.append(_coded(column, known, levels, partial(_code_at, codes, unknown)))
    return out


def _rare(step: Any, columns: Columns) -> list[Any]:
    """For each column the levels that an encoder joins, or None."""
    return list(getattr(step, "infrequent_categories_", [None] * len(columns)))


def _places(known: list[Any], rare: Any) -> list[int]:
    """Place of each level in the output: those that are joined have the last one together."""
    joined = set() if rare is None else {_find(v, known) for v in np.asarray(rare).tolist()}
    own = [k for k in range(len(known)) if k not in joined]
    place = {k: i for i, k in enumerate(own)}
    return [place.get(k, len(own)) for k in range(len(known))]


def _is_at(places: list[int], unseen: int | None, k: int, at: int | None) -> float:
    return float((unseen if at is None else places[at]) == k)


def _code_at(codes: dict[int, float], unknown: float, at: int | None) -> float:
    return unknown if at is None else codes.get(at, unknown)


def _coded(
    column: Derived, known: list[Any], levels: Levels, code: Callable[[int | None], float]
) -> Derived:
    """The column coded by the position of each level among those that an encoder knows."""
    if column.outputs is None:
        if column.steps:
            raise UnsupportedModelError(
                "An encoder that follows a scaler cannot be undone. Encode the column itself."
            )
        levels.setdefault(column.source, []).extend(v for v in known if not _gone(v))
        return Derived(column.source)
    return replace(column, outputs=tuple(code(_find(v, known)) for v in column.outputs))


def _find(value: Any, known: list[Any]) -> int | None:
    if value is UNSEEN:
        return None
    for k, v in enumerate(known):
        if (_gone(value) and _gone(v)) or (_is_text(value) == _is_text(v) and value == v):
            return k
    return None


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _gone(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


_STEPS: dict[str, Callable[[Any, Columns, Levels], Columns]] = {
    "ColumnTransformer": _column_transformer,
    "Pipeline": _pipeline,
    "FeatureUnion": _union,
    "FunctionTransformer": _function,
    "SimpleImputer": _imputer,
    "MissingIndicator": _indicator,
    "Binarizer": _binarizer,
    "StandardScaler": _standard,
    "MinMaxScaler": _min_max,
    "MaxAbsScaler": _max_abs,
    "RobustScaler": _robust,
    "KBinsDiscretizer": _bins,
    "OneHotEncoder": _one_hot,
    "OrdinalEncoder": _ordinal,
}
