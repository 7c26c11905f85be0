"""The analytic centre: the weights that are, in product, farthest from every constraint."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from rulelens.errors import PreferenceError
from rulelens.preference.polytope import Interior
from rulelens.preference.table import FloatArray

_MAX_STEPS = 200


@dataclass(frozen=True, slots=True, eq=False)
class AnalyticCenter:
    """Analytic centre of a polytope and the shape of the barrier there.

    Parameters
    ----------
    weights : array, shape (m,)
    offset : array, shape (k,)
        The same point as z in `Interior`: weights = center + basis·offset.
    hessian : array, shape (k, k)
        Second derivative of the barrier at the centre; its inverse is the shape of the polytope
        as seen from there.
    """

    weights: FloatArray
    offset: FloatArray
    hessian: FloatArray


def analytic_center(interior: Interior) -> AnalyticCenter:
    """Minimise -Σ log(slack) over the polytope by damped Newton from its Chebyshev centre.

    The minimum is unique, so the same statements give the same weights. A constraint that follows
    from others still pushes the centre a little; one said twice does not.

    Raises
    ------
    PreferenceError
        Newton did not converge: the polytope is too thin for double precision.

    References
    ----------
    Boyd and Vandenberghe, Convex Optimization, sections 8.5.3 and 9.6.

    Examples
    --------
    >>> from rulelens.preference.polytope import Polytope
    >>> analytic_center(Polytope.simplex(4).interior()).weights.round(6)
    array([0.25, 0.25, 0.25, 0.25])
    """
    rows, k = interior.rows, interior.dimension
    z = np.zeros(k)
    if k == 0:
        return AnalyticCenter(interior.center, z, np.zeros((0, 0)))
    slack = interior.slack.copy()
    for _ in range(_MAX_STEPS):
        scaled = rows / slack[:, None]
        gradient = scaled.sum(axis=0)
        hessian = scaled.T @ scaled
        factor = cho_factor(hessian, check_finite=False)
        step = -cho_solve(factor, gradient, check_finite=False)
        decrement = float(np.sqrt(max(-gradient @ step, 0.0)))
        if decrement < 1e-9:
            break
        # Self-concordance: this step never leaves the polytope, and needs no line search.
        z += step if decrement < 0.25 else step / (1.0 + decrement)
        slack = interior.slack - rows @ z
    else:
        raise PreferenceError(
            f"The analytic centre was not found in {_MAX_STEPS} steps (decrement {decrement:.1e}): "
            "what was stated leaves almost no weights. Withdraw a statement, or use 'max_eps'."
        )
    weights = np.maximum(interior.center + interior.basis @ z, 0.0)
    return AnalyticCenter(weights / weights.sum(), z, hessian)
