"""Traces with nodes of the program's own: trace(start_node, fun, x) calls the class of start_node for each function that runs.

Differentiation does not use these: its graph is that of the tape. A derivative inside a trace is one function of the trace, and
has one node.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

from wengert.hips.boxes import Box


class Node:
    """A step of a trace. Subclasses say in __init__ what they keep of it, and in initialize_root what the first node keeps."""

    __slots__ = ()

    def __init__(self, value: Any, fun: Any, args: Any, kwargs: Any, parent_argnums: Any, parents: Any) -> None:
        raise NotImplementedError(f"{type(self).__name__} has no __init__")

    def initialize_root(self, *args: Any, **kwargs: Any) -> None:
        """Set up the first node of a trace."""
        raise NotImplementedError(f"{type(self).__name__} has no initialize_root")

    @classmethod
    def new_root(cls, *args: Any, **kwargs: Any) -> Any:
        """Return the first node of a trace."""
        root = cls.__new__(cls)
        root.initialize_root(*args, **kwargs)
        return root


class Traced(Box):
    """A number, array or sequence in a trace. The functions of wengert.hips.numpy give it operators; see doors.py."""

    __slots__ = ()

    def __len__(self) -> int:
        return len(self._value)

    def __iter__(self) -> Iterator[Any]:
        return iter([self[i] for i in range(len(self))])

    def __getitem__(self, index: Any) -> Any:
        return record(_getitem, (self, index), {})


def _getitem(x: Any, index: Any) -> Any:
    return x[index]


_getitem.__name__ = "__getitem__"
_numbers = count()


def trace(start_node: Any, fun: Callable[..., Any], x: Any) -> tuple[Any, Any]:
    """Run fun(x), and make a node of the class of start_node for each function that runs on x or on what follows from it.

    Returns (value, last node). The last node is None, with a warning, if the value does not depend on x.
    """
    number = next(_numbers)
    end = fun(Traced(x, number, start_node))
    if isinstance(end, Traced) and end._trace == number:
        return end._value, end._node
    warnings.warn("Output seems independent of input.", stacklevel=2)
    return end, None


def is_recorded(values: Any) -> bool:
    """Whether a value of a trace is among the values."""
    for x in values:  # noqa: SIM110  # any() of a generator takes three times as long
        if isinstance(x, Traced):
            return True
    return False


def record(fun: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run fun for the innermost trace among its arguments, and return the result in this trace."""
    top = max(x._trace for x in args if isinstance(x, Traced))
    own = {i: x for i, x in enumerate(args) if isinstance(x, Traced) and x._trace == top}
    values = tuple([own[i]._value if i in own else x for i, x in enumerate(args)])
    found = fun(*values, **kwargs)
    parents = tuple([x._node for x in own.values()])
    return Traced(found, top, type(parents[0])(found, fun, values, kwargs, tuple(own), parents))
