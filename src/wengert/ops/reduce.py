"""Sums, means, products, all, any and count_nonzero."""

from __future__ import annotations

from typing import Any

from wengert import dtypes, errors
from wengert.backends.selection import others
from wengert.core.op import REDUCED
from wengert.kernels import rows, scans
from wengert.ops.blas import add_up
from wengert.ops.dims import broadcast_to_input, count_of, normalize_dim, normalize_dims, restore_dims
from wengert.ops.indices import raw
from wengert.ops.registry import INT_TO_INT64, general, linear, nondifferentiable


def _node_by_dim(name: str, over: str = "dim") -> Any:
    """Return a function that names a node. As in torch, a full reduction ends in 0, a reduction over given dims in 1."""
    full, partial = f"{name}Backward0", f"{name}Backward1"
    return lambda inputs, params: full if params is None or params[over] is None else partial


def _as_dtype(xp: Any, x: Any, dtype: Any) -> Any:
    """Cast x to dtype; return x itself if dtype is None."""
    if dtype is None:
        return x
    wanted = dtypes.as_numpy_dtype(dtype)
    return x if x.dtype == wanted else xp.cast(x, wanted)


def _axis(dim: Any, ndim: int) -> tuple[int, ...] | None:
    return None if dim is None else normalize_dims(dim, ndim)


def _is_half(x: Any) -> bool:
    """Whether x has a 16-bit floating dtype, which is summed in float32."""
    return x.dtype.itemsize == 2 and x.dtype.kind in "fV"


def _add_up(xp: Any, x: Any, axis: Any, keepdim: bool) -> Any:
    if _is_half(x):
        return xp.add.reduce(x, axis=axis, dtype=xp.float32, keepdims=keepdim).astype(x.dtype)
    if x.dtype.kind in "fc":
        return add_up(xp, x, axis, keepdim)
    return xp.add.reduce(x, axis=axis, dtype=x.dtype, keepdims=keepdim)  # NumPy would widen small integers


@linear(promote=INT_TO_INT64, node=_node_by_dim("Sum"), moves=True, layout=REDUCED)
def sum(xp, x, *, dim=None, keepdim=False, dtype=None):
    """Sum over dim.

    x: any shape and dtype; bools and integers sum to int64. dim: an int, a tuple, or None for all dimensions. keepdim:
    keep the reduced dimensions with size 1. dtype: x is cast to it first. The sum of no elements is 0.

    Derivative: 1 in every element.

    >>> import wengert
    >>> wengert.tensor([[1.0, 2.0], [3.0, 4.0]]).sum(dim=0)
    tensor([4., 6.])
    """
    return _add_up(xp, _as_dtype(xp, x, dtype), _axis(dim, x.ndim), keepdim)


@sum.vjp("x")
def _(F, ct, x_shape, dim, keepdim):
    return broadcast_to_input(F, ct, x_shape, dim, keepdim)


@general(promote=INT_TO_INT64, complex=False, along_dim=True)
def nansum(xp, x, *, dim=None, keepdim=False, dtype=None):
    """Sum over dim that counts NaN as 0. Arguments: as `sum`. Raises RuntimeError for complex x.

    Derivative: 1 in every element, 0 where x is NaN."""
    if x.dtype.kind == "c":
        raise errors.UnsupportedDtypeError("nansum on CPU does not support complex inputs")
    x = _as_dtype(xp, x, dtype)
    return _add_up(xp, xp.where(xp.isnan(x), x.dtype.type(0), x), _axis(dim, x.ndim), keepdim)


@nansum.vjp("x")
def _(F, ct, x, dim, keepdim):
    return restore_dims(F, ct, x.shape, dim, keepdim) * F._is_not_nan(x)


@nondifferentiable(method=False, namespaces=())
def _is_not_nan(xp, x):
    """1 where x is not NaN, 0 where x is NaN, in the dtype of x."""
    return (x == x).astype(x.dtype)


@linear(node=_node_by_dim("Mean"), moves=True)
def mean(xp, x, *, dim=None, keepdim=False, dtype=None):
    """Mean over dim.

    x: any shape, floating or complex; any dtype if dtype is given. dim: an int, a tuple, or None for all dimensions.
    keepdim: keep the reduced dimensions with size 1. dtype: x is cast to it first. The mean of no elements is NaN. Raises
    RuntimeError for bools and integers if dtype is None.

    Derivative: 1 / n in every element, where n elements make up a mean.

    >>> import wengert
    >>> wengert.tensor([[1.0, 2.0], [3.0, 4.0]]).mean(dim=1)
    tensor([1.5000, 3.5000])
    """
    x = _as_dtype(xp, x, dtype)
    if x.dtype.kind in "biu":
        raise errors.UnsupportedDtypeError(
            "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: "
            f"{errors.scalar_name(x.dtype)}"
        )
    axis = _axis(dim, x.ndim)
    average = rows.reduce(rows.MEAN, x, axis, keepdim)
    if average is not None:
        return average
    n = x.size if axis is None else count_of(x.shape, axis)
    if _is_half(x):
        return (xp.add.reduce(x, axis=axis, dtype=xp.float32, keepdims=keepdim) / n).astype(x.dtype)
    return add_up(xp, x, axis, keepdim) / n


@mean.vjp("x")
def _(F, ct, x_shape, dim, keepdim):
    return broadcast_to_input(F, ct / count_of(x_shape, dim), x_shape, dim, keepdim)


@general(promote=INT_TO_INT64, node=_node_by_dim("Prod"), along_dim=True)
def prod(xp, x, *, dim=None, keepdim=False, dtype=None):
    """Product over one dimension, or over all if dim is None.

    x: any shape and dtype; bools and integers give int64. dim: an int or None. keepdim: keep the reduced dimension with
    size 1. dtype: x is cast to it first. The product of no elements is 1.

    Derivative: for each element the product of the others; right where elements are 0 too, and to any order."""
    x = _as_dtype(xp, x, dtype)
    axis = None if dim is None else normalize_dims(normalize_dim(dim, x.ndim), x.ndim)
    found = scans.multiply_up(x, axis[0]) if axis else None
    if axis and found is not None:
        return found if keepdim else found.reshape(x.shape[: axis[0]] + x.shape[axis[0] + 1 :])
    if x.dtype.kind == "f" and x.size > _FOLD and not keepdim and (axis is None or axis[0] == x.ndim - 1):
        return _multiply_up(xp, x.reshape(-1) if axis is None else x)
    return xp.multiply.reduce(x, axis=axis, dtype=x.dtype, keepdims=keepdim)


_FOLD = 64


def _multiply_up(xp: Any, x: Any) -> Any:
    """Multiply along the last dimension by multiplying halves. NumPy's product is a chain of dependent multiplications."""
    while x.shape[-1] > _FOLD:
        half = x.shape[-1] // 2
        product = x[..., :half] * x[..., half : 2 * half]
        if x.shape[-1] % 2:
            product[..., 0] *= x[..., -1]
        x = product
    return xp.multiply.reduce(x, axis=-1)


@prod.vjp("x")
def _(F, ct, x, out, dim, keepdim):
    ct, out = restore_dims(F, ct, x.shape, dim, keepdim), restore_dims(F, out, x.shape, dim, keepdim)
    if type(raw(x)) not in others and not bool(F._any_zero(x, out)):
        return ct * F.conj(out / x)
    flat = F.reshape(x, shape=(-1,)) if dim is None else x
    over = 0 if dim is None else dim
    before, after = F._scan(flat, dim=over, init=1.0), F._scan(flat, dim=over, reverse=True, init=1.0)
    return ct * F.conj(F.reshape(before * after, shape=x.shape))


@nondifferentiable(method=False, namespaces=())
def _any_zero(xp, x, products=None):
    """0-d bool: whether an element of x is 0. products: the products of all elements; one is 0 or NaN if a factor is 0."""
    if products is not None and not ((products == 0) | (products != products)).any():
        return xp.asarray(False)
    return xp.asarray(x.size != xp.count_nonzero(x))


def _reduce_truth(method: str, x: Any, dim: Any, keepdim: bool) -> Any:
    # As in torch, dim=() reduces nothing here, unlike in all other reductions.
    axis = () if isinstance(dim, (tuple, list)) and not dim else _axis(dim, x.ndim)
    out = getattr(x, method)(axis=axis, keepdims=keepdim) if axis != () else x != 0
    return out.astype(x.dtype) if x.dtype.char == "B" else out


@nondifferentiable()
def all(xp, x, *, dim=None, keepdim=False):
    """Whether all elements over dim are nonzero; NaN is nonzero. True if there are no elements.

    x: any shape and dtype. dim: an int, a tuple, or None for all dimensions; dim=() reduces nothing. keepdim: keep the
    reduced dimensions with size 1. Returns bool, or uint8 for uint8."""
    return _reduce_truth("all", x, dim, keepdim)


@nondifferentiable()
def any(xp, x, *, dim=None, keepdim=False):
    """Whether any element over dim is nonzero; NaN is nonzero. False if there are no elements.

    x: any shape and dtype. dim: an int, a tuple, or None for all dimensions; dim=() reduces nothing. keepdim: keep the
    reduced dimensions with size 1. Returns bool, or uint8 for uint8."""
    return _reduce_truth("any", x, dim, keepdim)


@nondifferentiable()
def count_nonzero(xp, x, *, dim=None):
    """Number of nonzero elements over dim (an int, a tuple, or None for all dimensions), int64. x: any shape and dtype."""
    return xp.asarray(xp.count_nonzero(x, axis=_axis(dim, x.ndim)))
