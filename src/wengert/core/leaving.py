"""Values that leave the graph as numbers or arrays, which have neither gradient nor tangent. Not compiled: the numbers are few."""

from __future__ import annotations

import warnings

from wengert.core.modes import DUAL, flags, grad_enabled
from wengert.core.tensor import TensorBase


def has_tangent(tensor: TensorBase) -> bool:
    """Whether the tensor has a tangent at an open level of forward mode."""
    if not flags() & DUAL:
        return False
    from wengert.core.dual import is_dual  # loaded when a level is opened

    return is_dual(tensor)


def warn_of_number(tensor: TensorBase) -> None:
    """Warn, at the line of the user's program, that a Python number does not keep the tensor's gradient or tangent.

    Only conversions to float and complex call this. An int or a bool is piecewise constant, and item() says what it does.
    """
    if tensor.requires_grad and grad_enabled():
        kind = "tensor with requires_grad=True"
    elif has_tangent(tensor):
        kind = "dual tensor"
    else:
        return
    from wengert.core.stacks import user_level

    warnings.warn(
        f"Converting a {kind} to a scalar may lead to unexpected behavior.\nConsider using tensor.detach() first.",
        stacklevel=user_level(),
    )
