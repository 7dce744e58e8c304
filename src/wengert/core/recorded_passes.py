"""Nodes whose rules differentiate their cotangents. A pass that leads to such a node is recorded, as with create_graph.

Few rules do so: those of eigenvectors and singular vectors, if values are equal (ops/eigen.py). All passes of a thread are
recorded while a function is (program/recording.py), because the rules of a recorded pass call dispatch.
"""

from __future__ import annotations

from _thread import get_ident
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any
from weakref import ref

from wengert.core.node import Edge, Node, edge_at

# id of a node -> (weak reference to it, number of the output that has an ordinary derivative). Empty in most programs.
NODES: dict[int, tuple[Any, int]] = {}
_threads: set[int] = set()  # all of whose passes are recorded


@contextmanager
def all_recorded() -> Iterator[None]:
    """Have all passes of this thread recorded in the block. Their gradients have no graph."""
    thread = get_ident()
    _threads.add(thread)
    NODES[-thread] = (lambda: None), 0  # the engine asks must_record if there are nodes
    try:
        yield
    finally:
        _threads.discard(thread)
        NODES.pop(-thread, None)


def record_passes_to(node: Node, ordinary: int) -> None:
    """Have passes recorded that lead to an output of the node, other than the output with the number `ordinary`."""
    NODES[id(node)] = ref(node, partial(_forget, id(node))), ordinary


def _forget(key: int, _: Any) -> None:
    NODES.pop(key, None)


def nodes_beside(node: Node) -> list[tuple[Node, int]]:
    """The other nodes of the same operation on the same input, with the numbers of their ordinary outputs."""
    source = edge_at(node, 0)
    found = [(other, ordinary) for reference, ordinary in list(NODES.values()) if (other := reference()) not in (None, node)]
    return [(other, nr) for other, nr in found if other.name() == node.name() and _is_same_edge(edge_at(other, 0), source)]


def leads_to(root: Any, target: Any, blocked: list[Node]) -> bool:
    """Whether a path leads from an edge to another one without passing through the blocked nodes."""
    seen: set[Node] = set(blocked)
    edges: list[tuple[Any, int]] = [(root.node, root.input_nr)]
    while edges:
        node, nr = edges.pop()
        if node is target.node and nr == target.input_nr:
            return True
        if node is not None and node not in seen:
            seen.add(node)
            edges.extend(node.next_functions)
    return False


def _is_same_edge(a: Edge | None, b: Edge | None) -> bool:
    return a is not None and b is not None and a.node is b.node and a.input_nr == b.input_nr


def must_record(roots: list[Edge]) -> bool:
    """Whether a pass from these roots leads to an output for which it is recorded."""
    if get_ident() in _threads:
        return True
    nodes = [reference() for reference, _ in list(NODES.values())]
    oldest = min([node._sequence_nr() for node in nodes if node is not None], default=None)
    if oldest is None:
        return False
    seen: set[Node] = set()
    edges: list[tuple[Any, int]] = [(root.node, root.input_nr) for root in roots]
    while edges:
        node, nr = edges.pop()
        if node is None:
            continue
        found = NODES.get(id(node))
        if found is not None and nr != found[1]:
            return True
        if node not in seen and node._sequence_nr() > oldest:  # older nodes lead only to nodes that are older still
            seen.add(node)
            edges.extend(node.next_functions)
    return False
