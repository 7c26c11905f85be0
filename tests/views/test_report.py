"""The HTML report: whole, safe with any name, and honest in its numbers."""

import html
import re

import numpy as np
import pandas as pd
import pytest

import rulelens as rl
from rulelens.errors import OutputError
from rulelens.views.numbers import count, lower_end, number, share
from rulelens.views.report import render_report, write_report

EVIL = "<script>alert('x')</script>\"'&{{7*7}}"


@pytest.fixture(scope="module")
def parts():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 4)).round(2), columns=["a", "$b^2$", EVIL, "名前"])
    X["level"] = rng.choice([EVIL, "plain"], 200)

    def model(Z):
        return np.where((Z["a"] > 0) & (Z["level"] == EVIL) | (Z["名前"] > 1), EVIL, "no")

    explainer = rl.RuleExplainer(model, min_confidence=0.9).fit(X)
    row = int(np.flatnonzero((X["level"] == EVIL) & (X["a"] > 0.5))[0])
    explanation = explainer.explain(X.iloc[row])
    return explainer, explanation, X


def test_every_name_and_value_is_text(parts):
    explainer, e, X = parts
    personal = e.session().rank([1, 0]).result()
    graph = explainer.feature_graph(e.rules)
    fidelity = explainer.fidelity(e.rules, X)
    page = render_report(e, personal=personal, graph=graph, fidelity=fidelity, title=EVIL,
                         about=(EVIL,))  # fmt: skip
    assert "<script" not in page
    assert "49" not in re.findall(r"alert\(&#39;x&#39;\)&lt;/script&gt;[^<]{0,20}", page)
    assert html.escape("<script>") in page
    assert "名前" in page
    assert "$b^2$" in page


def test_the_page_asks_for_nothing_from_outside(parts):
    e = parts[1]
    page = render_report(e)
    assert "default-src 'none'" in page
    assert not re.findall(r"""(?:src|href)\s*=|url\(|@import|https?://""", page)


def test_every_rule_is_there_with_its_counts(parts):
    e = parts[1]
    page = html.unescape(render_report(e))
    for k, rule in enumerate(e.rules):
        for name, condition in rule.conditions:
            assert condition.describe(name) in page, k
    assert f"{len(e)} rules cover the row" in page


def test_a_report_without_rules_says_why_and_shows_relaxations():
    X = pd.DataFrame({"a": [0.0, 0, 0, 1, 1, 1], "b": [0.0, 1, 0, 1, 0, 1]})
    answer = np.array(["x", "x", "y", "y", "y", "x"])
    e = rl.RuleExplainer(lambda Z: answer[: len(Z)]).fit(X).explain(X.iloc[0])
    page = render_report(e)
    assert "No rule qualifies." in page
    assert "The nearest rules that do not qualify" in page


def test_a_warning_where_the_rules_fail_on_rows_kept_apart(parts):
    e = parts[1]
    low = pd.DataFrame({"covered": [10] * len(e), "agree": [5] * len(e), "fidelity": 0.5})
    assert "That is low" in render_report(e, fidelity=low)
    none = low.assign(covered=0, agree=0)
    assert "could not be checked" in render_report(e, fidelity=none)


def test_writing_replaces_whole_files_and_refuses_what_it_cannot_write(parts, tmp_path):
    e = parts[1]
    path = write_report(tmp_path / "r.html", e)
    first = path.read_bytes()
    assert e.to_html(path) == path
    assert path.read_bytes() == first
    assert [p.name for p in tmp_path.iterdir()] == ["r.html"]
    with pytest.raises(OutputError, match="does not exist"):
        e.to_html(tmp_path / "none" / "r.html")
    with pytest.raises(OutputError, match="is a folder"):
        e.to_html(tmp_path)


def test_a_failed_write_leaves_the_old_file(parts, tmp_path, monkeypatch):
    e = parts[1]
    path = write_report(tmp_path / "r.html", e)
    before = path.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(OutputError, match="No space left"):
        e.to_html(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["r.html"]


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.0, "100 %"), (0.0, "0 %"), (1 - 1e-9, "> 99.9 %"), (1e-9, "< 0.1 %"), (0.5, "50.0 %"),
     (0.9994, "99.9 %"), (0.9995, "> 99.9 %"), (np.nan, "–"), (None, "–")],
)  # fmt: skip
def test_shares_never_claim_more_than_is_true(value, text):
    assert share(value).replace("\xa0", " ") == text


def test_numbers_and_counts():
    assert number(-0.0001) == "0.000"
    assert number(-2.5, 1) == "−2.5"
    assert count(0, "rule") == "0 rules"


def test_three_hundred_rules_and_more_are_cut_and_it_is_said():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 2, (800, 12)).astype(float))
    e = (
        rl.RuleExplainer(lambda Z: (Z.sum(axis=1) > 6).astype(int), minimal=False, max_length=7)
        .fit(X)
        .explain(X.iloc[0])
    )
    assert len(e) > 300
    assert f"{len(e) - 300} more rules are not shown" in render_report(e)


@pytest.fixture(scope="module")
def twins():
    """An explanation in which every rule has twins, and some rules have exceptions."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"a": rng.normal(size=300), "b": rng.normal(size=300)})
    X["a2"], X["b2"] = X["a"], X["b"]
    model = lambda Z: ((Z["a"] > 0.1) & (Z["b"] > 0.1)).astype(int)  # noqa: E731
    e = rl.RuleExplainer(model, min_confidence=0.6).fit(X).explain(X.iloc[0])
    assert e.groups
    return e


def test_ranked_pages_and_terminal_say_which_rules_cover_the_same_rows(twins):
    """The cards of a ranked page did not."""
    from rulelens.cli.text import text_of

    personal = twins.session().rank([1, 0]).result()
    cards = render_report(twins, personal=personal).split("<h2>All rules")[0]
    terminal = text_of(twins, personal, None, 100)
    for k in personal.top():
        group = next((g for g in twins.groups if k in g), ())
        others = [m for m in group if m != k]
        if others:
            noun = "rule" if len(others) == 1 else "rules"
            text = f"covers the same rows as {noun} {', '.join(map(str, others[:6]))}"
            assert f"It {text}" in cards
            assert text in terminal
    assert "It covers the same rows as" in cards


def test_terminal_and_page_round_alike(twins):
    """The end of an interval was rounded down in one, and to the nearest in the other."""
    from rulelens.cli.text import text_of

    assert lower_end(0.83182) == "83.1\xa0%"
    page, terminal = render_report(twins), text_of(twins, None, None, 100)
    for k, low in enumerate(twins.counts.measure("confidence_low")):
        assert f'<td class="n">{lower_end(low)}</td>' in page, k
        assert f"95\xa0% interval from {lower_end(low)}" in terminal, k


def test_a_lower_end_of_whole_tenths_keeps_them():
    for tenth in range(1, 1000):
        assert lower_end(tenth / 1000) == f"{tenth / 10:.1f}\xa0%"


def test_a_search_that_found_enough_does_not_read_as_if_it_found_too_many(twins):
    from dataclasses import replace

    page = render_report(replace(twins, stop="enough"))
    assert "With 20 rules or more at this length, longer ones are not looked for." in page
    assert "1 conditions" not in render_report(replace(twins, length=1, stop="length"))


def test_pages_of_searches_that_were_cut_short_do_not_say_that_no_rule_qualifies():
    X = np.random.default_rng(0).integers(0, 3, (400, 9)).astype(float)
    model = lambda Z: (np.asarray(Z).sum(axis=1) % 2).astype(int)  # noqa: E731
    options = {"time_budget": 1e-9, "min_support": 30, "min_confidence": 0.95}
    page = render_report(rl.RuleExplainer(model, **options).fit(X).explain(X[0]))
    assert "No rule was found." in page
    assert "No rule qualifies." not in page
    assert "falls short: confidence below 0.95" in page
    page = render_report(rl.RuleExplainer(model, time_budget=1e-9).fit(X).explain(X[0]))
    assert "do not qualify" not in page
    assert "The search was cut short: other rules may qualify too." in page
