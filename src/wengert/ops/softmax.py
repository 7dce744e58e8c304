"""softmax, its logarithm, and the logarithm of a sum of exponentials."""

from __future__ import annotations

import warnings
from typing import Any

from wengert import dtypes, errors
from wengert.ops.dims import normalize_dim, normalize_dims, restore_dims
from wengert.ops.registry import INT_TO_FLOAT, composite, general

_PRIVATE: dict[str, Any] = {"method": False, "namespaces": ()}
_SOFTMAX: dict[str, Any] = {"complex": False, "namespaces": ("", "nn.functional", "special"), "keyword_only": ()}


@general(promote=INT_TO_FLOAT, namespaces=("", "special"))
def logsumexp(xp, x, *, dim, keepdim=False):
    """log(sum(exp(x))) over dim (an int or a tuple), without overflow. x: any shape and dtype; -inf of nothing.

    Derivative: exp(x - out), the softmax; NaN where all elements are -inf."""
    axis = normalize_dims(dim, x.ndim)
    if x.size == 0:
        return xp.log(xp.add.reduce(xp.exp(x), axis=axis, keepdims=keepdim))
    highest = xp.maximum.reduce(x.real, axis=axis, keepdims=True)
    # inf - inf would be NaN; 0 in its place gives log(exp(inf)) and log(0), which are right.
    highest = xp.where(xp.isfinite(highest), highest, highest.dtype.type(0))
    total = xp.add.reduce(xp.exp(x - highest), axis=axis, keepdims=keepdim)
    return xp.log(total) + (highest if keepdim else highest.reshape(total.shape))


@logsumexp.vjp("x")
def _(F, ct, x, out, dim, keepdim):
    ct, out = restore_dims(F, ct, x.shape, dim, keepdim), restore_dims(F, out, x.shape, dim, keepdim)
    return ct * F.conj(F.exp(x - out))


def _softmax_dim(op: str, dim: Any, ndim: int) -> int:
    """The dim of a softmax; torch's choice, with its warning, where none is given."""
    if dim is None:
        warnings.warn(errors.implicit_softmax_dim(op), stacklevel=4)
        dim = 0 if ndim in (0, 1, 3) else 1
    return normalize_dim(dim, ndim)


def _softmax_input(xp: Any, op: str, x: Any, stacklevel: Any, dtype: Any) -> tuple[Any, Any]:
    """x with at least one dimension, in the dtype to compute in; and the dtype of the result."""
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


@general(**_SOFTMAX)
def softmax(xp, x, *, dim=None, _stacklevel=3, dtype=None):
    """exp(x) / sum(exp(x)) over one dimension. x: any shape, floating, unless dtype is given: x is cast to it first.

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
    out = x - xp.maximum.reduce(x, axis=dim, keepdims=True)
    xp.exp(out, out=out)
    out /= xp.add.reduce(out, axis=dim, keepdims=True)
    return out.astype(result, copy=False).reshape(shape)


@softmax.vjp("x")
def _(F, ct, out, dim):
    return F._softmax_cotangent(ct, out, dim=dim)


@general(node="SoftmaxBackwardDataBackward0", **_PRIVATE)
def _softmax_cotangent(xp, ct, softmax, *, dim):
    """The cotangent of x, from that of softmax(x) and softmax(x) itself."""
    dim = _given_dim(dim, ct.ndim)
    weighted = ct * softmax
    return weighted - softmax * xp.add.reduce(weighted, axis=dim, keepdims=True)


def _given_dim(dim: Any, ndim: int) -> Any:
    """The dim that a softmax was taken over, where it has warned about an implicit one already; () for a 0-d tensor."""
    if ndim == 0:
        return ()
    return (0 if ndim in (1, 3) else 1) if dim is None else normalize_dim(dim, ndim)


def _over(dim: Any, ndim: int) -> int:
    return _given_dim(dim, ndim) if ndim else 0


@_softmax_cotangent.vjp("ct", "softmax")
def _(F, ct_, ct, softmax, dim):
    dim = _over(dim, ct.ndim)
    inner, outer = F.sum(ct * softmax, dim=dim, keepdim=True), F.sum(ct_ * softmax, dim=dim, keepdim=True)
    return F._softmax_cotangent(ct_, softmax, dim=dim), ct_ * (ct - inner) - ct * outer


@general(**_SOFTMAX)
def log_softmax(xp, x, *, dim=None, _stacklevel=3, dtype=None):
    """log(softmax(x)) over one dimension, exact also where softmax is close to 0 or 1. Arguments as in `softmax`.

    Derivative: ct_i - exp(out_i) sum_j ct_j."""
    dim = _softmax_dim("log_softmax", dim, x.ndim)
    shape = x.shape
    x, result = _softmax_input(xp, "log_softmax", x, _stacklevel, dtype)
    if x.size == 0:
        return xp.zeros(shape, result)
    out = x - xp.maximum.reduce(x, axis=dim, keepdims=True)
    out -= xp.log(xp.add.reduce(xp.exp(out), axis=dim, keepdims=True))
    return out.astype(result, copy=False).reshape(shape)


@log_softmax.vjp("x")
def _(F, ct, out, dim):
    return F._log_softmax_cotangent(ct, out, dim=dim)


@general(node="LogSoftmaxBackwardDataBackward0", **_PRIVATE)
def _log_softmax_cotangent(xp, ct, log_softmax, *, dim):
    """The cotangent of x, from that of log_softmax(x) and log_softmax(x) itself."""
    return ct - xp.exp(log_softmax) * xp.add.reduce(ct, axis=_given_dim(dim, ct.ndim), keepdims=True)


@_log_softmax_cotangent.vjp("ct", "log_softmax")
def _(F, ct_, ct, log_softmax, dim):
    dim = _over(dim, ct.ndim)
    weighted = ct_ * F.exp(log_softmax)
    return ct_ - F.sum(weighted, dim=dim, keepdim=True), -(weighted * F.sum(ct, dim=dim, keepdim=True))


@composite(namespaces=("nn.functional",))
def softmin(F, input, dim=None, _stacklevel=3, dtype=None):
    """softmax(-input) over one dimension.

    Derivative: minus that of softmax."""
    return F.softmax(-input, dim=dim, dtype=dtype)
