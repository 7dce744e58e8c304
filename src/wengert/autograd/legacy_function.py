"""Function as torch 0.1 to 0.3 had it: forward and backward are methods of an instance, Scale(2)(x).

An instance is used once. It is the node that the call leaves in the graph: the results' grad_fn (creator) is the object
that the user has made, with what forward put on it.

    forward     gets tensors without history, one for each argument: what is no tensor goes to __init__
    backward    gets tensors without history, and None for outputs that were marked as non-differentiable; its results
                can not be differentiated again

What is saved, written in place or returned as it came is treated as for static methods: forward's tensors are put in
the place of the user's, then back.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from wengert import errors
from wengert.autograd.function import Function, _attach_outputs, forbid_differentiation
from wengert.core.dispatch import spread_volatile
from wengert.core.legacy import is_volatile
from wengert.core.modes import grad_enabled, set_recording
from wengert.core.node import meta_at, next_sequence_nr, record_position
from wengert.core.tensor import TensorBase, gradient_edge, wrap

__all__ = ["InplaceFunction", "NestedIOFunction", "call_instance", "run_instance"]


class InplaceFunction(Function):
    """Base of instance Functions that can write their result into their input: self.inplace says whether to."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


class NestedIOFunction(Function):
    """Base of instance Functions whose inputs and results are tensors in tuples, lists and dicts of any depth.

    forward_extended and backward_extended take the place of forward and backward; what they are given and return is
    nested. save_for_backward and the marks take nested tensors, too, and saved_tensors are as they were given.
    """

    _inputs: Any = None  # the nesting of the inputs, with a number in the place of each tensor
    _results: Any = None
    _saved_nest: Any = ()

    def __call__(self, *inputs: Any, **kwargs: Any) -> Any:
        """Runs forward_extended on inputs. TypeError for what is no tensor among them."""
        tensors: list[Any] = []
        self._inputs = _numbered(inputs, tensors)
        result = super().__call__(*tensors, **kwargs)
        return _filled(self._results, result if isinstance(result, tuple) else (result,))

    def forward(self, *tensors: Any) -> Any:  # type: ignore[override]  # of an instance
        results: list[Any] = []
        self._results = _numbered(self.forward_extended(*_filled(self._inputs, tensors)), results)
        return tuple(results)

    def backward(self, *grads: Any) -> Any:  # type: ignore[override]  # of an instance
        found: list[Any] = []
        nest = _filled(self._results, grads)
        nested = self.backward_extended(*(nest if isinstance(nest, tuple) else (nest,)))
        _numbered(nested, found)
        return tuple(found)

    def forward_extended(self, *inputs: Any) -> Any:
        """The result, nested, of nested inputs."""
        raise NotImplementedError("a NestedIOFunction needs forward_extended")

    def backward_extended(self, *grad_outputs: Any) -> Any:
        """The gradients of the inputs, nested as these, given those of the results."""
        raise NotImplementedError("a NestedIOFunction needs backward_extended")

    def save_for_backward(self, *tensors: Any) -> None:
        found: list[Any] = []
        self._saved_nest = _numbered(tensors, found)
        super().save_for_backward(*found)

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What forward_extended saved, nested as it was, without history."""
        nest: tuple[Any, ...] = _filled(self._saved_nest, super().saved_tensors)
        return nest

    def mark_dirty(self, *tensors: Any) -> None:
        found: list[Any] = []
        _numbered(tensors, found)
        super().mark_dirty(*found)

    def mark_non_differentiable(self, *outputs: Any) -> None:
        found: list[Any] = []
        _numbered(outputs, found)
        super().mark_non_differentiable(*found)


def _numbered(nest: Any, found: list[Any]) -> Any:
    """nest with a number in the place of each thing that is no tuple, list or dict; the things are added to found."""
    if isinstance(nest, (tuple, list)):
        return type(nest)([_numbered(x, found) for x in nest])
    if isinstance(nest, dict):
        return {key: _numbered(x, found) for key, x in nest.items()}
    found.append(nest)
    return len(found) - 1


def _filled(nest: Any, values: tuple[Any, ...]) -> Any:
    """What _numbered made, with values in the places of the numbers."""
    if isinstance(nest, (tuple, list)):
        return type(nest)([_filled(x, values) for x in nest])
    if isinstance(nest, dict):
        return {key: _filled(x, values) for key, x in nest.items()}
    return values[nest]


def call_instance(function: Function, inputs: tuple[Any, ...]) -> Any:
    """function(*inputs): runs its forward and makes it the node of the results, if an input requires grad.

    Raises TypeError for inputs or results that are no tensors, RuntimeError for an instance that has been called.
    """
    name = type(function).__name__
    warnings.warn(errors.instance_function_deprecated(name), stacklevel=3)
    for i, x in enumerate(inputs):
        if not isinstance(x, TensorBase):
            raise errors.function_argument(name, i, type(x))
    if function._seq:
        raise errors.function_used_twice(name)
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
            raise errors.function_result(name, type(o))
    function._seq = next_sequence_nr()
    function._edges = edges
    record_position(function, 4)
    originals = {id(r): x for r, x in zip(raw, inputs, strict=True)}
    for marked in ("to_save", "dirty_tensors", "non_differentiable"):
        setattr(function, marked, tuple([originals.get(id(t), t) for t in getattr(function, marked)]))
    outputs = tuple([originals.get(id(o), o) for o in outputs])
    function._fixed = tuple([any(o is t for t in function.non_differentiable) for o in outputs])
    results = _attach_outputs(function, inputs, outputs, recording)
    function._n_outputs = len(outputs)
    if volatile:
        spread_volatile(inputs, tuple(results))
    return results[0] if single else tuple(results)


def run_instance(function: Function, cotangents: list[Any], create_graph: bool) -> list[Any]:
    """The gradients of the inputs, from the instance's backward."""
    grads: list[Any] = [None] * function._n_outputs
    for i, ct in zip(function._outputs, cotangents, strict=True):
        if function._fixed[i]:
            continue
        if ct is not None:
            grads[i] = ct.detach()
        elif function.materialize_grads:
            meta = meta_at(function, i)
            grads[i] = wrap(np.zeros(meta.shape, meta.dtype))
    with set_recording(False):
        results = function.backward(*grads)
    if not isinstance(results, (tuple, list)):
        results = (results,)
    gradients = tuple(function._per_edge(tuple(results)))
    if create_graph:
        error = errors.not_twice_differentiable(type(function).__name__)
        gradients = forbid_differentiation(gradients, tuple(cotangents), error)
    return list(gradients)
