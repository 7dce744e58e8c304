"""torch.cuda.memory: how much memory of a GPU is in use. Without a GPU all numbers are 0.

CuPy keeps freed memory in a pool: what arrays use is "allocated", what the pool holds is "reserved". Peaks are counted from the
first call of a function that is about them, such as reset_peak_memory_stats(): counting costs each allocation some time.
"""

from __future__ import annotations

import warnings
from collections import OrderedDict
from typing import Any

from wengert.backends import selection as _selection
from wengert.cuda._devices import backend as _backend, index_of as _index

__all__ = [
    "device_memory_used", "empty_cache", "get_allocator_backend", "get_per_process_memory_fraction", "max_memory_allocated",
    "max_memory_cached", "max_memory_reserved", "mem_get_info", "memory_allocated", "memory_cached", "memory_reserved",
    "memory_stats", "memory_stats_as_nested_dict", "memory_summary", "reset_accumulated_memory_stats", "reset_max_memory_allocated",
    "reset_max_memory_cached", "reset_peak_memory_stats", "set_per_process_memory_fraction",
]  # fmt: skip


def _used(device: Any) -> tuple[int, int]:
    found: tuple[int, int] = _backend().memory_used(_index(device)) if _selection.cuda_is_available() else (0, 0)
    return found


def _peaks(device: Any) -> tuple[int, int]:
    found: tuple[int, int] = _backend().memory_peaks(_index(device)) if _selection.cuda_is_available() else (0, 0)
    return found


def memory_allocated(device: Any = None) -> int:
    """Return the bytes of arrays on a GPU."""
    return _used(device)[0]


def memory_reserved(device: Any = None) -> int:
    """Return the bytes that the pool of a GPU's memory holds."""
    return _used(device)[1]


def max_memory_allocated(device: Any = None) -> int:
    """Return the most bytes of arrays on a GPU since the count began or was reset."""
    return _peaks(device)[0]


def max_memory_reserved(device: Any = None) -> int:
    """Return the most bytes that the pool of a GPU's memory held since the count began or was reset."""
    return _peaks(device)[1]


def reset_peak_memory_stats(device: Any = None) -> None:
    """Begin to count peaks of a GPU anew, from what is in use now. Do nothing without a GPU."""
    if _selection.cuda_is_available():
        _backend().reset_memory_peaks(_index(device))


def reset_accumulated_memory_stats(device: Any = None) -> None:
    """Do nothing: no sums over time are kept."""


def _renamed(old: str, new: str) -> None:
    warnings.warn(f"`torch.cuda.{old}` has been renamed to `torch.cuda.{new}`", FutureWarning, stacklevel=3)


def memory_cached(device: Any = None) -> int:
    """Return memory_reserved(device). Deprecated in torch."""
    _renamed("memory_cached", "memory_reserved")
    return memory_reserved(device)


def max_memory_cached(device: Any = None) -> int:
    """Return max_memory_reserved(device). Deprecated in torch."""
    _renamed("max_memory_cached", "max_memory_reserved")
    return max_memory_reserved(device)


def reset_max_memory_allocated(device: Any = None) -> None:
    """Call reset_peak_memory_stats(device), which resets all peaks. Deprecated in torch."""
    warnings.warn(
        "torch.cuda.reset_max_memory_allocated now calls torch.cuda.reset_peak_memory_stats, which resets /all/ peak memory stats.",
        FutureWarning, stacklevel=2,
    )  # fmt: skip
    reset_peak_memory_stats(device)


def reset_max_memory_cached(device: Any = None) -> None:
    """Call reset_peak_memory_stats(device), which resets all peaks. Deprecated in torch."""
    warnings.warn(
        "torch.cuda.reset_max_memory_cached now calls torch.cuda.reset_peak_memory_stats, which resets /all/ peak memory stats.",
        FutureWarning, stacklevel=2,
    )  # fmt: skip
    reset_peak_memory_stats(device)


def memory_stats(device: Any = None) -> dict[str, Any]:
    """Return the bytes in use and in the pool of a GPU, now and at their peaks; an empty dict without a GPU."""
    if not _selection.cuda_is_available():
        return OrderedDict()
    (used, held), (most_used, most_held) = _used(device), _peaks(device)
    return OrderedDict({
        "allocated_bytes.all.current": used, "allocated_bytes.all.peak": most_used,
        "reserved_bytes.all.current": held, "reserved_bytes.all.peak": most_held,
    })  # fmt: skip


def memory_stats_as_nested_dict(device: Any = None) -> dict[str, Any]:
    """Return memory_stats(device) as dicts in dicts: ["allocated_bytes"]["all"]["current"]."""
    found: dict[str, Any] = {}
    for name, value in memory_stats(device).items():
        inner = found
        *path, last = name.split(".")
        for part in path:
            inner = inner.setdefault(part, {})
        inner[last] = value
    return found


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    """Return a table of the memory of a GPU as text."""
    (used, held), (most_used, most_held) = _used(device), _peaks(device)
    rows = [("Allocated memory", used, most_used), ("GPU reserved memory", held, most_held)]
    lines = [f"| {name:<20} | {_size(now):>12} | {_size(most):>12} |" for name, now, most in rows]
    head, rule = f"| {'Metric':<20} | {'Cur Usage':>12} | {'Peak Usage':>12} |", "|" + "-" * 54 + "|"
    return "\n".join([rule, head, rule, *lines, rule, ""])


def _size(count: int) -> str:
    """Return a number of bytes for people: "20 MiB"."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 10 * 1024 or unit == "GiB":
            break
        count //= 1024
    return f"{count} {unit}"


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """Return the free and all bytes of a GPU. Raises AssertionError if there is none."""
    free, total = _backend().memory_info(_index(device))
    return int(free), int(total)


def device_memory_used(device: Any = None) -> int:
    """Return the bytes of a GPU that all programs use. Raises AssertionError if there is none."""
    free, total = mem_get_info(device)
    return total - free


def empty_cache() -> None:
    """Give memory that the pool holds and no array uses back to the GPU."""
    if _selection.cuda_is_available():
        _backend().empty_cache()


def set_per_process_memory_fraction(fraction: float, device: Any = None) -> None:
    """Let arrays use a part of a GPU's memory at most. Raises ValueError unless 0 <= fraction <= 1."""
    backend, index = _backend(), _index(device)
    if not isinstance(fraction, float):
        raise TypeError("Invalid type for fraction argument, must be `float`")
    if not 0 <= fraction <= 1:
        raise ValueError(f"Invalid fraction value: {fraction}. Allowed range: 0~1")
    backend.set_memory_limit(index, int(fraction * backend.memory_info(index)[1]))


def get_per_process_memory_fraction(device: Any = None) -> float:
    """Return the part of a GPU's memory that arrays may use, 1.0 if nothing limits them. Raises AssertionError without a GPU."""
    backend, index = _backend(), _index(device)
    limit, total = backend.memory_limit(index), backend.memory_info(index)[1]
    return float(limit / total) if limit else 1.0


def get_allocator_backend() -> str:
    """Return how memory is allocated: "native", from a pool."""
    return "native"
