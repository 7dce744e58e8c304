"""Queries about a value that may be a tensor, an array or a Python number, for forwards and rules."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from wengert import errors

__all__ = ["integer_ufunc", "is_complex", "is_number", "kind_of", "log_of", "number_of"]


def is_number(x: Any) -> bool:
    """Whether x is a Python number."""
    return isinstance(x, (float, int, complex))


def number_of(x: Any) -> Any:
    """Return the Python number of a NumPy scalar, a 0-d array or tensor, or a bool; return any other object as it is.

    >>> import numpy as np
    >>> number_of(np.float64(0.5)), number_of(np.array(2)), number_of(True), number_of("fro")
    (0.5, 2, 1, 'fro')
    """
    found = x.item() if getattr(x, "ndim", None) == 0 else x
    return int(found) if isinstance(found, bool) else found


def is_complex(x: Any) -> bool:
    """Whether x holds complex numbers."""
    dtype = getattr(x, "dtype", None)  # asked first: a kernel may then take a Python number in the place of x
    if dtype is None and is_number(x):
        return isinstance(x, complex)
    kind = getattr(x.dtype, "kind", None)  # NumPy's dtypes have a kind, this package's have is_complex
    return x.dtype.is_complex if kind is None else kind == "c"


def kind_of(x: Any) -> str:
    """Return NumPy's kind letter of an array's dtype; "" for a number."""
    return "" if is_number(x) else x.dtype.kind


def integer_ufunc(kernel: str, function: Callable[..., Any], *operands: Any) -> Any:
    """Call a NumPy function on integers. Raises torch's error, naming its kernel, for floating operands."""
    for x in operands:
        if isinstance(x, float) or kind_of(x) in ("f", "V"):
            raise errors.unsupported_dtype(kernel, "float32" if is_number(x) else x.dtype)
    return function(*operands)


def log_of(F: Any, x: Any) -> Any:
    """Logarithm of a tensor, an array or a real number. For a number it is a Python float, because NumPy's has a dtype."""
    if not is_number(x):
        return F.log(x)
    return math.log(x) if x > 0 else -math.inf if x == 0 else math.nan
