"""Scaled dot-product attention."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from wengert import errors
from wengert.backends.selection import backend_of, may_hold
from wengert.ops.indices import raw
from wengert.ops.registry import composite


def _check_arguments(query: Any, key: Any, value: Any, attn_mask: Any, dropout_p: float, is_causal: bool) -> None:
    """Raise RuntimeError for dimensions, dtypes and options that do not fit."""
    if min(query.ndim, key.ndim, value.ndim) < 2:
        raise errors.ShapeError(
            f"Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: {query.ndim} key.dim: "
            f"{key.ndim} and value.dim: {value.ndim} instead."
        )
    dtypes = [raw(x).dtype for x in (query, key, value)]
    if any(d != dtypes[0] for d in dtypes):
        q, k, v = map(errors.c_name, dtypes)
        raise errors.PromotionError(
            f"Expected query, key, and value to have the same dtype, but got query.dtype: {q} key.dtype: {k} and value.dtype: "
            f"{v} instead."
        )
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
    """(rows, columns) array to add to scores: 0 where column <= row, else -inf."""
    later = np.arange(columns) > np.arange(rows)[:, None]
    return np.where(later, -np.inf, 0.0).astype(dtype)


def _mask_scores(scores: Any, mask: Any) -> tuple[Any, Any]:
    """Return (masked scores, visible). Masked scores are -inf at blocked columns.

    visible: (..., rows, 1), 0 for rows whose columns are all blocked, else 1; None if there is no such row. The scores of
    such a row are not masked, so that no infinity enters their derivative."""
    xp = backend_of(scores)
    array, dtype = raw(mask), raw(scores).dtype
    blocked = ~array if array.dtype.kind == "b" else array == -np.inf
    fully_masked = blocked.all(axis=-1, keepdims=True)
    if array.dtype.kind == "b":
        mask = xp.where(blocked & ~fully_masked, -np.inf, 0.0).astype(dtype)
    elif may_hold(fully_masked):
        mask = mask.masked_fill(fully_masked, 0.0)
    scores = scores + (mask if raw(mask).dtype == dtype else mask.to(dtype))
    return scores, (~fully_masked).astype(dtype) if may_hold(fully_masked) else None


@composite(namespaces=("nn.functional",))
def scaled_dot_product_attention(
    F, query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False
):
    """softmax(query @ key^T * scale + attn_mask) @ value. Returns (..., rows, m).

    query: (..., rows, n), key: (..., columns, n), value: (..., columns, m), floating, of one dtype; leading dimensions
    broadcast. attn_mask: broadcasts to (..., rows, columns); a bool mask is True where a row attends to a column, a
    floating mask is added. is_causal: row i attends to columns 0 to i. A row that attends to no column gives zeros.
    dropout_p: the probability of dropping each weight. scale: 1 / sqrt(n) unless given. enable_gqa: query may have k
    times as many heads (dimension -3) as key and value; each head of key and value then serves k heads of query. Raises
    RuntimeError for shapes, dtypes and options that do not fit.

    Derivative: that of the formula, also in a floating attn_mask."""
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
        scores = scores + backend_of(scores).asarray(_causal_mask(scores.shape[-2], scores.shape[-1], raw(scores).dtype))
    elif attn_mask is not None:
        scores, visible = _mask_scores(scores, attn_mask)
    weights = F.softmax(scores, dim=-1)
    if visible is not None:
        weights = weights * visible
    if dropout_p:
        weights = F.dropout(weights, dropout_p)
    return F.matmul(weights, value)
