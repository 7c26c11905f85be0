"""A person's ranking of the rules of one row, and explanations as records."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier

import rulelens as rl
from rulelens.errors import ExplainError, FormatError, InputError, PreferenceError


@pytest.fixture(scope="module")
def explanation() -> rl.Explanation:
    X, y = load_iris(return_X_y=True, as_frame=True)
    return (
        rl.RuleExplainer(KNeighborsClassifier().fit(X, y), minimal=False)
        .fit(X)
        .explain(X.iloc[120])
    )


def test_the_ranking_obeys_what_was_said(explanation):
    n = len(explanation)
    assert n >= 3
    p = explanation.session().rank([n - 1, 0]).result(k=3)
    assert p.ranking.index(n - 1) < p.ranking.index(0)
    assert set(p.ranking) == set(range(n))
    assert set(p.new) == set(range(n)) - {0, n - 1}
    frame = p.to_frame()
    assert list(frame["rule"]) == [explanation.rules[k].antecedent() for k in p.ranking]
    assert frame["score"].is_monotonic_decreasing
    scores = p.contributions.sum(axis=1)
    assert np.allclose([p.scores[k] for k in range(n)], scores)


def test_criteria_are_those_of_the_paper(explanation):
    c = explanation.session().criteria
    d = len(explanation.rules.schema)
    frame = c.to_frame()
    used = explanation.rules.presence.any(axis=0)
    assert list(frame.columns) == [
        *np.array(explanation.rules.schema.names)[used],
        "support",
        "confirmation",
        "complexity",
    ]
    assert np.allclose(frame["complexity"], -explanation.rules.lengths / d)
    assert np.allclose(frame["support"], explanation.counts.measure("support"))
    assert np.allclose(frame["confirmation"], explanation.counts.measure("confirmation"))


def test_unknown_and_repeated_rules_in_a_ranking_are_errors(explanation):
    session = explanation.session()
    with pytest.raises(PreferenceError, match="Unknown alternative"):
        session.rank([0, 999])
    with pytest.raises(PreferenceError, match=r"twice|once"):
        session.rank([0, 1, 0])
    assert session.statements == ()


def test_a_contradiction_is_named_in_the_users_words(explanation):
    session = explanation.session().prefer(0, 1).prefer(1, 0)
    assert session.conflict() is not None
    with pytest.raises(PreferenceError) as info:
        session.result()
    assert explanation.rules[0].antecedent() in str(info.value)


def test_one_rule_is_nothing_to_rank():
    X = pd.DataFrame({"a": np.arange(20.0)})
    e = rl.RuleExplainer(lambda Z: (Z["a"] >= 10).astype(int)).fit(X).explain({"a": 3.0})
    assert len(e) == 1
    with pytest.raises(ExplainError, match="1 rule covers this row"):
        e.session()


def test_negative_confirmation_still_gives_a_session():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 2, (60, 4)).astype(float), columns=list("abcd"))
    model = lambda Z: (Z.sum(axis=1) > 2).astype(int)  # noqa: E731
    e = (
        rl.RuleExplainer(
            model, min_confidence=0.2, min_confirmation=-0.9, max_length=2, minimal=False
        )
        .fit(X)
        .explain(X.iloc[0])
    )
    assert (e.counts.measure("confirmation") < 0).any()
    e.session().result()


def test_sessions_are_saved_and_resumed_and_profiles_carry_over(explanation, tmp_path):
    session = explanation.session().prefer(1, 0)
    session.save(tmp_path / "s.json")
    again = explanation.resume(tmp_path / "s.json")
    assert again.statements == session.statements
    assert again.result().ranking == session.result().ranking
    with pytest.raises(ExplainError, match="resume"):
        type(session).load(tmp_path / "s.json")
    with pytest.raises(ExplainError, match="resume"):
        type(session).from_dict(session.to_dict())
    profile = rl.Profile(name="Ada").remember(session, "row 120")
    fresh = explanation.session(profile=profile)
    assert fresh.statements == ()
    ranking = fresh.result().ranking
    assert ranking.index(1) < ranking.index(0)


def test_json_round_trip(explanation, tmp_path):
    path = explanation.to_json(tmp_path / "e.json")
    again = rl.Explanation.from_json(path)
    assert again.to_dict() == explanation.to_dict()
    assert again.rules == explanation.rules
    assert again.session().result().ranking == explanation.session().result().ranking
    with pytest.raises(ExplainError, match="no training rows"):
        again.covered_rows(0)
    json.dumps(explanation.session().result().to_dict(), allow_nan=False)


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda d: d.update(format="x"), "format"),
        (lambda d: d.update(version=99), "version"),
        (lambda d: d.update(stop="tired"), "stop"),
        (lambda d: d.update(length=-1), "length"),
        (lambda d: d["rules"][0].update(tp="three"), r"rules\[0\].tp"),
        (lambda d: d["rules"][0].pop("if"), r"rules\[0\]"),
        (lambda d: d["rules"][0].update({"if": {"no such": {"low": 1.0, "high": None}}}), "rules"),
        (lambda d: d.update(rules={}), "rules"),
        (lambda d: d.update(groups=[[0, 999]]), "groups"),
        (lambda d: d.update(prediction=None), "prediction"),
        (lambda d: d.update(row=3), "row"),
        (lambda d: d.update(classes=[["a"]]), "classes"),
        (lambda d: d.update(classes=[[0, -5], [1, -6]]), "classes"),
        (lambda d: d.update(classes=[]), "classes"),
        (lambda d: d.update(classes=[[0, True], [1, 3]]), "classes"),
        (lambda d: d.update(version=True), "version"),
        (lambda d: d.update(row={}), "row"),
        (lambda d: d["row"].update({next(iter(d["row"])): float("nan")}), "row"),
        (lambda d: d.update(groups=[[0, 0]]), "groups"),
        (lambda d: d.update(options={}), "options"),
        (lambda d: d["options"].update(min_confidence="x"), "options"),
        (lambda d: d["rules"][0].update(tp=1_000_000), "do not add up"),
        (lambda d: d["rules"][0].update(tp=10**30), "tp"),
        (lambda d: d["rules"][0].update(then=1), "then"),
        (lambda d: d.update(rules=[]), "reason"),
    ],
)
def test_a_record_that_does_not_fit_is_an_error_that_names_the_place(explanation, change, place):
    record = json.loads(json.dumps(explanation.to_dict()))
    change(record)
    with pytest.raises(FormatError, match=place):
        rl.Explanation.from_dict(record)


def test_files_that_are_no_json(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        rl.Explanation.from_json(tmp_path / "none.json")
    (tmp_path / "e.json").write_text("{")
    with pytest.raises(FormatError, match="is not JSON"):
        rl.Explanation.from_json(tmp_path / "e.json")
    for text, message in (
        ('{"a": 1, "a": 2}', "twice"),
        ('{"a": NaN}', "not a JSON number"),
        ("[" * 100_000, "nested too deeply"),
        ("1" * 5000, "cannot be read"),
    ):
        (tmp_path / "e.json").write_text(text)
        with pytest.raises(FormatError, match=message):
            rl.Explanation.from_json(tmp_path / "e.json")
    with pytest.raises(FormatError, match="expected an object"):
        rl.Explanation.from_dict([1])
