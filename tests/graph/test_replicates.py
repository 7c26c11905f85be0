"""Counts of resamples by one matrix product, against counting each resample anew."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rulelens.frames import Labels, read_labels, read_table
from rulelens.graph.relevance import ConditionCounts
from rulelens.graph.replicates import RuleCells, shortened_rules


@settings(max_examples=80, deadline=None)
@given(data=st.data(), seed=st.integers(0, 100))
def test_counts_of_resamples_are_those_of_the_resampled_rows(data, seed, cases):
    case = data.draw(cases())
    rules = case.rules
    if len(rules) and all(r.outcome not in case.y for r in rules):
        rules = rules[:0]
    table, labels = read_table(case.X, rules.schema), read_labels(case.y)
    rng = np.random.default_rng(seed)
    n = len(labels)
    draws = [rng.integers(n, size=n) for _ in range(3)]
    replicates = [(rows, rng.permutation(labels.codes)[rows]) for rows in draws]
    cells = RuleCells.of(rules, table, labels)
    for (rows, codes), counts in zip(replicates, cells.counts(replicates), strict=True):
        expected = ConditionCounts.of(rules, table.take(rows), Labels(labels.classes, codes))
        for name in ("full", "without", "owner", "feature", "totals", "outcome"):
            assert np.array_equal(getattr(counts, name), getattr(expected, name)), name


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_variants_are_the_rules_and_the_shortened_rules(data, cases):
    rules = data.draw(cases()).rules
    variants, full, without = shortened_rules(rules)
    texts = [r.antecedent() for r in variants]
    assert len(set(texts)) == len(texts)
    expected = [r.without(name).antecedent() for r in rules for name in r.features]
    assert [texts[i] for i in without] == expected
    assert [texts[i] for i in full] == [r.antecedent() for r in rules]
