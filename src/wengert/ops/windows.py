"""Sliding windows over the spatial dimensions of arrays, for convolutions, pooling, unfold and fold.

Arrays have the shape (n, channels, *spatial). A window has one tap for each element of the kernel. Tap t of window w lies
at w * stride + t * dilation in the array with `padding` zeros in front. The number of windows determines how many zeros
follow at the end, so a window may reach beyond the array there.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod
from operator import index
from typing import Any

from wengert import errors
from wengert.kernels import windows as kernels

__all__ = ["Windows", "as_sizes", "as_cache_key", "sizes_of_argument"]


def sizes_of_argument(value: Any, dims: int) -> tuple[int, ...] | None:
    """Return an argument, an int or a sequence with one int per dimension, as a tuple; None for another length."""
    if not isinstance(value, (tuple, list)):
        return (index(value),) * dims
    found = tuple([index(v) for v in value])
    return found if len(found) == dims else found * dims if len(found) == 1 else None


def as_cache_key(value: Any) -> Any:
    """Make an argument of numbers hashable, as a key of a cache: lists become tuples, NumPy scalars and tensors numbers."""
    if value is None or type(value) is int or type(value) is float:
        return value
    if isinstance(value, (tuple, list)):
        return tuple([as_cache_key(v) for v in value])
    return value.item() if hasattr(value, "item") else value


def as_sizes(value: Any, dims: int, argument: str) -> tuple[int, ...]:
    """Return sizes_of_argument(value, dims). Raises RuntimeError for a sequence of another length."""
    found = sizes_of_argument(value, dims)
    if found is None:
        raise errors.ShapeError(f"It is expected {argument} equals to {dims}, but got size {len(value)}")
    return found


class Windows:
    """Sliding windows over an array of spatial shape `size`, `count` of them along each dimension.

    size, kernel, count, stride, padding, dilation: tuples with one int per dimension. reach: the extent of all windows
    along each dimension, counted from the first padded element. taps: elements of a kernel. places: number of windows."""

    __slots__ = ("count", "dilation", "kernel", "padding", "places", "reach", "size", "stride", "taps")

    def __init__(
        self,
        size: tuple[int, ...],
        kernel: tuple[int, ...],
        count: tuple[int, ...],
        stride: tuple[int, ...],
        padding: tuple[int, ...],
        dilation: tuple[int, ...],
    ) -> None:
        self.size, self.kernel, self.count = size, kernel, count
        self.stride, self.padding, self.dilation = stride, padding, dilation
        self.taps, self.places = prod(kernel), prod(count)
        rows = zip(kernel, count, stride, dilation, strict=True)
        self.reach = tuple([(n - 1) * s + (k - 1) * d + 1 for k, n, s, d in rows])

    def __repr__(self) -> str:
        return f"Windows({self.size}, {self.kernel}, {self.count}, {self.stride}, {self.padding}, {self.dilation})"

    def opposite(self) -> Windows | None:
        """Return the windows over the grid of windows: for each element, those that cover it. None unless the stride is 1."""
        rows = zip(self.kernel, self.dilation, self.padding, strict=True)
        padding = tuple([d * (k - 1) - p for k, d, p in rows])
        if any(s != 1 for s in self.stride) or min(padding) < 0:
            return None
        return Windows(self.count, self.kernel, self.size, self.stride, padding, self.dilation)

    def slices(self) -> Iterator[tuple[tuple[int, ...], tuple[slice, ...]]]:
        """Yield (tap, slices of the padded array that read this tap of all windows)."""
        rows = list(zip(self.count, self.stride, strict=True))
        for tap in product(*map(range, self.kernel)):
            starts = [t * d for t, d in zip(tap, self.dilation, strict=True)]
            yield tap, tuple([slice(a, a + (n - 1) * s + 1, s) for a, (n, s) in zip(starts, rows, strict=True)])

    def _overlap(self) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
        """Return (slices of the array, slices of the padded array) that address their common elements."""
        rows = list(zip(self.size, self.padding, self.reach, strict=True))
        length = [max(min(n, r - p), 0) for n, p, r in rows]
        inside = tuple([slice(0, m) for m in length])
        return inside, tuple([slice(p, p + m) for (_, p, _), m in zip(rows, length, strict=True)])

    def padded(self, xp: Any, x: Any, value: Any = 0) -> Any:
        """Pad x to the extent of the windows. Returns x itself if no padding is needed."""
        if not any(self.padding) and all(r <= n for r, n in zip(self.reach, self.size, strict=True)):
            return x
        inside, place = self._overlap()
        shape = (*x.shape[:2], *self.reach)
        out = xp.zeros(shape, x.dtype) if value == 0 else xp.full(shape, value, x.dtype)
        out[(..., *place)] = x[(..., *inside)]
        return out

    def fill(self, columns: Any, padded: Any) -> None:
        """Copy the element under each tap of each window into columns, (n, channels, *kernel, *count)."""
        if len(self.kernel) == 2 and kernels.fill_columns(columns, padded, self.stride, self.dilation):
            return
        for tap, where in self.slices():
            columns[(slice(None), slice(None), *tap)] = padded[(..., *where)]

    def add_up(self, xp: Any, columns: Any) -> Any:
        """Return the array of spatial shape `size` whose elements are the sums of the columns' taps that cover them."""
        if len(self.kernel) == 2:
            found = kernels.add_up_columns(columns, self.size, self.stride, self.padding, self.dilation)
            if found is not None:
                return found
        n, channels = columns.shape[:2]
        padded = xp.zeros((n, channels, *self.reach), columns.dtype)
        for tap, where in self.slices():
            padded[(..., *where)] += columns[(slice(None), slice(None), *tap)]
        return self.unpadded(xp, padded)

    def unpadded(self, xp: Any, padded: Any) -> Any:
        """Adjoint of padded: cut the padding off; elements that no window covers are 0."""
        if self.reach == self.size and not any(self.padding):
            return padded
        inside, place = self._overlap()
        out = xp.zeros((*padded.shape[:2], *self.size), padded.dtype)
        out[(..., *inside)] = padded[(..., *place)]
        return out
