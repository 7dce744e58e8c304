"""wengert.masked: reductions and normalisations of the elements whose mask is True.

An element whose mask is False is replaced by the identity of the reduction (0 for a sum, -inf for a maximum), so its
gradient is 0. If a mask leaves no element, the result is torch's: 0 for a sum, NaN for a mean.
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


def _prepare(F: Any, name: str, input: Any, mask: Any, dtype: Any) -> tuple[Any, Any]:
    """Return (input, mask): the input cast to dtype unless it is None, the mask expanded to the input's shape, or None."""
    if dtype is not None:
        input = F.cast(input, dtype=dtypes.as_numpy_dtype(dtype))
    if mask is None:
        return input, None
    if not hasattr(mask, "shape"):
        raise errors.wrong_argument_type(name, "mask", 0, type(mask))
    if mask.ndim > input.ndim:
        raise errors.DimensionError("_input_mask expected broadcastable mask (got mask dimensionality higher than of the input)")
    return input, F.expand(F.cast(mask, dtype=np.dtype(np.bool_)), shape=tuple(input.shape))


def _fill(F: Any, input: Any, mask: Any, value: Any) -> Any:
    return input if mask is None else F._masked_fill(input, F.logical_not(mask), value)


def _count_unmasked(F: Any, input: Any, mask: Any, dim: Any, keepdim: bool) -> Any:
    """Count the unmasked elements of each reduction: a float without a mask, else a tensor of the input's real dtype."""
    if mask is None:
        return float(count_of(tuple(input.shape), dim))
    kind = np.dtype(f"f{raw(input).dtype.itemsize // 2}") if raw(input).dtype.kind == "c" else raw(input).dtype
    return F.sum(F.cast(mask, dtype=kind), dim=dim, keepdim=keepdim)


def _accumulation_dtype(input: Any, dtype: Any) -> Any:
    """Dtype of a sum or product: int64 for integers if dtype is None, else dtype."""
    return dtypes.int64 if dtype is None and raw(input).dtype.kind in "iub" else dtype


def _extreme(input: Any, mask: Any, lowest: bool) -> Any:
    """Return the lowest or highest value of the input's dtype, the identity of a maximum or a minimum."""
    kind = raw(input).dtype
    if mask is None:
        return 0  # unused: without a mask nothing is filled
    if kind.kind == "c":
        raise errors.ArgumentError(
            f"torch.iinfo() requires an integer input type. Use torch.finfo to handle '{errors.dtype_name(kind)}'"
        )
    if kind.kind == "b":
        return not lowest
    if kind.kind in "iu":
        return np.iinfo(kind).min if lowest else np.iinfo(kind).max
    return -inf if lowest else inf


@composite(name="masked_sum", **_MASKED)
def masked_sum(F, input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """Sum over dim of the elements whose mask is True; 0 if there are none.

    input: any shape and dtype; integers are added in int64. dim: an int, a tuple, or None for all dimensions. dtype: the
    input is cast to it first. mask: bool, broadcasts to the input's shape; None selects all elements.

    Derivative: the cotangent where mask is True, 0 elsewhere."""
    input, mask = _prepare(F, "sum", input, mask, _accumulation_dtype(input, dtype))
    return F.sum(_fill(F, input, mask, 0), dim=normalize_dims(dim, input.ndim), keepdim=keepdim)


@composite(name="masked_prod", **_MASKED)
def masked_prod(F, input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """Product over dim of the elements whose mask is True; 1 if there are none. Arguments: as masked.sum.

    Derivative: as prod, 0 where mask is False."""
    input, mask = _prepare(F, "prod", input, mask, _accumulation_dtype(input, dtype))
    filled = _fill(F, input, mask, 1)
    dims = normalize_dims(dim, input.ndim)
    for d in reversed(dims):
        filled = F.prod(filled, dim=d, keepdim=keepdim)
    return filled


@composite(name="masked_amax", **_MASKED)
def masked_amax(F, input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """Maximum over dim of the elements whose mask is True; the lowest value of the dtype if there are none.

    Arguments: as masked.sum. Derivative: as amax, 0 where mask is False."""
    input, mask = _prepare(F, "amax", input, mask, dtype)
    return F.amax(_fill(F, input, mask, _extreme(input, mask, True)), dim=normalize_dims(dim, input.ndim), keepdim=keepdim)


@composite(name="masked_amin", **_MASKED)
def masked_amin(F, input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """Minimum over dim of the elements whose mask is True; the highest value of the dtype if there are none.

    Arguments: as masked.sum. Derivative: as amin, 0 where mask is False."""
    input, mask = _prepare(F, "amin", input, mask, dtype)
    return F.amin(_fill(F, input, mask, _extreme(input, mask, False)), dim=normalize_dims(dim, input.ndim), keepdim=keepdim)


def _masked_arg(F: Any, name: str, input: Any, dim: Any, keepdim: bool, dtype: Any, mask: Any) -> Any:
    input, mask = _prepare(F, name, input, mask, dtype)
    filled = _fill(F, input, mask, _extreme(input, mask, name == "argmax"))
    # torch returns the positions in the input's dtype.
    return F.cast(getattr(F, name)(filled, dim=dim, keepdim=keepdim), dtype=raw(input).dtype)


@composite(name="masked_argmax", **_MASKED)
def masked_argmax(F, input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """Index along dim, or in the flattened input, of the maximum of the elements whose mask is True.

    Arguments: as masked.sum. Returns the indices in the input's dtype, or in dtype."""
    return _masked_arg(F, "argmax", input, dim, keepdim, dtype, mask)


@composite(name="masked_argmin", **_MASKED)
def masked_argmin(F, input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """Index along dim, or in the flattened input, of the minimum of the elements whose mask is True.

    Arguments: as masked.sum. Returns the indices in the input's dtype, or in dtype."""
    return _masked_arg(F, "argmin", input, dim, keepdim, dtype, mask)


@composite(name="masked_mean", **_MASKED)
def masked_mean(F, input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """Mean over dim of the elements whose mask is True; NaN if there are none.

    Arguments: as masked.sum. Raises ValueError for integers if dtype is None.

    Derivative: the cotangent divided by the number of these elements where mask is True, 0 elsewhere."""
    if dtype is None and raw(input).dtype.kind in "iub":
        raise errors.ElementError(
            "mean(): Could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: "
            f"{errors.dtype_name(raw(input).dtype)}"
        )
    input, mask = _prepare(F, "mean", input, mask, dtype)
    dims = normalize_dims(dim, input.ndim)
    total = F.sum(_fill(F, input, mask, 0), dim=dims, keepdim=keepdim)
    return total / _count_unmasked(F, input, mask, dims, keepdim)


def _variance(F: Any, name: str, input: Any, dim: Any, unbiased: Any, correction: Any, keepdim: bool, dtype: Any, mask: Any) -> Any:
    if unbiased is not None and correction is not None:
        raise errors.ArgumentError("Only one of unbiased and correction may be given")
    correction = (1 if unbiased is None else int(unbiased)) if correction is None else number_of(correction)
    if dtype is None and raw(input).dtype.kind in "iub":
        dtype = dtypes.get_default_dtype()
    input, mask = _prepare(F, name, input, mask, dtype)
    dims = normalize_dims(dim, input.ndim)
    count = _count_unmasked(F, input, mask, dims, True)
    mean = F.sum(_fill(F, input, mask, 0), dim=dims, keepdim=True) / count
    deviations = _fill(F, input - mean, mask, 0)
    squares = deviations * F.conj(deviations)
    divisor = _count_unmasked(F, input, mask, dims, keepdim) - correction
    divisor = max(divisor, 0) if isinstance(divisor, float) else F.clamp(divisor, min=0, max=None)
    return F.sum(squares, dim=dims, keepdim=keepdim) / divisor


@composite(name="masked_var", **_MASKED)
def masked_var(F, input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None):
    """Variance over dim of the n elements whose mask is True: squared distances from their mean over n - correction.

    correction: 1 if None. unbiased: True means correction=1, False correction=0. If n <= correction, the divisor is 0.
    Integers become the default float dtype. Other arguments: as masked.sum.

    Derivative: that of the formula."""
    return _variance(F, "var", input, dim, unbiased, correction, keepdim, dtype, mask)


@composite(name="masked_std", **_MASKED)
def masked_std(F, input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None):
    """Square root of masked.var. Derivative: that of the formula."""
    return F.sqrt(_variance(F, "std", input, dim, unbiased, correction, keepdim, dtype, mask))


def _norm(F: Any, input: Any, ord: Any, dim: Any, keepdim: bool, mask: Any) -> Any:
    return F.linalg_vector_norm(_fill(F, input, mask, inf if ord < 0 else 0), ord, dim, keepdim)


@composite(name="masked_norm", **_MASKED)
def masked_norm(F, input, ord=2.0, dim=None, *, keepdim=False, dtype=None, mask=None):
    """`linalg.vector_norm` over dim of the elements whose mask is True; if there are none, 0, or inf for negative ord.

    Derivative: as linalg.vector_norm, 0 where mask is False."""
    input, mask = _prepare(F, "norm", input, mask, dtype)
    return _norm(F, input, ord, normalize_dims(dim, input.ndim), keepdim, mask)


@composite(name="masked_normalize", **_MASKED)
def masked_normalize(F, input, ord, dim, *, eps=1e-12, dtype=None, mask=None):
    """Quotient of input and max(masked.norm, eps) over dim; 0 where mask is False. Derivative: that of the quotient."""
    input, mask = _prepare(F, "normalize", input, mask, dtype)
    length = _norm(F, input, ord, normalize_dims(dim, input.ndim), True, mask)
    return _fill(F, input, mask, 0) / F.clamp(length, min=eps, max=None)


@composite(name="masked_softmax", **_MASKED)
def masked_softmax(F, input, dim, *, dtype=None, mask=None):
    """softmax over dim of the elements whose mask is True; 0 where mask is False, NaN if it is False along all of dim.

    Derivative: as softmax, 0 where mask is False."""
    input, mask = _prepare(F, "softmax", input, mask, dtype)
    return F.softmax(_fill(F, input, mask, _extreme(input, mask, True)), dim)


@composite(name="masked_log_softmax", **_MASKED)
def masked_log_softmax(F, input, dim, *, dtype=None, mask=None):
    """Logarithm of masked.softmax. Derivative: as log_softmax, 0 where mask is False."""
    input, mask = _prepare(F, "log_softmax", input, mask, dtype)
    return F.log_softmax(_fill(F, input, mask, _extreme(input, mask, True)), dim)


@composite(name="masked_softmin", **_MASKED)
def masked_softmin(F, input, dim, *, dtype=None, mask=None):
    """masked.softmax of -input. Derivative: as softmin, 0 where mask is False."""
    input, mask = _prepare(F, "softmin", input, mask, dtype)
    return F.softmax(-_fill(F, input, mask, _extreme(input, mask, False)), dim)


@composite(name="masked_logsumexp", **_MASKED)
def masked_logsumexp(F, input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """log(sum(exp(input))) over dim of the elements whose mask is True; -inf if there are none.

    Derivative: as logsumexp, 0 where mask is False."""
    if dtype is None and raw(input).dtype.kind in "iub":
        dtype = dtypes.get_default_dtype()
    input, mask = _prepare(F, "logsumexp", input, mask, dtype)
    return F.logsumexp(_fill(F, input, mask, -inf), dim=normalize_dims(dim, input.ndim), keepdim=keepdim)


@composite(name="masked_median", **_MASKED)
def masked_median(F, input, dim=-1, *, keepdim=False, dtype=None, mask=None):
    """Median along dim of the elements whose mask is True, the lower one of two; NaN if there are none.

    Raises ValueError if an integer input has no such element. Derivative: the cotangent at the median."""
    input, mask = _prepare(F, "median", input, mask, dtype)
    kind = raw(input).dtype
    if mask is None or kind.kind == "f":
        return F.nanmedian(_fill(F, input, mask, nan), dim, keepdim)[0]
    if not bool(raw(mask).any(axis=dim).all()):
        raise errors.ElementError("masked median expects no fully masked out rows if dtype is not floating point")
    filled = _fill(F, F.cast(input, dtype=np.dtype(np.float64)), mask, nan)
    return F.cast(F.nanmedian(filled, dim, keepdim)[0], dtype=kind)


@composite(name="masked_cumsum", **_MASKED)
def masked_cumsum(F, input, dim, *, dtype=None, mask=None):
    """cumsum along dim with 0 in place of masked elements. Derivative: as cumsum, 0 where mask is False."""
    input, mask = _prepare(F, "cumsum", input, mask, dtype)
    return F.cumsum(_fill(F, input, mask, 0), dim=dim, dtype=raw(input).dtype)


@composite(name="masked_cumprod", **_MASKED)
def masked_cumprod(F, input, dim, *, dtype=None, mask=None):
    """cumprod along dim with 1 in place of masked elements. Derivative: as cumprod, 0 where mask is False."""
    input, mask = _prepare(F, "cumprod", input, mask, dtype)
    return F.cumprod(_fill(F, input, mask, 1), dim=dim, dtype=raw(input).dtype)


@composite(name="masked_logaddexp", **_MASKED)
def masked_logaddexp(F, input, other, *, dtype=None, input_mask=None, other_mask=None):
    """logaddexp with the lowest value of the dtype, -inf, in place of masked elements.

    Derivative: as logaddexp, 0 where the mask is False."""
    input, input_mask = _prepare(F, "logaddexp", input, input_mask, dtype)
    other, other_mask = _prepare(F, "logaddexp", other, other_mask, dtype)
    input = _fill(F, input, input_mask, _extreme(input, input_mask, True))
    return F.logaddexp(input, _fill(F, other, other_mask, _extreme(other, other_mask, True)))
