"""const_graph: run a function once, and from then on only the calls that it made. full_graph: what it called, as a graph."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from wengert.hips.traces import Node, trace
from wengert.hips.util import subvals, toposort
from wengert.hips.wrap_util import wraps


class ConstGraphNode(Node):
    """A step that can run again on new values of its parents."""

    __slots__ = ("parents", "partial_fun")

    def __init__(self, value: Any, fun: Any, args: Any, kwargs: Any, parent_argnums: Any, parents: Any) -> None:
        others = subvals(args, [(i, None) for i in parent_argnums])
        self.parents = parents
        self.partial_fun = lambda values: fun(*subvals(others, zip(parent_argnums, values, strict=True)), **kwargs)

    def initialize_root(self) -> None:
        self.parents = ()


def const_graph_unary(fun: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """const_graph of a function of one argument."""
    graph: list[Any] = []

    def run(x: Any) -> Any:
        if graph:
            values = {graph[0]: x}
            for node in graph[1:]:
                values[node] = node.partial_fun([values[p] for p in node.parents])
            return values[graph[-1]]
        start = ConstGraphNode.new_root()
        value, end = trace(start, fun, x)
        if end is None:
            raise ValueError("Output is independent of input")
        graph.extend(list(toposort(end))[::-1])
        return value

    return run


def const_graph(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Callable[..., Any]:
    """Return fun with these arguments as a function that runs fun once, and later only repeats the calls that fun made."""
    run = const_graph_unary(lambda given: partial(fun, *args, **kwargs)(*given))

    @wraps(fun)
    def repeated(*given: Any) -> Any:
        return run(given)

    return repeated


class FullGraphNode(Node):
    """A step with its value, and how it was called."""

    __slots__ = ("recipe", "value")

    def __init__(self, value: Any, fun: Any, args: Any, kwargs: Any, parent_argnums: Any, parents: Any) -> None:
        self.value = value
        self.recipe = (fun, args, kwargs, list(zip(parent_argnums, parents, strict=True)))

    def initialize_root(self) -> None:
        self.value = None
        self.recipe = (lambda x: x, (), {}, [])


def full_graph(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Return the last node of the graph of fun(*args, **kwargs)."""
    return trace(FullGraphNode.new_root(), lambda given: fun(*given, **kwargs), args)[1]
