"""Messages about reductions under a mask."""

from __future__ import annotations

from .classes import ArgumentError, DimensionError, ElementError
from .names import dtype_name


def masked_dimensions() -> DimensionError:
    return DimensionError("_input_mask expected broadcastable mask (got mask dimensionality higher than of the input)")


def masked_mean_dtype(dtype: object) -> ElementError:
    return ElementError(
        "mean(): Could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: "
        f"{dtype_name(dtype)}"
    )


def masked_median_of_nothing() -> ElementError:
    return ElementError("masked median expects no fully masked out rows if dtype is not floating point")


def masked_correction() -> ArgumentError:
    return ArgumentError("Only one of unbiased and correction may be given")


def masked_complex_bound(dtype: object) -> ArgumentError:
    return ArgumentError(f"torch.iinfo() requires an integer input type. Use torch.finfo to handle '{dtype_name(dtype)}'")
