"""Models for the command line: a black box trained on a data file, or one read from a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import click
import numpy as np

from rulelens.errors import MissingExtraError, ModelError, TableError

if TYPE_CHECKING:
    import pandas as pd

SEED = click.IntRange(0, 2**32 - 1)
"""Seeds that every random generator takes."""
F = TypeVar("F", bound=Callable[..., Any])
Method: TypeAlias = Literal["mlp", "forest", "boosting"]


@dataclass(frozen=True)
class Split:
    """Rows for training and rows kept apart, by position."""

    train: np.ndarray[Any, np.dtype[np.int64]]
    test: np.ndarray[Any, np.dtype[np.int64]]


def split_rows(y: pd.Series[Any], seed: int, share: float = 0.2) -> Split:
    """Keep a share of the rows apart; every class stays in training."""
    from sklearn.model_selection import train_test_split

    n = len(y)
    smallest = int(y.value_counts().min())
    n_test = int(n * share)
    if smallest < 2 or n_test < y.nunique():
        rng = np.random.default_rng(seed)
        order = rng.permutation(n)
        first = {label: i for i, label in reversed(list(enumerate(y.iloc[order])))}
        keep = np.zeros(n, dtype=bool)
        keep[list(first.values())] = True
        free = order[~keep]
        test = np.sort(free[: min(n_test, len(free))])
        return Split(np.setdiff1d(np.arange(n), test), test)
    train, test = train_test_split(np.arange(n), test_size=share, stratify=y, random_state=seed)
    return Split(np.sort(train), np.sort(test))


def train(method: Method, X: pd.DataFrame, y: pd.Series[Any], seed: int) -> tuple[Any, list[str]]:
    """A fitted pipeline from raw columns to class labels, and remarks on its training.

    Text columns are one-hot encoded (levels not seen in training become all zeros), numbers
    are scaled, and missing values filled with the median or a level of their own.
    """
    import warnings

    from sklearn.compose import ColumnTransformer
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.impute import SimpleImputer
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

    text = [c for c in X.columns if X[c].dtype.kind not in "biuf"]
    number = [c for c in X.columns if c not in text]
    numbers = make_pipeline(
        FunctionTransformer(_as_float, feature_names_out="one-to-one"),
        SimpleImputer(strategy="median", keep_empty_features=True),
        StandardScaler(),
    )
    texts = make_pipeline(
        FunctionTransformer(_as_text, feature_names_out="one-to-one"),
        OneHotEncoder(handle_unknown="ignore", sparse_output=False),
    )
    prepare = ColumnTransformer([("numbers", numbers, number), ("texts", texts, text)])
    makers: dict[str, Callable[[], Any]] = {
        "mlp": lambda: MLPClassifier(
            (32, 32), max_iter=300, early_stopping=len(y) >= 2000, random_state=seed
        ),
        "forest": lambda: RandomForestClassifier(100, random_state=seed),
        "boosting": lambda: HistGradientBoostingClassifier(random_state=seed),
    }
    check_numbers(X[number])
    model = make_pipeline(prepare, makers[method]())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        model.fit(X, y)
    remarks = [
        "The network stopped before it converged."
        for w in caught
        if issubclass(w.category, ConvergenceWarning)
    ]
    return model, remarks


def _as_float(X: Any) -> Any:
    return X.astype(float)


def _as_text(X: Any) -> Any:
    return X.astype(object).where(X.notna(), "(missing)").astype(str)


def check_numbers(X: pd.DataFrame) -> None:
    """Refuse numbers that models of single precision cannot take."""
    values = X.to_numpy(dtype=float)
    bad = np.isinf(values)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise TableError(
            f"Column '{X.columns[column]}' is infinite in row {X.index[row]}. Replace these "
            "values, or make them missing."
        )
    large = np.abs(values) > np.finfo(np.float32).max
    if large.any():
        row, column = np.argwhere(large)[0]
        raise TableError(
            f"Column '{X.columns[column]}' has the value {float(values[row, column])!r} in row "
            f"{X.index[row]}, too large for the model. Rescale the column."
        )


def model_options(command: F) -> F:
    """The options with which commands read a fitted model."""
    options = [
        click.option(
            "--model",
            "model_file",
            type=click.Path(path_type=Path),
            help="A fitted model from a file: .skops or .onnx.",
        ),
        click.option(
            "--trust",
            multiple=True,
            metavar="TYPE",
            help="Type in a .skops file that you trust. May be repeated.",
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def load_model(path: Path, trusted: Sequence[str] = ()) -> Any:
    """A fitted model from a ``.skops`` or ``.onnx`` file; nothing is unpickled.

    Parameters
    ----------
    path : path
    trusted : sequence of str
        Types in a skops file that the user trusts, besides those known to be safe.

    Raises
    ------
    ModelError
        Another kind of file, or one that asks for types that are not known to be safe.
    """
    if not path.is_file():
        raise ModelError(f"There is no model file {path}.")
    suffix = path.suffix.lower()
    if suffix == ".skops":
        return _load_skops(path, trusted)
    if suffix == ".onnx":
        return _load_onnx(path)
    if suffix in (".pkl", ".pickle", ".joblib"):
        raise ModelError(
            f"{path} is a pickle, which runs whatever code is in it, so it is not read. "
            "Save the model with skops.io.dump(model, 'model.skops'), or as ONNX."
        )
    raise ModelError(f"{path} is no model file that can be read. Expected .skops or .onnx.")


def _load_skops(path: Path, trusted: Sequence[str]) -> Any:
    try:
        from skops import io as skops_io
    except ImportError as e:
        raise MissingExtraError(
            "Reading .skops files needs skops: pip install 'rulelens[models]'."
        ) from e
    from zipfile import BadZipFile

    try:
        unknown = [t for t in skops_io.get_untrusted_types(file=path) if t not in trusted]
        if unknown:
            raise ModelError(
                f"{path} holds types that are not known to be safe. If the file is your own or "
                "you trust where it came from, add "
                + " ".join(f"--trust {t}" for t in sorted(unknown))
            )
        return skops_io.load(path, trusted=list(trusted))
    except ModelError:
        raise
    except (BadZipFile, KeyError, ValueError) as e:
        raise ModelError(f"{path} is not a whole skops file: {e}") from e


def _load_onnx(path: Path) -> Callable[[pd.DataFrame], Any]:
    try:
        import onnxruntime
        from onnxruntime.capi import onnxruntime_pybind11_state as states
    except ImportError as e:
        raise MissingExtraError(
            "Reading .onnx files needs onnxruntime: pip install 'rulelens[models]'."
        ) from e
    refusals = (
        states.Fail,
        states.InvalidArgument,
        states.InvalidGraph,
        states.InvalidProtobuf,
        states.NotImplemented,
        states.RuntimeException,
    )
    try:
        session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    except (*refusals, RuntimeError, ValueError) as e:
        raise ModelError(f"{path} is not a whole ONNX file: {' '.join(str(e).split())}") from e
    inputs = session.get_inputs()
    types = {
        "tensor(float)": np.float32,
        "tensor(double)": np.float64,
        "tensor(int64)": np.int64,
        "tensor(string)": object,
    }

    def cast(values: Any, kind: str) -> Any:
        if kind not in types:
            raise ModelError(f"{path} wants an input of type {kind}, which is not supported.")
        return np.ascontiguousarray(np.asarray(values), dtype=types[kind])

    def predict(X: pd.DataFrame) -> Any:
        if len(inputs) == 1:
            feed = {inputs[0].name: cast(X, inputs[0].type)}
        else:
            names = [i.name for i in inputs]
            lacking = [n for n in names if n not in X.columns]
            if lacking:
                raise ModelError(f"{path} wants a column '{lacking[0]}' that the table lacks.")
            feed = {i.name: cast(X[[i.name]], i.type) for i in inputs}
        try:
            return session.run(None, feed)[0]
        except refusals as e:
            raise ModelError(
                f"{path} cannot be asked with this table: {' '.join(str(e).split())}"
            ) from e

    return predict
