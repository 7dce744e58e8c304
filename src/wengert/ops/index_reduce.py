"""Rare reads and writes by index: index_reduce, as_strided_scatter, fill_diagonal_, nonzero_static."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert import errors
from wengert.backends.selection import backend_of
from wengert.core.tensor import wrap
from wengert.ops.dims import normalize_dim
from wengert.ops.indices import are_inside, index_array, raw
from wengert.ops.registry import composite, nondifferentiable, plain


def _check_arguments(name: str, input: Any, dim: int, index: Any, source: Any, reduce: str) -> None:
    """Raise torch's errors for a reduction, shapes, dtypes and indices that do not fit."""
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise errors.ShapeError(f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}.")
    array, x, values = index_array(index, name), raw(input), raw(source)
    if array.ndim > 1:
        raise errors.DimensionError(
            f"{name}(): Index is supposed to be a vector, but got dim: {len(array.shape)} with type: "
            f"{errors.scalar_name(array.dtype)} and size: {list(array.shape)}"
        )
    if values.dtype != x.dtype:
        raise errors.UnsupportedDtypeError(
            f"{name}(): self ({errors.scalar_name(x.dtype)}) and source ({errors.scalar_name(values.dtype)}) must have the "
            "same scalar type"
        )
    n = values.shape[dim] if values.ndim else 1
    if array.size != n:
        raise errors.ShapeError(
            f"{name}(): Number of indices ({array.size}) should be equal to source.size(dim): ({n}), for dim: {dim}"
        )
    if x.shape[:dim] + x.shape[dim + 1 :] != values.shape[:dim] + values.shape[dim + 1 :]:
        raise errors.ShapeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = "
            f"{list(x.shape)} source.shape = {list(values.shape)}"
        )
    size = x.shape[dim] if x.ndim else 1
    if not are_inside(array, 0, size):
        raise errors.TensorIndexError("index out of range in self")


@composite(method=True, inplace=True)
def index_reduce(F, input, dim, index, source, reduce, *, include_self=True):
    """A copy of input in which slice index[i] along dim is reduced with slice i of source.

    index: a vector of int64 or int32, with one entry for each slice of source. source: of input's dtype, and of input's
    shape except along dim. reduce: "prod", "mean", "amax" or "amin" of all slices with the same index, and of input's slice
    unless include_self=False. Raises RuntimeError and IndexError for arguments that do not fit.

    Derivative: of a mean 1 divided by the number of values; of a product the product of the other values; of an extremum 1,
    shared evenly among ties.

    >>> import wengert
    >>> source = wengert.tensor([[1.0, 5.0], [3.0, 1.0]])
    >>> wengert.zeros(1, 2).index_reduce(0, wengert.tensor([0, 0]), source, "amax")
    tensor([[3., 5.]])
    """
    xp = backend_of(input)
    dim = normalize_dim(dim, input.ndim)
    _check_arguments("index_reduce_", input, dim, index, source, reduce)
    array = xp.ascontiguousarray(raw(index), np.int64)
    shape = tuple(source.shape)
    # All lanes share the index: a view with strides 0. For NumPy, broadcast_to would take ten times as long to make it.
    if isinstance(array, np.ndarray):
        places = np.ndarray(shape, np.int64, array, 0, tuple([array.itemsize * (d == dim) for d in range(len(shape))]))
    else:
        places = xp.broadcast_to(array.reshape([-1 if d == dim else 1 for d in range(len(shape))]), shape)
    return F._scatter_reduce(input, wrap(places), source, dim=dim, reduce=reduce, include_self=include_self)


@composite(method=True)
def as_strided_scatter(F, input, src, size, stride, storage_offset=None):
    """A copy of input in which the elements of as_strided(size, stride, storage_offset) are replaced by src.

    src: of shape size. The copy is contiguous, and stride and storage_offset refer to its memory. Raises RuntimeError for
    another shape of src, and if an element lies outside of the memory.

    Derivative: in input 0 at the replaced elements, 1 elsewhere; in src the cotangent at these elements."""
    xp = backend_of(input)
    if tuple(src.shape) != tuple(size):
        raise errors.ShapeError(
            f"expected src to have a size equal to the slice of self. src size = {list(src.shape)}, slice size = "
            f"{list(size)}"
        )
    places: Any = xp.full((), 0 if storage_offset is None else storage_offset)
    for n, step in zip(size, stride, strict=True):
        places = places[..., None] + xp.arange(n) * step
    places, shape = places.reshape(-1), tuple(input.shape)
    if places.size and not 0 <= places.min() <= places.max() < raw(input).size:
        raise errors.outside_storage(size, stride, storage_offset or 0, raw(input).itemsize, places.max(), raw(input).size)
    flat = F._replace(
        F.reshape(input, shape=(-1,)), F.reshape(src, shape=(-1,)), index=(places,), node="AsStridedScatterBackward0"
    )
    return F.reshape(flat, shape=shape)


@nondifferentiable()
def nonzero_static(xp, x, *, size, fill_value=-1):
    """Indices of the nonzero elements, as in `nonzero`: (size, ndim). Rows beyond size are cut, missing ones get fill_value."""
    found = xp.argwhere(x)[:size]
    return xp.concatenate([found, xp.full((size - len(found), found.shape[1]), fill_value, found.dtype)])


@plain(method=True, namespaces=())
def fill_diagonal_(self, fill_value, wrap=False):
    """Write a number onto the main diagonal of this tensor, and return the tensor.

    self: a matrix, or a tensor of more dimensions with equal sizes, else RuntimeError. wrap: in a tall matrix with n columns,
    the diagonal begins again after every n + 1 rows.

    Derivative: the cotangent, with 0 on the diagonal."""
    shape = tuple(self.shape)
    if len(shape) < 2:
        raise errors.ShapeError("dimensions must larger than 1")
    if len(shape) > 2 and len(set(shape)) > 1:
        raise errors.ShapeError("all dimensions of input must be of equal length")
    region = self
    while region.ndim > 1:
        region = region.diagonal(0, 0, -1)
    region.fill_(fill_value)
    if wrap and len(shape) == 2:
        rows, columns = shape
        for start in range(columns + 1, rows, columns + 1):
            self[start : start + columns].diagonal().fill_(fill_value)
    return self
