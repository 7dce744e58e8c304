"""Functions of SciPy that take boxes: those of wengert.scipy, and formulas of distributions."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from types import ModuleType
from typing import Any

from wengert._forks import import_late
from wengert.array_functions.table import holds_tensor
from wengert.hips.boxes import Box, boxed
from wengert.hips.traces import is_recorded, record


def _boxing(ours: Callable[..., Any], plain: Callable[..., Any]) -> Any:
    """Return a function that runs ours on boxes and tensors, and plain on anything else."""

    def run(*args: Any, **kwargs: Any) -> Any:
        if holds_tensor(args) or holds_tensor(kwargs.values()):
            return boxed(ours(*args, **kwargs), args)
        if is_recorded(args):
            return record(run, args, kwargs)
        return plain(*args, **kwargs)

    return run


def namespace(module: ModuleType, home: dict[str, Any]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return __getattr__ and __dir__ of a module that has the functions of a module of wengert.scipy. home: its dictionary."""

    def find(name: str) -> Any:
        found = getattr(module, name)
        if callable(found) and not isinstance(found, (type, Box)) and not name.startswith("_"):
            found = update_wrapper(_boxing(found, found), found)
        home[name] = found
        return found

    def names() -> list[str]:
        return [name for name in dir(module) if not name.startswith("_")]

    return find, names


def formula(distribution: str) -> Callable[[Callable[..., Any]], Any]:
    """Let a formula run on boxes, and the function of SciPy's distribution with the same name and arguments on anything else."""

    def decorate(ours: Callable[..., Any]) -> Any:
        def plain(*args: Any, **kwargs: Any) -> Any:
            return getattr(getattr(import_late("scipy.stats"), distribution), ours.__name__)(*args, **kwargs)

        return update_wrapper(_boxing(ours, plain), ours)

    return decorate
