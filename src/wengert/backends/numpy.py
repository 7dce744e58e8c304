"""The NumPy backend: NumPy's own names, and the few that every backend must have besides.

What is not defined here is NumPy's: xp.exp, xp.sum, xp.matmul.
"""

from __future__ import annotations

from typing import Any

import numpy as _np
from numpy import asarray, copyto, empty, empty_like, ndarray, zeros

from wengert.kernels import rows

name = "cpu"


def __getattr__(attribute: str) -> Any:
    value = getattr(_np, attribute)
    globals()[attribute] = value  # found at once the next time
    return value


def cast(x: Any, dtype: Any) -> Any:
    """x in another dtype, as torch casts: of a complex number a real type takes the real part."""
    if x.dtype.kind == "c" and _np.dtype(dtype).kind not in "cb":
        x = x.real
    return x.astype(dtype)


def shares_memory(x: Any, y: Any) -> bool:
    """Whether y, made from x by indexing or reshaping, looks into x's memory."""
    return _np.may_share_memory(x, y)


def sum_to_size(x: Any, shape: tuple[int, ...]) -> Any:
    """Sums x over the dimensions that broadcasting a tensor of this shape to x's shape added or stretched."""
    extra = x.ndim - len(shape)
    if extra == 1 and x.shape[1:] == shape:  # a bias
        total = rows.reduce(rows.SUM, x, 0, False)
        return asarray(_np.add.reduce(x)) if total is None else total
    axes = tuple([i for i in range(x.ndim) if i < extra or (shape[i - extra] == 1 and x.shape[i] != 1)])
    if not axes:
        return x
    total = rows.reduce(rows.SUM, x, axes, False)
    if total is None:
        total = asarray(_np.add.reduce(x, axis=axes))
    return total if total.shape == shape else total.reshape(shape)


__all__ = [
    "asarray",
    "cast",
    "copyto",
    "empty",
    "empty_like",
    "ndarray",
    "shares_memory",
    "sum_to_size",
    "zeros",
]
