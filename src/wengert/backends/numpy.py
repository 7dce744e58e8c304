"""The NumPy backend: NumPy's functions, and a few functions that every backend must define.

Names that are not defined here are NumPy's: xp.exp, xp.sum, xp.matmul.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as _np
from numpy import asarray, copyto, empty, empty_like, ndarray, zeros

from wengert.kernels import rows

name = "cpu"


def __getattr__(attribute: str) -> Any:
    value = getattr(_np, attribute)
    globals()[attribute] = value  # the next look-up does not call __getattr__
    return value


def start() -> None:
    """Do nothing: NumPy is always in use."""


def device_count() -> int:
    """Return the number of devices: 1, main memory."""
    return 1


def current_device() -> int:
    """Return the number of the device on which arrays are made: 0."""
    return 0


def device_of(x: Any) -> int:
    """Return the number of an array's device: 0."""
    return 0


def current(index: int) -> Any:
    """Return a context in which arrays are made on a device. There is one device only."""
    return nullcontext()


def to_host(x: Any) -> Any:
    """Return the array itself: it lies in main memory."""
    return x


def from_host(x: Any) -> Any:
    """Return the array itself: it lies in main memory."""
    return x


def cast(x: Any, dtype: Any) -> Any:
    """Cast x to a dtype, as torch does: a cast from complex to real takes the real part."""
    if x.dtype.kind == "c" and _np.dtype(dtype).kind not in "cb":
        x = x.real
    return x.astype(dtype)


def shares_memory(x: Any, y: Any) -> bool:
    """Whether y, made from x by indexing or reshaping, is a view of x's memory."""
    return _np.may_share_memory(x, y)


def factor(x: Any, batched: bool = False) -> Any:
    """Return an array in the dtype in which products of it are computed: 16-bit floats in float32, as NumPy is slow for them."""
    return x.astype(_np.float32) if x.dtype.itemsize == 2 and x.dtype.kind in "fV" else x


def sum_to_size(x: Any, shape: tuple[int, ...]) -> Any:
    """Sum x over the dimensions that broadcasting from `shape` to x's shape added or stretched."""
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
