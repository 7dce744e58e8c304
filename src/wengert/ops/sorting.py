"""Sorting, selection (topk, kthvalue), search in sorted sequences, and unique elements.

NaN counts as larger than every number. Equal elements keep their order, as in torch's kernels for the CPU.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from wengert import errors, return_types
from wengert.backends.selection import backend_of, others, together
from wengert.core.tensor import wrap
from wengert.core.watched import of_arrays
from wengert.kernels import scans
from wengert.ops.dims import normalize_dim
from wengert.ops.indices import Along, as_tensor, checked, mesh_of, private_index, raw, sortable
from wengert.ops.options import numpy_dtype
from wengert.ops.registry import NONE, composite, general, nondifferentiable, plain

_PRIVATE: dict[str, Any] = {"method": False, "namespaces": ()}
_MANY = 1024  # size of a dimension from which topk selects its k elements before it sorts them


def _checked_dim(op: str, x: Any, dim: Any) -> int:
    """Return dim counted from the front. Raises RuntimeError for complex x, which has no order."""
    if x.dtype.kind == "c":
        raise errors.UnsupportedDtypeError(f"{op} does not support complex dtypes on CPU")
    return normalize_dim(dim, x.ndim)


def _sorting_indices(xp: Any, x: Any, dim: int, descending: bool) -> Any:
    """Return the indices that sort x along dim, in a stable order."""
    found = scans.first_along(x, dim, x.shape[dim], descending)
    if found is not None:
        return found[1]
    if not descending:
        return xp.argsort(x, axis=dim, kind="stable")
    # Sort the reversed array and reverse the result, so that equal elements keep their order.
    backwards = xp.flip(xp.argsort(xp.flip(x, dim), axis=dim, kind="stable"), dim)
    return x.shape[dim] - 1 - backwards


def _elements_at(x: Any, indices: Any, dim: int) -> Any:
    return x[mesh_of(indices, x.shape, dim)]


def _selection_cotangent(F: Any, ct: Any, x_shape: tuple, indices: Any, dim: int) -> Any:
    """Cotangent of x, given the cotangent of its elements at indices: zeros with the cotangent at indices."""
    if not x_shape:
        return F.reshape(ct[0], shape=())
    return F.read_cotangent(ct[0], shape=x_shape, index=Along(raw(indices), normalize_dim(dim, len(x_shape))))


# -- sort --------------------------------------------------------------------------------------------------------------


@general(
    promote=NONE,
    outputs=("values", "indices"),
    complex=False,
    node=lambda inputs, params: f"SortBackward{int(params['stable'] is not None)}",
    **_PRIVATE,
)
def _sort(xp, x, *, dim=-1, descending=False, stable=None):
    """Return (x sorted along dim, indices that sort it). Derivative: the cotangent in the original order."""
    dim = _checked_dim("Sort", x, dim)
    if not x.ndim:
        return x.copy(), xp.zeros((), np.int64)
    found = scans.first_along(x, dim, x.shape[dim], descending)
    if found is not None:
        return found
    indices = _sorting_indices(xp, x, dim, descending)
    return _elements_at(x, indices, dim), indices


_sort.refuses_complex = False  # _checked_dim refuses complex x, in torch's words


@_sort.vjp("x")
def _(F, ct, x_shape, indices, dim):
    return _selection_cotangent(F, ct, x_shape, indices, dim)


@composite(method=True)
def sort(F, input, dim=-1, descending=False, *, stable=None):
    """Sort input along a dimension: a named tuple (values, indices). The order is stable.

    input: any real dtype. NaN comes last, or first if descending. Raises RuntimeError for complex input.

    Derivative: the cotangent of values, moved back to the original order.

    >>> import wengert
    >>> wengert.tensor([3, 1, 2]).sort()
    torch.return_types.sort(
    values=tensor([1, 2, 3]),
    indices=tensor([1, 2, 0]))
    """
    return return_types.sort(F._sort(input, dim=dim, descending=descending, stable=stable))


@composite(method=True)
def msort(F, input):
    """Sort input along its first dimension. Derivative: the cotangent, moved back to the original order."""
    return F._sort(input, dim=0)[0]


@nondifferentiable(promote=NONE, complex=False)
def argsort(xp, x, *, dim=-1, descending=False, stable=False):
    """Indices that sort x along a dimension, int64, in a stable order. x: any real dtype.

    >>> import wengert
    >>> wengert.tensor([3, 1, 2]).argsort()
    tensor([1, 2, 0])
    """
    dim = _checked_dim("Sort", x, dim)
    return _sorting_indices(xp, x, dim, descending) if x.ndim else xp.zeros((), np.int64)


# -- topk and kthvalue -------------------------------------------------------------------------------------------------


@general(promote=NONE, outputs=("values", "indices"), node="TopkBackward0", complex=False, **_PRIVATE)
def _topk(xp, x, *, k, dim=-1, largest=True):
    """Return (k largest or smallest elements along dim, sorted; their indices).

    Derivative: the cotangent at these elements, 0 elsewhere."""
    dim = _checked_dim("topk", x, dim)
    size = x.shape[dim] if x.ndim else 1
    if x.dtype.kind == "b":
        raise errors.UnsupportedDtypeError("topk does not support bool dtypes on CPU")
    if not 0 <= k <= size:
        raise errors.ShapeError("selected index k out of range")
    if not x.ndim:
        return x.copy(), xp.zeros((), np.int64)
    first = scans.first_along(x, dim, k, largest)
    if first is not None:
        return first
    if size < _MANY or k > size // 8 or k == 0 or type(x) in others:  # CuPy's partitions sort, and wait
        indices = _sorting_indices(xp, x, dim, largest).take(range(k), axis=dim)
    else:
        found = xp.argpartition(x, size - k if largest else k - 1, axis=dim)
        found = xp.sort(found.take(range(size - k, size) if largest else range(k), axis=dim), axis=dim)
        indices = _elements_at(found, _sorting_indices(xp, _elements_at(x, found, dim), dim, largest), dim)
    return _elements_at(x, indices, dim), indices


@_topk.vjp("x")
def _(F, ct, x_shape, indices, dim):
    return _selection_cotangent(F, ct, x_shape, indices, dim)


@composite(method=True)
def topk(F, input, k, dim=-1, largest=True, sorted=True):
    """The k largest elements along a dimension, in order: a named tuple (values, indices).

    input: any real dtype but bool. largest: False selects the k smallest elements. sorted: accepted; the elements always
    are sorted. Raises RuntimeError unless 0 <= k <= size of the dimension. Derivative: the cotangent at these elements, 0
    elsewhere.

    >>> import wengert
    >>> wengert.tensor([3, 1, 2]).topk(2).values
    tensor([3, 2])
    """
    return return_types.topk(F._topk(input, k=k, dim=dim, largest=largest))


@general(promote=NONE, outputs=("values", "indices"), node="KthvalueBackward0", complex=False, **_PRIVATE)
def _kthvalue(xp, x, *, k, dim=-1, keepdim=False):
    """Return (k-th smallest element along dim, its index). Derivative: the cotangent at this element, 0 elsewhere."""
    dim = _checked_dim("kthvalue", x, dim)
    size = x.shape[dim] if x.ndim else 1
    if size == 0:
        raise errors.empty_reduction("kthvalue", dim)
    if not 1 <= k <= size:
        raise errors.ShapeError(f"kthvalue(): selected number k out of range for dimension {dim}")
    if not x.ndim:
        return x.copy(), xp.zeros((), np.int64)
    one = scans.one_along(x, dim, k - 1)
    if one is None:
        indices = _sorting_indices(xp, x, dim, False).take(range(k - 1, k), axis=dim)
        one = _elements_at(x, indices, dim), indices
    values, indices = one
    return (values, indices) if keepdim else (values.squeeze(dim), indices.squeeze(dim))


@_kthvalue.vjp("x")
def _(F, ct, x_shape, indices, dim, keepdim):
    if x_shape and not keepdim:
        dim = normalize_dim(dim, len(x_shape))
        ct, indices = (F.unsqueeze(ct[0], dim=dim),), backend_of(indices).expand_dims(raw(indices), dim)
    return _selection_cotangent(F, ct, x_shape, indices, dim)


@composite(method=True)
def kthvalue(F, input, k, dim=-1, keepdim=False):
    """The k-th smallest element along a dimension, counted from 1: a named tuple (values, indices).

    input: any real dtype. keepdim: keep the dimension with size 1. Raises RuntimeError unless 1 <= k <= size of the
    dimension. Derivative: the cotangent at this element, 0 elsewhere.

    >>> import wengert
    >>> wengert.tensor([3.0, 1.0, 2.0]).kthvalue(2).values
    tensor(2.)
    """
    return return_types.kthvalue(F._kthvalue(input, k=k, dim=dim, keepdim=keepdim))


# -- searching ---------------------------------------------------------------------------------------------------------


def _array_of(op: str, x: Any, argument: str = "input") -> Any:
    """Return the array of a tensor or a number."""
    xp = backend_of(x)
    return xp.asarray(x if isinstance(x, (int, float)) else raw(checked(op, x, argument)))


def _insertion_indices(edges: Any, values: Any, right: bool, out_int32: bool) -> Any:
    """Return the indices at which to insert values into edges, sorted along the last dimension, to keep the order."""
    xp = backend_of(edges)
    side: Any = "right" if right else "left"
    if edges.ndim == 1:
        found = _search(edges, values, side)
    else:
        if edges.shape[:-1] != values.shape[:-1]:
            raise errors.ShapeError(
                "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of "
                "boundaries tensor and input value tensor must match, but got boundaries tensor "
                f"{list(edges.shape)} and input value tensor {list(values.shape)}"
            )
        count = prod(edges.shape[:-1])
        rows = zip(edges.reshape(count, edges.shape[-1]), values.reshape(count, values.shape[-1]), strict=True)
        found = xp.array([_search(e, v, side) for e, v in rows], np.int64).reshape(values.shape)
    return wrap(found.astype(np.int32 if out_int32 else np.int64, copy=False))


def _search(edges: Any, values: Any, side: Any) -> Any:
    """Index for each value at which to insert it into the vector edges. NaN is neither below nor above a number, as in torch."""
    xp = backend_of((edges, values))
    edges, values = sortable(xp.asarray(edges)), sortable(xp.asarray(values))
    if not edges.size or edges[-1] == edges[-1]:
        return xp.asarray(xp.searchsorted(edges, values, side))
    low, high = xp.zeros(values.shape, np.int64), xp.full(values.shape, edges.size)
    for _ in range(edges.size.bit_length()):
        middle = xp.minimum((low + high) // 2, edges.size - 1)
        found = edges[middle]
        stays = found > values if side == "right" else found >= values
        low, high = xp.where(stays | (low == high), low, middle + 1), xp.where(stays, xp.minimum(middle, high), high)
    return low


@plain(out=True)
@of_arrays
def searchsorted(sorted_sequence, input, *, out_int32=False, right=False, side=None, sorter=None):
    """Index at which to insert each element of input into a sorted sequence so that it stays sorted.

    sorted_sequence: (k); or (..., k), for an input of shape (..., m). input: a tensor or a number. right=True, or
    side="right", inserts an element after its equals. sorter: int64 indices that sort an unsorted sequence along its last
    dimension, as argsort returns them. A NaN, and each number if NaN ends the sequence, is inserted where torch's halving of the
    sequence finds it, with comparisons that are false for NaN. Returns int64, or int32 if out_int32, in input's shape. Not
    differentiable.

    >>> import wengert
    >>> wengert.searchsorted(wengert.tensor([1, 3, 5]), wengert.tensor([3, 4]))
    tensor([1, 2])
    """
    xp = backend_of(sorted_sequence)
    edges = raw(checked("searchsorted", sorted_sequence, "sorted_sequence"))
    if sorter is not None:
        edges = xp.take_along_axis(edges, _checked_sorter(raw(checked("searchsorted", sorter, "sorter")), edges), -1)
    edges, values = together([edges, _array_of("searchsorted", input)])
    return _insertion_indices(edges, values, right or side == "right", out_int32)


def _checked_sorter(sorter: Any, edges: Any) -> Any:
    if sorter.shape != edges.shape:
        raise errors.ShapeError(
            "torch.searchsorted(): boundary and sorter must have the same size, but got boundary tensor "
            f"{list(edges.shape)}and got sorter tensor {list(sorter.shape)}"
        )
    if sorter.dtype != np.int64:
        raise errors.UnsupportedDtypeError(
            f"torch.searchsorted(): sorter must be a tensor of long dtype but got dtype {errors.scalar_name(sorter.dtype)}"
        )
    sorter = private_index(sorter)
    if sorter.size and not 0 <= sorter.min() <= sorter.max() < edges.shape[-1]:
        raise errors.ShapeError("torch.searchsorted(): sorter index out of range")
    return sorter


@plain(out=True)
@of_arrays
def bucketize(input, boundaries, *, out_int32=False, right=False):
    """Index of the bucket of each element of input: searchsorted(boundaries, input) for a vector of boundaries.

    Not differentiable."""
    edges = raw(checked("bucketize", boundaries, "boundaries"))
    if edges.ndim != 1:
        raise errors.ShapeError(f"boundaries tensor must be 1 dimension, but got dim({edges.ndim})")
    edges, values = together([edges, _array_of("bucketize", input)])
    return _insertion_indices(edges, values, right, out_int32)


def _with_counts(results: tuple, return_inverse: bool, return_counts: bool) -> Any:
    values, inverse, counts = [wrap(backend_of(results[0]).asarray(x)) for x in results]
    if not return_inverse and not return_counts:
        return values
    return (values, *([inverse] if return_inverse else []), *([counts] if return_counts else []))


@plain(method=True)
@of_arrays
def unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    """Distinct elements of input, or distinct slices along dim, in ascending order. Not differentiable.

    Returns values; or a tuple (values, inverse, counts), with inverse if return_inverse and counts if return_counts.
    inverse: the index, in values, of each element of input. counts: the number of occurrences of each value.

    >>> import wengert
    >>> wengert.tensor([3, 1, 3]).unique(return_counts=True)
    (tensor([1, 3]), tensor([1, 2]))
    """
    xp = backend_of(input)
    x = raw(checked("unique", input))
    if dim is not None:
        dim = normalize_dim(dim, x.ndim)
    values, inverse, counts = xp.unique(x, return_inverse=True, return_counts=True, axis=dim, equal_nan=False)
    inverse = inverse.reshape(x.shape) if dim is None else inverse.reshape(-1)
    return _with_counts((values, inverse, counts), return_inverse, return_counts)


@plain(method=True)
@of_arrays
def unique_consecutive(input, return_inverse=False, return_counts=False, dim=None):
    """Merge runs of equal elements of the flattened input, or of equal slices along dim. Not differentiable.

    Returns: as `unique`."""
    xp = backend_of(input)
    x = raw(checked("unique_consecutive", input))
    if dim is None:
        rows = x.reshape(-1, 1)
    else:
        dim = normalize_dim(dim, x.ndim)
        if x.shape[dim] and not x.size:
            raise errors.ShapeError("There are 0 sized dimensions, and they aren't selected, so unique cannot be applied")
        rows = xp.moveaxis(x, dim, 0).reshape(x.shape[dim], x.size // max(x.shape[dim], 1))
    starts = xp.ones(len(rows), bool)
    starts[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    values = x.reshape(-1)[starts] if dim is None else x.compress(starts, axis=dim)
    inverse = xp.cumsum(starts) - 1
    counts = xp.diff(xp.append(xp.flatnonzero(starts), len(rows)))
    results = (values, inverse.reshape(x.shape) if dim is None else inverse, counts)
    return _with_counts(results, return_inverse, return_counts)


@plain(out=True, aliases={"element": "elements", "test_element": "test_elements"})
@of_arrays
def isin(elements, test_elements, *, assume_unique=False, invert=False):
    """Whether each of elements is among test_elements: a bool tensor of the shape of elements. Not differentiable.

    elements, test_elements: tensors or numbers. invert: negate the result. assume_unique: accepted, without effect."""
    x, test = together([_array_of("isin", elements, "elements"), _array_of("isin", test_elements, "test_elements")])
    xp = backend_of(x)
    found = xp.isin(x, test, invert=invert)
    return wrap(xp.asarray(found))


@plain(method=True)
@of_arrays
def bincount(input, weights=None, minlength=0):
    """Count the occurrences of each number 0, 1, ... in a vector of integers >= 0, or sum their weights.

    input: (n). weights: (n) or None. Returns a vector of max(input) + 1 elements, at least minlength: int64 counts, or the
    sums of weights, float32 for float32 weights, else float64. Raises RuntimeError for another input. Not
    differentiable."""
    xp = backend_of(input)
    x = raw(checked("bincount", input))
    x = private_index(x)
    if x.ndim != 1 or x.dtype.kind not in "iub" or (x.size and x.min() < 0):
        raise errors.ShapeError("bincount only supports 1-d non-negative integral inputs.")
    if weights is None:
        return wrap(xp.bincount(x, minlength=minlength).astype(np.int64, copy=False))
    x, weights = together([x, raw(as_tensor(weights))])
    sums = xp.bincount(x, weights, minlength)
    return wrap(sums.astype(np.float32 if weights.dtype == np.float32 else np.float64, copy=False))


@plain()
@of_arrays
def unravel_index(indices, shape):
    """Convert indices into a flattened tensor to indices into a tensor of the given shape: a tuple, one per dimension.

    indices: integers, any shape. Raises ValueError for an index out of range, RuntimeError for other dtypes."""
    xp = backend_of(indices)
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    places = raw(checked("unravel_index", indices, "indices"))
    if places.dtype.kind not in "iu":
        raise errors.ConversionError(f"expected 'indices' to be integer dtype, but got {numpy_dtype(places.dtype)}")
    try:
        return tuple([wrap(xp.asarray(x)) for x in xp.unravel_index(places, shape)])
    except ValueError as error:
        raise errors.ElementError(f"unravel_index(): {error}") from None
