"""Indicators of text columns, and rules put back on the columns themselves."""

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from rulelens.cli.indicators import Indicators
from rulelens.sources.extract import extract_rules


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 100_000))
def test_rules_put_back_select_the_same_rows(seed):
    rng = np.random.default_rng(seed)
    n = 80
    X = pd.DataFrame(
        {
            "a": rng.choice(np.array(["x", "y", "z", None], dtype=object), n),
            "a = x": rng.choice(np.array(["p", "q"], dtype=object), n),
            "n": rng.normal(size=n),
            "b": rng.random(n) < 0.5,
        }
    )
    y = rng.integers(0, 2, n)
    coded = Indicators.of(X)
    assert set(coded.frame.dtypes.map(lambda d: d.kind)) <= set("biuf")
    tree = DecisionTreeClassifier(random_state=0).fit(coded.frame, y)
    rules = extract_rules(tree, coded.frame)
    back = coded.undo(rules)
    assert back.schema.names == tuple(X.columns)
    assert np.array_equal(back.coverage(X), rules.coverage(coded.frame))
    assert [r.outcome for r in back] == [r.outcome for r in rules]
    # Levels that training did not have: every indicator is false.
    new = X.assign(a="new")
    unseen = coded.frame.assign(**{k: False for k, (c, _) in coded.source.items() if c == "a"})
    assert np.array_equal(back.coverage(new), rules.coverage(unseen))


def test_tables_without_text_stay_as_they_are():
    X = pd.DataFrame({"n": [1.0, 2.0], "b": [True, False]})
    coded = Indicators.of(X)
    pd.testing.assert_frame_equal(coded.frame, X)
    assert coded.source == {}
