"""How many threads work, and the memory that large results are given.

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
    """Sets how many threads the kernels, and NumPy's BLAS, work on. n: an int from 1 on, else RuntimeError.

    BLAS is reached through threadpoolctl where that is installed, else, on Linux, if it is an OpenBLAS.

    >>> import wengert
    >>> before = wengert.get_num_threads()
    >>> wengert.set_num_threads(1)
    >>> wengert.get_num_threads()
    1
    >>> wengert.set_num_threads(before)
    """
    global _without_kernels
    _check("set_num_threads", n)
    if native is not None:
        native.set_num_threads(n)
    else:
        _without_kernels = n
    _set_blas_threads(n)


def get_num_threads() -> int:
    """How many threads the kernels work on."""
    if native is not None:
        number: int = native.get_num_threads()
        return number
    return _without_kernels or _usable_cores()


def set_num_interop_threads(n: int) -> None:
    """Kept and told by get_num_interop_threads, and nothing else: operations run one after the other."""
    global _interop
    _check("set_num_interop_threads", n)
    _interop = n


def get_num_interop_threads() -> int:
    """What set_num_interop_threads has set; else the number of cores."""
    return _interop or _usable_cores()


def _check(function: str, n: Any) -> None:
    if type(n) is not int:
        raise errors.ThreadsError(f"{function} expects an int, but got {type(n).__name__}")
    if n < 1:
        raise errors.ThreadsError(f"{function} expects a positive integer")


def apply_environment() -> None:
    """Tells BLAS what WENGERT_NUM_THREADS says; the kernels read it themselves. Called where it is set, on import."""
    try:
        n = int(os.environ["WENGERT_NUM_THREADS"])
    except ValueError:
        return
    if n > 0:
        set_num_threads(n)


def _usable_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def parallel_info() -> str:
    """What decides how many threads work, one fact a line."""
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
    """How many threads BLAS works on, as far as can be known."""
    controller = _controller()
    if controller is not None:
        pools = [pool["num_threads"] for pool in controller.info() if pool["user_api"] == "blas"]
    else:
        pools = [
            getattr(library, "{}openblas_get_num_threads{}".format(*affixes))() for library, affixes in _openblas_libraries()
        ]
    return max(pools, default=None)


def _controller() -> Any:
    """A controller of all thread pools in this process; None without threadpoolctl."""
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return None
    register_with_threadpoolctl()
    return ThreadpoolController()


def _openblas_libraries() -> list[tuple[Any, tuple[str, str]]]:
    """The OpenBLAS libraries that are loaded, and what is put around the names of their functions."""
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
    """Lets threadpoolctl find and limit the kernels' threads as those of any other library.

    Done by itself when the number of threads is set, or asked for through `wengert.__config__`."""
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
    """Gives the memory that large results have left behind, and that nothing uses now, back to the system.

    The kernels keep it for the next large results, up to a limit: 1 GiB or a quarter of the memory, whichever is less, or
    WENGERT_POOL_LIMIT, in bytes. Does nothing where no kernels are compiled."""
    if native is not None and hasattr(native, "empty_cache"):
        native.empty_cache()


def memory_stats() -> dict[str, int]:
    """Counts of the memory that large results are given (from 128 KiB on; smaller ones are not counted).

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
    """Lets the peaks of `memory_stats` start anew from what is in use now."""
    if hasattr(native, "pool_counts"):
        native.pool_counts(True)
