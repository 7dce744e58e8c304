"""Views with strides of their own: diagonals, sliding windows, as_strided."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from wengert import errors
from wengert.backends.selection import backend_of
from wengert.core.dispatch import call
from wengert.core.views import call_inplace_view, set_stride_finder
from wengert.kernels.memory import address_of, owner_of
from wengert.ops.dims import normalize_dim
from wengert.ops.indices import checked, range_from, window_places
from wengert.ops.registry import NONE, linear, node_class, plain, view

_FEW = 4096  # elements up to which the indices of an as_strided view are cached
_FEW_TAPS = 16  # window size up to which windows are added up tap by tap


@view(promote=NONE)
def diagonal(xp, x, *, offset=0, dim1=0, dim2=1):
    """View of the diagonals of the matrices in dimensions dim1 and dim2, as a new last dimension.

    offset: number of the diagonal, > 0 above and < 0 below the main diagonal. Derivative: the cotangent on the diagonals,
    0 elsewhere.

    >>> import wengert
    >>> wengert.tensor([[1, 2], [3, 4]]).diagonal()
    tensor([1, 4])
    """
    dim1, dim2 = _normalize_two_dims(dim1, dim2, x.ndim)
    result = x.diagonal(offset, dim1, dim2)
    if not result.size:
        return xp.lib.stride_tricks.as_strided(x, result.shape, result.strides)
    if isinstance(result, np.ndarray):
        result.flags.writeable = x.flags.writeable  # NumPy returns a read-only view
    return result


def _normalize_two_dims(dim1: Any, dim2: Any, ndim: int) -> tuple[int, int]:
    first, second = normalize_dim(dim1, ndim), normalize_dim(dim2, ndim)
    if first == second:
        raise errors.same_diagonal_dims(dim1, dim2)
    return first, second


@linear(promote=NONE, node="DiagonalBackward0_copy", moves=True)
def diagonal_copy(xp, x, *, offset=0, dim1=0, dim2=1):
    """Copy of diagonal(). Derivative: the cotangent on the diagonals, 0 elsewhere."""
    return x.diagonal(offset, *_normalize_two_dims(dim1, dim2, x.ndim)).copy()


@diagonal_copy.vjp("x")
@diagonal.vjp("x")
def _(F, ct, x_shape, offset, dim1, dim2):
    xp = backend_of(ct)
    dim1, dim2 = _normalize_two_dims(dim1, dim2, len(x_shape))
    index: list[Any] = [slice(None)] * len(x_shape)
    index[dim1] = range_from(xp, max(-offset, 0), ct.shape[-1])
    index[dim2] = range_from(xp, max(offset, 0), ct.shape[-1])
    # NumPy puts the dimension of two index arrays in their place if they are adjacent, else in front.
    place = min(dim1, dim2) if abs(dim1 - dim2) == 1 else 0
    if place != len(x_shape) - 2:
        ct = F.movedim(ct, -1, place)
    return F.read_cotangent(ct, shape=x_shape, index=tuple(index))


@view(promote=NONE, namespaces=(), aliases={"dim": "dimension"})
def unfold(xp, x, *, dimension, size, step):
    """View of the sliding windows along a dimension: windows of `size` elements, `step` apart, as a new last dimension.

    Raises RuntimeError if size is larger than the dimension or step <= 0. Derivative: for each element the sum of its
    cotangents in all windows.

    >>> import wengert
    >>> wengert.arange(5).unfold(0, 3, 1)
    tensor([[0, 1, 2],
            [1, 2, 3],
            [2, 3, 4]])
    """
    dim = normalize_dim(dimension, x.ndim)
    length = x.shape[dim] if x.ndim else 1
    if size > length:
        raise errors.ShapeError(f"maximum size for tensor at dimension {dim} is {length} but size is {size}")
    if size < 0 or step <= 0:
        raise errors.ShapeError(f"size is {size} but must be >= 0" if size < 0 else f"step is {step} but must be > 0")
    if not x.ndim:
        return x.reshape((1,))[:size]
    shape, strides = list(x.shape), list(x.strides)
    shape[dim] = (length - size) // step + 1
    strides.append(strides[dim])
    strides[dim] *= step
    return xp.lib.stride_tricks.as_strided(x, (*shape, size), strides)


@unfold.vjp("x")
def _(F, ct, x_shape, dimension, size, step):
    xp = backend_of(ct)
    if not x_shape:
        return F.reshape(ct, shape=()) if size else F.zeros_like(F.sum(ct))
    dim = normalize_dim(dimension, len(x_shape))
    if step < size <= _FEW_TAPS and not F.is_tensor:
        return _add_up_windows(ct, x_shape, dim, size, step)
    windows = window_places(xp, ct.shape[dim], step, size)
    index = (*((slice(None),) * dim), windows)
    return F.read_cotangent(F.movedim(ct, -1, dim + 1), shape=x_shape, index=index, repeats=step < size)


def _add_up_windows(ct: Any, x_shape: tuple[int, ...], dim: int, size: int, step: int) -> Any:
    """Adjoint of unfold on arrays, tap by tap. The elements under one tap form a slice, which repeats no element."""
    xp = backend_of(ct)
    out, last = xp.zeros(x_shape, ct.dtype), (ct.shape[dim] - 1) * step + 1
    before = (slice(None),) * dim
    for tap in range(size):
        out[(*before, slice(tap, tap + last, step))] += ct[..., tap]
    return out


@view(promote=NONE, method=False, namespaces=())
def _as_strided(xp, x, *, size, stride, storage_offset, x_stride, x_offset):
    """View of the elements at storage_offset + sum(i * stride) of x's memory. x_stride, x_offset: the geometry of x.

    Raises RuntimeError if an element is outside the memory. Derivative: for each element of x the sum of the cotangents
    of its occurrences in the view; elements of the view outside x have no effect."""
    memory, step = _memory_of(x)
    last = storage_offset + sum([(n - 1) * s for n, s in zip(size, stride, strict=True)])
    if 0 not in size and (storage_offset < 0 or last >= memory.size or min(stride, default=0) < 0):
        raise errors.outside_storage(size, stride, storage_offset, step, last, memory.size)
    strides = [s * step for s in stride]
    if not isinstance(x, np.ndarray):
        return xp.lib.stride_tricks.as_strided(memory[storage_offset:], size, strides)
    return np.ndarray(size, x.dtype, memory.view(np.uint8), storage_offset * step, strides)


_as_strided.walks_memory = True


def _memory_of(x: Any) -> tuple[Any, int]:
    """Return (the whole memory of x as a vector of x's dtype, size of an element in bytes)."""
    base = owner_of(x)
    if base.flags.c_contiguous or base.flags.f_contiguous:
        return base.reshape(-1, order="A").view(x.dtype), x.itemsize
    # The axes of the owner may be in any order. The outermost axis comes first in `ordered`.
    ordered = base.transpose(sorted(range(base.ndim), key=base.strides.__getitem__, reverse=True))
    if not ordered.flags.c_contiguous:
        raise errors.ShapeError("as_strided needs memory without gaps. Hint: call contiguous() first.")
    return ordered.reshape(-1).view(x.dtype), x.itemsize


def _memory_positions(size: tuple, stride: tuple, offset: int) -> Any:
    """Return the positions in memory of all elements of a tensor of this geometry, in row-major order."""
    places = np.full((), offset)
    for n, s in zip(size, stride, strict=True):
        places = places[..., None] + np.arange(n) * s
    return places.reshape(-1)


@lru_cache(maxsize=64)
def _overlap(of_x: tuple[Any, ...], of_view: tuple[Any, ...]) -> tuple[Any, Any, bool]:
    """Return (index, inside, repeats): how a view overlaps x, both given as (size, stride, offset).

    index: the elements of x that the view shows. inside: mask of the view's elements that are in x, or None if all are.
    repeats: whether the view shows an element of x more than once."""
    ours, shown = _memory_positions(*of_x), _memory_positions(*of_view)
    order = np.argsort(ours, kind="stable")
    found = order[np.minimum(np.searchsorted(ours, shown, sorter=order), ours.size - 1)] if ours.size else shown[:0]
    inside = ours[found] == shown if ours.size else np.zeros(shown.size, bool)
    found = found[inside]
    index = np.unravel_index(found, of_x[0]) or (...,)
    return index, None if inside.all() else inside, np.unique(found).size < found.size


@_as_strided.vjp("x")
def _(F, ct, x_shape, size, stride, storage_offset, x_stride, x_offset):
    if not x_shape:
        shown = _memory_positions(size, stride, storage_offset) == x_offset
        return F.sum(F._read(F.reshape(ct, shape=(prod(size),)), index=shown))
    few = prod(x_shape) + prod(size) <= _FEW  # indices of larger views would take more memory than they save time
    find = _overlap if few else _overlap.__wrapped__
    index, inside, repeats = find((tuple(x_shape), x_stride, x_offset), (size, stride, storage_offset))
    ct = F.reshape(ct, shape=(prod(size),))
    if inside is not None:
        ct = F._read(ct, index=inside)
    return F.read_cotangent(ct, shape=x_shape, index=index, repeats=repeats)


def _find_stride(base: Any, view_array: Any) -> tuple[Any, dict[str, Any]]:
    """Return the operation, and its parameters, that makes the array `view_array` from the array `base` that shares its memory."""
    if view_array.dtype != base.dtype:
        raise errors.InplaceError(
            "a view of another dtype is not differentiable after its base was transposed or squeezed in place. Hint: make "
            "the view again."
        )
    memory, step = _memory_of(base)
    start = address_of(memory)
    return _as_strided, {
        "size": view_array.shape,
        "stride": tuple([s // step for s in view_array.strides]),
        "storage_offset": (address_of(view_array) - start) // step,
        "x_stride": tuple([s // step for s in base.strides]),
        "x_offset": (address_of(base) - start) // step,
    }


set_stride_finder(_find_stride)


@plain(method=True)
def as_strided(input, size, stride, storage_offset=None):
    """View of the memory of input with any size and strides.

    size, stride: one int per dimension, strides in elements. storage_offset: position in memory of the first element;
    None means that of input. The view may show elements more than once. Raises RuntimeError if an element is outside the
    memory.

    Derivative: for each element the sum of the cotangents of its occurrences in the view.

    >>> import wengert
    >>> wengert.arange(4).as_strided((2, 2), (1, 2))
    tensor([[0, 2],
            [1, 3]])
    """
    checked("as_strided", input)
    return call(_as_strided, (input,), _stride_params(input, size, stride, storage_offset))


def _stride_params(input: Any, size: Any, stride: Any, storage_offset: int | None) -> dict[str, Any]:
    """Return the parameters of _as_strided for the arguments of as_strided."""
    x_offset = input.storage_offset()
    return {
        "size": tuple(size),
        "stride": tuple(stride),
        "storage_offset": x_offset if storage_offset is None else storage_offset,
        "x_stride": input.stride(),
        "x_offset": x_offset,
    }


@plain(name="as_strided_", method=True, namespaces=())
def as_strided_(self, size, stride, storage_offset=None):
    """In-place form of as_strided: turn this tensor into a view of its memory and return it."""
    params = _stride_params(self, size, stride, storage_offset)
    return call_inplace_view(_as_strided, self, params, node_class("AsStridedBackward1"))
