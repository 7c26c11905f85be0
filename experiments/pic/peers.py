"""The peers: plain classifiers on the same items, each with the length of its rules."""

from __future__ import annotations

import numpy as np
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from rulelens.bits.cube import Cube
from rulelens.bits.lattice import ItemTable


def one_hot(train: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Items as 0/1 columns; a missing item is a level of its own."""
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False, dtype=np.float32)
    return encoder.fit_transform(train), encoder.transform(test)


def tree(train: np.ndarray, y: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, float]:
    """Unpruned decision tree; its rule of a row is the path to the leaf."""
    a, b = one_hot(train, test)
    model = DecisionTreeClassifier(random_state=0).fit(a, y)
    path = np.asarray(model.decision_path(b).sum(axis=1)).ravel() - 1
    return model.predict(b), float(path.mean())


def neighbours(train: np.ndarray, y: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, float]:
    """Three nearest rows by the number of items that differ."""
    model = KNeighborsClassifier(3, metric="hamming", algorithm="brute")
    model.fit(train[:20000], y[:20000])
    return model.predict(test), float("nan")


def cba(train: np.ndarray, y: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, float]:
    """Classification based on associations: class rules of up to 3 items, support 1 %,
    confidence 50 %, in CBA's order; a rule stays if it decides an open row rightly; the list
    ends where its error with the default class is least.
    """
    k = int(y.max()) + 1
    sizes = [int(max(train[:, j].max(), test[:, j].max())) + 1 for j in range(train.shape[1])]
    cube = Cube.count(train, sizes, y, k, max_length=3)
    covered = cube.counts.sum(axis=0)
    outcome, tp = cube.counts.argmax(axis=0), cube.counts.max(axis=0)
    rules = np.flatnonzero((tp >= 0.01 * len(y)) & (2 * tp >= covered))
    subset = np.searchsorted(cube.offsets, rules, side="right") - 1
    order = np.lexsort((subset, -tp[rules], -tp[rules] / covered[rules]))
    rules, subset = rules[order], subset[order]
    # The items of each rule, from its number within its set of features.
    members: list[list[tuple[int, int]]] = []
    for cell, s in zip(rules - cube.offsets[subset], subset, strict=True):
        items = []
        for j in reversed(cube.shape.subsets[s]):
            cell, item = divmod(int(cell), sizes[j])
            items.append((j, item))
        members.append(items)
    items = ItemTable.from_codes(train, sizes, np.zeros(len(y), dtype=int), 1)
    real = items.layout.rows
    mine = np.full((k, len(real)), False)
    for c in range(k):
        mine[c, real >= 0] = (y == c)[real[real >= 0]]
    by_class = np.packbits(mine, axis=1, bitorder="little").view(np.uint64)
    left = np.packbits(real >= 0, bitorder="little").view(np.uint64)
    kept: list[int] = []
    errors: list[int] = []
    defaults: list[int] = []
    wrong = 0
    for r, parts in enumerate(members):
        hit = left.copy()
        for j, item in parts:
            hit &= items.columns[items.first[j] + item]
        right = int(np.bitwise_count(hit & by_class[outcome[rules[r]]]).sum())
        if not right:
            continue
        kept.append(r)
        wrong += int(np.bitwise_count(hit).sum()) - right
        left &= ~hit
        rest = np.bitwise_count(left & by_class).sum(axis=1)
        defaults.append(int(rest.argmax()))
        errors.append(wrong + int(rest.sum() - rest.max()))
        if not left.any():
            break
    default = int(np.bincount(y).argmax())
    if kept:
        end = int(np.argmin(errors)) + 1
        kept, default = kept[:end], defaults[end - 1]
    answer = np.full(len(test), default)
    length = np.zeros(len(test))
    open_ = np.ones(len(test), dtype=bool)
    for r in kept:
        hit = open_.copy()
        for j, item in members[r]:
            hit &= test[:, j] == item
        answer[hit], length[hit] = outcome[rules[r]], len(members[r])
        open_ &= ~hit
    return answer, float(length.mean())


def ripper(train: np.ndarray, y: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, float]:
    """RIPPER of the package wittgenstein, which learns two classes; needs the extra `rules`.

    As in Cohen (1995), rules are learned for the rarest class against all others, then for the
    next among the rows that are left, and the most frequent class is the default.
    """
    import pandas as pd
    import wittgenstein

    names = [f"x{j}" for j in range(train.shape[1])]
    a, b = (pd.DataFrame(part, columns=names).astype(str) for part in (train, test))
    counts = np.bincount(y)
    *rarer, default = [c for c in np.argsort(counts, kind="stable").tolist() if counts[c]]
    answer, lengths = np.full(len(test), default), []
    left, open_ = np.ones(len(y), dtype=bool), np.ones(len(test), dtype=bool)
    for c in rarer:
        mine = y[left] == c
        if not mine.any() or mine.all():
            continue
        model = wittgenstein.RIPPER(random_state=0)
        model.fit(a[left].assign(outcome=mine), class_feat="outcome", pos_class=True)
        hit = open_ & np.asarray(model.predict(b), dtype=bool)
        answer[hit] = c
        open_ &= ~hit
        left[left] = ~np.asarray(model.predict(a[left]), dtype=bool)
        lengths += [len(r.conds) for r in model.ruleset_.rules]
    return answer, float(np.mean(lengths)) if lengths else 0.0
