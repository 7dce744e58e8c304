"""make_vjp and make_jvp: derivatives of a function of one argument, which may be a container of arrays and numbers.

Note [Derivatives within derivatives]
All derivatives share wengert's tape; see Note [Transforms in one graph]. A function is called with aliases of its argument. If
the argument is no tensor and no other derivative is being taken, nobody outside asks for the history of the result: values are
NumPy arrays, and backward passes are not recorded. Otherwise backward passes are recorded if the graph leads outside.

HIPS differentiates complex numbers in another convention than torch: its gradient is the conjugate of torch's. Cotangents are
conjugated on their way in and out.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.autograd.forward_ad import attach_tangent, detach_tangent
from wengert.autograd.transforms import as_variable, detach_result, leads_outside
from wengert.core.dual import opened_level
from wengert.core.engine import run_backward
from wengert.core.modes import grad_enabled, set_recording
from wengert.core.tensor import TensorBase, gradient_edge, wrap
from wengert.hips.boxes import ArrayBox, Box, boxed, new_variable, value_of
from wengert.hips.vspaces import vspace
from wengert.utils._pytree import tree_flatten, tree_unflatten


class _Depth(threading.local):
    """How many derivatives are being taken on this thread."""

    value = 0


_depth = _Depth()
_FLOATS = frozenset({np.dtype(name) for name in ("float16", "float32", "float64", "complex64", "complex128")})


class inside:
    """Context manager: a derivative is being taken in the block."""

    def __enter__(self) -> None:
        _depth.value += 1

    def __exit__(self, *_: Any) -> None:
        _depth.value -= 1


def array_of(x: Any) -> np.ndarray:
    """Return a number or array as an array of a dtype that tensors have: floating point or complex."""
    array = x if type(x) is np.ndarray else np.asarray(x)
    if array.dtype in _FLOATS:
        return array
    if array.dtype.kind not in "biufc":
        raise TypeError(f"Can't differentiate w.r.t. type {type(x)}")
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def as_tensor(x: Any) -> Any:
    """Return a number, array or tensor as a tensor."""
    return x if isinstance(x, TensorBase) else wrap(array_of(x))


_ARRAYS = frozenset({np.ndarray, float, np.float64, complex, np.complex128})


def _variable(x: Any) -> Any:
    """Return the tensor or box that a function is called with in place of x."""
    if type(x) in _ARRAYS or isinstance(x, (np.ndarray, np.floating, np.complexfloating)):
        return new_variable(array_of(x))
    if isinstance(x, TensorBase):
        found = as_variable(x)
        found.__class__ = ArrayBox
        return found
    kind = Box.type_mappings.get(type(x))
    if kind is None:
        raise TypeError(f"Can't differentiate w.r.t. type {type(x)}")
    return kind(x, 0, Handle(vspace(x)))


class Handle:
    """What stands on the tape for a value that is no array: a 0-d tensor, and the cotangents that the value has got.

    The engine runs a node after all nodes that use its results. So the cotangents are complete when the node of the value runs.
    """

    __slots__ = ("cotangents", "space", "tensor")

    def __init__(self, space: Any, tensor: Any = None) -> None:
        self.space = space
        self.tensor = new_variable(np.zeros(())) if tensor is None else tensor
        self.cotangents: list[Any] = []

    def take(self) -> Any:
        """Return the sum of the cotangents, and forget them."""
        found = None
        for ct in self.cotangents:
            found = ct if found is None else self.space.add(found, ct)
        self.cotangents.clear()
        return self.space.zeros() if found is None else found


def _tensor_of(x: Any) -> Any:
    """Return the tensor of a variable or of a result. Results that are no tensors are constant."""
    if isinstance(x, Box):
        return x._node.tensor if isinstance(x._node, Handle) else _tensor_of(x._value)
    return as_tensor(x)


def _conjugate(x: Any) -> Any:
    """Exchange HIPS's convention for the cotangents of complex numbers with torch's."""
    return x.conj() if x._array.dtype.kind == "c" else x


class Recorded:
    """A function that was run on the tape at a point, and its pull-back.

    value: what the function returned, as its caller sees it. output: the same, on the tape.
    """

    __slots__ = (
        "_form", "_is_kept", "_is_plain", "_leads_outside", "_outer", "_output_form", "_output_leaves", "_outputs", "_tensors",
        "_variables", "output",
    )  # fmt: skip

    def __init__(self, fun: Callable[[Any], Any], x: Any) -> None:
        self._form: Any = None  # the structure of x, if it is a container
        self._output_form: Any = None  # the structure of the output, if it is a container
        leaves, tensors = [x], []
        if type(x) not in _ARRAYS:
            if isinstance(x, (tuple, list, dict)):
                leaves, self._form = tree_flatten(x)
            tensors = [leaf for leaf in leaves if isinstance(leaf, TensorBase)]
        self._outer = _depth.value > 0 or bool(tensors)  # whether results may have a history that leads outside
        recording = grad_enabled()
        if recording:
            self._run(fun, leaves)
        else:
            with set_recording(True):
                self._run(fun, leaves)
        output = self.output
        self._outputs = self._output_leaves = [output]
        if not isinstance(output, TensorBase):
            if isinstance(output, (tuple, list, dict)):
                self._output_leaves, self._output_form = tree_flatten(output)
            self._outputs = [leaf if isinstance(leaf, TensorBase) else _tensor_of(leaf) for leaf in self._output_leaves]
        # If each variable is the alias of a tensor with a history, whatever has a history leads outside.
        self._is_kept = bool(tensors) and len(tensors) == len(leaves) and all(t.requires_grad for t in tensors)
        keep = self._outer and recording
        self._leads_outside = keep and (self._is_kept or leads_outside(self._outputs, self._tensors))
        # Whether a pull-back goes from one array to one array.
        self._is_plain = self._form is None and type(output) is type(self._variables[0]) is ArrayBox
        for found in self._outputs:
            if found.requires_grad:
                break
        else:
            self._is_plain = False
            warnings.warn("Output seems independent of input.", stacklevel=4)

    def _run(self, fun: Callable[[Any], Any], leaves: list[Any]) -> None:
        self._variables = [_variable(leaf) for leaf in leaves]
        self._tensors = self._variables
        if Box.types:  # a variable may be a box of a value that is no array
            self._tensors = [_tensor_of(v) for v in self._variables]
        _depth.value += 1
        try:
            self.output = fun(self._variables[0] if self._form is None else tree_unflatten(self._variables, self._form))
        finally:
            _depth.value -= 1

    @property
    def value(self) -> Any:
        """What the function returned. It has a history if it leads outside."""
        found = [self._released(x, self._leads_outside) for x in self._output_leaves]
        return found[0] if self._output_form is None else tree_unflatten(found, self._output_form)

    def pull_back(self, cotangent: Any, retain_graph: bool = True) -> Any:
        """Return the cotangent of the argument, in its structure, given that of the output."""
        if self._is_plain and not ((self._outer or _depth.value) and grad_enabled()):  # the steps below, without lists
            root: Any = gradient_edge(self.output)
            target: Any = gradient_edge(self._variables[0])
            plain: Any = run_backward([root], [_seed(cotangent, self.output)], retain_graph, False, [target], False)
            gradient = plain[0]
            if gradient is None:
                return np.zeros_like(self._variables[0]._array)[()]
            return boxed(_conjugate(gradient))
        seeds = [cotangent] if self._output_form is None else tree_flatten(cotangent)[0]
        roots: Any = []
        handed = []
        for leaf, output, seed in zip(self._output_leaves, self._outputs, seeds, strict=True):
            if isinstance(leaf, Box):
                leaf._node.cotangents.append(seed)
                seed = np.zeros(())
            root = gradient_edge(output)
            if root is not None:
                roots.append(root)
                handed.append(_seed(seed, output))
        create_graph = (self._outer or _depth.value > 0) and grad_enabled()
        create_graph = create_graph and (self._leads_outside or any(seed.requires_grad for seed in handed))
        targets: Any = [gradient_edge(t) for t in self._tensors]
        parts: Any = [None] * len(targets)
        if roots:
            parts = run_backward(roots, handed, retain_graph or create_graph, create_graph, targets, False)
        found = [self._gradient(v, part, create_graph) for v, part in zip(self._variables, parts, strict=True)]
        return found[0] if self._form is None else tree_unflatten(found, self._form)

    def _gradient(self, variable: Any, gradient: Any, keep: bool) -> Any:
        """Return the gradient in a variable. gradient: a tensor, or None for zeros."""
        if isinstance(variable, Box):
            return variable._node.take()
        if gradient is None:
            gradient = wrap(np.zeros_like(variable._array))
        return self._released(_conjugate(gradient), keep)

    def _released(self, x: Any, keep: bool) -> Any:
        """Return a result without the history that ends at the variables."""
        if not isinstance(x, TensorBase):
            return x
        if not keep and not self._outer:
            return value_of(x)
        return boxed(x if self._is_kept else detach_result(x, self._tensors, True))


def _seed(seed: Any, output: Any) -> Any:
    """Return the cotangent of an output as a tensor of its shape and dtype."""
    if isinstance(seed, TensorBase):
        found: Any = seed
        if found._array.shape != output._array.shape:
            found = found.expand(output.shape)
        return _conjugate(found)
    dtype, shape = output._array.dtype, output._array.shape
    if type(seed) in (np.ndarray, np.float64) and seed.dtype == np.float64 == dtype and seed.shape == shape:
        return wrap(np.array(seed))
    array = np.asarray(seed)
    if array.dtype != dtype:
        array = (array if dtype.kind == "c" or array.dtype.kind != "c" else array.real).astype(dtype)
    if array.shape != shape:
        array = np.broadcast_to(array, shape)
    return wrap(np.conj(array) if array.dtype.kind == "c" else array.copy())


def make_vjp(fun: Callable[[Any], Any], x: Any) -> tuple[Callable[[Any], Any], Any]:
    """Return (vjp, fun(x)). vjp(g) is the product of g with the Jacobian of fun at x, in the structure of x."""
    recorded = Recorded(fun, x)
    return recorded.pull_back, recorded.value


def make_jvp(fun: Callable[[Any], Any], x: Any) -> Callable[[Any], tuple[Any, Any]]:
    """Return jvp, where jvp(v) is (fun(x), the derivative of fun at x along v), computed in forward mode."""

    def jvp(v: Any) -> tuple[Any, Any]:
        leaves, form = tree_flatten(x)
        directions = tree_flatten(v)[0]
        with inside(), opened_level():
            duals = [_dual(leaf, direction) for leaf, direction in zip(leaves, directions, strict=True)]
            outputs, output_form = tree_flatten(fun(tree_unflatten(duals, form)))
            pairs = [detach_tangent(o) if isinstance(o, TensorBase) else (o, None) for o in outputs]
        value = tree_unflatten([boxed(p) for p, _ in pairs], output_form)
        if all(t is None for _, t in pairs):
            warnings.warn("Output seems independent of input.", stacklevel=2)
        tangents = [vspace(value_of(p)).zeros() if t is None else boxed(t) for p, t in pairs]
        return value, tree_unflatten(tangents, output_form)

    return jvp


def _dual(x: Any, direction: Any) -> Any:
    """Return a tensor with a tangent."""
    if not isinstance(x, TensorBase):
        x = _variable(x).detach()
    tangent = direction
    if not isinstance(tangent, TensorBase):
        tangent = wrap(np.broadcast_to(np.asarray(tangent, dtype=x._array.dtype), x.shape).copy())
    found = attach_tangent(x, tangent)
    found.__class__ = ArrayBox
    return found
