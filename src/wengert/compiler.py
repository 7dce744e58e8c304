"""torch.compiler and torch.compile: programs run as they are written.

`compile` returns what it is given. So a program that is written for torch.compile has the same results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = [
    "allow_in_graph", "assume_constant_result", "compile", "cudagraph_mark_step_begin", "disable", "is_compiling",
    "is_dynamo_compiling", "is_exporting", "list_backends", "reset", "set_stance", "wrap_numpy",
]  # fmt: skip


def compile(model: Any = None, **options: Any) -> Any:
    """Return model, a function or module, as it is; without one, return a decorator that does so.

    options: fullgraph, dynamic, backend, mode, options and disable, which change nothing.

    >>> import wengert
    >>> wengert.compile(wengert.sin) is wengert.sin
    True
    """
    return _same if model is None else model


def _same(fn: Any) -> Any:
    return fn


def is_compiling() -> bool:
    """Whether a program is being compiled: always False."""
    return False


def is_dynamo_compiling() -> bool:
    """Whether a program is being compiled: always False."""
    return False


def is_exporting() -> bool:
    """Whether a program is being exported: always False."""
    return False


def disable(fn: Callable[..., Any] | None = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """Return the decorated function as it is: @disable and @disable(recursive=False)."""
    return _same if fn is None else fn


def allow_in_graph(fn: Any) -> Any:
    """Return the function or functions as they are."""
    return fn


def assume_constant_result(fn: Any) -> Any:
    """Return the function as it is."""
    return fn


def wrap_numpy(fn: Any) -> Any:
    """Return the function as it is: it takes NumPy arrays already."""
    return fn


def reset() -> None:
    """Do nothing: there is no cache of compiled programs."""


def cudagraph_mark_step_begin() -> None:
    """Do nothing: there are no CUDA graphs."""


def list_backends(exclude_tags: Any = ()) -> list[str]:
    """Return the names of the backends of compile: none."""
    return []


@contextmanager
def set_stance(stance: str = "default", **_: Any) -> Iterator[None]:
    """Return a context manager and decorator that does nothing."""
    yield
