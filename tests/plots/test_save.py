"""Figures are written whole or not at all."""

import pytest

from rulelens.errors import OutputError
from rulelens.plots.graph import plot_graph
from rulelens.plots.save import save_figure


@pytest.mark.parametrize("suffix", [".png", ".svg", ".PNG"])
def test_the_same_figure_gives_the_same_file(graph_with, tmp_path, suffix):
    one = save_figure(plot_graph(graph_with(6)), tmp_path / f"one{suffix}")
    two = save_figure(plot_graph(graph_with(6)).get_figure(), str(tmp_path / f"two{suffix}"))
    assert one.read_bytes() == two.read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == [f"one{suffix}", f"two{suffix}"]


def test_bad_places_are_told(graph_with, tmp_path):
    ax = plot_graph(graph_with(3))
    (tmp_path / "folder.png").mkdir()
    for name, text in {
        "a.jpg": "End it in .png or .svg",
        "a": "End it in .png or .svg",
        "none/a.png": "There is no folder",
        "folder.png": "is a folder",
    }.items():
        with pytest.raises(OutputError, match=text):
            save_figure(ax, tmp_path / name)
    assert [p.name for p in tmp_path.iterdir()] == ["folder.png"]


def test_a_folder_without_write_permission_is_told(graph_with, tmp_path, monkeypatch):
    def refuse(**options: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.mkstemp", refuse)
    with pytest.raises(OutputError, match=r"Cannot write.*Permission denied"):
        save_figure(plot_graph(graph_with(3)), tmp_path / "a.png")


def test_a_failed_drawing_leaves_the_old_file(graph_with, tmp_path, monkeypatch):
    path = tmp_path / "a.png"
    path.write_text("old")
    ax = plot_graph(graph_with(3))

    def fail(*args: object, **options: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(ax.get_figure(), "savefig", fail)
    with pytest.raises(OutputError, match="No space left"):
        save_figure(ax, path)
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.png"]
