"""Saved values of nodes under the names that users read: grad_fn._saved_self, ._raw_saved_self and the like. Not compiled.

The names are torch's: self and other for the inputs x and y, result for the output, <input>_sym_sizes for a shape; all
else is called as the operation calls it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert import errors
from wengert.backends.selection import is_array
from wengert.core.engine import run_leaf_alone, run_single
from wengert.core.modes import grad_enabled
from wengert.core.node import (
    DROPPED,
    AccumulateGrad,
    Node,
    OpNode,
    Saved,
    accumulate_grad_class,
    count_outputs,
    freed_error,
)
from wengert.core.op import Op
from wengert.core.saved import SavedTensor
from wengert.core.saved_hooks import PackedTensor, pack_later, tensor_of
from wengert.core.tensor import TensorBase, wrap

_VALUE, _RAW = "_saved_", "_raw_saved_"
_INPUTS = {"x": "self", "y": "other"}


class RecordedNode(OpNode):
    """The node of a registered operation with what it saved as attributes. A node's class has an operation's name.

    show_saved makes the attributes. A __getattr__ would slow down every attribute of every node, uncompiled.
    """

    __slots__ = ()

    def __call__(self, *cotangents: Any) -> Any:
        """The gradients of the inputs, from those of the outputs (tensors or None): a tuple, of one the gradient."""
        wanted = count_outputs(self)
        if len(cotangents) != wanted:
            raise errors.GradientTypeError(f"expected {wanted} arguments, got {len(cotangents)} instead")
        for i, cotangent in enumerate(cotangents):
            if cotangent is not None and not isinstance(cotangent, TensorBase):
                raise errors.GradientTypeError(f"argument {i} is not a Variable, but {type(cotangent).__name__}")
        results = run_single(self, cotangents, grad_enabled())
        return results[0] if len(results) == 1 else tuple(results)

    def __dir__(self) -> list[str]:
        names = list(super().__dir__())
        for name, key in saved_names(self._op).items():
            names.append(_VALUE + name)
            if _is_tensor_key(self._op, key):
                names.append(_RAW + name)
        return names


def call_leaf(node: AccumulateGrad, cotangent: TensorBase | None) -> tuple[()]:
    """Call a leaf's node: add the cotangent (a tensor or None) into the leaf's .grad."""
    if cotangent is not None and not isinstance(cotangent, TensorBase):
        raise errors.GradientTypeError(f"argument 0 is not a Variable, but {type(cotangent).__name__}")
    array = None if cotangent is None else cotangent._array
    if array is not None and array.shape != node._variable._array.shape:
        raise errors.invalid_gradient_shape(node.name(), 0, array.shape, node._variable._array.shape)
    run_leaf_alone(node, array)
    return ()


accumulate_grad_class.__call__ = call_leaf  # type: ignore[method-assign]


def show_saved(op: Op) -> None:
    """Give nodes an attribute for each name under which this operation's show what they save. Other nodes say no."""
    for name in saved_names(op):
        for prefix in (_VALUE, _RAW):
            if not hasattr(RecordedNode, prefix + name):
                setattr(RecordedNode, prefix + name, _SavedAttribute(prefix, name))


class _SavedAttribute:
    """One of these attributes."""

    def __init__(self, prefix: str, name: str) -> None:
        self.prefix, self.name = prefix, name

    def __get__(self, node: Any, owner: Any = None) -> Any:
        if node is None:
            return self
        key = saved_names(node._op).get(self.name)
        raw = self.prefix == _RAW
        if key is None or (raw and not _is_tensor_key(node._op, key)):
            raise AttributeError(f"{type(node).__name__!r} object has no attribute {self.prefix + self.name!r}")
        return _read(node, key, raw)

    def __set__(self, node: Any, value: Any) -> None:
        raise AttributeError(f"attribute {self.prefix + self.name!r} of {type(node).__name__!r} objects is not writable")


def saved_names(op: Op) -> dict[str, str]:
    """The names under which an operation's nodes show what they save, and what the rules call each."""
    names: dict[str, str] = {}
    for rule in op.rules:
        for key in rule.names:
            if key.endswith("_shape") and key not in op.param_names:
                name = key.removesuffix("_shape")
                names[_INPUTS.get(name, name) + "_sym_sizes"] = key
            elif key == "out":
                names["result"] = key
            elif key != "needs":
                names[_INPUTS.get(key, key) if key in op.input_names else key] = key
    return names


def names_of_places(node: OpNode) -> dict[int, str]:
    """The name under which each of a node's saved values is shown, by its place among them."""
    op, saves = node._op, node._plan.saves
    found: dict[int, str] = {}
    for name, key in saved_names(op).items():
        wanted = op._what_to_save(key)
        for i, entry in enumerate(saves):
            if (entry.kind, entry.name or entry.index) == wanted:
                found.setdefault(i, name)
    return found


def _is_tensor_key(op: Op, key: str) -> bool:
    """Whether a name of a rule's stands for inputs or outputs, not for a shape or a parameter."""
    return key in op.input_names or key == "out" or key in (op.output_names or ())


def _read(node: OpNode, key: str, raw: bool) -> Any:
    """Return one of the values that the node saved, or None if this node does not need it."""
    op, plan = node._op, node._plan
    wanted = op._what_to_save(key)
    if op.is_read and key in op.param_names:
        return node._extra
    places = [i for i, entry in enumerate(plan.saves) if (entry.kind, entry.name or entry.index) == wanted]
    if not places:
        if key in op.param_names and plan.constants:
            return op.defaults[key]
        return SavedTensorHandle._of(node, None) if raw else None
    place = places[0]
    is_tensor = _is_tensor_key(op, key)
    if node._saved is None and not raw:
        return _left(node, place)
    values = node._saved[place] if node._saved is not None else None
    if isinstance(values, tuple) and is_tensor:
        if raw:
            return tuple([SavedTensorHandle._of(node, (place, i)) for i in range(len(values))])
        return tuple([_shown(v, node) for v in values])
    if raw:
        return SavedTensorHandle._of(node, (place,))
    return _shown(values, node) if is_tensor else values


def _left(node: OpNode, place: int) -> Any:
    """A value that stayed when the node was released: a shape or a number. GraphFreedError for any other."""
    value = node._extra[2][place] if node._plan.shows_values else DROPPED
    if value is DROPPED:
        raise freed_error(node)
    return value


def _shown(value: Any, node: Node) -> Any:
    """A saved input or output as a tensor; a number that was an operand, too."""
    if isinstance(value, Saved):
        return tensor_of(value, node)
    if is_array(value):
        return wrap(value)
    return value if value is None or node.name().startswith("Pow") else wrap(np.asarray(value))


class SavedTensorHandle:
    """One saved tensor of a node, as _raw_saved_<name> and _raw_saved_tensors give it: a place to put hooks on."""

    __slots__ = ("_node", "_path")

    _node: Any
    _path: tuple[int, ...] | None  # where among the node's saved values; None where this node saved none

    def __init__(self) -> None:
        raise errors.GraphError("Trying to create a SavedTensor object from Python is forbidden.")

    @classmethod
    def _of(cls, node: Any, path: tuple[int, ...] | None) -> SavedTensorHandle:
        handle = object.__new__(cls)
        handle._node, handle._path = node, path
        return handle

    def _value(self) -> Any:
        """Return the node's value. Raise GraphFreedError if it has been released."""
        if self._path is None:
            return None
        value = self._node._saved
        if value is None:
            raise freed_error(self._node)
        for i in self._path:
            value = value[i]
        return value

    def register_hooks(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        """Keep pack_hook(tensor) from now on; unpack_hook(that) gives the tensor whenever it is needed.

        Raises RuntimeError if there are hooks already, if there is no tensor, and after the release.
        """
        if not callable(pack_hook) or not callable(unpack_hook):
            raise errors.saved_hooks_type(type(pack_hook), type(unpack_hook))
        node = self._node
        if self._path is not None and node._saved is None:
            raise errors.GraphFreedError(
                "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values of the graph "
                "are freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward "
                "through the graph a second time or if you need to access saved variables after calling backward."
            )
        value = self._value()
        if isinstance(value, PackedTensor):
            raise errors.HookError(
                "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one pair of hooks "
                "is allowed at a time."
            )
        if not isinstance(value, SavedTensor):
            raise errors.HookError("Calling register_hooks on a saved tensor with value None is forbidden")
        node._saved = _replaced(node._saved, self._path or (), pack_later(value, node, pack_hook, unpack_hook))

    @property
    def data(self) -> Any:
        """The tensor; where it has hooks, what its pack hook returned."""
        value = self._value()
        return value.packed(self._node) if isinstance(value, PackedTensor) else _shown(value, self._node)

    @property
    def unpack_hook(self) -> Callable[[Any], Any] | None:
        """The unpack hook, if there is one."""
        value = self._value()
        return value.unpack_hook if isinstance(value, PackedTensor) else None

    def unpack(self) -> Any:
        """The tensor as the backward pass will have it."""
        return _shown(self._value(), self._node)


def _replaced(values: tuple[Any, ...], path: tuple[int, ...], new: Any) -> Any:
    """Return values with `new` at path: positions in the tuple and the tuples inside it."""
    if not path:
        return new
    place, *inner = path
    return (*values[:place], _replaced(values[place], tuple(inner), new), *values[place + 1 :])


# Its public name, as it prints.
SavedTensorHandle.__name__ = SavedTensorHandle.__qualname__ = "SavedTensor"
SavedTensorHandle.__module__ = "torch._C._autograd"
