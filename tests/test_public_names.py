"""Every public name is there, and type checkers see the same ones."""

import ast
from pathlib import Path

import rulelens as rl


def test_every_public_name_can_be_had():
    for name in rl.__all__:
        assert getattr(rl, name) is not None
    assert dir(rl) == rl.__all__


def test_names_for_type_checkers_are_the_same():
    tree = ast.parse(Path(rl.__file__).read_text("utf-8"))
    block = next(n for n in tree.body if isinstance(n, ast.If))
    seen = {
        (alias.name, node.module)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert seen == {(name, f"rulelens.{home}") for name, home in rl._HOME.items()}
