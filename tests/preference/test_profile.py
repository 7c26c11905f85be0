from __future__ import annotations

import json

import numpy as np
import pytest

from rulelens.errors import FormatError, OptionError, PreferenceError
from rulelens.preference.criteria import Criteria
from rulelens.preference.profile import Profile, profile_of
from rulelens.preference.session import PreferenceSession
from rulelens.preference.simulate import random_weights
from rulelens.preference.statements import Recalled
from rulelens.preference.xmcda import to_xmcda

FIRST = Criteria(
    ("r1", "r2", "r3"), ("age", "bmi", "support"), [[1, 0, 0.2], [0, 1, 0.3], [1, 1, 0]]
)
OTHER = Criteria(("a", "b"), ("sex", "age", "support"), [[1, 0, 0.5], [0, 1, 0.4]])


@pytest.fixture
def profile():
    session = PreferenceSession(FIRST).rank("r1 > r2 = r3").bound("bmi", high=0.5)
    return Profile(name="Ada").remember(session, "row 7")


def test_statements_become_what_they_say_about_weights(profile):
    assert profile.phrases == (
        "r1 over r2 (row 7)",
        "r2 as good as r3 (row 7)",
        "weight of 'bmi' at most 0.5 (row 7)",
    )
    assert profile.statements[0] == Recalled(
        "strict", (("age", 1.0), ("bmi", -1.0), ("support", -0.1)), "r1 over r2", "row 7"
    )
    assert profile.names == ("age", "bmi", "support")


def test_same_weights_as_the_session_that_it_came_from(profile):
    own = PreferenceSession(FIRST).rank("r1 > r2 = r3").bound("bmi", high=0.5).result()
    again = profile.session(FIRST).result()
    for name, weight in own.weights.items():
        assert again.weights[name] == pytest.approx(weight, abs=1e-9)


def test_criteria_align_by_name_and_others_stay_free(profile):
    session = profile.session(OTHER)
    assert session.criteria.names == ("sex", "age", "support", "bmi")
    result = session.result()
    assert result.statements == ()
    assert result.reference == ()
    assert result.weights["age"] > result.weights["bmi"]
    assert session.next_question() is not None
    with pytest.raises(ValueError, match="nothing to undo"):
        session.undo()


def test_conflict_names_the_statement_of_the_profile():
    profile = profile_of([("row 1", PreferenceSession(FIRST).prefer("r1", "r2"))])
    other = Criteria(("p", "q"), FIRST.names, [[1, 0, 0.2], [0, 1, 0.3]])
    session = profile.session(other).prefer("q", "p")
    assert session.conflict().phrases == ("r1 over r2 (row 1)", "q over p")
    assert session.conflict().sources == (-1, 0)
    assert profile.without(0).session(other).prefer("q", "p").conflict() is None


def test_background_is_not_remembered_twice(profile):
    session = profile.session(OTHER).prefer("b", "a")
    assert len(profile.remember(session, "row 8")) == len(profile) + 1


def test_edit_and_withdraw(profile):
    assert len(profile.without(0, 2)) == 1
    assert len(profile.without(about="row 7")) == 0
    assert profile.renamed({"bmi": "body mass"}).names == ("age", "body mass", "support")
    assert len(profile.pooled(profile)) == 6
    with pytest.raises(OptionError, match="no statement 3"):
        profile.without(3)


def test_files(profile, tmp_path):
    profile.save(tmp_path / "p.json")
    assert Profile.load(tmp_path / "p.json") == profile
    data = json.loads((tmp_path / "p.json").read_text(encoding="utf-8"))
    for change, message in (
        ({"format": "x"}, "no saved profile"),
        ({"version": 9}, "version 9; version 1"),
        ({"statements": None}, "no list of statements"),
        ({"statements": [{"type": "prefer", "better": 1, "worse": 2}]}, "not a recalled one"),
    ):
        with pytest.raises(FormatError, match=message):
            Profile.from_dict(data | change)


def test_frame(profile):
    frame = profile.to_frame()
    assert frame["bmi"].tolist() == [-1.0, 0.0, -0.5]
    assert frame["about"].tolist() == ["row 7"] * 3
    assert not frame.isna().any().any()
    assert len(Profile().to_frame()) == 0


def test_certificates_use_the_profile(profile):
    other = Criteria(("p", "q"), FIRST.names, [[1, 0, 0.2], [0, 1, 0.3]])
    proof = profile.session(other).necessary("p", "q")
    assert "because you said r1 over r2 (row 7)" in str(proof)


def test_a_profile_makes_the_next_row_personal():
    """The same person's hidden weights: ten rows judged beat none on a row never judged."""
    rng = np.random.default_rng(0)
    names = tuple("abcdefgh")
    gains = []
    for weights in random_weights(8, 6, prior="simplex", random_state=1):
        profile = Profile()
        for row in range(10):
            table = Criteria(tuple(range(20)), names, rng.random((20, 8)))
            utility = table.values @ weights
            shown = rng.choice(20, 4, replace=False)
            order = shown[np.argsort(-utility[shown])].tolist()
            profile = profile.remember(PreferenceSession(table).rank(order), f"row {row}")
        unseen = Criteria(tuple(range(40)), names, rng.random((40, 8)))
        true = set(np.argsort(-(unseen.values @ weights))[:5].tolist())
        hits = [len(true & set(p.session(unseen).result().top(5))) for p in (profile, Profile())]
        gains.append(hits[0] - hits[1])
    assert np.mean(gains) > 1


def test_what_is_no_profile_statement_position_or_name(tmp_path):
    """Some ended in an AttributeError, some were saved as a file that could not be read again."""
    session = PreferenceSession(Criteria((0, 1), ("a", "b"), np.eye(2))).prefer(0, 1)
    profile = Profile().remember(session, "row 1")
    for act in (
        lambda: profile.pooled(None),
        lambda: profile.remember(session, 3),
        lambda: profile.without(True),
        lambda: Profile(name=3),
        lambda: to_xmcda(None),
    ):
        with pytest.raises(OptionError):
            act()
    with pytest.raises(PreferenceError, match="recalled statements"):
        Profile((1, 2))
    assert len(profile.without(np.int64(0))) == 0
    assert hash(Profile(list(profile.statements))) == hash(Profile(profile.statements))
    with pytest.raises(FormatError, match="no text"):
        Profile.from_dict(profile.to_dict() | {"name": 3})
