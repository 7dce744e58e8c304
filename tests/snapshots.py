"""Snapshots of the state that a failed call must leave unchanged: tensors, the graph behind them, and the thread's modes."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import wengert


def values(tensor: Any) -> np.ndarray:
    """A copy of a tensor's elements, of whatever history."""
    return np.array(tensor.detach().numpy(), copy=True)


def nodes_behind(*tensors: Any) -> list[Any]:
    """Every node that the tensors' graph consists of."""
    found: dict[Any, None] = {}
    stack = [t.grad_fn for t in tensors]
    while stack:
        node = stack.pop()
        if node is not None and node not in found:
            found[node] = None
            stack.extend(next_node for next_node, _ in node.next_functions)
    return list(found)


def state_of(tensor: Any) -> tuple[Any, ...]:
    """All that can be seen of a tensor but its values."""
    shape = tuple(tensor.shape)
    return (shape, tensor.dtype, tensor._version, tensor.requires_grad, tensor.is_leaf, tensor.output_nr)


def grad_of(tensor: Any) -> Any:
    """A tensor's .grad, without the warning that reading a non-leaf's gives."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tensor.grad


def modes() -> tuple[bool, bool]:
    """The thread's modes."""
    return (wengert.is_grad_enabled(), wengert.is_inference_mode_enabled())


class Unchanged:
    """`with Unchanged(x, y): ...` checks that the block leaves x, y, their graph, their .grad and the modes alone."""

    def __init__(self, *tensors: Any) -> None:
        self.tensors = tensors

    def __enter__(self) -> None:
        self.modes = modes()
        self.states = [state_of(t) for t in self.tensors]
        self.values = [values(t) for t in self.tensors]
        self.grad_fns = [t.grad_fn for t in self.tensors]
        self.grads = [grad_of(t) for t in self.tensors]
        self.grad_values = [None if g is None else values(g) for g in self.grads]

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None:
            return
        assert modes() == self.modes
        assert [state_of(t) for t in self.tensors] == self.states
        for tensor, value in zip(self.tensors, self.values, strict=True):
            np.testing.assert_array_equal(values(tensor), value)
        assert all(t.grad_fn is g for t, g in zip(self.tensors, self.grad_fns, strict=True))
        assert all(grad_of(t) is g for t, g in zip(self.tensors, self.grads, strict=True))
        for grad, value in zip(self.grads, self.grad_values, strict=True):
            if grad is not None:
                np.testing.assert_array_equal(values(grad), value)
        for node in nodes_behind(*self.tensors):
            assert getattr(node, "_buffer", None) is None, f"{node.name()} holds a buffer of a finished pass"
