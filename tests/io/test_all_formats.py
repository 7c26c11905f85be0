"""Every format: the same rows through any pair of them, and no error but ours on any text."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rule_strategies import random_rows, rule_sets

from rulelens.core.ruleset import RuleSet
from rulelens.errors import FormatError, RulelensError
from rulelens.io.format import FORMATS
from rulelens.io.formats import format_rules, parse_rules

BOTH = ("json", "text", "pmml")
READ = tuple(n for n in FORMATS if FORMATS[n].read is not None)
WRITTEN = tuple(n for n in FORMATS if FORMATS[n].write is not None)
EXAMPLES = {
    "rulex": 'RULE 1: IF -2 < V1 <= 5e-1 AND "c d" in {a, "b, c"} THEN y in {no}, COVERING: '
    "0.5(wo cond. 1: 0.1; wo cond. 2: 0), ERROR: 0.1(wo cond. 1: 0.2; wo cond. 2: 0.3)",
    "prolog": "iris(A, B, yes) :- '=<'(A, 2.28), (A not_in [1, 2.5], B = 'x y'). iris(A, B, no).",
    "export_text": "|--- a b <= 0.80\n|   |--- class: x\n|--- a b >  0.80\n|   |--- class: y\n",
    "wittgenstein": "[[n=>27.0^c=x] V [a=-1.0--0.5] V [True]]",
}
PLAIN = rule_sets(
    levels=st.text("abcxyz ,\"'<&{", max_size=4), outcomes=st.text("abc é", max_size=4)
)


@given(PLAIN, st.sampled_from(BOTH), st.sampled_from(BOTH), st.integers(0, 2**32))
@settings(max_examples=150, deadline=None)
def test_any_pair_selects_the_same_rows(rules: RuleSet, first: str, second: str, seed: int) -> None:
    try:
        one = parse_rules(format_rules(rules, format=first), format=first)
        two = parse_rules(format_rules(one, format=second), format=second)
    except FormatError as e:
        assert "XML cannot carry" in str(e)  # noqa: PT017
        return
    rows = random_rows(rules.schema, rules, np.random.default_rng(seed), 20)
    for row in rows:
        assert [r.covers(row) for r in two] == [r.covers(row) for r in rules]
    text = format_rules(two, format=second)
    assert format_rules(parse_rules(text, format=second), format=second) == text
    assert (two.outcomes, two.ordered, two.default) == (
        rules.outcomes,
        rules.ordered,
        rules.default,
    )


@given(rule_sets(), st.sampled_from(WRITTEN))
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_every_writer_gives_text_or_an_error_of_ours(rules: RuleSet, name: str) -> None:
    with contextlib.suppress(FormatError):
        format_rules(rules, format=name).encode()


def mutations(text: str) -> st.SearchStrategy[str]:
    """A valid text with pieces cut out, doubled or replaced."""
    piece = st.tuples(
        st.integers(0, len(text)),
        st.integers(0, 12),
        st.one_of(
            st.text(max_size=4), st.sampled_from(["", "9" * 400, "(" * 3000, "[", '"', "\0"])
        ),
    )

    def change(cuts: list[tuple[int, int, str]]) -> str:
        out = text
        for start, length, new in cuts:
            out = out[:start] + new + out[start + length :]
        return out

    return st.lists(piece, min_size=1, max_size=4).map(change)


@pytest.mark.parametrize("name", READ)
@given(data=st.data())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_every_reader_gives_rules_or_an_error_of_ours(name: str, data: st.DataObject) -> None:
    text = EXAMPLES.get(name, "")
    if not text:
        with contextlib.suppress(FormatError):
            text = format_rules(data.draw(PLAIN), format=name)
    broken = data.draw(st.one_of(mutations(text), st.text(max_size=40)))
    with contextlib.suppress(RulelensError):
        parse_rules(broken, format=name)


@pytest.mark.parametrize("name", READ)
@pytest.mark.parametrize(
    "piece", ["9" * 200_000 + "x", " " * 200_000 + "?", "(" * 20_000, '"' * 100_001]
)
def test_no_reader_hangs(name: str, piece: str) -> None:
    """Patterns that try every way to split a long run take hours on it."""
    text = EXAMPLES.get(name, "IF a > {} THEN y")
    for broken in (piece, text.replace("2", piece, 1).replace("{}", piece), text + piece):
        with contextlib.suppress(RulelensError):
            parse_rules(broken, format=name)


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_are_valid(name: str) -> None:
    assert len(parse_rules(EXAMPLES[name], format=name))
