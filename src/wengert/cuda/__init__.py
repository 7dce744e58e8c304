"""torch.cuda: GPUs, through CuPy (`pip install 'wengert[cuda]'`). Without CuPy or a GPU, is_available() is False.

CuPy is imported when a program first asks for a GPU. Each GPU has a generator of random numbers, which are made there: a seed gives
the same numbers on all GPUs, but others than on the CPU, and others than torch's.

>>> import wengert
>>> wengert.cuda.is_available() or wengert.cuda.device_count() == 0
True
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from wengert._forks import import_late as _import_late
from wengert.backends import selection as _selection
from wengert.cuda import memory as memory, random as random, streams as streams
from wengert.cuda._devices import backend as _backend, index_of as _index
from wengert.cuda.memory import (
    device_memory_used as device_memory_used,
    empty_cache as empty_cache,
    get_allocator_backend as get_allocator_backend,
    get_per_process_memory_fraction as get_per_process_memory_fraction,
    max_memory_allocated as max_memory_allocated,
    max_memory_cached as max_memory_cached,
    max_memory_reserved as max_memory_reserved,
    mem_get_info as mem_get_info,
    memory_allocated as memory_allocated,
    memory_cached as memory_cached,
    memory_reserved as memory_reserved,
    memory_stats as memory_stats,
    memory_stats_as_nested_dict as memory_stats_as_nested_dict,
    memory_summary as memory_summary,
    reset_accumulated_memory_stats as reset_accumulated_memory_stats,
    reset_max_memory_allocated as reset_max_memory_allocated,
    reset_max_memory_cached as reset_max_memory_cached,
    reset_peak_memory_stats as reset_peak_memory_stats,
    set_per_process_memory_fraction as set_per_process_memory_fraction,
)
from wengert.cuda.properties import (
    get_device_capability as get_device_capability,
    get_device_name as get_device_name,
    get_device_properties as get_device_properties,
)
from wengert.cuda.random import (
    get_rng_state as get_rng_state,
    get_rng_state_all as get_rng_state_all,
    initial_seed as initial_seed,
    manual_seed as manual_seed,
    manual_seed_all as manual_seed_all,
    seed as seed,
    seed_all as seed_all,
    set_rng_state as set_rng_state,
    set_rng_state_all as set_rng_state_all,
)
from wengert.cuda.streams import (
    Event as Event,
    ExternalStream as ExternalStream,
    Stream as Stream,
    StreamContext as StreamContext,
    StreamContext as stream,
    current_stream as current_stream,
    default_stream as default_stream,
    set_stream as set_stream,
)
from wengert.dtypes import DTYPES
from wengert.errors import OutOfMemoryError as OutOfMemoryError

__all__ = [
    "Event", "ExternalStream", "OutOfMemoryError", "Stream", "StreamContext", "amp", "can_device_access_peer",
    "current_blas_handle", "current_device", "current_stream", "default_generators", "default_stream", "device", "device_count",
    "device_memory_used", "device_of", "empty_cache", "get_allocator_backend", "get_arch_list", "get_device_capability",
    "get_device_name", "get_device_properties", "get_gencode_flags", "get_per_process_memory_fraction", "get_rng_state",
    "get_rng_state_all", "init", "initial_seed", "ipc_collect", "is_available", "is_bf16_supported",
    "is_current_stream_capturing", "is_initialized", "is_tf32_supported", "manual_seed", "manual_seed_all",
    "max_memory_allocated", "max_memory_cached", "max_memory_reserved", "mem_get_info", "memory", "memory_allocated",
    "memory_cached", "memory_reserved", "memory_stats", "memory_stats_as_nested_dict", "memory_summary", "nvtx", "random",
    "reset_accumulated_memory_stats", "reset_max_memory_allocated", "reset_max_memory_cached", "reset_peak_memory_stats",
    "seed", "seed_all", "set_device", "set_per_process_memory_fraction", "set_rng_state", "set_rng_state_all", "set_stream",
    "stream", "streams", "synchronize",
]  # fmt: skip


def is_available() -> bool:
    """Whether tensors can be on a GPU: whether CuPy is installed and finds one."""
    return _selection.cuda_is_available()


def device_count() -> int:
    """Return the number of usable GPUs."""
    return _backend().device_count() if is_available() else 0


def current_device() -> int:
    """Return the number of the current GPU. Raises AssertionError if there is none."""
    return _index(None)


def set_device(device: Any) -> None:
    """Make a GPU the current one. Does nothing for a negative number. Raises AssertionError if there is no GPU."""
    if not isinstance(device, int) or device >= 0:
        _backend().set_current_device(_index(device))


@contextmanager
def device(device: Any) -> Iterator[None]:
    """Make a GPU the current one in a with block. Does nothing for None and for a negative number."""
    if device is None or (isinstance(device, int) and device < 0):
        yield
        return
    with _backend().current(_index(device)):
        yield


def synchronize(device: Any = None) -> None:
    """Wait until a GPU has done its work. Raises AssertionError if there is none."""
    _backend().synchronize(_index(device))
    _selection.look_at_checks()


def init() -> None:
    """Load the library of GPUs. Raises AssertionError if there is none."""
    _backend()


def is_initialized() -> bool:
    """Whether GPUs are in use."""
    return bool(_selection.others)


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether the current GPU computes in bfloat16; False without a GPU.

    including_emulation: whether GPUs count that compute it in float32, those before compute capability 8.0."""
    if not is_available() or not _backend().supports_bfloat16():
        return False
    return including_emulation or get_device_capability()[0] >= 8


def ipc_collect() -> None:
    """Do nothing: no memory of a GPU is shared."""


def get_arch_list() -> list[str]:
    """Return the kinds of GPUs that the package is built for: none, as CuPy compiles when it runs."""
    return []


def get_gencode_flags() -> str:
    """Return the compiler's options for the GPUs that the package is built for: none."""
    return ""


def is_tf32_supported() -> bool:
    """Whether the current GPU multiplies in TF32; False without a GPU."""
    return is_available() and get_device_capability()[0] >= 8


def can_device_access_peer(device: Any, peer_device: Any) -> bool:
    """Whether a GPU reads the memory of another one. Raises AssertionError if there is none."""
    return bool(_backend().can_access_peer(_index(device), _index(peer_device)))


def device_of(obj: Any) -> Any:
    """Return a context in which the GPU of a tensor is the current one. It does nothing for a tensor on the CPU."""
    return device(obj.get_device() if obj.is_cuda else -1)


def current_blas_handle() -> int:
    """Return the address of the handle of cuBLAS. Raises AssertionError if there is no GPU."""
    return int(_backend().blas_handle())


def is_current_stream_capturing() -> bool:
    """Whether the current queue of work is recorded as a graph: False, because there are no CUDA graphs here."""
    return False


def __getattr__(name: str) -> Any:
    if name in ("amp", "nvtx"):
        return _import_late(f"wengert.cuda.{name}")
    if name == "default_generators":
        return random.default_generators()
    for d in DTYPES:
        if name == f"{d.scalar_name}Tensor":
            found = globals()[name] = _import_late("wengert.ops.create").typed_class(d, "cuda")
            return found
    raise AttributeError(f"module 'wengert.cuda' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
