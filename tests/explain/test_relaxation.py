"""Where no rule is found: the reason, and the nearest rules, against a slow plain search."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rulelens as rl
from rulelens.explain.relaxation import Demands
from rulelens.frames import read_table


def rare_class(seed: int = 0, n: int = 300) -> tuple[pd.DataFrame, np.ndarray]:
    """A noisy minority class, so that pure rules cover few rows."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.integers(0, 3, (n, 5)).astype(float), columns=list("abcde"))
    y = np.where((X["a"] + X["b"] > 2) & (rng.random(n) < 0.6) | (rng.random(n) < 0.05), "x", "o")
    return X, y


def fitted(X, y, **options):
    """An explainer of a model that remembers `y` by row number, asked about row 0 to n."""
    X = X.assign(row=np.arange(len(X), dtype=float))
    model = lambda Z: y[np.asarray(Z["row"]).astype(int)]  # noqa: E731
    explainer = rl.RuleExplainer(model, n_bins=3, **options).fit(X)
    return explainer, X


def all_sets(explainer, X, y, row):
    """Figures of every set of the row's items: length to lists of (tp, fp)."""
    codes = explainer.binning_.codes(read_table(X, explainer.schema_))
    x = codes[row]
    have = [j for j in range(codes.shape[1]) if x[j] >= 0]
    out = []
    for size in range(1, len(have) + 1):
        for s in itertools.combinations(have, size):
            covered = (codes[:, s] == x[list(s)]).all(axis=1)
            same = y == y[row]
            out.append((size, int((covered & same).sum()), int((covered & ~same).sum())))
    return out


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 1000),
    support=st.sampled_from([1, 5, 20, 60, 500]),
    confidence=st.sampled_from([1.0, 0.9, 0.7, 0.4]),
    confirmation=st.sampled_from([0.0, 0.0, 0.3, -0.5]),
    length=st.sampled_from(["auto", 1, 2]),
)
def test_the_nearest_rules_are_nearest_in_what_failed(
    seed, support, confidence, confirmation, length
):
    """Pure rules over 1 to 3 rows were shown as nearest, whatever support was asked for."""
    X, y = rare_class(seed)
    explainer, X = fitted(
        X,
        y,
        min_support=support,
        min_confidence=confidence,
        min_confirmation=confirmation,
        max_length=length,
        time_budget=60.0,
    )
    row = seed % len(X)
    e = explainer.explain(X.iloc[row])
    if len(e):
        assert not len(e.relaxed)
        return
    pos, neg = int((y == y[row]).sum()), int((y != y[row]).sum())
    demands = Demands.of(e.options)
    shown = [
        (len(r), int(tp), int(fp))
        for r, tp, fp in zip(e.relaxed, e.relaxed_counts.tp, e.relaxed_counts.fp, strict=True)
    ]
    assert shown
    assert all(demands.shortfalls(*s, pos, neg) for s in shown)
    limit = 9 if length == "auto" else length
    sets = [s for s in all_sets(explainer, X, y, row) if s[0] <= limit]
    assert not any(not demands.shortfalls(*s, pos, neg) for s in sets)
    enough = [s for s in sets if s[1] >= support]
    sure = lambda s: s[1] / max(s[1] + s[2], 1) >= confidence  # noqa: E731
    rise = lambda s: s[1] / pos - s[2] / neg  # noqa: E731
    listed = [s for s in shown if s[0] <= limit]
    if enough and confirmation > 0 and any(map(sure, enough)):
        assert all(s[1] >= support and sure(s) for s in shown)
        assert rise(listed[0]) == pytest.approx(max(map(rise, filter(sure, enough))))
    elif enough:
        assert all(s[1] >= support for s in shown)
        shares = [s[1] / (s[1] + s[2]) for s in listed]
        assert shares[0] == max(s[1] / (s[1] + s[2]) for s in enough)
        assert shares == sorted(shares, reverse=True)
    else:
        most = max(s[1] for s in sets)
        assert f"no rule covers so many: {most} row" in e.reason
        if any(map(sure, sets)):
            assert all(map(sure, shown))
            assert shown[0][1] == max(s[1] for s in sets if sure(s))


def test_lower_demands_find_the_rules_that_were_nearest():
    X, y = rare_class()
    row = int(np.flatnonzero(y == "x")[0])
    explainer, table = fitted(X, y, min_support=20)
    e = explainer.explain(table.iloc[row])
    assert len(e) == 0
    best = float(e.relaxed_counts.measure("confidence")[0])
    assert best < 1
    explainer, table = fitted(X, y, min_support=20, min_confidence=best, max_length=6)
    found = explainer.explain(table.iloc[row])
    assert len(found) > 0
    assert str(e.relaxed[0]) in {str(r) for r in found.rules}


def test_the_nearest_rules_cover_different_rows():
    X, y = rare_class()
    twins = X.assign(**{f"{c}2": X[c] for c in X})
    explainer, table = fitted(twins, y, min_support=20)
    e = explainer.explain(table.iloc[int(np.flatnonzero(y == "x")[0])])
    covered = {e.relaxed.coverage(table)[:, k].tobytes() for k in range(len(e.relaxed))}
    assert len(covered) == len(e.relaxed) > 1


def parity(n_features: int = 9):
    X = np.random.default_rng(0).integers(0, 3, (400, n_features)).astype(float)
    return X, lambda Z: (np.asarray(Z).sum(axis=1) % 2).astype(int)


@pytest.mark.parametrize("confidence", [1.0, 0.9])
@pytest.mark.parametrize("minimal", [True, False])
def test_a_search_that_is_cut_short_calls_no_qualifying_rule_non_qualifying(confidence, minimal):
    """With hardly any time, a rule of 539 rows without exception was "not qualifying"."""
    X, model = parity()
    options = {"min_confidence": confidence, "minimal": minimal}
    e = rl.RuleExplainer(model, time_budget=1e-9, **options).fit(X).explain(X[0])
    assert e.stop == "time"
    assert e.length == 1
    assert len(e) > 0
    assert not len(e.relaxed)
    assert (e.counts.measure("confidence") >= confidence).all()
    assert e.rules.lengths.max() > 1
    assert any("cut short after 1e-09 s: no rule of up to 1 condition" in n for n in e.notes)
    whole = rl.RuleExplainer(model, max_length=9, **options).fit(X).explain(X[0])
    assert {str(r) for r in e.rules} <= {str(r) for r in whole.rules}
    assert rl.Explanation.from_dict(e.to_dict()).to_dict() == e.to_dict()


def test_a_search_that_is_cut_short_without_a_rule_never_says_that_there_is_none():
    X, model = parity()
    explainer = rl.RuleExplainer(model, time_budget=1e-9, min_support=30, min_confidence=0.95)
    e = explainer.fit(X).explain(X[0])
    assert e.stop == "time"
    assert len(e) == 0
    assert e.reason.startswith("The search was cut short by the time budget of 1e-09 s.")
    assert "up to 1 condition covers at least 30 rows" in e.reason
    assert "longer ones were not looked at" in e.reason
    assert (e.relaxed.lengths == 1).all()


def test_one_is_one_condition_and_one_row():
    X, model = parity()
    e = rl.RuleExplainer(model, max_length=1).fit(X).explain(X[0])
    assert "No rule of up to 1 condition covers at least 1 row with this decision" in e.reason
    assert "but it is longer" in e.reason
    assert len(e.relaxed[0]) > 1


def test_a_confirmation_that_is_lacking_is_named():
    """Only support and confidence were named, where rules had both."""
    X, y = rare_class()
    row = int(np.flatnonzero(y == "x")[0])
    explainer, table = fitted(X, y, min_support=5, min_confidence=0.1, min_confirmation=0.9)
    e = explainer.explain(table.iloc[row])
    assert "with a confirmation above 0.9" in e.reason
    assert "lack the confirmation only" in e.reason
    assert (e.relaxed_counts.tp >= 5).all()
