"""``rulelens experiment`` finds and runs the scripts of a checkout."""

import pytest

from rulelens.cli import main


def run(capfd, *args: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as info:
        main(["experiment", *args])
    out, err = capfd.readouterr()
    return int(info.value.code or 0), out, err


@pytest.fixture
def folder(tmp_path):
    group = tmp_path / "some_paper"
    group.mkdir()
    (group / "first_try.py").write_text(
        '"""Says what it was given."""\nimport sys\n'
        'if __name__ == "__main__":\n    print(sys.argv[1:])\n    sys.exit(len(sys.argv) - 1)\n'
    )
    (group / "shared_parts.py").write_text('"""Not to be run."""\n')
    return tmp_path


def test_the_list_names_only_what_can_be_run(capfd, folder):
    code, out, _ = run(capfd, "--folder", str(folder))
    assert code == 0
    assert out == "some-paper/first-try  Says what it was given.\n"


def test_arguments_and_exit_codes_pass_through(capfd, folder):
    code, out, _ = run(capfd, "--folder", str(folder), "some-paper/first-try", "--", "--a", "b")
    assert code == 2
    assert out.strip() == "['--a', 'b']"


def test_unknown_names_and_folders_without_experiments(capfd, folder, tmp_path):
    code, _, err = run(capfd, "--folder", str(folder), "some-paper/first")
    assert code == 1
    assert "Did you mean 'some-paper/first-try'?" in err
    code, _, err = run(capfd, "--folder", str(tmp_path / "none"))
    assert code == 1
    assert "checkout" in err
