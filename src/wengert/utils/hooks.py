"""RemovableHandle, returned when a hook is registered, and torch's helpers for hooks of tensors that are pickled."""

from wengert.core.hooks import (
    RemovableHandle as RemovableHandle,
    unserializable_hook as unserializable_hook,
    warn_if_has_hooks as warn_if_has_hooks,
)
