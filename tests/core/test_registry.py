"""Registries: plugins, names, errors."""

import importlib.metadata

import pytest

from rulelens.core.registry import Registry
from rulelens.errors import MeasureError


@pytest.fixture
def registry():
    out = Registry("measure", "rulelens.none", MeasureError)
    out.add("one", 1)
    return out


def test_names(registry):
    assert registry["one"] == 1
    assert list(registry) == ["one"]
    assert "one" in registry
    assert len(registry) == 1
    with pytest.raises(MeasureError, match="registered already"):
        registry.add("one", 2)
    with pytest.raises(MeasureError, match="Did you mean 'one'"):
        registry["onee"]
    registry.remove("one")
    assert "one" not in registry
    with pytest.raises(MeasureError):
        registry.remove("one")


def test_decorator_returns_the_thing(registry):
    @registry.register("f")
    def f():
        return 7

    assert f() == 7
    assert registry["f"] is f


def test_plugins_are_loaded_once_and_do_not_replace(monkeypatch, registry):
    class Point:
        def __init__(self, name):
            self.name = name

        def load(self):
            return f"plugin {self.name}"

    calls = []

    def entry_points(group):
        calls.append(group)
        return [Point("one"), Point("two")]

    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)
    assert registry["one"] == 1
    assert calls == []
    assert registry["two"] == "plugin two"
    assert registry["one"] == 1
    assert len(registry) == 2
    assert calls == ["rulelens.none"]
