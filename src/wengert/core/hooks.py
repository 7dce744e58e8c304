"""RemovableHandle, which registering a hook returns, and the warning of hooks that pickling loses. Not compiled: hooks are rare."""

from __future__ import annotations

import warnings
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any


class RemovableHandle:
    """Removes a hook: by remove(), any number of times, or at the end of a with block."""

    id: int
    next_id = 0

    def __init__(self, hooks: OrderedDict[int, Any]) -> None:
        self._hooks = weakref.ref(hooks)
        self.id = RemovableHandle.next_id
        RemovableHandle.next_id += 1

    def remove(self) -> None:
        """Remove the hook; does nothing where it is gone already."""
        hooks = self._hooks()
        if hooks is not None:
            hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


RemovableHandle.__module__ = "wengert.utils.hooks"  # its public home, as it prints


def add_hook(hooks: OrderedDict[int, Any], hook: Any) -> RemovableHandle:
    """Append hook to hooks and return the handle that removes it."""
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle


def unserializable_hook(f: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a hook of which it is known that pickling its tensor loses it: no warning is given."""
    f.__torch_unserializable__ = True  # type: ignore[attr-defined]
    return f


def warn_if_has_hooks(tensor: Any) -> None:
    """Warn of each hook on the tensor that pickling it loses, but for those marked as unserializable_hook."""
    for hook in (tensor._backward_hooks or {}).values():
        if not hasattr(hook, "__torch_unserializable__"):
            warnings.warn(
                f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, you can decorate the "
                "function with @torch.utils.hooks.unserializable_hook to suppress this warning",
                stacklevel=3,
            )
