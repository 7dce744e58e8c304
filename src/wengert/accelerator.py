"""torch.accelerator for a package that computes on the CPU only: there is none.

>>> import wengert
>>> wengert.accelerator.is_available(), wengert.accelerator.current_accelerator()
(False, None)
"""

from __future__ import annotations

from typing import Any

__all__ = ["current_accelerator", "device_count", "empty_cache", "is_available", "synchronize"]


def is_available() -> bool:
    """Whether there is an accelerator: always False."""
    return False


def device_count() -> int:
    """Return the number of accelerators: 0."""
    return 0


def current_accelerator(check_available: bool = False) -> None:
    """Return None: there is no accelerator."""


def synchronize(device: Any = None) -> None:
    """Raise RuntimeError: there is no accelerator to wait for."""
    raise RuntimeError("Cannot access accelerator device when none is available.")


def empty_cache() -> None:
    """Do nothing: there is no accelerator."""


def __dir__() -> list[str]:
    return sorted(__all__)
