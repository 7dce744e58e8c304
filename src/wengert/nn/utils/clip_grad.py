"""Clipping of gradients."""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from wengert.core.modes import set_recording
from wengert.core.tensor import TensorBase, wrap
from wengert.ops import function

__all__ = ["clip_grad_norm", "clip_grad_norm_", "clip_grad_value_"]

_stack: Any = function("", "stack")
_vector_norm: Any = function("linalg", "vector_norm")


def _as_list(tensors: Any) -> list[Any]:
    return [tensors] if isinstance(tensors, TensorBase) else list(tensors)


def _gradients(parameters: list[Any]) -> list[Any]:
    return [parameter.grad for parameter in parameters if parameter.grad is not None]


def get_total_norm(
    tensors: Any, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: bool | None = None
) -> Any:
    """Return the norm of all elements of the tensors together, 0-d, on the device of the first one. norm_type: the order, which may
    be infinity.

    Raises RuntimeError if error_if_nonfinite and the norm is not finite. foreach: accepted without effect."""
    found = _as_list(tensors)
    with set_recording(False):
        if not found:
            return wrap(np.zeros((), np.float32))
        order = float(norm_type)
        total = _vector_norm(_stack([_vector_norm(tensor, order).to(found[0].device) for tensor in found]), order)
        if error_if_nonfinite and not math.isfinite(total.item()):
            raise RuntimeError(
                f"The total norm of order {order} for gradients from `parameters` is non-finite, so it cannot be clipped. To "
                "disable this error and scale the gradients by the non-finite norm anyway, set `error_if_nonfinite=False`"
            )
        return total


def clip_grads_with_norm_(parameters: Any, max_norm: float, total_norm: Any, foreach: bool | None = None) -> None:
    """Multiply the gradients by max_norm / total_norm, in place, if that is less than 1."""
    with set_recording(False):
        factor = (float(max_norm) / (total_norm + 1e-6)).clamp(max=1.0)
        for gradient in _gradients(_as_list(parameters)):
            gradient.mul_(factor.to(gradient.device))


def clip_grad_norm_(
    parameters: Any,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Any:
    """Scale the gradients of the parameters, in place, so that their norm together is at most max_norm.

    parameters: a tensor or an iterable of tensors. norm_type: the order, which may be infinity. Returns the norm before,
    0-d. Raises RuntimeError if error_if_nonfinite and the norm is not finite. foreach: accepted without effect.

    >>> import wengert
    >>> w = wengert.nn.Parameter(wengert.zeros(2))
    >>> w.grad = wengert.tensor([3.0, 4.0])
    >>> wengert.nn.utils.clip_grad_norm_(w, 1.0), w.grad
    (tensor(5.), tensor([0.6000, 0.8000]))
    """
    if isinstance(parameters, TensorBase):
        found = [parameters]
    else:
        is_generator = not isinstance(parameters, (list, tuple, set, dict)) and isinstance(parameters, Iterable)
        found = list(parameters)
        if is_generator and not found:
            warnings.warn(
                "`parameters` is an empty generator, no gradient clipping will occur.", UserWarning, stacklevel=2
            )
    total = get_total_norm(_gradients(found), norm_type, error_if_nonfinite, foreach)
    clip_grads_with_norm_(found, max_norm, total, foreach)
    return total


@functools.wraps(clip_grad_norm_)
def clip_grad_norm(*args: Any, **kwargs: Any) -> Any:
    """Call clip_grad_norm_, with a warning: this is its old name."""
    warnings.warn(
        "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of `torch.nn.utils.clip_grad_norm_`.",
        FutureWarning,
        stacklevel=2,
    )
    return clip_grad_norm_(*args, **kwargs)


clip_grad_norm.__name__ = "clip_grad_norm"


def clip_grad_value_(parameters: Any, clip_value: float, foreach: bool | None = None) -> None:
    """Limit each element of the gradients to [-clip_value, clip_value], in place. foreach: accepted without effect."""
    limit = float(clip_value)
    with set_recording(False):
        for gradient in _gradients(_as_list(parameters)):
            gradient.clamp_(min=-limit, max=limit)
