"""Hooks on saving: what a node keeps in place of a tensor, and how it gets the tensor back. Not compiled: hooks are rare.

pack(tensor) runs where an operation saves, and what it returns is kept; unpack(that) runs each time the value is needed.
A pair of them is active in a block (saved.SavedHooksSwitch), on this thread, for all that is saved there; or it is put on
one saved value later (pack_later).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert import errors
from wengert.backends.selection import backend_of, device_name, others
from wengert.core.collector import count_attachment
from wengert.core.modes import set_recording, state
from wengert.core.node import Node, OpNode, Saved
from wengert.core.saved import SavedTensor, save_array, set_packer, unpack_array, unpack_tensor
from wengert.core.tensor import TensorBase, counter_of, wrap

_ITSELF = object()  # stands for the tensor that a pack hook was given and returned


class PackedTensor(Saved):
    """A saved tensor in the keeping of hooks.

    place: a SavedTensor that says which input or output it is, and its version; its array only where the pack hook
    returned the tensor it was given. Keeping that tensor would tie a node to its own output: no reference count would
    ever free the two.
    """

    __slots__ = ("device", "dtype", "place", "unpack_hook", "value")

    def __init__(self, place: SavedTensor, tensor: Any, dtype: Any, value: Any, unpack_hook: Callable[[Any], Any]) -> None:
        self.place = place
        self.device = device_name(tensor._array)
        self.dtype = dtype  # that the node computes in, where it is not the tensor's own
        self.value = value
        self.unpack_hook = unpack_hook
        count_attachment(1)  # see Note [Untracked] in collector.py

    def __del__(self) -> None:
        count_attachment(-1)

    def packed(self, node: Node) -> Any:
        """Return the argument of the unpack hook."""
        return unpack_unchecked(self.place, node) if self.value is _ITSELF else self.value

    def unpack(self, node: Node) -> SavedTensor:
        """Return the unpack hook's result as if it had been saved without hooks.

        It is checked against later writes where it is the saved tensor's own memory. Of another's nothing is known.
        """
        result = self.unpack_hook(self.packed(node))
        if not isinstance(result, TensorBase):
            raise errors.HookTypeError(
                f"Output of saved tensor unpack_hook expected to be a Tensor but got result of type {type(result).__name__}"
            )
        place = self.place
        found = save_array(result, result._array, place._role, place._position)
        if place._counter is not None and found._counter is place._counter:
            found._version = place._version
        if self.dtype is not None and found._data.dtype != self.dtype:
            unpack_array(found, node)
            found._data, found._counter = backend_of(found._data).cast(found._data, self.dtype), None
        return found

    def array(self, node: Node) -> Any:
        """Return the unpacked array. Raise RuntimeError if it was written since, or lies on another device than what was saved."""
        found = unpack_array(self.unpack(node), node)
        if others and device_name(found) != self.device:
            raise errors.DeviceError(
                f"Expected all tensors to be on the same device, but found at least two devices, {self.device} and "
                f"{device_name(found)}! Hint: an unpack hook returns its tensor on the device of the one that was packed."
            )
        return found

    def tensor(self, node: Node) -> Any:
        """Return the unpacked value as a tensor at the original's place in the graph."""
        return unpack_tensor(self.unpack(node), node)


def unpack_unchecked(place: SavedTensor, node: Node) -> Any:
    """The tensor that a pack hook was given and returned. Whether it was written since is asked when it is used."""
    version = place._version
    if place._counter is not None:
        place._version = place._counter.value
    try:
        return unpack_tensor(place, node)
    finally:
        place._version = version


def tensor_of(saved: Saved, node: Node) -> Any:
    """Anything saved, as a tensor that stands where the original stood in the graph."""
    return unpack_tensor(saved, node) if isinstance(saved, SavedTensor) else saved.tensor(node)  # type: ignore[attr-defined]


# -- packing -----------------------------------------------------------------------------------------------------------


def pack_new(tensor: TensorBase, array: Any, role: int, position: int) -> Saved:
    """Save a tensor by the innermost active pair of hooks."""
    if not state.saved_hooks:
        return save_array(tensor, array, role, position)
    hooks = state.saved_hooks[-1]
    if array is tensor._array:
        return pack(save_array(tensor, array, role, position), tensor, None, *hooks)
    if array.dtype != tensor._array.dtype:
        # The hooks get what the program has, in its own dtype; the cast is made again from what they give back.
        return pack(save_array(tensor, tensor._array, role, position), tensor, array.dtype, *hooks)
    return pack(save_array(tensor, array, role, position), wrap(array), None, *hooks)


def pack_later(saved: SavedTensor, node: Node, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> Any:
    """Pack a value that the node has saved without hooks."""
    return pack(saved, unpack_tensor(saved, node), None, pack_hook, unpack_hook)


def pack(
    place: SavedTensor, tensor: Any, dtype: Any, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]
) -> PackedTensor:
    """Give a tensor to the pack hook. The hook records nothing, and must not write into the tensor."""
    counter = counter_of(tensor)
    version = counter.value
    with set_recording(False):
        value = pack_hook(tensor)
    if counter.value != version:
        raise errors.HookError(
            "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook cannot be "
            "modified by in-place operations as this can lead to unexpected side-effects. Please open an issue if you need "
            "to perform in-place operations on the input to a pack hook. Hint: write into a clone() of it."
        )
    if value is tensor:
        return PackedTensor(place, tensor, dtype, _ITSELF, unpack_hook)
    place._data = None
    return PackedTensor(place, tensor, dtype, value, unpack_hook)


set_packer(pack_new)


class packing_deferred:
    """`with packing_deferred(): ...` records an operation whose output is written afterwards.

    pack_saved(node) then packs what the node has saved.
    """

    def __enter__(self) -> None:
        self.hooks, state.saved_hooks = state.saved_hooks, []

    def __exit__(self, kind: object = None, error: object = None, traceback: object = None) -> None:
        state.saved_hooks = self.hooks


def pack_saved(node: OpNode) -> None:
    """Pack what an operation's node saved while packing was deferred."""
    if state.saved_hooks and node._saved is not None:
        node._saved = tuple([_pack_any(value, node) for value in node._saved])


def _pack_any(value: Any, node: Node) -> Any:
    if isinstance(value, SavedTensor):
        return pack_later(value, node, *state.saved_hooks[-1])
    if isinstance(value, tuple):
        return tuple([_pack_any(v, node) for v in value])
    return value


# -- blocks ------------------------------------------------------------------------------------------------------------


def refuse_hooks(message: str | None) -> str | None:
    """Make blocks of hooks on this thread raise RuntimeError(message). None allows it again. Return the previous message.

    Raises RuntimeError at once if a pair is active.
    """
    if message is not None and state.saved_hooks:
        raise errors.HookError(message)
    before, state.saved_hooks_refused = state.saved_hooks_refused, message
    return before
