"""torch._dynamo: the names that public programs use, which are those of wengert.compiler, or do nothing."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from wengert import errors
from wengert.compiler import (
    allow_in_graph as allow_in_graph,
    assume_constant_result as assume_constant_result,
    compile as compile,
    disable as disable,
    is_compiling as is_compiling,
    list_backends as list_backends,
    reset as reset,
)

__all__ = [
    "allow_in_graph", "assume_constant_result", "compile", "config", "disable", "disallow_in_graph", "explain", "graph_break",
    "is_compiling", "list_backends", "mark_dynamic", "mark_static", "maybe_mark_dynamic", "optimize", "reset", "run",
]  # fmt: skip

# Programs set attributes such as config.suppress_errors; nothing reads them.
config = SimpleNamespace(suppress_errors=False, verbose=False, cache_size_limit=8, recompile_limit=8, capture_scalar_outputs=False)


def optimize(backend: Any = "auto", **_: Any) -> Any:
    """Return the decorator compile(backend=backend)."""
    return compile(backend=backend)


def run(fn: Any = None) -> Any:
    """Return compile(fn)."""
    return compile(fn)


def disallow_in_graph(fn: Any) -> Any:
    """Return the function as it is."""
    return fn


def graph_break(msg: str = "") -> None:
    """Do nothing."""


def mark_dynamic(t: Any, index: Any, **_: Any) -> None:
    """Do nothing: every size may change."""


def maybe_mark_dynamic(t: Any, index: Any) -> None:
    """Do nothing, as mark_dynamic."""


def mark_static(t: Any, index: Any = None) -> None:
    """Do nothing, as mark_dynamic."""


def explain(*_: Any, **__: Any) -> Any:
    """Raise MissingFeatureError."""
    raise errors.MissingFeatureError(
        "_dynamo.explain is not part of wengert. Hint: wengert.compile(fn).explain() tells of the recordings of a function."
    )
