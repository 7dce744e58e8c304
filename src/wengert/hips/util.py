"""Small helpers that programs import: subvals, subval, toposort, quick_grad_check."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from wengert.hips.test_util import check_grads


def subvals(x: Iterable[Any], ivs: Iterable[tuple[int, Any]]) -> tuple[Any, ...]:
    """Return x as a tuple with new values at some places. ivs: pairs of a place and a value."""
    found = list(x)
    for i, value in ivs:
        found[i] = value
    return tuple(found)


def subval(x: Iterable[Any], i: int, v: Any) -> tuple[Any, ...]:
    """Return x as a tuple with the value v at place i."""
    return subvals(x, [(i, v)])


def func(f: Any) -> Any:
    """Return f. HIPS needs it for unbound methods of Python 2."""
    return f


def toposort(end_node: Any, parents: Callable[[Any], Iterable[Any]] = operator.attrgetter("parents")) -> Iterator[Any]:
    """Yield the nodes of a trace from the end, each after all nodes that follow from it."""
    uses: dict[Any, int] = {}
    stack = [end_node]
    while stack:
        node = stack.pop()
        uses[node] = uses.get(node, 0) + 1
        if uses[node] == 1:
            stack.extend(parents(node))
    ready = [end_node]
    while ready:
        node = ready.pop()
        yield node
        for parent in parents(node):
            uses[parent] -= 1
            if uses[parent] == 0:
                ready.append(parent)


def quick_grad_check(fun: Any, arg0: Any, extra_args: Any = (), kwargs: Any = None, **_: Any) -> None:
    """Check the first derivative of fun in its first argument. Deprecated: use test_util.check_grads."""
    warnings.warn("The quick_grad_check function is deprecated. Use wengert.hips.test_util.check_grads.", stacklevel=2)
    check_grads(lambda x: fun(x, *extra_args, **(kwargs or {})), modes=["rev"], order=1)(arg0)
