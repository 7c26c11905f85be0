"""A fitted FastPIC in a file: arrays as npz, the rest as JSON inside it; nothing is executed."""

from __future__ import annotations

import json
import zipfile
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rulelens.bits.cube import Cube, CubeShape
from rulelens.core.schema import Feature, Schema
from rulelens.discretize.cuts import Binning
from rulelens.errors import FormatError, InputError, OutputError, RulelensError
from rulelens.personal.fast_pic import FastPIC

FORMAT, VERSION = "rulelens.fast_pic", 1
_ARRAYS = ("counts", "totals", "offsets", "keys", "key_sizes")


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
        with np.load(path, allow_pickle=False) as file:
            header = json.loads(bytes(file["header"]).decode())
            arrays = {name: file[name] for name in _ARRAYS}
    except OSError as e:
        raise InputError(f"Cannot read {path}: {e.strerror or e}.") from None
    except (KeyError, ValueError, EOFError, zipfile.BadZipFile, AttributeError, TypeError) as e:
        raise FormatError(f"{path} is not a saved FastPIC: {e}.") from None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise FormatError(f"{path} is not a saved FastPIC.")
    if header.get("version") != VERSION:
        raise FormatError(
            f"{path} has the format version {header.get('version')!r}; this release reads "
            f"version {VERSION}."
        )
    try:
        return _rebuild(header, arrays)
    except (KeyError, IndexError, TypeError, ValueError) as e:
        if isinstance(e, FormatError):
            raise
        detail = e if isinstance(e, RulelensError) else f"{type(e).__name__} {e}"
        raise FormatError(f"{path} is damaged: {detail}.") from None


def _rebuild(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> FastPIC:
    params = dict(header["params"])
    if isinstance(params["class_weight"], list):
        params["class_weight"] = dict(params["class_weight"])
    model = FastPIC(**params)
    model._check_options()
    features = [
        Feature(f["name"], f["kind"], tuple(f["levels"]), f["unit"]) for f in header["features"]
    ]
    model.schema_ = Schema(features)
    cuts = tuple(np.array(c, dtype=np.float64) for c in header["cuts"])
    _demand(len(cuts) == len(features), "one list of cuts a feature")
    _demand(all((np.diff(c) > 0).all() for c in cuts), "increasing cuts")
    model.binning_ = Binning(model.schema_, cuts, (False,) * len(features))
    labels = header["classes"]
    kinds = {type(c) for c in labels}
    model.classes_ = np.array(labels, dtype=object if len(kinds) > 1 else None)
    model._sparse = bool(header["sparse"])
    model.n_features_in_ = len(features)
    if header["names"] is not None:
        model.feature_names_in_ = np.array(header["names"], dtype=object)
    return model._keep(_cube(model, arrays))


def _cube(model: FastPIC, arrays: dict[str, NDArray[Any]]) -> Cube:
    """The counts, after a look at every shape and range."""
    counts, totals, offsets, keys, key_sizes = (arrays[n] for n in _ARRAYS)
    shape = CubeShape(tuple(model.binning_.sizes), model.max_length)
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
    widths = np.diff(offsets)
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


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
