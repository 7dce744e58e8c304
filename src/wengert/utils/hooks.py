"""RemovableHandle, which registering a hook returns."""

from wengert.core.hooks import RemovableHandle as RemovableHandle
