"""The command line: what it prints, what it writes, and how it refuses."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rulelens.cli import main


def run(capsys, *args: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a command."""
    with pytest.raises(SystemExit) as info:
        main(list(args))
    out, err = capsys.readouterr()
    code = info.value.code
    return 0 if code is None else int(code), out, err


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    n = 300
    X = pd.DataFrame(
        {
            "age (years)": rng.integers(18, 90, n).astype(float),
            "größe": rng.normal(170, 10, n).round(1),
            "colour": rng.choice(["red", "blue", "<b>green</b>"], n),
            "id": np.arange(n),
        }
    )
    X["ill"] = np.where((X["age (years)"] > 60) & (X["colour"] != "red"), "yes", "no")
    X.loc[::17, "age (years)"] = np.nan
    return X


@pytest.fixture
def data(table, tmp_path) -> Path:
    path = tmp_path / "people.csv"
    table.to_csv(path, index=False)
    return path


EXPLAIN = ["--target", "ill", "--drop", "id", "--row", "5", "--train", "forest"]


def test_explain_prints_rules_and_writes_a_report(capsys, data, tmp_path):
    out = tmp_path / "why.html"
    code, text, err = run(capsys, "explain", str(data), *EXPLAIN, "--out", str(out))
    assert code == 0, err
    assert "The model decided" in text
    assert "rule 0:" in text
    assert "Reading people.csv" in err
    assert str(out) in err
    html = out.read_text("utf-8")
    assert "größe" in html
    assert "<script" not in html


def test_explain_as_json_is_one_document(capsys, data):
    code, text, _ = run(capsys, "explain", str(data), *EXPLAIN, "--json")
    assert code == 0
    record = json.loads(text)
    assert record["format"] == "rulelens.explanation"
    assert all(r["confidence"] == 1.0 and r["fp"] == 0 for r in record["rules"])


def test_explain_with_a_ranking_puts_it_first(capsys, data):
    code, text, err = run(
        capsys, "explain", str(data), *EXPLAIN, "--all-rules", "--max-length", "3",
        "--rank", "2>1>0", "--json",
    )  # fmt: skip
    assert code == 0, err
    ranking = [r["alternative"] for r in json.loads(text)["ranking"]]
    assert ranking.index(2) < ranking.index(1) < ranking.index(0)


@pytest.mark.parametrize("method", ["mlp", "forest", "boosting"])
def test_every_trained_model_can_be_explained(capsys, data, method):
    code, text, err = run(
        capsys, "explain", str(data), "--target", "ill", "--drop", "id", "--row", "5",
        "--train", method,
    )  # fmt: skip
    assert code == 0, err
    assert "The model decided" in text


def test_parquet_and_compressed_csv_are_read(capsys, table, tmp_path):
    table.to_parquet(tmp_path / "p.parquet")
    table.to_csv(tmp_path / "p.csv.gz", index=False)
    table.to_csv(tmp_path / "p.tsv", index=False, sep="\t")
    texts = {
        run(capsys, "explain", str(tmp_path / name), *EXPLAIN)[1]
        for name in ("p.parquet", "p.csv.gz", "p.tsv")
    }
    assert len(texts) == 1


def test_rules_and_graph_of_a_tree(capsys, data, tmp_path):
    rules = tmp_path / "rules.json"
    code, text, err = run(
        capsys, "rules", str(data), "--target", "ill", "--drop", "id", "--out", str(rules)
    )
    assert code == 0, err
    assert "THEN" in text
    assert json.loads(rules.read_text("utf-8"))["format"] == "rulelens-rules"
    for suffix in ("png", "svg"):
        picture = tmp_path / f"graph.{suffix}"
        code, text, err = run(
            capsys, "graph", str(data), "--target", "ill", "--drop", "id",
            "--rules", str(rules), "--class", "yes", "--out", str(picture),
        )  # fmt: skip
        assert code == 0, err
        assert "age (years)" in text
        assert picture.stat().st_size > 1000
    code, text, _ = run(capsys, "graph", str(data), "--target", "ill", "--drop", "id", "--json")
    assert code == 0
    assert abs(np.sum(json.loads(text)["adjacency"]) - 100) < 1e-9
    code, text, _ = run(
        capsys, "rules", str(data), "--target", "ill", "--train", "forest", "--json"
    )
    records = json.loads(text)["rules"]
    assert {"rule", "if", "then", "tp", "confidence"} <= set(records[0])


def test_rules_and_graph_of_a_file_in_another_format(capsys, data, tmp_path):
    rules = tmp_path / "rules.txt"
    rules.write_text(
        "RULE 1: IF V1 > 60 AND V3 in {red} THEN ill in {no}\n"
        "RULE 2: IF V2 <= 170 THEN ill in {yes}\n",
        "utf-8",
    )
    common = [str(data), "--target", "ill", "--drop", "id", "--rules", str(rules)]
    code, text, err = run(capsys, "rules", *common, "--format", "rulex")
    assert code == 0, err
    assert "IF age (years) > 60 AND colour is red THEN no" in text
    rules.write_text("RULE 1: IF V1 > 60 THEN ill in {no}\n", "utf-8")  # V3 is text
    code, text, err = run(capsys, "graph", *common, "--format", "rulex")
    assert code == 0, err
    assert "age (years)" in text
    code, _, err = run(capsys, "rules", *common)
    assert code == 1
    assert "'.txt' does not tell the format" in err
    code, _, err = run(capsys, "rules", *common, "--format", "csv")
    assert code == 1
    assert "can be written only" in err
    code, _, err = run(capsys, "graph", *common[:5], "--format", "rulex")
    assert code == 2
    assert "Give --rules FILE, too" in err


def test_rules_as_a_table_with_measures(capsys, data, tmp_path):
    out = tmp_path / "rules.csv"
    code, _, err = run(
        capsys, "rules", str(data), "--target", "ill", "--drop", "id", "--out", str(out)
    )
    assert code == 0, err
    frame = pd.read_csv(out)
    assert {"rule", "outcome", "tp", "confidence"} <= set(frame.columns)
    assert (frame["tp"] + frame["fp"] > 0).all()


def test_rules_are_printed_by_falling_measure(capsys, data):
    code, text, _ = run(
        capsys, "rules", str(data), "--target", "ill", "--sort", "support", "--json"
    )
    assert code == 0
    supports = [r["support"] for r in json.loads(text)["rules"]]
    assert supports == sorted(supports, reverse=True)


def test_demo_without_a_terminal_simulates_and_writes_the_report(capsys, tmp_path, monkeypatch):
    out = tmp_path / "demo.html"
    code, text, err = run(capsys, "demo", "--out", str(out), "--simulate")
    assert code == 0, err
    assert f"Report: {out}" in text
    assert "simulated user" in err
    page = out.read_text("utf-8")
    assert "No person was asked" in page
    assert "suit you" not in page


def test_demo_asks_and_takes_contradictions_back(tmp_path):
    out = tmp_path / "demo.html"
    command = [sys.executable, "-c", "from rulelens.cli import main; main()"]
    done = subprocess.run(
        [*command, "demo", "--ask", "--out", str(out), "--answers", "4"],
        input="a\nwhat\nu\nb\n=\n\n",
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "That is no answer" in done.stderr
    assert out.exists()


# ---------------------------------------------------------------------- refusals
def refused(capsys, *args: str) -> str:
    """The one line on stderr with which a command ends with exit code 1."""
    code, text, err = run(capsys, *args)
    assert code == 1
    assert text == ""
    line = err.strip().splitlines()[-1]
    assert line.startswith("rulelens: ")
    assert "Traceback" not in err
    return line


def write(tmp_path: Path, text: str, name: str = "t.csv") -> str:
    path = tmp_path / name
    path.write_text(text, "utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("\n", "no header"),
        ("a,b,y\n", "has a header but no rows"),
        ("a,a,y\n1,2,x\n", "two columns named 'a'"),
        ("a,,y\n1,2,x\n", "Column 2 of"),
        ("a,y\n1,x\n", "one class only"),
        ("a,y\n1,x\n2,x\n", "one class only"),
        ("a,y\n1,\n2,\n", "Every value of the target 'y' is missing"),
        ("a,y\n1,x\n2,y,3,4\n", "cannot be read as CSV"),
        ("a,y\n1,x,9\n2,y,8\n", "more values than the header"),
        ("y\nx\nz\n", "no feature columns left"),
        ("a,y\ninf,x\n2,z\n3,x\n4,z\n5,x\n6,z\n", "infinite in row 0"),
        ("a,y\n1e308,x\n2,z\n3,x\n4,z\n5,x\n6,z\n", "too large for the model"),
    ],
)
def test_files_that_cannot_be_used(capsys, tmp_path, text, message):
    path = write(tmp_path, text)
    assert message in refused(capsys, "explain", path, "--target", "y", "--row", "0")


def test_a_target_that_is_not_there_or_is_no_class(capsys, data, tmp_path):
    line = refused(capsys, "explain", str(data), "--target", "il", "--row", "0")
    assert "no column 'il'" in line
    assert "Did you mean 'ill'?" in line
    assert "looks like a number" in refused(
        capsys, "explain", str(data), "--target", "größe", "--row", "0"
    )
    assert "has no column 'nope'" in refused(
        capsys, "explain", str(data), "--target", "ill", "--drop", "nope", "--row", "0"
    )


def test_rows_models_and_paths_that_are_not_there(capsys, data, tmp_path):
    args = ["explain", str(data), "--target", "ill"]
    assert "has 300 rows, counted from 0" in refused(capsys, *args, "--row", "300")
    assert "There is no file" in refused(
        capsys, "explain", "none.csv", "--target", "y", "--row", "0"
    )
    assert "is a folder" in refused(capsys, "explain", str(tmp_path), "--target", "y", "--row", "0")
    nowhere = str(tmp_path / "none" / "r.html")
    line = refused(capsys, *args, "--row", "0", "--out", nowhere)
    assert "does not exist" in line
    assert "is a folder" in refused(
        capsys, "graph", str(data), "--target", "ill", "--out", str(folder_named(tmp_path, "g.png"))
    )
    assert ".html file" in refused(capsys, *args, "--row", "0", "--out", str(tmp_path / "r.pdf"))
    assert "is a pickle" in refused(
        capsys, *args, "--row", "0", "--model", write(tmp_path, "x", "m.pkl")
    )
    assert "Expected .skops or .onnx" in refused(
        capsys, *args, "--row", "0", "--model", write(tmp_path, "x", "m.txt")
    )
    assert "not a whole skops file" in refused(
        capsys, *args, "--row", "0", "--model", write(tmp_path, "x", "m.skops")
    )


def folder_named(tmp_path: Path, name: str) -> Path:
    folder = tmp_path / name
    folder.mkdir()
    return folder


def test_an_unwritable_folder_is_refused_before_the_work(capsys, data, monkeypatch, tmp_path):
    monkeypatch.setattr("os.access", lambda _, mode, **__: mode != os.W_OK)
    line = refused(
        capsys, "explain", str(data), "--target", "ill", "--row", "0",
        "--out", str(tmp_path / "r.html"),
    )  # fmt: skip
    assert "cannot be written to" in line


def test_rankings_of_rules_that_do_not_exist(capsys, data):
    args = ["explain", str(data), *EXPLAIN, "--all-rules"]
    for ranking, message in (("0>9999", "Unknown alternative"), ("0>1>0", "twice")):
        code, _, err = run(capsys, *args, "--rank", ranking)
        assert code == 1
        assert message in err.splitlines()[-1]
    assert "Unknown --weights" in refused(capsys, *args, "--rank", "0>1", "--weights", "nope")
    assert "nothing to rank" in refused(
        capsys, "explain", str(data), "--target", "ill", "--row", "5", "--train", "forest",
        "--min-support", "299", "--rank", "0>1",
    )  # fmt: skip


def test_usage_errors_exit_with_2(capsys, data):
    for args in (
        ["explain"],
        ["explain", str(data), "--row", "0"],
        ["explain", str(data), *EXPLAIN, "--model", "m.skops"],
        ["explain", str(data), *EXPLAIN, "--max-length", "long"],
        ["explain", str(data), *EXPLAIN, "--top", "0"],
        ["graph", str(data), "--target", "ill", "--train", "tree", "--rules", "r.json"],
        ["graf"],
    ):
        code, _, err = run(capsys, *args)
        assert code == 2, args
        assert "Error" in err
    assert "Did you mean 'graph'?" in run(capsys, "graf")[2]


def test_text_that_is_not_utf8_and_other_separators(capsys, table, tmp_path):
    path = tmp_path / "latin.csv"
    table.to_csv(path, index=False, encoding="latin-1", sep=";")
    args = ["explain", str(path), *EXPLAIN]
    assert "--encoding" in refused(capsys, *args)
    code, _, err = run(capsys, *args, "--encoding", "latin-1", "--sep", ";")
    assert code == 0, err


def test_missing_targets_are_left_out_and_said(capsys, table, tmp_path):
    broken = table.copy()
    broken.loc[:9, "ill"] = None
    path = tmp_path / "holes.csv"
    broken.to_csv(path, index=False)
    code, _, err = run(capsys, "explain", str(path), *EXPLAIN)
    assert code == 0
    assert "10 rows without a target" in err


def test_a_saved_model_is_explained_without_unpickling(capsys, data, table, tmp_path):
    from sklearn.tree import DecisionTreeClassifier
    from skops import io as skops_io

    X = table[["age (years)", "größe"]]
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, table["ill"])
    skops_io.dump(model, tmp_path / "tree.skops")
    explain = [
        "explain", str(data), "--target", "ill", "--row", "5",
        "--model", str(tmp_path / "tree.skops"),
    ]  # fmt: skip
    line = refused(capsys, *explain)
    assert "--trust sklearn.tree._tree.Tree" in line
    code, text, err = run(capsys, *explain, "--trust", "sklearn.tree._tree.Tree")
    assert code == 0, err
    assert "The model decided" in text
    code, text, err = run(
        capsys, "rules", str(data), "--target", "ill", "--drop", "colour", "--drop", "id",
        "--model", str(tmp_path / "tree.skops"), "--trust", "sklearn.tree._tree.Tree",
    )  # fmt: skip
    assert code == 0, err


def test_importing_and_help_are_quick_and_light():
    """`import rulelens` must not pull in what it does not need, nor may the help."""
    code = (
        "import sys, time; t = time.perf_counter(); import rulelens; "
        "d = time.perf_counter() - t; "
        "heavy = {'scipy', 'sklearn', 'pandas', 'matplotlib'} & set(sys.modules); "
        "assert not heavy, heavy; print(d)"
    )
    best = min(
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)
        for _ in range(3)
    )
    assert best < 0.1
    modules = (
        "import sys\n"
        "from rulelens.cli import main\n"
        "try:\n    main(['--help'])\n"
        "finally:\n"
        "    assert not {'scipy', 'sklearn', 'pandas', 'matplotlib', 'numpy'} & set(sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", modules], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    for name in ("demo", "explain", "graph", "rules"):
        assert name in done.stdout


def test_options_are_refused_before_any_training(capsys, data):
    args = ["explain", str(data), "--target", "ill", "--row", "5"]
    for more, message in (
        (["--bins", "1"], "--bins must be"),
        (["--min-confidence", "90"], "--min-confidence must lie"),
        (["--rank", "3>"], "3>"),
        (["--weights", "nope"], "Unknown --weights"),
        (["--time-budget", "0"], "--time-budget"),
    ):
        code, out, err = run(capsys, *args, *more)
        assert code == 1
        assert out == ""
        assert message in err
        assert "Training" not in err
        assert "Reading" not in err


def test_a_ranking_that_cannot_be_used_still_shows_the_rules(capsys, data):
    code, out, err = run(
        capsys, "explain", str(data), *EXPLAIN, "--all-rules", "--max-length", "3",
        "--rank", "0>1>999",
    )  # fmt: skip
    assert code == 1
    assert "rule 0:" in out
    assert "Unknown alternative" in err


def test_a_model_needs_no_target_and_its_accuracy_is_hedged(capsys, data, table, tmp_path):
    from sklearn.linear_model import LogisticRegression
    from skops import io as skops_io

    X = table[["größe"]]
    skops_io.dump(LogisticRegression().fit(X, table["ill"]), tmp_path / "m.skops")
    args = ["explain", str(data), "--row", "5", "--model", str(tmp_path / "m.skops")]
    code, out, err = run(capsys, *args)
    assert code == 0, err
    assert "the data do not say its class" in out
    assert "is right" not in err
    code, out, err = run(capsys, *args, "--target", "ill")
    assert code == 0, err
    assert "it may have been trained on them" in err
    assert "the data say" in out


def test_columns_like_ids_are_pointed_at(capsys, data):
    for command in (["explain", "--row", "5", "--train", "forest"], ["rules"]):
        _, _, err = run(capsys, command[0], str(data), "--target", "ill", *command[1:])
        assert "'id' has a value of its own" in err
        assert "'größe' has" not in err


def test_equal_measures_are_sorted_by_covered_rows(capsys, data):
    _, out, _ = run(
        capsys, "rules", str(data), "--target", "ill", "--sort", "confidence", "--json",
        "--train", "forest",
    )  # fmt: skip
    rules = json.loads(out)["rules"]
    keys = [(-r["confidence"], -r["tp"]) for r in rules]
    assert keys == sorted(keys)
    assert all(0 <= r["apart_agree"] <= r["apart_covered"] for r in rules)


def test_text_columns_keep_their_names_in_rules(capsys, data):
    _, out, _ = run(capsys, "rules", str(data), "--target", "ill", "--drop", "id")
    assert "colour is red" in out or "colour is not" in out
    assert "is True" not in out


def test_a_wrong_separator_is_guessed_at(capsys, data):
    line = refused(capsys, "rules", str(data), "--target", "ill", "--sep", ";")
    assert "--sep" in line


def test_pic_explains_a_row_by_one_rule(capsys, data):
    args = ["explain", str(data), "--target", "ill", "--drop", "id", "--row", "5"]
    code, out, err = run(capsys, *args, "--method", "pic")
    assert code == 0, err
    assert "PIC says" in out
    assert "Its rule: IF" in out
    code, out, _ = run(capsys, *args, "--method", "pic", "--json")
    assert json.loads(out)["format"] == "rulelens.personal_explanation"
    code, _, _ = run(capsys, *args, "--method", "pic", "--rank", "0>1")
    assert code == 2


def test_the_help_of_method_names_what_pic_goes_without(capsys):
    """``--method pic --out x.html`` was refused, and no help said so."""
    _, out, _ = run(capsys, "explain", "--help")
    assert "pic goes without --train, --model, --rank and --out" in " ".join(out.split())


def test_explain_names_what_the_nearest_rules_fall_short_of(capsys, data):
    code, out, err = run(capsys, "explain", str(data), *EXPLAIN, "--min-support", "299")
    assert code == 0, err
    assert "The nearest rules that do not qualify" in out
    assert "falls short: fewer than 299 rows with this decision" in out


def test_predict_gives_every_row_a_class_and_its_rule(capsys, data, table, tmp_path):
    code, out, err = run(capsys, "predict", str(data), "--target", "ill", "--drop", "id")
    assert code == 0, err
    assert "it is right in" in err
    held = pd.read_csv(io.StringIO(out))
    assert len(held) == 60
    assert set(held["prediction"]) <= {"yes", "no"}
    new = tmp_path / "new.csv"
    table.drop(columns=["ill"]).iloc[:25].to_csv(new, index=False)
    target = tmp_path / "p.csv"
    code, out, err = run(
        capsys, "predict", str(data), "--target", "ill", "--drop", "id", "--new", str(new),
        "--out", str(target),
    )  # fmt: skip
    assert code == 0, err
    assert out == ""
    frame = pd.read_csv(target)
    assert frame["row"].tolist() == list(range(25))
    assert (frame["prediction"] == table["ill"][:25]).mean() > 0.8
    code, out, _ = run(
        capsys, "predict", str(data), "--target", "ill", "--new", str(new), "--drop", "id", "--json"
    )
    assert len(json.loads(out)["rows"]) == 25
    code, _, _ = run(capsys, "predict", str(data), "--target", "ill", "--out", str(data))
    assert code == 2
    # The messages once named --max-length and --bins, which are other options, or none.
    for option, value in (("--pic-length", "0"), ("--pic-bins", "1"), ("--alpha", "2")):
        code, _, err = run(capsys, "predict", str(data), "--target", "ill", option, value)
        assert code == 2
        assert option in err


def test_the_probability_is_that_of_the_prediction(capsys, tmp_path):
    """A rule is chosen for recall too: the highest probability may be another class's."""
    from rulelens.personal.fast_pic import FastPIC

    table = pd.DataFrame(
        {"c": ["p"] * 20 + ["q"] * 40, "ill": ["yes"] * 9 + ["no"] * 31 + ["so"] * 20}
    )
    train, new = tmp_path / "t.csv", tmp_path / "n.csv"
    table.to_csv(train, index=False)
    pd.DataFrame({"c": ["p", "q"]}).to_csv(new, index=False)
    args = ["predict", str(train), "--target", "ill", "--new", str(new), "--alpha", "0.3"]
    code, out, err = run(capsys, *args)
    assert code == 0, err
    frame = pd.read_csv(io.StringIO(out))
    model = FastPIC(3, 0.3).fit(table[["c"]], table["ill"])
    shares = model.predict_proba(pd.DataFrame({"c": ["p", "q"]}))
    place = [model.classes_.tolist().index(c) for c in frame["prediction"]]
    assert shares.argmax(axis=1).tolist() != place
    assert np.allclose(frame["probability"], shares[[0, 1], place])


def test_undefined_measures_go_last(capsys, tmp_path):
    """Rules that cover no row, with a confidence of NaN, once stood on top."""
    import rulelens as rl

    schema = rl.Schema.numeric(["a"])
    rules = rl.RuleSet.from_rules(
        [
            rl.Rule({"a": rl.Interval(low=100)}, "x"),
            rl.Rule({"a": rl.Interval(high=2)}, "x"),
            rl.Rule({"a": rl.Interval(low=2)}, "z"),
        ],
        schema,
    )
    rl.write_rules(rules, tmp_path / "r.json")
    path = write(tmp_path, "a,y\n1,x\n3,z\n4,z\n")
    _, out, _ = run(
        capsys, "rules", path, "--target", "y", "--rules", str(tmp_path / "r.json"),
        "--sort", "confidence", "--json",
    )  # fmt: skip
    found = json.loads(out)["rules"]
    assert [r["rule"] for r in found] == [2, 1, 0]
    assert found[-1]["confidence"] is None


def test_a_report_does_not_replace_its_own_data(capsys, tmp_path):
    path = write(tmp_path, "a,y\n1,x\n2,z\n", "d.html")
    code, _, err = run(capsys, "explain", path, "--target", "y", "--row", "0", "--out", path)
    assert code == 2
    assert "would be lost" in err
    assert Path(path).read_text("utf-8") == "a,y\n1,x\n2,z\n"


def test_a_damaged_onnx_file_is_refused_in_one_line(capsys, data, tmp_path):
    """It ended in a traceback of the runtime's own error."""
    pytest.importorskip("onnxruntime", reason="needs the extra rulelens[models]")
    line = refused(
        capsys, "explain", str(data), "--row", "0", "--model", write(tmp_path, "junk", "m.onnx")
    )
    assert "not a whole ONNX file" in line
