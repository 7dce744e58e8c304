"""backward, and how the arguments of backward and grad become the start and the targets of a pass."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from wengert import dtypes, errors
from wengert.backends.selection import filled_on, others
from wengert.core.delivery import placed_gradient
from wengert.core.engine import run_backward
from wengert.core.leaf_gradient import accumulator_aside
from wengert.core.legacy import StochasticNode, is_volatile
from wengert.core.node import Edge, Node, meta_at
from wengert.core.stacks import user_level
from wengert.core.tensor import TensorBase, gradient_edge, wrap


class GradientEdge(NamedTuple):
    """Edge of the graph: a node and the number of one of its outputs. backward and grad accept it in place of a tensor."""

    node: Node
    output_nr: int
    ownership_token: Any = None  # an object to keep alive with the edge


GradientEdge.__module__ = "wengert.autograd"  # users import it from there, as in torch


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool | None = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """Compute the gradients of the sum of tensors in the leaves of their graph, and add them to the leaves' .grad.

    tensors: a tensor or GradientEdge, or a sequence of them. grad_tensors: one cotangent for each, of its shape; None is
    allowed for a tensor of one element. retain_graph: keep the saved tensors for another pass; the value of create_graph
    if None. create_graph: record the pass itself, for higher derivatives; None records it if one of grad_tensors
    requires grad. inputs: accumulate into these tensors only. The argument names of torch 0.1 to 0.3, variables= and
    retain_variables=, are accepted too.

    Raises RuntimeError for a tensor of more than one element without a cotangent, for a tensor that requires no gradient,
    for a cotangent of another shape, and for a graph that an earlier pass has freed.

    >>> import wengert
    >>> x = wengert.tensor([1.0, 2.0], requires_grad=True)
    >>> wengert.autograd.backward((x * x).sum())
    >>> x.grad
    tensor([2., 4.])
    """
    if grad_variables is not None:
        warnings.warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning, stacklevel=user_level())
        if grad_tensors is not None:
            raise errors.SpellingError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. Please only use "
                "`grad_tensors`."
            )
        grad_tensors = grad_variables
    targets = None
    if inputs is not None:
        inputs = as_tuple(inputs)
        if len(inputs) == 0:
            raise errors.GraphError("`inputs` argument to `backward()` cannot be empty.")
        targets = input_edges(inputs)
    gradients = as_gradient_list(grad_tensors, tensors)
    create_graph = is_graph_wanted(create_graph, gradients)
    roots, cotangents = start_of_pass(as_tuple(tensors), gradients)
    if inputs is not None:
        for x in inputs:
            if isinstance(x, TensorBase):
                x.retain_grad()  # so that a non-leaf among inputs keeps its gradient
    keep = create_graph if retain_graph is None else retain_graph
    if create_graph:
        warnings.warn(
            "Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient "
            "which can cause a memory leak. We recommend using autograd.grad when creating the graph to avoid this. If you "
            "have to use this function, make sure to reset the .grad fields of your parameters to None after use to break "
            "the cycle and avoid the leak.",
            stacklevel=user_level(),
        )
    run_backward(roots, cotangents, bool(keep), bool(create_graph), targets, True)


backward.__module__ = "wengert.autograd"


def as_tuple(x: Any) -> tuple[Any, ...]:
    """Return a tensor or GradientEdge as a tuple of it, and a sequence of them as a tuple."""
    return (x,) if isinstance(x, (TensorBase, GradientEdge)) else tuple(x)


def as_gradient_list(grads: Any, tensors: Any) -> list[Any]:
    """Return the given cotangents as a list, with None for each tensor if none are given. Raises if their number is wrong."""
    n = len(as_tuple(tensors))
    if grads is None:
        return [None] * n
    if isinstance(grads, TensorBase):
        grads = (grads,)
    elif not isinstance(grads, Sequence):
        raise errors.GradientTypeError(f"gradients can be either Tensors or None, but got {type(grads).__name__}")
    if len(grads) != n:
        raise errors.GradientError(f"got {n} tensors and {len(grads)} gradients")
    return list(grads)


def is_graph_wanted(create_graph: bool | None, gradients: list[Any]) -> bool:
    """Return create_graph as a bool. None, the default of torch 0.2 and 0.3, means: if a gradient requires grad."""
    if create_graph is None:
        return any(isinstance(g, TensorBase) and g.requires_grad for g in gradients)
    return bool(create_graph)


def input_edges(inputs: tuple[Any, ...]) -> list[Edge]:
    """Return the edges of the inputs of a pass. Raises GraphError if one requires no gradient."""
    edges = []
    for i, x in enumerate(inputs):
        if isinstance(x, GradientEdge):
            edges.append(Edge(x.node, x.output_nr))
        elif not isinstance(x, TensorBase):
            raise errors.GraphError(f"all inputs have to be Tensors or GradientEdges, but got {type(x).__name__}")
        elif not x.requires_grad:
            raise errors.GraphError(
                f"One of the differentiated Tensors does not require grad. It is the one at index {i}. Hint: call "
                ".requires_grad_() on it before the computation."
            )
        else:
            before = accumulator_aside(x) if x._grad_fn is None else None
            edges.append(gradient_edge(x) if before is None else Edge(before, 0))  # type: ignore[arg-type]  # it requires grad
    return edges


def start_of_pass(outputs: tuple[Any, ...], grads: list[Any]) -> tuple[list[Edge], list[Any]]:
    """Return the edges at which the pass starts and a cotangent for each. Raises before anything is changed."""
    edges, cotangents = [], []
    for i, (output, given) in enumerate(zip(outputs, grads, strict=True)):
        if isinstance(output, GradientEdge):
            edge = Edge(output.node, output.output_nr)
        else:
            if not isinstance(output, TensorBase):
                raise TypeError(
                    f"expected a tensor or a GradientEdge to differentiate, but got {type(output).__name__}"
                )
            if not output.requires_grad and not isinstance(output.grad_fn, StochasticNode):
                if is_volatile(output):
                    raise errors.GraphError(
                        f"element {i} of tensors is volatile. Hint: nothing that depends on a volatile tensor is recorded; "
                        "make its inputs without volatile=True."
                    )
                raise errors.no_graph(i)
            edge = gradient_edge(output)  # type: ignore[assignment]  # not None: it requires grad
        meta = meta_at(edge.node, edge.input_nr)
        edges.append(edge)
        if given is not None:
            cotangents.append(_checked_cotangent(given, meta, i))
        elif isinstance(edge.node, StochasticNode):
            # Ignored: the node's gradient comes from its reward.
            cotangents.append(wrap(filled_on(meta.place, meta.shape, meta.dtype, 0)))
        else:
            cotangents.append(_implicit_cotangent(meta))
    return edges, cotangents


def _implicit_cotangent(meta: Any) -> Any:
    """Return the default cotangent of an output of one element: a one. Raises RuntimeError for other outputs."""
    n = 1
    for size in meta.shape:
        n *= size
    if n != 1:
        raise errors.GradientError(
            f"grad can be implicitly created only for scalar outputs. The output has shape {list(meta.shape)}. Hint: "
            "reduce it, with .sum() for instance, or pass a gradient of that shape."
        )
    if meta.dtype.kind == "c":
        raise errors.GradientError(
            f"grad can be implicitly created only for real scalar outputs but got {errors.dtype_name(meta.dtype)}. Hint: "
            "differentiate a real function of it, such as .abs() or .real, or pass a gradient."
        )
    if meta.place != "cpu":
        return wrap(filled_on(meta.place, meta.shape, meta.dtype, 1))
    one = np.empty(meta.shape, meta.dtype)
    one.fill(1)  # np.ones takes three times as long
    return wrap(one)


def _checked_cotangent(given: Any, meta: Any, i: int) -> Any:
    """Return the user's cotangent, cast to the output's dtype. Raises for another shape."""
    if not isinstance(given, TensorBase):
        raise errors.GradientTypeError(f"gradients can be either Tensors or None, but got {type(given).__name__}")
    if given._array.shape != meta.shape:
        raise errors.gradient_shape(i, given._array.shape, meta.shape)
    if others:
        given = placed_gradient(given, meta.place, i)
    array = given._array
    if array.dtype != meta.dtype:
        if (array.dtype.kind == "c") != (meta.dtype.kind == "c"):
            raise errors.GradientError(
                "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: "
                f"grad_output[{i}] has a dtype of {errors.dtype_name(array.dtype)} and output[{i}] has a dtype of "
                f"{errors.dtype_name(meta.dtype)}."
            )
        return given.to(dtypes.from_numpy_dtype(meta.dtype))
    return given
