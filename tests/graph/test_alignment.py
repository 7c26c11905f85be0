"""Rules of two sets, matched one to one."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rulelens.core.conditions import Interval
from rulelens.core.rule import Rule
from rulelens.core.ruleset import RuleSet
from rulelens.core.schema import Schema
from rulelens.errors import OptionError, TableError
from rulelens.graph.alignment import align_rules

X = np.arange(10.0).repeat(2).reshape(10, 2)


def rules(*pairs, names=("a", "b")):
    return RuleSet.from_rules([Rule(c, o) for c, o in pairs], Schema.numeric(names))


def above(v):
    return Interval(low=v)


def test_each_kind_of_match():
    first = rules(
        ({"a": above(2)}, "yes"),  # the same rule
        ({"a": above(4)}, "no"),  # the same rows by another feature
        ({"a": above(5)}, "yes"),  # overlap
        ({"b": above(8.5)}, "yes"),  # nothing alike
    )
    second = rules(
        ({"b": above(4.5)}, "no"),
        ({"a": above(5), "b": above(6)}, "yes"),
        ({"a": above(2)}, "yes"),
        ({"b": above(8.5)}, "no"),
        names=("b", "a"),
    )
    with pytest.raises(TableError, match="column names"):
        align_rules(first, second, X)
    found = align_rules(first, second, pd.DataFrame(X, columns=["a", "b"]))
    assert [(p.first, p.second, p.kind) for p in found.pairs] == [
        (0, 2, "same rule"),
        (1, 0, "same rows"),
        (2, 1, "overlap"),
        (3, None, "none"),
        (None, 3, "none"),
    ]
    assert found.pairs[2].jaccard == pytest.approx(3 / 4)
    assert found.only_first == (3,)
    assert found.only_second == (3,)
    assert found.count("same rule", "same rows") == 2
    assert found.to_frame()["second"].isna().sum() == 1
    json.dumps(found.to_dict())


def test_without_rows_features_decide():
    first = rules(({"a": above(2)}, "yes"), ({"a": above(2), "b": above(1)}, "yes"))
    second = rules(({"a": above(7)}, "yes"), ({"b": above(1)}, "yes"))
    found = align_rules(first, second)
    assert [(p.first, p.second, p.kind, p.jaccard) for p in found.pairs] == [
        (0, 0, "same features", None),
        (1, None, "none", None),
        (None, 1, "none", None),
    ]


def test_repeated_rules_are_paired_in_order():
    one = rules(({"a": above(2)}, "yes"), ({"a": above(2)}, "yes"))
    two = rules(({"a": above(2)}, "yes"))
    assert [p.second for p in align_rules(one, two).pairs] == [0, None]


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_each_rule_occurs_once_and_a_set_matches_itself(data, cases):
    one, two = data.draw(cases()), data.draw(cases())
    for rows in (None, one.X):
        found = align_rules(one.rules, two.rules, rows)
        assert [p.first for p in found.pairs if p.first is not None] == list(range(len(one.rules)))
        seconds = sorted(p.second for p in found.pairs if p.second is not None)
        assert seconds == list(range(len(two.rules)))
        same = align_rules(one.rules, one.rules, rows)
        assert same.count("same rule") == len(one.rules)


def test_bad_overlap_is_told():
    with pytest.raises(OptionError, match="min_overlap"):
        align_rules(rules(), rules(), min_overlap=0)
