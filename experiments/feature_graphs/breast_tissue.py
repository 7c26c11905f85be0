"""Breast Tissue: a graph a class; adipose tissue must rest on one feature alone.

Rules of a tuned tree and of the Rulex platform's Logic Learning Machine, on the training rows of
fold 0. Writes results/breast_tissue.csv (the main feature of each class and what it does alone)
and a picture for each source.
"""

from __future__ import annotations

import warnings

import pandas as pd
from recipe import RESULTS, arguments, tuned_tree

from rulelens.errors import RulelensWarning
from rulelens.graph.feature_graph import FeatureGraph
from rulelens.io.formats import read_rules
from rulelens.plots.graph import plot_classes
from rulelens.plots.save import save_figure
from rulelens.sources.extract import extract_rules


def main() -> None:
    options = arguments(__doc__.splitlines()[0]).parse_args()
    warnings.simplefilter("ignore", RulelensWarning)
    frame = pd.read_csv(options.data / "rulex/BREAST_CV0.csv.gz")
    train = frame.iloc[: round(0.8 * len(frame)) + 1]
    X, y = train.drop(columns="target"), train["target"]
    sources = {
        "tree": extract_rules(tuned_tree(X, y), X),
        "llm": read_rules(
            options.data / "rulex/BREAST_CV0_rules.txt", format="rulex", features=list(X.columns)
        ),
    }
    RESULTS.mkdir(exist_ok=True)
    records = []
    for name, rules in sources.items():
        graph = FeatureGraph.from_rules(rules, X, y)
        for label in sorted(graph.outcomes):
            part = graph.for_class(label)
            importance = part.importance()
            top = importance.idxmax()
            links = part.to_frame().query("kind == 'together'")
            records.append(
                {
                    "source": name,
                    "class": label,
                    "features_used": int((importance > 0).sum()),
                    "main_feature": top,
                    "importance": importance[top],
                    "alone": part.alone()[top],
                    "links": len(links),
                    "strongest_link": " & ".join(links.iloc[0][["source", "target"]])
                    if len(links)
                    else "",
                }
            )
        axes = plot_classes(graph, top=9)
        save_figure(axes[0], RESULTS / f"breast_tissue_{name}.png", dpi=60)
    table = pd.DataFrame(records).round(2)
    table.to_csv(RESULTS / "breast_tissue.csv", index=False, lineterminator="\n")
    print(table.to_string(index=False))
    adipose = table[table["class"] == "adi"]
    print("adipose rests on one feature alone:", bool((adipose["alone"] == 100).all()))


if __name__ == "__main__":
    main()
