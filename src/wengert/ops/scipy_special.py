"""Functions of scipy.special, loaded at the first call, on arrays of any floating dtype."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np


@cache
def _function(name: str) -> Any:
    from scipy import special

    return getattr(special, name)


def special(name: str, *operands: Any) -> Any:
    """A function of scipy.special, of arrays of one dtype and of numbers, in that dtype.

    SciPy has no 16-bit forms: those go by float32."""
    dtype = next(x.dtype for x in operands if hasattr(x, "dtype"))
    if dtype.itemsize == 2:
        operands = tuple([x.astype(np.float32) if hasattr(x, "dtype") else x for x in operands])
    result = _function(name)(*operands)
    return result if result.dtype == dtype else result.astype(dtype)
