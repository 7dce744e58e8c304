"""Reductions and normalisations of the elements that a mask leaves: wengert.masked.

An element whose mask is False counts as not there: it is replaced by what changes nothing (0 in a sum, -inf under a
maximum), so its gradient is 0. What nothing is left of is what torch says it is: 0 for a sum, NaN for a mean.
"""

from __future__ import annotations

from math import inf, nan
from typing import Any

import numpy as np

from wengert import dtypes, errors
from wengert.ops.dims import count_of, normalize_dims
from wengert.ops.indices import raw
from wengert.ops.registry import composite
from wengert.ops.values import number_of

_MASKED: dict[str, Any] = {"namespaces": ("masked",)}


def _prepared(F: Any, name: str, input: Any, mask: Any, dtype: Any) -> tuple[Any, Any]:
    """The input in a dtype, None for its own, and the mask in the input's shape, None where all elements count."""
    if dtype is not None:
        input = F.cast(input, dtype=dtypes.as_numpy_dtype(dtype))
    if mask is None:
        return input, None
    if not hasattr(mask, "shape"):
        raise errors.wrong_argument_type(name, "mask", 0, type(mask))
    if mask.ndim > input.ndim:
        raise errors.masked_dimensions()
    return input, F.expand(F.cast(mask, dtype=np.dtype(np.bool_)), shape=tuple(input.shape))


def _filled(F: Any, input: Any, mask: Any, value: Any) -> Any:
    return input if mask is None else F._masked_fill(input, F.logical_not(mask), value)


def _count(F: Any, input: Any, mask: Any, dim: Any, keepdim: bool) -> Any:
    """How many elements are left of each reduction: a number, or a tensor in the input's real dtype."""
    if mask is None:
        return float(count_of(tuple(input.shape), dim))
    kind = np.dtype(f"f{raw(input).dtype.itemsize // 2}") if raw(input).dtype.kind == "c" else raw(input).dtype
    return F.sum(F.cast(mask, dtype=kind), dim=dim, keepdim=keepdim)


def _widened(input: Any, dtype: Any) -> Any:
    """The dtype in which integers are added and multiplied."""
    return dtypes.int64 if dtype is None and raw(input).dtype.kind in "iub" else dtype


def _bound(input: Any, mask: Any, lowest: bool) -> Any:
    """The least (or largest) value of the input's dtype: what a maximum (minimum) of nothing is."""
    kind = raw(input).dtype
    if mask is None:
        return 0  # not needed
    if kind.kind == "c":
        raise errors.masked_complex_bound(kind)
    if kind.kind == "b":
        return not lowest
    if kind.kind in "iu":
        return np.iinfo(kind).min if lowest else np.iinfo(kind).max
    return -inf if lowest else inf


@composite(name="masked_sum", **_MASKED)
def masked_sum(F, input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """Sum of the elements whose mask is True over dim (an int, a tuple, None for all). Of none it is 0.

    input: any shape and dtype; integers are added in int64. mask: bool, broadcasts to the input's shape; None for all.
    Derivative: the cotangent where mask is True, 0 elsewhere."""
    input, mask = _prepared(F, "sum", input, mask, _widened(input, dtype))
    return F.sum(_filled(F, input, mask, 0), dim=normalize_dims(dim, input.ndim), keepdim=keepdim)


@composite(name="masked_prod", **_MASKED)
def masked_prod(F, input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """Product of the elements whose mask is True over dim. Of none it is 1. Arguments: see masked.sum.

    Derivative: as prod, 0 where mask is False."""
    input, mask = _prepared(F, "prod", input, mask, _widened(input, dtype))
    filled = _filled(F, input, mask, 1)
    dims = normalize_dims(dim, input.ndim)
    for d in reversed(dims):
        filled = F.prod(filled, dim=d, keepdim=keepdim)
    return filled


@composite(name="masked_amax", **_MASKED)
def masked_amax(F, input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """Largest of the elements whose mask is True over dim. Of none it is the least value of the dtype.

    Derivative: as amax, 0 where mask is False."""
    input, mask = _prepared(F, "amax", input, mask, dtype)
    return F.amax(_filled(F, input, mask, _bound(input, mask, True)), dim=normalize_dims(dim, input.ndim), keepdim=keepdim)


@composite(name="masked_amin", **_MASKED)
def masked_amin(F, input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """Smallest of the elements whose mask is True over dim. Of none it is the largest value of the dtype.

    Derivative: as amin, 0 where mask is False."""
    input, mask = _prepared(F, "amin", input, mask, dtype)
    return F.amin(_filled(F, input, mask, _bound(input, mask, False)), dim=normalize_dims(dim, input.ndim), keepdim=keepdim)


def _position(F: Any, name: str, input: Any, dim: Any, keepdim: bool, dtype: Any, mask: Any) -> Any:
    input, mask = _prepared(F, name, input, mask, dtype)
    filled = _filled(F, input, mask, _bound(input, mask, name == "argmax"))
    # As torch has it, the positions come in the input's dtype.
    return F.cast(getattr(F, name)(filled, dim=dim, keepdim=keepdim), dtype=raw(input).dtype)


@composite(name="masked_argmax", **_MASKED)
def masked_argmax(F, input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """Where the largest of the elements whose mask is True is, along dim or in all, in the input's dtype or dtype."""
    return _position(F, "argmax", input, dim, keepdim, dtype, mask)


@composite(name="masked_argmin", **_MASKED)
def masked_argmin(F, input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """Where the smallest of the elements whose mask is True is, along dim or in all, in the input's dtype or dtype."""
    return _position(F, "argmin", input, dim, keepdim, dtype, mask)


@composite(name="masked_mean", **_MASKED)
def masked_mean(F, input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """Mean of the elements whose mask is True over dim. Of none it is NaN. Raises ValueError for integers without dtype.

    Derivative: the cotangent over their number where mask is True, 0 elsewhere."""
    if dtype is None and raw(input).dtype.kind in "iub":
        raise errors.masked_mean_dtype(raw(input).dtype)
    input, mask = _prepared(F, "mean", input, mask, dtype)
    dims = normalize_dims(dim, input.ndim)
    total = F.sum(_filled(F, input, mask, 0), dim=dims, keepdim=keepdim)
    return total / _count(F, input, mask, dims, keepdim)


def _variance(F: Any, name: str, input: Any, dim: Any, unbiased: Any, correction: Any, keepdim: bool, dtype: Any, mask: Any) -> Any:
    if unbiased is not None and correction is not None:
        raise errors.masked_correction()
    correction = (1 if unbiased is None else int(unbiased)) if correction is None else number_of(correction)
    if dtype is None and raw(input).dtype.kind in "iub":
        dtype = dtypes.get_default_dtype()
    input, mask = _prepared(F, name, input, mask, dtype)
    dims = normalize_dims(dim, input.ndim)
    count = _count(F, input, mask, dims, True)
    mean = F.sum(_filled(F, input, mask, 0), dim=dims, keepdim=True) / count
    off = _filled(F, input - mean, mask, 0)
    squares = off * F.conj(off)
    left = _count(F, input, mask, dims, keepdim) - correction
    left = max(left, 0) if isinstance(left, float) else F.clamp(left, min=0, max=None)
    return F.sum(squares, dim=dims, keepdim=keepdim) / left


@composite(name="masked_var", **_MASKED)
def masked_var(F, input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None):
    """Variance of the elements whose mask is True over dim, their number less correction (1) below. NaN for too few.

    unbiased: True means correction 1, False 0. Integers become the default float dtype. Derivative: that of the formula."""
    return _variance(F, "var", input, dim, unbiased, correction, keepdim, dtype, mask)


@composite(name="masked_std", **_MASKED)
def masked_std(F, input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None):
    """Square root of masked.var. Derivative: that of the formula."""
    return F.sqrt(_variance(F, "std", input, dim, unbiased, correction, keepdim, dtype, mask))


def _norm(F: Any, input: Any, ord: Any, dim: Any, keepdim: bool, mask: Any) -> Any:
    return F.linalg_vector_norm(_filled(F, input, mask, inf if ord < 0 else 0), ord, dim, keepdim)


@composite(name="masked_norm", **_MASKED)
def masked_norm(F, input, ord=2.0, dim=None, *, keepdim=False, dtype=None, mask=None):
    """Norm of the elements whose mask is True over dim: see linalg.vector_norm. Of none it is 0, infinity for negative ord.

    Derivative: as linalg.vector_norm, 0 where mask is False."""
    input, mask = _prepared(F, "norm", input, mask, dtype)
    return _norm(F, input, ord, normalize_dims(dim, input.ndim), keepdim, mask)


@composite(name="masked_normalize", **_MASKED)
def masked_normalize(F, input, ord, dim, *, eps=1e-12, dtype=None, mask=None):
    """input divided by its masked.norm over dim, at least eps; 0 where mask is False. Derivative: that of the quotient."""
    input, mask = _prepared(F, "normalize", input, mask, dtype)
    length = _norm(F, input, ord, normalize_dims(dim, input.ndim), True, mask)
    return _filled(F, input, mask, 0) / F.clamp(length, min=eps, max=None)


@composite(name="masked_softmax", **_MASKED)
def masked_softmax(F, input, dim, *, dtype=None, mask=None):
    """softmax over dim of the elements whose mask is True; 0 at the others, NaN where there are no others.

    Derivative: as softmax, 0 where mask is False."""
    input, mask = _prepared(F, "softmax", input, mask, dtype)
    return F.softmax(_filled(F, input, mask, _bound(input, mask, True)), dim)


@composite(name="masked_log_softmax", **_MASKED)
def masked_log_softmax(F, input, dim, *, dtype=None, mask=None):
    """Logarithm of masked.softmax. Derivative: as log_softmax, 0 where mask is False."""
    input, mask = _prepared(F, "log_softmax", input, mask, dtype)
    return F.log_softmax(_filled(F, input, mask, _bound(input, mask, True)), dim)


@composite(name="masked_softmin", **_MASKED)
def masked_softmin(F, input, dim, *, dtype=None, mask=None):
    """masked.softmax of -input. Derivative: as softmin, 0 where mask is False."""
    input, mask = _prepared(F, "softmin", input, mask, dtype)
    return F.softmax(-_filled(F, input, mask, _bound(input, mask, False)), dim)


@composite(name="masked_logsumexp", **_MASKED)
def masked_logsumexp(F, input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """log(sum(exp(input))) of the elements whose mask is True over dim. Of none it is -inf.

    Derivative: as logsumexp, 0 where mask is False."""
    if dtype is None and raw(input).dtype.kind in "iub":
        dtype = dtypes.get_default_dtype()
    input, mask = _prepared(F, "logsumexp", input, mask, dtype)
    return F.logsumexp(_filled(F, input, mask, -inf), dim=normalize_dims(dim, input.ndim), keepdim=keepdim)


@composite(name="masked_median", **_MASKED)
def masked_median(F, input, dim=-1, *, keepdim=False, dtype=None, mask=None):
    """Median of the elements whose mask is True along dim, the lower of two. Of none it is NaN; ValueError for integers.

    Derivative: the cotangent at the median."""
    input, mask = _prepared(F, "median", input, mask, dtype)
    kind = raw(input).dtype
    if mask is None or kind.kind == "f":
        return F.nanmedian(_filled(F, input, mask, nan), dim, keepdim)[0]
    if not bool(raw(mask).any(axis=dim).all()):
        raise errors.masked_median_of_nothing()
    filled = _filled(F, F.cast(input, dtype=np.dtype(np.float64)), mask, nan)
    return F.cast(F.nanmedian(filled, dim, keepdim)[0], dtype=kind)


@composite(name="masked_cumsum", **_MASKED)
def masked_cumsum(F, input, dim, *, dtype=None, mask=None):
    """cumsum along dim with 0 in place of the elements whose mask is False. Derivative: as cumsum, 0 there."""
    input, mask = _prepared(F, "cumsum", input, mask, dtype)
    return F.cumsum(_filled(F, input, mask, 0), dim=dim, dtype=raw(input).dtype)


@composite(name="masked_cumprod", **_MASKED)
def masked_cumprod(F, input, dim, *, dtype=None, mask=None):
    """cumprod along dim with 1 in place of the elements whose mask is False. Derivative: as cumprod, 0 there."""
    input, mask = _prepared(F, "cumprod", input, mask, dtype)
    return F.cumprod(_filled(F, input, mask, 1), dim=dim, dtype=raw(input).dtype)


@composite(name="masked_logaddexp", **_MASKED)
def masked_logaddexp(F, input, other, *, dtype=None, input_mask=None, other_mask=None):
    """logaddexp with -inf in place of the elements whose mask is False. Derivative: as logaddexp, 0 there."""
    input, input_mask = _prepared(F, "logaddexp", input, input_mask, dtype)
    other, other_mask = _prepared(F, "logaddexp", other, other_mask, dtype)
    input = _filled(F, input, input_mask, _bound(input, input_mask, True))
    return F.logaddexp(input, _filled(F, other, other_mask, _bound(other, other_mask, True)))
