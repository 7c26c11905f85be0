"""Weights that put the largest margin between what was ranked (the paper's choice)."""

from __future__ import annotations

import numpy as np

from rulelens.errors import PreferenceError
from rulelens.preference.polytope import Polytope
from rulelens.preference.programs import maximize
from rulelens.preference.table import FloatArray, common_size


def max_epsilon(polytope: Polytope) -> tuple[FloatArray, float] | None:
    """Solve: maximise ε with g·w ≥ ε for every strict row g, on the polytope's other constraints.

    Returns
    -------
    weights : array, shape (m,)
    epsilon : float
        Not positive exactly when the strict statements contradict each other.
        The pair is None if even the ties and bounds contradict each other.

    Raises
    ------
    PreferenceError
        There is no strict statement, so ε has no limit.

    References
    ----------
    PREF-XAI, arXiv 2604.19684, problem (5).

    Examples
    --------
    >>> rows = np.array([[1.0, -1.0, 0.0]])
    >>> w, eps = max_epsilon(Polytope(3, rows, np.zeros((0, 3)), np.zeros((0, 3))))
    >>> w.tolist(), eps
    ([1.0, 0.0, 0.0], 1.0)
    """
    n, strict = polytope.n_weights, polytope.strict
    if len(strict) == 0:
        raise PreferenceError(
            "Method 'max_eps' needs at least one strict statement such as 'a over b': without one "
            "there is no margin to maximise. State one, or use method 'analytic'."
        )
    size = common_size(strict, polytope.weak, polytope.equal)
    strict, weak, equal = strict / size, polytope.weak / size, polytope.equal / size
    best = maximize(
        np.r_[np.zeros(n), 1.0],
        np.vstack(
            [
                np.hstack([-strict, np.ones((len(strict), 1))]),
                np.hstack([-weak, np.zeros((len(weak), 1))]),
            ]
        ),
        np.zeros(len(strict) + len(weak)),
        equal=np.vstack(
            [
                np.r_[np.ones(n), 0.0][None],
                np.hstack([equal, np.zeros((len(equal), 1))]),
            ]
        ),
        equal_values=np.r_[1.0, np.zeros(len(equal))],
        bounds=[(0, None)] * n + [(None, None)],
    )
    if best is None:
        return None
    weights = np.maximum(best.point[:n], 0.0)
    return weights / weights.sum(), float(best.point[n]) * size
