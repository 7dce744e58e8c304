"""Calling the hooks of a backward pass, and checking what they return."""

from __future__ import annotations

from typing import Any

from wengert import errors
from wengert.backends.selection import device_name, others
from wengert.core.buffers import InputBuffer, cotangent_of, set_cotangent
from wengert.core.delivery import as_tensor, as_value
from wengert.core.node import Node, NodeHooks, count_outputs
from wengert.core.task import GraphTask
from wengert.core.tensor import TensorBase, wrap


def call_tensor_hooks(task: GraphTask, hooks: NodeHooks, buffer: InputBuffer) -> None:
    """Call the hooks of a node's outputs, then keep the gradients that retain_grad() asked for."""
    for nr, tensor_hooks in list(hooks.tensor.items()):
        ct = cotangent_of(buffer, nr)
        new = call_hooks(task, tensor_hooks, ct)
        if ct is not None:
            set_cotangent(buffer, nr, new)
    for nr, reference in list(hooks.retained.items()):
        tensor: TensorBase | None = reference()
        ct = cotangent_of(buffer, nr)
        if tensor is not None and ct is not None:
            grad = task.face.clone(ct) if task.create_graph else wrap(task.face.copy(ct))
            tensor._grad = grad if tensor._grad is None else tensor._grad + grad


def call_hooks(task: GraphTask, hooks: Any, value: Any) -> Any:
    """Call tensor hooks on a gradient, or on None, in the order of registration. A tensor that one returns replaces it."""
    grad = as_tensor(value)
    for hook in list(hooks.values()):
        result = hook(grad)
        if result is not None:
            check_tensor(hook, result, grad)
            grad = result
    return as_value(task, grad)


def will_run(task: GraphTask, node: Node) -> bool:
    """Whether a pass is still to run the node."""
    buffer: InputBuffer | None = task.find_buffer(node)
    return buffer is not None and buffer.needed


def call_prehooks(task: GraphTask, node: Node, buffer: InputBuffer, hooks: Any) -> None:
    """Call a node's prehooks on all its cotangents; what they return takes the cotangents' place."""
    grads = tuple([as_tensor(cotangent_of(buffer, nr)) for nr in range(count_outputs(node))])
    for hook in list(hooks.values()):
        result = hook(grads)
        if result is not None:
            grads = checked_result(hook, result, grads)
    for nr in range(len(grads)):
        set_cotangent(buffer, nr, as_value(task, grads[nr]))


def call_posthooks(hooks: Any, inputs: tuple[Any, ...], outputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Call a node's posthooks; what they return takes the place of the node's results, which are returned."""
    for hook in list(hooks.values()):
        result = hook(inputs, outputs)
        if result is not None:
            inputs = checked_result(hook, result, inputs)
    return inputs


def checked_result(hook: Any, result: Any, grads: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the result of a node's hook, checked: a tuple that matches the gradients that the hook was given."""
    if not isinstance(result, tuple):
        raise errors.HookTypeError(f"expected tuple, but hook returned '{type(result).__name__}'")
    if len(result) != len(grads):
        raise errors.HookError(
            f"hook '{name_of(hook)}' has returned an incorrect number of values (got {len(result)}, but expected {len(grads)})"
        )
    for new, old in zip(result, grads, strict=True):
        if new is not None:
            check_tensor(hook, new, old)
    return result


def check_tensor(hook: Any, new: Any, old: Any) -> None:
    """Raise if a hook returned something other than a tensor like the gradient old, or if there is no gradient to replace."""
    if not isinstance(new, TensorBase):
        raise errors.hook_returned(type(new))
    if old is None:
        raise errors.HookError("can't replace a None gradient with a non-None value")
    if new._array.shape != old._array.shape:
        raise errors.HookError(
            f"hook '{name_of(hook)}' has changed the size of value (was {list(old._array.shape)} got {list(new._array.shape)})"
        )
    if new._array.dtype != old._array.dtype or (others and device_name(new._array) != device_name(old._array)):
        raise errors.HookError(
            f"hook '{name_of(hook)}' has changed the type of value (was {type_of(old)} got {type_of(new)})"
        )


def type_of(tensor: Any) -> str:
    """The legacy name of a tensor's type, for messages: torch.FloatTensor. A device that is not the first one is added."""
    place = device_name(tensor._array)
    name = errors.tensor_type(tensor._array.dtype, place)
    return name if place in ("cpu", "cuda:0") else f"{name} on {place}"


def name_of(hook: Any) -> str:
    """A hook's name, for messages."""
    return getattr(hook, "__name__", None) or repr(hook)
