"""softmax, log_softmax, logsumexp and softmin.

Note [Rows in the cache]
A softmax takes several passes over its rows. If the array is large and contiguous along the last dimension, the functions
below process groups of rows that stay in the processor's cache from one pass to the next, and write into one array.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from wengert import dtypes, errors
from wengert.backends.selection import backend_of, may_hold
from wengert.core.buffers import ReadCotangent, dense_of
from wengert.core.stacks import user_level
from wengert.kernels import rows
from wengert.ops.blas import row_maxima, row_sums
from wengert.ops.dims import normalize_dim, normalize_dims, restore_dims
from wengert.ops.indices import Along, is_mesh, raw
from wengert.ops.registry import INT_TO_FLOAT, composite, general

_PRIVATE: dict[str, Any] = {"method": False, "namespaces": ()}
_SOFTMAX: dict[str, Any] = {"namespaces": ("", "nn.functional", "special"), "keyword_only": ()}


@general(promote=INT_TO_FLOAT, namespaces=("", "special"), along_dim=True)
def logsumexp(xp, x, *, dim, keepdim=False):
    """log(sum(exp(x))) over dim, without overflow; -inf for no elements.

    x: any shape and dtype. dim: an int or a tuple. keepdim: keep the reduced dimensions with size 1.

    Derivative: exp(x - out), the softmax. If elements are inf, they share the 1 evenly (in torch it is NaN). If all are
    -inf, it is NaN."""
    axis = normalize_dims(dim, x.ndim)
    found = rows.logsumexp(x, axis, keepdim)
    if found is not None:
        return found
    if x.size == 0:
        return xp.log(xp.add.reduce(xp.exp(x), axis=axis, keepdims=keepdim))
    highest = x.real.max(axis=axis, keepdims=True)
    # A shift of inf would give inf - inf, NaN. With 0 instead, log(exp(inf)) and log(0) are right.
    highest = xp.where(xp.isfinite(highest), highest, highest.dtype.type(0))
    total = xp.add.reduce(xp.exp(x - highest), axis=axis, keepdims=keepdim)
    return xp.log(total) + (highest if keepdim else highest.reshape(total.shape))


@logsumexp.vjp("x")
def _(F, ct, x, out, dim, keepdim):
    ct, out = restore_dims(F, ct, x.shape, dim, keepdim), restore_dims(F, out, x.shape, dim, keepdim)
    return ct * F.conj(_shares(F, x, out, dim))


def _shares(F: Any, x: Any, out: Any, dim: Any) -> Any:
    """exp(x - out), each element's share of the sum. If elements are inf, they share 1 evenly. NaN if all are -inf."""
    xp = backend_of(x)
    largest = raw(x).real == float("inf")
    if not may_hold(largest):
        return F.exp(x - out)
    count = xp.maximum(xp.sum(largest, axis=normalize_dims(dim, x.ndim), keepdims=True), 1)
    return F.where(largest, (1 / count).astype(raw(x).real.dtype), F.exp(F.where(largest, 0, x) - out))


@logsumexp.jvp("x")
def _(F, x_t, x, out, dim, keepdim):
    return F.sum(x_t * _shares(F, x, restore_dims(F, out, x.shape, dim, keepdim), dim), dim=dim, keepdim=keepdim)


def _softmax_dim(op: str, dim: Any, ndim: int) -> int:
    """Return the dim of a softmax, counted from the front. If dim is None, warn and return torch's choice."""
    if dim is None:
        warnings.warn(
            f"Implicit dimension choice for {op} has been deprecated. Change the call to include dim=X as an argument.",
            stacklevel=user_level(),
        )
        dim = 0 if ndim in (0, 1, 3) else 1
    return normalize_dim(dim, ndim)


def _softmax_input(xp: Any, op: str, x: Any, stacklevel: Any, dtype: Any) -> tuple[Any, Any]:
    """Return (x with at least one dimension, in the dtype of the computation; dtype of the result)."""
    if dtype is None and not isinstance(stacklevel, int):
        dtype = stacklevel  # softmax(x, dim, dtype)
    if dtype is not None:
        x = xp.cast(x, dtypes.as_numpy_dtype(dtype))
    if x.dtype.kind not in "fV":
        raise errors.unsupported_dtype(f"{op}_kernel_impl", x.dtype)
    result = x.dtype
    if result.itemsize == 2:
        x = x.astype(xp.float32)
    return (x.reshape(1) if x.ndim == 0 else x), result


@general(**_SOFTMAX, along_dim=True)
def softmax(xp, x, *, dim=None, _stacklevel=3, dtype=None):
    """Softmax exp(x) / sum(exp(x)) over one dimension.

    x: any shape, floating. dim: an int; if None, torch's choice with a warning. dtype: x is cast to it first.

    Derivative: out_i (ct_i - sum_j ct_j out_j).

    >>> import wengert
    >>> wengert.tensor([0.0, 0.0]).softmax(0)
    tensor([0.5000, 0.5000])
    """
    dim = _softmax_dim("softmax", dim, x.ndim)
    shape = x.shape
    x, result = _softmax_input(xp, "softmax", x, _stacklevel, dtype)
    if x.size == 0:
        return xp.zeros(shape, result)
    found = rows.softmax(False, dim, x)
    if found is not None:
        return found.astype(result, copy=False).reshape(shape)
    if dim == x.ndim - 1 and x.size > _LARGE:
        return _by_rows(xp, _softmax_rows, x).astype(result, copy=False).reshape(shape)
    out = x - x.max(axis=dim, keepdims=True)
    xp.exp(out, out=out)
    out /= xp.add.reduce(out, axis=dim, keepdims=True)
    return out.astype(result, copy=False).reshape(shape)


_GROUP = 131072  # elements in a group of rows. See Note [Rows in the cache]
_LARGE = 16384  # elements from which groups of rows are faster


def _by_rows(xp: Any, compute: Callable[..., None], x: Any, *others: Any) -> Any:
    """Call compute(xp, out, x, *others) on one group of rows after another; return out, contiguous, like x.

    others: of x's shape. compute gets matrices, whose rows are those along the last dimension, and fills `out`."""
    out = xp.empty(x.shape, x.dtype)
    size = x.shape[-1]
    matrices = [array.reshape(-1, size) for array in (out, x, *others)]
    group = max(1, _GROUP // size)
    n = matrices[0].shape[0]
    if n <= group:
        compute(xp, *matrices)
    else:
        for i in range(0, n, group):
            compute(xp, *[matrix[i : i + group] for matrix in matrices])
    return out


def _softmax_rows(xp: Any, out: Any, x: Any) -> None:
    xp.subtract(x, row_maxima(xp, x)[:, None], out=out)
    xp.exp(out, out=out)
    xp.divide(out, row_sums(xp, out)[:, None], out=out)


def _log_softmax_rows(xp: Any, out: Any, x: Any) -> None:
    xp.subtract(x, row_maxima(xp, x)[:, None], out=out)
    xp.subtract(out, xp.log(row_sums(xp, xp.exp(out)))[:, None], out=out)


def _softmax_cotangent_rows(xp: Any, out: Any, ct: Any, softmax: Any) -> None:
    xp.multiply(ct, softmax, out=out)
    xp.subtract(out, softmax * row_sums(xp, out)[:, None], out=out)


def _log_softmax_cotangent_rows(xp: Any, out: Any, ct: Any, log_softmax: Any) -> None:
    xp.exp(log_softmax, out=out)
    xp.multiply(out, row_sums(xp, ct)[:, None], out=out)
    xp.subtract(ct, out, out=out)


@softmax.vjp("x")
def _(F, ct, out, dim):
    return F._softmax_cotangent(ct, out, dim=dim)


@softmax.jvp("x")
def _(F, x_t, out, dim):
    return F._softmax_cotangent(x_t, out, dim=dim)  # the matrix of derivatives is symmetric


@general(node="SoftmaxBackwardDataBackward0", **_PRIVATE, along_dim=True)
def _softmax_cotangent(xp, ct, softmax, *, dim):
    """Cotangent of x, given the cotangent of softmax(x) and softmax(x)."""
    dim = _resolved_dim(dim, ct.ndim)
    found = rows.softmax(False, dim, ct, softmax) if ct.ndim else None
    if found is not None:
        return found
    if _fits_rows(ct, softmax, dim):
        return _by_rows(xp, _softmax_cotangent_rows, ct, softmax)
    weighted = ct * softmax
    return weighted - softmax * xp.add.reduce(weighted, axis=dim, keepdims=True)


def _resolved_dim(dim: Any, ndim: int) -> Any:
    """Return the dim of a softmax, which may be torch's implicit choice, without a warning; () for a 0-d tensor."""
    if ndim == 0:
        return ()
    return (0 if ndim in (1, 3) else 1) if dim is None else normalize_dim(dim, ndim)


def _fits_rows(ct: Any, out: Any, dim: Any) -> bool:
    """Whether _by_rows may compute the cotangent of x from these two arrays."""
    return dim == ct.ndim - 1 and ct.dtype is out.dtype and ct.shape == out.shape and ct.size > _LARGE


def _dim_or_zero(dim: Any, ndim: int) -> int:
    return _resolved_dim(dim, ndim) if ndim else 0


@_softmax_cotangent.vjp("ct", "softmax")
def _(F, ct_, ct, softmax, dim):
    dim = _dim_or_zero(dim, ct.ndim)
    inner, outer = F.sum(ct * softmax, dim=dim, keepdim=True), F.sum(ct_ * softmax, dim=dim, keepdim=True)
    return F._softmax_cotangent(ct_, softmax, dim=dim), ct_ * (ct - inner) - ct * outer


@general(**_SOFTMAX, along_dim=True)
def log_softmax(xp, x, *, dim=None, _stacklevel=3, dtype=None):
    """Logarithm of softmax over one dimension, accurate where the softmax is close to 0 or 1. Arguments: as `softmax`.

    Derivative: ct_i - exp(out_i) sum_j ct_j."""
    dim = _softmax_dim("log_softmax", dim, x.ndim)
    shape = x.shape
    x, result = _softmax_input(xp, "log_softmax", x, _stacklevel, dtype)
    if x.size == 0:
        return xp.zeros(shape, result)
    found = rows.softmax(True, dim, x)
    if found is not None:
        return found.astype(result, copy=False).reshape(shape)
    if dim == x.ndim - 1 and x.size > _LARGE:
        return _by_rows(xp, _log_softmax_rows, x).astype(result, copy=False).reshape(shape)
    out = x - x.max(axis=dim, keepdims=True)
    out -= xp.log(xp.add.reduce(xp.exp(out), axis=dim, keepdims=True))
    return out.astype(result, copy=False).reshape(shape)


log_softmax.takes_reads = True


@log_softmax.vjp("x")
def _(F, ct, out, dim):
    if isinstance(ct, ReadCotangent):
        return _log_softmax_cotangent_of_read(F, ct, out, dim)
    return F._log_softmax_cotangent(ct, out, dim=dim)


def _log_softmax_cotangent_of_read(F: Any, read: ReadCotangent, out: Any, dim: Any) -> Any:
    """Cotangent of x, given a cotangent of log_softmax(x) that is 0 except where the result was read.

    A loss reads one class of each row. Then the cotangent is computed without a dense cotangent of log_softmax(x)."""
    xp = backend_of(out)
    result = None
    last = out.ndim - 1
    index = read.index
    row: Any
    if type(index) is Along and index.dim == last:
        row = Along(xp.zeros_like(index.index), last)
    else:
        row = (*index[:-1], xp.zeros_like(index[-1])) if is_mesh(index, out.ndim) else None
    if row is not None and _resolved_dim(dim, out.ndim) == last:
        sums = xp.zeros((*out.shape[:-1], 1), out.dtype)
        F.add_at(sums, row, read.value, True)
        result = rows.log_softmax_base(sums, out)
    if result is not None:
        F.add_at(result, read.index, read.value, read.repeats)
        return result
    return F._log_softmax_cotangent(dense_of(read, out.shape, out.dtype, F), out, dim=dim)


@log_softmax.jvp("x")
def _(F, x_t, out, dim):
    return x_t - F.sum(F.exp(out) * x_t, dim=_resolved_dim(dim, out.ndim), keepdim=True)


@general(node="LogSoftmaxBackwardDataBackward0", **_PRIVATE, along_dim=True)
def _log_softmax_cotangent(xp, ct, log_softmax, *, dim):
    """Cotangent of x, given the cotangent of log_softmax(x) and log_softmax(x)."""
    dim = _resolved_dim(dim, ct.ndim)
    found = rows.softmax(True, dim, ct, log_softmax) if ct.ndim else None
    if found is not None:
        return found
    if _fits_rows(ct, log_softmax, dim):
        return _by_rows(xp, _log_softmax_cotangent_rows, ct, log_softmax)
    return ct - xp.exp(log_softmax) * xp.add.reduce(ct, axis=dim, keepdims=True)


@_log_softmax_cotangent.vjp("ct", "log_softmax")
def _(F, ct_, ct, log_softmax, dim):
    dim = _dim_or_zero(dim, ct.ndim)
    weighted = ct_ * F.exp(log_softmax)
    return ct_ - F.sum(weighted, dim=dim, keepdim=True), -(weighted * F.sum(ct, dim=dim, keepdim=True))


@composite(namespaces=("nn.functional",))
def softmin(F, input, dim=None, _stacklevel=3, dtype=None):
    """softmax(-input) over one dimension. Arguments: as `softmax`.

    Derivative: minus that of softmax."""
    return F.softmax(-input, dim=dim, dtype=dtype)
