"""Facts about this installation and its machine, for bug reports.

`python -m wengert.__config__` prints it.
"""

from __future__ import annotations

import platform
from importlib import import_module

import wengert
from wengert import _finder
from wengert.kernels import native
from wengert.threads import blas_threads, get_num_threads, parallel_info as parallel_info

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["info", "parallel_info", "show", "summary"]


def info() -> dict[str, Any]:
    """Return the facts that `show()` prints, as a dict of strings, ints, lists and dicts.

    Keys: "wengert", "python", "numpy" (versions); "core" ("compiled" or "python"); "why" (the compiler of the core, or the
    reason why it is not compiled); "kernels" (the CPU level of the compiled kernels); "threads" (the number of threads that
    kernels use); "products" (the library that multiplies matrices of middle size; WENGERT_BLAS chooses it: "own", "numpy",
    "mkl", "blis", "openblas" or the path of a library with cblas_sgemm); "blas" (name, version and threads of NumPy's BLAS;
    threads is None without threadpoolctl); "cpu" (model, architecture, the vector instructions that NumPy found).

    >>> import wengert
    >>> wengert.__config__.info()["core"] in ("compiled", "python")
    True
    """
    import numpy

    numpy_config: Any = numpy.show_config(mode="dicts")
    core, why = _core()
    return {
        "wengert": wengert.__version__,
        "python": f"{platform.python_implementation()} {platform.python_version()}, {platform.platform()}",
        "numpy": numpy.__version__,
        "core": core,
        "why": why,
        "threads": get_num_threads(),
        "kernels": "not compiled" if native is None else f"CPU level {native.level}",
        "blas": _blas(numpy_config),
        "products": "NumPy's BLAS" if native is None else native.blas,
        "cpu": {
            "model": _cpu_model(),
            "architecture": platform.machine(),
            "simd": numpy_config.get("SIMD Extensions", {}).get("found", []),
        },
    }


def show() -> None:
    """Print the facts of `info()`, one a line."""
    facts = info()
    blas, cpu = facts["blas"], facts["cpu"]
    blas_threads = "" if blas["threads"] is None else f", {blas['threads']} threads"
    lines = {
        "wengert": facts["wengert"],
        "core": f"{facts['core']} ({facts['why']})",
        "Python": facts["python"],
        "NumPy": facts["numpy"],
        "kernels": facts["kernels"],
        "threads": facts["threads"],
        "products": facts["products"],
        "BLAS": f"{blas['name']} {blas['version']}{blas_threads}",
        "CPU": f"{cpu['model']} ({cpu['architecture']})",
        "SIMD": " ".join(cpu["simd"]) or "unknown",
    }
    for name, value in lines.items():
        print(f"{name:<8} {value}")


def summary() -> str:
    """Return one line with the version and whether the core is compiled."""
    core, why = _core()
    return f"wengert {wengert.__version__}, core: {core} ({why})"


def _core() -> tuple[str, str]:
    """Return ("compiled", compiler) or ("python", reason)."""
    from wengert.core import engine

    facts = _build_facts()
    if not (engine.__file__ or "").endswith(".py"):
        return "compiled", f"{facts.COMPILER}, Cython {facts.CYTHON}" if facts else "in the source tree"
    if _finder.requested():
        return "python", "WENGERT_PURE is set"
    return "python", facts.WHY_PURE if facts else "run from the source tree, not built"


def _build_facts() -> Any:
    """Return the module that the build wrote, or None if the package runs from its source tree."""
    try:
        return import_module("wengert._build_facts")
    except ImportError:
        return None


def _blas(numpy_config: dict[str, Any]) -> dict[str, Any]:
    """Return name, version and current number of threads of NumPy's BLAS."""
    built = numpy_config.get("Build Dependencies", {}).get("blas", {})
    return {
        "name": built.get("name", "unknown"),
        "version": built.get("version", "unknown"),
        "threads": blas_threads(),
    }


def _cpu_model() -> str:
    """Return the processor's name."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            for line in lines:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or "unknown"


if __name__ == "__main__":
    show()
