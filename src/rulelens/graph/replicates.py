"""The counts behind P and q for many resamples of the rows, or many shufflings of the labels.

Every rule, and every rule without one condition, is a fixed set of rows; a resample only
changes how often each row counts. Rows that the same sets cover are one cell, and the counts
of all resamples are one product of matrices: cells covered by cells' weights.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from rulelens.bits.coverage import coverage, outcome_codes
from rulelens.core.ruleset import RuleSet
from rulelens.frames import Labels, Table
from rulelens.graph.relevance import ConditionCounts

Ints: TypeAlias = NDArray[np.int64]

_BLOCK_BYTES = 64 << 20
_EXACT_FLOAT32 = 1 << 24
_MAX_REPLICATES = 256


@dataclass(frozen=True, eq=False)
class RuleCells:
    """Rows grouped by the rules, and shortened rules, that cover them.

    Parameters
    ----------
    covered : array of uint8, shape (n_cells, ceil(n_variants / 8))
        Which variants cover each cell, as packed bits. A variant is a distinct set of
        conditions: of a rule, or of a rule without one condition.
    n_variants : int
    cell : array of int64, shape (n_rows,)
    full : array of int64, shape (n_rules,)
        The variant of each rule.
    without : array of int64, shape (n_conditions,)
        The variant of each rule without each of its conditions.
    owner, feature : arrays of int64, shape (n_conditions,)
        See `ConditionCounts`.
    outcome : array of int64, shape (n_rules,)
        Each rule's class as a code of the labels.
    n_classes : int
    """

    covered: NDArray[np.uint8]
    n_variants: int
    cell: Ints
    full: Ints
    without: Ints
    owner: Ints
    feature: Ints
    outcome: Ints
    n_classes: int

    @classmethod
    def of(cls, rules: RuleSet, table: Table, labels: Labels) -> RuleCells:
        """Group the rows of a table."""
        variants, full, without = shortened_rules(rules)
        step = max(8, _BLOCK_BYTES // max(1, table.n_rows) // 8 * 8)
        parts = [
            np.packbits(coverage(variants[a : a + step], table), axis=1, bitorder="little")
            for a in range(0, len(variants), step)
        ]
        signature = np.ascontiguousarray(np.concatenate(parts, axis=1)) if parts else None
        if signature is None or not table.n_rows:
            covered = np.zeros((min(table.n_rows, 1), -(-len(variants) // 8)), np.uint8)
            cell = np.zeros(table.n_rows, np.int64)
        else:
            rows = signature.view(np.dtype((np.void, signature.shape[1])))[:, 0]
            _, first, cell = np.unique(rows, return_index=True, return_inverse=True)
            covered = signature[first]
        return cls(
            covered,
            len(variants),
            cell.astype(np.int64),
            full,
            without,
            np.repeat(np.arange(len(rules)), rules.lengths),
            rules.conditions.feature[rules.indices].astype(np.int64),
            outcome_codes(rules, labels),
            len(labels.classes),
        )

    def counts(self, replicates: Iterable[tuple[Ints, Ints]]) -> Iterator[ConditionCounts]:
        """Counts of each replicate, in turn.

        Parameters
        ----------
        replicates : iterable of (rows, codes)
            Positions of the rows that a replicate has, and the class of each.
        """
        k, n_cells = self.n_classes, len(self.covered)
        size = 4 * k * max(n_cells, self.n_variants, 1)
        block = int(np.clip(_BLOCK_BYTES // size, 1, _MAX_REPLICATES))
        source = iter(replicates)
        while batch := list(islice(source, block)):
            exact = max(len(rows) for rows, _ in batch) < _EXACT_FLOAT32
            dtype = np.float32 if exact else np.float64
            weights = np.empty((n_cells, len(batch), k), dtype=dtype)
            totals = np.empty((len(batch), k), dtype=np.int64)
            for r, (rows, codes) in enumerate(batch):
                at = np.bincount(self.cell[rows] * k + codes, minlength=n_cells * k)
                weights[:, r] = at.reshape(n_cells, k)
                totals[r] = np.bincount(codes, minlength=k)
            counted = self._multiply(weights.reshape(n_cells, len(batch) * k))
            by_replicate = counted.reshape(-1, len(batch), k).transpose(1, 0, 2)
            for r in range(len(batch)):
                one = np.rint(by_replicate[r]).astype(np.int64)
                yield ConditionCounts(
                    one[self.full],
                    one[self.without],
                    self.owner,
                    self.feature,
                    totals[r],
                    self.outcome,
                )

    def _multiply(self, weights: NDArray[np.floating]) -> NDArray[np.floating]:
        """Weighted cells that each variant covers, shape (n_variants, weights' columns)."""
        out = np.zeros((self.n_variants, weights.shape[1]), dtype=weights.dtype)
        if not len(weights):
            return out
        step = max(8, _BLOCK_BYTES // (weights.itemsize * len(weights)) // 8 * 8)
        for a in range(0, self.n_variants, step):
            packed = self.covered[:, a // 8 : -(-min(a + step, self.n_variants) // 8)]
            flags = np.unpackbits(packed, axis=1, bitorder="little")
            flags = flags[:, : self.n_variants - a]
            np.matmul(flags.T.astype(weights.dtype), weights, out=out[a : a + flags.shape[1]])
        return out


def shortened_rules(rules: RuleSet) -> tuple[RuleSet, Ints, Ints]:
    """The distinct sets of conditions of all rules, and of all rules without one condition.

    Returns
    -------
    variants : RuleSet
    full : array of int64, shape (n_rules,)
        Position of each rule among the variants.
    without : array of int64, shape (n_conditions,)
        Position of the rule without each of its conditions.
    """
    lengths = rules.lengths
    widest = int(lengths.max(initial=0))
    n = len(rules)
    # 1. All sets as rows of one matrix, in the order of the rules, -1 behind the last.
    table = np.full((n + len(rules.indices), max(widest, 1)), -1, dtype=np.int64)
    for length in np.unique(lengths[lengths > 0]).tolist():
        mine = np.flatnonzero(lengths == length)
        at = rules.offsets[mine][:, None] + np.arange(length)
        use = rules.indices[at]
        table[mine, :length] = use
        for j in range(length):
            table[n + at[:, j], : length - 1] = np.delete(use, j, axis=1)
    # 2. Each distinct row once.
    distinct, position = np.unique(table, axis=0, return_inverse=True)
    position = position.reshape(-1)
    if not len(table):
        distinct = distinct[:0]
    used = distinct >= 0
    variants = RuleSet.from_arrays(
        rules.schema,
        rules.conditions,
        np.concatenate([[0], np.cumsum(used.sum(axis=1))]),
        distinct[used],
        np.zeros(len(distinct), np.int64),
        outcomes=[0],
    )
    return variants, position[:n].astype(np.int64), position[n:].astype(np.int64)
