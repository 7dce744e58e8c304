"""Arguments of indexed operations such as gather and scatter: their dtypes, ranges and shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert import dtypes, errors
from wengert.backends.selection import backend_of, beside, check_later, device_name, is_array, move, others, together
from wengert.core.tensor import TensorBase, wrap
from wengert.core.watched import of_arrays

FULL = slice(None)


def raw(x: Any) -> Any:
    """Return the array of a tensor. Other objects are returned unchanged."""
    return x._array if isinstance(x, TensorBase) else x


def sortable(x: Any) -> Any:
    """Return an array; one of bfloat16 in float32, because CuPy neither sorts bfloat16 nor searches or counts in it."""
    return x.astype(np.float32) if x.dtype.kind == "V" else x


def checked(op: str, x: Any, argument: str = "input") -> Any:
    """Return x if it is a tensor or an array. Raises TypeError with the operation's name for other types."""
    if (isinstance(x, TensorBase) or is_array(x)):
        return x
    raise errors.wrong_argument_type(op, argument, 0, type(x))


def index_array(index: Any, op: str) -> Any:
    """Return the array of an index tensor. Raises RuntimeError unless it is int64, int32 or empty."""
    array = raw(index)
    if array.size and not is_index(array):
        raise errors.UnsupportedDtypeError(f"{op}(): Expected dtype int32/int64 for index")
    return array


def is_index(array: Any) -> bool:
    """Whether an array is int64 or int32."""
    return array.dtype.kind == "i" and array.dtype.itemsize >= 4


def own_array(x: Any) -> np.ndarray:
    """Return an array of x that nobody else holds. It shares the memory of x if x is an array.

    Note [Own arrays]
    A NumPy array can change its shape, strides and dtype in place. So tensors and saved values never hold an array object that
    the user holds too. They hold a view, which shares the memory and has a shape of its own. NumPy refuses to resize an array that
    has views, unless refcheck=False: then the memory is gone for tensors as it is for NumPy's own views.
    """
    return (x if is_array(x) else np.asarray(x)).view()


def as_tensor(x: Any) -> Any:
    """Convert an array or a list to a tensor. Tensors, None and numbers are returned unchanged."""
    if isinstance(x, TensorBase) or x is None or isinstance(x, (int, float, complex, np.generic)):
        return x
    array = own_array(x)
    dtypes.from_numpy_dtype(array.dtype)  # raises for a dtype that no tensor has
    return wrap(array)


def as_storable(value: Any, x: Any) -> Any:
    """Return value in a form that can be written into the array x.

    Arrays of x's device are returned unchanged, and numbers that NumPy casts safely. Other numbers are converted; RuntimeError
    if x's dtype cannot hold the number."""
    dtype = x.dtype
    if is_array(value):
        return together((x, value))[1]
    if dtype.kind == "f" and type(value) in (float, int) and -65504 <= value <= 65504:
        return value  # every floating dtype holds the number, and NumPy casts it
    return beside(dtypes.checked_scalar(value, dtype), x)


def indices_beside(x: Any, arrays: Any) -> Any:
    """Return tensors of an index on the device of x, which they may name elements of from main memory."""
    if not others:
        return arrays
    here = device_name(x._array)
    for array in arrays:
        if device_name(array._array) not in ("cpu", here):
            raise errors.DeviceError(f"indices should be either on cpu or on the same device as the indexed tensor ({here})")
    return [wrap(move(a._array, here)) for a in arrays]


def private_index(index: Any) -> Any:
    """Return a NumPy index with copies of its arrays.

    NumPy checks the arrays of an index, lets go of Python's lock and then reads them again. Meanwhile another thread may
    write into the memory of a tensor, but not into the copies."""
    if isinstance(index, tuple):
        return tuple([item.copy() if is_array(item) else item for item in index])
    return index.copy() if is_array(index) else index


@of_arrays
def true_places(mask: Any, shape: tuple[int, ...]) -> Any:
    """Return the indices of the true elements of a mask that is broadcast to a shape, one array a dimension."""
    xp = backend_of(mask)
    return xp.nonzero(xp.broadcast_to(mask, shape))


@of_arrays
def range_from(xp: Any, first: int, n: int) -> Any:
    """Return n numbers, from the first on."""
    return xp.arange(first, first + n)


@of_arrays
def window_places(xp: Any, count: int, step: int, size: int) -> Any:
    """Return the indices of the elements under `count` windows of a size, each `step` elements behind the one before, one a row."""
    return xp.arange(count)[:, None] * step + xp.arange(size)


def mask_of_indices(x_shape: tuple[int, ...], indices: Sequence[Any], dims: tuple[int, ...]) -> Any:
    """Return a bool array of shape x_shape, True at the indices."""
    named = backend_of(indices[0]).zeros(x_shape, np.bool_)
    named[private_index(index_of(indices, dims))] = True
    return named


def is_mesh(index: Any, ndim: int) -> bool:
    """Whether an index is a tuple with one array for each dimension, as mesh_of returns it."""
    return isinstance(index, tuple) and len(index) == ndim and all(is_array(i) for i in index)


def mesh_of(index: Any, shape: tuple, dim: int) -> tuple:
    """Return the NumPy index of gather and scatter: index along dim, and 0, 1, 2, ... along the other dimensions.

    A 0-d shape counts as (1,). index is copied: see private_index. Raises RuntimeError if index is larger than shape in
    another dimension, or out of range, unless it is empty."""
    xp = backend_of(index)
    shape, index = shape or (1,), xp.array(index, ndmin=1)
    if index.ndim != len(shape):
        raise errors.ShapeError("Index tensor must have the same number of dimensions as input tensor")
    if not index.size:
        return (index,) * index.ndim
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
        mesh.append(xp.arange(size).reshape((-1,) + (1,) * (len(shape) - d - 1)))
    check_range(index, shape[dim], dim)
    return tuple(mesh)


def without_elements(ndim: int, src: Any) -> tuple[Any, Any]:
    """Return an empty index and a src of `ndim` dimensions for scatter with an empty index. torch looks at no shape then."""
    empty = (0,) * (ndim or 1)
    tensor: Any = src if isinstance(src, TensorBase) else None
    if tensor is not None and tensor.ndim != len(empty):
        src = tensor.reshape(-1)[:0].reshape(empty)
    return wrap(backend_of(src).zeros(empty, np.int64)), src


class Along:
    """The index of gather and scatter: an array of ints along dim >= 0. The other dimensions keep their positions."""

    __slots__ = ("dim", "index")

    def __init__(self, index: Any, dim: int) -> None:
        self.index = index
        self.dim = dim

    def mesh(self, shape: tuple) -> tuple:
        """Return the index as NumPy takes it, for an array of this shape."""
        return mesh_of(self.index, shape, self.dim)

    def __repr__(self) -> str:
        return f"Along({self.index!r}, {self.dim})"


def are_inside(index: Any, low: int, size: int) -> bool:
    """Whether low <= i < size for all elements i of an array of ints. On a device True: see Note [Late checks]."""
    if type(index) in others:
        if index.size:
            check_later(((index < low) | (index >= size)).any(), "index out of range in self")
        return True
    if not index.size:
        return True
    unsigned = _UNSIGNED.get(index.dtype) if low == 0 else None
    if unsigned is not None:  # numbers below 0 are large as unsigned ones: one pass over the index
        return bool(index.view(unsigned).max() < size)
    return bool(index.min() >= low and index.max() < size)


_UNSIGNED = {np.dtype("int64"): np.dtype("uint64"), np.dtype("int32"): np.dtype("uint32")}


def counted_from_start(index: Any, size: int) -> Any:
    """Return an index array with negative indices replaced. Raises IndexError for an index out of range.

    SciPy's products with sparse matrices check nothing, and an index out of range would name an element of another row."""
    if are_inside(index, 0, size):
        return index
    xp = backend_of(index)
    found = xp.where(index < 0, index + size, index)
    if not are_inside(found, 0, size):
        raise errors.TensorIndexError("index out of range in self")
    return found


def flat_places(items: Sequence[Any], shape: tuple[int, ...]) -> Any:
    """Return one index into the flattened array for an index array of each dimension. Raises IndexError for one out of range."""
    flat: Any = None
    for item, size in zip(items, shape, strict=True):
        item = counted_from_start(item, size)
        if flat is None:
            flat = item.astype(np.int64, copy=False)
        else:
            flat = flat * size
            if item.shape == flat.shape:
                flat += item
            else:
                flat = flat + item
    return flat


def are_large_and_alike(indices: Sequence[Any]) -> bool:
    """Whether index arrays are large arrays of ints of one shape."""
    first = indices[0]
    return first.size > 64 and all([i.dtype.kind == "i" and i.shape == first.shape for i in indices])  # noqa: C419


def index_of(arrays: Sequence[Any], dims: tuple[int, ...]) -> tuple[Any, ...]:
    """Return the NumPy index with each array or tensor at its dimension, and full slices between them."""
    index: list[Any] = []
    for array, dim in zip(arrays, dims, strict=True):
        index.extend([FULL] * (dim - len(index)))
        index.append(raw(array))
    return tuple(index)


def are_surely_inside(index: Any, low: int, size: int) -> bool:
    """Whether low <= i < size for all elements i of an array of ints, as far as is known without waiting for a device."""
    return type(index) not in others and are_inside(index, low, size)


def check_range(index: Any, size: int, dim: int) -> None:
    """Raise RuntimeError unless 0 <= i < size for all elements i of index. dim: for the message."""
    if not are_inside(index, 0, size):
        wrong = index[(index < 0) | (index >= size)]
        raise errors.ShapeError(f"index {int(wrong[0])} is out of bounds for dimension {dim} with size {size}")


def broadcast_shape(x: Any, y: Any) -> tuple:
    """Shape to which two tensors or arrays broadcast. Raises RuntimeError if they do not broadcast."""
    x, y = raw(x), raw(y)
    if x.shape == y.shape:
        return x.shape
    try:
        return np.broadcast_shapes(x.shape, y.shape)
    except ValueError:
        raise errors.broadcast_shapes(x.shape, y.shape) from None


def zero_dim_value(value: Any, op: str) -> Any:
    """Return a fill value as a number or a 0-d tensor. Raises RuntimeError for a tensor with dimensions."""
    value = as_tensor(value)
    ndim = getattr(raw(value), "ndim", 0)
    if ndim:
        raise errors.ShapeError(
            f"{op} only supports a 0-dimensional value tensor, but got tensor with {ndim} dimension(s)."
        )
    return value
