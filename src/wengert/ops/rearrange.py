"""Rearranged copies: flip, roll, rotate, repeat, matrices from diagonals and blocks, triangles, choices of elements."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from wengert import errors
from wengert.backends.selection import backend_of, beside, together
from wengert.core.tensor import TensorBase, wrap
from wengert.core.watched import of_arrays
from wengert.kernels import memory
from wengert.ops.dims import as_dims, normalize_dim, unrepeated_dims
from wengert.ops.indices import raw
from wengert.ops.registry import NONE, SAME, composite, linear

# -- flip, roll, rotate ------------------------------------------------------------------------------------------------


@linear(promote=NONE, varargs="dims", moves=True)
def flip(xp, x, *, dims):
    """Copy of x with the order of elements reversed along dims, x.flip(0, 1). Derivative: the cotangent, flipped back.

    dims: ints or a tuple. Raises RuntimeError if a dimension is repeated.

    >>> import wengert
    >>> wengert.arange(3).flip(0)
    tensor([2, 1, 0])
    """
    dims = unrepeated_dims(dims if isinstance(dims, (tuple, list)) else (dims,), x.ndim)
    return memory.contiguous_copy(xp.flip(x, dims if x.ndim else ()))


@flip.vjp("x")
def _(F, ct, dims):
    return F.flip(ct, dims=dims)


@composite(method=True)
def fliplr(F, input):
    """Reverse the columns: x.flip(1). Raises RuntimeError for less than two dimensions.

    Derivative: the cotangent, flipped back."""
    if input.ndim < 2:
        raise errors.ShapeError("Input must be >= 2-d.")
    return F.flip(input, dims=(1,))


@composite(method=True)
def flipud(F, input):
    """Reverse the rows: x.flip(0). Raises RuntimeError for a 0-d tensor. Derivative: the cotangent, flipped back."""
    if input.ndim < 1:
        raise errors.ShapeError("Input must be >= 1-d.")
    return F.flip(input, dims=(0,))


@linear(promote=NONE, moves=True)
def roll(xp, x, *, shifts, dims=None):
    """Copy of x with its elements shifted along dims; elements shifted beyond the end re-enter at the start.

    shifts, dims: ints, or tuples of equal length. If dims is None, the flattened x is rolled. Raises RuntimeError if the
    lengths differ. Derivative: the cotangent, rolled back.

    >>> import wengert
    >>> wengert.arange(4).roll(1)
    tensor([3, 0, 1, 2])
    """
    shifts = tuple(shifts) if isinstance(shifts, (tuple, list)) else (shifts,)
    if not shifts:
        raise errors.ShapeError("`shifts` required")
    if dims is None or (isinstance(dims, (tuple, list)) and not dims):
        if len(shifts) != 1:
            raise errors.ShapeError(f"shifts and dimensions must align. shifts: {len(shifts)}, dims:0")
        return _roll_one_dim(x.reshape(-1), shifts[0], 0).reshape(x.shape)
    dims = as_dims(dims)
    if len(dims) != len(shifts):
        raise errors.ShapeError(f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}")
    if not x.ndim:
        raise errors.DimensionError(f"Dimension specified as {dims[0]} but tensor has no dimensions")
    for shift, dim in zip(shifts, dims, strict=True):
        x = _roll_one_dim(x, shift, normalize_dim(dim, x.ndim))
    return x


def _roll_one_dim(x: Any, shift: int, dim: int) -> Any:
    """Copy of x with its elements shifted along one dimension."""
    before = (slice(None),) * dim
    cut = -shift % (x.shape[dim] or 1)
    return memory.concatenate((x[(*before, slice(cut, None))], x[(*before, slice(cut))]), dim)


@roll.vjp("x")
def _(F, ct, shifts, dims):
    back = tuple([-shift for shift in shifts]) if isinstance(shifts, (tuple, list)) else -shifts
    return F.roll(ct, shifts=back, dims=dims)


@linear(promote=NONE, moves=True)
def rot90(xp, x, *, k=1, dims=(0, 1)):
    """Copy of x rotated by k quarter turns in the plane of two dimensions, from the first towards the second.

    dims: two different dimensions. Derivative: the cotangent, rotated back."""
    dims = as_dims(dims)
    if len(dims) != 2:
        raise errors.ShapeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if x.ndim < 2:
        raise errors.ShapeError(f"expected total dims >= 2, but got total dims = {x.ndim}")
    first, second = [normalize_dim(dim, x.ndim) for dim in dims]
    if first == second:
        raise errors.ShapeError(
            f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}"
        )
    return memory.contiguous_copy(xp.rot90(x, k, (first, second)))


@rot90.vjp("x")
def _(F, ct, k, dims):
    return F.rot90(ct, k=-k, dims=dims)


# -- repeat ------------------------------------------------------------------------------------------------------------


@linear(promote=NONE, varargs="repeats", namespaces=(), aliases={"sizes": "repeats"}, moves=True)
def repeat(xp, x, *, repeats):
    """Repeat x along its dimensions, x.repeat(2, 1).

    repeats: the number of copies along each dimension. If there are more numbers than dimensions, the result has new
    leading dimensions. Raises RuntimeError for fewer numbers than dimensions. Derivative: the sum over the copies of
    their cotangents.

    >>> import wengert
    >>> wengert.tensor([1, 2]).repeat(2, 2)
    tensor([[1, 2, 1, 2],
            [1, 2, 1, 2]])
    """
    repeats = _counts_as_ints("repeat", "repeats", repeats)
    if len(repeats) < x.ndim:
        raise errors.ShapeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor"
        )
    if min(repeats, default=0) < 0:
        raise errors.ShapeError(f"Trying to create tensor with negative dimension {min(repeats)}: {list(repeats)}")
    shape = (1,) * (len(repeats) - x.ndim) + x.shape
    tiled = [size for pair in zip(repeats, shape, strict=True) for size in pair]
    untiled = [size for length in shape for size in (1, length)]
    return memory.contiguous_copy(xp.broadcast_to(x.reshape(untiled), tiled)).reshape(_tiled_shape(x.shape, repeats))


def _counts_as_ints(op: str, argument: str, counts: Any) -> tuple[int, ...]:
    """Convert numbers of copies to ints. Raises TypeError if the first one is no integer; torch checks only that one."""
    if counts and (isinstance(counts[0], bool) or not hasattr(counts[0], "__index__")):
        raise errors.wrong_argument_type(op, argument, 0, type(counts[0]), "tuple of ints")
    return tuple([int(count) for count in counts])


def _tiled_shape(shape: tuple, repeats: tuple) -> tuple:
    padded = (1,) * (len(repeats) - len(shape)) + tuple(shape)
    return tuple([size * times for size, times in zip(padded, repeats, strict=True)])


@repeat.vjp("x")
def _(F, ct, x_shape, repeats):
    # Split each repeated dimension into (copies, size) and sum over the copies.
    added = len(repeats) - len(x_shape)
    shape: list[int] = []
    copies = []
    for dim, times in enumerate(repeats):
        if dim < added or times != 1:
            copies.append(len(shape))
            shape.append(times)
        if dim >= added:
            shape.append(x_shape[dim - added])
    return F.sum(F.reshape(ct, shape=tuple(shape)), dim=tuple(copies)) if copies else ct


@composite(method=True)
def tile(F, input, *repeats, **keywords):
    """Repeat input along its dimensions, x.tile(2) or x.tile((2, 1)); see `repeat`.

    repeats, or dims=: if there are fewer numbers than dimensions, the leading dimensions are not repeated. Derivative:
    the sum over the copies of their cotangents."""
    if not repeats:
        repeats = (keywords.pop("dims", ()),)
    for name in keywords:
        raise errors.unexpected_keyword("tile", name)
    if len(repeats) == 1 and isinstance(repeats[0], (tuple, list)):
        repeats = tuple(repeats[0])
    repeats = _counts_as_ints("tile", "dims", repeats)
    return F.repeat(input, repeats=(1,) * (len(input.shape) - len(repeats)) + repeats)


@linear(promote=NONE, node="ViewBackward0", method=False, namespaces=(), moves=True)
def _repeat_each(xp, x, *, repeats, dim):
    """Repeat each slice of x along dim >= 0 `repeats` times in a row. Derivative: the sum over the copies."""
    return xp.repeat(x, repeats, axis=dim)


@_repeat_each.vjp("x")
def _(F, ct, x_shape, repeats, dim):
    shape = (*x_shape[: dim + 1], repeats, *x_shape[dim + 1 :])
    return F.sum(F.reshape(ct, shape=shape), dim=dim + 1)


@composite(method=True)
def repeat_interleave(F, input, repeats=None, dim=None, *, output_size=None):
    """Repeat each slice of input along dim, copies in a row; if dim is None, each element of the flattened input.

    repeats: an int, or a vector (tensor, array or list) with one number per slice. repeat_interleave(repeats) returns the
    indices of the slices. Raises RuntimeError for negative numbers. Derivative: the sum over the copies of their
    cotangents.

    >>> import wengert
    >>> wengert.tensor([1, 2]).repeat_interleave(2)
    tensor([1, 1, 2, 2])
    >>> wengert.tensor([1, 2]).repeat_interleave(wengert.tensor([1, 3]))
    tensor([1, 2, 2, 2])
    """
    xp = backend_of(input)
    if repeats is None:
        counts = _repeat_counts(input)
        places = xp.repeat(xp.arange(counts.size), counts)
        return wrap(places) if F.is_tensor else places
    if dim is None:
        input, dim = F.reshape(input, shape=(prod(input.shape),)), 0
    dim = normalize_dim(dim, len(input.shape))
    if isinstance(repeats, int):
        if repeats < 0:
            raise errors.ShapeError("Repeats must be non-negative")
        return F._repeat_each(input, repeats=repeats, dim=dim)
    counts, size = _repeat_counts(repeats), input.shape[dim]
    if isinstance(repeats, TensorBase):
        together([raw(input), counts])  # raises for tensors on several devices
    counts = beside(counts, raw(input))
    if counts.size not in (1, size):
        raise errors.ShapeError(
            f"repeats must have the same size as input along dim, but got repeats.size(0) = {counts.size} and "
            f"input.size({dim}) = {size}"
        )
    return F.index_select(input, dim, xp.repeat(xp.arange(size), counts))


def _repeat_counts(repeats: Any) -> Any:
    xp = backend_of(repeats)
    counts = xp.array(repeats._array if isinstance(repeats, TensorBase) else repeats, ndmin=1)
    if counts.dtype.kind not in "iu":
        raise errors.ShapeError("repeats has to be Long or Int tensor")
    if counts.ndim > 1:
        raise errors.ShapeError("repeats must be 0-dim or 1-dim tensor")
    if counts.size and counts.min() < 0:
        raise errors.ShapeError("repeats can not be negative")
    return counts


# -- diagonals and triangles -------------------------------------------------------------------------------------------


@linear(promote=NONE, moves=True)
def diag_embed(xp, x, *, offset=0, dim1=-2, dim2=-1):
    """Matrices in dimensions dim1 and dim2 of the result, with the last dimension of x on a diagonal and 0 elsewhere.

    offset: number of the diagonal, > 0 above and < 0 below the main diagonal. Derivative: the diagonals of the
    cotangent.

    >>> import wengert
    >>> wengert.tensor([1, 2]).diag_embed()
    tensor([[1, 0],
            [0, 2]])
    """
    ndim = x.ndim + 1
    first, second = normalize_dim(dim1, ndim), normalize_dim(dim2, ndim)
    if first == second:
        raise errors.same_diagonal_dims(dim1, dim2)
    n = x.shape[-1]
    size = n + abs(offset)
    result = memory.new_zeros((*x.shape[:-1], size, size), x.dtype, x)
    if n:
        start = offset if offset >= 0 else -offset * size  # index of the diagonal's first element in the flat matrix
        result.reshape(*x.shape[:-1], size * size)[..., start : start + n * (size + 1) : size + 1] = x
    return result if (first, second) == (ndim - 2, ndim - 1) else xp.moveaxis(result, (-2, -1), (first, second))


@diag_embed.vjp("x")
def _(F, ct, offset, dim1, dim2):
    return F.diagonal(ct, offset=offset, dim1=dim1, dim2=dim2)


@composite(method=True)
def diag(F, input, diagonal=0):
    """Copy of a diagonal of a matrix; or, for a vector, the matrix with the vector on a diagonal.

    diagonal: number of the diagonal, > 0 above and < 0 below the main one. Raises RuntimeError unless input is 1-D or
    2-D. Derivative: for a matrix the cotangent on the diagonal, 0 elsewhere; for a vector the cotangent's diagonal.

    >>> import wengert
    >>> wengert.tensor([1, 2]).diag(1)
    tensor([[0, 1, 0],
            [0, 0, 2],
            [0, 0, 0]])
    """
    ndim = len(input.shape)
    if ndim == 1:
        return F.diag_embed(input, offset=diagonal)
    if ndim == 2:
        return F.diagonal_copy(input, offset=diagonal)
    raise errors.ShapeError(f"diag(): Supports 1D or 2D tensors. Got {ndim}D")


@composite(method=True)
def diagflat(F, input, offset=0):
    """Matrix with the elements of the flattened input on a diagonal. Derivative: the cotangent's diagonal."""
    return F.diag_embed(F.reshape(input, shape=(prod(input.shape),)), offset=offset)


@linear(promote=SAME, node="BlockDiagBackward0", method=False, namespaces=(), moves=True)
def _block_diag(xp, *tensors):
    """Block diagonal matrix of matrices. Derivative: each matrix gets its block of the cotangent."""
    blocks = [xp.atleast_2d(x) for x in tensors]
    result = xp.zeros((sum([b.shape[0] for b in blocks]), sum([b.shape[1] for b in blocks])), blocks[0].dtype)
    row = column = 0
    for block in blocks:
        height, width = block.shape
        result[row : row + height, column : column + width] = block
        row, column = row + height, column + width
    return result


@_block_diag.vjp("tensors")
def _(F, ct, tensors_shape, needs):
    parts: list[Any] = []
    row = column = 0
    for shape, needed in zip(tensors_shape, needs, strict=True):
        height, width = (1, 1, *shape)[-2:]
        part = F.narrow(F.narrow(ct, 0, row, height), 1, column, width) if needed else None
        parts.append(F.reshape(part, shape=shape) if needed else None)
        row, column = row + height, column + width
    return parts


@composite()
def block_diag(F, *tensors):
    """Block diagonal matrix: the matrices along the diagonal, 0 elsewhere.

    tensors: at most 2-D, else RuntimeError; 0-d tensors and vectors count as rows. Derivative: each matrix gets its block of
    the cotangent.

    >>> import wengert
    >>> wengert.block_diag(wengert.tensor([[1, 2]]), wengert.tensor([[3]]))
    tensor([[1, 2, 0],
            [0, 0, 3]])
    """
    for i, x in enumerate(tensors):
        if len(x.shape) > 2:
            raise errors.ShapeError(
                "torch.block_diag: Input tensors must have 2 or fewer dimensions. "
                f"Input {i} has {len(x.shape)} dimensions"
            )
    return F._block_diag(tensors)


def _check_vector(x: Any) -> None:
    """Raise RuntimeError unless x is a vector."""
    if len(x.shape) != 1:
        raise errors.ShapeError(f"Expect a 1D vector, but got shape {list(x.shape)}")


@composite()
def cartesian_prod(F, *tensors):
    """All combinations of one element of each vector, as rows. One vector is returned itself.

    Derivative: each element gets the sum of the cotangents of its copies."""
    for x in tensors:
        _check_vector(x)
    if len(tensors) == 1:
        return tensors[0]
    grids = F.meshgrid(*tensors, indexing="ij")
    return F.stack([F.flatten(grid) for grid in grids], dim=1)


@of_arrays
def _picks(xp: Any, n: int, r: int, with_replacement: bool) -> Any:
    """Return all choices of r of n numbers, one a row."""
    from itertools import combinations as chosen, combinations_with_replacement as chosen_again

    choose = chosen_again if with_replacement else chosen
    return xp.array(list(choose(range(n), r)), np.int64).reshape(-1, r)


@composite()
def combinations(F, input, r=2, with_replacement=False):
    """All combinations of r elements of a vector, as rows, in the order of itertools.combinations.

    with_replacement: an element may be chosen several times. Raises RuntimeError unless input is a vector.

    Derivative: each element gets the sum of the cotangents of its copies."""
    xp = backend_of(input)
    _check_vector(input)
    if not r:
        return F.new_zeros(input, size=(0,))
    picks = _picks(xp, input.shape[0], r, with_replacement)
    return F.stack([F.index_select(input, 0, picks[:, i]) for i in range(r)], dim=1)


def _check_matrix(op: str, x: Any) -> None:
    if x.ndim < 2:
        raise errors.ShapeError(f"{op}: input tensor must have at least 2 dimensions")


@linear(promote=NONE, inplace=True, moves=True)
def tril(xp, x, *, diagonal=0):
    """Lower triangle of each matrix in the last two dimensions of x; 0 above the diagonal.

    diagonal: 0 is the main one, > 0 lies above it. Raises RuntimeError for less than two dimensions. Derivative: the
    lower triangle of the cotangent.

    >>> import wengert
    >>> wengert.ones(2, 2).tril()
    tensor([[1., 0.],
            [1., 1.]])
    """
    _check_matrix("tril", x)
    return memory.triangle(x, diagonal, False)


@tril.vjp("x")
def _(F, ct, diagonal):
    return F.tril(ct, diagonal=diagonal)


@linear(promote=NONE, inplace=True, moves=True)
def triu(xp, x, *, diagonal=0):
    """Upper triangle of each matrix in the last two dimensions of x; 0 below the diagonal.

    diagonal: 0 is the main one, > 0 lies above it. Raises RuntimeError for less than two dimensions. Derivative: the
    upper triangle of the cotangent."""
    _check_matrix("triu", x)
    return memory.triangle(x, diagonal, True)


@triu.vjp("x")
def _(F, ct, diagonal):
    return F.triu(ct, diagonal=diagonal)
