"""Looking at and addressing the graph: Node, GradientEdge, get_gradient_edge, increment_version."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from wengert.core.node import Node
from wengert.core.tensor import TensorBase, gradient_edge
from wengert.core.views import bump

__all__ = ["GradientEdge", "Node", "get_gradient_edge", "increment_version"]


class GradientEdge(NamedTuple):
    """A place in the graph: a node and the number of its output. backward and grad take it for a tensor."""

    node: Node
    output_nr: int
    ownership_token: Any = None  # keeps alive what the node alone would not


def get_gradient_edge(tensor: TensorBase) -> GradientEdge:
    """The place in the graph where this tensor's gradient is computed. RuntimeError if it requires no gradient."""
    if not tensor.requires_grad:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    edge: Any = gradient_edge(tensor)
    return GradientEdge(edge.node, edge.input_nr)


def increment_version(tensor: TensorBase | Iterable[TensorBase]) -> None:
    """Tells the version check that something outside wengert has written into these tensors' memory."""
    for t in (tensor,) if isinstance(tensor, TensorBase) else tensor:
        bump(t)
