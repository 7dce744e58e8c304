"""Pinned memory: there is no accelerator that would copy from it, so tensors stay where they are."""

from typing import Any


def pin_memory(data: Any, device: Any = None) -> Any:
    """Return data as it is."""
    return data
