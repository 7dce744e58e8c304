"""Nodes whose rules differentiate their cotangents. A pass that leads to such a node is recorded, as with create_graph.

Few rules do so: those of eigenvectors and singular vectors, if values are equal (ops/eigen.py).
"""

from __future__ import annotations

from functools import partial
from typing import Any
from weakref import ref

from wengert.core.node import Edge, Node

# id of a node -> (weak reference to it, number of the output that has an ordinary derivative). Empty in most programs.
NODES: dict[int, tuple[Any, int]] = {}


def record_passes_to(node: Node, ordinary: int) -> None:
    """Have passes recorded that lead to an output of the node, other than the output with the number `ordinary`."""
    NODES[id(node)] = ref(node, partial(_forget, id(node))), ordinary


def _forget(key: int, _: Any) -> None:
    NODES.pop(key, None)


def must_record(roots: list[Edge]) -> bool:
    """Whether a pass from these roots leads to an output for which it is recorded."""
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
