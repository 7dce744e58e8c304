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
from wengert.cuda import streams as streams
from wengert.cuda._devices import backend as _backend, index_of as _index
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

__all__ = [
    "Event", "ExternalStream", "Stream", "StreamContext", "amp", "current_device", "current_stream", "default_generators",
    "default_stream", "device", "device_count", "empty_cache", "get_arch_list", "get_device_capability", "get_device_name",
    "get_device_properties", "get_rng_state", "get_rng_state_all", "init", "initial_seed", "ipc_collect", "is_available",
    "is_bf16_supported", "is_initialized", "manual_seed", "manual_seed_all", "max_memory_allocated", "max_memory_reserved",
    "mem_get_info", "memory_allocated", "memory_reserved", "memory_stats", "reset_max_memory_allocated",
    "reset_peak_memory_stats", "seed", "seed_all", "set_device", "set_rng_state", "set_rng_state_all", "set_stream",
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


def _generator(device: Any) -> Any:
    """Return the default generator of a GPU. Raises AssertionError if there is none."""
    return _import_late("wengert.generator").default_generator_of(f"cuda:{_index(device)}")


def manual_seed(seed: int) -> None:
    """Seed the random numbers of the current GPU. Do nothing if there is none."""
    if is_available():
        _generator(None).manual_seed(seed)


def manual_seed_all(seed: int) -> None:
    """Seed the random numbers of all GPUs. Do nothing if there is none."""
    _import_late("wengert.generator").seed_devices(seed)


def initial_seed() -> int:
    """Return the seed of the random numbers of the current GPU. Raises AssertionError if there is none."""
    found: int = _generator(None).initial_seed()
    return found


def seed() -> None:
    """Seed the random numbers of the current GPU at random. Do nothing if there is none."""
    if is_available():
        _generator(None).seed()


def seed_all() -> None:
    """Seed the random numbers of all GPUs with one random seed. Do nothing if there is none."""
    if is_available():
        manual_seed_all(_generator(0).seed())


def get_rng_state(device: Any = "cuda") -> Any:
    """Return the state of the random numbers of a GPU, a uint8 tensor of 16 elements in main memory: the seed and an offset."""
    return _generator(device).get_state()


def get_rng_state_all() -> list[Any]:
    """Return the state of the random numbers of each GPU."""
    return [get_rng_state(i) for i in range(device_count())]


def set_rng_state(new_state: Any, device: Any = "cuda") -> None:
    """Restore a state that get_rng_state returned. Raises RuntimeError for a tensor that is no state."""
    _generator(device).set_state(new_state)


def set_rng_state_all(new_states: Any) -> None:
    """Restore the state of each GPU."""
    for i, state in enumerate(new_states):
        set_rng_state(state, i)


def memory_allocated(device: Any = None) -> int:
    """Return the bytes of arrays on a GPU, 0 if there is none."""
    return _backend().memory_used(_index(device))[0] if is_available() else 0


def memory_reserved(device: Any = None) -> int:
    """Return the bytes that the pool of a GPU's memory holds, 0 if there is none."""
    return _backend().memory_used(_index(device))[1] if is_available() else 0


# CuPy keeps no peaks: these give what is used now.
max_memory_allocated, max_memory_reserved = memory_allocated, memory_reserved


def memory_stats(device: Any = None) -> dict[str, Any]:
    """Return the bytes in use and in the pool of a GPU, an empty dict if there is none."""
    if not is_available():
        return {}
    used, held = _backend().memory_used(_index(device))
    return {"allocated_bytes.all.current": used, "reserved_bytes.all.current": held}


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """Return the free and all bytes of a GPU. Raises AssertionError if there is none."""
    free, total = _backend().memory_info(_index(device))
    return int(free), int(total)


def empty_cache() -> None:
    """Give memory that the pool holds and no array uses back to the GPU."""
    if is_available():
        _backend().empty_cache()


def ipc_collect() -> None:
    """Do nothing: no memory of a GPU is shared."""


def reset_peak_memory_stats(device: Any = None) -> None:
    """Do nothing: there are no peaks."""


reset_max_memory_allocated = reset_peak_memory_stats


def get_arch_list() -> list[str]:
    """Return the kinds of GPUs that the package is built for: none, as CuPy compiles when it runs."""
    return []


def get_device_properties(device: Any = None) -> Any:
    """Return CuPy's dict of the properties of a GPU. Raises AssertionError if there is none."""
    return _backend().properties(_index(device))


def get_device_name(device: Any = None) -> str:
    """Return the name of a GPU. Raises AssertionError if there is none."""
    name = get_device_properties(device)["name"]
    return name.decode() if isinstance(name, bytes) else str(name)


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """Return the compute capability of a GPU, (9, 0) for an H100. Raises AssertionError if there is none."""
    found = get_device_properties(device)
    return int(found["major"]), int(found["minor"])


def __getattr__(name: str) -> Any:
    if name == "amp":
        return _import_late("wengert.cuda.amp")
    if name == "default_generators":
        return tuple([_generator(i) for i in range(device_count())])
    for d in DTYPES:
        if name == f"{d.scalar_name}Tensor":
            found = globals()[name] = _import_late("wengert.ops.create").typed_class(d, "cuda")
            return found
    raise AttributeError(f"module 'wengert.cuda' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
