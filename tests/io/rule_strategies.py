"""Hypothesis strategies: schemas, conditions and rule sets of every shape."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import strategies as st

from rulelens.core.conditions import Condition, Interval, Membership, Missing
from rulelens.core.rule import Rule
from rulelens.core.ruleset import RuleSet
from rulelens.core.schema import Feature, Level, Schema, level_key
from rulelens.errors import ContradictionError

NAMES = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12),
    st.sampled_from(["age", "heart rate", "a.b", "V1", "x_1", "ü∑", '"q"', "a AND b", "in {c}"]),
)
NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(-100, 100).map(float),
    st.floats(allow_nan=False, allow_infinity=False, width=32),
)
LEVELS: st.SearchStrategy[Level] = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    st.sampled_from(["1", "1.0", "True", "null", "a, b", "{", '"', "it's", " pad "]),
    st.integers(-(2**70), 2**70),
    st.integers(-3, 3),
    st.booleans(),
    st.floats(allow_nan=False, allow_infinity=False),
)


@st.composite
def schemas(draw: st.DrawFn, levels: st.SearchStrategy[Level] = LEVELS) -> Schema:
    names = draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    return Schema([draw(_features(name, levels)) for name in names])


@st.composite
def _features(draw: st.DrawFn, name: str, levels: st.SearchStrategy[Level]) -> Feature:
    kind = draw(st.sampled_from(["numeric", "categorical", "boolean"]))
    unit = draw(st.one_of(st.none(), st.text("mHg µ/", max_size=3)))
    if kind != "categorical":
        return Feature(name, kind, unit=unit)
    chosen = draw(st.lists(levels, max_size=5, unique_by=level_key))
    return Feature(name, "categorical", tuple(chosen), unit)


@st.composite
def conditions(draw: st.DrawFn, feature: Feature, *, plain: bool = False) -> Condition:
    or_missing = False if plain else draw(st.booleans())
    if not plain and draw(st.integers(0, 9)) == 0:
        return Missing()
    if feature.is_numeric:
        low = draw(st.one_of(st.just(-math.inf), NUMBERS))
        high = draw(st.one_of(st.just(math.inf), NUMBERS))
        if low > high:
            low, high = high, low
        ends = draw(st.tuples(st.booleans(), st.booleans()))
        precision = "float64" if plain else draw(st.sampled_from(["float64", "float32"]))
        try:
            return Interval(low, high, *ends, or_missing, precision)
        except ContradictionError:
            return Interval(low, high, True, True, or_missing)
    negated = draw(st.booleans()) or not feature.levels
    chosen = draw(
        st.lists(st.sampled_from(feature.levels), min_size=int(not negated), max_size=4)
        if feature.levels
        else st.just([])
    )
    return Membership(chosen, negated, or_missing)


@st.composite
def rule_sets(
    draw: st.DrawFn,
    *,
    levels: st.SearchStrategy[Level] = LEVELS,
    outcomes: st.SearchStrategy[Level] = LEVELS,
    plain: bool = False,
    provenance: bool = True,
) -> RuleSet:
    schema = draw(schemas(levels))
    labels = draw(st.lists(outcomes, min_size=1, max_size=4, unique_by=level_key))
    ordered = draw(st.booleans())
    default = draw(st.sampled_from([None, *labels])) if ordered else None
    columns = draw(st.lists(st.text(max_size=5), max_size=3, unique=True)) if provenance else []
    rules = []
    for _ in range(draw(st.integers(0, 6))):
        chosen = draw(st.lists(st.sampled_from(schema.features), max_size=4, unique_by=id))
        pairs = [(f.name, draw(conditions(f, plain=plain))) for f in chosen]
        origin = [(c, draw(LEVELS)) for c in columns if draw(st.booleans())]
        rules.append(Rule(pairs, draw(st.sampled_from(labels)), origin))
    return RuleSet.from_rules(rules, schema, outcomes=labels, ordered=ordered, default=default)


def random_rows(
    schema: Schema, rules: RuleSet, rng: np.random.Generator, n: int
) -> list[dict[str, Level | None]]:
    """Rows with missing values, unseen levels and numbers one ulp around every end."""
    c = rules.conditions
    pool: dict[str, list[Level | None]] = {}
    for i, f in enumerate(schema):
        if f.is_numeric:
            ends = np.concatenate([c.low[c.feature == i], c.high[c.feature == i], [0.0, 1e308]])
            ends = ends[np.isfinite(ends)]
            with np.errstate(over="ignore", under="ignore"):
                single = ends.astype(np.float32)
                near = [ends, np.nextafter(ends, np.inf), np.nextafter(ends, -np.inf), single]
                near += [np.nextafter(single, np.float32(s)) for s in (np.inf, -np.inf)]
            values = np.unique(np.concatenate([a.astype(float) for a in near]))
            pool[f.name] = [None, *values[np.isfinite(values)].tolist()]
        else:
            pool[f.name] = [None, *f.levels]
    return [{k: v[int(rng.integers(len(v)))] for k, v in pool.items()} for _ in range(n)]
