"""The border: every kind of table and label, as arrays and a schema."""

import datetime
import decimal
import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulelens.core.schema import Feature, Schema
from rulelens.errors import SchemaError, TableError
from rulelens.frames import encode_row, one_row, read_labels, read_schema, read_table

MAKERS = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
makers = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())


def shown(X, schema=None):
    """Kinds, levels and values of a table, for comparing."""
    table = read_table(X, schema)
    return [(f.name, f.kind, f.levels, table.values(f.name)) for f in table.schema]


# ---------------------------------------------------------------------- kinds of columns
@makers
def test_every_library_gives_the_same(make):
    data = {
        "a b": [1, 2, None],
        "x.y": [0.5, None, -math.inf],
        "größe 年": ["b", None, "a"],
        "ok": [True, None, False],
    }
    assert shown(make(data)) == [
        ("a b", "numeric", (), [1.0, 2.0, None]),
        ("x.y", "numeric", (), [0.5, None, -math.inf]),
        ("größe 年", "categorical", ("a", "b"), ["b", None, "a"]),
        ("ok", "boolean", (False, True), [True, None, False]),
    ]


ARROW = "int64[pyarrow]"
COLUMNS = [
    (pd.array([1, None], dtype="Int64"), "numeric", [1.0, None]),
    (pd.array([None, None], dtype="Int64"), "numeric", [None, None]),
    (pd.array([1.5, None], dtype="Float64"), "numeric", [1.5, None]),
    (pd.array([1, None], dtype=ARROW), "numeric", [1.0, None]),
    (pd.array([True, None], dtype="boolean"), "boolean", [True, None]),
    (pd.array(["a", None], dtype="string"), "categorical", ["a", None]),
    (pd.array(["a", None], dtype="string[pyarrow]"), "categorical", ["a", None]),
    (pd.Categorical(["x", None], categories=["y", "x"]), "categorical", ["x", None]),
    (pd.Categorical([2, 1]), "categorical", [2, 1]),
    (pd.arrays.SparseArray([0, 1]), "numeric", [0.0, 1.0]),
    (np.array([True, None], dtype=object), "boolean", [True, None]),
    (np.array(["a", np.nan], dtype=object), "categorical", ["a", None]),
    (np.array(["a", pd.NA], dtype=object), "categorical", ["a", None]),
    (np.array([1, 2.5], dtype=object), "numeric", [1.0, 2.5]),
    (np.array([decimal.Decimal("0.5"), None], dtype=object), "numeric", [0.5, None]),
    (np.array([1, 2], dtype=np.uint8), "numeric", [1.0, 2.0]),
    (np.array([1, 2.5], dtype=np.float16), "numeric", [1.0, 2.5]),
    (np.array([], dtype=np.int64), "numeric", []),
    (np.array([], dtype=object), "numeric", []),
]


@pytest.mark.parametrize(("column", "kind", "values"), COLUMNS, ids=lambda v: str(v)[:20])
def test_pandas_columns(column, kind, values):
    ((_, found, _, got),) = shown(pd.DataFrame({"c": column}))
    assert (found, got) == (kind, values)


POLARS = [
    (pl.Series([None, 1], dtype=pl.Int64), "numeric", [None, 1.0]),
    (pl.Series([], dtype=pl.Int64), "numeric", []),
    (pl.Series([], dtype=pl.String), "categorical", []),
    (pl.Series([None, None]), "numeric", [None, None]),
    (pl.Series(["b", None], dtype=pl.Categorical), "categorical", ["b", None]),
    (pl.Series(["b", None], dtype=pl.Enum(["b", "a"])), "categorical", ["b", None]),
    (pl.Series([decimal.Decimal("1.5"), None]), "numeric", [1.5, None]),
    (pl.Series([1.0, math.nan, None]), "numeric", [1.0, None, None]),
]


@pytest.mark.parametrize(("column", "kind", "values"), POLARS, ids=lambda v: str(v)[:20])
def test_polars_columns(column, kind, values):
    ((_, found, _, got),) = shown(pl.DataFrame({"c": column}))
    assert (found, got) == (kind, values)


def test_arrow_columns():
    table = pa.table(
        {
            "d": pa.array(["a", None, "b"]).dictionary_encode(),
            "n": pa.array([None, None, None]),
            "m": pa.array([decimal.Decimal("1.5"), None, None]),
        }
    )
    assert [(k, v) for _, k, _, v in shown(table)] == [
        ("categorical", ["a", None, "b"]),
        ("numeric", [None, None, None]),
        ("numeric", [1.5, None, None]),
    ]


BAD_COLUMNS = [
    (pd.to_datetime(["2020-01-01"]), "dates or times"),
    (pd.to_timedelta([1]), "dates or times"),
    (pd.period_range("2020", periods=1), "dates or times"),
    (np.array([datetime.date(2020, 1, 1)], dtype=object), "dates or times"),
    (np.array([1j]), "complex"),
    (np.array([True, 3], dtype=object), "mixes boolean and numeric"),
    (np.array(["a", 3], dtype=object), "mixes categorical and numeric"),
    (np.array([{"a": 1}], dtype=object), "type dict"),
    (np.array([2**53 + 1]), r"beyond 2\*\*53"),
    (np.array([2**70], dtype=object), r"beyond 2\*\*53"),
    (np.array([2**63], dtype=np.uint64), r"beyond 2\*\*53"),
    (pd.array([-(2**60), None], dtype="Int64"), r"beyond 2\*\*53"),
]


@pytest.mark.parametrize(("column", "text"), BAD_COLUMNS, ids=lambda v: str(v)[:20])
def test_columns_that_rules_cannot_use(column, text):
    with pytest.raises(TableError, match=text):
        read_table(pd.DataFrame({"c": column}))


def test_polars_columns_that_rules_cannot_use():
    for column in ([[1, 2]], [datetime.date(2020, 1, 1)], [2**53 + 1]):
        with pytest.raises(TableError):
            read_table(pl.DataFrame({"c": column}))


def test_whole_numbers_up_to_2_to_the_53_stay_exact():
    assert read_table(np.array([[2**53], [-(2**53)]])).columns[0].tolist() == [2.0**53, -(2.0**53)]


# ---------------------------------------------------------------------- arrays and lists
def test_arrays():
    assert [f.name for f in read_schema(np.zeros((0, 2)))] == ["x0", "x1"]
    assert read_table(np.zeros((0, 2))).n_rows == 0
    assert shown(np.array([["a"], ["b"]])) == [("x0", "categorical", ("a", "b"), ["a", "b"])]
    assert shown(np.array([["a"]], dtype=np.dtypes.StringDType()))[0][1] == "categorical"
    assert shown(np.array([[True]])) == [("x0", "boolean", (False, True), [True])]


def test_rows_of_mixed_kinds():
    """numpy turned the numbers beside a text, in a list of rows, into texts."""
    assert shown([[1, "a", True], [2, None, False]]) == [
        ("x0", "numeric", (), [1.0, 2.0]),
        ("x1", "categorical", ("a",), ["a", None]),
        ("x2", "boolean", (False, True), [True, False]),
    ]


BAD_TABLES = [
    ([1, 2], "two dimensions"),
    ([[1, 2], [3]], "two dimensions"),
    ([np.zeros(2), np.zeros(3)], "two dimensions|differ"),
    (np.zeros((2, 2, 2)), "two dimensions"),
    (np.zeros((2, 0)), "no columns"),
    (pd.DataFrame(index=[1, 2]), "no columns"),
    (np.array([[b"a"]]), "type"),
    (np.ma.array([[1.0]], mask=[[True]]), "masked"),
    (np.zeros(2, dtype=[("a", float)]), "structured"),
    ({"a": [1]}, "found dict"),
    (pd.Series([1]), "found Series"),
    (pl.LazyFrame({"a": [1]}), "collect"),
    ("abc", "found str"),
    (None, "found NoneType"),
    (pd.DataFrame([[1, 2]], columns=["a", "a"]), "'a' occurs twice"),
    (pd.DataFrame([[1, 2]], columns=[0, "0"]), "'0' occurs twice"),
    (pd.DataFrame([[1]], columns=[""]), "has no name"),
    (
        pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")])),
        "several levels",
    ),
]


@pytest.mark.parametrize(("table", "text"), BAD_TABLES, ids=lambda v: str(v)[:20])
def test_tables_that_cannot_be_used(table, text):
    with pytest.raises(TableError, match=text):
        read_table(table)


def test_a_sparse_matrix_and_a_table_already_read():
    import scipy.sparse

    with pytest.raises(TableError, match="toarray"):
        read_table(scipy.sparse.csr_matrix(np.eye(2)))
    table = read_table(np.eye(2))
    assert read_table(table) is table
    assert read_table(table, Schema.numeric(["x0", "x1"])) is table
    with pytest.raises(TableError, match="another schema"):
        read_table(table, Schema.numeric(["a", "b"]))


def test_integer_names_become_text():
    assert read_schema(pd.DataFrame({0: [1], 7: ["a"]})).names == ("0", "7")


# ---------------------------------------------------------------------- with a schema
SCHEMA = Schema([Feature("n"), Feature("c", "categorical", ("a", "b")), Feature("f", "boolean")])


@makers
def test_columns_are_found_by_name(make):
    X = make({"more": [9, 9], "f": [True, None], "c": ["z", "b"], "n": [1, 2]})
    table = read_table(X, SCHEMA)
    assert [c.tolist() for c in table.columns] == [[1.0, 2.0], [2, 1], [1, -1]]
    assert table.take(np.array([1])).n_rows == 1


def test_arrays_go_by_position():
    array = np.array([[1, "a", True]], dtype=object)
    assert [c.tolist() for c in read_table(array, SCHEMA).columns] == [[1.0], [0], [1]]
    with pytest.raises(TableError, match="2 columns, but the rules were made for 3"):
        read_table(array[:, :2], SCHEMA)


def test_a_schema_without_features_keeps_the_number_of_rows():
    assert read_table(pd.DataFrame({"a": [1, 2]}), Schema()).n_rows == 2


@pytest.mark.parametrize(
    ("column", "codes"),
    [
        ([0, 1], [0, 1]),
        ([0.0, 1.0], [0, 1]),
        ([True, False], [1, 0]),
        ([None, None], [-1, -1]),
        ([7, 1], [2, 1]),
    ],
)
def test_booleans_as_numbers(column, codes):
    schema = Schema([Feature("f", "boolean")])
    assert read_table(pd.DataFrame({"f": column}), schema).columns[0].tolist() == codes


def test_levels_that_are_numbers():
    schema = Schema([Feature("c", "categorical", (1, 2.5))])
    for column in ([1, 2.5, 3], [1.0, 2.5, 7.0], np.array([1, 2.5, "?"], dtype=object)[:2]):
        codes = read_table(pd.DataFrame({"c": column}), schema).columns[0].tolist()
        assert codes == [0, 1, 2][: len(column)]


def test_numbers_stored_as_text():
    """Text '1' where the levels are numbers counted as a level never seen, without a word."""
    numbers = Schema([Feature("c", "categorical", (1, 2))])
    with pytest.raises(TableError, match="has text values such as '1'"):
        read_table(pd.DataFrame({"c": ["1", "2"]}), numbers)
    text = Schema([Feature("c", "categorical", ("1", "2"))])
    with pytest.raises(TableError, match="has number values"):
        read_table(pd.DataFrame({"c": [1, 2]}), text)
    with pytest.raises(TableError, match="numeric, but the table has text"):
        read_table(pd.DataFrame({"n": ["1"]}), Schema.numeric(["n"]))
    with pytest.raises(TableError, match="has text values such as 'yes'"):
        read_table(pd.DataFrame({"f": ["yes"]}), Schema([Feature("f", "boolean")]))


def test_true_beside_one_among_levels():
    schema = Schema([Feature("c", "categorical", (1, True, "x"))])
    table = encode_row({"c": True}, schema)
    assert table.columns[0].tolist() == [1]
    assert encode_row({"c": 1}, schema).columns[0].tolist() == [0]


def test_a_column_that_is_not_there():
    with pytest.raises(TableError, match=r"no column 'c' \(and lacks 1 more\)"):
        read_table(pd.DataFrame({"n": [1]}), SCHEMA)


@given(
    st.lists(st.one_of(st.none(), st.sampled_from(["a", "b", "", "z", "ä"])), max_size=20),
)
def test_codes_agree_with_a_loop(values):
    schema = Schema([Feature("c", "categorical", ("b", "a", ""))])
    expected = [
        -1 if v is None else ("b", "a", "").index(v) if v in ("b", "a", "") else 3 for v in values
    ]
    for make in MAKERS.values():
        X = make({"c": pd.Series(values, dtype="str") if make is pd.DataFrame else values})
        assert read_table(X, schema).columns[0].tolist() == expected


# ---------------------------------------------------------------------- labels
LABELS = [
    (["b", "a"], ("a", "b"), [1, 0]),
    (np.array(["b", "a"]), ("a", "b"), [1, 0]),
    ([np.str_("a")], ("a",), [0]),
    (np.array(["a"], dtype=np.dtypes.StringDType()), ("a",), [0]),
    (np.array([b"a"]), ("a",), [0]),
    (pd.Series([2, 1], dtype="Int64"), (1, 2), [1, 0]),
    (pd.Series(["a", "b"], dtype="category"), ("a", "b"), [0, 1]),
    (pd.Series([True, False], dtype="boolean"), (False, True), [1, 0]),
    (pd.DataFrame({"y": [1, 2]}), (1, 2), [0, 1]),
    (pl.Series(["a", "b"]), ("a", "b"), [0, 1]),
    (pa.array(["a", "b"]), ("a", "b"), [0, 1]),
    (pa.chunked_array([["a"], ["b"]]), ("a", "b"), [0, 1]),
    ([1.0, 2.5], (1.0, 2.5), [0, 1]),
    ([True, False], (False, True), [1, 0]),
    ([True, 1, "1"], (True, 1, "1"), [0, 1, 2]),
    (np.array([1, 0], dtype=np.uint8), (0, 1), [1, 0]),
    ([[1], [2]], (1, 2), [0, 1]),
    ([], (), []),
]


@pytest.mark.parametrize(("y", "classes", "codes"), LABELS, ids=lambda v: str(v)[:20])
def test_labels(y, classes, codes):
    got = read_labels(y)
    assert got.classes == classes
    assert [type(c) for c in got.classes] == [type(c) for c in classes]
    assert got.codes.tolist() == codes
    assert [got.code_of(c) for c in classes] == list(range(len(classes)))
    assert got.code_of("none such") == -1


@pytest.mark.parametrize(
    ("y", "text"),
    [
        ([1.0, math.nan], "missing in 1 rows, the first of them row 1"),
        (np.array([math.nan]), "missing in 1"),
        ([None, "a"], "row 0"),
        (pd.Series(["a", pd.NA], dtype="string"), "missing"),
        (pd.Series([1, None], dtype="Int64"), "missing"),
        (pl.Series([1, None]), "missing"),
        ([math.inf], "inf"),
        (np.array([math.inf]), "infinite"),
        ([datetime.date(2020, 1, 1)], "date"),
        (np.array(["2020"], dtype="M8[D]"), "date"),
        (np.array([1j]), "complex"),
        ([{}], "dict"),
        ([[1], [2, 3]], "list"),
        ([[1, 2]], "one dimension"),
        ("abc", "one dimension"),
        (3, "one dimension"),
    ],
    ids=lambda v: str(v)[:20],
)
def test_labels_that_cannot_be_used(y, text):
    with pytest.raises(TableError, match=text):
        read_labels(y)


def test_number_of_labels():
    with pytest.raises(TableError, match="2 labels, but there are 3 rows"):
        read_labels([1, 2], 3)


# ---------------------------------------------------------------------- single rows
ROWS = [
    {"n": 1, "c": "a", "f": True, "more": 3},
    pd.Series({"n": 1, "c": "a", "f": True}),
    pd.DataFrame({"f": [True], "c": ["a"], "n": [1]}),
    pl.DataFrame({"f": [True], "c": ["a"], "n": [1]}),
    pa.table({"f": [True], "c": ["a"], "n": [1]}),
    pl.DataFrame({"n": [1], "c": ["a"], "f": [True]}).row(0),
    [1, "a", True],
    (1.0, "a", np.bool_(True)),
    np.array([1, "a", True], dtype=object),
    np.array([[1, "a", True]], dtype=object),
    [[1, "a", True]],
]


@pytest.mark.parametrize("row", ROWS, ids=lambda r: type(r).__module__ + type(r).__name__)
def test_one_row_in_every_form(row):
    got = one_row(row, SCHEMA)
    assert got == {"n": 1, "c": "a", "f": True}
    assert [c.tolist() for c in encode_row(got, SCHEMA).columns] == [[1.0], [0], [1]]


def test_one_row_with_missing_and_unseen_values():
    got = one_row({"n": np.nan, "c": pd.NA, "f": None}, SCHEMA)
    assert got == {"n": None, "c": None, "f": None}
    table = encode_row({"n": None, "c": "unseen", "f": None}, SCHEMA)
    assert np.isnan(table.columns[0][0])
    assert [c[0] for c in table.columns[1:]] == [2, -1]
    assert encode_row({"n": decimal.Decimal("0.5"), "c": None, "f": 1}, SCHEMA).columns[0][0] == 0.5


@pytest.mark.parametrize(
    ("row", "text"),
    [
        ({"n": 1, "c": "a"}, "no value for 'f'"),
        ([1, 2], "2 values; expected 3"),
        (pd.DataFrame({"n": [1, 2], "c": ["a", "a"], "f": [True, True]}), "found 2"),
        (pd.DataFrame({"n": [], "c": [], "f": []}), "found 0"),
        (5, "found int"),
        ("abc", "found str"),
        ({"n": 1, "c": "a", "f": True, 1: 0, "1": 0}, "twice"),
        (pd.Series([1, 2, 3], index=["n", "n", "c"]), "twice"),
    ],
    ids=lambda v: str(v)[:15],
)
def test_not_one_row(row, text):
    with pytest.raises(TableError, match=text):
        one_row(row, SCHEMA)


@pytest.mark.parametrize(
    "row",
    [
        {"n": "1", "c": "a", "f": True},
        {"n": [1], "c": "a", "f": True},
        {"n": 2**53 + 1, "c": "a", "f": True},
        {"n": datetime.date(2020, 1, 1), "c": "a", "f": True},
        {"n": 1, "c": 3, "f": True},
        {"n": 1, "c": datetime.date(2020, 1, 1), "f": True},
        {"n": 1, "c": "a", "f": "yes"},
    ],
)
def test_row_values_of_the_wrong_kind(row):
    with pytest.raises((TableError, SchemaError)):
        encode_row(one_row(row, SCHEMA), SCHEMA)


def test_reading_a_table_leaves_it_alone():
    X = pd.DataFrame({"n": [1.0, np.nan], "c": ["a", "b"], "f": [True, False]})
    before = X.copy(deep=True)
    table = read_table(X, SCHEMA)
    table.columns[0][0] = 99
    pd.testing.assert_frame_equal(X, before)
