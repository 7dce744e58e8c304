"""scipy.special for ndarrays. SciPy finds its functions here if SCIPY_ARRAY_API=1: scipy.special.erf(x) of an ndarray is erf(x)."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from wengert.numpy.holding import unwrap, wrapped
from wengert.scipy import special as _theirs


def _of_arrays(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        found: list[Any] = []
        given = [unwrap(x, found) for x in args]
        return wrapped(function(*given, **{name: unwrap(x, found) for name, x in kwargs.items()}))

    return call


def __getattr__(name: str) -> Any:
    found = getattr(_theirs, name)
    if name.startswith("_") or isinstance(found, type) or not callable(found):
        return found
    globals()[name] = found = _of_arrays(found)
    return found


def __dir__() -> list[str]:
    return dir(_theirs)
