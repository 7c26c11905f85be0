"""Learn how to cut a table into items, by any of the methods."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from rulelens.discretize.cuts import Binning, partly, quantile_cuts
from rulelens.discretize.equal_width import equal_width_cuts
from rulelens.discretize.incremental import incremental_cuts
from rulelens.discretize.mdlp import mdlp_cuts
from rulelens.errors import OptionError, TableError, did_you_mean
from rulelens.frames import Labels, Table

Method: TypeAlias = Literal["equal_width", "quantile", "mdlp", "incremental"]


def learn_binning(
    table: Table,
    labels: Labels | None = None,
    *,
    method: Method = "equal_width",
    n_bins: int = 3,
    missing_items: bool = False,
) -> Binning:
    """Cut points of every numeric feature, from training rows.

    Parameters
    ----------
    table : Table
        Training rows only: cuts learned from other rows would leak them.
    labels : Labels, optional
        Needed by "mdlp" and "incremental".
    method : {"equal_width", "quantile", "mdlp", "incremental"}
    n_bins : int
        For "equal_width" and "quantile"; the other two find their own number.
    missing_items : bool
        Whether "is missing" is an item where training values are missing; otherwise a missing
        value has no item.

    Raises
    ------
    OptionError
        An unknown method, too few bins, or no labels where they are needed.
    TableError
        A numeric feature is infinite somewhere.
    """
    if method not in get_args(Method):
        raise OptionError(f"Unknown method {method!r}. {did_you_mean(method, get_args(Method))}")
    if not isinstance(n_bins, int | np.integer) or n_bins < 2:
        raise OptionError(f"n_bins must be a whole number of at least 2, not {n_bins!r}.")
    numeric = [j for j, f in enumerate(table.schema) if f.is_numeric]
    columns = {j: _finite(table, j) for j in numeric}
    cuts: dict[int, NDArray[np.float64]]
    if method in ("equal_width", "quantile"):
        cut = equal_width_cuts if method == "equal_width" else quantile_cuts
        cuts = {j: cut(columns[j], int(n_bins)) for j in numeric}
    elif labels is None:
        raise OptionError(f"method='{method}' needs class labels. Pass y.")
    elif method == "mdlp":
        k = len(labels.classes)
        cuts = {j: mdlp_cuts(columns[j], labels.codes, k) for j in numeric}
    else:
        others = [c for f, c in zip(table.schema, table.columns, strict=True) if not f.is_numeric]
        cells = None
        if others:
            cells = np.unique(np.stack(others), axis=1, return_inverse=True)[1].reshape(-1)
        found = incremental_cuts([columns[j] for j in numeric], labels.codes, cells=cells)
        cuts = dict(zip(numeric, found, strict=True))
    missing = [
        np.isnan(c) if f.is_numeric else c < 0
        for f, c in zip(table.schema, table.columns, strict=True)
    ]
    none = np.zeros(0)
    return Binning(
        table.schema,
        tuple(cuts.get(j, none) for j in range(len(table.schema))),
        tuple(missing_items and bool(m.any()) for m in missing),
        tuple(not missing_items and partly(m) for m in missing),
    )


def _finite(table: Table, j: int) -> NDArray[np.float64]:
    column = np.asarray(table.columns[j], dtype=np.float64)
    rows = np.flatnonzero(np.isinf(column))
    if len(rows):
        raise TableError(
            f"Feature '{table.schema[j].name}' is infinite in {len(rows)} rows, the first of them "
            f"row {rows[0]}. Replace these values, or make them missing."
        )
    return column
