"""Queries about a tensor, tensors with given strides, and functions that are trivial for dense tensors on the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert import errors
from wengert._forks import import_late
from wengert.backends.selection import PINNED, backend_of, cuda_is_available, is_pinned as array_is_pinned
from wengert.core.mirrors import CONJUGATE, NEGATIVE, relation_of
from wengert.ops.indices import checked
from wengert.ops.inplace import unrecorded_write
from wengert.ops.options import numpy_dtype, tensor_from
from wengert.ops.registry import OPS, creation, plain

# -- queries -----------------------------------------------------------------------------------------------------------


@plain()
def is_complex(input):
    """Whether the dtype is complex."""
    return checked("is_complex", input).is_complex()


@plain()
def is_floating_point(input):
    """Whether the dtype is floating."""
    return checked("is_floating_point", input).is_floating_point()


@plain()
def is_signed(input):
    """Whether the dtype has negative numbers."""
    return checked("is_signed", input).is_signed()


@plain()
def is_inference(input):
    """Whether the tensor was made in inference mode."""
    return checked("is_inference", input).is_inference()


@plain(method=True)
def is_nonzero(input):
    """Whether the single element is not zero. Raises RuntimeError unless the tensor has one element."""
    return bool(checked("is_nonzero", input))


@plain(method=True)
def is_conj(input):
    """Whether the tensor is a conjugate view, as x.conj() and x.mH are of a complex x."""
    return bool(relation_of(checked("is_conj", input)) & CONJUGATE)


@plain(method=True)
def is_neg(input):
    """Whether the tensor is a negated view, as x.conj().imag is."""
    return bool(relation_of(checked("is_neg", input)) & NEGATIVE)


@plain(method=True)
def get_device(input):
    """Return the index of the tensor's device: -1 for the CPU."""
    index = checked("get_device", input).device.index
    return -1 if index is None else index


@plain(method=True, namespaces=())
def is_pinned(self, device=None):
    """Whether the memory is pinned: main memory that GPUs can copy from while the program goes on. See pin_memory."""
    return array_is_pinned(self._array)


@plain(method=True)
def is_same_size(input, other):
    """Whether two tensors have the same shape."""
    return checked("is_same_size", input).shape == checked("is_same_size", other, "other").shape


@plain(method=True, namespaces=())
def dim_order(self):
    """Return the dimensions ordered by stride, the largest stride first."""
    return tuple(sorted(range(self.ndim), key=lambda d: -self._array.strides[d]))


# -- functions that return the tensor or its memory --------------------------------------------------------------------


@plain()
def detach(input):
    """Return a tensor on the same memory without history: Tensor.detach."""
    return checked("detach", input).detach()


@plain()
def detach_(input):
    """Remove the history of a tensor: Tensor.detach_. In-place form of detach."""
    return checked("detach_", input).detach_()


@plain(method=True, namespaces=())
def to_dense(self, dtype=None, *, masked_grad=None):
    """Return the tensor, cast to dtype unless it is None. All tensors are dense. Derivative: the cotangent."""
    return self if dtype is None else self.to(dtype)


@plain(method=True, namespaces=())
def pin_memory(self, device=None):
    """Return a copy in pinned memory, from which GPUs can copy while the program goes on. Derivative: the cotangent.

    Return the tensor itself if its memory is pinned, and if there is no GPU. Raises RuntimeError for a tensor on a GPU."""
    if not isinstance(self._array, np.ndarray):
        raise errors.DeviceError(f"cannot pin '{self.type()}' only dense CPU tensors can be pinned")
    if array_is_pinned(self._array) or not cuda_is_available():
        return self
    return OPS["_to_device"].function(self, place=PINNED, source="cpu")


@plain(method=True, namespaces=())
def record_stream(self, s):
    """Keep the memory of a tensor on a GPU until the work that a stream has now is done, also if the tensor is freed before.

    s: a wengert.cuda.Stream that uses the tensor, another one than the stream that made it. Does nothing in main memory.
    Raises RuntimeError if s is no stream."""
    if not hasattr(s, "_stream"):
        raise errors.DeviceError(f"unknown parameter type: record_stream takes a wengert.cuda.Stream, got {type(s).__name__}")
    if not isinstance(self._array, np.ndarray):
        import_late("wengert.core.streams").hold(self._array, s._stream)


@plain(method=True, namespaces=())
def map2_(self, x, y, callable):
    """Replace each element a by callable(a, b, c), with the corresponding elements b of x and c of y; return the tensor.

    x, y: broadcast to the tensor's shape. Raises RuntimeError if one of the three requires grad."""
    xp = backend_of(self)
    for tensor in (self, x, y):
        if tensor.requires_grad:
            raise errors.GraphError(
                "Can't call map2_() on Variable that requires grad. Use var.detach().map2_() instead."
            )
    arrays = [xp.broadcast_to(t._array, self._array.shape).flat for t in (self, x, y)]
    values = [callable(*[e.item() for e in elements]) for elements in zip(*arrays, strict=True)]
    with unrecorded_write(self):
        self._array[...] = xp.array(values, self._array.dtype).reshape(self._array.shape)
    return self


# -- tensors with given strides ----------------------------------------------------------------------------------------


def _strided(op: str, size: Any, stride: Any, dtype: Any, options: dict[str, Any]) -> Any:
    size, stride = tuple(size), tuple(stride)
    if len(size) != len(stride):
        raise errors.ShapeError(f"dimensionality of sizes ({len(size)}) must match dimensionality of strides ({len(stride)})")
    if min(stride, default=0) < 0 or min(size, default=0) < 0:
        raise errors.ShapeError(f"Storage size calculation overflowed with sizes={list(size)} and strides={list(stride)}")
    count = 0 if 0 in size else 1 + sum([(n - 1) * step for n, step in zip(size, stride, strict=True)])
    memory = np.empty(count, dtype)
    array = np.ndarray(size, dtype, memory, 0, [step * memory.itemsize for step in stride])
    return tensor_from(op, array, options)


@creation()
def empty_strided(size, stride, *, dtype=None, **options):
    """Return an uninitialised tensor of the given size and strides. stride: one per dimension, in elements.

    Raises RuntimeError for negative numbers, and if size and stride differ in length."""
    return _strided("empty_strided", size, stride, numpy_dtype(dtype), options)


@creation()
def empty_permuted(size, physical_layout, *, dtype=None, **options):
    """Return an uninitialised tensor without gaps in memory, whose dimensions are laid out in the given order.

    physical_layout: a permutation of the dimensions, that of the largest stride first. Raises RuntimeError otherwise."""
    if len(physical_layout) != len(size):
        raise errors.ShapeError(
            f"Number of dimensions in size does not match the length of the physical_layout; i.e. len(size) = {len(size)} "
            f"is not equal to len(physical_layout) = {len(physical_layout)}"
        )
    for i, d in enumerate(physical_layout):
        if not 0 <= d < len(size):
            raise errors.ShapeError(
                f"Dimension out of range (expected to be between 0 and {len(size) - 1}, but got {d} at index {i}). Hint: "
                "count dimensions from the front here."
            )
    if len(set(physical_layout)) != len(size):
        raise errors.ShapeError("Duplicate dim not allowed")
    step, stride = 1, [0] * len(size)
    for d in reversed(physical_layout):
        stride[d] = step
        step *= max(size[d], 1)
    return _strided("empty_permuted", size, stride, numpy_dtype(dtype), options)


@creation(method=True, namespaces=())
def new_empty_strided(self, size, stride, *, dtype=None, **options):
    """empty_strided with the dtype of this tensor unless dtype is given."""
    kind = self._array.dtype if dtype is None else numpy_dtype(dtype)
    return _strided("new_empty_strided", size, stride, kind, options)
