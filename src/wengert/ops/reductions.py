"""The `reduction` argument of losses, in its forms of every era."""

from __future__ import annotations

import warnings
from typing import Any

from wengert import errors

__all__ = ["STACKLEVEL", "check_floating", "reduce_losses", "reduction_of"]

STACKLEVEL = 4  # from a warning in a helper of a loss to the line that calls the loss


def reduction_of(size_average: Any, reduce: Any, reduction: str, also: tuple[str, ...] = ()) -> str:
    """Return the reduction, given torch's older arguments size_average and reduce too; those override it, with a warning.

    also: further names that are accepted. Raises ValueError for an unknown reduction."""
    if size_average is not None or reduce is not None:
        reduction = "none" if reduce is False else "sum" if size_average is False else "mean"
        warnings.warn(
            f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.", stacklevel=STACKLEVEL
        )
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
