"""Features and schemas."""

import numpy as np
import pytest

from rulelens.core.schema import Feature, Schema, level_key
from rulelens.errors import SchemaError, UnknownFeatureError


@pytest.mark.parametrize("name", ["a b", "a.b", "größe", "年齢", "x==1 and y", " "])
def test_any_text_is_a_name(name):
    assert Schema([Feature(name)]).index(name) == 0


@pytest.mark.parametrize("name", ["", 3, None])
def test_names_must_be_text(name):
    with pytest.raises(SchemaError):
        Feature(name)


def test_kinds_and_levels():
    assert Feature("b", "boolean").levels == (False, True)
    assert Feature("c", "categorical", [np.int64(1), "1", True]).levels == (1, "1", True)
    with pytest.raises(SchemaError, match="twice"):
        Feature("c", "categorical", (1, 1.0))
    with pytest.raises(SchemaError, match="cannot have levels"):
        Feature("n", "numeric", (1,))
    with pytest.raises(SchemaError, match="Did you mean"):
        Feature("n", "numerical")
    with pytest.raises(SchemaError):
        Feature("b", "boolean", ("no", "yes"))


def test_true_is_not_one():
    """Features whose levels select other rows were equal."""
    assert Feature("c", "categorical", (1,)) != Feature("c", "categorical", (True,))
    assert Feature("c", "categorical", (1,)) == Feature("c", "categorical", (1.0,))
    assert level_key(True) != level_key(1) != level_key("1")


def test_index_of_level():
    f = Feature("c", "categorical", ("a", 1, True))
    assert [f.index_of(v) for v in ("a", 1.0, True, "1", False)] == [0, 1, 2, 3, 3]


def test_schema_is_a_value():
    a, b = Schema.numeric(["x", "y"]), Schema([Feature("x"), Feature("y")])
    assert a == b
    assert hash(a) == hash(b)
    assert len({a, b}) == 1
    assert [f.name for f in a] == ["x", "y"]
    assert a["y"] is a[1]
    assert "x" in a
    assert "z" not in a


def test_errors_name_the_place_and_the_nearest():
    with pytest.raises(UnknownFeatureError, match=r"'agee' in rule 3.*Did you mean 'age'"):
        Schema.numeric(["age", "bmi"]).index("agee", where="rule 3")
    with pytest.raises(SchemaError, match="twice"):
        Schema.numeric(["a", "a"])
    with pytest.raises(SchemaError):
        Schema(["a"])
