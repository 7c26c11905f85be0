"""Linear programs, solved by HiGHS."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linprog

from rulelens.errors import PreferenceError
from rulelens.preference.table import FloatArray

Bound: TypeAlias = tuple[float | None, float | None]


@dataclass(frozen=True, slots=True, eq=False)
class Optimum:
    """Solution of a linear program: point, value, multipliers of its rows (≥ 0 for `upper`)."""

    point: FloatArray
    value: float
    upper_duals: FloatArray
    equal_duals: FloatArray


def maximize(
    objective: ArrayLike,
    upper: ArrayLike,
    upper_limits: ArrayLike,
    *,
    equal: ArrayLike = (),
    equal_values: ArrayLike = (),
    bounds: Bound | Sequence[Bound] = (None, None),
    unbounded: str = "",
) -> Optimum | None:
    """Maximise objective·x subject to upper·x ≤ upper_limits, equal·x = equal_values, bounds.

    Parameters
    ----------
    unbounded : str
        Message of the error if the objective has no limit, where that has a meaning of its own.

    Returns
    -------
    Optimum or None
        None where no x satisfies the constraints.

    Raises
    ------
    PreferenceError
        The program is unbounded, or the solver gave up.

    Examples
    --------
    >>> maximize([1.0], [[2.0]], [3.0], bounds=(0, None)).value
    1.5
    """
    cost = -np.asarray(objective, dtype=np.float64)
    found = linprog(
        cost,
        A_ub=np.asarray(upper, dtype=np.float64).reshape(-1, len(cost)),
        b_ub=np.asarray(upper_limits, dtype=np.float64),
        A_eq=np.asarray(equal, dtype=np.float64).reshape(-1, len(cost)),
        b_eq=np.asarray(equal_values, dtype=np.float64),
        bounds=bounds,
        method="highs-ds",
    )
    if found.status == 2:
        return None
    if found.status == 3 and unbounded:
        raise PreferenceError(unbounded)
    if found.status != 0:
        raise PreferenceError(
            f"The linear program over the weights was not solved: {found.message} "
            "Check that the criteria have comparable scales, such as [0, 1]."
        )
    point = np.asarray(found.x, dtype=np.float64)
    return Optimum(
        point,
        -float(cost @ point),
        -np.asarray(found.ineqlin.marginals, dtype=np.float64),
        -np.asarray(found.eqlin.marginals, dtype=np.float64),
    )
