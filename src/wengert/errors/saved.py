"""Builds the exceptions about saved tensors, hooks on them, and checkpoints."""

from __future__ import annotations

from .classes import (
    HookTypeError,
)
from .names import type_name


def saved_hooks_type(pack_hook: type | str, unpack_hook: type | str) -> HookTypeError:
    """The types of what was given as hooks, one of which cannot be called."""
    return HookTypeError(
        "hooks on saved tensors must be callable: pack_hook(tensor) and unpack_hook(packed), but got "
        f"{type_name(pack_hook)} and {type_name(unpack_hook)}"
    )


# ----------------------------------------------------------------------------------------------------------------------
# Checkpoints
# ----------------------------------------------------------------------------------------------------------------------

_DEBUG_TIP = (
    "\n\nTip: To see a more detailed error message, either pass `debug=True` to `torch.utils.checkpoint.checkpoint(...)` "
    "or wrap the code block with `with torch.utils.checkpoint.set_checkpoint_debug_enabled(True):` to enable "
    "checkpoint-debug mode globally."
)
