"""Automatic differentiation: backward, grad, the grad modes, Function, gradcheck and submodules."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from wengert import dtypes, errors
from wengert.autograd.grad_mode import (
    enable_grad,
    enforce_grad_layout_policy,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    is_multithreading_enabled,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)
from wengert.core.engine import run_backward
from wengert.core.legacy import StochasticNode, is_volatile
from wengert.core.node import Edge, Node, meta_at
from wengert.core.saved_names import SavedTensorHandle as SavedTensor
from wengert.core.spellings import accepts_old_names
from wengert.core.tensor import TensorBase, gradient_edge, wrap
from wengert.tensor import set_backward  # type: ignore[attr-defined]  # no public name: not in the stub

if TYPE_CHECKING:
    from wengert.autograd.function import Function
    from wengert.autograd.gradcheck import gradcheck, gradgradcheck
    from wengert.autograd.variable import Variable

__all__ = [
    "Function", "SavedTensor", "Variable", "backward", "enable_grad", "enforce_grad_layout_policy", "grad",
    "gradcheck", "gradgradcheck", "inference_mode", "is_grad_enabled", "is_inference_mode_enabled",
    "is_multithreading_enabled", "no_grad", "set_grad_enabled", "set_multithreading_enabled",
]  # fmt: skip


class GradientEdge(NamedTuple):
    """Edge of the graph: a node and the number of one of its outputs. backward and grad accept it in place of a tensor."""

    node: Node
    output_nr: int
    ownership_token: Any = None  # an object to keep alive with the edge


@accepts_old_names(variables="tensors", retain_variables="retain_graph")
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
        warnings.warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning, stacklevel=3)
        if grad_tensors is not None:
            raise errors.SpellingError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. Please only use "
                "`grad_tensors`."
            )
        grad_tensors = grad_variables
    targets = None
    if inputs is not None:
        inputs = _as_tuple(inputs)
        if len(inputs) == 0:
            raise errors.GraphError("`inputs` argument to `backward()` cannot be empty.")
        targets = _input_edges(inputs)
    gradients = _as_gradient_list(grad_tensors, tensors)
    create_graph = _is_graph_wanted(create_graph, gradients)
    roots, cotangents = _roots(_as_tuple(tensors), gradients)
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
            stacklevel=3,
        )
    run_backward(roots, cotangents, bool(keep), bool(create_graph), targets, True)


set_backward(backward.__wrapped__)  # type: ignore[attr-defined]  # Tensor.backward knows old names of its own


@accepts_old_names(grad_variables="grad_outputs", retain_variables="retain_graph")
def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool | None = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Any, ...]:
    """Return the gradients of the sum of outputs in inputs, as a tuple, without changing any .grad.

    outputs, inputs: a tensor or GradientEdge, or a sequence of them. grad_outputs: cotangents of the outputs, as in
    backward. retain_graph, create_graph: as in backward. only_inputs: False also accumulates into .grad of all other
    leaves. allow_unused: return None for an input that the outputs do not depend on, instead of raising RuntimeError.
    materialize_grads: return zeros for it. is_grads_batched: grad_outputs have one more dimension in front; one pass runs
    for each entry, and the results have that dimension too.

    >>> import wengert
    >>> x = wengert.tensor([1.0, 2.0], requires_grad=True)
    >>> wengert.autograd.grad((x ** 3).sum(), x)
    (tensor([ 3., 12.]),)
    """
    if is_grads_batched:
        from wengert.autograd.batched import grad_of_batch

        keep = bool(create_graph if retain_graph is None else retain_graph)

        def run(cotangents: list[Any], is_last: bool) -> tuple[Any, ...]:
            found: tuple[Any, ...] = grad(
                outputs, inputs, cotangents, keep or not is_last, create_graph, True, allow_unused, False, materialize_grads
            )
            return found

        return grad_of_batch(_as_tuple(outputs), inputs, _as_gradient_list(grad_outputs, outputs), run)
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
        )
    if allow_unused is None:
        allow_unused = materialize_grads
    inputs = _as_tuple(inputs)
    if len(inputs) == 0:
        raise errors.GraphError("`inputs` argument to `grad()` cannot be empty.")
    targets = _input_edges(inputs)
    gradients = _as_gradient_list(grad_outputs, outputs)
    create_graph = _is_graph_wanted(create_graph, gradients)
    if not only_inputs:
        warnings.warn(
            "only_inputs argument is deprecated (defaults to True; torch ignores it now, this package does what it asks "
            "for). To accumulate gradient for other parts of the graph, please use torch.autograd.backward.",
            FutureWarning,
            stacklevel=3,
        )
    roots, cotangents = _roots(_as_tuple(outputs), gradients)
    keep = create_graph if retain_graph is None else retain_graph
    results: Any = run_backward(roots, cotangents, bool(keep), bool(create_graph), targets, False, not only_inputs)
    for i, result in enumerate(results):
        if result is None and (materialize_grads or not allow_unused):
            results[i] = _zeros_for_unused(inputs[i], i, materialize_grads)
    return tuple(results)


def _zeros_for_unused(x: Any, i: int, wanted: bool) -> Any:
    """Return zeros for x, the i-th input, on which no output depends. Raise an error if zeros are not wanted."""
    if not wanted:
        raise errors.UnusedInputError(
            f"The differentiated Tensor at index {i} appears to not have been used in the graph. Set allow_unused=True if "
            "this is the desired behavior."
        )
    if isinstance(x, GradientEdge):
        raise RuntimeError("materialize_grads cannot be used when the given input is a GradientEdge")
    return wrap(np.zeros_like(x._array))


def _as_tuple(x: Any) -> tuple[Any, ...]:
    return (x,) if isinstance(x, (TensorBase, GradientEdge)) else tuple(x)


def _as_gradient_list(grads: Any, tensors: Any) -> list[Any]:
    n = len(_as_tuple(tensors))
    if grads is None:
        return [None] * n
    if isinstance(grads, TensorBase):
        grads = (grads,)
    elif not isinstance(grads, Sequence):
        raise errors.GradientTypeError(f"gradients can be either Tensors or None, but got {type(grads).__name__}")
    if len(grads) != n:
        raise errors.GradientError(f"got {n} tensors and {len(grads)} gradients")
    return list(grads)


def _is_graph_wanted(create_graph: bool | None, gradients: list[Any]) -> bool:
    """Return create_graph as a bool. None, the default of torch 0.2 and 0.3, means: if a gradient requires grad."""
    if create_graph is None:
        return any(isinstance(g, TensorBase) and g.requires_grad for g in gradients)
    return bool(create_graph)


def _input_edges(inputs: tuple[Any, ...]) -> list[Edge]:
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
            edges.append(gradient_edge(x))  # type: ignore[arg-type]  # not None: it requires grad
    return edges


def _roots(outputs: tuple[Any, ...], grads: list[Any]) -> tuple[list[Edge], list[Any]]:
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
            cotangents.append(wrap(np.zeros(meta.shape, meta.dtype)))  # ignored: the node's gradient comes from its reward
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
    one = np.empty(meta.shape, meta.dtype)
    one.fill(1)  # np.ones takes three times as long
    return wrap(one)


def _checked_cotangent(given: Any, meta: Any, i: int) -> Any:
    """Return the user's cotangent, cast to the output's dtype. Raises for another shape."""
    if not isinstance(given, TensorBase):
        raise errors.GradientTypeError(f"gradients can be either Tensors or None, but got {type(given).__name__}")
    array = given._array
    if array.shape != meta.shape:
        raise errors.gradient_shape(i, array.shape, meta.shape)
    if array.dtype != meta.dtype:
        if (array.dtype.kind == "c") != (meta.dtype.kind == "c"):
            raise errors.GradientError(
                "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: "
                f"grad_output[{i}] has a dtype of {errors.dtype_name(array.dtype)} and output[{i}] has a dtype of "
                f"{errors.dtype_name(meta.dtype)}."
            )
        return given.to(dtypes.from_numpy_dtype(meta.dtype))  # type: ignore[attr-defined]  # a TensorBase is a Tensor
    return given


_LAZY = {  # names that are loaded when first used, and the modules of this package that define them
    "profiler": "", "profiler_util": "", "anomaly_mode": "", "explanation": "", "forward_ad": "", "functional": "",
    "detect_anomaly": "anomaly_mode", "set_detect_anomaly": "anomaly_mode", "is_anomaly_enabled": "anomaly_mode",
    "is_anomaly_check_nan_enabled": "anomaly_mode", "explain": "explanation", "NestedIOFunction": "function",
    "gradcheck": "gradcheck", "gradgradcheck": "gradcheck", "graph": "", "function": "", "Function": "function", "variable": "",
    "Variable": "variable",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    from importlib import import_module

    home = _LAZY.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if not home:
        return import_module(f"{__name__}.{name}")
    found = globals()[name] = getattr(import_module(f"{__name__}.{home}"), name)
    return found


class _Package(ModuleType):
    """Class of this module. Importing the module gradcheck sets the attribute gradcheck to the function, not the module."""

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value.gradcheck if name == "gradcheck" and isinstance(value, ModuleType) else value)


sys.modules[__name__].__class__ = _Package
