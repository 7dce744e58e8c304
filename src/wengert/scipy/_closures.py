"""Results whose derivative runs a function of the user's again: integrals, and solutions of equations.

Note [Tensors of a closure]
An integrand or an equation depends on the tensors among its arguments and on those that it closes over. Both are found in the
graph of its result. Nodes have increasing numbers, so the nodes that a call made are those with numbers after the call began. The
edges that lead from these nodes to older ones, or to leaves, are the parameters: the derivative in them is all that is needed,
because a backward pass goes on from there. A custom Function takes a stand-in for each edge: a tensor with the edge's place in the
graph, and no values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np

from wengert import dtypes
from wengert.array_functions.table import detached, linalg, w
from wengert.autograd import Function, grad
from wengert.autograd.forward_ad import attach_tangent, detach_tangent
from wengert.autograd.grad_mode import enable_grad, is_grad_enabled
from wengert.autograd.graph import GradientEdge, get_gradient_edge
from wengert.core.dual import every_level_set_aside, innermost_set_aside, levels_around, tangent_of
from wengert.core.leaving import has_tangent
from wengert.core.node import AccumulateGrad, next_sequence_nr
from wengert.core.saved import attach
from wengert.core.tensor import TensorBase, counter_of, wrap


class Parameters:
    """The edges that the results of a function lead to, other than those of its own variables."""

    def __init__(self) -> None:
        self.start = next_sequence_nr()
        self.edges: dict[tuple[Any, int], GradientEdge] = {}
        self.has_tangents = False

    def collect(self, result: Any, *variables: Any) -> None:
        """Add the edges of a result. variables: leaves that the function was called with."""
        if not isinstance(result, TensorBase):
            return
        self.has_tangents = self.has_tangents or has_tangent(result)
        if not result.requires_grad:
            return
        edge = get_gradient_edge(result)
        ready, seen = [(edge.node, edge.output_nr)], set()
        while ready:
            node, number = ready.pop()
            if isinstance(node, AccumulateGrad) or node._sequence_nr() <= self.start:
                if not (isinstance(node, AccumulateGrad) and any(node.variable is x for x in variables)):
                    self.edges[node, number] = GradientEdge(node, number)
            elif node not in seen:
                seen.add(node)
                ready.extend([(n, k) for n, k in node.next_functions if n is not None])

    def __bool__(self) -> bool:
        """Whether there is something to differentiate in."""
        return bool(self.edges) or self.has_tangents


def stand_in(edge: GradientEdge) -> Any:
    """Return a tensor with a place in the graph. Its values are not those of the tensor there, unless it is a leaf."""
    if isinstance(edge.node, AccumulateGrad):
        return edge.node.variable
    meta = edge.node._input_metadata[edge.output_nr]
    values = np.broadcast_to(np.zeros((), dtypes.as_numpy_dtype(meta.dtype)), meta.shape)
    return attach(values, counter_of(wrap(values)), edge.node, edge.output_nr)


Pullback = Callable[[Any, Any, list[GradientEdge]], Iterable[Any]]


class _Rules(Function):
    """A value with rules: pullback(output, cotangent, edges) returns the cotangent of each edge."""

    @staticmethod
    def forward(ctx: Any, value: Any, pullback: Pullback, edges: list[GradientEdge], *places: Any) -> Any:
        ctx.pullback, ctx.edges, ctx.dual = pullback, edges, None
        output = wrap(np.array(value))
        ctx.save_for_backward(output, *places)  # the places, so that leaves written in the meantime are an error
        return output

    @staticmethod
    def backward(ctx: Any, ct: Any) -> Any:
        output = ctx.saved_tensors[0]
        return (None, None, None, *ctx.pullback(output if ctx.dual is None else ctx.dual, ct, ctx.edges))


def with_rules(value: Any, parameters: Parameters, pullback: Pullback, pushforward: Callable[[Any], Any]) -> Any:
    """Return a value as a tensor that depends on the parameters.

    pullback(output, cotangent, edges) returns the cotangent of each edge, or None. pushforward(output) returns the tangent at the
    innermost dual level, or None. Both are recorded for higher derivatives, and get the output with its history.
    """
    edges = list(parameters.edges.values()) if is_grad_enabled() else []
    depth = len(levels_around())
    with every_level_set_aside() if depth else nullcontext():
        output = _Rules.apply(value, pullback, edges, *[stand_in(edge) for edge in edges])
    node = output.grad_fn
    for k in range(depth if parameters.has_tangents else 0):
        with innermost_set_aside(down_to=k + 1) if k + 1 < depth else nullcontext():
            tangent = pushforward(output)
            if tangent is not None:
                output = attach_tangent(output, tangent)
    if node is not None and parameters.has_tangents:
        node.dual = output  # the backward pass has tangents too
    return output


def with_values(found: Any, values: Any) -> Any:
    """Return a tensor that has SciPy's values, and the derivatives of a tensor that was computed in another way."""
    return found + w.as_tensor(values - detached(found))


def vjp(result: Any, edges: Any, ct: Any) -> list[Any]:
    """Return the cotangents of edges or tensors, recorded if recording is on. None stands for zeros. Call it inside cut_off."""
    if not isinstance(result, TensorBase) or not result.requires_grad:
        return [None] * len(edges)
    return list(grad(result, edges, ct, create_graph=is_grad_enabled(), retain_graph=True, allow_unused=True))


@contextmanager
def cut_off(edges: Iterable[GradientEdge]) -> Iterator[None]:
    """Let backward passes inside the block end at these edges, so that each gets its own part of the derivative.

    Without this, the cotangent of a parameter would go on to another one that it was computed from, and be counted twice.
    """
    nodes = {edge.node for edge in edges if not isinstance(edge.node, AccumulateGrad)}
    before = [(node, node._edges) for node in nodes]
    for node, found in before:
        node._edges = (None,) * len(found)
    try:
        yield
    finally:
        for node, found in before:
            node._edges = found


@contextmanager
def variable(x: Any) -> Iterator[Any]:
    """Give a copy of x to differentiate in. Backward passes inside the block end there; later ones go on into the history of x."""
    with enable_grad():
        copy = x.clone()
    if copy.grad_fn is None:
        yield copy.requires_grad_()
    else:
        with cut_off([get_gradient_edge(copy)]):
            yield copy


def jacobian(result: Any, x: Any) -> Any:
    """Return the matrix of derivatives of a result, flattened, in a tensor x, flattened."""
    size = result.numel()
    if not size or not result.requires_grad:
        return w.zeros((size, x.numel()), dtype=x.dtype)
    with enable_grad():
        flat = result.reshape(-1)
    rows = grad(
        flat, x, w.eye(size, dtype=result.dtype), create_graph=is_grad_enabled(), retain_graph=True,
        is_grads_batched=True, allow_unused=True,
    )[0]  # fmt: skip
    return w.zeros((size, x.numel()), dtype=x.dtype) if rows is None else rows.reshape(size, x.numel())


def implicit(
    residual: Callable[[Any], Any], solution: Any, slopes_of: Callable[[Any, Any], Any] = lambda x, r: jacobian(r, x)
) -> Any:  # fmt: skip
    """Return the solution of residual(x) = 0 as a tensor that depends on the tensors of the residual.

    residual: a function of a tensor of the solution's shape, whose result has as many elements. solution: an array that solves
    the equation. Without tensors to differentiate in, the result has no history. slopes_of: a function of (x, residual at x) that
    returns the Jacobian matrix, recorded if recording is on; by default one backward pass for each row.

    Derivative: that of the implicit function, -inv(dr/dx) dr/dparameters. The Jacobian dr/dx must be regular.
    """
    parameters = Parameters()
    with enable_grad():
        x = wrap(np.array(solution)).requires_grad_()
        parameters.collect(residual(x), x)

    def pullback(output: Any, ct: Any, edges: list[GradientEdge]) -> list[Any]:
        with variable(output) as x, cut_off(edges):
            with enable_grad():
                found = residual(x)
            slopes = slopes_of(x, found)
            return vjp(found, edges, w.reshape(linalg.solve(slopes.mT, -ct.reshape(-1)), found.shape))

    def pushforward(output: Any) -> Any:
        with variable(output) as x:
            with enable_grad():
                found = residual(x)
            tangent = tangent_of(found)
            if tangent is None:
                return None
            slopes = detach_tangent(slopes_of(x, found))[0]
            result = w.reshape(linalg.solve(slopes, -tangent.reshape(-1)), output.shape)
        if output.requires_grad or tangent_of(residual(output)).requires_grad:
            return result
        return result.detach()  # nothing but the copy of the output requires grad

    return with_rules(solution, parameters, pullback, pushforward)
