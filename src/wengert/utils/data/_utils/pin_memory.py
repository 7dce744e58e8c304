"""Pinned memory for batches: GPUs copy from it while the program goes on."""

from collections.abc import Mapping, Sequence
from typing import Any


def pin_memory(data: Any, device: Any = None) -> Any:
    """Return data with all tensors in it copied to pinned memory: in mappings, sequences and named tuples. A tuple becomes a list.

    Other objects are asked for pin_memory(), and stay as they are if they have none. device: accepted, without effect."""
    if hasattr(data, "pin_memory"):
        return data.pin_memory()
    if isinstance(data, (str, bytes)):
        return data
    if isinstance(data, Mapping):
        return type(data)({key: pin_memory(value) for key, value in data.items()})  # type: ignore[call-arg]
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*[pin_memory(value) for value in data])
    if isinstance(data, Sequence):
        values = [pin_memory(value) for value in data]
        return values if isinstance(data, tuple) else type(data)(values)  # type: ignore[call-arg]
    return data
