"""Filters of scipy.ndimage with functions of the user's, which get tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.array_functions.table import checked_axis, tensor, w
from wengert.scipy._borders import extended
from wengert.scipy._ranks import taken, windows_of
from wengert.scipy.ndimage._filters import _axes, _each, footprint_of, image_of

__all__ = ["generic_filter", "generic_filter1d", "vectorized_filter"]


def _windows(input: Any, size: Any, footprint: Any, mode: Any, cval: Any, origin: Any, axes: Any) -> tuple[Any, Any]:
    """Return (the windows around the elements of an image, a tensor of shape image + window; which elements of them count)."""
    axes = _axes(axes, input.ndim)
    chosen, origins = footprint_of(size, footprint, axes, input.ndim), _each(origin, axes)
    places = windows_of(tuple(input.shape), chosen.shape, mode, [int(origins.get(d, 0)) for d in range(input.ndim)])
    return taken(input, places, cval), chosen


def generic_filter(
    input, function, size=None, footprint=None, mode="reflect", cval=0.0, origin=0, extra_arguments=(), extra_keywords=None, *,
    axes=None,
):  # fmt: skip
    """A function of the elements in each window, which it gets as a vector."""
    input = image_of(input)
    windows, chosen = _windows(input, size, footprint, mode, cval, origin, axes)
    rows = windows.reshape(input.numel(), -1)[:, w.as_tensor(np.flatnonzero(chosen))]
    found = [tensor(function(row, *extra_arguments, **(extra_keywords or {}))).reshape(()) for row in rows]
    return w.stack(found).reshape(input.shape).to(input.dtype)


def generic_filter1d(
    input, function, filter_size, axis=-1, mode="reflect", cval=0.0, origin=0, extra_arguments=(), extra_keywords=None
):  # fmt: skip
    """A function (line with its continuation at both ends, line that it writes) for each line of an image along an axis."""
    input = image_of(input)
    before = int(filter_size) // 2 + int(origin)
    if filter_size < 1 or not 0 <= before < filter_size:
        raise RuntimeError("invalid filter size") if filter_size < 1 else ValueError("invalid origin")
    lines = w.movedim(input, checked_axis(axis, input.ndim), -1)
    wide = extended(lines, -1, before, int(filter_size) - 1 - before, mode, cval)
    found = []
    for line in wide.reshape(-1, wide.shape[-1]):
        result = w.zeros(lines.shape[-1], dtype=input.dtype)
        function(line, result, *extra_arguments, **(extra_keywords or {}))
        found.append(result)
    return w.movedim(w.stack(found).reshape(lines.shape), -1, checked_axis(axis, input.ndim))


def vectorized_filter(input, function, *, size=None, footprint=None, mode="reflect", cval=None, origin=None, axes=None):
    """function(windows, axis=) of all windows at once. With a footprint their elements are in the last axis."""
    input = image_of(input)
    cval, origin = 0.0 if cval is None else cval, 0 if origin is None else origin
    windows, chosen = _windows(input, size, footprint, "reflect" if mode == "valid" else mode, cval, origin, axes)
    if mode == "valid":  # without the windows that pass a border
        if np.any(origin):
            raise ValueError("`mode='valid'` is incompatible with use of `origin`.")
        starts = [n // 2 for n in chosen.shape]
        windows = windows[tuple([slice(s, s + m - n + 1) for s, m, n in zip(starts, input.shape, chosen.shape, strict=True)])]
    if footprint is not None:
        flat = windows.reshape(*windows.shape[: input.ndim], -1)[..., w.as_tensor(np.flatnonzero(chosen))]
        return function(flat, axis=-1)
    own = _axes(axes, input.ndim)
    windows = windows.reshape(*windows.shape[: input.ndim], *[chosen.shape[d] for d in sorted(own)])
    return function(windows, axis=tuple(range(-len(own), 0)))
