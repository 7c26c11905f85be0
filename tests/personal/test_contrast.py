"""Rules for the other class and the smallest change, against trying everything."""

import itertools
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rulelens.errors import OptionError, TableError, UnknownFeatureError
from rulelens.personal.contrast import contrast, counterfactual
from rulelens.personal.fast_pic import FastPIC
from rulelens.personal.pic import PIC


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 9999)))
    n, d = draw(st.integers(10, 60)), draw(st.integers(2, 4))
    X = pd.DataFrame({f"f{j}": rng.choice(["a", "b", "c"], n) for j in range(d)})
    y = np.array(["no", "yes", "so"])[rng.integers(0, draw(st.integers(2, 3)), n)]
    y = np.where(X["f0"] == "a", "yes", y)
    return X, y


@settings(deadline=None, max_examples=40)
@given(problems(), st.sampled_from([FastPIC(2), PIC(2)]))
def test_the_rival_is_the_best_rule_of_another_class(problem, model):
    X, y = problem
    model.fit(X, y)
    got = contrast(model, X.iloc[:6]).to_frame()
    own = model.explain(X.iloc[:6]).to_frame()
    ranked = model.explain(X.iloc[:6], runners_up=500).to_frame()
    pd.testing.assert_frame_equal(got[got["rank"] == 0].reset_index(drop=True), own)
    for k in range(6):
        mine = got[got["row"] == k]
        rivals = mine[mine["rank"] == 1]
        everything = ranked[(ranked["row"] == k) & (ranked["outcome"] != own.loc[k, "outcome"])]
        if len(rivals):
            assert rivals["outcome"].iloc[0] != own.loc[k, "outcome"]
            assert len(everything) == 0 or rivals["score"].iloc[0] >= everything["score"].max()
        else:
            assert len(everything) == 0


@settings(deadline=None, max_examples=30)
@given(problems(), st.booleans())
def test_no_smaller_change_flips_the_class(problem, limited):
    X, y = problem
    model = FastPIC(2).fit(X, y)
    row = X.iloc[0]
    actionable = ["f1"] if limited else None
    found = counterfactual(model, row, actionable=actionable, top=1000)
    before = model.predict(X.iloc[[0]])[0]
    assert found.before == before
    flips: dict[int, list[dict[str, str]]] = {}
    names = actionable or list(X)
    for n in range(1, min(3, len(names)) + 1):
        for features in itertools.combinations(names, n):
            others = [[v for v in sorted(set(X[f])) if v != row[f]] for f in features]
            for values in itertools.product(*others):
                new = row.to_frame().T.reset_index(drop=True).astype("str")
                for f, v in zip(features, values, strict=True):
                    new.loc[0, f] = v
                if model.predict(new)[0] != before:
                    flips.setdefault(n, []).append(dict(zip(features, values, strict=True)))
        if flips:
            break
    expected = flips.get(min(flips), []) if flips else []
    got = [{f: c.levels[0] for f, c in change.items()} for change in found.changes]
    key = lambda d: sorted(d.items())  # noqa: E731
    assert sorted(got, key=key) == sorted(expected, key=key)
    assert list(found.score) == sorted(found.score, reverse=True)
    assert found.to_dict()["searched"] == found.searched


def fitted():
    X = pd.DataFrame({"age": [20.0, 30, 60, 70], "city": ["a", "b", "a", "b"]})
    return X, FastPIC(1).fit(X, ["no", "no", "yes", "yes"])


def test_changes_are_conditions():
    X, model = fitted()
    found = counterfactual(model, X.iloc[0], target="yes")
    assert found.to_frame().loc[0, "change"] == "age >= 50"
    assert found.after == ("yes",) * len(found)
    nothing = counterfactual(model, X.iloc[0], actionable=["city"])
    assert (len(nothing), nothing.searched) == (0, 1)
    assert nothing.to_frame().empty


def test_the_amount_of_work_is_limited():
    X, model = fitted()
    found = counterfactual(model, X.iloc[0], actionable=["city"], max_rows=0)
    assert (len(found), found.searched) == (0, 0)


def test_options():
    X, model = fitted()
    with pytest.raises(TableError, match="Unknown target 'maybe'"):
        counterfactual(model, X.iloc[0], target="maybe")
    with pytest.raises(OptionError, match="already"):
        counterfactual(model, X.iloc[0], target="no")
    with pytest.raises(UnknownFeatureError):
        counterfactual(model, X.iloc[0], actionable=["cty"])
    with pytest.raises(OptionError):
        counterfactual(model, X.iloc[0], max_changes=0)


def test_one_class_has_no_rival():
    X = pd.DataFrame({"c": ["a", "b"]})
    model = FastPIC(1).fit(X, ["yes", "yes"])
    assert contrast(model, X).rank.tolist() == [0, 0]


def test_records_are_plain_json():
    X, model = fitted()
    records = [
        model.explain(X, runners_up=1),
        contrast(model, X),
        counterfactual(model, X.iloc[0]),
        counterfactual(model, X.iloc[0], actionable=["city"]),
        model.explain(pd.DataFrame({"age": [None], "city": ["z"]}).astype({"age": float})),
    ]
    for r in records:
        text = json.dumps(r.to_dict(), allow_nan=False)
        assert json.loads(text)["version"] == 1


def test_a_single_name_is_one_feature():
    """actionable="ab" meant the features a and b."""
    X = pd.DataFrame({"a": list("pqpq"), "b": list("pqpq"), "ab": list("ppqq")})
    model = FastPIC(1).fit(X, [0, 1, 0, 1])
    one = counterfactual(model, X.iloc[0], actionable="ab")
    assert one.to_dict() == counterfactual(model, X.iloc[0], actionable=["ab"]).to_dict()
    assert all(set(change) == {"ab"} for change in one.changes)


@pytest.mark.parametrize("options", [{"max_changes": 1.5}, {"top": "a"}, {"max_rows": -1}])
def test_numbers_that_are_not_whole(options):
    X = pd.DataFrame({"a": list("pqpq")})
    with pytest.raises(OptionError, match="whole number"):
        counterfactual(FastPIC(1).fit(X, [0, 1, 0, 1]), X.iloc[0], **options)


def test_a_target_of_another_type_is_unknown():
    """True was taken for the class 1."""
    X = pd.DataFrame({"a": list("pqpq")})
    model = FastPIC(1).fit(X, [0, 1, 0, 1])
    with pytest.raises(TableError, match="Unknown target True"):
        counterfactual(model, X.iloc[0], target=True)
    assert counterfactual(model, X.iloc[0], target=np.int64(1)).after[0] == 1
