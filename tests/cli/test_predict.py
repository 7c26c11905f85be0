"""``rulelens predict``: the score beside the most frequent class, and options chosen."""

import io
import json

import numpy as np
import pandas as pd
import pytest

from rulelens.cli import main
from rulelens.cli.score import Score, score_rows
from rulelens.personal.fast_pic import FastPIC


def run(capsys, *args: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as info:
        main([str(a) for a in args])
    out, err = capsys.readouterr()
    return int(info.value.code or 0), out, err.replace("\xa0", " ")


@pytest.fixture
def noise(tmp_path):
    """A table whose features say nothing: three of four rows are of one class."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.integers(0, 5, (200, 5)), columns=list("abcde"))
    table["y"] = np.where(np.arange(200) % 4 == 0, "rare", "common")
    path = tmp_path / "noise.csv"
    table.to_csv(path, index=False)
    return path


@pytest.fixture
def clear(tmp_path):
    """A class of two features together, with other features that say nothing."""
    rng = np.random.default_rng(1)
    table = pd.DataFrame(rng.integers(0, 3, (240, 4)), columns=list("abcd"))
    table["y"] = ((table["a"] > 0) & (table["b"] > 0)).astype(int)
    path = tmp_path / "clear.csv"
    table.to_csv(path, index=False)
    return path


def test_rules_that_lose_to_the_most_frequent_class_are_warned_of(capsys, noise):
    """The share of right rows once stood alone, however many rows are of one class."""
    code, out, err = run(capsys, "predict", noise, "--target", "y", "--json")
    assert code == 0, err
    score = json.loads(out)["score"]
    assert score["rows"] == 40
    assert (score["baseline_class"], score["baseline_right"]) == ("common", 30)
    assert score["right"] <= 30
    assert score["better_than_baseline"] is False
    assert "always answering “common”" in err
    assert "in 75.0 %" in err
    assert "WARNING: on these rows the rules are not better" in err
    assert "--tune" in err


def test_good_rules_are_not_warned_of(capsys, clear):
    code, out, err = run(capsys, "predict", clear, "--target", "y", "--json")
    assert code == 0, err
    record = json.loads(out)
    assert record["score"]["better_than_baseline"] is True
    assert record["score"]["share"] == record["score"]["right"] / record["score"]["rows"]
    assert record["options"]["tuned"] is None
    assert "WARNING" not in err


def test_tune_chooses_says_what_and_can_be_typed_again(capsys, clear):
    code, out, err = run(capsys, "predict", clear, "--target", "y", "--tune", "--json")
    assert code == 0, err
    tuned = json.loads(out)
    assert tuned["options"]["tuned"]["combinations"] == 270
    assert "1/5 2/5 3/5 4/5 5/5" in err
    typed = err.split("Chosen: ")[1].split(" (")[0].split()
    code, out, err = run(capsys, "predict", clear, "--target", "y", *typed, "--json")
    assert code == 0, err
    assert json.loads(out)["rows"] == tuned["rows"]


def test_the_rows_kept_apart_have_no_part_in_the_choice(capsys, clear, tmp_path):
    """Their classes turned round, choice and predictions stay the same."""
    _, out, _ = run(capsys, "predict", clear, "--target", "y", "--tune", "--json")
    before = json.loads(out)
    apart = [r["row"] for r in before["rows"]]
    table = pd.read_csv(clear)
    # As files of their own, since a split by other classes would keep other rows apart.
    train = tmp_path / "train.csv"
    new = tmp_path / "new.csv"
    table.drop(index=apart).to_csv(train, index=False)
    flipped = table.loc[apart].assign(y=lambda t: 1 - t["y"])
    flipped.to_csv(new, index=False)
    _, out, _ = run(capsys, "predict", train, "--target", "y", "--tune", "--new", new, "--json")
    after = json.loads(out)
    assert after["options"] == before["options"]
    assert [r["prediction"] for r in after["rows"]] == [r["prediction"] for r in before["rows"]]
    assert after["score"]["right"] == after["score"]["rows"] - before["score"]["right"]


def test_options_that_are_given_stay(capsys, clear):
    code, out, err = run(
        capsys, "predict", clear, "--target", "y", "--tune", "--json", "--alpha", "0.7",
        "--pic-bins", "4", "--min-count", "3", "--class-weight", "none",
    )  # fmt: skip
    assert code == 0, err
    options = json.loads(out)["options"]
    assert (options["alpha"], options["n_bins"], options["min_count"]) == (0.7, 4, 3)
    assert options["class_weight"] is None
    assert options["discretizer"] == "equal_width"
    assert options["tuned"]["combinations"] == 3


def test_min_count_and_class_weight_reach_the_classifier(capsys, noise):
    table = pd.read_csv(noise)
    X, y = table.drop(columns="y"), table["y"]
    for args, params in (
        (["--min-count", "12"], {"min_count": 12}),
        (["--class-weight", "balanced"], {"class_weight": "balanced"}),
        (["--pic-discretizer", "quantile"], {"discretizer": "quantile"}),
    ):
        _, out, _ = run(capsys, "predict", noise, "--target", "y", "--new", noise, *args)
        found = pd.read_csv(io.StringIO(out))["prediction"]
        assert found.tolist() == FastPIC(**params).fit(X, y).predict(X).tolist()


def test_new_rows_with_their_classes_are_scored(capsys, clear, tmp_path):
    """The column of the target in --new was passed over in silence."""
    new = tmp_path / "new.csv"
    # A gap makes the column a float; 1.0 is the class 1 all the same.
    new.write_text("a,b,c,d,y\n1,1,0,0,1\n0,1,0,0,0\n2,2,1,1,0\n2,1,1,1,\n1,1,1,1,7\n", "utf-8")
    code, out, err = run(capsys, "predict", clear, "--target", "y", "--new", new, "--json")
    assert code == 0, err
    assert json.loads(out)["score"] == {
        "rows": 3,
        "right": 2,
        "share": 2 / 3,
        "baseline_class": 0,
        "baseline_right": 2,
        "baseline_share": 2 / 3,
        "better_than_baseline": False,
        "rows_without_class": 1,
        "rows_of_unknown_class": 1,
    }
    assert "On 3 rows of new.csv" in err
    assert "Not counted: 1 row without a class." in err
    assert "such as “7”" in err


def test_new_rows_without_the_column_have_no_score(capsys, clear, tmp_path):
    new = tmp_path / "new.csv"
    new.write_text("a,b,c,d\n1,1,0,0\n", "utf-8")
    code, out, err = run(capsys, "predict", clear, "--target", "y", "--new", new, "--json")
    assert code == 0, err
    assert json.loads(out)["score"] is None
    assert "right in" not in err


@pytest.mark.parametrize(
    ("classes", "written"),
    [
        ([0, 1], ["0", "1"]),
        ([False, True], ["False", "True"]),
        (["no", "yes"], ["no", "yes"]),
        ([0, 1], [0.0, 1.0]),
    ],
)
def test_classes_are_the_same_in_another_column_type(classes, written):
    X = pd.DataFrame({"a": ["p", "q", "q"]})
    clf = FastPIC().fit(X, np.array(classes)[[0, 1, 1]])
    truth = pd.Series([written[0], written[1], None, "other"], dtype=object)
    score = score_rows(clf, clf.predict(X.iloc[[0, 1, 1, 1]]), truth)
    assert (score.rows, score.right, score.baseline_right) == (2, 2, 1)
    assert (score.missing, score.unknown, score.unknown_example) == (1, 1, "other")


def test_what_cannot_be_told_is_said():
    assert "nothing can be said" in Score(0, 0, "a", 0, missing=2).lines("of x")[-1]
    assert "cannot tell" in Score(5, 5, "a", 5).lines("of x")[-1]
    assert "--tune" not in Score(5, 2, "a", 3).lines("of x", tuned=True)[-1]


def test_too_few_rows_to_tune_and_options_without_effect_are_refused(capsys, tmp_path, clear):
    few = tmp_path / "few.csv"
    few.write_text("a,y\n1,p\n2,q\n3,p\n", "utf-8")
    code, _, err = run(capsys, "predict", few, "--target", "y", "--tune")
    assert code == 1
    assert "at least 5 rows" in err
    code, _, err = run(
        capsys, "predict", clear, "--target", "y", "--pic-discretizer", "mdlp", "--pic-bins", "4"
    )
    assert code == 2
    assert "without --pic-bins" in err
    # Options of PIC were passed over in silence where a black box is explained.
    for args in (["--tune"], ["--alpha", "0.5"]):
        code, _, err = run(capsys, "explain", clear, "--target", "y", "--row", "1", *args)
        assert code == 2
        assert "--method pic" in err


def test_a_class_with_fewer_rows_than_folds_is_no_trouble(capsys, clear):
    with clear.open("a", encoding="utf-8") as file:
        file.write("1,1,1,1,2\n2,2,2,2,2\n")
    code, _, err = run(capsys, "predict", clear, "--target", "y", "--tune")
    assert code == 0, err


def test_a_table_that_does_not_fit_is_tried_with_shorter_rules(capsys, clear, monkeypatch):
    from rulelens.errors import SizeError
    from rulelens.personal.tuning import PICSearch

    fit = PICSearch.fit

    def narrow(self, X, y, sample_weight=None):
        if max(self.max_lengths) > 2:
            raise SizeError("Too large. Use a smaller max_length.")
        return fit(self, X, y, sample_weight)

    monkeypatch.setattr(PICSearch, "fit", narrow)
    code, out, err = run(capsys, "predict", clear, "--target", "y", "--tune", "--json")
    assert code == 0, err
    assert json.loads(out)["options"]["tuned"]["combinations"] == 180
    assert "Too large. Going on with rules of at most 2 conditions." in err
    code, _, err = run(capsys, "predict", clear, "--target", "y", "--tune", "--pic-length", "3")
    assert code == 1
    assert "Too large. --tune needs that table" in err


def test_explain_by_pic_takes_the_same_options(capsys, clear):
    code, out, err = run(
        capsys,
        "explain",
        clear,
        "--target",
        "y",
        "--row",
        "1",
        "--method",
        "pic",
        "--tune",
        "--json",
    )
    assert code == 0, err
    record = json.loads(out)
    assert record["options"]["tuned"]["folds"] == 5
    assert record["score"]["better_than_baseline"] is True


@pytest.mark.data
def test_breast_cancer_loses_and_says_so(capsys, data_dir):
    path = data_dir / "breast_cancer.csv.gz"
    _, out, err = run(capsys, "predict", path, "--target", "Class", "--json")
    score = json.loads(out)["score"]
    assert (score["right"], score["baseline_right"], score["rows"]) == (35, 41, 58)
    assert "WARNING" in err
