"""torch.cpu: the device that wengert computes on.

>>> import wengert
>>> wengert.cpu.is_available(), wengert.cpu.device_count()
(True, 1)
"""

from __future__ import annotations

from typing import Any

from wengert._forks import import_late as _import_late

__all__ = ["amp", "current_device", "device_count", "is_available", "is_initialized", "synchronize"]


def is_available() -> bool:
    """Whether tensors can be on the CPU: always True."""
    return True


def is_initialized() -> bool:
    """Whether the device is ready: always True."""
    return True


def device_count() -> int:
    """Return the number of devices: 1."""
    return 1


def current_device() -> str:
    """Return "cpu"."""
    return "cpu"


def synchronize(device: Any = None) -> None:
    """Do nothing: operations are finished when they return."""


def __getattr__(name: str) -> Any:
    if name == "amp":
        return _import_late("wengert.cpu.amp")
    raise AttributeError(f"module 'wengert.cpu' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
