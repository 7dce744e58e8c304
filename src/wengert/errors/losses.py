"""Builds the exceptions about attention, distances and losses."""

from __future__ import annotations

from collections.abc import Sequence

from .classes import AttentionShapeError, ElementError, PromotionError, ShapeError
from .names import c_name

# ----------------------------------------------------------------------------------------------------------------------
# Attention and distances
# ----------------------------------------------------------------------------------------------------------------------


def attention_dtypes(query: object, key: object, value: object) -> PromotionError:
    return PromotionError(
        f"Expected query, key, and value to have the same dtype, but got query.dtype: {c_name(query)} key.dtype: "
        f"{c_name(key)} and value.dtype: {c_name(value)} instead."
    )


def negative_p(op: str) -> ShapeError:
    return ShapeError(f"{op} only supports non-negative p values")


# ----------------------------------------------------------------------------------------------------------------------
# Losses
# ----------------------------------------------------------------------------------------------------------------------


def negative_variance() -> ElementError:
    return ElementError("var has negative entry/entries")


def cosine_embedding_dims(target: int, first: Sequence[int], second: Sequence[int]) -> ShapeError:
    if target > 1:
        return ShapeError("0D or 1D target tensor expected, multi-target not supported")
    return ShapeError(
        f"{target}D target tensor expects {target + 1}D input tensors, but found inputs with sizes {list(first)} and "
        f"{list(second)}."
    )


def multi_margin_dims(shape: Sequence[int]) -> ShapeError:
    return ShapeError(f"Expected non-empty vector or matrix with optional 0-dim batch size, but got: {list(shape)}")


def multi_margin_target(shape: Sequence[int], target: Sequence[int]) -> ShapeError:
    n = shape[0] if len(shape) == 2 else 1
    return ShapeError(
        "multi_margin_loss: target tensor should be 1-D with size equal to the number of input samples (batch size). "
        f"Expected target size [{n}], but got {list(target)}. Input has shape {list(shape)}."
    )


def linear_cross_entropy(text: str) -> ShapeError:
    """text: what does not fit."""
    return ShapeError(text)


# ----------------------------------------------------------------------------------------------------------------------
# Connectionist temporal classification
# ----------------------------------------------------------------------------------------------------------------------

_IN_CTC = "(while checking arguments for ctc_loss_allocate_outputs)"


def ctc_input_length(steps: int, given: int) -> ShapeError:
    return ShapeError(f"Expected input_lengths to have value at most {steps}, but got value {given} {_IN_CTC}")


def ctc_targets(wanted: int, given: int) -> ShapeError:
    """Fewer columns than the longest target has labels."""
    return ShapeError(
        f"Expected tensor to have size at least {wanted} at dimension 1, but got size {given} for argument #2 'targets' "
        f"{_IN_CTC}"
    )


def ctc_all_targets(wanted: int, given: int) -> ShapeError:
    """Not as many labels in one vector as the lengths add up to."""
    return ShapeError(
        f"Expected tensor to have size {wanted} at dimension 0, but got size {given} for argument #2 'targets' {_IN_CTC}"
    )


def multi_head(what: str) -> AttentionShapeError:
    return AttentionShapeError(what)
