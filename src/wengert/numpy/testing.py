"""numpy.testing for ndarrays: its functions compare the values. Gradients and histories do not count."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from numpy import testing as _theirs

from wengert.array_functions.table import detached
from wengert.numpy.holding import unwrap

__all__ = [name for name in dir(_theirs) if not name.startswith("_") and name != "test"]


def _values(x: Any) -> Any:
    """Return an argument with NumPy's arrays in place of ndarrays; 0-d ones become scalars, as NumPy's functions return them."""
    if isinstance(x, dict):
        return {key: _values(item) for key, item in x.items()}
    found: list[Any] = []
    x = unwrap(x, found)
    return detached(x) if found else x


def _comparing(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def compare(*args: Any, **kwargs: Any) -> Any:
        return function(*[_values(x) for x in args], **_values(kwargs))

    return compare


def __getattr__(name: str) -> Any:
    found = getattr(_theirs, name)
    if name.startswith("_") or isinstance(found, type) or not callable(found) or not hasattr(found, "__name__"):
        return found
    globals()[name] = found = _comparing(found)
    return found


def __dir__() -> list[str]:
    return __all__
