"""Saved and loaded classifiers are the same; damaged files are refused."""

import io
import json
import zipfile

import numpy as np
import pandas as pd
import pytest

from rulelens.errors import FormatError, InputError, OutputError
from rulelens.personal.fast_pic import FastPIC
from rulelens.personal.storage import load_fast_pic, save_fast_pic

RNG = np.random.default_rng(0)
X = pd.DataFrame(
    {
        "größe a": RNG.normal(size=80),
        "c": RNG.choice(["a", "b", "ß"], 80),
        "ok": RNG.random(80) < 0.5,
        "many": RNG.integers(0, 70, 80).astype(str),
    }
)
Y = {
    "text": RNG.choice(["ja", "nein"], 80),
    "numbers": RNG.choice([1, 2, 5], 80),
    "booleans": RNG.random(80) < 0.5,
}


@pytest.mark.parametrize("labels", Y)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"storage": "sparse", "max_length": np.int64(2)},
        {"class_weight": "balanced", "discretizer": "mdlp"},
    ],
)
def test_same_after_a_round_trip(tmp_path, labels, options):
    model = FastPIC(**options).fit(X, Y[labels])
    model.save(tmp_path / "model")
    back = FastPIC.load(tmp_path / "model.npz")
    assert back.classes_.dtype == model.classes_.dtype
    assert back.get_params() == model.get_params()
    assert back.explain(X).to_dict() == model.explain(X).to_dict()
    back.partial_fit(X, Y[labels]).forget(X, Y[labels])
    np.testing.assert_array_equal(back.predict_proba(X), model.predict_proba(X))


def test_weights_and_a_mapping_of_classes(tmp_path):
    model = FastPIC(class_weight={"ja": 2.0}).fit(X, Y["text"], sample_weight=np.arange(80) / 7)
    save_fast_pic(model, tmp_path / "m.npz")
    back = load_fast_pic(tmp_path / "m.npz")
    assert back.class_weight == {"ja": 2.0}
    np.testing.assert_array_equal(back.predict_proba(X), model.predict_proba(X))


def test_rows_without_names(tmp_path):
    model = FastPIC(1).fit(X[["größe a"]].to_numpy(), Y["text"])
    model.save(tmp_path / "m.npz")
    back = FastPIC.load(tmp_path / "m.npz")
    assert not hasattr(back, "feature_names_in_")
    assert back.predict(X[["größe a"]].to_numpy()).tolist() == (
        model.predict(X[["größe a"]].to_numpy()).tolist()
    )


def damage(path, **changes):
    with np.load(path, allow_pickle=False) as file:
        arrays = {k: file[k] for k in file.files}
    header = json.loads(bytes(arrays["header"]).decode())
    for name, change in changes.items():
        if name in arrays:
            arrays[name] = change(arrays[name])
        else:
            header[name] = change(header[name])
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    np.savez(path, **arrays)


DAMAGES = [
    {"format": lambda v: "other"},
    {"version": lambda v: 99},
    {"counts": lambda v: -v},
    {"counts": lambda v: v[:, :-1]},
    {"counts": lambda v: v.astype(np.float32)},
    {"totals": lambda v: v[:1]},
    {"offsets": lambda v: v[::-1]},
    {"key_sizes": lambda v: v + 1},
    {"keys": lambda v: v[::-1]},
    {"keys": lambda v: v.astype(float)},
    {"cuts": lambda v: v[:-1]},
    {"cuts": lambda v: [[3, 1], *v[1:]]},
    {"classes": lambda v: [*v, "more"]},
    {"features": lambda v: v[:-1]},
    {"features": lambda v: [{"name": "x"}]},
    {"params": lambda v: v | {"max_length": 4}},
    {"params": lambda v: v | {"unknown": 4}},
    {"params": lambda v: v | {"storage": "other"}},
    {"params": lambda v: v | {"discretizer": [1]}},
    {"params": lambda v: v | {"memory_limit": "a"}},
    {"params": lambda v: v | {"alpha": float("nan")}},
    {"counts": lambda v: v * 100},
    {"counts": lambda v: np.array(3)},
    {"key_sizes": lambda v: np.where(v < 0, -5, v)},
    {"cuts": lambda v: [[float("nan")], *v[1:]]},
    {"cuts": lambda v: [[float("inf")], *v[1:]]},
    {"cuts": lambda v: [v[0], [1.0], *v[2:]]},
    {"cuts": lambda v: [[[1.0]], *v[1:]]},
    {"classes": lambda v: [v[0], v[0]]},
    {"classes": lambda v: [None, v[0]]},
    {"classes": lambda v: [[1], [2]]},
    {"classes": lambda v: "ab"},
    {"names": lambda v: ["other"]},
    {"names": lambda v: 3},
    {"sparse": lambda v: "yes"},
    {"some_lack": lambda v: [1]},
    {"features": lambda v: [v[0], v[1] | {"levels": "abß"}, *v[2:]]},
    {"features": lambda v: [v[0] | {"unit": ["a"]}, *v[1:]]},
]


@pytest.mark.parametrize("changes", DAMAGES, ids=lambda c: next(iter(c)))
def test_damaged_files_are_refused(tmp_path, changes):
    path = tmp_path / "m.npz"
    FastPIC(2, storage="sparse", n_bins=300).fit(X, Y["text"]).save(path)
    with np.load(path) as file:
        assert len(file["keys"])
    damage(path, **changes)
    with pytest.raises(FormatError):
        load_fast_pic(path)


def test_other_files(tmp_path):
    with pytest.raises(InputError, match="No such file"):
        load_fast_pic(tmp_path / "none.npz")
    for name, content in (("text.npz", b"hello"), ("empty.npz", b"")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(FormatError, match="not a saved FastPIC"):
            load_fast_pic(tmp_path / name)
    np.savez(tmp_path / "other.npz", a=np.zeros(2))
    with pytest.raises(FormatError):
        load_fast_pic(tmp_path / "other.npz")
    np.save(tmp_path / "array.npy", np.zeros(2))
    with pytest.raises(FormatError):
        load_fast_pic(tmp_path / "array.npy")
    pickled = np.array([{"a": 1}], dtype=object)
    np.savez(tmp_path / "pickle.npz", header=pickled, allow_pickle=True)
    with pytest.raises(FormatError):
        load_fast_pic(tmp_path / "pickle.npz")
    with pytest.raises(OutputError):
        FastPIC(1).fit(X, Y["text"]).save(tmp_path / "no" / "folder.npz")


def weighted(path):
    FastPIC(2).fit(X, Y["text"], np.arange(1, 81) / 7).save(path)


@pytest.mark.parametrize("value", [np.nan, np.inf, -1.0])
@pytest.mark.parametrize("name", ["counts", "totals"])
def test_counts_that_are_no_counts(tmp_path, name, value):
    """Infinite totals were read, and every probability was NaN."""
    weighted(tmp_path / "m.npz")
    damage(tmp_path / "m.npz", **{name: lambda v: np.full_like(v, value)})
    with pytest.raises(FormatError):
        load_fast_pic(tmp_path / "m.npz")


def part(shape, content=b""):
    """A .npy file that claims a shape."""
    out = io.BytesIO()
    header = {"descr": "<i8", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(out, header)
    return out.getvalue() + content


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("counts.npy", part((10**15,))),
        ("counts.npy", part((2, 10**14))),
        ("counts.npy", part((10**30,))),
        ("counts.npy", b"hello"),
        ("counts.npy", b""),
        ("header.npy", part((12500,), b"[" * 100_000)),
    ],
    ids=["petabytes", "two dimensions", "beyond 64 bits", "text", "nothing", "nested brackets"],
)
def test_parts_that_are_no_arrays_or_huge(tmp_path, name, content):
    """A shape of petabytes was a MemoryError, text in place of an array an AttributeError."""
    weighted(tmp_path / "m.npz")
    with zipfile.ZipFile(tmp_path / "m.npz") as file:
        parts = {n: file.read(n) for n in file.namelist()}
    with zipfile.ZipFile(tmp_path / "m.npz", "w") as file:
        for n, old in parts.items():
            file.writestr(n, content if n == name else old)
    with pytest.raises(FormatError):
        load_fast_pic(tmp_path / "m.npz")


def test_changed_bytes(tmp_path):
    """Changed bytes ended in errors of zlib or zipfile."""
    path = tmp_path / "m.npz"
    FastPIC(1).fit(X, Y["text"]).save(path)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(300):
        changed = bytearray(whole)
        for at in rng.integers(0, len(whole), 3):
            changed[at] = rng.integers(256)
        path.write_bytes(bytes(changed))
        try:
            load_fast_pic(path)
        except FormatError:
            continue


def test_one_value_or_nothing_after_a_round_trip(tmp_path):
    table = pd.DataFrame({"note": ["yes", None] * 20, "z": np.arange(40) % 7 * 1.0})
    model = FastPIC(2).fit(table, np.arange(40) % 2)
    model.save(tmp_path / "m.npz")
    back = FastPIC.load(tmp_path / "m.npz")
    assert back.explain(table).to_dict() == model.explain(table).to_dict()
