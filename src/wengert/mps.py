"""torch.mps for a package that computes on the CPU only: no GPUs of Apple's."""

from __future__ import annotations

from typing import Any

__all__ = ["device_count", "empty_cache", "is_available", "manual_seed", "seed", "synchronize"]


def is_available() -> bool:
    """Whether tensors can be on such a GPU: always False."""
    return False


def device_count() -> int:
    """Return the number of such GPUs: 0."""
    return 0


def manual_seed(seed: int) -> None:
    """Do nothing: there is no GPU whose random numbers could be seeded."""


def seed() -> None:
    """Do nothing, as manual_seed."""


def empty_cache() -> None:
    """Do nothing: there is no memory of a GPU."""


def synchronize(device: Any = None) -> None:
    """Do nothing: there is no GPU to wait for."""


def __dir__() -> list[str]:
    return sorted(__all__)
