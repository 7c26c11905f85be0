"""Which question to ask next, so that few answers settle what the person wants to know."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from math import comb
from typing import Literal, TypeAlias

import numpy as np

from rulelens.preference.acceptability import best_positions, expected_jaccard
from rulelens.preference.analytic_center import AnalyticCenter
from rulelens.preference.polytope import TOLERANCE, Interior, Polytope
from rulelens.preference.question_worth import (
    bits_of,
    choice_bits,
    favourites,
    membership_worth,
    order_worth,
    telling_choice,
)
from rulelens.preference.ranking import rank_order
from rulelens.preference.statements import Constraint, Indifferent, Prefer
from rulelens.preference.table import Criteria, FloatArray, IntArray

Goal: TypeAlias = Literal["top_k", "ranking", "best"]
Form: TypeAlias = Literal["pair", "best_of_5", "insert"]
GOALS: tuple[str, ...] = ("top_k", "ranking", "best")
FORMS: tuple[str, ...] = ("pair", "best_of_5", "insert")

ENOUGH = 0.95
"""Expected Jaccard index of the top k above which more answers would change little."""

_POOL = 70


@dataclass(frozen=True, slots=True)
class Question:
    """A question about alternatives, with what is known before it is answered.

    Parameters
    ----------
    a, b : hashable
        "Which is better, a or b?" With form "insert": where does `a` go among b, others?
    others : tuple of hashable
        More alternatives shown, with forms "best_of_5" and "insert".
    form : {"pair", "best_of_5", "insert"}
    information : float
        Bits that the answer is expected to give, at most log2 of the number of answers; NaN if
        it was not computed.
    agreement : float
        Jaccard index of the present top k with the person's own that is to be expected.
    """

    a: Hashable
    b: Hashable
    others: tuple[Hashable, ...] = ()
    form: Form = "pair"
    information: float = float("nan")
    agreement: float = float("nan")

    @property
    def shown(self) -> tuple[Hashable, ...]:
        """The alternatives to show."""
        return self.a, self.b, *self.others

    @property
    def enough(self) -> bool:
        """Whether one may stop: more answers would change little."""
        return self.agreement >= ENOUGH


def contenders(values: FloatArray, draws: FloatArray, k: int) -> IntArray:
    """Positions of the best max(10, 2 k) alternatives under each draw, best first."""
    return best_positions(values, draws, max(10, 2 * k))


def goal_chances(best: IntArray, n: int, goal: Goal) -> FloatArray:
    """How likely each of n alternatives matters for `goal`, given the `contenders`.

    "top_k": its chance to be a contender; "best": to be among the best 3; "ranking": all alike.
    """
    if goal == "ranking":
        return np.ones(n)
    deep = best if goal == "top_k" else best[:, :3]
    return np.bincount(deep.ravel(), minlength=n) / len(best)


def _pool(values: FloatArray, draws: FloatArray, chances: FloatArray, goal: Goal) -> IntArray:
    """Positions worth comparing: the likeliest to matter, or for a ranking an even spread."""
    n = len(values)
    if n <= _POOL:
        return np.arange(n)
    if goal == "ranking":
        order, _ = rank_order(values @ draws.mean(axis=0))
        return np.sort(order[np.linspace(0, n - 1, _POOL).round().astype(np.int64)])
    return np.sort(np.argsort(-chances, kind="stable")[:_POOL])


def best_pair(
    values: FloatArray,
    draws: FloatArray,
    *,
    goal: Goal = "top_k",
    k: int = 5,
    asked: Callable[[int, int], bool] | None = None,
    best: IntArray | None = None,
    noise: FloatArray | None = None,
) -> tuple[int, int, float] | None:
    """Positions of the pair most worth asking about and the bits expected, or None.

    Parameters
    ----------
    asked : callable, optional
        Tells whether a pair is not to be asked again.
    best : int array, optional
        The `contenders`, if they are known already.
    noise : array, shape (s,), optional
        Scale of the noise of answers under each draw, in units of scores.

    Examples
    --------
    >>> draws = np.random.default_rng(0).dirichlet(np.ones(3), 500)
    >>> values = np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 0.1]])
    >>> best_pair(values, draws)[:2]
    (0, 1)
    """
    known = contenders(values, draws, k) if best is None else best
    chances = goal_chances(known, len(values), goal)
    pool = _pool(values, draws, chances, goal)
    scores = draws @ values[pool].T
    if goal == "ranking":
        worth, bits = order_worth(scores, noise)
    else:
        members = known[:, : k if goal == "top_k" else 1]
        worth, bits = membership_worth(scores, (members[:, :, None] == pool).any(axis=1), noise)
    i, j = np.triu_indices(len(pool), 1)
    for pair in np.argsort(-worth, kind="stable"):
        if worth[pair] <= 0:
            return None
        a, b = int(pool[i[pair]]), int(pool[j[pair]])
        if asked is None or not asked(a, b):
            return a, b, float(bits[pair])
    return None


def best_choice_set(
    values: FloatArray,
    draws: FloatArray,
    *,
    goal: Goal = "top_k",
    k: int = 5,
    size: int = 5,
    best: IntArray | None = None,
    skipped: Collection[frozenset[int]] = (),
    noise: FloatArray | None = None,
) -> tuple[IntArray, float]:
    """Set of alternatives to show for "which is best?", and the bits expected of the answer.

    For goal "top_k" the set whose answer tells most about the top k; for the others the set whose
    best member has the largest expected score, which gathers favourites of different weights.

    Parameters
    ----------
    size : int
        Alternatives in the set; all of them if there are fewer.
    best : int array, optional
        The `contenders`, if they are known already.
    skipped : collection of frozensets of int
        Sets of positions not to be shown again. The next best of the same size takes their place;
        where none is left that tells anything, a smaller one of at least 3, or an empty one.
    noise : array, shape (s,), optional
        Scale of the noise of answers under each draw, in units of scores.

    References
    ----------
    Viappiani and Boutilier: Optimal Bayesian recommendation sets (2010), for the latter.

    Examples
    --------
    >>> draws = np.random.default_rng(0).dirichlet(np.ones(4), 500)
    >>> sorted(best_choice_set(np.eye(4), draws)[0].tolist())
    [0, 1, 2, 3]
    >>> len(best_choice_set(np.eye(4), draws, skipped=[frozenset({0, 1, 2, 3})])[0])
    3
    """
    known = contenders(values, draws, k) if best is None else best
    chances = goal_chances(known, len(values), "top_k")
    pool = _pool(values, draws, chances, "top_k")
    scores = draws @ values[pool].T
    members = (known[:, :k, None] == pool).any(axis=1)
    column = {position: i for i, position in enumerate(pool.tolist())}
    passed = {
        frozenset(column[i] for i in shown)
        for shown in skipped
        if len(shown) > 2 and shown <= column.keys()
    }
    size = min(size, len(pool))
    for n_shown in range(size, 2, -1) if passed else (size,):
        if sum(len(shown) == n_shown for shown in passed) == comb(len(pool), n_shown):
            continue
        if goal == "top_k":
            chosen = telling_choice(scores, members, n_shown, passed, noise)
        else:
            chosen = favourites(scores, n_shown, passed)
        bits = choice_bits(scores[:, chosen], noise)
        if bits > 0 or not passed:
            return pool[chosen], bits
    return pool[:0], 0.0


def best_insertion(
    values: FloatArray,
    draws: FloatArray,
    chain: Sequence[int],
    *,
    goal: Goal = "top_k",
    k: int = 5,
    skip: Collection[int] = (),
    best: IntArray | None = None,
) -> tuple[int, float] | None:
    """Alternative whose place in the ranked `chain` is most open, and the bits expected."""
    found = contenders(values, draws, k) if best is None else best
    chances = goal_chances(found, len(values), goal)
    pool = np.setdiff1d(_pool(values, draws, chances, goal), np.r_[list(chain), list(skip)])
    if len(pool) == 0:
        return None
    known = draws @ values[list(chain)].T
    place = np.stack([(known > s[:, None]).sum(axis=1) for s in (draws @ values[pool].T).T])
    bits = np.array([bits_of(np.bincount(p, minlength=1) / len(draws)) for p in place])
    worth = bits * (0.15 + chances[pool])
    pick = int(worth.argmax())
    return (int(pool[pick]), float(bits[pick])) if bits[pick] > 0 else None


def agreement(values: FloatArray, draws: FloatArray, best: IntArray) -> float:
    """Expected Jaccard index of the top k by mean weights with the sets in the rows of `best`."""
    top = rank_order(values @ draws.mean(axis=0))[0][: best.shape[1]]
    return expected_jaccard(top, best)


def decided_pairs(constraints: Iterable[Constraint]) -> set[frozenset[Hashable]]:
    """Pairs that statements settle directly or through a chain of others.

    Examples
    --------
    >>> from rulelens.preference.statements import Ranking, constraints_of
    >>> c = Criteria((1, 2, 3), ("x", "y"), [[1, 0], [0, 1], [1, 1]])
    >>> said = constraints_of([Ranking(((3,), (1,), (2,)))], c)
    >>> decided_pairs(said) == {frozenset(p) for p in [(1, 2), (1, 3), (2, 3)]}
    True
    """
    below: dict[Hashable, set[Hashable]] = {}
    for constraint in constraints:
        match constraint.statement:
            case Prefer(a, b):
                below.setdefault(a, set()).add(b)
            case Indifferent(a, b):
                below.setdefault(a, set()).add(b)
                below.setdefault(b, set()).add(a)
            case _:
                pass
    pairs: set[frozenset[Hashable]] = set()
    for start in below:
        reached: set[Hashable] = set()
        todo = list(below[start])
        while todo:
            other = todo.pop()
            if other not in reached:
                reached.add(other)
                todo.extend(below.get(other, ()))
        pairs |= {frozenset((start, other)) for other in reached if other != start}
    return pairs


def nearest_pair(
    criteria: Criteria,
    polytope: Polytope,
    interior: Interior,
    center: AnalyticCenter,
    decided: set[frozenset[Hashable]],
    *,
    n_top: int = 10,
) -> Question | None:
    """Pair among the `n_top` best whose order is most open: its hyperplane is nearest the centre.

    Distance is measured in the shape of the polytope as seen from the analytic centre (the Hessian
    of its barrier). Pairs with the same criteria, and pairs that all compatible weights order the
    same way, are left out.
    """
    if interior.dimension == 0:
        return None
    order, _ = rank_order(criteria.values @ center.weights)
    best = order[:n_top]
    i, j = np.triu_indices(len(best), 1)
    rows = criteria.values[best[i]] - criteria.values[best[j]]
    inside = rows @ interior.basis
    spread = np.sqrt(np.sum(inside * np.linalg.solve(center.hessian, inside.T).T, axis=1))
    distance = np.full(len(rows), np.inf)
    open_ = spread > TOLERANCE * np.abs(rows).max(axis=1)
    np.divide(np.abs(rows @ center.weights), spread, out=distance, where=open_)
    for pair in np.argsort(distance, kind="stable"):
        if not np.isfinite(distance[pair]):
            return None
        a, b = (criteria.alternatives[best[side[pair]]] for side in (i, j))
        if frozenset((a, b)) in decided:
            continue
        ends = polytope.extent(rows[pair])
        size = TOLERANCE * float(np.abs(rows[pair]).max(initial=0.0))
        if ends is not None and ends[0] < -size and ends[1] > size:
            return Question(a, b)
    return None
