"""Names and numbers of reductions: "none" 0, "mean" 1, "sum" 2."""

from __future__ import annotations

import warnings

from wengert.ops.reductions import older_reduction


def get_enum(reduction: str) -> int:
    """Return the number of a reduction. Raises ValueError for another name."""
    if reduction not in ("none", "mean", "elementwise_mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    if reduction == "elementwise_mean":
        warnings.warn(
            "reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.", FutureWarning, stacklevel=2
        )
    return {"none": 0, "sum": 2}.get(reduction, 1)


def legacy_get_string(size_average: bool | None, reduce: bool | None, emit_warning: bool = True) -> str:
    """Return the reduction that size_average and reduce stand for. None means True."""
    return older_reduction(size_average, reduce, emit_warning)


def legacy_get_enum(size_average: bool | None, reduce: bool | None, emit_warning: bool = True) -> int:
    """Return the number of the reduction that size_average and reduce stand for."""
    return get_enum(legacy_get_string(size_average, reduce, emit_warning))
