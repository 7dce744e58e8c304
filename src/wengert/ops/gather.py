"""Indexed reads with names: index_select, gather, take, take_along_dim, nonzero.

The public functions have torch's argument order (input, dim, index). The private operations take their tensors first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert import errors
from wengert.backends.selection import backend_of, face_of
from wengert.core.dispatch import call
from wengert.core.tensor import wrap
from wengert.kernels import places
from wengert.ops.dims import normalize_dim
from wengert.ops.indices import FULL, Along, are_inside, are_surely_inside, as_tensor, checked, index_array, is_index, mesh_of, raw
from wengert.ops.registry import NONE, composite, linear, nondifferentiable, plain


@linear(promote=NONE, node="IndexSelectBackward0", method=False, namespaces=(), moves=True)
def _index_select(xp, x, index, *, dim):
    """Slices of x along dim >= 0 that a vector of ints names.

    Derivative: each slice gets the sum of the cotangents of its copies."""
    if not x.ndim or not x.size:  # NumPy does not look at an index if it reads nothing
        if not are_inside(index, 0, x.shape[dim] if x.ndim else 1):
            raise errors.TensorIndexError("index out of range in self")
        return x.copy() if not x.ndim else xp.empty((*x.shape[:dim], index.size, *x.shape[dim + 1 :]), x.dtype)
    result = places.take_along(x, index.reshape(-1), dim, False)
    if result is not None:
        return result
    try:
        result = x.take(index.reshape(-1), axis=dim)
    except IndexError:
        raise errors.TensorIndexError("index out of range in self") from None
    if not are_inside(index, 0, x.shape[dim]):  # NumPy has raised for those that are too large
        raise errors.TensorIndexError("index out of range in self")
    return result


@_index_select.vjp("x")
def _(F, ct, x_shape, index, dim):
    if not x_shape:
        return ct
    return F.read_cotangent(ct, shape=x_shape, index=(*((FULL,) * dim), raw(index).reshape(-1)), repeats=True)


def _index_select_array(x: Any, dim: int, index: Any) -> Any:
    return face_of(backend_of(x))._index_select(x, index, dim=dim)


@plain(method=True, array=_index_select_array, out=True)
def index_select(input, dim, index):
    """Slices of input along dim that index names. index: a vector of int64 or int32, >= 0; may repeat.

    Raises IndexError for an index out of range. Derivative: each slice gets the sum of the cotangents of its copies.

    >>> import wengert
    >>> wengert.tensor([[1, 2], [3, 4]]).index_select(1, wengert.tensor([1]))
    tensor([[2],
            [4]])
    """
    index, ndim = as_tensor(index), checked("index_select", raw(input)).ndim
    array, dim = raw(index), normalize_dim(dim, ndim)
    if array.ndim > 1:
        raise errors.TensorIndexError("index_select(): Index is supposed to be a vector")
    if not is_index(array):
        raise errors.UnsupportedDtypeError("index_select(): Expected dtype int32 or int64 for index")
    if not ndim and array.size != 1:
        raise errors.ShapeError(f"index_select(): Index to scalar can have only 1 value, got {array.size} value(s)")
    return call(_index_select, (input, index), {"dim": dim})


@linear(promote=NONE, node="GatherBackward0", method=False, namespaces=(), moves=True)
def _gather(xp, x, index, *, dim):
    """x at index along dim >= 0; the other dimensions keep their positions.

    Derivative: each element gets the sum of the cotangents of its copies."""
    if not index.size:
        return xp.empty(index.shape, x.dtype)  # an empty index may have any shape
    found = places.take_along(x, index, dim, False) if index.ndim == x.ndim else None
    if found is not None:
        return found
    return xp.atleast_1d(x)[mesh_of(index, x.shape, dim)].reshape(index.shape)


@_gather.vjp("x")
def _(F, ct, x_shape, index, dim):
    if not x_shape:
        return F.sum(ct)
    if not raw(index).size:
        return F.expand(F.sum(ct), shape=x_shape)
    return F.read_cotangent(ct, shape=x_shape, index=Along(raw(index), dim), repeats=True)


def _gather_array(x: Any, dim: int, index: Any) -> Any:
    return face_of(backend_of(x))._gather(x, index, dim=normalize_dim(dim, x.ndim))


@plain(method=True, array=_gather_array, out=True)
def gather(input, dim, index, *, sparse_grad=False):
    """result[i][j] = input[index[i][j]][j] for dim 0, input[i][index[i][j]] for dim 1, and so on.

    index: int64 or int32, with input's number of dimensions, no larger than input except along dim. The result has index's
    shape. Raises RuntimeError for an index out of range. sparse_grad is accepted, but gradients are dense.

    Derivative: each element gets the sum of the cotangents of its copies.

    >>> import wengert
    >>> wengert.tensor([[1, 2], [3, 4]]).gather(1, wengert.tensor([[1], [0]]))
    tensor([[2],
            [3]])
    """
    index = as_tensor(index)
    index_array(index, "gather")
    return call(_gather, (input, index), {"dim": normalize_dim(dim, checked("gather", raw(input)).ndim)})


@composite(method=True)
def take_along_dim(F, input, indices, dim=None):
    """gather() with input and indices broadcast against each other in all dimensions but dim.

    If dim is None, both are flattened. If dim is given, negative indices count from the end. Raises RuntimeError for
    different numbers of dimensions and for an index out of range.

    Derivative: each element gets the sum of the cotangents of its copies."""
    xp = backend_of(input)
    indices = as_tensor(indices)
    if dim is None:
        return F.gather(F.flatten(input), 0, F.flatten(indices))
    if not input.ndim:
        raise errors.TensorIndexError("Dimension specified as 0 but tensor has no dimensions")
    if input.ndim != indices.ndim:
        raise errors.ShapeError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, but got "
            f"{input.ndim} dimensions for input, and {indices.ndim} dimensions for indices"
        )
    dim = normalize_dim(dim, input.ndim)
    array = raw(indices)
    if is_index(array) and not are_surely_inside(array, 0, np.iinfo(np.int64).max):
        size = input.shape[dim] if input.ndim else 1
        indices = wrap(xp.where(array < 0, array + size, array))
    index_shape = list(indices.shape)
    input_shape = list(input.shape)
    for d in range(input.ndim):
        if d != dim:
            sizes = input_shape[d], index_shape[d]
            input_shape[d] = index_shape[d] = 0 if 0 in sizes else max(sizes)
    return F.gather(F.expand(input, shape=tuple(input_shape)), dim, F.expand(indices, shape=tuple(index_shape)))


@linear(promote=NONE, method=False, namespaces=(), node="TakeBackward0", moves=True)
def _take(xp, x, index):
    """Elements of the flattened x at index. Derivative: each element gets the sum of the cotangents of its copies."""
    try:
        return xp.asarray(x.take(index))
    except IndexError:
        wrong = index[(index >= x.size) | (index < -x.size)]
        if not x.size:
            raise errors.TensorIndexError("take(): tried to take from an empty tensor") from None
        raise errors.TensorIndexError(
            f"out of range: tried to access index {int(wrong[0])} on a tensor of {x.size} elements."
        ) from None


@_take.vjp("x")
def _(F, ct, x_shape, index):
    xp = backend_of(ct)
    if not x_shape:
        return F.sum(ct)
    size = int(np.prod(x_shape))
    return F.read_cotangent(ct, shape=x_shape, index=xp.unravel_index(raw(index) % size, x_shape), repeats=True)


@composite(method=True)
def take(F, input, index):
    """Elements of the flattened input at index. The result has index's shape.

    index: int64, of any shape; negative indices count from the end. Raises IndexError for an index out of range.

    Derivative: each element gets the sum of the cotangents of its copies.

    >>> import wengert
    >>> wengert.tensor([[1, 2], [3, 4]]).take(wengert.tensor([0, -1]))
    tensor([1, 4])
    """
    index = as_tensor(index)
    if raw(index).dtype != np.int64:
        raise errors.UnsupportedDtypeError(f"take(): Expected a long tensor for index, but got {raw(index).dtype}")
    return F._take(input, index)


@nondifferentiable(promote=NONE, method=False, namespaces=())
def _nonzero(xp, x):
    """Indices of the nonzero elements: one row for each element."""
    return xp.argwhere(x)


@plain(method=True, out=True)
def nonzero(input, *, as_tuple=False):
    """Indices of the nonzero elements, as int64: (k, ndim), or if as_tuple a tuple of ndim vectors (k).

    >>> import wengert
    >>> wengert.tensor([[0, 1], [2, 0]]).nonzero()
    tensor([[0, 1],
            [1, 0]])
    """
    xp = backend_of(input)
    array = xp.atleast_1d(raw(checked("nonzero", input)))
    return tuple([wrap(places) for places in array.nonzero()]) if as_tuple else call(_nonzero, (input,), None)


@plain(method=True)
def argwhere(input):
    """Indices of the nonzero elements, as int64: (k, ndim), as `nonzero` gives them."""
    checked("argwhere", input)
    return call(_nonzero, (input,), None)
