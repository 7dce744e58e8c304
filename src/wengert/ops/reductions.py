"""What losses share: the argument reduction, in its forms of every era, and what it does."""

from __future__ import annotations

import warnings
from typing import Any

from wengert import errors

__all__ = ["STACKLEVEL", "check_floating", "reduced", "reduction_of"]

STACKLEVEL = 4  # from a warning in a helper of a loss to the line that called the loss


def reduction_of(size_average: Any, reduce: Any, reduction: str, also: tuple[str, ...] = ()) -> str:
    """The reduction, where size_average and reduce may stand in its place, as they once did."""
    if size_average is not None or reduce is not None:
        reduction = "none" if reduce is False else "sum" if size_average is False else "mean"
        warnings.warn(
            f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.", stacklevel=STACKLEVEL
        )
    if reduction not in ("mean", "sum", "none", *also):
        raise errors.reduction_mode(reduction)
    return reduction


def reduced(F: Any, losses: Any, reduction: str) -> Any:
    """The losses, their mean or their sum."""
    return losses if reduction == "none" else F.mean(losses) if reduction == "mean" else F.sum(losses)


def check_floating(kernel: str, x: Any) -> None:
    """Raises RuntimeError, naming torch's kernel, for an array that is not floating."""
    if x.dtype.kind not in "fV":
        raise errors.unsupported_dtype(kernel, x.dtype)
