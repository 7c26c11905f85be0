"""One registry class for everything that others may add: measures, criteria, formats, sources."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from rulelens.errors import RulelensError, did_you_mean

T = TypeVar("T")


class Registry(Generic[T]):
    """Named things of one kind, with those of installed plugins added at first use.

    Parameters
    ----------
    kind : str
        Singular word for messages, such as ``"measure"``.
    group : str
        Entry-point group that plugins use, such as ``"rulelens.measures"``.
    error : type of RulelensError
        Raised for an unknown or a repeated name.
    """

    def __init__(self, kind: str, group: str, error: type[RulelensError]) -> None:
        self.kind = kind
        self.group = group
        self._error = error
        self._items: dict[str, T] = {}
        self._plugins_loaded = False

    def register(self, name: str) -> Callable[[T], T]:
        """Decorator that adds the decorated thing under `name`; a taken name is an error."""

        def add(item: T) -> T:
            self.add(name, item)
            return item

        return add

    def add(self, name: str, item: T) -> None:
        """Add `item` under `name`; a taken name is an error."""
        if name in self._items:
            raise self._error(
                f"A {self.kind} named '{name}' is registered already. Choose another name."
            )
        self._items[name] = item

    def remove(self, name: str) -> None:
        """Remove `name`, so that a test or a session can undo its own addition."""
        self[name]
        del self._items[name]

    def _load_plugins(self) -> None:
        if self._plugins_loaded:
            return
        self._plugins_loaded = True
        from importlib.metadata import entry_points

        for point in entry_points(group=self.group):
            if point.name not in self._items:
                self._items[point.name] = point.load()

    def __getitem__(self, name: str) -> T:
        if name not in self._items:
            self._load_plugins()
        if name not in self._items:
            raise self._error(f"Unknown {self.kind} '{name}'. {did_you_mean(name, self)}")
        return self._items[name]

    def __contains__(self, name: object) -> bool:
        self._load_plugins()
        return name in self._items

    def __iter__(self) -> Iterator[str]:
        self._load_plugins()
        return iter(tuple(self._items))

    def __len__(self) -> int:
        self._load_plugins()
        return len(self._items)
