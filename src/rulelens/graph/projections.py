"""From rules to links between features: how P and q become an adjacency matrix."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from rulelens.core.registry import Registry
from rulelens.errors import OptionError, RulelensWarning

Floats: TypeAlias = NDArray[np.float64]
Projection: TypeAlias = Callable[[Floats, Floats], Floats]

PROJECTIONS: Registry[Projection] = Registry("projection", "rulelens.projections", OptionError)
"""Projections by name: P (n_rules, n_features), q (n_rules,) → links, (n_features, n_features)."""

_BLOCK = 1 << 21
_ROUNDING = 1e-13
_LARGEST_LOG = 500.0
ONLY_SHARES = "Links are so large that only their shares are known."
"""What `joint` warns of where it gives links up to a scale."""


@PROJECTIONS.register("joint")
def joint(P: Floats, q: Floats) -> Floats:
    """The paper's projection: a[i, j] = 1 - Π_k (1 - P[k, i]·P[k, j]·q[k]).

    A link is strong as soon as one good rule needs both features. The diagonal is what a
    feature does by itself. Sums of ``log1p`` keep weak links exact among many rules.

    A factor can leave [0, 1] where a relevance exceeds 1, as lift does. The plain product is
    then used, with a warning: links may be negative, and their shares say little.

    Parameters
    ----------
    P : array, shape (n_rules, n_features)
    q : array, shape (n_rules,)

    Returns
    -------
    array, shape (n_features, n_features)
        In [0, 1] unless a factor left it; then up to one positive scale, so that it cannot
        overflow.

    References
    ----------
    C. Sirocchi, D. Verda, Enhancing interpretability of rule-based classifiers through
    feature graphs, equation 3.

    Examples
    --------
    >>> joint(np.array([[0.5, 1.0]]), np.array([1.0])).round(12).tolist()
    [[0.25, 0.5], [0.5, 1.0]]
    """
    d = P.shape[1]
    logs, flips, outside = np.zeros(d * d), np.zeros(d * d), False
    for cell, product, rule in _pairs(P):
        t = product * q[rule]
        outside = outside or bool(((t < 0) | (t > 1)).any())
        above = np.maximum(t - 1, 0)
        with np.errstate(divide="ignore"):  # a term of 1 makes the whole product 0
            log = np.where(above > 0, np.log(above), np.log1p(-np.minimum(t, 1)))
        logs += np.bincount(cell, log, d * d)
        flips += np.bincount(cell, above > 0, d * d)
    if not outside:
        return _mirrored(-np.expm1(logs), d)
    scale = logs.max(initial=0.0)
    warnings.warn(
        "A relevance leaves [0, 1], so that links can be negative and shares say little. "
        + (f"{ONLY_SHARES} " if scale >= _LARGEST_LOG else "")
        + "Use a rule relevance between 0 and 1, such as 'relevance' or 'confidence'.",
        RulelensWarning,
        stacklevel=2,
    )
    sign = np.where(flips % 2, -1.0, 1.0)
    if scale < _LARGEST_LOG:
        return _mirrored(np.where(sign > 0, -np.expm1(logs), 1 + np.exp(logs)), d)
    return _mirrored(np.exp(-scale) - sign * np.exp(logs - scale), d)


@PROJECTIONS.register("simple")
def simple(P: Floats, q: Floats) -> Floats:
    """Simple weighting: a[i, j] = Σ_k P[k, i]·P[k, j]·q[k].

    Many weak rules weigh as much as one strong rule. The diagonal is what a feature does by
    itself, as in `joint`.

    Examples
    --------
    >>> simple(np.array([[0.5, 1.0], [0.5, 0.0]]), np.array([1.0, 1.0])).tolist()
    [[0.5, 0.5], [0.5, 1.0]]
    """
    out: Floats = (P * q[:, None]).T @ P
    return (out + out.T) / 2  # symmetric to the last bit


@PROJECTIONS.register("hyperbolic")
def hyperbolic(P: Floats, q: Floats) -> Floats:
    """Newman's weighting: a rule of m features shares its weight among its m - 1 links each.

    a[i, j] = Σ_k P[k, i]·P[k, j]·q[k]/(m_k - 1) for i ≠ j, where m_k counts the features
    with P[k, ·] ≠ 0. The diagonal holds the rules of one feature, which have no link.

    References
    ----------
    M. E. J. Newman (2001), Scientific collaboration networks II, Physical Review E 64, 016132.

    Examples
    --------
    >>> hyperbolic(np.array([[1.0, 1.0, 1.0], [1.0, 0.0, 0.0]]), np.array([1.0, 0.2])).tolist()
    [[0.2, 0.5, 0.5], [0.5, 0.0, 0.5], [0.5, 0.5, 0.0]]
    """
    sizes = np.count_nonzero(P, axis=1)
    shared, single = sizes > 1, sizes == 1
    out = simple(P[shared], q[shared] / np.maximum(sizes[shared] - 1, 1))
    np.fill_diagonal(out, ((P[single] ** 2) * q[single, None]).sum(axis=0))
    return out


@PROJECTIONS.register("resource_allocation")
def resource_allocation(P: Floats, q: Floats) -> Floats:
    """Resource allocation: what of feature j's resource reaches feature i over the rules.

    With weights e = P·q between rules and features, each feature spreads one unit over its
    rules, and each rule what it got over its features, both in proportion to e:
    a[i, j] = Σ_k e[k, i]·e[k, j]/(Σ_h e[k, h]·Σ_l e[l, j]). Not symmetric: the columns of
    features in use sum to 1.

    References
    ----------
    T. Zhou, J. Ren, M. Medo, Y.-C. Zhang (2007), Bipartite network projection and personal
    recommendation, Physical Review E 76, 046115.

    Examples
    --------
    >>> resource_allocation(np.array([[1.0, 1.0], [1.0, 0.0]]), np.array([1.0, 1.0])).tolist()
    [[0.75, 0.5], [0.25, 0.5]]
    """
    e = P * q[:, None]
    of_rule, of_feature = e.sum(axis=1, keepdims=True), e.sum(axis=0)
    spread = np.divide(e, of_rule, out=np.zeros(e.shape), where=of_rule != 0)
    given = np.divide(e, of_feature, out=np.zeros(e.shape), where=of_feature != 0)
    out: Floats = spread.T @ given
    return out


def _pairs(P: Floats) -> Iterator[tuple[NDArray[np.int64], Floats, NDArray[np.int64]]]:
    """Products P[k, i]·P[k, j] with i <= j, neither of them 0, in blocks.

    Yields
    ------
    cell, product, rule : arrays of one length
        ``cell`` is ``i * n_features + j``.
    """
    d = P.shape[1]
    owner, feature = np.nonzero(P)
    sizes = np.bincount(owner, minlength=len(P))
    first = np.concatenate([[0], np.cumsum(sizes)])
    for size in np.unique(sizes[sizes > 0]).tolist():
        left, right = np.triu_indices(size)
        members = np.flatnonzero(sizes == size)
        step = max(1, _BLOCK // len(left))
        for a in range(0, len(members), step):
            rules = members[a : a + step]
            at = feature[first[rules][:, None] + np.arange(size)]
            i, j = at[:, left], at[:, right]
            product = P[rules[:, None], i] * P[rules[:, None], j]
            yield (i * d + j).ravel(), product.ravel(), np.repeat(rules, len(left))


def _mirrored(upper: Floats, d: int) -> Floats:
    A = upper.reshape(d, d)
    return np.triu(A) + np.triu(A, 1).T


def project(projection: str, P: Floats, q: Floats) -> Floats:
    """Links by a registered projection, before they are shares of 100.

    What is symmetric but for rounding is made symmetric to the last bit: a link would
    otherwise count as two, one for each direction.

    Raises
    ------
    OptionError
        An unknown projection, or one that does not give a finite number for each pair.
    """
    d = P.shape[1]
    given = PROJECTIONS[projection](P, q)
    try:
        A: Floats = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        A = np.empty(0)
    if A.shape != (d, d) or not np.isfinite(A).all():
        found = "values that are not finite" if A.shape == (d, d) else f"the shape {A.shape}"
        raise OptionError(
            f"The projection '{projection}' must give a finite number for each pair of features, "
            f"as an array of shape ({d}, {d}). It gave {found}."
        )
    if np.array_equal(A, A.T):
        return A
    even = np.abs(A - A.T).max(initial=0.0) <= _ROUNDING * np.abs(A).max(initial=0.0)
    return (A + A.T) / 2 if even else A


def normalise(A: Floats) -> Floats:
    """Links as shares of 100; all zeros, with a warning, where there is nothing to share."""
    total = A.sum()
    if total == 0 or not A.size:
        warnings.warn(
            "The feature graph is empty: no rule here has a condition whose removal would "
            "change its counts, or there is no rule. All links are 0.",
            RulelensWarning,
            stacklevel=3,
        )
        return np.zeros(A.shape)
    if total < 0:
        warnings.warn(
            "The links sum to less than 0, so that every sign in the graph is reversed. Use "
            "a rule relevance between 0 and 1, such as 'relevance'.",
            RulelensWarning,
            stacklevel=3,
        )
    out: Floats = A / total * 100.0  # in this order: 100 / total may overflow
    return out
