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

    def __init__(self, hooks: OrderedDict[int, Any], *, extra_dict: Any = None) -> None:
        self._hooks = weakref.ref(hooks)
        # Further dicts, which hold properties of the hook under its id.
        extra = extra_dict if isinstance(extra_dict, list) else [] if extra_dict is None else [extra_dict]
        self._extra = [weakref.ref(properties) for properties in extra]
        self.id = RemovableHandle.next_id
        RemovableHandle.next_id += 1

    def remove(self) -> None:
        """Remove the hook; does nothing where it is gone already."""
        for reference in (self._hooks, *self._extra):
            hooks = reference()
            if hooks is not None:
                hooks.pop(self.id, None)

    def __getstate__(self) -> tuple[Any, ...]:
        return self._hooks(), self.id, [reference() for reference in self._extra]

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        hooks, self.id, extra = state
        # The dict may be gone. An empty one, which dies at once, takes its place.
        self._hooks = weakref.ref(OrderedDict() if hooks is None else hooks)
        self._extra = [weakref.ref(OrderedDict() if properties is None else properties) for properties in extra]
        RemovableHandle.next_id = max(RemovableHandle.next_id, self.id + 1)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, kind: object = None, error: object = None, traceback: object = None) -> None:
        self.remove()


RemovableHandle.__module__ = "wengert.utils.hooks"  # its public home, as it prints


def add_hook(hooks: OrderedDict[int, Any], hook: Any, prepend: bool = False, **properties: Any) -> RemovableHandle:
    """Add a hook and return the handle that removes it.

    prepend: whether it comes before the others. properties: of each name, (dict, whether the dict holds the hook's id)."""
    handle = RemovableHandle(hooks, extra_dict=[ids for ids, _ in properties.values()])
    hooks[handle.id] = hook
    for ids, holds in properties.values():
        if holds:
            ids[handle.id] = True
    if prepend:
        hooks.move_to_end(handle.id, last=False)
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
