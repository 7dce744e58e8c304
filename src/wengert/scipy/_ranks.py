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
    origin = np.broadcast_to(origin, x.ndim)
    before = [n // 2 + int(o) for n, o in zip(footprint.shape, origin, strict=True)]
    if any(not 0 <= b < n for b, n in zip(before, footprint.shape, strict=True)):
        raise ValueError("invalid origin")
    count = int(footprint.sum())
    if not -count <= rank < count:
        raise RuntimeError("rank not within filter footprint size")
    widths = [(b, n - 1 - b) for b, n in zip(before, footprint.shape, strict=True)]
    places = indices(tuple(x.shape), widths, mode)
    values = np.append(detached(x).reshape(-1), cval)
    windows = np.lib.stride_tricks.sliding_window_view(places, footprint.shape)
    offsets = None if added is None else detached(added)[footprint]
    chosen, taps = _chosen(windows, footprint, values, offsets, rank % count)
    flat = w.reshape(x, (-1,))
    if (chosen < 0).any():
        flat = w.cat([flat, w.full((1,), cval, dtype=x.dtype)])
        chosen = np.where(chosen < 0, x.numel(), chosen)
    found = flat[w.as_tensor(chosen.ravel())].reshape(chosen.shape)
    return found if added is None else found + w.reshape(added, (-1,))[w.as_tensor(np.flatnonzero(footprint)[taps])]


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
