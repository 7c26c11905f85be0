"""rulelens compare: distances, limits, and what it refuses."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from rulelens.cli import main
from rulelens.graph.feature_graph import FeatureGraph
from rulelens.io.formats import read_rules, write_rules
from rulelens.sources.extract import extract_rules


def run(capsys, *args: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as info:
        main([str(a) for a in args])
    out, err = capsys.readouterr()
    return int(info.value.code or 0), out, err


@pytest.fixture
def files(tmp_path):
    """A table, and the rules of a small and a larger tree."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.random((200, 3)), columns=["a b", "größe", "c"])
    y = np.where((X["a b"] > 0.5) ^ (X["größe"] > 0.4), "yes", "no")
    X.assign(ill=y).to_csv(tmp_path / "rows.csv", index=False)
    graphs = {}
    for depth in (1, 2, 4):
        tree = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X, y)
        rules = extract_rules(tree, X)
        write_rules(rules, tmp_path / f"depth{depth}.json")
        graphs[depth] = FeatureGraph.from_rules(rules, X, y)
    return tmp_path, graphs


def test_distance_and_drivers(capsys, files):
    folder, graphs = files
    code, out, err = run(
        capsys, "compare", folder / "depth1.json", folder / "depth4.json",
        "--data", folder / "rows.csv", "--target", "ill",
    )  # fmt: skip
    assert code == 0, err
    assert f"distance: {graphs[1].distance(graphs[4]):.4g}" in out
    assert "of the squared distance" in out
    assert "rules: " in out


def test_json_is_one_document_with_everything(capsys, files):
    folder, graphs = files
    code, out, _ = run(
        capsys, "compare", *(folder / f"depth{d}.json" for d in (1, 2, 4)),
        "--data", folder / "rows.csv", "--target", "ill", "--json",
    )  # fmt: skip
    assert code == 0
    document = json.loads(out)
    assert [s["second"] for s in document["steps"]] == ["depth2.json", "depth4.json"]
    assert document["steps"][1]["distance"] == pytest.approx(graphs[2].distance(graphs[4]))
    assert sum(d["share"] for d in document["steps"][0]["drivers"]) == pytest.approx(1)
    assert document["exceeded"] is False


def test_limit_ends_with_exit_code_3(capsys, files):
    folder, graphs = files
    both = ["compare", folder / "depth1.json", folder / "depth4.json"]
    rows = ["--data", folder / "rows.csv", "--target", "ill"]
    distance = graphs[1].distance(graphs[4])
    code, out, err = run(capsys, *both, *rows, "--max-distance", distance - 0.01, "--json")
    assert code == 3
    assert json.loads(out)["exceeded"] is True
    assert "farther than --max-distance" in err
    code, _, _ = run(capsys, *both, *rows, "--max-distance", distance + 0.01)
    assert code == 0


def test_resampling_gives_a_yardstick(capsys, files):
    folder, _ = files
    rows = ["--data", folder / "rows.csv", "--target", "ill", "--resamples", 50]
    both = ["compare", folder / "depth1.json", folder / "depth4.json", *rows]
    code, out, _ = run(capsys, *both)
    assert code == 0
    assert "for scale: resampling the rows moves a graph by up to" in out
    first, second = json.loads(run(capsys, *both, "--json")[1])["steps"][0]["moved_by_resampling"]
    assert 0 <= first < 141
    assert 0 < second < 141


def test_files_of_one_name_are_told_by_their_folders(capsys, files):
    folder, _ = files
    (folder / "old").mkdir()
    (folder / "depth1.json").rename(folder / "old" / "depth2.json")
    old, new = folder / "old" / "depth2.json", folder / "depth2.json"
    _, out, _ = run(capsys, "compare", old, new)
    assert f"{old} → {new}" in out


def test_saved_graphs_need_no_rows(capsys, files):
    folder, graphs = files
    for d in (1, 4):
        (folder / f"graph{d}.json").write_text(json.dumps(graphs[d].to_dict()), "utf-8")
    code, out, _ = run(
        capsys, "compare", folder / "graph1.json", folder / "graph4.json", "--max-distance", 0
    )
    assert code == 3
    assert f"{graphs[1].distance(graphs[4]):.4g}" in out


def test_rules_without_rows_are_compared_as_rules(capsys, files):
    folder, _ = files
    code, out, _ = run(capsys, "compare", folder / "depth2.json", folder / "depth2.json")
    assert code == 0
    assert "distance: unknown without rows" in out
    assert "4 same rule" in out


@pytest.mark.parametrize("names", [("depth1.json", "depth4.json"), ("depth1.json",) * 3])
def test_pictures(capsys, files, names):
    folder, _ = files
    code, _, err = run(
        capsys, "compare", *(folder / n for n in names), "--data", folder / "rows.csv",
        "--target", "ill", "--out", folder / "change.svg",
    )  # fmt: skip
    assert code == 0, err
    assert (folder / "change.svg").read_text("utf-8").startswith("<?xml")


def test_text_columns_are_those_that_the_rules_were_made_with(capsys, tmp_path):
    X = pd.DataFrame({"colour": ["red", "blue"] * 20, "n": range(40)})
    X.assign(ill=["y", "n"] * 20).to_csv(tmp_path / "rows.csv", index=False)
    for seed in (0, 1):
        run(
            capsys, "rules", tmp_path / "rows.csv", "--target", "ill", "--seed", seed,
            "--out", tmp_path / f"{seed}.json",
        )  # fmt: skip
    code, out, err = run(
        capsys, "compare", tmp_path / "0.json", tmp_path / "1.json",
        "--data", tmp_path / "rows.csv", "--target", "ill",
    )  # fmt: skip
    assert code == 0, err
    assert "distance: " in out


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (["depth1.json"], 2, "at least two"),
        (["depth1.json", "depth2.json", "--max-distance", "5"], 2, "--data FILE --target COL"),
        (["depth1.json", "depth2.json", "--max-distance", "-1"], 2, "max-distance"),
        (["depth1.json", "depth2.json", "--max-distance", "nan"], 2, "finite"),
        (["depth1.json", "depth2.json", "--data", "rows.csv"], 2, "--target COL"),
        (["depth1.json", "depth2.json", "--target", "ill"], 2, "--data"),
        (["depth1.json", "depth2.json", "--top", "0"], 2, "--top"),
        (["depth1.json", "depth2.json", "--resamples", "9"], 2, "--resamples needs --data"),
        (["depth1.json", "none.json"], 1, "none.json"),
        (["depth1.json", "rows.csv"], 1, "rows.csv"),
        (["depth1.json", "broken.json"], 1, "broken.json"),
        (["depth1.json", "depth2.json", "--data", "rows.csv", "--target", "x"], 1, "no column 'x'"),
        (
            [
                "depth1.json",
                "depth2.json",
                "--data",
                "rows.csv",
                "--target",
                "ill",
                "--out",
                "a.jpg",
            ],
            1,
            ".png or .svg",
        ),
    ],
)
def test_refusals(capsys, files, monkeypatch, args, code, message):
    folder, _ = files
    monkeypatch.chdir(folder)
    (folder / "broken.json").write_text("{", "utf-8")
    found, out, err = run(capsys, "compare", *args)
    assert found == code, err
    assert message in err
    assert out == ""
    assert "Traceback" not in err


def test_a_format_for_files_whose_suffix_does_not_tell_it(capsys, files):
    folder, _ = files
    text = "RULE 1: IF V1 > 0.5 THEN ill in {yes}\nRULE 2: IF V2 <= 0.4 THEN ill in {no}\n"
    (folder / "rules.txt").write_text(text, "utf-8")
    args = ["compare", folder / "depth1.json", folder / "rules.txt"]
    args += ["--data", folder / "rows.csv", "--target", "ill"]
    code, out, err = run(capsys, *args, "--format", "rulex")
    assert code == 0, err
    assert "distance: " in out
    code, _, err = run(capsys, *args)
    assert code == 1
    assert "'.txt' does not tell the format" in err


def test_the_same_rules_in_another_order_pass_a_limit_of_0(capsys, files):
    folder, _ = files
    rules = read_rules(folder / "depth4.json")
    order = np.random.default_rng(0).permutation(len(rules))
    write_rules(rules[order], folder / "mixed.json")
    code, out, err = run(
        capsys, "compare", folder / "depth4.json", folder / "mixed.json",
        "--data", folder / "rows.csv", "--target", "ill", "--max-distance", "0",
    )  # fmt: skip
    assert code == 0, err
    assert "distance: 0\n" in out


def test_what_makes_a_distance_say_little_is_noted(capsys, files):
    """Graphs made in two ways, or over other names, were compared without a word."""
    folder, graphs = files
    one = graphs[2].to_dict()
    other = one | {"projection": "simple", "features": ["A B", "größe", "c"]}
    for name, document in (("one.json", one), ("other.json", other)):
        (folder / name).write_text(json.dumps(document), "utf-8")
    code, out, _ = run(capsys, "compare", folder / "one.json", folder / "other.json")
    assert code == 0
    assert "one.json was made by relevance/relevance, joint, and other.json by" in out
    assert "note: only one.json has 'a b'." in out
    assert "note: only other.json has 'A B'." in out
    code, out, _ = run(capsys, "compare", folder / "one.json", folder / "other.json", "--json")
    assert len(json.loads(out)["steps"][0]["notes"]) == 3
    _, out, _ = run(capsys, "compare", folder / "one.json", folder / "one.json")
    assert "note" not in out


@pytest.mark.filterwarnings("default::rulelens.errors.RulelensWarning")
def test_a_warning_is_said_in_words(capsys, files):
    """An empty rule set was warned of with a path and a line of our code."""
    folder, _ = files
    rules = read_rules(folder / "depth1.json")
    write_rules(rules[:0], folder / "none.json")
    code, _, err = run(
        capsys, "compare", folder / "none.json", folder / "none.json",
        "--data", folder / "rows.csv", "--target", "ill", "--max-distance", "0",
    )  # fmt: skip
    assert code == 0
    assert "\nrulelens: The feature graph is empty" in err
    assert ".py" not in err
