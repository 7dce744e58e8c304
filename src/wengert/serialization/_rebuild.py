"""The functions by which files make tensors. Files name them torch._utils._rebuild_tensor_v2 and so on.

Each checks what a file says before it trusts it: a tensor lies within its storage.
"""

from __future__ import annotations

from math import prod
from typing import Any

from wengert import dtypes, errors, layouts
from wengert.core.relocation import MissingMemory, bytes_of, place
from wengert.core.tensor import TensorBase, is_differentiable, wrap, wrap_as
from wengert.ops.registry import OPS
from wengert.storage import TypedStorage, UntypedStorage
from wengert.tensor import Tensor

_MOST_DIMS = 64  # of NumPy's arrays
_HUGE = 1 << 56

OF_UTILS = (
    "_rebuild_tensor", "_rebuild_tensor_v2", "_rebuild_tensor_v3", "_rebuild_parameter", "_rebuild_parameter_with_state",
    "_rebuild_sparse_tensor", "_rebuild_sparse_csr_tensor", "_rebuild_qtensor", "_rebuild_nested_tensor",
    "_rebuild_meta_tensor_no_storage", "_rebuild_wrapper_subclass", "_rebuild_device_tensor_from_numpy",
    "_rebuild_device_tensor_from_cpu_tensor",
)  # fmt: skip


def _sizes(values: Any, what: str) -> tuple[int, ...]:
    """Return a tuple of ints that are sizes or strides. Raises FileFormatError for anything else."""
    if not isinstance(values, (tuple, list)) or len(values) > _MOST_DIMS:
        raise errors.FileFormatError(f"the file is damaged: {what} of a tensor is no tuple of at most {_MOST_DIMS} ints")
    for n in values:
        if type(n) is not int or not 0 <= n < _HUGE:
            raise errors.FileFormatError(f"the file is damaged: {what} of a tensor holds something else than ints in range")
    return tuple(values)


def _tensor_of(storage: Any, offset: Any, size: Any, stride: Any, dtype: Any) -> Any:
    """Return a tensor over a storage. Raises RuntimeError if it reaches out of the storage."""
    shape, steps = _sizes(size, "the shape"), _sizes(stride, "the stride")
    (start,) = _sizes((offset,), "the offset")
    if len(shape) != len(steps):
        raise errors.FileFormatError("the file is damaged: a tensor has not as many strides as dimensions")
    if prod(shape) >= _HUGE:
        raise errors.FileFormatError(f"the file is damaged: a tensor of shape {shape}")
    step = dtype.itemsize
    array = place(storage._root, start * step, shape, [s * step for s in steps], dtypes.as_numpy_dtype(dtype))
    if isinstance(array, MissingMemory):
        last = start + sum([(n - 1) * s for n, s in zip(shape, steps, strict=True)])
        raise errors.outside_storage(shape, steps, start, step, last, bytes_of(storage._root).size // step)
    return wrap(array)


def _finish(tensor: Any, requires_grad: Any, backward_hooks: Any) -> Any:
    if requires_grad and not is_differentiable(tensor._array):
        raise errors.FileFormatError("the file is damaged: a tensor of integers requires grad")
    tensor._requires_grad = bool(requires_grad)
    if backward_hooks:
        tensor._backward_hooks = backward_hooks
    return tensor


def _rebuild_tensor(storage: Any, storage_offset: Any, size: Any, stride: Any) -> Any:
    """Return a tensor over a typed storage."""
    if not isinstance(storage, TypedStorage):
        raise errors.FileFormatError("the file is damaged: a tensor is made of something that is no storage")
    return _tensor_of(storage.untyped(), storage_offset, size, stride, storage.dtype)


def _rebuild_tensor_v2(
    storage: Any, storage_offset: Any, size: Any, stride: Any, requires_grad: Any, backward_hooks: Any, metadata: Any = None
) -> Any:
    """Return a tensor over a typed storage. metadata: {"conj": True} for a conjugate view, {"neg": True} for a negative one."""
    tensor = _rebuild_tensor(storage, storage_offset, size, stride)
    if metadata:
        if not isinstance(metadata, dict) or prod(tensor.shape) > storage.size():
            raise errors.FileFormatError("the file is damaged: bits of a tensor")
        for key, name in (("conj", "_conj"), ("neg", "_neg_view")):
            if metadata.get(key):
                tensor = OPS[name].function(tensor)
    return _finish(tensor, requires_grad, backward_hooks)


def _rebuild_tensor_v3(
    storage: Any,
    storage_offset: Any,
    size: Any,
    stride: Any,
    requires_grad: Any,
    backward_hooks: Any,
    dtype: Any,
    metadata: Any = None,
) -> Any:
    """Return a tensor of a dtype that has no typed storage."""
    if not isinstance(storage, UntypedStorage) or not isinstance(dtype, dtypes.dtype):
        raise errors.FileFormatError("the file is damaged: a tensor is made of something that is no storage")
    return _finish(_tensor_of(storage, storage_offset, size, stride, dtype), requires_grad, backward_hooks)


def _rebuild_parameter(data: Any, requires_grad: Any, backward_hooks: Any) -> Any:
    """Return a Parameter with the memory of data."""
    from wengert.nn.parameter import Parameter

    if not isinstance(data, TensorBase):
        raise errors.FileFormatError("the file is damaged: a parameter is made of something that is no tensor")
    param = Parameter(data, False)
    return _finish(param, requires_grad, backward_hooks)


def _rebuild_parameter_with_state(data: Any, requires_grad: Any, backward_hooks: Any, state: Any) -> Any:
    """Return a Parameter with the memory of data, and these attributes."""
    return set_state(_rebuild_parameter(data, requires_grad, backward_hooks), state)


def _rebuild_from_type_v2(func: Any, new_type: Any, args: Any, state: Any) -> Any:
    """Return func(*args) as an instance of new_type, a class of tensors, with these attributes."""
    if not callable(func) or not isinstance(new_type, type) or not isinstance(args, tuple):
        raise errors.FileFormatError("the file is damaged: a tensor with attributes")
    tensor = func(*args)
    if not isinstance(tensor, TensorBase) or not issubclass(new_type, TensorBase):
        raise errors.FileFormatError("the file is damaged: a tensor with attributes")
    if type(tensor) is not new_type:
        plain: Any = tensor
        tensor = wrap_as(new_type, plain._array)
        tensor._counter, tensor._requires_grad = plain._counter, plain._requires_grad
    own = any("__setstate__" in vars(cls) for cls in new_type.__mro__ if cls not in Tensor.__mro__)
    if own and state is not None:
        tensor.__setstate__(state)
        return tensor
    return set_state(tensor, state)


def set_state(tensor: Any, state: Any) -> Any:
    """Set the attributes that a file has for a tensor. state: a dict, or a dict and a dict of slots, or None."""
    slots = None
    if isinstance(state, tuple) and len(state) == 2:
        state, slots = state
    for values in (state, slots):
        if values is None:
            continue
        if not isinstance(values, dict) or not all(isinstance(key, str) for key in values):
            raise errors.FileFormatError("the file is damaged: attributes of a tensor")
    if state:
        tensor.__dict__.update(state)
    for key, value in (slots or {}).items():
        setattr(tensor, key, value)
    return tensor


def _get_layout(name: Any) -> Any:
    """Return the layout of this name, "torch.strided"."""
    found = getattr(layouts, name.removeprefix("torch."), None) if isinstance(name, str) else None
    if not isinstance(found, layouts.layout):
        raise errors.MissingFeatureError("the file names a layout that is not part of wengert")
    return found


def _refuse(kind: str) -> Any:
    def rebuild(*_: Any, **__: Any) -> Any:
        raise errors.MissingFeatureError(f"the file holds {kind}, which wengert does not have. Hint: save strided tensors.")

    return rebuild


_rebuild_sparse_tensor = _refuse("a sparse tensor")
_rebuild_sparse_csr_tensor = _refuse("a sparse tensor")
_rebuild_qtensor = _refuse("a quantised tensor")
_rebuild_nested_tensor = _refuse("a nested tensor")
_rebuild_meta_tensor_no_storage = _refuse("a tensor on the device meta")
_rebuild_wrapper_subclass = _refuse("a tensor without memory of its own")
_rebuild_device_tensor_from_numpy = _refuse("a tensor of another device")
_rebuild_device_tensor_from_cpu_tensor = _refuse("a tensor of another device")
