"""Index arguments: their dtypes, ranges and shapes, as gather, scatter and their relatives take them."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert import dtypes, errors
from wengert.core.tensor import TensorBase, wrap
from wengert.kernels import places

FULL = slice(None)


def raw(x: Any) -> Any:
    """A tensor's array; anything else as it is."""
    return x._array if isinstance(x, TensorBase) else x


def checked(op: str, x: Any, argument: str = "input") -> Any:
    """x, if it is a tensor or an array. Raises TypeError in the operation's name for anything else."""
    if isinstance(x, (TensorBase, np.ndarray)):
        return x
    raise errors.wrong_argument_type(op, argument, 0, type(x))


def index_array(index: Any, op: str) -> Any:
    """The array of an index tensor. Raises RuntimeError for other dtypes than int64 and int32, unless it is empty."""
    array = raw(index)
    if array.size and not is_index(array):
        raise errors.UnsupportedDtypeError(f"{op}(): Expected dtype int32/int64 for index")
    return array


def is_index(array: Any) -> bool:
    """Whether an array is of int64 or int32."""
    return array.dtype.kind == "i" and array.dtype.itemsize >= 4


def as_tensor(x: Any) -> Any:
    """An index or a source given as an array or a list, as a tensor; None and numbers as they are."""
    if isinstance(x, TensorBase) or x is None or isinstance(x, (int, float, complex, np.generic)):
        return x
    return wrap(np.asarray(x))


def as_storable(value: Any, dtype: Any) -> Any:
    """What is to be written into an array of a dtype: arrays as they are, and numbers, checked, in that dtype."""
    if isinstance(value, np.ndarray):
        return value
    if dtype.kind == "f" and type(value) in (float, int) and -65504 <= value <= 65504:
        return value  # every floating type holds it, and NumPy casts it
    return dtypes.checked_scalar(value, dtype)


def is_mesh(index: Any, ndim: int) -> bool:
    """Whether an index is one array of numbers for each dimension, as mesh_of makes them."""
    return isinstance(index, tuple) and len(index) == ndim and all(isinstance(i, np.ndarray) for i in index)


def mesh_of(index: Any, shape: tuple, dim: int) -> tuple:
    """The index of the elements that gather and scatter mean: index along dim, and each place itself along the others.

    No dimensions count as one of size 1. Raises RuntimeError where index is larger than shape in another dimension, or
    names what is not there."""
    shape, index = shape or (1,), np.atleast_1d(index)
    if index.ndim != len(shape):
        raise errors.ShapeError("Index tensor must have the same number of dimensions as input tensor")
    mesh: list[Any] = []
    for d, (size, limit) in enumerate(zip(index.shape, shape, strict=True)):
        if d == dim:
            mesh.append(index)
            continue
        if size > limit:
            raise errors.ShapeError(
                f"Size does not match at dimension {d} expected index {list(index.shape)} to be no larger than self "
                f"{list(shape)} apart from dimension {dim}"
            )
        mesh.append(np.arange(size).reshape((-1,) + (1,) * (len(shape) - d - 1)))
    check_range(index, shape[dim], dim)
    return tuple(mesh)


class Along:
    """The index of the elements that gather and scatter mean: an array of ints along dim, which is counted from the front."""

    __slots__ = ("dim", "index")

    def __init__(self, index: Any, dim: int) -> None:
        self.index = index
        self.dim = dim

    def mesh(self, shape: tuple) -> tuple:
        """The same for NumPy."""
        return mesh_of(self.index, shape, self.dim)

    def __repr__(self) -> str:
        return f"Along({self.index!r}, {self.dim})"


def are_inside(index: Any, low: int, size: int) -> bool:
    """Whether all of an array of ints are from low on, below size."""
    found = places.are_inside(index, low, size)
    return bool(not index.size or (index.min() >= low and index.max() < size)) if found is None else found


def check_range(index: Any, size: int, dim: int) -> None:
    """Raises RuntimeError where an index is negative or too large."""
    if not are_inside(index, 0, size):
        wrong = index[(index < 0) | (index >= size)]
        raise errors.ShapeError(f"index {int(wrong[0])} is out of bounds for dimension {dim} with size {size}")


def broadcast_shape(x: Any, y: Any) -> tuple:
    """The shape that two operands (tensors or arrays) broadcast to. Raises RuntimeError where they do not."""
    x, y = raw(x), raw(y)
    if x.shape == y.shape:
        return x.shape
    try:
        return np.broadcast(x, y).shape
    except ValueError:
        raise errors.broadcast_shapes(x.shape, y.shape) from None


def zero_dim_value(value: Any, op: str) -> Any:
    """A value to fill with: a number or a 0-d tensor. Raises RuntimeError for more dimensions."""
    value = as_tensor(value)
    ndim = getattr(raw(value), "ndim", 0)
    if ndim:
        raise errors.ShapeError(
            f"{op} only supports a 0-dimensional value tensor, but got tensor with {ndim} dimension(s)."
        )
    return value
