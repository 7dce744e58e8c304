"""Arrays continued beyond their borders, as SciPy's signals and images are."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.array_functions.table import w

# SciPy's modes of images, by NumPy's names of the same continuation.
_MODES = {
    "reflect": "symmetric", "grid-mirror": "symmetric", "symmetric": "symmetric", "symm": "symmetric", "mirror": "reflect",
    "nearest": "edge", "edge": "edge", "wrap": "wrap", "grid-wrap": "wrap", "periodic": "wrap",
}  # fmt: skip
_CONSTANT = ("constant", "grid-constant", "fill")


def extended(x: Any, axis: int, before: int, after: int, mode: str, value: Any = 0.0) -> Any:
    """Return x with elements added at both ends of an axis: copies of its own, or a constant value."""
    if not before and not after:
        return x
    if mode in _CONSTANT:
        sizes = [n for d, n in enumerate(x.shape) if d != axis % x.ndim]

        def block(width: int) -> Any:
            shape = list(sizes)
            shape.insert(axis % x.ndim, width)
            return w.full(shape, value, dtype=x.dtype)

        return w.cat([block(before), x, block(after)], axis)
    if mode not in _MODES:
        raise RuntimeError("boundary mode not supported")
    index = np.pad(np.arange(x.shape[axis]), (before, after), _MODES[mode])  # type: ignore[call-overload]
    return w.index_select(x, axis, w.as_tensor(index))


def indices(shape: Any, widths: Any, mode: str) -> Any:
    """Return the flat index of each element of an array that is extended at all borders; -1 for a constant."""
    found = np.arange(int(np.prod(shape))).reshape(shape)
    if mode in _CONSTANT:
        return np.pad(found, widths, constant_values=-1)
    if mode not in _MODES:
        raise RuntimeError("boundary mode not supported")
    return np.pad(found, widths, _MODES[mode])  # type: ignore[call-overload]
