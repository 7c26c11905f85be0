"""Which comparison to ask for next."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np

from rulelens.preference.analytic_center import AnalyticCenter
from rulelens.preference.criteria import Criteria
from rulelens.preference.polytope import TOLERANCE, Interior, Polytope
from rulelens.preference.ranking import rank_order
from rulelens.preference.statements import Constraint, Indifferent, Prefer


@dataclass(frozen=True, slots=True)
class Question:
    """Which of `a` and `b` is better?"""

    a: Hashable
    b: Hashable

    @property
    def shown(self) -> tuple[Hashable, ...]:
        """The alternatives to show."""
        return self.a, self.b


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
    np.divide(np.abs(rows @ center.weights), spread, out=distance, where=spread > TOLERANCE)
    for pair in np.argsort(distance, kind="stable"):
        if not np.isfinite(distance[pair]):
            return None
        a, b = (criteria.alternatives[best[side[pair]]] for side in (i, j))
        if frozenset((a, b)) in decided:
            continue
        ends = polytope.extent(rows[pair])
        if ends is not None and ends[0] < -TOLERANCE and ends[1] > TOLERANCE:
            return Question(a, b)
    return None
