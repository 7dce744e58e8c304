"""Multi-head attention: scaled dot product attention in each of several parts of the projected features."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert import errors
from wengert.backends.selection import backend_of
from wengert.core.tensor import wrap
from wengert.ops.indices import raw
from wengert.ops.registry import composite


def _project(
    F: Any, query: Any, key: Any, value: Any, in_proj_weight: Any, in_proj_bias: Any, separate: tuple[Any, Any, Any] | None
) -> list[Any]:
    """Project query, key and value. One product does all three if they are one tensor and their weights are joint."""
    size = query.shape[-1]
    if separate is None and query is key and key is value:
        return list(F.unbind(F.unflatten(F.linear(query, in_proj_weight, in_proj_bias), -1, (3, size)), dim=-2))
    weights = separate or [F.narrow(in_proj_weight, 0, i * size, size) for i in range(3)]
    biases = [None] * 3 if in_proj_bias is None else [F.narrow(in_proj_bias, 0, i * size, size) for i in range(3)]
    return [F.linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases, strict=True)]


def _as_additive_mask(mask: Any, dtype: Any, name: str) -> Any:
    """Return the mask as numbers to add to the scores: -inf where a bool mask is True, 0 elsewhere."""
    xp = backend_of(mask)
    array = raw(mask)
    if array.dtype.kind == "b":
        return wrap(xp.where(array, -np.inf, 0.0).astype(dtype))
    if array.dtype.kind not in "fV":
        raise errors.AttentionShapeError(f"only bool and floating types of {name} are supported")
    return mask


def _split_heads(F: Any, x: Any, heads: int) -> Any:
    """Reshape (length, batch, features) to (batch, heads, length, features / heads)."""
    length, batch, size = x.shape
    return F.permute(F.reshape(x, shape=(length, batch, heads, size // heads)), dims=(1, 2, 0, 3))


def _check_shapes(query: Any, key: Any, value: Any, embed_dim: int, num_heads: int) -> None:
    if query.ndim not in (2, 3):
        raise errors.AttentionShapeError(
            f"query should be unbatched 2D or batched 3D tensor but received {query.ndim}-D query tensor"
        )
    if key.ndim != query.ndim or value.ndim != query.ndim:
        kind = "unbatched (2-D)" if query.ndim == 2 else "batched (3-D)"
        raise errors.AttentionShapeError(
            f"For {kind} `query`, expected `key` and `value` to be {query.ndim}-D but found {key.ndim}-D and "
            f"{value.ndim}-D tensors respectively"
        )
    if query.shape[-1] != embed_dim:
        raise errors.AttentionShapeError(f"was expecting embedding dimension of {embed_dim}, but got {query.shape[-1]}")
    if embed_dim % num_heads:
        raise errors.AttentionShapeError(f"embed_dim {embed_dim} not divisible by num_heads {num_heads}")
    if key.shape[:-1] != value.shape[:-1]:
        raise errors.AttentionShapeError(
            f"key's sequence and batch dims {tuple(key.shape[:-1])} do not match value's {tuple(value.shape[:-1])}"
        )


def _combine_masks(F: Any, mask: Any, padding: Any, shape: tuple[int, int, int, int], dtype: Any) -> Any:
    """Add attn_mask and key_padding_mask to one mask that broadcasts to (batch, heads, rows, columns), or None."""
    batch, heads, rows, columns = shape
    found = None
    if mask is not None:
        wanted = (rows, columns) if mask.ndim == 2 else (batch * heads, rows, columns)
        if mask.ndim not in (2, 3):
            raise errors.AttentionShapeError(
                f"For batched (3-D) `query`, expected `attn_mask` to be `None`, 2-D or 3-D but found {mask.ndim}-D tensor "
                "instead"
            )
        if tuple(mask.shape) != wanted:
            raise errors.ShapeError(
                f"The shape of the {mask.ndim}D attn_mask is {mask.shape}, but should be {tuple(wanted)}."
            )
        found = _as_additive_mask(mask, dtype, "attn_mask")
        found = found if mask.ndim == 2 else F.reshape(found, shape=shape)
    if padding is not None:
        if tuple(padding.shape) != (batch, columns):
            raise errors.AttentionShapeError(f"Expected key_padded_mask.shape {(batch, columns)}, but got {tuple(padding.shape)}")
        columns_mask = F.reshape(_as_additive_mask(padding, dtype, "key_padding_mask"), shape=(batch, 1, 1, columns))
        found = columns_mask if found is None else found + columns_mask
    return found


def _append_column(F: Any, x: Any, extra: Any) -> Any:
    """Append `extra` to the sequence x of shape (length, batch, features)."""
    return F.cat([x, F.expand(extra, shape=(1, *x.shape[1:]))], 0)


def _pad_mask_columns(F: Any, mask: Any, count: int) -> Any:
    return F.pad(mask, (0, count)) if mask is not None and count else mask


@composite(namespaces=("nn.functional",))
def multi_head_attention_forward(
    F,
    query,
    key,
    value,
    embed_dim_to_check,
    num_heads,
    in_proj_weight,
    in_proj_bias,
    bias_k,
    bias_v,
    add_zero_attn,
    dropout_p,
    out_proj_weight,
    out_proj_bias,
    training=True,
    key_padding_mask=None,
    need_weights=True,
    attn_mask=None,
    use_separate_proj_weight=False,
    q_proj_weight=None,
    k_proj_weight=None,
    v_proj_weight=None,
    static_k=None,
    static_v=None,
    average_attn_weights=True,
    is_causal=False,
):
    """Project query, key and value, attend in num_heads parts of the features, and project the result.

    query: (rows, batch, n), or (rows, n). key, value: (columns, batch, ...), or without batch. in_proj_weight: (3n, n);
    or q_, k_ and v_proj_weight if use_separate_proj_weight. bias_k and bias_v, and add_zero_attn, add one column each.
    attn_mask: (rows, columns) or (batch * num_heads, rows, columns). key_padding_mask: (batch, columns). A bool mask
    hides a column where it is True; a floating one is added to the scores. static_k, static_v: (batch * num_heads,
    columns, n / num_heads), used in place of the projected key and value. dropout_p: dropout of the weights in training.

    Returns (output, weights). output has query's shape. weights has shape (batch, rows, columns), or (batch, num_heads,
    rows, columns) if not average_attn_weights; it is None unless need_weights. Raises a RuntimeError that is an
    AssertionError too for shapes that do not fit.

    Derivative: that of the formula."""
    _check_shapes(query, key, value, embed_dim_to_check, num_heads)
    if is_causal and attn_mask is None:
        raise errors.ShapeError(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module method "
            "`generate_square_subsequent_mask` to create this mask."
        )
    unbatched = query.ndim == 2
    separate = _separate_weights(use_separate_proj_weight, in_proj_weight, q_proj_weight, k_proj_weight, v_proj_weight)
    if unbatched:
        same = query is key and key is value
        query = F.unsqueeze(query, dim=1)
        key, value = (query, query) if same else (F.unsqueeze(key, dim=1), F.unsqueeze(value, dim=1))
        key_padding_mask = None if key_padding_mask is None else F.unsqueeze(key_padding_mask, dim=0)
    rows, batch, size = query.shape
    q, k, v = _project(F, query, key, value, in_proj_weight, in_proj_bias, separate)
    added_columns = 0
    if (bias_k is None) != (bias_v is None):
        missing, given = ("bias_v", "bias_k") if bias_v is None else ("bias_k", "bias_v")
        raise errors.AttentionShapeError(f"{given} is set but {missing} is None")
    if bias_k is not None:
        k, v, added_columns = _append_column(F, k, bias_k), _append_column(F, v, bias_v), 1
    q, k, v = (_split_heads(F, x, num_heads) for x in (q, k, v))
    k, v = (
        x if given is None else F.reshape(given, shape=(batch, num_heads, *given.shape[1:]))
        for x, given in ((k, static_k), (v, static_v))
    )
    if add_zero_attn:
        k, v, added_columns = F.pad(k, (0, 0, 0, 1)), F.pad(v, (0, 0, 0, 1)), added_columns + 1
    scores = F.matmul(q * (size // num_heads) ** -0.5, F.transpose(k, dim0=-2, dim1=-1))
    mask, padding = (_pad_mask_columns(F, m, added_columns) for m in (attn_mask, key_padding_mask))
    found = _combine_masks(F, mask, padding, tuple(scores.shape), raw(scores).dtype)
    weights = F.softmax(scores if found is None else scores + found, dim=-1)
    if training and dropout_p:
        weights = F.dropout(weights, dropout_p)
    joined = F.reshape(F.permute(F.matmul(weights, v), dims=(2, 0, 1, 3)), shape=(rows, batch, size))
    result = F.linear(joined, out_proj_weight, out_proj_bias)
    weights = (F.mean(weights, dim=1) if average_attn_weights else weights) if need_weights else None
    if unbatched:
        return F.squeeze(result, dim=1), None if weights is None else F.squeeze(weights, dim=0)
    return result, weights


def _separate_weights(asked: bool, joint: Any, q: Any, k: Any, v: Any) -> tuple[Any, Any, Any] | None:
    """Return the three separate projection weights, or None if the joint weight is used."""
    if not asked:
        if joint is None:
            raise errors.AttentionShapeError("use_separate_proj_weight is False but in_proj_weight is None")
        return None
    for name, weight in (("q", q), ("k", k), ("v", v)):
        if weight is None:
            raise errors.AttentionShapeError(f"use_separate_proj_weight is True but {name}_proj_weight is None")
    return q, k, v
