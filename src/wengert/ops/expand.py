"""Explicit broadcasting, expand and the like, and its adjoint, sum_to_size."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert import errors
from wengert.core.dispatch import call
from wengert.core.op import EXPANDED
from wengert.ops.faces import array_face
from wengert.ops.indices import checked, raw
from wengert.ops.options import as_size_tuple
from wengert.ops.registry import INT_TO_INT64, NONE, composite, linear, plain, view


@view(promote=NONE, varargs="shape", namespaces=(), aliases={"size": "shape", "sizes": "shape"}, layout=EXPANDED)
def expand(xp, x, *, shape):
    """Broadcast x to a shape, x.expand(4, 3): a view in which the broadcast dimensions have stride 0.

    shape: -1 keeps a size; new dimensions come first. Raises RuntimeError if x does not broadcast to it.

    Derivative: the cotangent summed over the broadcast and the new dimensions.

    >>> import wengert
    >>> wengert.tensor([[1], [2]]).expand(2, 3)
    tensor([[1, 1, 1],
            [2, 2, 2]])
    """
    if isinstance(x, np.ndarray):
        # ndarray() costs a tenth of as_strided(), but needs contiguous memory of a dtype that supports the buffer protocol.
        try:
            if not x.ndim and (not shape or min(shape) >= 0):
                return np.ndarray(shape, x.dtype, x, 0, (0,) * len(shape))
            sizes, strides = _sizes_and_strides(x, shape)
            if x.flags.c_contiguous:
                return np.ndarray(sizes, x.dtype, x, 0, strides)
        except (ValueError, BufferError):
            pass
    sizes, strides = _sizes_and_strides(x, shape)
    return xp.lib.stride_tricks.as_strided(x, sizes, strides)  # writable, unlike the result of broadcast_to()


def _sizes_and_strides(x: Any, shape: tuple) -> tuple[tuple, tuple]:
    """Return the sizes of x.expand(shape) and its strides in bytes. Raises RuntimeError if x does not broadcast to shape."""
    added = len(shape) - x.ndim
    if added < 0:
        raise errors.expand_mismatch(x.shape, shape)
    if shape[added:] == x.shape and min(shape, default=0) >= 0:
        return shape, (0,) * added + x.strides
    sizes, strides = list(shape), [0] * len(shape)
    for dim, wanted in enumerate(shape):
        size = x.shape[dim - added] if dim >= added else None
        if size is None and wanted >= 0:
            continue
        if size is not None and (wanted == size or wanted == -1):
            sizes[dim] = size
            strides[dim] = x.strides[dim - added]
        elif size != 1 or wanted < 0:
            raise errors.expand_mismatch(x.shape, shape)
    return tuple(sizes), tuple(strides)


@expand.vjp("x")
def _(F, ct):
    return ct  # the engine sums it to x's shape


@composite(method=True, namespaces=())
def expand_as(F, input, other):
    """x.expand(other.shape). Derivative: the cotangent summed over the broadcast dimensions."""
    return F.expand(input, shape=tuple(other.shape))


@composite(method=True)
def broadcast_to(F, input, size):
    """x.expand(size). Derivative: the cotangent summed over the broadcast dimensions."""
    return F.expand(input, shape=tuple(size))


@composite()
def broadcast_tensors(F, *tensors):
    """Expand tensors to the shape to which they broadcast. Returns a tuple of views.

    A tensor that has the shape already is returned itself. Raises RuntimeError if the tensors do not broadcast.

    Derivative: the cotangents summed over the broadcast dimensions.

    >>> import wengert
    >>> [t.shape for t in wengert.broadcast_tensors(wengert.zeros(3, 1), wengert.zeros(4))]
    [torch.Size([3, 4]), torch.Size([3, 4])]
    """
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        tensors = tuple(tensors[0])
    shape = shape_of_broadcast(*[tuple(tensor.shape) for tensor in tensors])
    return tuple([tensor if tensor.shape == shape else F.expand(tensor, shape=shape) for tensor in tensors])


@plain()
def broadcast_shapes(*shapes):
    """Shape to which tensors of the given shapes broadcast. Raises RuntimeError if they do not broadcast.

    >>> import wengert
    >>> wengert.broadcast_shapes((3, 1), (4,))
    torch.Size([3, 4])
    """
    from wengert.sizes import Size

    sizes = [(shape,) if isinstance(shape, int) else tuple(shape) for shape in shapes]
    if any(size < 0 for shape in sizes for size in shape):
        raise errors.ElementError("Attempting to broadcast a dimension with negative length!")
    return Size(shape_of_broadcast(*sizes))


def shape_of_broadcast(*shapes: tuple) -> tuple:
    """Shape to which the shapes broadcast, as a tuple. Raises RuntimeError if they do not broadcast."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        raise errors.broadcast_shapes(*shapes) from None


@linear(
    promote=INT_TO_INT64, array=array_face.sum_to_size, method=False, namespaces=(), moves=True,
    node=lambda inputs, params: _sum_node(inputs[0].ndim, params["shape"]),
)  # fmt: skip
def _sum_to_size(xp, x, *, shape):
    """Sum x to a shape that broadcasts to x's shape. Derivative: the cotangent expanded to x's shape."""
    return xp.sum_to_size(x, shape)


def _sum_node(ndim: int, shape: tuple) -> str:
    return "SumBackward0" if not shape else "SumBackward1" if len(shape) == ndim else "ViewBackward0"


@_sum_to_size.vjp("x")
def _(F, ct, x_shape):
    return F.expand(ct, shape=x_shape)


@plain(method=True, namespaces=(), array=array_face.sum_to_size)
def sum_to_size(input, *sizes, size=None):
    """Sum input to the given size, over the dimensions that broadcasting from this size adds or stretches.

    Returns input itself if it has this size. Raises RuntimeError if the size does not broadcast to input's shape.

    Derivative: the cotangent expanded to input's shape.

    >>> import wengert
    >>> wengert.ones(2, 3).sum_to_size(1, 3)
    tensor([[2., 2., 2.]])
    """
    size, shape = as_size_tuple(sizes, size, "sum_to_size", "size"), checked("sum_to_size", raw(input)).shape
    if size == shape:
        return input
    if len(size) > len(shape) or any(s not in (1, n) for s, n in zip(size[::-1], shape[::-1], strict=False)):
        raise errors.ShapeError(f"size {{{list(size)}}} is not expandable to size {{{list(shape)}}}.")
    return call(_sum_to_size, (input,), {"shape": size})
