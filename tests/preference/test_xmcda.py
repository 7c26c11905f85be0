from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from rulelens.errors import OptionError, OutputError
from rulelens.preference.session import PreferenceSession
from rulelens.preference.table import Criteria
from rulelens.preference.xmcda import NAMESPACE, to_xmcda, write_xmcda

IN = {"x": NAMESPACE}


@pytest.fixture
def session():
    criteria = Criteria(
        ("r1", 2, "r<3>\x00"), ("short", "sure", "é"), [[1, 0.2, 1e-7], [0, 0.9, 0], [0.4, 0.8, -1]]
    )
    session = PreferenceSession(criteria, labels={"r1": "one & co"}).rank(["r1", 2])
    return session.bound("sure", low=0.1, high=0.8).indifferent(2, "r<3>\x00")


def test_constraints_are_those_of_the_session(session):
    root = ET.fromstring(to_xmcda(session, session.result()))
    found = root.findall(".//x:constraint", IN)
    said = session.constraints()
    assert [c.get("name") for c in found] == [c.phrase.replace("\x00", "?") for c in said]
    assert [c.get("mcdaConcept") for c in found] == ["strict", "weak", "weak", "equal"]
    assert [c.findtext("x:operator", "", IN) for c in found] == ["geq", "geq", "geq", "eq"]
    for entry, constraint in zip(found, said, strict=True):
        terms = {
            e.findtext("x:criterionID", "", IN): float(e.findtext("x:coefficient/x:real", "", IN))
            for e in entry.findall(".//x:element", IN)
        }
        row = [terms.get(f"c{j}", 0.0) for j in (1, 2, 3)]
        assert row == constraint.row.tolist()


def test_another_reader_gets_the_same_numbers(session, tmp_path):
    """The reader checks the file against the schema of XMCDA 4.0.0 first."""
    reader = pytest.importorskip("xmcda.XMCDA", reason="xmcda is not installed")
    result = session.result()
    read = reader.load(str(write_xmcda(session, tmp_path / "s.xml", result)))
    assert [a.name for a in read.alternatives] == ["one & co", "2", "r<3>?"]
    names = list(read.criteria)
    assert [c.name for c in names] == ["short", "sure", "é"]
    table = read.performance_tables[0]
    values = [[table[a][c] for c in names] for a in read.alternatives]
    assert values == session.criteria.values.tolist()
    weights = read.criteria_values_list[0]
    assert weights.mcda_concept == "weights"
    found = [weights[c].values[0].v for c in names]
    assert found == list(result.weights.values())


def test_nothing_said_and_no_result(session):
    text = to_xmcda(PreferenceSession(session.criteria))
    assert "constraint" not in text
    assert "criteriaValues" not in text


def test_wrong_results_and_places(session, tmp_path):
    other = PreferenceSession(Criteria((1, 2), ("a", "b"), [[1, 0], [0, 1]]))
    for result in (other.result(), 5):
        with pytest.raises(OptionError, match="not one of this session"):
            to_xmcda(session, result)
    with pytest.raises(OutputError):
        write_xmcda(session, tmp_path / "none" / "s.xml")
