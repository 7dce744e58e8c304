"""Functions of scipy.special for arrays of any floating dtype. SciPy is imported at the first call.

Without SciPy, plain_special has the ordinary ones."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from wengert._forks import import_late
from wengert.backends import numpy as numpy_backend
from wengert.backends.selection import backend_among


@cache
def _function(name: str) -> Any:
    try:
        return getattr(import_late("scipy.special"), name)
    except ModuleNotFoundError:
        found = getattr(import_late("wengert.ops.plain_special"), name, None)
        if found is None:
            raise
        return found


def special(name: str, *operands: Any) -> Any:
    """Call a function of scipy.special on arrays of one dtype and numbers; return the result in that dtype.

    16-bit arrays are computed in float32, because SciPy has no 16-bit functions."""
    dtype = next(x.dtype for x in operands if hasattr(x, "dtype"))
    if dtype.itemsize == 2:
        operands = tuple([x.astype(np.float32) if hasattr(x, "dtype") else x for x in operands])
    backend = backend_among(operands)
    result = (_function(name) if backend is numpy_backend else backend.special(name, _function))(*operands)
    return result if result.dtype == dtype else result.astype(dtype)
