"""RemovableHandle, which registering a hook returns, and what is said of hooks where a tensor is pickled."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from wengert import errors
from wengert.core.hooks import RemovableHandle as RemovableHandle

__all__ = ["RemovableHandle", "unserializable_hook", "warn_if_has_hooks"]


def unserializable_hook(f: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates a hook of which it is known that pickling its tensor loses it: no warning is given."""
    f.__torch_unserializable__ = True  # type: ignore[attr-defined]
    return f


def warn_if_has_hooks(tensor: Any) -> None:
    """Warns of each hook on the tensor that pickling it loses, but for those marked as unserializable_hook."""
    for hook in (tensor._backward_hooks or {}).values():
        if not hasattr(hook, "__torch_unserializable__"):
            warnings.warn(errors.hook_not_pickled(hook), stacklevel=3)
