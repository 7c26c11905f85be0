"""What is said and shown where a search brought no rule: why, and the nearest rules there are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rulelens.bits.lattice import (
    Itemsets,
    ItemTable,
    nearest_itemsets,
    one_pure_itemset,
    qualifying_itemsets,
)

_SHOWN = 5
_COMPARED = 50
_EXCEPTIONS = "has exceptions"
_CONFIDENT = "The nearest rules cover enough rows; the most confident come first."
_WIDEST_PART = 16


@dataclass(frozen=True, slots=True)
class Demands:
    """What a rule must fulfil to qualify.

    Parameters
    ----------
    max_length : int or None
        Most conditions; None for no limit.
    min_support : int
        Least number of rows with the decision that a rule covers.
    min_confidence : float in [0, 1]
    min_confirmation : float in [-1, 1)
    minimal : bool
    time_budget : float
        Seconds that the search had.
    """

    max_length: int | None
    min_support: int
    min_confidence: float
    min_confirmation: float
    minimal: bool
    time_budget: float

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Demands:
        """The demands among the options of an explanation."""
        length = options["max_length"]
        return cls(
            None if length == "auto" else length,
            options["min_support"],
            options["min_confidence"],
            options["min_confirmation"],
            options["minimal"],
            options["time_budget"],
        )

    def shortfalls(self, length: int, tp: int, fp: int, pos: int, neg: int) -> list[str]:
        """What keeps a rule from qualifying; nothing if it does.

        Parameters
        ----------
        length : int
            Number of its conditions.
        tp, fp : int
            Covered rows with the decision, and with another.
        pos, neg : int
            All rows with the decision, and with another.

        Examples
        --------
        >>> Demands(2, 20, 0.9, 0.0, True, 0.5).shortfalls(3, 12, 8, 50, 50)
        ['more than 2 conditions', 'fewer than 20 rows with this decision', 'confidence below 0.9']
        """
        out = []
        if self.max_length is not None and length > self.max_length:
            out.append(f"more than {conditions(self.max_length)}")
        if tp < self.min_support:
            out.append(f"fewer than {rows(self.min_support)} with this decision")
        if tp / max(tp + fp, 1) < self.min_confidence:
            strict = self.min_confidence == 1
            out.append(_EXCEPTIONS if strict else f"confidence below {self.min_confidence}")
        rise = tp / max(pos, 1) - fp / max(neg, 1)
        if self.min_confirmation > -1 and rise <= self.min_confirmation:
            out.append(
                "this decision is no more frequent among its rows than among all"
                if self.min_confirmation == 0
                else f"confirmation not above {self.min_confirmation}"
            )
        return out

    def text(self, pos: int, neg: int) -> str:
        """The demands but the length, after "covers"."""
        strict = self.min_confidence == 1
        out = f"at least {rows(self.min_support)} with this decision" + (
            " and none with another"
            if strict
            else f" at a confidence of at least {self.min_confidence}"
        )
        low, f = self.min_confidence <= pos / (pos + neg), self.min_confirmation
        if f == 0 and low:
            out += " that is higher than the decision's share of all rows"
        elif f > 0 or (low and f > -1):
            out += f", with a confirmation above {f}"
        return out


@dataclass(frozen=True, eq=False)
class Relaxation:
    """What comes of a search that brought no rule.

    Parameters
    ----------
    found : Itemsets
        Empty; or, where the search was cut short, what qualifies all the same.
    nearest : Itemsets
        Rules that do not qualify; empty where `found` is not.
    reason : str
        Why nothing was found; empty where something was.
    """

    found: Itemsets
    nearest: Itemsets
    reason: str


def relax(
    items: ItemTable, codes: NDArray[np.int32], outcome: int, found: Itemsets, demands: Demands
) -> Relaxation:
    """The nearest rules after a search that found none, and the reason in words.

    Nearest is meant in what failed: rules that cover enough rows come by falling confidence;
    where no rule covers enough, those with the confidence come by falling support. After a
    search that was cut short, a rule without exceptions is looked for directly; one that
    qualifies is a result, never a relaxation.

    Parameters
    ----------
    items : ItemTable
    codes : array of int, shape (n_features,)
    outcome : int
    found : Itemsets
        The empty result of `qualifying_itemsets`.
    demands : Demands
    """
    _, chosen = items.of_row(codes)
    if not len(chosen):
        reason = "None of the row's values was seen in training, so no rule covers it."
        return Relaxation(found, found, reason)
    pos = int(items.totals[outcome])
    neg = int(items.totals.sum()) - pos
    cut = found.stop in ("time", "size")
    longer = one_pure_itemset(items, codes, outcome, min_count=demands.min_support)
    if len(longer):
        lacks = demands.shortfalls(longer.length, int(longer.tp[0]), 0, pos, neg)
        if cut and not lacks:
            part = _qualifying_part(items, codes, outcome, longer, demands)
            if len(part):
                part = replace(part, length=found.length, stop=found.stop)
                return Relaxation(part, found, "")
        if cut or any(not text.startswith("more than") for text in lacks):
            longer = _chosen(longer, [])
    # Levels that the search did not finish may hold rules that qualify: none is shown of them.
    limit = max(found.length, 1) if cut else demands.max_length
    near, about = _nearest(items, codes, outcome, limit, demands)
    near = _distinct(items, codes, near)
    head = _head(items, chosen, outcome, found, demands)
    if len(longer):
        head += " The first rule below does, but it is longer."
    elif (
        found.stop == "impossible"
        and len(near)
        and all(
            demands.shortfalls(n, tp, fp, pos, neg) == [_EXCEPTIONS]
            for n, tp, fp in zip(
                near.members.sum(axis=1).tolist(), near.tp.tolist(), near.fp.tolist(), strict=True
            )
        )
    ):
        head += " A lower least confidence admits the nearest rules below."
    return Relaxation(found, _joined(longer, near), f"{head} {about}".rstrip())


def _nearest(
    items: ItemTable, codes: NDArray[np.int32], outcome: int, limit: int | None, demands: Demands
) -> tuple[Itemsets, str]:
    """Rules of up to `limit` conditions that fall short, and what they fall short of."""
    least, confidence = demands.min_support, demands.min_confidence
    near = nearest_itemsets(items, codes, outcome, max_length=limit, min_count=least, top=_COMPARED)
    depth = max(near.length, 1)
    # What has support and confidence can only lack the confirmation.
    if len(near) and demands.min_confirmation > 0:
        pos = max(int(items.totals[outcome]), 1)
        neg = max(int(items.totals.sum()) - pos, 1)
        sure = _all(items, codes, outcome, depth, least, confidence)
        if len(sure):
            rise = sure.tp / pos - sure.fp / neg
            about = "The nearest rules lack the confirmation only."
            return _least(sure, -rise), about + _seen(sure, depth, limit)
    if len(near):
        return near, _CONFIDENT + _seen(near, depth, limit)
    _, chosen = items.of_row(codes)
    most = int(np.bitwise_count(items.sides(chosen, outcome)[0]).sum(axis=1).max())
    about = f"Whatever the confidence, no rule covers so many: {rows(most)} with this decision "
    about += "at most."
    if most:
        sure = _all(items, codes, outcome, depth, 1, confidence)
        if len(sure):
            return _least(sure, -sure.tp), about + (
                " The nearest rules have the confidence; those that cover most come first."
                + _seen(sure, depth, limit)
            )
    near = nearest_itemsets(items, codes, outcome, max_length=limit, top=_COMPARED)
    if len(near):
        about += " None of fewer rows that was looked at has the confidence either; the most "
        about += "confident come first." + _seen(near, depth, limit)
    return near, about


def _seen(sets: Itemsets, depth: int, limit: int | None) -> str:
    """How far was looked for the nearest rules, where that is not as far as was asked for."""
    if sets.stop == "exhausted" or depth == limit:
        return ""
    return f" Rules of up to {conditions(depth)} were compared."


def _all(
    items: ItemTable,
    codes: NDArray[np.int32],
    outcome: int,
    depth: int,
    least: int,
    confidence: float,
) -> Itemsets:
    """Minimal rules with a support and a confidence, whatever their confirmation."""
    return qualifying_itemsets(
        items,
        codes,
        outcome,
        max_length=depth,
        min_count=least,
        min_confidence=confidence,
        min_confirmation=-1.0,
    )


def _least(sets: Itemsets, key: NDArray[Any]) -> Itemsets:
    """Sets by rising key, shorter ones before longer ones."""
    return _chosen(sets, np.lexsort((sets.members.sum(axis=1), key))[:_COMPARED])


def _distinct(items: ItemTable, codes: NDArray[np.int32], sets: Itemsets) -> Itemsets:
    """The first few sets that cover different rows: twins of a rule would fill the list."""
    seen: set[bytes] = set()
    kept: list[int] = []
    of_feature = np.where(codes >= 0, items.first[:-1] + codes, 0)
    for k, inside in enumerate(sets.members):
        covered = np.bitwise_and.reduce(items.columns[of_feature[inside]], axis=0).tobytes()
        if covered not in seen and len(kept) < _SHOWN:
            seen.add(covered)
            kept.append(k)
    return _chosen(sets, kept)


def _chosen(sets: Itemsets, which: list[int] | NDArray[np.int64]) -> Itemsets:
    at = np.asarray(which, dtype=np.int64)
    return replace(sets, members=sets.members[at], tp=sets.tp[at], fp=sets.fp[at])


def _joined(a: Itemsets, b: Itemsets) -> Itemsets:
    return replace(
        b,
        members=np.concatenate([a.members, b.members]),
        tp=np.concatenate([a.tp, b.tp]),
        fp=np.concatenate([a.fp, b.fp]),
    )


def _qualifying_part(
    items: ItemTable, codes: NDArray[np.int32], outcome: int, pure: Itemsets, demands: Demands
) -> Itemsets:
    """What qualifies among the conditions of one rule that qualifies."""
    # A pure set is found without a useless item: where no exception is allowed, it is minimal.
    if demands.min_confidence == 1 or not demands.minimal:
        return pure
    if pure.length > _WIDEST_PART:
        return _chosen(pure, [])
    return qualifying_itemsets(
        items,
        np.where(pure.members[0], codes, -1),
        outcome,
        max_length=demands.max_length,
        min_count=demands.min_support,
        min_confidence=demands.min_confidence,
        min_confirmation=demands.min_confirmation,
    )


def _head(
    items: ItemTable, chosen: NDArray[np.int64], outcome: int, found: Itemsets, demands: Demands
) -> str:
    """Why the search found nothing."""
    pos = int(items.totals[outcome])
    wanted = demands.text(pos, int(items.totals.sum()) - pos)
    if found.stop == "impossible":
        _, others = items.sides(chosen, outcome)
        n = int(np.bitwise_count(np.bitwise_and.reduce(others, axis=0)).sum())
        return (
            f"{n} training row{' falls' if n == 1 else 's fall'} into all the same bins as "
            "this row but decided otherwise, so no rule over these bins is without exception. "
            "More bins may tell the rows apart, but then ask for more covered rows too."
        )
    short = f"No rule of up to {conditions(found.length)} covers {wanted}"
    if found.stop == "time":
        return (
            f"The search was cut short by the time budget of {demands.time_budget} s. {short}; "
            "longer ones were not looked at, and may. A larger budget looks further."
        )
    if found.stop == "size":
        return (
            f"The search was cut short, as longer rules were too many. {short}; longer ones "
            "were not looked at, and may. A higher least support leaves fewer to look at."
        )
    if found.stop == "length":
        return f"{short}."
    return f"No rule over this row's bins covers {wanted}."


def conditions(n: int) -> str:
    """``1 condition``, ``2 conditions``."""
    return f"{n} condition{'' if n == 1 else 's'}"


def rows(n: int) -> str:
    """``1 row``, ``2 rows``."""
    return f"{n:,} row{'' if n == 1 else 's'}"
