"""Builds the exceptions about bags of embeddings, and dropout of whole channels."""

from __future__ import annotations

from collections.abc import Sequence

from .classes import ElementError, PromotionError, ShapeError, UnsupportedDtypeError, UnsupportedModeError
from .names import tensor_type


def bag_mode() -> ElementError:
    return ElementError("mode has to be one of sum, mean or max")


def bag_max_frequency() -> ElementError:
    return ElementError("max mode does not support scaling the gradient by the frequency")


def bag_input(dims: int) -> ElementError:
    return ElementError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {dims}")


def bag_offsets(missing: bool) -> ElementError:
    return ElementError("offsets has to be a 1D Tensor" + (" but got None" if missing else ""))


def bag_offsets_beside_matrix(kind: type) -> ElementError:
    return ElementError(
        "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length sequences. "
        f"However, found offsets of type {kind}"
    )


def bag_first_offset(offset: int) -> ShapeError:
    return ShapeError(
        "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. However, got "
        f"{offset}"
    )


def bag_last_offset(length: int, offset: int) -> ShapeError:
    return ShapeError(f"offsets[-1] can not be greater than input's length {length} but got offsets[-1] of {offset}")


def bag_indices(dtype: object) -> UnsupportedDtypeError:
    return UnsupportedDtypeError(
        "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
        f"{tensor_type(dtype)} instead (while checking arguments for embedding_bag)"
    )


def bag_weight_dtype(dtype: object) -> UnsupportedDtypeError:
    return UnsupportedDtypeError(
        "Expected tensor for argument #1 'weight' to have one of the following scalar types: Half, BFloat16, Float, Double; "
        f"but got {tensor_type(dtype)} instead (while checking arguments for embedding_bag)"
    )


def bag_weights_shape(given: Sequence[int], wanted: Sequence[int]) -> ElementError:
    return ElementError(
        f"embedding_bag: If per_sample_weights (torch.Size({list(given)})) is not None, then it must have the same shape "
        f"as the input (torch.Size({list(wanted)}))"
    )


def bag_weights_mode(mode: str) -> UnsupportedModeError:
    return UnsupportedModeError(
        "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' (got "
        f"mode='{mode}')."
    )


def bag_weights_dtype(weight: object, given: object) -> PromotionError:
    return PromotionError(
        "Expected tensor for argument #1 'weight' to have the same type as tensor for argument #1 'per_sample_weights'; "
        f"but type {tensor_type(weight)} does not equal {tensor_type(given)} (while checking arguments for embedding_bag)"
    )


def feature_dropout_dims() -> ShapeError:
    return ShapeError("Feature dropout requires at least 2 dimensions in the input")
