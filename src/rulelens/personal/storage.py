"""A fitted FastPIC in a file: arrays as npz, the rest as JSON inside it; nothing is executed."""

from __future__ import annotations

import json
import zipfile
import zlib
from os import PathLike
from pathlib import Path
from typing import IO, Any, get_args

import numpy as np
from numpy.typing import NDArray

from rulelens.bits.cube import Cube, CubeShape
from rulelens.core.schema import Feature, Schema
from rulelens.discretize.binning import Method
from rulelens.discretize.cuts import Binning
from rulelens.errors import FormatError, InputError, OutputError, RulelensError
from rulelens.frames import read_labels
from rulelens.personal.base import class_array
from rulelens.personal.fast_pic import STORAGES, FastPIC

FORMAT, VERSION = "rulelens.fast_pic", 1
_ARRAYS = ("counts", "totals", "offsets", "keys", "key_sizes")
# What zipfile, zlib, numpy and json raise for files that are not what they should be: a changed
# byte, a shape of terabytes, brackets nested without end.
_UNREADABLE = (
    KeyError,
    ValueError,
    EOFError,
    OSError,
    AttributeError,
    TypeError,
    NotImplementedError,
    OverflowError,
    MemoryError,
    RecursionError,
    RuntimeError,
    zipfile.BadZipFile,
    zlib.error,
)


def save_fast_pic(classifier: FastPIC, path: str | PathLike[str]) -> None:
    """Write a fitted classifier to a file (``.npz`` is added if the name lacks it).

    Parameters
    ----------
    classifier : FastPIC
        Fitted. Its class labels, features, bins and counts are stored, no training rows.
    path : path

    Raises
    ------
    OutputError
        The file cannot be written.
    """
    cube, params = classifier.cube_, classifier.get_params(deep=False)
    params["max_length"] = classifier._length
    weight = params["class_weight"]
    if weight is not None and not isinstance(weight, str):
        params["class_weight"] = [[_plain(k), float(v)] for k, v in weight.items()]
    header = {
        "format": FORMAT,
        "version": VERSION,
        "params": {k: _plain(v) for k, v in params.items()},
        "features": [
            {"name": f.name, "kind": f.kind, "levels": list(f.levels), "unit": f.unit}
            for f in classifier.schema_
        ],
        "cuts": [c.tolist() for c in classifier.binning_.cuts],
        "classes": classifier.classes_.tolist(),
        "names": [str(n) for n in getattr(classifier, "feature_names_in_", [])] or None,
        "sparse": classifier._sparse,
        "some_lack": list(classifier.binning_.some_lack),
    }
    none = np.zeros(0, dtype=np.int64)
    arrays = {
        "header": np.frombuffer(json.dumps(header, allow_nan=False).encode(), dtype=np.uint8),
        "counts": cube.counts,
        "totals": cube.totals,
        "offsets": cube.offsets,
        "keys": np.concatenate([none, *(k for k in cube.keys if k is not None)]),
        "key_sizes": np.array([-1 if k is None else len(k) for k in cube.keys], dtype=np.int64),
    }
    target = Path(path)
    target = target if target.suffix == ".npz" else target.with_name(target.name + ".npz")
    try:
        with target.open("wb") as file:
            np.savez_compressed(file, allow_pickle=False, **arrays)
    except OSError as e:
        raise OutputError(f"Cannot write {target}: {e.strerror or e}.") from None


def load_fast_pic(path: str | PathLike[str]) -> FastPIC:
    """Read a classifier that `save_fast_pic` wrote; everything in it is checked.

    Raises
    ------
    InputError
        The file cannot be read.
    FormatError
        It is not such a file, or its parts do not fit together.
    """
    try:
        # numpy leaves a file open that it cannot make out.
        with Path(path).open("rb") as raw:
            header, arrays = _parts(raw, path)
    except OSError as e:
        raise InputError(f"Cannot read {path}: {e.strerror or e}.") from None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise FormatError(f"{path} is not a saved FastPIC.")
    if header.get("version") != VERSION:
        raise FormatError(
            f"{path} has the format version {header.get('version')!r}; this release reads "
            f"version {VERSION}."
        )
    try:
        return _rebuild(header, arrays)
    except (KeyError, IndexError, TypeError, ValueError, OverflowError, MemoryError) as e:
        if isinstance(e, FormatError):
            raise
        detail = e if isinstance(e, RulelensError) else f"{type(e).__name__} {e}"
        raise FormatError(f"{path} is damaged: {detail}.") from None


def _parts(raw: IO[bytes], path: object) -> tuple[Any, dict[str, NDArray[Any]]]:
    try:
        with np.load(raw, allow_pickle=False) as file:
            header = json.loads(bytes(file["header"]).decode())
            return header, {name: file[name] for name in _ARRAYS}
    except _UNREADABLE as e:
        raise FormatError(f"{path} is not a saved FastPIC, or damaged: {e}.") from None


def _rebuild(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> FastPIC:
    params = dict(header["params"])
    if isinstance(params["class_weight"], list):
        params["class_weight"] = dict(params["class_weight"])
    model = FastPIC(**params)
    model._check_options()
    model._length = model.max_length
    _demand(model.storage in STORAGES and model.discretizer in get_args(Method), "known options")
    _demand(_is_count(model.memory_limit) and _is_count(model.n_bins), "options as numbers")
    _demand(all(isinstance(f["levels"], list) for f in header["features"]), "lists of levels")
    _demand(all(isinstance(f["unit"], str | None) for f in header["features"]), "units as text")
    features = [
        Feature(f["name"], f["kind"], tuple(f["levels"]), f["unit"]) for f in header["features"]
    ]
    model.schema_ = Schema(features)
    cuts = tuple(np.array(c, dtype=np.float64) for c in header["cuts"])
    _demand(len(cuts) == len(features), "one list of cuts a feature")
    _demand(
        all(c.ndim == 1 and np.isfinite(c).all() and (c[1:] > c[:-1]).all() for c in cuts),
        "increasing cuts",
    )
    _demand(
        not any(len(c) for c, f in zip(cuts, features, strict=True) if not f.is_numeric),
        "cuts of numbers only",
    )
    lack = header.get("some_lack", [])  # files of the first release have none
    _demand(
        isinstance(lack, list)
        and len(lack) in (0, len(features))
        and all(isinstance(v, bool) for v in lack),
        "whether each feature had missing values",
    )
    model.binning_ = Binning(model.schema_, cuts, (False,) * len(features), tuple(lack))
    labels = header["classes"]
    _demand(
        isinstance(labels, list)
        and len(labels) > 0
        and all(isinstance(c, str | bool | int | float) for c in labels),
        "a list of classes",
    )
    read = read_labels(labels, what="classes")
    _demand(len(read.classes) == len(labels), "classes that differ")
    model.classes_ = class_array(labels)
    _demand(isinstance(header["sparse"], bool), "the form of the table")
    model._sparse = header["sparse"]
    model.n_features_in_ = len(features)
    if header["names"] is not None:
        _demand(header["names"] == [f.name for f in features], "the features' names")
        model.feature_names_in_ = np.array(header["names"], dtype=object)
    return model._keep(_cube(model, arrays))


def _cube(model: FastPIC, arrays: dict[str, NDArray[Any]]) -> Cube:
    """The counts, after a look at every shape and range."""
    # numpy gives the bytes of a part that is no array.
    _demand(all(isinstance(a, np.ndarray) for a in arrays.values()), "arrays of counts")
    counts, totals, offsets, keys, key_sizes = (arrays[n] for n in _ARRAYS)
    shape = CubeShape(tuple(model.binning_.sizes), model.max_length)
    _demand(shape.can_be_numbered(len(model.classes_)), "sets that 64 bits can number")
    n, k = shape.n_subsets(), len(model.classes_)
    _demand(offsets.shape == (n + 1,) and key_sizes.shape == (n,), f"{n} sets of features")
    _demand(
        all(a.dtype == np.int64 for a in (offsets, keys, key_sizes)) and keys.ndim == 1,
        "whole numbers for positions",
    )
    _demand(offsets[0] == 0 and bool((np.diff(offsets) >= 0).all()), "rising offsets")
    _demand(counts.shape == (k, offsets[-1]) and totals.shape == (k,), f"{k} rows of counts")
    _demand(
        counts.dtype == totals.dtype and counts.dtype in (np.int64, np.float64),
        "counts as numbers",
    )
    _demand(
        bool(np.isfinite(counts).all() and (counts >= 0).all() and (totals >= 0).all()),
        "counts that are not negative",
    )
    _demand(
        bool(np.isfinite(totals).all() and (counts <= totals[:, None] * (1 + 1e-9)).all()),
        "no more rows with an item than there are",
    )
    widths = np.diff(offsets)
    _demand(bool((key_sizes >= -1).all()), "numbers of keys")
    dense = key_sizes < 0
    _demand(
        bool((widths == np.where(dense, shape.cells, key_sizes)).all()), "a count for each cell"
    )
    _demand(int(key_sizes[~dense].sum()) == len(keys), "a key for each sparse count")
    parts: list[NDArray[np.int64] | None] = []
    at = 0
    for size, cells in zip(key_sizes.tolist(), shape.cells.tolist(), strict=True):
        if size < 0:
            parts.append(None)
            continue
        part = keys[at : at + size]
        at += size
        _demand(
            bool((np.diff(part) > 0).all()) and (not size or (part[0] >= 0 and part[-1] < cells)),
            "ascending keys within the cells",
        )
        parts.append(part)
    return Cube(shape, totals, tuple(parts), offsets, counts)


def _demand(holds: bool, expected: str) -> None:
    if not holds:
        raise FormatError(f"The saved FastPIC is damaged: expected {expected}.")


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
