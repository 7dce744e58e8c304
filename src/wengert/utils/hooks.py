"""RemovableHandle, which registering a hook returns, and what is said of hooks where a tensor is pickled."""

from wengert.core.hooks import (
    RemovableHandle as RemovableHandle,
    unserializable_hook as unserializable_hook,
    warn_if_has_hooks as warn_if_has_hooks,
)
