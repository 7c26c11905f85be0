from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import pytest

from rulelens.errors import OptionError, PreferenceError
from rulelens.preference.criteria import Criteria
from rulelens.preference.inquiry import ranked_chain
from rulelens.preference.question_worth import (
    choice_bits,
    completable,
    entropy,
    membership_worth,
    order_worth,
    telling_choice,
)
from rulelens.preference.questions import Question, best_choice_set, best_insertion
from rulelens.preference.session import PreferenceSession
from rulelens.preference.statements import BestOf, Prefer, Ranking


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    return Criteria(tuple(range(60)), tuple("abcdefgh"), rng.random((60, 8)))


@pytest.mark.parametrize("goal", ["top_k", "ranking", "best"])
@pytest.mark.parametrize("form", ["pair", "best_of_5", "insert"])
def test_every_goal_and_form(table, goal, form):
    session = PreferenceSession(table).rank([1, 2])
    if session.conflict() is not None:  # pragma: no cover
        session.undo().rank([2, 1])
    question = session.next_question(goal, form)
    assert question.form == form
    assert len(set(question.shown)) == len(question.shown)
    assert len(question.shown) == {"pair": 2, "best_of_5": 5, "insert": 3}[form]
    assert 0 < question.information <= np.log2(5) + 1e-9
    assert 0 <= question.agreement <= 1
    assert question == session.next_question(goal, form)


def test_answers_become_statements(table):
    session = PreferenceSession(table)
    session.answer(Question(3, 6), 6)
    session.answer(Question(3, 6, (9,), "best_of_5"), 9)
    session.answer(Question(3, 6), None)
    session.answer(Question(5, 1, (2, 4), "insert"), 0)
    session.answer(Question(5, 1, (2, 4), "insert"), 2)
    session.answer(Question(5, 1, (2, 4), "insert"), 3)
    assert session.statements == (
        Prefer(6, 3),
        BestOf(9, (3, 6, 9)),
        Ranking(((3, 6),)),
        Ranking(((5,), (1,))),
        Ranking(((2,), (5,), (4,))),
        Ranking(((4,), (5,))),
    )


@pytest.mark.parametrize(
    ("question", "choice", "message"),
    [
        (Question(3, 6), 9, "Choose one of those shown"),
        (Question(3, 6), 99, "Unknown alternative"),
        (Question(5, 1, (2,), "insert"), 3, "Expected 0 to 2"),
        (Question(5, 1, (2,), "insert"), None, "how many of the 2 others"),
        (Question(5, 1, (2,), "insert"), True, "how many of the 2 others"),
    ],
)
def test_bad_answers(table, question, choice, message):
    session = PreferenceSession(table)
    with pytest.raises(PreferenceError, match=message):
        session.answer(question, choice)
    assert session.statements == ()


@pytest.mark.parametrize("form", ["pair", "insert", "best_of_5"])
def test_skipped_is_not_asked_again(table, form):
    session = PreferenceSession(table)
    if form == "insert":
        session.rank([0, 1] if session.rank([0, 1]).conflict() is None else [1, 0])
    asked = set()
    for _ in range(4):
        question = session.next_question(form=form)
        assert frozenset(question.shown) not in asked
        asked.add(frozenset(question.shown))
        session.skip(question)


@pytest.mark.parametrize("goal", ["top_k", "ranking", "best"])
def test_another_five_comes_after_a_skipped_one(table, goal):
    """After one skip all questions were pairs, for ever and without a word."""
    session = PreferenceSession(table)
    seen = set()
    for _ in range(6):
        question = session.next_question(goal, "best_of_5")
        assert (question.form, len(set(question.shown))) == ("best_of_5", 5)
        assert question.information > 0
        seen.add(frozenset(question.shown))
        session.skip(question)
        session = PreferenceSession.from_dict(session.to_dict())
    assert len(seen) == 6


@pytest.mark.parametrize("goal", ["top_k", "ranking", "best"])
@pytest.mark.parametrize("n", [3, 4, 5, 6])
def test_pairs_come_when_every_set_was_skipped(n, goal):
    """Each set of at least three is offered once, large ones first, before any pair."""
    table = Criteria(tuple(range(n)), tuple("abcdef"[:n]), np.eye(n))
    session = PreferenceSession(table)
    seen = []
    while (question := session.next_question(goal, "best_of_5", k=2)).form == "best_of_5":
        seen.append(frozenset(question.shown))
        session.skip(question)
    assert len(set(seen)) == len(seen) == sum(comb(n, size) for size in range(3, min(n, 5) + 1))
    sizes = [len(shown) for shown in seen]
    assert sizes == sorted(sizes, reverse=True)


@pytest.mark.parametrize("skips", [0, 1, 7, 30])
def test_completable_agrees_with_all_sets_counted(skips):
    rng = np.random.default_rng(skips)
    sets = [frozenset(s) for s in combinations(range(7), 4)]
    skipped = [sets[i] for i in rng.choice(len(sets), skips, replace=False)]
    skipped += [frozenset({0, 1, 2})]  # of another size: does not count
    for chosen in ([], [2], [0, 3], [1, 2, 6]):
        left = [s for s in sets if s.issuperset(chosen) and s not in skipped]
        expected = [c not in chosen and any(c in s for s in left) for c in range(7)]
        assert completable(chosen, 7, 4, skipped).tolist() == expected


def test_insertions_go_on_after_a_skip_and_end_in_pairs():
    """Where all was skipped, it said that nothing was left to ask."""
    table = Criteria(tuple(range(6)), tuple("abcdef"), np.eye(6))
    session = PreferenceSession(table).rank([0, 1])
    for _ in range(4):
        question = session.next_question(form="insert")
        assert question.form == "insert"
        session.skip(question)
    assert session.next_question(form="insert").form == "pair"


def test_a_skipped_five_hides_nothing_from_insertion():
    """Five others beside a ranking of four counted as five insertions that were skipped."""
    table = Criteria(tuple(range(9)), tuple("abcdefghi"), np.eye(9))
    session = PreferenceSession(table).rank([0, 1, 2, 3])
    session.skip(Question(4, 5, (6, 7, 8), "best_of_5"))
    assert session.next_question(form="insert").form == "insert"


def test_an_undone_skip_is_asked_again(table):
    session = PreferenceSession(table)
    for form in ("pair", "best_of_5"):
        first = session.next_question(form=form)
        assert session.skip(first).next_question(form=form) != first
        assert session.unskip().next_question(form=form) == first


def test_answers_settle_the_top(table):
    """A person with hidden weights: 30 answers bring the top 5 and the sign to stop."""
    hidden = np.random.default_rng(5).dirichlet(np.ones(8))
    utility = table.values @ hidden
    session = PreferenceSession(table)
    for _ in range(30):
        question = session.next_question()
        if question is None or question.enough:
            break
        a, b = question.shown
        session.answer(question, a if utility[a] > utility[b] else b)
    true_top = set(np.argsort(-utility)[:5].tolist())
    assert len(true_top & set(session.result().top(5))) >= 4
    assert session.next_question().agreement > 0.7


def test_insertion_keeps_the_chain(table):
    session = PreferenceSession(table).rank([0, 1, 2])
    session.answer(Question(7, 0, (1, 2), "insert"), 1)
    assert ranked_chain(session) == (0, 7, 1, 2)
    session.answer(Question(8, 0, (7, 1, 2), "insert"), 0)
    assert ranked_chain(session) == (8, 0, 7, 1, 2)
    session.answer(Question(9, 8, (0, 7, 1, 2), "insert"), 5)
    assert ranked_chain(session) == (8, 0, 7, 1, 2, 9)


def test_insert_needs_a_ranking(table):
    with pytest.raises(PreferenceError, match="none was stated"):
        PreferenceSession(table).next_question(form="insert")


def test_nothing_left_to_insert():
    values, draws = np.eye(2), np.full((5, 2), 0.5)
    assert best_insertion(values, draws, [0, 1]) is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"goal": "topk"}, "Did you mean 'top_k'"),
        ({"form": "pairs"}, "Did you mean 'pair'"),
        ({"k": 0}, "k is 0"),
    ],
)
def test_bad_options(table, options, message):
    with pytest.raises(OptionError, match=message):
        PreferenceSession(table).next_question(**options)


def test_choice_set_has_no_repeats():
    draws = np.random.default_rng(0).dirichlet(np.ones(3), 200)
    chosen, bits = best_choice_set(np.eye(3), draws)
    assert sorted(chosen.tolist()) == [0, 1, 2]
    assert bits == pytest.approx(np.log2(3), abs=0.05)


def test_best_of_five_falls_back_to_a_pair():
    table = Criteria("ab", ("x", "y"), [[1, 0], [0, 1]])
    assert PreferenceSession(table).next_question(form="best_of_5").form == "pair"


def test_entropy_bounds():
    np.testing.assert_allclose(entropy(np.array([0, 0.5, 1.0])), [0, 1, 0])


def test_worth_is_mutual_information_counted_by_hand():
    rng = np.random.default_rng(0)
    scores = rng.random((80, 4))
    members = np.argsort(np.argsort(-scores, axis=1), axis=1) < 2
    worth, bits = membership_worth(scores, members)
    pairs = [(i, j) for i in range(4) for j in range(i + 1, 4)]
    for pair, (i, j) in enumerate(pairs):
        yes = scores[:, i] > scores[:, j]
        told = 0.0
        for in_set in members.T:
            for answer in (yes, ~yes):
                for value in (in_set, ~in_set):
                    both = np.mean(answer & value)
                    if both > 0:
                        told += both * np.log2(both / (answer.mean() * value.mean()))
        assert worth[pair] == pytest.approx(told + 0.1 * bits[pair], abs=1e-5)


def told_by(shares, members):
    """Bits that a noisy choice tells about each membership, summed, counted cell by cell."""
    told = 0.0
    for in_set in members.T:
        for value in (in_set, ~in_set):
            for answer in shares.T:
                both = np.mean(answer * value)
                if both > 0:
                    told += both * np.log2(both / (answer.mean() * value.mean()))
    return told


def test_worth_of_noisy_answers_counted_by_hand():
    rng = np.random.default_rng(1)
    scores = rng.random((70, 4))
    noise = rng.uniform(0.05, 0.5, 70)
    members = np.argsort(np.argsort(-scores, axis=1), axis=1) < 2
    worth, bits = membership_worth(scores, members, noise)
    pairs = [(i, j) for i in range(4) for j in range(i + 1, 4)]
    for pair, (i, j) in enumerate(pairs):
        yes = 1 / (1 + np.exp(-(scores[:, i] - scores[:, j]) / noise))
        own = entropy(np.array([yes.mean()]))[0] - entropy(yes).mean()
        assert bits[pair] == pytest.approx(own, abs=1e-5)
        expected = told_by(np.stack([yes, 1 - yes], axis=1), members) + 0.1 * own
        assert worth[pair] == pytest.approx(expected, abs=1e-4)
    np.testing.assert_allclose(order_worth(scores, noise)[1], bits)


def test_little_noise_is_none():
    rng = np.random.default_rng(2)
    scores = rng.random((60, 5))
    members = np.argsort(np.argsort(-scores, axis=1), axis=1) < 2
    exact = membership_worth(scores, members)
    for quiet, loud in zip(
        membership_worth(scores, members, np.full(60, 1e-9)), exact, strict=True
    ):
        np.testing.assert_allclose(quiet, loud, atol=1e-5)
    chosen = telling_choice(scores, members, 4)
    assert telling_choice(scores, members, 4, noise=np.full(60, 1e-9)) == chosen
    assert choice_bits(scores, np.full(60, 1e-9)) == pytest.approx(choice_bits(scores), abs=1e-6)


def test_under_noise_a_close_call_tells_less_than_a_clear_one():
    """Both orders are open; but an answer about the first two would be mostly noise."""
    rng = np.random.default_rng(3)
    middle = rng.random(400)
    scores = np.column_stack([middle, middle + rng.choice([-0.01, 0.01], 400), rng.random(400)])
    members = np.argsort(np.argsort(-scores, axis=1), axis=1) < 1
    close, clear, _ = membership_worth(scores, members)[1]
    assert (close, clear) == pytest.approx((1, 1), abs=0.02)
    close, clear, _ = membership_worth(scores, members, np.full(400, 0.2))[1]
    assert close < 0.01 < 0.2 < clear


def test_five_for_noisy_answers_tell_as_much_as_the_best_of_all_sets():
    """The greedy set is close to the best of all, each counted by hand."""
    rng = np.random.default_rng(4)
    scores = rng.random((150, 7)) + rng.random(7)
    noise = np.full(150, 0.15)
    members = np.argsort(np.argsort(-scores, axis=1), axis=1) < 2

    def worth(chosen):
        shares = np.exp(scores[:, chosen] / 0.15)
        shares /= shares.sum(axis=1, keepdims=True)
        return told_by(shares, members) + 0.1 * choice_bits(scores[:, chosen], noise)

    found = worth(telling_choice(scores, members, 3, noise=noise))
    every = [worth(list(chosen)) for chosen in combinations(range(7), 3)]
    assert found >= 0.95 * max(every)
    assert found > 1.2 * np.median(every)


@pytest.mark.parametrize("goal", ["top_k", "ranking", "best"])
@pytest.mark.parametrize("form", ["pair", "best_of_5"])
def test_questions_to_a_person_who_errs(table, goal, form):
    session = PreferenceSession(table).prefer(0, 1).prefer(1, 0)
    question = session.next_question(goal, form, noisy=True)
    assert question.form == form
    assert 0 < question.information < 1.5
    assert session.next_question(goal, form, noisy=True) == question


def test_an_answer_about_the_noise_alone_is_no_question():
    """One criterion settles every order; only how often the person errs is open."""
    one = PreferenceSession(Criteria(tuple(range(6)), ("x",), np.arange(6.0)[:, None]))
    for goal in ("top_k", "ranking", "best"):
        for form in ("pair", "best_of_5"):
            assert one.next_question(goal, form, noisy=True) is None


def test_choice_that_tells_about_the_set():
    """Alternatives 0 and 1 compete for a place in the set; 2 and 3 are in or out for certain."""
    rng = np.random.default_rng(0)
    scores = np.column_stack([rng.random(300), rng.random(300), np.full(300, 5), np.full(300, -5)])
    members = np.argsort(np.argsort(-scores, axis=1), axis=1) < 2
    assert sorted(telling_choice(scores, members, 2)) == [0, 1]


@pytest.mark.parametrize("goal", ["top_k", "best"])
def test_identical_alternatives_are_no_question(goal):
    table = Criteria("abc", ("x", "y"), [[1, 1], [1, 1], [0, 0]])
    assert PreferenceSession(table).next_question(goal) is None


def test_priors_for_questions(table):
    session = PreferenceSession(table)
    assert session.next_question(prior="uniform").information > 0
    with pytest.raises(OptionError, match="Did you mean 'uniform'"):
        session.next_question(prior="uniforn")
