"""What a program that runs the written file predicts is what the rules' model predicts."""

from __future__ import annotations

import math
import sqlite3
import xml.etree.ElementTree as ElementTree
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.tree import DecisionTreeClassifier

from rulelens.core.conditions import Interval
from rulelens.core.rule import Rule
from rulelens.core.ruleset import RuleSet
from rulelens.core.schema import Schema
from rulelens.errors import FormatError, RuleError
from rulelens.io.formats import format_rules, parse_rules
from rulelens.sources.extract import extract_rules
from rulelens.sources.predictions import predict_rules

NAMES = ["a b", "b", "c", "d"]


def table(seed: int, classes: int, *, holes: bool = False) -> tuple[pd.DataFrame, Any]:
    """Coarse numbers, so that leaves are mixed and classes are often equal."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(250, 4)), 1)
    score = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=250) * 0.5
    y = np.searchsorted(np.quantile(score, np.linspace(0, 1, classes + 1)[1:-1]), score)
    if holes:
        X[rng.random(X.shape) < 0.1] = np.nan
    return pd.DataFrame(X, columns=NAMES), np.array(["no", "yes", "perhaps"])[y]


def true_predicate(e: ElementTree.Element, row: dict[str, float]) -> bool | None:
    """A PMML predicate on a row, by the standard's tables; None is unknown."""
    tag = e.tag.rpartition("}")[2]
    if tag == "True":
        return True
    if tag == "CompoundPredicate":
        parts = [true_predicate(p, row) for p in e]
        if e.get("booleanOperator") == "and":
            return False if False in parts else None if None in parts else True
        return True if True in parts else None if None in parts else False
    value, operator = row[e.get("field", "")], e.get("operator")
    if operator in ("isMissing", "isNotMissing"):
        return math.isnan(value) == (operator == "isMissing")
    if math.isnan(value):
        return None
    end = float(e.get("value", ""))
    return {
        "lessThan": value < end,
        "lessOrEqual": value <= end,
        "greaterThan": value > end,
        "greaterOrEqual": value >= end,
    }[operator or ""]


def score_pmml(text: str, X: pd.DataFrame) -> list[str | None]:
    """A plain scorer of firstHit, weightedMax and weightedSum, as PMML 4.4 describes them."""
    root = ElementTree.fromstring(text)
    space = root.tag.rpartition("}")[0] + "}"
    rule_set = next(root.iter(f"{space}RuleSet"))
    criterion = rule_set[0].get("criterion")
    target = next(e for e in root.iter(f"{space}MiningField") if e.get("usageType") == "target")
    field = next(e for e in root.iter(f"{space}DataField") if e.get("name") == target.get("name"))
    classes = [str(e.get("value")) for e in field]
    out: list[str | None] = []
    for row in X.to_dict("records"):
        fired = [e for e in rule_set[1:] if true_predicate(e[0], row) is True]
        if not fired:
            out.append(rule_set.get("defaultScore"))
        elif criterion == "firstHit":
            out.append(fired[0].get("score"))
        elif criterion == "weightedMax":
            out.append(max(fired, key=lambda e: float(e.get("weight", "1"))).get("score"))
        else:
            total: dict[str, float] = {}
            for e in fired:
                score = str(e.get("score"))
                total[score] = total.get(score, 0.0) + float(e.get("weight", "1"))
            # "If classes have the same weight, the one that is first in the data dictionary."
            out.append(max((c for c in classes if c in total), key=lambda c: total[c]))
    return out


MODELS: dict[str, Any] = {
    "tree": DecisionTreeClassifier(max_depth=3, random_state=0),
    "forest": RandomForestClassifier(12, max_depth=3, random_state=0),
    "pure forest": RandomForestClassifier(6, random_state=0),
    "extra trees": ExtraTreesClassifier(8, max_depth=4, random_state=0),
    "bagging": BaggingClassifier(DecisionTreeClassifier(max_depth=2), 6, random_state=0),
    "gradient boosting": GradientBoostingClassifier(n_estimators=8, max_depth=2, random_state=0),
    "histogram": HistGradientBoostingClassifier(max_iter=8, max_leaf_nodes=5, random_state=0),
    "adaboost": AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=9),
}


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", MODELS)
def test_a_pmml_scorer_predicts_what_the_model_does(name: str, classes: int) -> None:
    """Every rule had the weight 1: a scorer then agreed with a boosted model in four rows of five.

    Votes of forests had it too, so that a leaf with nine rows of ten counted as much as one with
    six.
    """
    holes = name in ("histogram", "forest")
    X, y = table(classes, classes, holes=holes)
    model = MODELS[name].fit(X, y)
    rules = extract_rules(model, X)
    expected = predict_rules(rules, X).tolist()
    text = format_rules(rules, format="pmml")
    assert expected == model.predict(X).tolist()
    assert score_pmml(text, X) == expected
    # The same after the rules were in a file that holds everything.
    for form in ("json", "text"):
        again = parse_rules(format_rules(rules, format=form), format=form)
        assert score_pmml(format_rules(again, format="pmml"), X) == expected


@pytest.mark.parametrize("name", ["gradient boosting", "histogram", "adaboost", "forest"])
def test_what_was_read_from_pmml_still_predicts(name: str) -> None:
    """Weights were dropped in reading, and written as 1 the next time."""
    X, y = table(5, 3)
    rules = extract_rules(MODELS[name].fit(X, y), X)
    text = format_rules(rules, format="pmml")
    again = parse_rules(text, format="pmml")
    assert format_rules(again, format="pmml") == text
    assert (predict_rules(again, X) == predict_rules(rules, X)).mean() == 1


def test_equal_classes_and_a_threshold_that_is_not_zero() -> None:
    schema = Schema.numeric(["x"])
    rows = pd.DataFrame({"x": [-1.0, 0.25, 1.0, 5.0]})
    for second_from in (None, 0.3, 1e-300, -0.1):
        rules = RuleSet.from_rules(
            [
                Rule({"x": Interval(low=low)}, "yes", {"value": v, "score class": 1})
                for low, v in ((-2, -0.1), (0, 0.1), (0.5, 0.3), (3, -0.25))
            ],
            schema,
            outcomes=["no", "yes"],
        )
        if second_from is not None:
            more = {"second class from": np.full(4, second_from)}
            rules = RuleSet.from_arrays(
                schema, rules.conditions, rules.offsets, rules.indices, rules.outcome,
                outcomes=rules.outcomes, provenance={**rules.provenance, **more},
            )  # fmt: skip
        text = format_rules(rules, format="pmml")
        expected = predict_rules(rules, rows).tolist()
        assert score_pmml(text, rows) == expected
        again = parse_rules(text, format="pmml")
        assert predict_rules(again, rows).tolist() == expected
        assert format_rules(again, format="pmml") == text


@pytest.mark.parametrize("library", ["xgboost", "lightgbm", "catboost"])
def test_other_boosters(library: str) -> None:
    module = pytest.importorskip(library, reason=f"pip install {library}")
    X, y = table(7, 2)
    codes = (y == "yes").astype(int)
    options = {
        "xgboost": ("XGBClassifier", {"n_estimators": 6, "max_depth": 2, "n_jobs": 1}),
        "lightgbm": ("LGBMClassifier", {"n_estimators": 6, "verbose": -1, "n_jobs": 1}),
        "catboost": (
            "CatBoostClassifier",
            {
                "iterations": 6,
                "depth": 2,
                "verbose": False,
                "thread_count": 1,
                "allow_writing_files": False,
            },
        ),
    }
    name, chosen = options[library]
    X.columns = ["a", "b", "c", "d"]
    rules = extract_rules(getattr(module, name)(**chosen).fit(X, codes), X)
    again = parse_rules(format_rules(rules, format="json"), format="json")
    for kept in (rules, again):
        if library == "xgboost":
            with pytest.raises(FormatError, match=r"single precision.*Keep these rules as JSON"):
                format_rules(kept, format="pmml")
        else:
            found = score_pmml(format_rules(kept, format="pmml"), X)
            assert found == [str(v) for v in predict_rules(kept, X)]


@given(st.data(), st.integers(2, 4))
@settings(max_examples=150, deadline=None)
def test_any_sum_is_scored_as_it_is_predicted(data: st.DataObject, classes: int) -> None:
    """Rules that overlap, negative values, sums that are equal, and rows that no rule covers."""
    schema = Schema.numeric(["a", "b"])
    cuts = st.sampled_from([-1.0, 0.0, 1.0])
    intervals = st.builds(
        lambda end, below, missing: (
            Interval(high=end, high_closed=True, or_missing=missing)
            if below
            else Interval(low=end, or_missing=missing)
        ),
        cuts, st.booleans(), st.booleans(),
    )  # fmt: skip
    made = []
    for _ in range(data.draw(st.integers(1, 8))):
        pairs = data.draw(st.dictionaries(st.sampled_from(["a", "b"]), intervals))
        target = data.draw(st.integers(0, classes - 1))
        value = data.draw(st.integers(-4, 4)) / 4
        made.append(Rule(pairs, f"c{target}", {"value": value, "score class": target}))
    rules = RuleSet.from_rules(made, schema, outcomes=[f"c{k}" for k in range(classes)])
    values = [-1.0, -0.5, 1.0, 2.0, math.nan]
    rows = pd.DataFrame([(a, b) for a in values for b in values], columns=["a", "b"])
    text = format_rules(rules, format="pmml")
    expected = predict_rules(rules, rows).tolist()
    assert score_pmml(text, rows) == expected
    again = parse_rules(text, format="pmml")
    assert format_rules(again, format="pmml") == text
    if any(v for r in made for k, v in r.provenance if k == "value"):
        assert predict_rules(again, rows).tolist() == expected


def test_a_rule_that_adds_nothing_is_kept() -> None:
    rules = RuleSet.from_rules(
        [
            Rule({"x": Interval(low)}, "b", {"value": v, "score class": 1})
            for low, v in ((0, 0.0), (1, 0.1))
        ],
        Schema.numeric(["x"]),
        outcomes=["a", "b"],
    )
    again = parse_rules(format_rules(rules, format="pmml"), format="pmml")
    assert [(r.conditions, r.provenance) for r in again] == [
        (r.conditions, r.provenance) for r in rules
    ]


def test_incomplete_numbers_are_refused() -> None:
    X, y = table(1, 3)
    rules = extract_rules(MODELS["forest"].fit(X, y), X)
    boosted = extract_rules(MODELS["gradient boosting"].fit(X, y), X)
    cases = [
        (rules, {"share of no": None}, "not for each class"),
        (rules, {"tree": None}, "not for each class"),
        (rules, {"share of no": np.full(len(rules), np.nan)}, "no finite numbers"),
        (boosted, {"score class": np.full(len(boosted), 7)}, r"other numbers than 0\.\.2"),
        (boosted, {"value": np.full(len(boosted), "1")}, "no finite numbers"),
    ]
    for kept, changes, message in cases:
        columns = {k: v for k, v in {**kept.provenance, **changes}.items() if v is not None}
        broken = RuleSet.from_arrays(
            kept.schema, kept.conditions, kept.offsets, kept.indices, kept.outcome,
            outcomes=kept.outcomes, provenance=columns,
        )  # fmt: skip
        with pytest.raises(FormatError, match=message):
            format_rules(broken, format="pmml")


def test_rules_without_numbers_stay_as_they_are() -> None:
    rules = RuleSet.from_rules(
        [Rule({"x": Interval(1)}, "a", {"value": 3}), Rule({}, "b")], Schema.numeric(["x"])
    )
    text = format_rules(rules, format="pmml")
    assert text.count("<SimpleRule") == text.count('weight="1"') == 2
    again = parse_rules(text, format="pmml")
    assert not again.provenance
    with pytest.raises(RuleError, match="does not say which rule decides"):
        predict_rules(again, [[0.0]])


FOREIGN = """<PMML xmlns="http://www.dmg.org/PMML-4_4" version="4.4"><Header/><DataDictionary>
<DataField name="x" optype="continuous" dataType="double"/>
<DataField name="y" optype="categorical" dataType="string"><Value value="a"/><Value value="b"/>
</DataField></DataDictionary><RuleSetModel functionName="classification"><MiningSchema>
<MiningField name="x"/><MiningField name="y" usageType="target"/></MiningSchema>
<RuleSet defaultScore="b"><RuleSelectionMethod criterion="weightedMax"/>
<SimpleRule score="a" weight="0.5"><SimplePredicate field="x" operator="lessThan" value="5"/>
</SimpleRule><SimpleRule score="b" weight="0.7"><SimplePredicate field="x" operator="lessThan"
value="3"/></SimpleRule></RuleSet></RuleSetModel></PMML>"""


def test_the_largest_weight_is_read_as_an_ordered_list() -> None:
    """It was read as an unordered set, and the default score was lost."""
    rules = parse_rules(FOREIGN, format="pmml")
    rows = pd.DataFrame({"x": [1.0, 4.0, 6.0]})
    expected = score_pmml(FOREIGN, rows)
    assert predict_rules(rules, rows).tolist() == expected == ["b", "a", "b"]
    assert score_pmml(format_rules(rules, format="pmml"), rows) == expected


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("weightedMax", "weightedSum", "a defaultScore where no rule fires"),
        ('weight="0.5"', 'weight="half"', "the weight 'half' cannot be used"),
        ('weight="0.5"', 'weight="inf"', "no finite number"),
    ],
)
def test_weights_that_cannot_be_kept(old: str, new: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        parse_rules(FOREIGN.replace(old, new), format="pmml")


@pytest.mark.parametrize("name", ["gradient boosting", "forest"])
def test_sql_and_python_offer_no_single_prediction(name: str) -> None:
    """What each rule covers may be written; that no rule decides alone is said."""
    X, y = table(2, 2)
    rules = extract_rules(MODELS[name].fit(X, y), X)
    for form in ("sqlite", "duckdb", "postgres", "python"):
        text = format_rules(rules, format=form)
        assert "No rule decides alone" in text
        assert "CASE" not in text
    space: dict[str, Any] = {}
    exec(compile(format_rules(rules, format="python"), "rules.py", "exec"), space)  # noqa: S102
    assert "decide" not in space
    db = sqlite3.connect(":memory:")
    X.to_sql("data", db, index=False)
    first = format_rules(rules, format="sqlite").split(";")[0]
    assert len(db.execute(first).fetchall()) == rules.coverage(X)[:, 0].sum()


def test_an_ordered_list_predicts_the_same_everywhere() -> None:
    X, _ = table(3, 2)
    rules = RuleSet.from_rules(
        [
            Rule({"b": Interval(0.5)}, "yes", {"value": 0.1, "score class": 0}),
            Rule({"c": Interval(high=0)}, "no", {"value": 0.1, "score class": 1}),
        ],
        Schema.numeric(NAMES),
        ordered=True,
        default="yes",
    )
    expected = predict_rules(rules, X).tolist()
    assert score_pmml(format_rules(rules, format="pmml"), X) == expected
    db = sqlite3.connect(":memory:")
    X.to_sql("data", db, index=False)
    assert [r[-1] for r in db.execute(format_rules(rules, format="sqlite"))] == expected
    space: dict[str, Any] = {}
    exec(compile(format_rules(rules, format="python"), "rules.py", "exec"), space)  # noqa: S102
    assert [space["decide"](row) for row in X.to_dict("records")] == expected
