"""Questions about a tensor as functions, tensors laid out by given strides, and what memory on one device makes trivial."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert import errors
from wengert.ops.indices import checked
from wengert.ops.inplace import unrecorded_write
from wengert.ops.options import finished, numpy_dtype
from wengert.ops.registry import creation, plain

# -- questions ---------------------------------------------------------------------------------------------------------


@plain()
def is_complex(input):
    """Whether the dtype is a complex one."""
    return checked("is_complex", input).is_complex()


@plain()
def is_floating_point(input):
    """Whether the dtype is a floating one."""
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
    """Whether the only element is not zero. Raises RuntimeError for any other number of elements."""
    return bool(checked("is_nonzero", input))


@plain(method=True)
def is_conj(input):
    """False: conjugates are computed at once here."""
    checked("is_conj", input)
    return False


@plain(method=True)
def is_neg(input):
    """False: negatives are computed at once here."""
    checked("is_neg", input)
    return False


@plain(method=True)
def get_device(input):
    """The number of the tensor's device; -1 for the CPU."""
    index = checked("get_device", input).device.index
    return -1 if index is None else index


@plain(method=True, namespaces=())
def is_pinned(self, device=None):
    """False: main memory is not pinned for transfers."""
    return False


@plain(method=True, namespaces=())
def is_shared(self):
    """Whether other processes see the memory: False."""
    return False


@plain(method=True)
def is_same_size(input, other):
    """Whether two tensors have the same shape."""
    return checked("is_same_size", input).shape == checked("is_same_size", other, "other").shape


@plain(method=True, namespaces=())
def is_set_to(self, tensor):
    """Whether two tensors look into the same memory at the same place, with the same shape and strides."""
    array, other = self._array, checked("is_set_to", tensor, "tensor")._array
    same = array.ctypes.data == other.ctypes.data and array.dtype == other.dtype
    return bool(same and array.shape == other.shape and array.strides == other.strides)


@plain(method=True, namespaces=())
def dim_order(self):
    """The dimensions from that with the largest step in memory to that with the smallest."""
    return tuple(sorted(range(self.ndim), key=lambda d: -self._array.strides[d]))


# -- what is here already ----------------------------------------------------------------------------------------------


@plain()
def detach(input):
    """The same memory with no history: Tensor.detach."""
    return checked("detach", input).detach()


@plain()
def detach_(input):
    """Cuts a tensor from its history: Tensor.detach_. In-place form of detach."""
    return checked("detach_", input).detach_()


@plain(method=True, namespaces=())
def to_dense(self, dtype=None, *, masked_grad=None):
    """The tensor itself, cast where a dtype is given: every tensor here is dense. Derivative: the cotangent."""
    return self if dtype is None else self.to(dtype)


@plain(method=True, namespaces=())
def pin_memory(self, device=None):
    """The tensor itself: main memory needs no pinning here. Derivative: the cotangent."""
    return self


@plain(method=True, namespaces=())
def share_memory_(self):
    """The tensor itself. Processes that are forked have a copy of its memory, so writes do not reach others."""
    return self


@plain(method=True, namespaces=())
def map2_(self, x, y, callable):
    """Replaces every element a by callable(a, b, c), with those of x and y in that place, and returns the tensor.

    x, y: of shapes that broadcast to this one's. Raises RuntimeError where one requires grad."""
    for tensor in (self, x, y):
        if tensor.requires_grad:
            raise errors.GraphError(
                "Can't call map2_() on Variable that requires grad. Use var.detach().map2_() instead."
            )
    arrays = [np.broadcast_to(t._array, self._array.shape).flat for t in (self, x, y)]
    values = [callable(*[e.item() for e in elements]) for elements in zip(*arrays, strict=True)]
    with unrecorded_write(self):
        self._array[...] = np.array(values, self._array.dtype).reshape(self._array.shape)
    return self


# -- tensors with given steps in memory --------------------------------------------------------------------------------


def _strided(op: str, size: Any, stride: Any, dtype: Any, options: dict[str, Any]) -> Any:
    size, stride = tuple(size), tuple(stride)
    if len(size) != len(stride):
        raise errors.ShapeError(f"dimensionality of sizes ({len(size)}) must match dimensionality of strides ({len(stride)})")
    if min(stride, default=0) < 0 or min(size, default=0) < 0:
        raise errors.ShapeError(f"Storage size calculation overflowed with sizes={list(size)} and strides={list(stride)}")
    count = 0 if 0 in size else 1 + sum([(n - 1) * step for n, step in zip(size, stride, strict=True)])
    memory = np.empty(count, dtype)
    array = np.ndarray(size, dtype, memory, 0, [step * memory.itemsize for step in stride])
    return finished(op, array, options)


@creation()
def empty_strided(size, stride, *, dtype=None, **options):
    """A tensor of a size and of steps in memory, in elements, with whatever values the memory holds."""
    return _strided("empty_strided", size, stride, numpy_dtype(dtype), options)


@creation()
def empty_permuted(size, physical_layout, *, dtype=None, **options):
    """A tensor of a size without gaps in memory whose dimensions lie there in the order given, the outermost first."""
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
    """empty_strided in this tensor's dtype unless another is asked for."""
    kind = self._array.dtype if dtype is None else numpy_dtype(dtype)
    return _strided("new_empty_strided", size, stride, kind, options)
