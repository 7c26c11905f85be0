"""Small tables and figures from the raw rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from rulelens.preference.metrics import compare_methods

PAIRS = [
    ("analytic", "max_eps"),
    ("centroid", "max_eps"),
    ("analytic", "centroid"),
]


def read(path: Path) -> pd.DataFrame:
    """Raw rows as a table: one column a key, numbers as numbers."""
    # Two runs at once may both have done a unit: the seeds are the same, and so are the rows.
    long = pd.read_csv(path).drop_duplicates(["unit", "row", "key"])
    wide = long.pivot(index=["unit", "row"], columns="key", values="value").reset_index()
    for column in wide.columns:
        numbers = pd.to_numeric(wide[column], errors="coerce")
        if numbers.notna().sum() == wide[column].notna().sum():
            wide[column] = numbers
    return wide


def mean_table(rows: pd.DataFrame, by: list[str], columns: list[str]) -> pd.DataFrame:
    """Means, the standard error of J@5, and the number of persons."""
    present = [c for c in columns if c in rows]
    grouped = rows.groupby(by)
    table = grouped[present].mean().round(4)
    if "j5" in present:
        table["j5_error"] = (grouped["j5"].std() / np.sqrt(grouped["j5"].count())).round(4)
    table["persons"] = grouped.size()
    return table.reset_index()


def significance(rows: pd.DataFrame) -> pd.DataFrame:
    """Paired tests of methods per data set and size, Holm-corrected within data set and measure."""
    found = []
    for (data, prior), part in rows.groupby(["data", "prior"]):
        for measure in ("tau", "j5"):
            wide = part.pivot_table(index=["k", "unit"], columns="method", values=measure)
            results, pairs = {}, []
            for k in sorted(part["k"].unique()):
                for a, b in PAIRS:
                    if k in wide.index and {a, b} <= set(wide.columns):
                        results |= {f"{a}@{k:g}": wide.loc[k][a], f"{b}@{k:g}": wide.loc[k][b]}
                        pairs.append((f"{a}@{k:g}", f"{b}@{k:g}"))
            for c in compare_methods(results, pairs):
                first, k = c.first.split("@")
                found.append(
                    {
                        "data": data,
                        "prior": prior,
                        "measure": measure,
                        "k": k,
                        "first": first,
                        "second": c.second.split("@")[0],
                        "n": c.n,
                        "mean_difference": round(c.mean_difference, 4),
                        "effect": round(c.effect, 3),
                        "p_holm": float(f"{c.p_holm:.2g}"),
                    }
                )
    return pd.DataFrame(found)


MEASURES = [
    "tau",
    "parameter_tau",
    "j5",
    "j10",
    "new_above",
    "new_in_top5",
    "precision",
    "recall",
    "regret",
    "size",
    "has_best",
]


def summarize(raw: Path, results: Path) -> None:
    """Write results/*.csv from raw/*.csv, whatever parts are there."""
    results.mkdir(exist_ok=True)
    runs = [read(p) for p in sorted(raw.glob("agreement_*.csv"))]
    if runs:
        rows = pd.concat(runs)
        told = rows[rows["method"].notna()]
        mean_table(told, ["data", "prior", "method", "k"], MEASURES).to_csv(
            results / "agreement.csv", index=False
        )
        significance(told[told["method"] != "first_rules"]).to_csv(
            results / "significance.csv", index=False
        )
    runs = [read(p) for p in sorted(raw.glob("calibration_*.csv"))]
    if runs:
        rows = pd.concat(runs)
        gaps = mean_table(
            rows[rows["belief"].notna()], ["data", "prior", "belief", "k"], ["tau", "j5"]
        )
        gaps.to_csv(results / "calibration.csv", index=False)
    for part, by, columns in (
        ("noise", ["data", "noise", "method"], [*MEASURES[:4], "regret", "consistent"]),
        ("asking", ["data", "strategy", "effort"], ["tau", "j5", "j10", "regret"]),
        ("asking_noise", ["data", "noise", "strategy"], ["tau", "j5", "j10", "regret", "wrong"]),
        ("profiles", ["data", "judged"], ["tau", "j5", "j10", "regret"]),
    ):
        runs = [read(p) for p in sorted(raw.glob(f"{part}.csv")) + sorted(raw.glob(f"{part}_0*"))]
        if runs:
            rows = pd.concat(runs)
            mean_table(rows[rows["data"].notna()], by, columns).to_csv(
                results / f"{part}.csv", index=False
            )
    if (raw / "black_box.csv").exists():
        rows = read(raw / "black_box.csv")
        folds = rows[rows["accuracy"].notna()].groupby("data")[["accuracy", "balanced"]]
        pd.concat({"mean": folds.mean(), "sd": folds.std()}, axis=1).round(4).to_csv(
            results / "accuracy.csv"
        )
        rules = rows[rows["rules"].notna()].groupby(["data", "outcome"])
        table = rules["rules"].quantile([0.1, 0.5, 0.9]).unstack()
        table["none"] = rules["rules"].apply(lambda r: (r == 0).mean())
        table["length"] = rules["length"].median()
        table.round(3).to_csv(results / "covering_rules.csv")


def figures(results: Path) -> None:
    """Draw results/*.png from the tables."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    def lines(table: pd.DataFrame, x: str, series: str, panels: str, title: str, file: str) -> None:
        names = list(table[panels].unique())
        figure, axes = plt.subplots(
            1, len(names), figsize=(3.2 * len(names), 3), sharey=True, squeeze=False
        )
        for axis, name in zip(axes[0], names, strict=True):
            for mark, (label, part) in zip(
                "os^Dv", table[table[panels] == name].groupby(series), strict=False
            ):
                axis.errorbar(
                    part[x], part["j5"], part["j5_error"], label=label, marker=mark, markersize=4
                )
            axis.set_title(name)
            axis.set_xlabel(x)
        axes[0][0].set_ylabel("Jaccard@5")
        figure.suptitle(title)
        figure.tight_layout()
        # Beside the panels: over them it would hide lines.
        handles, labels = axes[0][0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="center left", bbox_to_anchor=(1, 0.5), fontsize="small")
        figure.savefig(results / file, dpi=110, bbox_inches="tight")
        plt.close(figure)

    if (results / "agreement.csv").exists():
        table = pd.read_csv(results / "agreement.csv")
        table = table[table["prior"] == "uniform"]
        lines(table, "k", "method", "data", "Rules ranked at random", "agreement.png")
    if (results / "asking.csv").exists():
        table = pd.read_csv(results / "asking.csv")
        lines(table, "effort", "strategy", "data", "Questions asked", "asking.png")
    if (results / "profiles.csv").exists():
        table = pd.read_csv(results / "profiles.csv").assign(profile="with profile")
        none = table[table["judged"] == 0].drop(columns="judged")
        flat = [none.assign(judged=m, profile="without") for m in table["judged"].unique()]
        both = pd.concat([table, *flat]).sort_values("judged")
        lines(both, "judged", "profile", "data", "A row never seen", "profiles.png")
