"""Saved and loaded classifiers are the same; damaged files are refused."""

import json

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
