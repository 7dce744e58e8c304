"""Sliding windows over the last dimensions of arrays: what convolutions, unfold and fold read and write.

Arrays are (n, channels, *spatial). A window has one tap an element of the kernel; tap t of window w lies at
w * stride + t * dilation in the array with `padding` zeros in front of it. How far the zeros reach at the other end
follows from the number of windows, so a window may also leave the array there.
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
    """An argument that is one int for all dimensions or a sequence with one each, as a tuple; None where it is
    neither."""
    if not isinstance(value, (tuple, list)):
        return (index(value),) * dims
    found = tuple([index(v) for v in value])
    return found if len(found) == dims else found * dims if len(found) == 1 else None


def as_cache_key(value: Any) -> Any:
    """An argument of numbers as a cache may be asked with it: sequences as tuples, NumPy's numbers and tensors as Python's."""
    if value is None or type(value) is int or type(value) is float:
        return value
    if isinstance(value, (tuple, list)):
        return tuple([as_cache_key(v) for v in value])
    return value.item() if hasattr(value, "item") else value


def as_sizes(value: Any, dims: int, argument: str) -> tuple[int, ...]:
    """The same; raises RuntimeError for a sequence of another length."""
    found = sizes_of_argument(value, dims)
    if found is None:
        raise errors.ShapeError(f"It is expected {argument} equals to {dims}, but got size {len(value)}")
    return found


class Windows:
    """Where the windows are: `count` of them along each dimension of an array of spatial shape `size`.

    Each is a tuple with an entry a dimension; `reach` is the extent that the windows take in, from the first
    element of padding on."""

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
        """The windows over the windows: those that each element lies in. None unless they are windows of stride 1."""
        rows = zip(self.kernel, self.dilation, self.padding, strict=True)
        padding = tuple([d * (k - 1) - p for k, d, p in rows])
        if any(s != 1 for s in self.stride) or min(padding) < 0:
            return None
        return Windows(self.count, self.kernel, self.size, self.stride, padding, self.dilation)

    def slices(self) -> Iterator[tuple[tuple[int, ...], tuple[slice, ...]]]:
        """(tap, where the taps of all windows lie in the padded array)."""
        rows = list(zip(self.count, self.stride, strict=True))
        for tap in product(*map(range, self.kernel)):
            starts = [t * d for t, d in zip(tap, self.dilation, strict=True)]
            yield tap, tuple([slice(a, a + (n - 1) * s + 1, s) for a, (n, s) in zip(starts, rows, strict=True)])

    def _overlap(self) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
        """(the part of the array, the part of the padded array) that are the same elements."""
        rows = list(zip(self.size, self.padding, self.reach, strict=True))
        length = [max(min(n, r - p), 0) for n, p, r in rows]
        inside = tuple([slice(0, m) for m in length])
        return inside, tuple([slice(p, p + m) for (_, p, _), m in zip(rows, length, strict=True)])

    def padded(self, xp: Any, x: Any, value: Any = 0) -> Any:
        """x with its padding, as far as the windows go: x itself where there is none."""
        if not any(self.padding) and all(r <= n for r, n in zip(self.reach, self.size, strict=True)):
            return x
        inside, place = self._overlap()
        shape = (*x.shape[:2], *self.reach)
        out = xp.zeros(shape, x.dtype) if value == 0 else xp.full(shape, value, x.dtype)
        out[(..., *place)] = x[(..., *inside)]
        return out

    def fill(self, columns: Any, padded: Any) -> None:
        """columns[:, :, tap, window] = the padded array there. columns: (n, channels, *kernel, *count)."""
        if len(self.kernel) == 2 and kernels.fill_columns(columns, padded, self.stride, self.dilation):
            return
        for tap, where in self.slices():
            columns[(slice(None), slice(None), *tap)] = padded[(..., *where)]

    def add_up(self, xp: Any, columns: Any) -> Any:
        """The array of spatial shape `size` in which each element is the sum of the taps that lie on it."""
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
        """The adjoint of padded: the part that is the array; zeros where no window goes."""
        if self.reach == self.size and not any(self.padding):
            return padded
        inside, place = self._overlap()
        out = xp.zeros((*padded.shape[:2], *self.size), padded.dtype)
        out[(..., *inside)] = padded[(..., *place)]
        return out
