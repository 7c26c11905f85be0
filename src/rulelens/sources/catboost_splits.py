"""What the splits of a CatBoost model ask, told by the model's own class.

CatBoost keeps of a level only a hash: of one level, to compare with (OneHotFeature), or of all
levels or combinations of levels, each with what is known of the target there (OnlineCtr). A small
model with one such split a tree is made of the saved one, and asked about each level or
combination. So levels become text, and text a hash, and a hash a statistic, by the vendor's own
means.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rulelens.core.schema import Feature, Level, Schema
from rulelens.errors import ModelError

Flags: TypeAlias = NDArray[np.bool_]
Split: TypeAlias = Mapping[str, Any]

_NO_HASH = str(2**64 - 1)
"""Stands in a saved model's table of hashes for an empty place."""
_UNSEEN = "\x00 a level that no table has \x00"
_MOST_COMBINATIONS = 1_000_000
WITHOUT_COMBINATIONS = (
    "Fit the model with max_ctr_complexity=1, so that it asks about single features."
)


@dataclass(frozen=True)
class Axis:
    """What a split tells apart in one feature.

    Parameters
    ----------
    place : int
        The feature's column.
    size : int
        Number of its levels and one more for any other level, or number of intervals.
    cuts : tuple of float, optional
        Ends of the intervals, each belonging to the lower one; without, the axis is of levels.
    """

    place: int
    size: int
    cuts: tuple[float, ...] | None = None


@dataclass(frozen=True, eq=False)
class Answers:
    """Which values of one or several features a split sends to the right.

    Parameters
    ----------
    axes : tuple of Axis
    right : array of bool
        One dimension an axis.
    """

    axes: tuple[Axis, ...]
    right: Flags


@dataclass(frozen=True, eq=False)
class Saved:
    """What a model saves as JSON.

    Parameters
    ----------
    document : dict
    texts : dict of int to int
        Column of each categorical feature, by its number among them.
    numbers : dict of int to int
        Column of each numeric feature, by its number among them.
    statistics : dict of int to dict
        Statistic of the target that a split asks about, by the number of the split.
    first_statistic : int
        Number of the first split that can ask about one.
    """

    document: dict[str, Any]
    texts: dict[int, int]
    numbers: dict[int, int]
    statistics: dict[int, dict[str, Any]]
    first_statistic: int

    @property
    def loss(self) -> str:
        """What the model was fitted for; empty where it does not say so."""
        params = self.document.get("model_info", {}).get("params") or {}
        return str((params.get("loss_function") or {}).get("type", ""))

    @classmethod
    def of(cls, model: Any) -> Saved:
        """Read a fitted model."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.json"
            model.save_model(str(path), format="json")
            document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        features = document["features_info"]
        texts = features.get("categorical_features") or []
        numbers = features.get("float_features") or []
        # Splits are numbered: all borders of numbers, then all levels, then all statistics.
        before = sum(len(f.get("borders") or []) for f in numbers)
        before += sum(len(f.get("values") or []) for f in texts)
        owners = [c for c in features.get("ctrs") or [] for _ in c["borders"]]
        return cls(
            document,
            {f["feature_index"]: f["flat_feature_index"] for f in texts},
            {f["feature_index"]: f["flat_feature_index"] for f in numbers},
            {before + i: c for i, c in enumerate(owners)},
            before,
        )

    def elements(self, split: Split) -> list[dict[str, Any]]:
        """What a split by levels looks at: one categorical feature, or several features."""
        if split["split_type"] == "OneHotFeature":
            number = split["cat_feature_index"]
            return [{"cat_feature_index": number, "combination_element": "cat_feature_value"}]
        statistic = self.statistics[split["split_index"]]
        data = self.document["ctr_data"][statistic["identifier"]]
        if any(isinstance(v, float) and not v.is_integer() for v in data["hash_map"]):
            raise ModelError(
                f"The model splits by the statistic {statistic['ctr_type']} of a target that is "
                "no whole number, and CatBoost itself does not read such a number back from the "
                "JSON that it writes. Fit it with the statistics Borders, Buckets and Counter."
            )
        return list(statistic["elements"])

    def axes(self, elements: Sequence[Mapping[str, Any]], schema: Schema) -> tuple[Axis, ...]:
        """The features that a split looks at, and what it can tell apart in each."""
        sizes: dict[int, int] = {}
        cuts: dict[int, set[float]] = {}
        for element in elements:
            if "float_feature_index" in element:
                place = self.numbers[element["float_feature_index"]]
                cuts.setdefault(place, set()).add(float(np.float32(element["border"])))
            else:
                place = self.texts[element["cat_feature_index"]]
                _check_levels(schema[place])
                sizes[place] = len(schema[place].levels) + 1
        return (
            *(Axis(place, n) for place, n in sorted(sizes.items())),
            *(Axis(place, len(c) + 1, tuple(sorted(c))) for place, c in sorted(cuts.items())),
        )


def check_features(model: Any) -> None:
    """Raise ModelError for a model of texts or of vectors, which CatBoost saves only as its own."""
    for kind, places in (
        ("text", model.get_text_feature_indices()),
        ("embedding", model.get_embedding_feature_indices()),
    ):
        if places:
            raise ModelError(
                f"Feature '{model.feature_names_[places[0]]}' is of the kind {kind}, which a rule "
                "cannot ask about. Rules need a model of numeric and categorical features alone."
            )


def check_split(split: Split) -> None:
    """Raise ModelError for a split that is no condition on numbers or levels."""
    kind = split["split_type"]
    if kind not in ("FloatFeature", "OneHotFeature", "OnlineCtr"):
        raise ModelError(
            f"The model has a split of the type {kind}, which is no condition on a number or a "
            "level. Rules need a model of numeric and categorical features alone."
        )


def known_levels(names: Iterable[str], schema: Schema | None) -> list[Sequence[Level]]:
    """Levels that the table has of each feature that the model treats as categorical."""
    out: list[Sequence[Level]] = []
    for name in names:
        feature = None if schema is None or name not in schema else schema[name]
        if feature is not None and feature.is_numeric:
            raise ModelError(
                f"Feature '{name}' is numeric in the table, but categorical in the model. Give "
                "the table with this column as categories, for pandas by astype('category')."
            )
        out.append(() if feature is None else feature.levels)
    return out


def answers_to(
    kind: Any, saved: Saved, splits: Mapping[int, Split], schema: Schema
) -> dict[int, Answers]:
    """What each split by levels sends to the right.

    Parameters
    ----------
    kind : type
        The model's class, which is asked.
    saved : Saved
    splits : dict of int to dict
        Splits by levels or by statistics of the target, by their numbers.
    schema : Schema
        The levels of its features are asked about.

    Raises
    ------
    ModelError
        A feature lacks a level that the model knows, or there are too many combinations.
    """
    alike: dict[str, list[int]] = {}
    for i in sorted(splits):
        alike.setdefault(json.dumps(saved.elements(splits[i])), []).append(i)
    found: dict[int, Answers] = {}
    for key, asked in alike.items():
        elements = json.loads(key)
        axes = saved.axes(elements, schema)
        shape = tuple(a.size for a in axes)
        if np.prod(shape, dtype=float) > _MOST_COMBINATIONS:
            raise ModelError(
                f"The model asks about combinations of {len(axes)} features with "
                f"{np.prod(shape, dtype=float):.0f} possible values. {WITHOUT_COMBINATIONS}"
            )
        rows = _Rows(saved, axes, schema)
        right = rows.ask(kind, saved.document, [splits[i] for i in asked])
        by_name = np.array([splits[i]["split_type"] == "OneHotFeature" for i in asked])
        lacking = int((by_name & ~right[:-1].any(axis=0)).sum())
        if not by_name.all():
            lacking = max(lacking, _lacking(kind, saved, elements, rows))
        if lacking:
            names = " and ".join(f"'{schema[a.place].name}'" for a in axes if a.cuts is None)
            raise ModelError(
                f"The model knows {lacking} levels of feature {names} that the table does not "
                "have, and it keeps only their hashes. Give extract_rules the table that the "
                "model was fitted on, or a schema with all levels."
            )
        found |= {i: Answers(axes, right[:, k].reshape(shape)) for k, i in enumerate(asked)}
    return found


def _check_levels(feature: Feature) -> None:
    if any(isinstance(v, float) for v in feature.levels):
        raise ModelError(
            f"Feature '{feature.name}' has levels with a decimal point, which CatBoost does not "
            "take. Give the levels as they were when the model was fitted."
        )


class _Rows:
    """All combinations of what some axes tell apart, as rows for the model's class."""

    def __init__(self, saved: Saved, axes: Sequence[Axis], schema: Schema) -> None:
        choices = [_values(axis, schema) for axis in axes]
        grid = np.meshgrid(*(np.arange(len(c)) for c in choices), indexing="ij")
        self.n = grid[0].size
        self.columns: dict[int, NDArray[Any]] = dict.fromkeys(
            saved.texts.values(), np.full(self.n, "", object)
        ) | dict.fromkeys(saved.numbers.values(), np.zeros(self.n))
        for axis, choice, at in zip(axes, choices, grid, strict=True):
            self.columns[axis.place] = choice[at.ravel()]

    def ask(self, kind: Any, document: Mapping[str, Any], splits: Sequence[Split]) -> Flags:
        """Which rows go right at each split, shape (n_rows, n_splits)."""
        import pandas as pd

        n_scores = len(document["scale_and_bias"][1])
        leaves = {"leaf_values": [0] * (2 * n_scores), "leaf_weights": [1, 1]}
        kept = {k: v for k, v in document.items() if k not in ("trees", "oblivious_trees")}
        asking = kind()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "questions.json"
            trees = [leaves | {"splits": [split]} for split in splits]
            path.write_text(json.dumps(kept | {"oblivious_trees": trees}), encoding="utf-8")
            asking.load_model(str(path), format="json")
        names = asking.feature_names_
        nothing = np.zeros(self.n)
        columns = {j: self.columns.get(j, nothing) for j in range(len(names))}
        table = pd.DataFrame(columns).set_axis(names, axis=1)
        right: Flags = np.asarray(asking.calc_leaf_indexes(table)) == 1
        return right.reshape(self.n, len(splits))


def _values(axis: Axis, schema: Schema) -> NDArray[Any]:
    """One value of each interval, or each level and one that no table has."""
    if axis.cuts is None:
        return np.array([*schema[axis.place].levels, _UNSEEN], dtype=object)
    cuts = np.array(axis.cuts, dtype=np.float32)
    return np.append(cuts, np.nextafter(cuts[-1], np.float32(np.inf))).astype(float)


def _lacking(kind: Any, saved: Saved, elements: Sequence[Mapping[str, Any]], rows: _Rows) -> int:
    """How many hashes have a statistic of the target, but belong to none of the rows.

    Each hash is numbered, and the rows are asked for the digits of their hash's number, by models
    that give 1 / (1 + 1) where the digit is one, and 0 elsewhere.
    """
    hashes: set[str] = set()
    for statistic in saved.statistics.values():
        if statistic["elements"] == elements:
            data = saved.document["ctr_data"][statistic["identifier"]]
            hashes |= set(data["hash_map"][:: data["hash_stride"]])
    hashes.discard(_NO_HASH)
    name = json.dumps({"identifier": elements, "type": "Counter"}, separators=(",", ":"))
    counter = {
        "borders": [0.25],
        "ctr_type": "Counter",
        "elements": elements,
        "identifier": name,
        "prior_denomerator": 1,
        "prior_numerator": 0,
        "scale": 1,
        "shift": 0,
        "target_border_idx": 0,
    }
    question = {
        "border": 0.25,
        "ctr_target_border_idx": 0,
        "split_type": "OnlineCtr",
        "split_index": saved.first_statistic,
    }
    features = saved.document["features_info"] | {"ctrs": [counter]}
    number = np.zeros(rows.n, dtype=np.int64)
    for digit in range(len(hashes).bit_length()):
        entries = [e for k, h in enumerate(sorted(hashes), 1) for e in (h, k >> digit & 1)]
        data = {"counter_denominator": 1, "hash_map": entries, "hash_stride": 2}
        document = saved.document | {"features_info": features, "ctr_data": {name: data}}
        number |= rows.ask(kind, document, [question])[:, 0].astype(np.int64) << digit
    return len(hashes) - len(np.unique(number[number > 0]))
