"""Rules against rows: which are covered, how many of each class, and what one condition adds."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from rulelens.bits.table import RowLayout, Words, pack_conditions
from rulelens.core.contingency import Contingency
from rulelens.core.ruleset import RuleSet
from rulelens.errors import TableError
from rulelens.frames import Labels, Table

_COLUMN_BYTES = 128 << 20
"""Packed columns of one block of rows take at most about this much."""
_BATCH_BYTES = 1 << 20
"""Working columns of one batch of rules: small enough to stay in cache."""


def coverage(rules: RuleSet, table: Table) -> NDArray[np.bool_]:
    """Which rules cover which rows: bool, shape (n_rows, n_rules)."""
    out = np.empty((table.n_rows, len(rules)), dtype=bool)
    for batch, bits, layout in _rule_columns(rules, table, RowLayout.plain(table.n_rows)):
        real = layout.rows[layout.rows >= 0]
        out[np.ix_(real, batch)] = layout.unpack(bits)[:, real].T
    return out


def class_counts(
    rules: RuleSet, table: Table, codes: NDArray[np.integer], n_classes: int
) -> NDArray[np.int64]:
    """Covered rows of each class: int64, shape (n_rules, n_classes).

    Parameters
    ----------
    rules : RuleSet
    table : Table
    codes : array of int, shape (n_rows,)
        Class of each row, from 0 to ``n_classes - 1``.
    n_classes : int
    """
    out = np.zeros((len(rules), n_classes), dtype=np.int64)
    for batch, bits, layout in _rule_columns(rules, table, RowLayout.by_class(codes, n_classes)):
        out[batch] += layout.class_counts(bits)
    return out


def leave_one_out_counts(
    rules: RuleSet, table: Table, codes: NDArray[np.integer], n_classes: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Covered rows of each class, for each rule and for the rule without each condition.

    Returns
    -------
    full : array of int64, shape (n_rules, n_classes)
    without : array of int64, shape (len(rules.indices), n_classes)
        Entry i belongs to the rule without its condition ``rules.indices[i]``.

    Notes
    -----
    The columns of a rule of m conditions are joined from the left and from the right, so all
    m shortened rules cost O(m), not O(m²).
    """
    full = np.zeros((len(rules), n_classes), dtype=np.int64)
    without = np.zeros((len(rules.indices), n_classes), dtype=np.int64)
    for columns, layout in _row_blocks(rules, table, RowLayout.by_class(codes, n_classes)):
        for length, batch in _batches(rules, layout.n_words, extra=3):
            if not length:
                full[batch] += _real_rows(layout)
                continue
            at = rules.offsets[batch][:, None] + np.arange(length)
            use = rules.indices[at]
            prefix = [columns[use[:, 0]]]
            for j in range(1, length):
                prefix.append(prefix[-1] & columns[use[:, j]])
            full[batch] += layout.class_counts(prefix[-1])
            suffix: Words | None = None
            for j in range(length - 1, -1, -1):
                if j == 0 and suffix is None:
                    without[at[:, 0]] += _real_rows(layout)
                    continue
                if j == 0:
                    assert suffix is not None
                    rest = suffix
                elif suffix is None:
                    rest = prefix[j - 1]
                else:
                    rest = np.bitwise_and(prefix[j - 1], suffix, out=prefix[j - 1])
                without[at[:, j]] += layout.class_counts(rest)
                if j:
                    column = columns[use[:, j]]
                    if suffix is not None:
                        column &= suffix
                    suffix = column
    return full, without


def first_match(rules: RuleSet, table: Table) -> NDArray[np.int64]:
    """Position of the first rule that covers each row, shape (n_rows,); -1 where none does."""
    out = np.full(table.n_rows, -1, dtype=np.int64)
    for columns, layout in _row_blocks(rules, table, RowLayout.plain(table.n_rows)):
        real = layout.rows[layout.rows >= 0]
        for start in range(0, len(rules), 64):
            open_rows = real[out[real] < 0]
            if not len(open_rows):
                break
            part = np.arange(start, min(start + 64, len(rules)))
            hits = layout.unpack(_join(rules, columns, part, layout))[:, open_rows]
            found = hits.any(axis=0)
            out[open_rows[found]] = part[hits[:, found].argmax(axis=0)]
    return out


def contingency(rules: RuleSet, table: Table, labels: Labels) -> Contingency:
    """The four counts of every rule on labelled rows.

    Raises
    ------
    TableError
        No rule's outcome occurs among the labels: they are most likely of another type.
    """
    outcome = outcome_codes(rules, labels)
    counts = class_counts(rules, table, labels.codes, len(labels.classes))
    totals = np.bincount(labels.codes, minlength=len(labels.classes))
    return Contingency.from_class_counts(counts, totals, outcome)


def outcome_codes(rules: RuleSet, labels: Labels) -> NDArray[np.int64]:
    """Each rule's outcome as a code of the labels, shape (n_rules,); -1 where it is not there."""
    codes = np.array([labels.code_of(c) for c in rules.outcomes], dtype=np.int64)
    if len(rules) and len(labels) and (codes < 0).all():
        raise TableError(
            f"None of the rules' outcomes {list(rules.outcomes)!r} occurs among the labels "
            f"{list(labels.classes)!r}. Give labels of the same type and spelling."
        )
    return codes[rules.outcome]


# ---------------------------------------------------------------------- blocks
def _row_blocks(
    rules: RuleSet, table: Table, layout: RowLayout
) -> Iterator[tuple[Words, RowLayout]]:
    """Packed columns of all conditions, for one block of rows after another."""
    step = max(1, _COLUMN_BYTES // (8 * max(1, len(rules.conditions))))
    for first in range(0, layout.n_words, step):
        block = layout.block(first, min(first + step, layout.n_words))
        yield pack_conditions(rules.conditions, table, block), block


def _batches(
    rules: RuleSet, n_words: int, extra: int = 1
) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Positions of rules of one length, in batches whose columns stay in cache."""
    lengths = rules.lengths
    order = np.argsort(lengths, kind="stable")
    values, starts = np.unique(lengths[order], return_index=True)
    ends = np.append(starts, len(order))[1:]
    for length, a, b in zip(values.tolist(), starts, ends, strict=True):
        step = max(1, _BATCH_BYTES // (8 * max(1, n_words) * (length + extra)))
        for i in range(a, b, step):
            yield length, order[i : min(i + step, b)]


def _rule_columns(
    rules: RuleSet, table: Table, layout: RowLayout
) -> Iterator[tuple[NDArray[np.int64], Words, RowLayout]]:
    """Packed columns of rules, batch by batch and block by block of rows."""
    for columns, block in _row_blocks(rules, table, layout):
        for _, batch in _batches(rules, block.n_words):
            yield batch, _join(rules, columns, batch, block), block


def _join(rules: RuleSet, columns: Words, batch: NDArray[np.int64], layout: RowLayout) -> Words:
    """Columns of the given rules: the conjunction of their conditions' columns."""
    sizes = rules.lengths[batch]
    out = np.empty((len(batch), layout.n_words), dtype=np.uint64)
    for length in np.unique(sizes).tolist():
        mine = np.flatnonzero(sizes == length)
        if not length:
            real = (layout.rows >= 0)[None, :]
            out[mine] = np.packbits(real, axis=1, bitorder="little").view(np.uint64)
            continue
        at = rules.offsets[batch[mine]]
        joined = columns[rules.indices[at]]
        for j in range(1, length):
            joined &= columns[rules.indices[at + j]]
        out[mine] = joined
    return out


def _real_rows(layout: RowLayout) -> NDArray[np.int64]:
    """All rows of each class in the layout, shape (n_classes,)."""
    edges = layout.bounds * 64
    real = np.concatenate([[0], np.cumsum(layout.rows >= 0)])
    counts: NDArray[np.int64] = real[edges[1:]] - real[edges[:-1]]
    return counts
