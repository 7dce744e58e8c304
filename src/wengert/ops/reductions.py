"""The `reduction` argument of losses, in its forms of every era."""

from __future__ import annotations

import warnings
from typing import Any

from wengert import errors
from wengert.core.stacks import user_level

__all__ = ["check_floating", "older_reduction", "reduce_losses", "reduction_of"]


def older_reduction(size_average: Any, reduce: Any, warns: bool = True) -> str:
    """Return the reduction that torch's older arguments stand for. None means True.

    warns: whether to warn, at the line of the user's program."""
    name = "none" if reduce is False else "sum" if size_average is False else "mean"
    if warns:
        warnings.warn(
            f"size_average and reduce args will be deprecated, please use reduction='{name}' instead.", stacklevel=user_level()
        )
    return name


def reduction_of(size_average: Any, reduce: Any, reduction: str, also: tuple[str, ...] = ()) -> str:
    """Return the reduction, given torch's older arguments size_average and reduce too; those override it, with a warning.

    also: further names that are accepted. Raises ValueError for an unknown reduction."""
    if size_average is not None or reduce is not None:
        reduction = older_reduction(size_average, reduce)
    if reduction not in ("mean", "sum", "none", *also):
        raise errors.ElementError(f"{reduction} is not a valid value for reduction")
    return reduction


def reduce_losses(F: Any, losses: Any, reduction: str) -> Any:
    """Return the losses, their mean or their sum."""
    return losses if reduction == "none" else F.mean(losses) if reduction == "mean" else F.sum(losses)


def check_floating(kernel: str, x: Any) -> None:
    """Raise RuntimeError, naming torch's kernel, unless the array is floating."""
    if x.dtype.kind not in "fV":
        raise errors.unsupported_dtype(kernel, x.dtype)
