"""GPUs: this version has no backend for them, and says so. What programs ask before they use one works.

>>> import wengert
>>> wengert.cuda.is_available(), wengert.cuda.device_count()
(False, 0)
"""

from __future__ import annotations

from typing import Any

from wengert import errors
from wengert.dtypes import DTYPES

__all__ = ["device_count", "is_available", "manual_seed", "manual_seed_all"]


def is_available() -> bool:
    """Whether tensors can be on a GPU: False."""
    return False


def device_count() -> int:
    """The number of GPUs that can be used: 0."""
    return 0


def manual_seed(seed: int) -> None:
    """Seeds the random numbers of the current GPU: does nothing where there is none, as in torch."""


def manual_seed_all(seed: int) -> None:
    """Seeds the random numbers of all GPUs: there are none."""


class _TypedMeta(type):
    """The classes of old for tensors of one dtype on a GPU: they can be named and asked for, and make nothing."""

    def __call__(cls, *args: Any, **options: Any) -> Any:
        raise errors.DtypeError(f"type torch.cuda.{cls.__name__} not available: this version computes on the CPU.")

    def __instancecheck__(cls, instance: Any) -> bool:
        return False


def __getattr__(name: str) -> Any:
    for d in DTYPES:
        if name == f"{d.scalar_name}Tensor":
            return _TypedMeta(name, (), {"__doc__": f"Tensors of {d!r} on a GPU.", "__module__": "torch.cuda"})
    raise AttributeError(f"module 'wengert.cuda' has no attribute {name!r}: this version computes on the CPU")
