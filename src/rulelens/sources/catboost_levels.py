"""Which levels a CatBoost split by levels sends to the right.

CatBoost keeps of a level only a hash, and ``level = value`` is a comparison of hashes. The
model's own class answers which levels have the hashes of a model: a small model with one such
question a tree is made and asked about each level. So levels become text, and text a hash, by
the vendor's own means.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rulelens.core.schema import Feature, Level, Schema
from rulelens.errors import ModelError


def check_split(split: Mapping[str, Any]) -> None:
    """Raise ModelError for a split that is no condition on a number or a level."""
    kind = split["split_type"]
    if kind in ("FloatFeature", "OneHotFeature"):
        return
    if kind == "OnlineCtr":
        raise ModelError(
            "The model splits a categorical feature by statistics of the target for each of its "
            "levels (OnlineCtr), which are no conditions on the level. Fit it with "
            "one_hot_max_size of at least the largest number of levels of a feature (up to 255), "
            "so that it asks for single levels, or encode such columns as numbers."
        )
    raise ModelError(
        f"The model has a split of the type {kind}, which is no condition on a number or a level. "
        "Rules need a model of numeric and categorical features alone."
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


def matching_levels(
    model: Any, feature: Feature, hashes: Sequence[int]
) -> dict[int, NDArray[np.bool_]]:
    """For each hash, which levels of the feature have it; one entry more for unseen levels.

    Parameters
    ----------
    model : CatBoostClassifier
        Its class is asked, not itself.
    feature : Feature
        Categorical or boolean.
    hashes : sequence of int
        That the model compares with.

    Raises
    ------
    ModelError
        No level has one of the hashes.
    """
    if any(isinstance(v, float) for v in feature.levels):
        raise ModelError(
            f"Feature '{feature.name}' has levels with a decimal point, which CatBoost does not "
            "take. Give the levels as they were when the model was fitted."
        )
    hits = np.zeros((len(feature.levels), len(hashes)), dtype=bool)
    if feature.levels:
        import pandas as pd

        column = pd.DataFrame({"level": pd.Series(list(feature.levels), dtype=object)})
        hits = np.asarray(_asking(type(model), hashes).calc_leaf_indexes(column)) == 1
    unknown = np.flatnonzero(~hits.any(axis=0))
    if len(unknown):
        raise ModelError(
            f"The model asks for {len(unknown)} levels of feature '{feature.name}' that the table "
            "does not have, and it keeps only their hashes. Give extract_rules the table that the "
            "model was fitted on, or a schema with all levels."
        )
    return {h: np.append(hits[:, k], False) for k, h in enumerate(hashes)}


def _asking(kind: Any, hashes: Sequence[int]) -> Any:
    """A model whose tree k gives leaf 1 to the levels with hash k."""
    trees = [
        {
            "leaf_values": [0, 1],
            "leaf_weights": [1, 1],
            "splits": [
                {
                    "cat_feature_index": 0,
                    "split_index": k,
                    "split_type": "OneHotFeature",
                    "value": value,
                }
            ],
        }
        for k, value in enumerate(hashes)
    ]
    feature = {"feature_id": "level", "feature_index": 0, "flat_feature_index": 0}
    document = {
        "features_info": {
            "categorical_features": [feature | {"values": list(hashes)}],
            "float_features": [],
        },
        "model_info": {},
        "oblivious_trees": trees,
        "scale_and_bias": [1, [0]],
    }
    asking = kind()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "levels.json"
        path.write_text(json.dumps(document), encoding="utf-8")
        asking.load_model(str(path), format="json")
    return asking
