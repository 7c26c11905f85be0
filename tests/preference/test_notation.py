from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulelens.errors import PreferenceError
from rulelens.preference.notation import parse_ranking


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("3>6>9=7", (("3",), ("6",), ("9", "7"))),
        ("  r3 >  r6 ", (("r3",), ("r6",))),
        ("a b = c", (("a b", "c"),)),
        ('"x>1" > \'y="2"\'', (("x>1",), ('y="2"',))),
        ("ä > 日本", (("ä",), ("日本",))),
    ],
)
def test_reads(text, groups):
    assert parse_ranking(text) == groups


@pytest.mark.parametrize(
    ("text", "message", "caret"),
    [
        ("", "The ranking is empty", 0),
        ("   ", "The ranking is empty", 0),
        ("3 >", "Expected an id after '>'", 3),
        ("> 3", "Expected an id, found '>'", 0),
        ("3 == 4", "Expected an id, found '='", 3),
        ("3 'a'", "Expected '>' or '=' before 'a'", 3),
        ("3 > 'a", "quote is not closed", 3),
        ("3 > ''", "id is empty", 5),
    ],
)
def test_fault_has_a_caret(text, message, caret):
    with pytest.raises(PreferenceError, match=message) as caught:
        parse_ranking(text)
    assert str(caught.value).splitlines()[-1].index("^") - 2 == caret


names = st.text(alphabet="abc 12.>=é", min_size=1).filter(lambda t: t.strip() == t)


@given(st.lists(st.lists(names, min_size=1, max_size=3), min_size=1, max_size=4))
def test_quoted_ids_round_trip(groups):
    text = " > ".join(" = ".join(f'"{n}"' for n in group) for group in groups)
    assert parse_ranking(text) == tuple(tuple(g) for g in groups)


@given(st.text(max_size=20))
def test_any_text_is_read_or_refused(text):
    try:
        groups = parse_ranking(text)
    except PreferenceError:
        return
    assert all(name for group in groups for name in group)
