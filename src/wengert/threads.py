"""Number of threads, and the memory pool of large results.

One number of threads serves both the compiled kernels and the BLAS that NumPy multiplies matrices with. At first it is what
WENGERT_NUM_THREADS says (then BLAS is told too), else OMP_NUM_THREADS, else the cores that this process may use.
"""

from __future__ import annotations

import os
from typing import Any

from wengert import errors
from wengert.kernels import native

__all__ = [
    "apply_environment", "blas_threads", "empty_cache", "get_num_interop_threads", "get_num_threads", "memory_stats",
    "parallel_info", "register_with_threadpoolctl", "reset_peak_memory_stats", "set_num_interop_threads",
    "set_num_threads",
]  # fmt: skip

_interop: int | None = None
_without_kernels: int | None = None  # what was set where no kernels are compiled


def set_num_threads(n: int) -> None:
    """Set the number of threads of the kernels and of NumPy's BLAS. n: int, n >= 1; otherwise RuntimeError.

    BLAS gets no more threads than there are cores that this process may use. threadpoolctl sets the threads of BLAS if it is
    installed. Without it, only an OpenBLAS on Linux is set.

    >>> import wengert
    >>> before = wengert.get_num_threads()
    >>> wengert.set_num_threads(1)
    >>> wengert.get_num_threads()
    1
    >>> wengert.set_num_threads(before)
    """
    global _without_kernels
    _check("set_num_threads", n)
    n = min(n, _MOST)
    if native is not None:
        native.set_num_threads(n)
    else:
        _without_kernels = n
    # On more threads than cores, OpenBLAS waits for its own threads: products take fifty times as long.
    _set_blas_threads(min(n, _usable_cores()))


def get_num_threads() -> int:
    """Return the number of threads of the kernels."""
    if native is not None:
        number: int = native.get_num_threads()
        return number
    return _without_kernels or _usable_cores()


def set_num_interop_threads(n: int) -> None:
    """Store a number for get_num_interop_threads. It has no effect, as operations run one after the other."""
    global _interop
    _check("set_num_interop_threads", n)
    _interop = n


def get_num_interop_threads() -> int:
    """Return the number given to set_num_interop_threads, or the number of cores."""
    return _interop or _usable_cores()


_MOST = 2**31 - 1  # threads; an int of C


def _check(function: str, n: Any) -> None:
    if type(n) is not int:
        raise errors.ThreadsError(f"{function} expects an int, but got {type(n).__name__}")
    if n < 1:
        raise errors.ThreadsError(f"{function} expects a positive integer")
    if n >= 2**63:
        raise errors.IntOverflowError("Overflow when unpacking long long")


def apply_environment() -> None:
    """Set the threads of BLAS from WENGERT_NUM_THREADS. The import calls it if the variable is set; kernels read it themselves."""
    try:
        n = int(os.environ["WENGERT_NUM_THREADS"])
    except ValueError:
        return
    if n > 0:
        set_num_threads(min(n, _MOST))


def _usable_cores() -> int:
    """Number of cores that this process may use, and with compiled kernels at most what its control groups allow."""
    if native is not None:
        cores: int = native.usable_cores()
        return cores
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def parallel_info() -> str:
    """Return the settings that decide the number of threads, one a line."""
    import threading

    blas = blas_threads()
    lines = [
        f"wengert.get_num_threads() : {get_num_threads()}",
        f"wengert.get_num_interop_threads() : {get_num_interop_threads()}",
        f"kernels : {'not compiled' if native is None else 'compiled, CPU level ' + native.level}",
        f"BLAS threads : {'unknown' if blas is None else blas}",
        f"usable cores : {_usable_cores()}",
        f"Python threads : {threading.active_count()}",
    ]
    names = ("WENGERT_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    lines += ["Environment variables:", *[f"    {name} : {os.environ.get(name, '[not set]')}" for name in names]]
    return "\n".join(lines) + "\n"


# -- BLAS --------------------------------------------------------------------------------------------------------------


def _set_blas_threads(n: int) -> None:
    controller = _controller()
    if controller is not None:
        controller.limit(limits=n, user_api="blas")  # for good: only leaving it as a context would restore
        return
    for library, affixes in _openblas_libraries():
        getattr(library, "{}openblas_set_num_threads{}".format(*affixes))(n)


def blas_threads() -> int | None:
    """Return the number of threads of BLAS, or None if it cannot be found out."""
    controller = _controller()
    if controller is not None:
        pools = [pool["num_threads"] for pool in controller.info() if pool["user_api"] == "blas"]
    else:
        pools = [
            getattr(library, "{}openblas_get_num_threads{}".format(*affixes))() for library, affixes in _openblas_libraries()
        ]
    return max(pools, default=None)


def _controller() -> Any:
    """Return a controller of all thread pools in this process, or None without threadpoolctl."""
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return None
    register_with_threadpoolctl()
    return ThreadpoolController()


def _openblas_libraries() -> list[tuple[Any, tuple[str, str]]]:
    """Return the loaded OpenBLAS libraries, each with the prefix and suffix of its function names."""
    import ctypes

    try:
        with open("/proc/self/maps", encoding="utf-8") as lines:
            paths = {line.split()[-1] for line in lines if "openblas" in line}
    except OSError:
        return []
    found = []
    for path in sorted(paths):
        try:
            library = ctypes.CDLL(path)
        except OSError:
            continue
        for affixes in (("scipy_", "64_"), ("scipy_", ""), ("", "64_"), ("", "")):
            if hasattr(library, "{}openblas_set_num_threads{}".format(*affixes)):
                found.append((library, affixes))
                break
    return found


_registered = False


def register_with_threadpoolctl() -> None:
    """Register the kernels' threads with threadpoolctl, which then finds and limits them like those of other libraries.

    set_num_threads and `wengert.__config__` call it."""
    global _registered
    if _registered or native is None:
        return
    import threadpoolctl

    class KernelsController(threadpoolctl.LibController):
        """The threads of wengert's compiled kernels."""

        user_api = "wengert"
        internal_api = "wengert"
        filename_prefixes = ("native",)
        check_symbols = ("wk_get_num_threads", "wk_set_num_threads")

        def get_num_threads(self) -> int:
            return get_num_threads()

        def set_num_threads(self, num_threads: int) -> None:
            native.set_num_threads(num_threads)

        def get_version(self) -> None:
            return None

        def set_additional_attributes(self) -> None:
            pass

    threadpoolctl.register(KernelsController)
    _registered = True


# -- memory ------------------------------------------------------------------------------------------------------------


def empty_cache() -> None:
    """Return the unused memory of the pool to the system.

    The kernels keep freed memory of large results for the next ones, up to a limit: WENGERT_POOL_LIMIT bytes (such as 5e8),
    or the lesser of 1 GiB and a quarter of the memory that the machine or the container has. Without compiled kernels there
    is no pool, and this does nothing."""
    if native is not None and hasattr(native, "empty_cache"):
        native.empty_cache()


def memory_stats() -> dict[str, int]:
    """Return counts of the memory of large results, those of at least 64 KiB.

    "allocated_bytes.all.current" and ".peak": in arrays that are alive; "reserved_bytes.all.current" and ".peak": these
    and what waits to be used again; "num_hits" and "num_misses": results given memory that was there, and new memory;
    "num_released": pieces given back to the system; "limit_bytes": how much may wait.

    >>> import wengert
    >>> stats = wengert.memory_stats()
    >>> stats["allocated_bytes.all.current"] <= stats["reserved_bytes.all.current"]
    True
    """
    names = (
        "allocated_bytes.all.current", "allocated_bytes.all.peak", "reserved_bytes.all.current", "reserved_bytes.all.peak",
        "num_hits", "num_misses", "num_released", "limit_bytes",
    )  # fmt: skip
    counts = native.pool_counts(False) if hasattr(native, "pool_counts") else (0,) * len(names)
    return dict(zip(names, counts, strict=True))


def reset_peak_memory_stats() -> None:
    """Reset the peaks of `memory_stats` to the current values."""
    if hasattr(native, "pool_counts"):
        native.pool_counts(True)


def __dir__() -> list[str]:
    return sorted(__all__)
