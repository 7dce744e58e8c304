"""Instance Functions of torch 0.1 to 0.3: forward and backward are methods of an instance, Scale(2)(x).

A program calls an instance once. The instance is the node that the call leaves in the graph: the grad_fn (creator) of
the results is the user's object, with the attributes that forward put on it.

    forward     gets tensors without history, one for each argument; __init__ takes all other parameters
    backward    gets tensors without history, and None for an output that was marked as non-differentiable; its results
                can not be differentiated again

forward runs on detached tensors. Afterwards the user's tensors take their places among the outputs, the saved tensors
and the marked ones. From there on everything is as for static methods.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from wengert import errors
from wengert.autograd.function_node import attach_outputs, forbid_differentiation
from wengert.core.dispatch import propagate_volatile
from wengert.core.legacy import is_volatile
from wengert.core.modes import grad_enabled, set_recording
from wengert.core.node import next_sequence_nr, record_position
from wengert.core.tensor import TensorBase, gradient_edge

if TYPE_CHECKING:
    from wengert.autograd.function import Function

__all__ = ["call_instance", "run_instance"]


def call_instance(function: Function, inputs: tuple[Any, ...]) -> Any:
    """Run the forward of an instance Function. If an input requires grad, the instance becomes the node of the results.

    Raises TypeError for inputs or results that are no tensors, RuntimeError for an instance that has been called.
    """
    name = type(function).__name__
    warnings.warn(
        f"{name}: calling an instance of a Function is what torch 0.1 to 0.3 had; make forward and backward static methods "
        f"that take ctx and call {name}.apply(...)",
        DeprecationWarning,
        stacklevel=3,
    )
    for i, x in enumerate(inputs):
        if not isinstance(x, TensorBase):
            raise errors.FunctionTypeError(
                f"expected a Variable argument, but got {type(x).__name__} (argument {i} of {name}). Hint: what is no "
                "tensor goes to __init__."
            )
    if function._seq:
        raise errors.FunctionError(
            f"each {name} can be used once: it holds what its first call has saved. Hint: make a new one for every call, "
            f"{name}(...)(input)."
        )
    volatile = any(is_volatile(x) for x in inputs)
    function.needs_input_grad = tuple([x.requires_grad for x in inputs])
    recording = grad_enabled() and any(function.needs_input_grad) and not volatile
    function._positions = tuple(range(len(inputs)))
    function._n_args = function._n_needed = len(inputs)
    edges = tuple([gradient_edge(x) for x in inputs]) if recording else ()
    raw = tuple([x.detach() for x in inputs])
    with set_recording(False):
        output = function.forward(*raw)
    single = not isinstance(output, (tuple, list))
    outputs = (output,) if single else tuple(output)
    for o in outputs:
        if not isinstance(o, TensorBase):
            raise errors.FunctionTypeError(f"{name}.forward: expected a Variable or a tuple of them, but got {type(o).__name__}")
    function._seq = next_sequence_nr()
    function._edges = edges
    record_position(function, 4)
    originals = {id(r): x for r, x in zip(raw, inputs, strict=True)}
    for marked in ("to_save", "dirty_tensors", "non_differentiable"):
        setattr(function, marked, tuple([originals.get(id(t), t) for t in getattr(function, marked)]))
    outputs = tuple([originals.get(id(o), o) for o in outputs])
    function._fixed = tuple([any(o is t for t in function.non_differentiable) for o in outputs])
    results = attach_outputs(function, inputs, outputs, recording)
    function._n_outputs = len(outputs)
    if volatile:
        propagate_volatile(inputs, tuple(results))
    return results[0] if single else tuple(results)


def run_instance(function: Function, cotangents: list[Any], create_graph: bool) -> list[Any]:
    """Run the backward of an instance Function, and return the gradients of its inputs."""
    grads: list[Any] = [None] * function._n_outputs
    for i, ct in zip(function._outputs, cotangents, strict=True):
        if function._fixed[i]:
            continue
        if ct is not None:
            grads[i] = ct.detach()
        elif function.materialize_grads:
            grads[i] = function._zeros(i)
    with set_recording(False):
        results = function.backward(*grads)
    if not isinstance(results, (tuple, list)):
        results = (results,)
    gradients = tuple(function._per_edge(tuple(results)))
    if create_graph:
        error = errors.NotDifferentiableError(f"{type(function).__name__} is not differentiable twice")
        gradients = forbid_differentiation(gradients, tuple(cotangents), error)
    return list(gradients)
