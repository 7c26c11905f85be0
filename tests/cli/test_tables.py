"""Data files of every odd shape: read right, or refused."""

import numpy as np
import pandas as pd
import pytest

from rulelens.cli.tables import id_columns, read_data
from rulelens.errors import TableError


def write(tmp_path, text: str, name: str = "t.csv"):
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_a_blank_line_does_not_hide_longer_rows(tmp_path):
    """All columns shifted by one, without a word, where the second line was blank."""
    path = write(tmp_path, "a,b,y\n\n1,2,3,x\n4,5,6,z\n")
    with pytest.raises(TableError, match="more values than the header"):
        read_data(path, target="y")


def test_blank_lines_before_the_header_and_between_rows(tmp_path):
    file = read_data(write(tmp_path, "\n\na,y\n1,x\n\n2,z\n"), target="y")
    assert file.features["a"].tolist() == [1, 2]


def test_bom_crlf_quotes_and_tabs(tmp_path):
    file = read_data(write(tmp_path, '\ufeff"a, b",y\r\n"1",x\r\n2,"z ""q"""\r\n'), target="y")
    assert list(file.features.columns) == ["a, b"]
    assert file.labelled[1].tolist() == ["x", 'z "q"']


def test_rows_are_called_by_position_whatever_index_a_parquet_file_has(tmp_path):
    """With its own index, the row that is explained stayed among those kept apart from it."""
    frame = pd.DataFrame({"a": range(6), "y": list("xyxyxy")}, index=[5, 3, 1, 0, 2, 4])
    frame.to_parquet(tmp_path / "t.parquet")
    file = read_data(tmp_path / "t.parquet", target="y")
    assert file.features.index.tolist() == list(range(6))
    assert file.features["a"].tolist() == list(range(6))


@pytest.mark.parametrize(
    ("column", "classes"),
    [
        (pd.array([True, None, False, True], dtype="boolean"), [True, False, True]),
        (pd.array([1, None, 2, 1], dtype="Int64"), [1, 2, 1]),
        ([1.0, np.nan, 2.0, 1.0], [1, 2, 1]),
        ([0.5, np.nan, 2.0, 0.5], [0.5, 2.0, 0.5]),
        (["a", None, "b", "a"], ["a", "b", "a"]),
        ([1e19, np.nan, 2.0, 1.0], [1e19, 2.0, 1.0]),
    ],
)
def test_classes_of_every_column_type(tmp_path, column, classes):
    pd.DataFrame({"a": range(4), "y": column}).to_parquet(tmp_path / "t.parquet")
    _, y = read_data(tmp_path / "t.parquet", target="y").labelled
    assert y.tolist() == classes
    assert [type(v) for v in y.tolist()] == [type(v) for v in classes]


def test_infinite_classes_are_refused(tmp_path):
    pd.DataFrame({"a": range(3), "y": [np.inf, 1.0, 2.0]}).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(TableError, match="infinite"):
        _ = read_data(tmp_path / "t.parquet", target="y").labelled


@pytest.mark.parametrize("sep", ["", "\n", "\r", "é", ";;", '"'])
def test_separators_that_cannot_be(tmp_path, sep):
    with pytest.raises(TableError, match="--sep"):
        read_data(write(tmp_path, "a,y\n1,x\n"), target="y", sep=sep)


@pytest.mark.parametrize("encoding", ["utf-16", "punycode", "no-such", "ascii"])
def test_encodings_that_do_not_fit(tmp_path, encoding):
    with pytest.raises(TableError, match="encoding"):
        read_data(write(tmp_path, "größe,y\n1,x\n"), target="y", encoding=encoding)


def test_damaged_files(tmp_path):
    with pytest.raises(TableError, match="gzip"):
        read_data(write(tmp_path, "not gzip", "t.csv.gz"), target="y")
    with pytest.raises(TableError, match="Parquet"):
        read_data(write(tmp_path, "not parquet", "t.parquet"), target="y")
    with pytest.raises(TableError, match="There is no file"):
        read_data(tmp_path / ("x" * 300), target="y")


def test_ids_are_found_and_numbers_with_decimals_are_not():
    X = pd.DataFrame(
        {
            "id": range(40),
            "name": [f"n{i}" for i in range(40)],
            "length": np.linspace(0, 1, 40),
            "few": [1, 2] * 20,
            "lists": [[i] for i in range(40)],
        }
    )
    assert id_columns(X) == ["id", "name"]
