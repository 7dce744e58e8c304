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

__all__ = [
    "amp", "current_device", "current_stream", "device_count", "empty_cache", "get_arch_list", "get_device_capability",
    "get_device_name", "get_device_properties", "get_rng_state_all", "init", "initial_seed", "ipc_collect", "is_available",
    "is_bf16_supported", "is_initialized", "manual_seed", "manual_seed_all", "max_memory_allocated", "max_memory_reserved",
    "mem_get_info", "memory_allocated", "memory_reserved", "memory_stats", "reset_max_memory_allocated", "reset_peak_memory_stats",
    "seed", "seed_all", "set_device", "set_rng_state_all", "synchronize",
]  # fmt: skip


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


def is_initialized() -> bool:
    """Whether GPUs are in use: always False."""
    return False


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether a GPU computes in bfloat16: always False."""
    return False


def seed() -> None:
    """Do nothing, as `manual_seed`."""


def seed_all() -> None:
    """Do nothing, as `manual_seed`."""


def empty_cache() -> None:
    """Do nothing: no memory of a GPU is kept."""


def ipc_collect() -> None:
    """Do nothing: no memory of a GPU is shared."""


def memory_allocated(device: Any = None) -> int:
    """Return the bytes of tensors on a GPU: 0."""
    return 0


max_memory_allocated = memory_reserved = max_memory_reserved = memory_allocated


def memory_stats(device: Any = None) -> dict[str, Any]:
    """Return statistics of a GPU's memory: an empty dict."""
    return {}


def reset_peak_memory_stats(device: Any = None) -> None:
    """Do nothing: there are no statistics."""


reset_max_memory_allocated = reset_peak_memory_stats


def get_arch_list() -> list[str]:
    """Return the kinds of GPUs that the package is built for: none."""
    return []


def get_rng_state_all() -> list[Any]:
    """Return the states of the GPUs' random numbers: none."""
    return []


def set_rng_state_all(new_states: Any) -> None:
    """Do nothing: there are no GPUs whose states could be set."""


def set_device(device: Any) -> None:
    """Do nothing for a negative number. Raise AssertionError for a GPU."""
    if not isinstance(device, int) or device >= 0:
        raise _without_cuda()


def _without_cuda() -> Exception:
    return AssertionError("Torch not compiled with CUDA enabled")


def _refused(*_: Any, **__: Any) -> Any:
    """Raise AssertionError: there is no GPU."""
    raise _without_cuda()


current_device = synchronize = get_device_name = get_device_capability = get_device_properties = mem_get_info = _refused
init = current_stream = initial_seed = _refused


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


def __dir__() -> list[str]:
    return sorted(__all__)
