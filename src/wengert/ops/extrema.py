"""Largest, smallest and middle elements, and their indices.

If several elements tie, operations that return only a value (max(), amax, median()) share the gradient evenly among them.
Operations that also return an index (max(dim)) give the gradient to the element at the index.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert import errors, return_types
from wengert.kernels import memory, places, rows, scans
from wengert.ops.dims import as_dim, count_of, normalize_dim, normalize_dims, restore_dims
from wengert.ops.indices import private_index
from wengert.ops.registry import NONE, composite, general, linear, nondifferentiable

_PRIVATE: dict[str, Any] = {"method": False, "namespaces": ()}


def _check_reduction(op: str, kernel: str, x: Any, dim: Any) -> None:
    """Raise RuntimeError for a complex x, and torch's error if x is empty along dim. kernel: torch's name in the message."""
    if x.dtype.kind == "c":
        raise errors.unsupported_dtype(kernel, x.dtype)
    if x.size == 0:
        if dim is None or (isinstance(dim, (tuple, list)) and not dim):
            raise errors.empty_reduction(op)
        for d in normalize_dims(dim, x.ndim):
            if x.shape[d] == 0:
                raise errors.empty_reduction(op, d)


def _largest(xp: Any, x: Any, axis: Any, keepdim: bool) -> Any:
    """Maximum over axis. NaN counts as largest."""
    found = rows.reduce(rows.LARGEST, x, axis, keepdim)
    return x.max(axis=axis, keepdims=keepdim) if found is None else found


def _smallest(xp: Any, x: Any, axis: Any, keepdim: bool) -> Any:
    """Minimum over axis. NaN counts as smallest."""
    found = rows.reduce(rows.SMALLEST, x, axis, keepdim)
    return x.min(axis=axis, keepdims=keepdim) if found is None else found


# -- the value alone ---------------------------------------------------------------------------------------------------


@general(complex=False, along_dim=True)
def amax(xp, x, *, dim=(), keepdim=False):
    """Largest element along dim. x: any shape, any real dtype. NaN counts as largest.

    dim: an int or a tuple of ints; () for all. If there are no elements, raises IndexError with a dim, RuntimeError without.

    Derivative: 1 in the largest element, shared evenly among ties."""
    _check_reduction("amax", "max_values_cpu", x, dim)
    return _largest(xp, x, normalize_dims(dim, x.ndim), keepdim)


@general(complex=False, along_dim=True)
def amin(xp, x, *, dim=(), keepdim=False):
    """Smallest element along dim. x: any shape, any real dtype. NaN counts as smallest.

    dim: an int or a tuple of ints; () for all. If there are no elements, raises IndexError with a dim, RuntimeError without.

    Derivative: 1 in the smallest element, shared evenly among ties."""
    _check_reduction("amin", "min_values_cpu", x, dim)
    return _smallest(xp, x, normalize_dims(dim, x.ndim), keepdim)


def _cotangent_of_ties(F: Any, ct: Any, x: Any, out: Any, dim: Any, keepdim: bool, nan_ties: bool = False) -> Any:
    """Cotangent of x, given ct, the cotangent of out, which is an element of x along dim: shared among all that equal out."""
    out = restore_dims(F, out, x.shape, dim, keepdim)
    ct = restore_dims(F, ct, x.shape, dim, keepdim)
    return F._share(ct, x, out, dim=dim, nan_ties=nan_ties)


@amax.vjp("x")
def _(F, ct, x, out, dim, keepdim):
    return _cotangent_of_ties(F, ct, x, out, dim, keepdim)


@amin.vjp("x")
def _(F, ct, x, out, dim, keepdim):
    return _cotangent_of_ties(F, ct, x, out, dim, keepdim)


def _ties(xp: Any, x: Any, y: Any, dim: Any, nan_ties: bool) -> tuple[Any, Any]:
    """Return (whether x equals y, element by element, the number of equal elements along dim). y broadcasts to x.

    nan_ties: whether NaN equals NaN."""
    ties = x == y
    if nan_ties:
        ties |= (x != x) & (y != y)
    dims = normalize_dims(dim, x.ndim)
    if len(dims) == x.ndim:
        return ties, xp.asarray(xp.count_nonzero(ties))
    return ties, xp.add.reduce(
        ties, axis=dims, keepdims=True, dtype=xp.float32 if x.dtype.itemsize <= 4 else xp.float64
    )


@linear(promote=NONE, **_PRIVATE)
def _share(xp, ct, x, y, *, dim, nan_ties=False):
    """ct / n where x equals y, else 0, with n the number of equal elements along dim. ct, y: with size 1 in dim, or 0-d.

    nan_ties: whether NaN equals NaN. If not, a NaN in y gives NaN everywhere along dim."""
    ties, n = _ties(xp, x, y, dim, nan_ties)
    return xp.multiply(ties, xp.true_divide(ct, n).astype(ct.dtype))


@_share.vjp("ct")
def _(F, ct_, x, y, dim, nan_ties, ct_shape):
    shares = F._share(F._ones_of(x), x, y, dim=dim, nan_ties=nan_ties)
    total = F.sum(ct_ * shares, dim=normalize_dims(dim, len(x.shape)), keepdim=True)
    return F.reshape(total, shape=ct_shape)


@_share.jvp("ct", "x", "y")
def _(F, ct_t, x, y, dim, nan_ties):
    return None if ct_t is None else F._share(ct_t, x, y, dim=dim, nan_ties=nan_ties)


@nondifferentiable(**_PRIVATE)
def _ones_of(xp, x):
    """1 for each element of x."""
    return xp.ones_like(x)


@general(outputs=("min", "max"), complex=False, node="AminmaxBackward0", **_PRIVATE)
def _aminmax(xp, x, *, dim=None, keepdim=False):
    """aminmax as a plain tuple."""
    axis = normalize_dims(dim, x.ndim)
    if x.dtype.kind == "c":
        raise errors.unsupported_dtype("aminmax_cpu", x.dtype)
    if x.size == 0 and count_of(x.shape, axis) == 0:
        if dim is not None:
            raise errors.empty_reduction("aminmax", dim)
        raise errors.ShapeError(
            "aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity."
        )
    return _smallest(xp, x, axis, keepdim), _largest(xp, x, axis, keepdim)


@_aminmax.vjp("x")
def _(F, ct, x, min, max, dim, keepdim):
    parts = [_cotangent_of_ties(F, c, x, out, dim, keepdim) for c, out in zip(ct, (min, max), strict=True) if c is not None]
    return parts[0] if len(parts) == 1 else parts[0] + parts[1]


@composite(method=True)
def aminmax(F, input, *, dim=None, keepdim=False):
    """Smallest and largest element along dim, as a named tuple (min, max). dim: an int, or None for all.

    input: any shape, any real dtype. Raises RuntimeError or IndexError if there are no elements.

    Derivative: as in `amin` and `amax`."""
    return return_types.aminmax(F._aminmax(input, dim=dim, keepdim=keepdim))


# -- value and index along one dimension -------------------------------------------------------------------------------


def _index_along(xp: Any, index: Any, dim: int) -> tuple[Any, ...]:
    """NumPy index that names, for each element of index, one element along dim. index: of size 1 in dim; it is copied."""
    index = private_index(index)
    if index.ndim == 1:
        return (index,)
    ones = (1,) * index.ndim
    return tuple(
        [
            index if d == dim else xp.arange(size).reshape((*ones[:d], size, *ones[d + 1 :]))
            for d, size in enumerate(index.shape)
        ]
    )


@linear(promote=NONE, **_PRIVATE)
def _pick(xp, x, index, *, dim):
    """Element of x at index along dim. index and the result have x's shape with size 1 in dim."""
    dim = normalize_dim(dim, x.ndim)
    found = places.take_along(x, index, dim, False)
    return x[_index_along(xp, index, dim)] if found is None else found


@_pick.vjp("x")
def _(F, ct, x_shape, index, dim):
    return F._place(ct, index, dim=dim, size=x_shape[dim])


@linear(promote=NONE, **_PRIVATE)
def _place(xp, x, index, *, dim, size):
    """Zeros, of the given size along dim, with x at index. index and x: of one shape, with size 1 in dim."""
    dim = normalize_dim(dim, x.ndim)
    out = memory.new_zeros((*x.shape[:dim], size, *x.shape[dim + 1 :]), x.dtype, x)
    if not places.write_along(places.PUT, out, index, x, dim, False):
        out[_index_along(xp, index, dim)] = x
    return out


@_place.vjp("x")
def _(F, ct, index, dim):
    return F._pick(ct, index, dim=dim)


def _values_at(xp: Any, x: Any, index: Any, dim: int, keepdim: bool) -> tuple[Any, Any]:
    """Return (values, indices) of a reduction that chose the elements at index. index: x's shape with size 1 in dim."""
    values = places.take_along(x, index, dim, False)
    return _without_kept_dim((x[_index_along(xp, index, dim)] if values is None else values, index), x.shape, dim, keepdim)


def _without_kept_dim(found: tuple[Any, Any], shape: tuple[int, ...], dim: int, keepdim: bool) -> tuple[Any, Any]:
    """Drop the dimension dim, of size 1, from values and indices, unless keepdim. shape: of the reduction's input."""
    if keepdim:
        return found
    shape = _shape_without(shape, dim)
    return found[0].reshape(shape), found[1].reshape(shape)


def _shape_without(shape: tuple[int, ...], dim: int) -> tuple[int, ...]:
    """Return shape without dimension dim."""
    return shape[:dim] + shape[dim + 1 :]


def _cotangent_of_values(F: Any, ct: Any, x_shape: tuple[int, ...], indices: Any, dim: Any, keepdim: bool) -> Any:
    """Cotangent of x, given ct[0], the cotangent of values, which are the elements of x at indices along dim."""
    if ct[0] is None:
        return None
    values = ct[0]
    if not x_shape:
        return values
    if not keepdim:
        dim = normalize_dim(dim, len(x_shape))
        values, indices = F.unsqueeze(values, dim=dim), F.unsqueeze(indices, dim=dim)
    return F._place(values, indices, dim=dim, size=x_shape[dim])


def _extreme_and_index(xp: Any, op: str, x: Any, dim: Any, keepdim: bool) -> tuple[Any, Any]:
    """Return (values, indices) of max(dim) or min(dim); op is "max" or "min"."""
    _check_reduction(op, op, x, dim)
    if x.ndim == 0:
        normalize_dim(dim, 0)
        return x.copy(), xp.zeros((), xp.int64)
    dim = normalize_dim(dim, x.ndim)
    if x.size == 0:
        shape = (*x.shape[:dim], 1, *x.shape[dim + 1 :]) if keepdim else _shape_without(x.shape, dim)
        return xp.zeros(shape, x.dtype), xp.zeros(shape, xp.int64)
    index = (xp.argmax if op == "max" else xp.argmin)(x, axis=dim, keepdims=True)
    return _values_at(xp, x, index, dim, keepdim)


@general(outputs=("values", "indices"), node="MaxBackward0", complex=False, **_PRIVATE)
def _max_dim(xp, x, *, dim, keepdim=False):
    """Largest element along one dimension and its index, which is the first if several tie."""
    return _extreme_and_index(xp, "max", x, dim, keepdim)


@general(outputs=("values", "indices"), node="MinBackward0", complex=False, **_PRIVATE)
def _min_dim(xp, x, *, dim, keepdim=False):
    """Smallest element along one dimension and its index, which is the first if several tie."""
    return _extreme_and_index(xp, "min", x, dim, keepdim)


@_max_dim.vjp("x")
def _(F, ct, x_shape, indices, dim, keepdim):
    return _cotangent_of_values(F, ct, x_shape, indices, dim, keepdim)


@_min_dim.vjp("x")
def _(F, ct, x_shape, indices, dim, keepdim):
    return _cotangent_of_values(F, ct, x_shape, indices, dim, keepdim)


@general(node="MaxBackward1", complex=False, **_PRIVATE)
def _max_all(xp, x):
    """Largest of all elements."""
    _check_reduction("max", "max_all", x, None)
    return _largest(xp, x, None, False)


@general(node="MinBackward1", complex=False, **_PRIVATE)
def _min_all(xp, x):
    """Smallest of all elements."""
    _check_reduction("min", "min_all", x, None)
    return _smallest(xp, x, None, False)


@_max_all.vjp("x")
def _(F, ct, x, out):
    return _cotangent_of_ties(F, ct, x, out, None, False, nan_ties=True)


@_min_all.vjp("x")
def _(F, ct, x, out):
    return _cotangent_of_ties(F, ct, x, out, None, False, nan_ties=True)


def _dim_or_other(op: str, second: Any, kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """Return the second argument of max or min as (dim, None) or (None, other)."""
    dim, other = kwargs.pop("dim", None), kwargs.pop("other", None)
    if second is not None:
        if dim is not None or other is not None:
            raise errors.multiple_values(op, "dim" if dim is not None else "other")
        dim, other = (second, None) if isinstance(second, (int, np.integer)) else (None, second)
    if dim is not None:
        dim = as_dim(dim)
    if other is not None and not hasattr(other, "shape"):
        raise errors.wrong_argument_type(op, "dim", 1, type(other), "int, or a Tensor")
    return dim, other


@composite(method=True)
def max(F, input, second=None, keepdim=False, **kwargs):
    """Largest element: max() of all, max(dim, keepdim=False) along one dimension, max(other) of each pair of elements.

    input: any real dtype. max(dim) returns a named tuple (values, indices); the index is that of the first largest element.
    NaN counts as largest. If there are no elements, raises IndexError with a dim, RuntimeError without.

    Derivative: max() shares 1 evenly among ties. max(dim) gives 1 to the element at the index. max(other): as in
    `maximum`.

    >>> import wengert
    >>> wengert.tensor([[1.0, 4.0], [3.0, 2.0]]).max(1).indices
    tensor([1, 0])
    """
    return _max_or_min(F, "max", input, second, keepdim, kwargs)


@composite(method=True)
def min(F, input, second=None, keepdim=False, **kwargs):
    """Smallest element: min() of all, min(dim, keepdim=False) along one dimension, min(other) of each pair of elements.

    input: any real dtype. min(dim) returns a named tuple (values, indices); the index is that of the first smallest element.
    NaN counts as smallest. If there are no elements, raises IndexError with a dim, RuntimeError without.

    Derivative: min() shares 1 evenly among ties. min(dim) gives 1 to the element at the index. min(other): as in
    `minimum`."""
    return _max_or_min(F, "min", input, second, keepdim, kwargs)


def _max_or_min(F: Any, op: str, input: Any, second: Any, keepdim: bool, kwargs: dict[str, Any]) -> Any:
    """Call the overload of max or min that the arguments name."""
    if second is None and not kwargs:
        return F._max_all(input) if op == "max" else F._min_all(input)
    dim, other = _dim_or_other(op, second, kwargs)
    if other is not None:
        return (F.maximum if op == "max" else F.minimum)(input, other, **kwargs)
    if dim is None:
        return F._max_all(input, **kwargs) if op == "max" else F._min_all(input, **kwargs)
    results = (F._max_dim if op == "max" else F._min_dim)(input, dim=dim, keepdim=keepdim, **kwargs)
    return (return_types.max if op == "max" else return_types.min)(results)


# -- the index alone ---------------------------------------------------------------------------------------------------


def _extreme_index(xp: Any, op: str, x: Any, dim: Any, keepdim: bool) -> Any:
    """Return the index of argmax or argmin; op names which."""
    if x.dtype.kind in "bc":
        raise errors.UnsupportedDtypeError(f"{op}(): does not support {'bool' if x.dtype.kind == 'b' else 'complex'} input")
    if dim is None:
        if x.size == 0:
            raise errors.DimensionError(f"{op}(): Expected reduction dim to be specified for input.numel() == 0.")
        index = xp.asarray(getattr(xp, op)(x))
        return index.reshape((1,) * x.ndim) if keepdim else index
    dim = as_dim(dim)
    _check_reduction(op, op, x, dim)
    dim = normalize_dim(dim, x.ndim)
    if x.ndim == 0:
        return xp.zeros((), xp.int64)
    return xp.asarray(getattr(xp, op)(x, axis=dim, keepdims=keepdim), xp.int64)


@nondifferentiable(complex=False)
def argmax(xp, x, *, dim=None, keepdim=False):
    """Index, as int64, of the first largest element along dim, or in the flattened tensor if dim is None.

    NaN counts as largest. x: any real dtype but bool, else RuntimeError. Raises IndexError if there are no elements."""
    return _extreme_index(xp, "argmax", x, dim, keepdim)


@nondifferentiable(complex=False)
def argmin(xp, x, *, dim=None, keepdim=False):
    """Index, as int64, of the first smallest element along dim, or in the flattened tensor if dim is None.

    NaN counts as smallest. x: any real dtype but bool, else RuntimeError. Raises IndexError if there are no elements."""
    return _extreme_index(xp, "argmin", x, dim, keepdim)


# -- the middle --------------------------------------------------------------------------------------------------------


def _median_index(xp: Any, x: Any, dim: int, skip_nan: bool) -> Any:
    """Index of the lower median along dim, the first among equals. The result has size 1 in dim.

    skip_nan: whether NaN is left out; if not, the index of the first NaN is returned where there is one."""
    order = xp.argsort(x, axis=dim, kind="stable")  # NaN sorts last
    nans = x != x
    count = x.shape[dim] - xp.add.reduce(nans, axis=dim, keepdims=True, dtype=xp.intp)
    middle = order[_index_along(xp, xp.maximum(count - 1, 0) // 2, dim)]
    return middle if skip_nan else xp.where(count < x.shape[dim], xp.argmax(nans, axis=dim, keepdims=True), middle)


def _median_and_index(xp: Any, op: str, x: Any, dim: Any, keepdim: bool) -> tuple[Any, Any]:
    """Return (values, indices) of median(dim) or nanmedian(dim); op names which."""
    _check_reduction(op, "median_cpu", x, dim)
    if x.ndim == 0 or x.size == 0:
        return _extreme_and_index(xp, "max", x, dim, keepdim)
    dim = normalize_dim(dim, x.ndim)
    found = scans.one_along(x, dim, scans.MIDDLE if op == "median" else scans.MIDDLE_NUMBER)
    if found is not None:
        return _without_kept_dim(found, x.shape, dim, keepdim)
    return _values_at(xp, x, _median_index(xp, x, dim, op == "nanmedian"), dim, keepdim)


def _median_of_all(xp: Any, x: Any, skip_nan: bool) -> Any:
    """Lower median of all elements. skip_nan: whether NaN is left out."""
    if x.dtype.kind == "c":
        raise errors.unsupported_dtype("median_cpu", x.dtype)
    if x.size == 0:
        return xp.full((), xp.nan if x.dtype.kind in "fV" else 0, x.dtype)
    flat = x.reshape(-1)
    found = scans.one_along(flat, 0, scans.MIDDLE_NUMBER if skip_nan else scans.MIDDLE)
    if found is not None:
        return found[0][0]
    return flat[_median_index(xp, flat, 0, skip_nan)[0]]


@general(outputs=("values", "indices"), node="MedianBackward1", complex=False, **_PRIVATE)
def _median_dim(xp, x, *, dim, keepdim=False):
    """Lower median along one dimension, and its index."""
    return _median_and_index(xp, "median", x, dim, keepdim)


@general(outputs=("values", "indices"), node="NanmedianBackward1", complex=False, **_PRIVATE)
def _nanmedian_dim(xp, x, *, dim, keepdim=False):
    """Lower median, along one dimension, of the elements that are not NaN, and its index."""
    return _median_and_index(xp, "nanmedian", x, dim, keepdim)


@general(node="MedianBackward0", complex=False, **_PRIVATE)
def _median_all(xp, x):
    """Lower median of all elements."""
    return _median_of_all(xp, x, False)


@general(node="NanmedianBackward0", complex=False, **_PRIVATE)
def _nanmedian_all(xp, x):
    """Lower median of all elements that are not NaN."""
    return _median_of_all(xp, x, True)


for _dim_op in (_median_dim, _nanmedian_dim):

    @_dim_op.vjp("x")
    def _(F, ct, x_shape, indices, dim, keepdim):
        return _cotangent_of_values(F, ct, x_shape, indices, dim, keepdim)


for _full_op in (_median_all, _nanmedian_all):

    @_full_op.vjp("x")
    def _(F, ct, x, out):
        return _cotangent_of_ties(F, ct, x, out, None, False, nan_ties=True)


@composite(method=True)
def median(F, input, dim=None, keepdim=False, **kwargs):
    """Median; of an even number of elements the lower of the two middle ones. NaN if an element is NaN.

    median() is the median of all elements. median(dim, keepdim=False) returns a named tuple (values, indices). input: any
    real dtype.

    Derivative: median() shares 1 evenly among ties. median(dim) gives 1 to the element at the index.

    >>> import wengert
    >>> wengert.tensor([4.0, 1.0, 3.0, 2.0]).median()
    tensor(2.)
    """
    if dim is None:
        return F._median_all(input, **kwargs)
    return return_types.median(F._median_dim(input, dim=dim, keepdim=keepdim, **kwargs))


@composite(method=True)
def nanmedian(F, input, dim=None, keepdim=False, **kwargs):
    """`median` of the elements that are not NaN; NaN if all elements are NaN.

    Derivative: as in `median`."""
    if dim is None:
        return F._nanmedian_all(input, **kwargs)
    return return_types.nanmedian(F._nanmedian_dim(input, dim=dim, keepdim=keepdim, **kwargs))
