"""SciPy's functions on tensors, under SciPy's names: `import wengert.scipy.special as special` in place of `import scipy.special`.

See _frame.py for what each submodule promises. A submodule, and SciPy's own, is loaded when a program names it.
"""

from wengert._forks import import_late as _import_late

_SUBMODULES = (
    "fft",
    "integrate",
    "interpolate",
    "linalg",
    "optimize",
    "ndimage",
    "signal",
    "sparse",
    "spatial",
    "special",
    "stats",
)


def __getattr__(name: str) -> object:
    if name in _SUBMODULES:
        return _import_late(f"wengert.scipy.{name}")
    raise AttributeError(f"module 'wengert.scipy' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_SUBMODULES})
