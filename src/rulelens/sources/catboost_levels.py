"""Which levels a CatBoost split by levels sends to the right.

CatBoost keeps of a level only a hash: of one level, to compare with (OneHotFeature), or of all
levels, each with what is known of the target there (OnlineCtr). The model's own class answers
where a level goes: a small model with one such question a tree is made of the saved one, and
asked about each level. So levels become text, and text a hash, and a hash a statistic, by the
vendor's own means.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rulelens.core.schema import Feature, Level, Schema
from rulelens.errors import ModelError

_NO_HASH = str(2**64 - 1)
"""Stands in a saved model's table of hashes for an empty place."""
_UNSEEN = "\x00 a level that no table has \x00"


@dataclass(frozen=True, eq=False)
class Saved:
    """What a model saves as JSON.

    Parameters
    ----------
    document : dict
    places : dict of int to int
        Column of each categorical feature, by its number among them.
    statistics : dict of int to dict
        Statistic of the target that a split asks about, by the number of the split.
    first_statistic : int
        Number of the first split that can ask about one.
    """

    document: dict[str, Any]
    places: dict[int, int]
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
        by_level = features.get("categorical_features", [])
        # Splits are numbered: all borders of numbers, then all levels, then all statistics.
        before = sum(len(f.get("borders") or []) for f in features.get("float_features", []))
        before += sum(len(f.get("values") or []) for f in by_level)
        owners = [c for c in features.get("ctrs") or [] for _ in c["borders"]]
        return cls(
            document,
            {f["feature_index"]: f["flat_feature_index"] for f in by_level},
            {before + i: c for i, c in enumerate(owners)},
            before,
        )

    def feature_of(self, split: Mapping[str, Any]) -> int:
        """Number of the categorical feature that a split asks about.

        Raises
        ------
        ModelError
            It asks about a combination of features, or by a statistic that is not saved rightly.
        """
        if split["split_type"] == "OneHotFeature":
            return int(split["cat_feature_index"])
        statistic = self.statistics[split["split_index"]]
        data = self.document["ctr_data"][statistic["identifier"]]
        if any(isinstance(v, float) and not v.is_integer() for v in data["hash_map"]):
            raise ModelError(
                f"The model splits by the statistic {statistic['ctr_type']} of a target that is "
                "no whole number, and CatBoost itself does not read such a number back from the "
                "JSON that it writes. Fit it with the statistics Borders, Buckets and Counter."
            )
        elements = statistic["elements"]
        if len(elements) > 1:
            raise ModelError(
                "The model splits by a statistic of the target for combinations of "
                f"{len(elements)} features, which is no condition on one feature. Fit it with "
                "max_ctr_complexity=1, so that it asks about single features."
            )
        return int(elements[0]["cat_feature_index"])


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


def check_split(split: Mapping[str, Any]) -> None:
    """Raise ModelError for a split that is no condition on a number or a level."""
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


def levels_to_the_right(
    kind: Any, saved: Saved, splits: Mapping[int, Mapping[str, Any]], schema: Schema
) -> Iterator[tuple[int, int, NDArray[np.bool_]]]:
    """Of each split: its column, its number, and which levels go right.

    Parameters
    ----------
    kind : type
        The model's class, which is asked.
    saved : Saved
    splits : dict of int to dict
        Splits by levels, by their numbers.
    schema : Schema
        The levels of its features are asked about.

    Yields
    ------
    column : int
    number : int
    goes_right : array of bool, shape (n_levels + 1,)
        The last entry is for a level that the feature does not have.

    Raises
    ------
    ModelError
        The feature lacks a level that the model knows, or a split asks about several features.
    """
    mine: dict[int, list[int]] = {}
    for i in sorted(splits):
        mine.setdefault(saved.feature_of(splits[i]), []).append(i)
    for number, asked in sorted(mine.items()):
        place = saved.places[number]
        feature = schema[place]
        _check_levels(feature)
        goes_right = _ask(kind, saved.document, [splits[i] for i in asked], place, feature)
        by_name = np.array([splits[i]["split_type"] == "OneHotFeature" for i in asked])
        lacking = int((by_name & ~goes_right[:-1].any(axis=0)).sum())
        if not by_name.all():
            lacking = max(lacking, _lacking(kind, saved, number, feature))
        if lacking:
            raise ModelError(
                f"The model knows {lacking} levels of feature '{feature.name}' that the table "
                "does not have, and it keeps only their hashes. Give extract_rules the table "
                "that the model was fitted on, or a schema with all levels."
            )
        for k, i in enumerate(asked):
            yield place, i, goes_right[:, k]


def _check_levels(feature: Feature) -> None:
    if any(isinstance(v, float) for v in feature.levels):
        raise ModelError(
            f"Feature '{feature.name}' has levels with a decimal point, which CatBoost does not "
            "take. Give the levels as they were when the model was fitted."
        )


def _lacking(kind: Any, saved: Saved, number: int, feature: Feature) -> int:
    """How many levels have a statistic of the target, but are none of the feature's.

    The levels are asked whether they have one, by a model that gives 1 / (1 + 1) to each hash
    that is there and 0 to any other.
    """
    element = {"cat_feature_index": number, "combination_element": "cat_feature_value"}
    hashes: set[str] = set()
    for statistic in saved.statistics.values():
        if statistic["elements"] == [element]:
            data = saved.document["ctr_data"][statistic["identifier"]]
            hashes |= set(data["hash_map"][:: data["hash_stride"]])
    hashes.discard(_NO_HASH)
    name = json.dumps({"identifier": [element], "type": "Counter"}, separators=(",", ":"))
    counter = {
        "borders": [0.25],
        "ctr_type": "Counter",
        "elements": [element],
        "identifier": name,
        "prior_denomerator": 1,
        "prior_numerator": 0,
        "scale": 1,
        "shift": 0,
        "target_border_idx": 0,
    }
    map_ = [entry for h in sorted(hashes) for entry in (h, 1)]
    features = saved.document["features_info"]
    question = {
        "border": 0.25,
        "ctr_target_border_idx": 0,
        "split_type": "OnlineCtr",
        "split_index": saved.first_statistic,
    }
    document = saved.document | {
        "features_info": features | {"ctrs": [counter]},
        "ctr_data": {name: {"counter_denominator": 1, "hash_map": map_, "hash_stride": 2}},
    }
    known = _ask(kind, document, [question], saved.places[number], feature)[:-1, 0]
    return len(hashes) - len({str(v) for v, k in zip(feature.levels, known, strict=True) if k})


def _ask(
    kind: Any,
    document: Mapping[str, Any],
    splits: Sequence[Mapping[str, Any]],
    place: int,
    feature: Feature,
) -> NDArray[np.bool_]:
    """Which levels, and one that no table has, go right at each split, shape (n + 1, n_splits)."""
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
    levels = pd.Series([*feature.levels, _UNSEEN], dtype=object)
    others = document["features_info"]["categorical_features"]
    texts = {f["flat_feature_index"] for f in others}
    columns = {
        j: levels if j == place else np.full(len(levels), "", object) if j in texts else 0.0
        for j in range(len(asking.feature_names_))
    }
    table = pd.DataFrame(columns, index=levels.index).set_axis(asking.feature_names_, axis=1)
    goes_right: NDArray[np.bool_] = np.asarray(asking.calc_leaf_indexes(table)) == 1
    return goes_right.reshape(len(levels), len(splits))
