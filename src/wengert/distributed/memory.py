"""The memory of tensors as MPI takes it: one contiguous array, which is the tensor's own where that is possible."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert import errors
from wengert.core.modes import set_recording
from wengert.core.views import bump, check_write
from wengert.distributed.process_group import ProcessGroup
from wengert.tensor import Tensor


def check_tensor(value: Any, name: str) -> None:
    """Raise torch's TypeError if an argument is no tensor, and DeviceError if MPI cannot reach its memory."""
    if not isinstance(value, Tensor):
        raise TypeError(
            f"Invalid function argument. Expected parameter `{name}` of type torch.Tensor\n             but got "
            f"{type(value)} instead."
        )
    if not isinstance(value._array, np.ndarray):
        raise errors.DeviceError(f"{name} is on {value.device}, and MPI sends memory of the CPU. Hint: {name}.cpu()")


def check_tensors(values: Any, name: str) -> None:
    """Raise torch's TypeError if an argument is no list of tensors."""
    if not isinstance(values, (list, tuple)) or not all(isinstance(value, Tensor) for value in values):
        raise TypeError(
            f"Invalid function argument. Expected parameter `{name}` of type List[torch.Tensor]\n             but got "
            f"{type(values)} instead."
        )
    for value in values:
        check_tensor(value, name)


def check_list(call: str, values: Sequence[Any], tensor: Any, group: ProcessGroup, word: str) -> None:
    """Raise torch's errors if a list has not one tensor a rank, or one has not the shape and dtype of `tensor`."""
    if len(values) != group.size():
        raise errors.ShapeError(
            f"{call}: invalid {word} tensor list at index 0 (expected length {group.size()}, got {len(values)})"
        )
    for i, value in enumerate(values):
        check_same(call, value, tensor.shape, tensor, i)


def check_same(call: str, value: Any, shape: Sequence[int], tensor: Any, index: int = 0) -> None:
    """Raise torch's errors if a tensor has not this shape, and the dtype of another one."""
    if value.dtype != tensor.dtype:
        raise ValueError(f"Invalid usage of tensors with different dtypes. Found {value.dtype} and {tensor.dtype}")
    if tuple(value.shape) != tuple(shape):
        raise errors.ShapeError(
            f"{call}: invalid tensor size at index {index} (expected ({', '.join(map(str, shape))}), got "
            f"({', '.join(map(str, value.shape))}))"
        )


def as_bytes(array: Any) -> Any:
    """The bytes of a contiguous array, for calls that do not compute."""
    return array.reshape(-1).view(np.uint8)


def readable(tensor: Any, dtype: Any = None) -> Any:
    """Return the elements as a contiguous array, for sending. It is the tensor's own memory unless that has gaps."""
    return np.ascontiguousarray(tensor._array, dtype=dtype).reshape(-1)


def writable(tensor: Any, name: str) -> None:
    """Raise an error if a tensor cannot be written: it is read-only, or shares elements by expand."""
    with set_recording(False):
        check_write(tensor)
    array = tensor._array
    if not array.flags.writeable or (array.size > 1 and 0 in [s for s, n in zip(array.strides, array.shape) if n > 1]):
        raise errors.InplaceError(
            f"{name}: unsupported operation: more than one element of the written-to tensor refers to a single memory location, or "
            "its memory is read-only. Please clone() the tensor before the call."
        )


def received(tensor: Any, dtype: Any = None, keep: bool = False) -> tuple[Any, Callable[[], None]]:
    """Return a contiguous array for MPI to write, and a function that is to be called afterwards.

    The array is the tensor's memory if it has no gaps and the right dtype. keep: begin with the tensor's elements.
    """
    array = tensor._array
    wanted = array.dtype if dtype is None else dtype
    if array.flags.c_contiguous and array.dtype == wanted:
        return array.reshape(-1), lambda: bump(tensor)
    staged = np.ascontiguousarray(array, dtype=wanted).reshape(-1) if keep else np.empty(array.size, wanted)
    return staged, lambda: write(tensor, staged)


def write(tensor: Any, array: Any) -> None:
    """Write a flat array into a tensor, unrecorded, and count the write."""
    np.copyto(tensor._array, array.reshape(tensor._array.shape), casting="unsafe")
    bump(tensor)
