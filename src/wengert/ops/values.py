"""Questions that forwards and rules ask about a value, which may be a tensor, an array or a Python number."""

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
    """The Python number in a NumPy scalar, in an array or a tensor without dimensions, and in a truth value; anything else as
    it is.

    >>> import numpy as np
    >>> number_of(np.float64(0.5)), number_of(np.array(2)), number_of(True), number_of("fro")
    (0.5, 2, 1, 'fro')
    """
    found = x.item() if getattr(x, "ndim", None) == 0 else x
    return int(found) if isinstance(found, bool) else found


def is_complex(x: Any) -> bool:
    """Whether x holds complex numbers."""
    if is_number(x):
        return isinstance(x, complex)
    kind = getattr(x.dtype, "kind", None)  # NumPy's dtypes have one, this package's say it themselves
    return x.dtype.is_complex if kind is None else kind == "c"


def kind_of(x: Any) -> str:
    """The kind of an array's dtype, as NumPy abbreviates it; "" for a number."""
    return "" if is_number(x) else x.dtype.kind


def integer_ufunc(kernel: str, function: Callable[..., Any], *operands: Any) -> Any:
    """A NumPy function that has loops for integers alone; torch's error for others is in its kernel's name."""
    for x in operands:
        if isinstance(x, float) or kind_of(x) in ("f", "V"):
            raise errors.unsupported_dtype(kernel, "float32" if is_number(x) else x.dtype)
    return function(*operands)


def log_of(F: Any, x: Any) -> Any:
    """The logarithm of a tensor, an array or a real number (as a Python float: NumPy's would be a float64)."""
    if not is_number(x):
        return F.log(x)
    return math.log(x) if x > 0 else -math.inf if x == 0 else math.nan
