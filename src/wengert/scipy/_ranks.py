"""Filters that choose one element of each window by its rank. Their derivative goes to the chosen element."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.array_functions.table import detached, w
from wengert.scipy._borders import indices

_BLOCK = 1 << 22  # elements of windows that are compared at once


def chosen_by_rank(
    x: Any, footprint: Any, rank: int, mode: str, cval: float, origin: Any = 0, added: Any = None
) -> Any:
    """Return the element of this rank in the window around each element of x, rank 0 for the smallest.

    x: a tensor. footprint: bools, which elements of a window count. origin: how far the window is shifted, along each axis.
    added: a tensor of footprint's shape, which is added to each window; or None. Of equal elements the first is chosen."""
    count = int(footprint.sum())
    if not -count <= rank < count:
        raise RuntimeError("rank not within filter footprint size")
    values = np.append(detached(x).reshape(-1), cval)
    windows = windows_of(tuple(x.shape), footprint.shape, mode, origin)
    offsets = None if added is None else detached(added)[footprint]
    chosen, taps = _chosen(windows, footprint, values, offsets, rank % count)
    found = taken(x, chosen, cval)
    return found if added is None else found + w.reshape(added, (-1,))[w.as_tensor(np.flatnonzero(footprint)[taps])]


def windows_of(shape: tuple[int, ...], size: tuple[int, ...], mode: str, origin: Any = 0) -> Any:
    """Return the indices of the elements in the window around each element of an array, -1 for a constant: shape + size."""
    before = [n // 2 + int(o) for n, o in zip(size, np.broadcast_to(origin, len(shape)), strict=True)]
    if any(not 0 <= b < n for b, n in zip(before, size, strict=True)):
        raise ValueError("invalid origin")
    places = indices(shape, [(b, n - 1 - b) for b, n in zip(before, size, strict=True)], mode)
    return np.lib.stride_tricks.sliding_window_view(places, size)


def taken(x: Any, places: Any, cval: float) -> Any:
    """Return the elements of x with these indices, as a tensor of their shape. The element -1 is cval."""
    flat = w.reshape(x, (-1,))
    if (places < 0).any():
        flat = w.cat([flat, w.full((1,), cval, dtype=x.dtype)])
        places = np.where(places < 0, x.numel(), places)
    return flat[w.as_tensor(places.ravel())].reshape(places.shape)


def _chosen(windows: Any, footprint: Any, values: Any, offsets: Any, rank: int) -> tuple[Any, Any]:
    """Return (index of the chosen element or -1, its place among the elements of the footprint) of each window."""
    ndim, count = footprint.ndim, int(footprint.sum())
    shape = windows.shape[:ndim]
    chosen, taps = np.empty(shape, np.intp), np.empty(shape, np.intp)
    rows = max(1, _BLOCK // max(1, int(np.prod(shape[1:])) * count))
    for start in range(0, shape[0], rows):
        block = windows[start : start + rows][..., footprint]
        compared = values[block] if offsets is None else values[block] + offsets
        if rank == 0:
            tap = compared.argmin(-1)
        elif rank == count - 1:
            tap = compared.argmax(-1)
        else:
            tap = compared.argsort(-1, kind="stable")[..., rank]
        taps[start : start + rows] = tap
        chosen[start : start + rows] = np.take_along_axis(block, tap[..., None], -1)[..., 0]
    return chosen, taps
