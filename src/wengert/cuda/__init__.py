"""torch.cuda for a package that computes on the CPU only: no GPU is available, and seeding GPUs does nothing.

>>> import wengert
>>> wengert.cuda.is_available(), wengert.cuda.device_count()
(False, 0)
"""

from __future__ import annotations

from typing import Any

from wengert import errors
from wengert._forks import import_late as _import_late
from wengert.dtypes import DTYPES

__all__ = ["amp", "device_count", "is_available", "manual_seed", "manual_seed_all"]


def is_available() -> bool:
    """Whether tensors can be on a GPU: always False."""
    return False


def device_count() -> int:
    """Return the number of usable GPUs: 0."""
    return 0


def manual_seed(seed: int) -> None:
    """Do nothing: there is no GPU whose random numbers could be seeded. torch does nothing either without a GPU."""


def manual_seed_all(seed: int) -> None:
    """Do nothing, as `manual_seed`."""


class _TypedMeta(type):
    """Metaclass of torch.cuda.FloatTensor and the like: the classes can be named, but calling one raises DtypeError."""

    def __call__(cls, *args: Any, **options: Any) -> Any:
        raise errors.DtypeError(f"type torch.cuda.{cls.__name__} not available: this version computes on the CPU.")

    def __instancecheck__(cls, instance: Any) -> bool:
        return False


def __getattr__(name: str) -> Any:
    if name == "amp":
        return _import_late("wengert.cuda.amp")
    for d in DTYPES:
        if name == f"{d.scalar_name}Tensor":
            return _TypedMeta(name, (), {"__doc__": f"Tensors of {d!r} on a GPU.", "__module__": "torch.cuda"})
    raise AttributeError(f"module 'wengert.cuda' has no attribute {name!r}: this version computes on the CPU")
