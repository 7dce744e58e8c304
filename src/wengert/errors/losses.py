"""Builds the exceptions about attention, distances and losses."""

from __future__ import annotations

from collections.abc import Sequence

from .classes import AttentionShapeError, ElementError, PromotionError, RequiresGradError, ShapeError, UnsupportedDtypeError
from .names import c_name, scalar_name

# ----------------------------------------------------------------------------------------------------------------------
# Attention and distances
# ----------------------------------------------------------------------------------------------------------------------


def attention_dims(query: int, key: int, value: int) -> ShapeError:
    return ShapeError(
        "Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: "
        f"{query} key.dim: {key} and value.dim: {value} instead."
    )


def attention_dtypes(query: object, key: object, value: object) -> PromotionError:
    return PromotionError(
        f"Expected query, key, and value to have the same dtype, but got query.dtype: {c_name(query)} key.dtype: "
        f"{c_name(key)} and value.dtype: {c_name(value)} instead."
    )


def attention_two_masks() -> ShapeError:
    return ShapeError(
        "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True"
    )


def attention_mask_dtype(mask: object, query: object) -> PromotionError:
    return PromotionError(
        "Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: "
        f"{c_name(mask)} and  query.dtype: {c_name(query)} instead."
    )


def attention_dropout(p: float) -> ShapeError:
    return ShapeError(f"dropout probability has to be between 0 and 1, but got {p}")


def attention_heads() -> ShapeError:
    return ShapeError("Number of heads in key and value must divide the number of heads in ")


def cdist_mode(mode: str) -> ElementError:
    return ElementError(f"{mode} is not a valid value for compute_mode")


def cdist_dtype(name: str, dtype: object) -> UnsupportedDtypeError:
    return UnsupportedDtypeError(f"cdist only supports floating-point dtypes, {name} got: {scalar_name(dtype)}")


def cdist_dims(name: str, dims: int) -> ShapeError:
    return ShapeError(f"cdist only supports at least 2D tensors, {name} got: {dims}D")


def cdist_columns(first: int, second: int) -> ShapeError:
    return ShapeError(f"X1 and X2 must have the same number of columns. X1: {first} X2: {second}")


def negative_p(op: str) -> ShapeError:
    return ShapeError(f"{op} only supports non-negative p values")


def pdist_dims(dims: int) -> ShapeError:
    return ShapeError(f"pdist only supports 2D tensors, got: {dims}D")


def pdist_dtype() -> UnsupportedDtypeError:
    return UnsupportedDtypeError("pdist only supports floating-point dtypes")


# ----------------------------------------------------------------------------------------------------------------------
# Losses
# ----------------------------------------------------------------------------------------------------------------------


def negative_variance() -> ElementError:
    return ElementError("var has negative entry/entries")


def variance_size() -> ElementError:
    return ElementError("var is of incorrect size")


def gaussian_reduction(reduction: str) -> ElementError:
    return ElementError(f"{reduction} is not valid")


def ranking_dims(first: Sequence[int], second: Sequence[int], target: Sequence[int]) -> ShapeError:
    return ShapeError(
        "margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: "
        f"torch.Size({list(first)}), input2: torch.Size({list(second)}), target: torch.Size({list(target)}) "
    )


def cosine_embedding_dims(target: int, first: Sequence[int], second: Sequence[int]) -> ShapeError:
    if target > 1:
        return ShapeError("0D or 1D target tensor expected, multi-target not supported")
    return ShapeError(
        f"{target}D target tensor expects {target + 1}D input tensors, but found inputs with sizes {list(first)} and "
        f"{list(second)}."
    )


def triplet_dims(anchor: int, positive: int, negative: int) -> ShapeError:
    return ShapeError(
        "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: anchor "
        f"{anchor}D, positive {positive}D, and negative {negative}D inputs"
    )


def triplet_margin(margin: float) -> ElementError:
    return ElementError(f"margin must be greater than 0, got {margin}")


def multi_margin_p() -> ElementError:
    return ElementError("only p == 1 and p == 2 supported")


def multi_margin_weight_grad() -> RequiresGradError:
    return RequiresGradError(
        "the derivative for 'weight' is not implemented. Hint: detach() the weight of multi_margin_loss."
    )


def multi_margin_dims(shape: Sequence[int]) -> ShapeError:
    return ShapeError(f"Expected non-empty vector or matrix with optional 0-dim batch size, but got: {list(shape)}")


def multi_margin_target(shape: Sequence[int], target: Sequence[int]) -> ShapeError:
    n = shape[0] if len(shape) == 2 else 1
    return ShapeError(
        "multi_margin_loss: target tensor should be 1-D with size equal to the number of input samples (batch size). "
        f"Expected target size [{n}], but got {list(target)}. Input has shape {list(shape)}."
    )


def multi_margin_range() -> ShapeError:
    return ShapeError("target out of range")


def multi_margin_class_dtype(found: object) -> UnsupportedDtypeError:
    return UnsupportedDtypeError(f"expected scalar type Long but found {scalar_name(found)}")


def multi_margin_weight_dims() -> ElementError:
    return ElementError("weight must be one-dimensional")


def linear_cross_entropy(text: str) -> ShapeError:
    """text: what does not fit."""
    return ShapeError(text)


def multi_margin_weight(classes: int, weight: Sequence[int]) -> ShapeError:
    return ShapeError(f"inconsistent weight size, expected {classes} but got {list(weight)}")


def multilabel_target(target: Sequence[int], shape: Sequence[int]) -> ShapeError:
    return ShapeError(f"inconsistent target size: {list(target)} for input of size: {list(shape)}")


def multilabel_range() -> ShapeError:
    return ShapeError("argument #2 'target' is out of range")


# ----------------------------------------------------------------------------------------------------------------------
# Connectionist temporal classification
# ----------------------------------------------------------------------------------------------------------------------

_IN_CTC = "(while checking arguments for ctc_loss_allocate_outputs)"


def ctc_lengths(name: str) -> ShapeError:
    return ShapeError(f"{name} must be of size batch_size")


def ctc_blank() -> ShapeError:
    return ShapeError("blank must be in label range")


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


def multi_head_mask(dims: int, shape: Sequence[int], wanted: Sequence[int]) -> ShapeError:
    return ShapeError(f"The shape of the {dims}D attn_mask is {tuple(shape)}, but should be {tuple(wanted)}.")


def attention_mask_kind(name: str) -> AttentionShapeError:
    return AttentionShapeError(f"only bool and floating types of {name} are supported")


def causal_without_mask() -> ShapeError:
    return ShapeError(
        "Need attn_mask if specifying the is_causal hint. Hint: is_causal says that attn_mask is causal; make it with "
        "torch.triu(torch.ones(n, n, dtype=torch.bool), 1)."
    )


def linear_cross_entropy_dims(dims: int) -> ShapeError:
    return ShapeError(f"expected input with dimensionality 1 or 2, got {dims}")


def rrelu_bounds() -> ShapeError:
    return ShapeError("Lower bound should be less than or equal to the upper bound")


def reduction_number(number: object) -> ElementError:
    return ElementError(f"reduction has to be 0 (none), 1 (mean) or 2 (sum), but got {number}")
