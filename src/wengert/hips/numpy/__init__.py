"""NumPy's functions for differentiated functions: `import wengert.hips.numpy as np`.

Each name is NumPy's, and is made when it is first used. Functions take boxes; everything else is what NumPy has.
"""

from __future__ import annotations

from typing import Any

import numpy as _numpy

from wengert._forks import import_late as _import_late
from wengert.hips.doors import door as _door
from wengert.hips.numpy._namespace import namespace as _namespace
from wengert.hips.numpy._own import c_ as c_, make_diagonal as make_diagonal, r_ as r_, where as where

_MODULES = ("fft", "linalg", "numpy_boxes", "random")
_find, _names = _namespace(_numpy, globals())
row_stack = _door(_numpy.vstack)  # NumPy warns of this name


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return _import_late(f"wengert.hips.numpy.{name}")
    return __dir__() if name == "__all__" else _find(name)


def __dir__() -> list[str]:
    return sorted({*_names(), "make_diagonal", "numpy_boxes"} - {"core", "f2py", "test", "testing", "typing"})
