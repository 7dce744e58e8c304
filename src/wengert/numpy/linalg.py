"""numpy.linalg on arrays with a history: what it has, under the same names."""

from __future__ import annotations

from typing import Any

from numpy import linalg as _theirs

from wengert.numpy.functions import public

__all__ = [name for name in dir(_theirs) if not name.startswith("_")]


def __getattr__(name: str) -> Any:
    found = public(_theirs, name)
    if not name.startswith("_"):
        globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__
