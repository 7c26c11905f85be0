"""Sessions as XMCDA 4, the exchange format of decision aiding; written, not read."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import TYPE_CHECKING

from rulelens.errors import OptionError
from rulelens.files import write_bytes
from rulelens.preference.ranking import PreferenceResult

if TYPE_CHECKING:
    from rulelens.preference.session import PreferenceSession

NAMESPACE = "http://www.decision-deck.org/2021/XMCDA-4.0.0"

# What XML 1.0 cannot hold, not even as a character reference.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_xmcda(session: PreferenceSession, result: PreferenceResult | None = None) -> str:
    """XMCDA 4.0.0 text of a session: alternatives, criteria, values, statements and weights.

    Every elementary statement is a linear constraint on the weights, named by its phrase, with the
    concept "strict", "weak" or "equal": XMCDA knows ≥ and = but not >. Alternatives are a1, a2 …
    and criteria c1, c2 … in the session's order, with their ids and names as names. Characters that
    XML cannot hold become "?".

    Parameters
    ----------
    session : PreferenceSession
    result : PreferenceResult, optional
        Whose weights to write; no weights are written without.

    Raises
    ------
    OptionError
        The result is not about the session's criteria, or the session is none.

    Examples
    --------
    >>> from rulelens.preference.session import PreferenceSession
    >>> from rulelens.preference.table import Criteria
    >>> c = Criteria(("a", "b"), ("short", "sure"), [[1, 0.2], [0, 0.9]])
    >>> s = PreferenceSession(c).prefer("a", "b")
    >>> '<constraint name="a over b" mcdaConcept="strict">' in to_xmcda(s, s.result())
    True

    References
    ----------
    Decision Deck: XMCDA 4.0.0 (2021).
    """
    from rulelens.preference.session import PreferenceSession

    if not isinstance(session, PreferenceSession):
        raise OptionError(f"{session!r} is no session. Expected a PreferenceSession.")
    criteria = session.criteria
    if result is not None and (
        not isinstance(result, PreferenceResult) or tuple(result.weights) != criteria.names
    ):
        raise OptionError("The result is not one of this session. Pass session.result().")
    root = ET.Element("xmcda", xmlns=NAMESPACE)
    labels = session.labels
    group = ET.SubElement(root, "alternatives")
    for i, alternative in enumerate(criteria.alternatives, start=1):
        name = _clean(labels.get(alternative, str(alternative)))
        ET.SubElement(group, "alternative", id=f"a{i}", name=name)
    group = ET.SubElement(root, "criteria")
    for j, name in enumerate(criteria.names, start=1):
        ET.SubElement(group, "criterion", id=f"c{j}", name=_clean(name))
    group = ET.SubElement(root, "performanceTable")
    for i, row in enumerate(criteria.values.tolist(), start=1):
        cells = ET.SubElement(group, "alternativePerformances")
        ET.SubElement(cells, "alternativeID").text = f"a{i}"
        for j, value in enumerate(row, start=1):
            cell = ET.SubElement(cells, "performance")
            ET.SubElement(cell, "criterionID").text = f"c{j}"
            _real(ET.SubElement(ET.SubElement(cell, "values"), "value"), value)
    _constraints(root, session)
    group = ET.SubElement(root, "criteriaScales")
    for j in range(1, len(criteria.names) + 1):
        scale = ET.SubElement(group, "criterionScales")
        ET.SubElement(scale, "criterionID").text = f"c{j}"
        numbers = ET.SubElement(ET.SubElement(scale, "scales"), "scale")
        kind = ET.SubElement(numbers, "quantitative")
        ET.SubElement(kind, "preferenceDirection").text = "max"
    if result is not None:
        group = ET.SubElement(root, "criteriaValues", mcdaConcept="weights")
        for j, weight in enumerate(result.weights.values(), start=1):
            entry = ET.SubElement(group, "criterionValues")
            ET.SubElement(entry, "criterionID").text = f"c{j}"
            _real(ET.SubElement(ET.SubElement(entry, "values"), "value"), weight)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode")


def _constraints(root: ET.Element, session: PreferenceSession) -> None:
    said = [c for c in session.constraints() if c.row.any()]
    if not said:
        return
    group = ET.SubElement(root, "criteriaLinearConstraints", mcdaConcept="statements")
    listed = ET.SubElement(group, "constraints")
    for constraint in said:
        entry = ET.SubElement(
            listed, "constraint", name=_clean(constraint.phrase), mcdaConcept=constraint.kind
        )
        terms = ET.SubElement(entry, "elements")
        for j, value in enumerate(constraint.row.tolist(), start=1):
            if value:
                term = ET.SubElement(terms, "element")
                ET.SubElement(term, "criterionID").text = f"c{j}"
                _real(ET.SubElement(term, "coefficient"), value)
        ET.SubElement(entry, "operator").text = "eq" if constraint.kind == "equal" else "geq"
        _real(ET.SubElement(entry, "rhs"), 0.0)


def _real(parent: ET.Element, value: float) -> None:
    ET.SubElement(parent, "real").text = repr(float(value))


def _clean(text: str) -> str:
    return _NOT_XML.sub("?", text)


def write_xmcda(
    session: PreferenceSession, path: str | Path, result: PreferenceResult | None = None
) -> Path:
    """Write `to_xmcda` as a file, whole or not at all, and return its path."""
    head = '<?xml version="1.0" encoding="UTF-8"?>\n'
    return write_bytes(path, (head + to_xmcda(session, result) + "\n").encode("utf-8"))
