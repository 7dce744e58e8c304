"""Modules of NumPy with functions that take boxes."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from wengert.hips.boxes import value_of
from wengert.hips.doors import door


def _integer(kind: type) -> type:
    """Return an integer type of NumPy as one that takes the values of boxes: integers have no derivative."""
    return type(kind.__name__, (kind,), {"__new__": lambda cls, *args: kind(*[value_of(x) for x in args])})


def namespace(module: ModuleType, home: dict[str, Any]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return __getattr__ and __dir__ of a module that has the names of a module of NumPy. home: its dictionary."""

    def find(name: str) -> Any:
        found = getattr(module, name)
        if isinstance(found, type) and issubclass(found, np.integer):
            found = _integer(found)
        if callable(found) and not isinstance(found, type) and not name.startswith("_"):
            found = door(found)
        home[name] = found
        return found

    def names() -> list[str]:
        return [name for name in dir(module) if not name.startswith("_")]

    return find, names
