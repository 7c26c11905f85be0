from __future__ import annotations

import json
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from rulelens.errors import OptionError, PreferenceError
from rulelens.preference.criteria import Criteria
from rulelens.preference.questions import Question
from rulelens.preference.ranking import PreferenceResult, rank_order
from rulelens.preference.session import PreferenceSession
from rulelens.preference.statements import Prefer, Ranking, WeightBound


@pytest.fixture
def frame():
    return pd.DataFrame(
        {"short": [1, 0, 0.4, 0.4], "sure": [0.2, 0.9, 0.8, 0.8]}, index=[3, 6, 9, 7]
    )


def test_nothing_stated_gives_equal_weights_and_says_so(frame):
    result = PreferenceSession(frame).result()
    assert list(result.weights.values()) == pytest.approx([0.5, 0.5])
    assert "Nothing was stated" in result.notes[0]
    assert np.isnan(result.epsilon)
    assert result.new == result.ranking


@pytest.mark.parametrize("ranking", ["6>3", [6, 3], ["6", "3"], (6, [3]), np.array([6, 3])])
def test_forms_of_a_ranking(frame, ranking):
    session = PreferenceSession(frame)
    session.rank(ranking.tolist() if isinstance(ranking, np.ndarray) else ranking)
    assert session.statements == (Ranking(((6,), (3,))),)


def test_ties_in_a_ranking(frame):
    session = PreferenceSession(frame).rank([3, 6, [9, 7]])
    assert session.statements == (Ranking(((3,), (6,), (9, 7))),)
    assert session.phrases == ("3 > 6 > 9 = 7",)
    assert session.reference == (3, 6, 9, 7)


def test_tuple_ids_are_ids_not_ties():
    criteria = Criteria(((1, 2), (1, 3)), ("a", "b"), [[0, 1], [1, 0]])
    session = PreferenceSession(criteria).rank([(1, 3), (1, 2)])
    assert session.result().ranking == ((1, 3), (1, 2))


def test_tied_scores_keep_input_order_and_are_named(frame):
    result = PreferenceSession(frame).prefer(6, 3).result()
    assert result.ties == ((9, 7),)
    assert result.ranking.index(9) < result.ranking.index(7)
    assert "input order" in result.notes[-1]


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda s: s.rank([3, 4]), "Unknown alternative 4"),
        (lambda s: s.rank("3>66"), "Did you mean '6'"),
        (lambda s: s.rank([3, 6, 3]), "names 3 twice"),
        (lambda s: s.rank([3]), "at least 2"),
        (lambda s: s.rank([]), "at least 2"),
        (lambda s: s.rank([3, {}]), "Unknown alternative {}"),
        (lambda s: s.rank("3>>6"), "Expected an id"),
        (lambda s: s.prefer(3, 3), "compared with itself"),
        (lambda s: s.undo(), "nothing to undo"),
        (lambda s: s.rank(5), "list of alternatives"),
        (lambda s: s.rank(None), "list of alternatives"),
        (lambda s: s.rank({3, 6}), "needs an order"),
        (lambda s: s.best_of(3, 5), "list of alternatives"),
        (lambda s: s.best_of("3", "36"), "list of alternatives"),
        (lambda s: s.bound("short", low="x"), "is no number"),
        (lambda s: s.bound("short", low=True), "is no number"),
        (lambda s: s.bound("short", low=[0.1]), "is no number"),
        (lambda s: s.bound("short", low=float("nan")), "outside"),
        (lambda s: s.bound(5, low=0.1), "name of a criterion"),
        (lambda s: s.answer(5, 3), "is no question"),
        (lambda s: s.skip(None), "is no question"),
        (lambda s: s.skip(Question(3, 88)), "about 88, which this session does not have"),
        (lambda s: s.skip(Question([3], 6)), "which this session does not have"),
        (lambda s: s.answer(Question(3, 6, (88,), "best_of_5"), 3), "asked by another one"),
        (lambda s: s.answer(Question(3, 6, (88,), "insert"), 0), "asked by another one"),
        (lambda s: s.answer(Question(88, 99), None), "about 88, 99, which"),
        (lambda s: s.unskip(), "no skip to take back"),
        (lambda s: s.add(5), "is no statement"),
        (lambda s: s.result("max_eps"), "at least one strict statement"),
    ],
)
def test_bad_input_is_refused_and_changes_nothing(frame, act, message):
    session = PreferenceSession(frame)
    with pytest.raises(PreferenceError, match=message):
        act(session)
    assert session.statements == ()
    assert session.events == ()


def test_what_stands_is_what_was_not_taken_back(frame):
    session = PreferenceSession(frame)
    session.skip(Question(3, 6)).prefer(3, 9).skip(Question(6, 9)).prefer(6, 7)
    session.undo().unskip().skip(Question(9, 7)).undo()
    assert [e.shown for e in session.standing] == [(3, 6), (9, 7)]
    assert session.skipped == ((3, 6), (9, 7))
    assert session.statements == ()
    assert session.unskip().unskip().standing == ()


def test_a_long_result_has_a_short_repr():
    """An outlook filled the screen with every alternative three times, a result did likewise."""
    values = np.random.default_rng(0).random((300, 4))
    session = PreferenceSession(Criteria(tuple(range(300)), tuple("abcd"), values))
    result = session.prefer(3, 4).result(k=7)
    assert len(repr(result)) < 200
    assert "300 alternatives by 'analytic' from 1 statements" in repr(result)
    outlook = session.outlook(result)
    assert len(repr(outlook)) < 200
    assert "Jaccard of the top 7" in repr(outlook)


def test_no_negative_zero_is_shown():
    """A certificate had margin=-0.0, and so had contributions of criteria below 0."""
    table = Criteria(tuple("abc"), ("x", "y"), [[-1, 0], [0, -1], [-0.5, -0.5]])
    session = PreferenceSession(table).prefer("a", "b").bound("x", high=0)
    shown: list[object] = [session.result("max_eps").to_dict()]
    session = PreferenceSession(table).prefer("a", "b").prefer("c", "b")
    shown += [c.to_dict() for c in session.necessary_pairs()]
    shown.append(session.counterexample("b", "a"))
    assert re.search(r"-0\.0\b", json.dumps(shown)) is None


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda s: s.result("analitic"), "Did you mean 'analytic'"),
        (lambda s: s.result(k=0), "k is 0"),
        (lambda s: s.result(k=2.5), "k is 2.5"),
        (lambda s: s.result(k=True), "k is True"),
        (lambda s: s.result().top(0), "k is 0"),
        (lambda s: s.next_question(random_state=-1), "random_state is -1"),
        (lambda s: s.sample(random_state="a"), "random_state is 'a'"),
        (lambda s: s.sample(0), "n_draws is 0"),
        (lambda s: s.sample("a"), "n_draws is 'a'"),
        (lambda s: s.noisy_sample(0), "n_draws is 0"),
        (lambda s: s.noisy_sample(noise="x"), "noise is 'x'"),
        (lambda s: s.noisy_sample(noise=float("inf")), "noise is inf"),
        (lambda s: s.extreme_ranks(3, margin="a"), "margin is 'a'"),
        (lambda s: s.extreme_ranks(3, margin=float("inf")), "margin is inf"),
        (lambda s: s.outlook(level="a"), "level is 'a'"),
        (lambda s: s.outlook(5), "result is of type int"),
    ],
)
def test_bad_options(frame, act, message):
    with pytest.raises(OptionError, match=message):
        act(PreferenceSession(frame))


@pytest.mark.parametrize("n", [0, 1])
def test_fewer_than_two_alternatives(frame, n):
    with pytest.raises(PreferenceError, match="at least 2 are needed"):
        PreferenceSession(frame.iloc[:n])


def test_session_wants_a_table():
    with pytest.raises(PreferenceError, match="found list"):
        PreferenceSession([[1, 2]])


def test_identical_alternatives_cannot_be_ordered(frame):
    session = PreferenceSession(frame).prefer(9, 7)
    conflict = session.conflict()
    assert conflict.phrases == ("9 over 7",)
    assert "the same on every criterion" in str(conflict)
    assert PreferenceSession(frame).indifferent(9, 7).conflict() is None


def test_dominated_over_dominating_is_a_conflict_of_one():
    criteria = Criteria(("good", "bad"), ("x", "y"), [[1, 1], [0, 1]])
    conflict = PreferenceSession(criteria).prefer("bad", "good").conflict()
    assert conflict.phrases == ("bad over good",)
    assert "nowhere better" in str(conflict)
    assert json.dumps(conflict.to_dict())


def test_conflict_of_ties_and_pairs_names_only_the_culprits(frame):
    session = PreferenceSession(frame).indifferent(3, 6).prefer(9, 6).prefer(9, 3)
    session.prefer(6, 3)
    assert session.conflict().phrases == ("3 as good as 6", "6 over 3")
    assert session.conflict().sources == (0, 3)


def test_conflict_of_bounds():
    criteria = Criteria((0, 1), ("x", "y"), [[1, 0], [0, 1]])
    session = PreferenceSession(criteria)
    session.add(WeightBound("x", low=0.6)).add(WeightBound("y", low=0.5))
    assert len(session.conflict().phrases) == 2
    with pytest.raises(PreferenceError, match=r"weight of 'x' at least 0\.6"):
        session.result("max_eps")


def test_a_kept_contradiction_is_lifted_by_undo(frame):
    session = PreferenceSession(frame).prefer(3, 6).prefer(6, 3)
    assert len(session.statements) == 2
    with pytest.raises(PreferenceError, match="3 over 6; 6 over 3"):
        session.next_question()
    assert session.undo().result().ranking[0] == 3


def test_labels_name_alternatives_in_messages(frame):
    session = PreferenceSession(frame, labels={3: "short one"}).prefer(3, 6).prefer(6, 3)
    assert session.conflict().phrases == ("short one over 6", "6 over short one")


def test_two_rules_are_enough():
    criteria = Criteria((0, 1), ("x", "y"), [[1, 0], [0, 1]])
    session = PreferenceSession(criteria)
    assert session.next_question().shown == (0, 1)
    session.prefer(1, 0)
    assert session.result().ranking == (1, 0)
    assert session.next_question() is None


def test_everything_tied(frame):
    session = PreferenceSession(frame.loc[[3, 6]]).rank([[3, 6]])
    assert session.result().ties == ((3, 6),)
    assert session.next_question() is None


def test_one_criterion_leaves_nothing_to_learn():
    criteria = Criteria((0, 1, 2), ("x",), [[0], [1], [0.5]])
    session = PreferenceSession(criteria)
    assert session.result().ranking == (1, 2, 0)
    assert session.result("chebyshev").ranking == (1, 2, 0)
    assert session.next_question() is None
    assert session.prefer(0, 1).conflict() is not None


def test_five_hundred_criteria():
    rng = np.random.default_rng(0)
    values, weights = rng.random((40, 500)), rng.dirichlet(np.ones(500))
    order = np.argsort(-values @ weights)[:8].tolist()
    names = tuple(f"c{j}" for j in range(500))
    result = PreferenceSession(Criteria(tuple(range(40)), names, values)).rank(order).result()
    assert [a for a in result.ranking if a in order] == order


def test_frame_and_dict_of_a_result(session):
    result = session.result(k=3)
    frame = result.to_frame(contributions=True)
    assert list(frame.columns[:3]) == ["rank", "score", "new"]
    np.testing.assert_allclose(frame.iloc[:, 3:].sum(axis=1), frame["score"])
    assert frame.index.tolist() == list(result.ranking)
    assert result.top() == result.ranking[:3]
    read = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert read["ranking"][0]["alternative"] == result.ranking[0]
    assert sum(result.contribution("r5").values()) == pytest.approx(result.scores["r5"])


def test_dict_without_margin_is_json(frame):
    assert json.loads(json.dumps(PreferenceSession(frame).result().to_dict()))["epsilon"] is None


def test_results_cannot_be_changed(session):
    result = session.result()
    with pytest.raises(ValueError, match="read-only"):
        result.contributions[0, 0] = 1
    with pytest.raises(TypeError):
        result.scores["r5"] = 1


def test_subclass_may_wrap_the_result(frame):
    class Shouting(PreferenceSession):
        def _finish(self, result: PreferenceResult) -> PreferenceResult:
            import dataclasses

            return dataclasses.replace(result, notes=(*result.notes, "!"))

    assert Shouting(frame).result().notes[-1] == "!"


def test_session_adds_any_statement(frame):
    assert PreferenceSession(frame).add(Prefer(6, 3)).result().ranking[-1] == 3


def test_rank_order_of_nothing():
    order, ties = rank_order(np.zeros(0))
    assert order.tolist() == []
    assert ties == ()


def test_package_imports_no_pandas():
    code = (
        "import sys, rulelens.preference, rulelens.preference.session, "
        "rulelens.preference.questions, rulelens.preference.conflict; "
        "sys.exit('pandas' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"labels": 5}, "labels is of type int"),
        ({"labels": [1, 2]}, "labels is of type list"),
        ({"background": 5}, "The background has 5"),
        ({"background": [5]}, "The background has 5"),
    ],
)
def test_what_a_session_is_given(frame, given, message):
    with pytest.raises(PreferenceError, match=message):
        PreferenceSession(frame, **given)


@pytest.mark.parametrize("values", [[[1, 2], [3]], [["q", 1], [2, 3]], [[10**400, 1], [2, 3]], "q"])
def test_criteria_that_are_no_numbers(values):
    with pytest.raises(PreferenceError, match=r"no table of numbers|have shape"):
        Criteria((1, 2), ("a", "b"), values)


def test_frames_with_what_is_no_real_number():
    for column in ([1 + 2j, 1], [10**400, 1]):
        with pytest.raises(PreferenceError, match="must be numbers"):
            PreferenceSession(pd.DataFrame({"a": column, "b": [0, 2]}))


def test_an_id_that_is_never_found_again():
    with pytest.raises(PreferenceError, match="not equal to itself"):
        Criteria((float("nan"), 1), ("a",), [[1], [2]])


def test_numbers_of_numpy_can_be_saved(tmp_path):
    """An id or a bound from an array ended `save` in a TypeError of json, or in words that asked
    for the whole number that it was."""
    table = Criteria(tuple(np.arange(2)), ("a", "b"), np.eye(2))
    session = PreferenceSession(table).prefer(np.int64(0), 1)
    session.bound("a", low=np.float32(0.25)).bound("b", low=np.int64(0)).undo()
    session.save(tmp_path / "s.json")
    again = PreferenceSession.load(tmp_path / "s.json")
    assert again.statements == session.statements
    assert again.events == session.events


def test_seeds_that_are_no_number_give_new_draws():
    """None gave the first sample again, and a list ended in "unhashable type"."""
    session = PreferenceSession(Criteria((0, 1), ("a", "b"), np.eye(2)))
    assert session.sample(random_state=1) is session.sample(random_state=1)
    for act in (
        lambda seed: session.sample(random_state=seed),
        lambda seed: session.noisy_sample(64, random_state=seed).sample,
    ):
        assert (act(None).draws != act(None).draws).any()
        assert (act([1, 2]).draws == act([1, 2]).draws).all()


def test_outlook_of_a_result_of_another_session():
    one = PreferenceSession(Criteria((0, 1), ("a", "b"), np.eye(2)))
    for other in (
        PreferenceSession(Criteria((0, 1, 2), ("a", "b"), np.ones((3, 2)))),
        PreferenceSession(Criteria((0, 1), ("a", "b", "c"), np.ones((2, 3)))),
    ):
        with pytest.raises(OptionError, match="one of this session"):
            one.outlook(other.result())
