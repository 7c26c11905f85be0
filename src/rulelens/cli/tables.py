"""Data files for the command line: CSV and Parquet in, features and target out."""

from __future__ import annotations

import csv
import gzip
import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
import numpy as np

from rulelens.errors import MissingExtraError, TableError, did_you_mean

if TYPE_CHECKING:
    import pandas as pd

F = TypeVar("F", bound=Callable[..., Any])

MAX_CLASSES = 50


def table_options(command: F) -> F:
    """The options with which commands read a table."""
    options = [
        click.option("--target", metavar="COL", help="Column with the class to predict."),
        click.option(
            "--drop",
            multiple=True,
            metavar="COL",
            help="Column to leave out, such as an ID. May be repeated.",
        ),
        click.option(
            "--missing",
            multiple=True,
            metavar="TEXT",
            help="Text that stands for a missing value, such as '?'. May be repeated.",
        ),
        click.option("--sep", default=",", show_default=True, help="Separator of a CSV file."),
        click.option("--encoding", default="utf-8-sig", show_default=True, help="Of a CSV file."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


@dataclass(frozen=True)
class DataFile:
    """A table from a file: its features, and the target where one was named."""

    path: Path
    features: pd.DataFrame
    target: pd.Series[Any] | None

    @property
    def labelled(self) -> tuple[pd.DataFrame, pd.Series[Any]]:
        """The rows whose target is known, and their classes.

        Raises
        ------
        TableError
            No target was named, all of it is missing, or it is not a class column.
        """
        if self.target is None:
            raise TableError("Name the column with the class to predict: --target COL.")
        known = self.target.notna()
        if not known.any():
            raise TableError(f"Every value of the target '{self.target.name}' is missing.")
        y = _plain_classes(self.target[known])
        n = y.nunique()
        if n < 2:
            raise TableError(
                f"The target '{self.target.name}' has one class only ({y.iloc[0]}). "
                "At least two are needed."
            )
        if n > MAX_CLASSES:
            raise TableError(
                f"The target '{self.target.name}' has {n} distinct values, more than "
                f"{MAX_CLASSES}: it looks like a number to predict, not a class."
            )
        return self.features[known], y


def read_data(
    path: Path,
    *,
    target: str | None,
    drop: Sequence[str] = (),
    missing: Sequence[str] = (),
    sep: str = ",",
    encoding: str = "utf-8-sig",
) -> DataFile:
    """Read a CSV (``.csv``, ``.csv.gz``, ``.tsv``) or Parquet (``.parquet``) file.

    Raises
    ------
    TableError
        The file is empty, has no rows, repeats a column name, or lacks a named column.
    """
    if not os.path.exists(path):
        raise TableError(f"There is no file {path}.")
    if path.is_dir():
        raise TableError(f"{path} is a folder. Give a CSV or Parquet file.")
    if path.is_file() and path.stat().st_size == 0:
        raise TableError(f"{path} is empty. Expected a header and rows.")
    if path.suffix.lower() in (".parquet", ".pq"):
        frame = _read_parquet(path)
    else:
        frame = _read_csv(
            path, missing, "\t" if path.suffix == ".tsv" and sep == "," else sep, encoding
        )
    frame.columns = frame.columns.map(str)
    frame = frame.reset_index(drop=True)  # rows are called by their position
    if not len(frame):
        raise TableError(f"{path} has a header but no rows.")
    for name in (*drop, *([target] if target is not None else [])):
        if name not in frame.columns:
            hint = did_you_mean(name, frame.columns)
            if frame.shape[1] == 1:
                hint = f"It has one column only: is '{sep}' its separator? Name it with --sep."
            raise TableError(f"{path} has no column {name!r}. {hint}")
    if target in drop:
        raise TableError(f"The target '{target}' cannot be dropped.")
    frame = frame.drop(columns=list(drop))
    y = None if target is None else frame[target]
    features = frame if target is None else frame.drop(columns=[target])
    if not features.shape[1]:
        raise TableError(f"{path} has no feature columns left.")
    return DataFile(path, features, y)


def _plain_classes(y: pd.Series[Any]) -> pd.Series[Any]:
    """Classes as text, booleans or whole numbers, whatever column type they came in."""
    import pandas as pd

    if pd.api.types.is_extension_array_dtype(y.dtype):
        y = pd.Series(y.tolist(), index=y.index, name=y.name)
    if y.dtype.kind == "f":
        if not np.isfinite(y).all():
            raise TableError(f"The target '{y.name}' has infinite values, which are no classes.")
        if (y == y.round()).all() and (y.abs() < 2**53).all():
            y = y.astype("int64")
    return y


def id_columns(X: pd.DataFrame) -> list[str]:
    """Columns with a value of its own in nearly every row, as identifiers have."""
    out = []
    for name in X.columns:
        column = X[name]
        try:
            many = column.dtype.kind != "f" and column.nunique() > 0.9 * len(X)
        except TypeError:  # lists and the like: refused later, with a better message
            continue
        if many and len(X) >= 20:
            out.append(str(name))
    return out


def _read_parquet(path: Path) -> pd.DataFrame:
    import pandas as pd

    try:
        return pd.read_parquet(path)
    except ImportError as e:
        raise MissingExtraError(
            "Reading Parquet needs pyarrow: pip install 'rulelens[parquet]'."
        ) from e
    except (ValueError, OSError) as e:
        raise TableError(f"{path} cannot be read as Parquet: {e}") from e


def _read_csv(path: Path, missing: Sequence[str], sep: str, encoding: str) -> pd.DataFrame:
    import pandas as pd

    if len(sep) != 1 or not sep.isascii() or sep in '\r\n"\0':
        raise TableError(f"--sep must be one plain character, such as ; or a tab, not {sep!r}.")
    try:
        opener: Any = gzip.open if path.suffix == ".gz" else open
        with opener(path, "rt", encoding=encoding, newline="") as file:
            lines = csv.reader(file, delimiter=sep)
            header = next((line for line in lines if line), [])
        names = [h.strip() for h in header]
        if not any(names):
            raise TableError(f"{path} has no header line with column names.")
        for i, name in enumerate(names):
            if not name:
                raise TableError(f"Column {i + 1} of {path} has no name.")
            if name in names[:i]:
                raise TableError(f"{path} has two columns named '{name}'. Rename one of them.")
        with warnings.catch_warnings():
            # Without index_col=False a first column would silently become the rows' names.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            frame = pd.read_csv(
                path,
                sep=sep,
                encoding=encoding,
                na_values=list(missing),
                low_memory=False,
                index_col=False,
            )
    except pd.errors.ParserWarning:
        raise TableError(
            f"The rows of {path} have more values than the header has names."
        ) from None
    except UnicodeError as e:
        raise TableError(
            f"{path} is not {encoding} text. Name its encoding, such as --encoding latin-1."
        ) from e
    except (gzip.BadGzipFile, EOFError) as e:
        raise TableError(f"{path} is not a whole gzip file: {e}") from e
    except LookupError as e:
        raise TableError(f"Unknown encoding {encoding!r}.") from e
    except (pd.errors.ParserError, pd.errors.EmptyDataError, csv.Error) as e:
        raise TableError(f"{path} cannot be read as CSV: {str(e).strip()}") from e
    frame.columns = pd.Index(names)
    return frame
