"""Attention: what queries find in keys decides how much of each value they get."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from wengert import errors
from wengert.ops.indices import raw
from wengert.ops.registry import composite


def _check_arguments(query: Any, key: Any, value: Any, attn_mask: Any, dropout_p: float, is_causal: bool) -> None:
    if min(query.ndim, key.ndim, value.ndim) < 2:
        raise errors.ShapeError(
            f"Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: {query.ndim} key.dim: "
            f"{key.ndim} and value.dim: {value.ndim} instead."
        )
    dtypes = [raw(x).dtype for x in (query, key, value)]
    if any(d != dtypes[0] for d in dtypes):
        raise errors.attention_dtypes(*dtypes)
    if is_causal and attn_mask is not None:
        raise errors.ShapeError("_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True")
    if attn_mask is not None:
        dtype = raw(attn_mask).dtype
        if dtype.kind != "b" and dtype not in (dtypes[0], np.dtype(np.float32)):
            raise errors.PromotionError(
                "Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: "
                f"{errors.c_name(dtype)} and  query.dtype: {errors.c_name(dtypes[0])} instead."
            )
    if not 0 <= dropout_p <= 1:
        raise errors.ShapeError(f"dropout probability has to be between 0 and 1, but got {dropout_p}")


def _causal_mask(rows: int, columns: int, dtype: Any) -> Any:
    """0 where a row may look, minus infinity at the columns after it."""
    later = np.arange(columns) > np.arange(rows)[:, None]
    return np.where(later, -np.inf, 0.0).astype(dtype)


def _mask_scores(scores: Any, mask: Any) -> tuple[Any, Any]:
    """(the scores with minus infinity where mask keeps from looking; 0 for rows that may look nowhere, else 1).

    The scores of such rows stay as they are, so that nothing infinite comes into their derivative."""
    array, dtype = raw(mask), raw(scores).dtype
    blocked = ~array if array.dtype.kind == "b" else array == -np.inf
    fully_masked = blocked.all(axis=-1, keepdims=True)
    if array.dtype.kind == "b":
        mask = np.where(blocked & ~fully_masked, -np.inf, 0.0).astype(dtype)
    elif fully_masked.any():
        mask = mask.masked_fill(fully_masked, 0.0)
    scores = scores + (mask if raw(mask).dtype == dtype else mask.to(dtype))
    return scores, (~fully_masked).astype(dtype) if fully_masked.any() else None


@composite(namespaces=("nn.functional",))
def scaled_dot_product_attention(
    F, query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False
):
    """softmax(query @ key^T * scale + mask) @ value. query: (..., rows, n), key: (..., columns, n), value: (..., columns,
    m); the dims in front broadcast; floating, all of one dtype. Returns (..., rows, m).

    attn_mask: bools, True where a row may look, or numbers that are added; broadcasts to (..., rows, columns).
    is_causal: each row sees the columns up to its own number. A row that may look nowhere gets zeros. dropout_p: the
    probability of dropping a weight. scale: 1 / sqrt(n) unless given. enable_gqa: each head of key and value (third
    dim from the end) serves as many heads of query as there are more. Raises RuntimeError for what does not fit.

    Derivative: that of the formula, also in a mask of numbers."""
    _check_arguments(query, key, value, attn_mask, dropout_p, is_causal)
    if enable_gqa:
        heads = query.shape[-3]
        if heads % key.shape[-3] or heads % value.shape[-3]:
            raise errors.ShapeError("Number of heads in key and value must divide the number of heads in ")
        key, value = (F.repeat_interleave(x, heads // x.shape[-3], dim=-3) for x in (key, value))
    factor = (1 / sqrt(query.shape[-1]) if query.shape[-1] else 1.0) if scale is None else scale
    scores = F.matmul(query * factor, F.transpose(key, dim0=-2, dim1=-1))
    visible = None
    if is_causal:
        scores = scores + _causal_mask(scores.shape[-2], scores.shape[-1], raw(scores).dtype)
    elif attn_mask is not None:
        scores, visible = _mask_scores(scores, attn_mask)
    weights = F.softmax(scores, dim=-1)
    if visible is not None:
        weights = weights * visible
    if dropout_p:
        weights = F.dropout(weights, dropout_p)
    return F.matmul(weights, value)
