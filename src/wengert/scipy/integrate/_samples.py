"""Integrals of samples. They are sums of the samples, so they differentiate in the samples and in the places of the samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.array_functions.table import checked_axis, detached, part, w
from wengert.scipy._frame import operands


def _steps(x: Any, dx: Any, y: Any, axis: int) -> Any:
    """Return the distances of the places, along the axis."""
    if x is None:
        return w.broadcast_to(dx, [n - 1 if d == axis else 1 for d, n in enumerate(y.shape)])
    if x.ndim == 1:
        x = w.reshape(x, [-1 if d == axis else 1 for d in range(y.ndim)])
    if x.shape[axis] != y.shape[axis]:
        raise ValueError("If given, length of x along axis must be the same as y.")
    return part(x, axis, 1, None) - part(x, axis, 0, -1)


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """Integral of samples by the trapezoidal rule."""
    y, x, dx = operands(y, x, dx)
    axis = checked_axis(axis, y.ndim)
    return w.sum(_steps(x, dx, y, axis) * (part(y, axis, 1, None) + part(y, axis, 0, -1)) / 2.0, axis)


def cumulative_trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1, initial: Any = None) -> Any:
    """Running integral of samples by the trapezoidal rule. initial: 0 to begin with a zero, or None."""
    y, x, dx = operands(y, x, dx)
    axis = checked_axis(axis, y.ndim)
    if not y.shape[axis]:
        raise ValueError("At least one point is required along `axis`.")
    if initial is not None and detached(initial) != 0:
        raise ValueError("`initial` parameter must be `None` or `0`.")
    found = w.cumsum(_steps(x, dx, y, axis) * (part(y, axis, 1, None) + part(y, axis, 0, -1)) / 2.0, axis)
    return found if initial is None else w.cat([w.zeros_like(part(y, axis, 0, 1)).to(found.dtype), found], axis)


def _parabolas(y: Any, h: Any, axis: int) -> Any:
    """Integrals over the first of each two neighbouring intervals, of the parabola through their three points."""
    first, second = part(h, axis, 0, -1), part(h, axis, 1, None)
    both = first + second
    outer = first * first / (second * both)
    share = first / both
    before, middle, after = part(y, axis, 0, -2), part(y, axis, 1, -1), part(y, axis, 2, None)
    return first / 6 * ((3 - share) * before + (3 + outer + share) * middle - outer * after)


def simpson(y: Any, x: Any = None, *, dx: Any = 1.0, axis: int = -1) -> Any:
    """Integral of samples by Simpson's rule. With an even number of samples, a parabola gives the last interval."""
    y, x, dx = operands(y, x, dx)
    axis = checked_axis(axis, y.ndim)
    size, h = y.shape[axis], _steps(x, dx, y, axis)
    if size == 2:
        return trapezoid(y, x, dx, axis)
    h = w.broadcast_to(h, [size - 1 if d == axis else n for d, n in enumerate(y.shape)])
    left, right = _both_sides(y, h, axis)
    found = w.sum(part(left, axis, 0, None, 2) + part(right, axis, 0, None, 2), axis)
    return found if size % 2 else found + _last(right, axis)


def _last(x: Any, axis: int) -> Any:
    return x[(slice(None),) * axis + (-1,)]


def _both_sides(y: Any, h: Any, axis: int) -> tuple[Any, Any]:
    """Return the integrals over the first and over the second interval of each neighbouring two."""
    return _parabolas(y, h, axis), w.flip(_parabolas(w.flip(y, (axis,)), w.flip(h, (axis,)), axis), (axis,))


def cumulative_simpson(y: Any, *, x: Any = None, dx: Any = 1.0, axis: int = -1, initial: Any = None) -> Any:
    """Running integral of samples by Simpson's rule. initial: a value to begin with, which is added to all, or None."""
    y, x, dx = operands(y, x, dx)
    axis = checked_axis(axis, y.ndim)
    size = y.shape[axis]
    h = _steps(x, dx, y, axis)
    if x is not None and (detached(h) <= 0).any():
        raise ValueError("Input x must be strictly increasing.")
    if size < 3:
        found = cumulative_trapezoid(y, x, dx, axis)
    else:
        h = w.broadcast_to(h, [size - 1 if d == axis else n for d, n in enumerate(y.shape)])
        left, right = _both_sides(y, h, axis)
        take = np.arange(size - 1)  # intervals 0, 2, ... are first ones; 1, 3, ... and the last are second ones
        index = np.where((take % 2 == 0) & (take < size - 2), take, size - 2 + take - 1)
        found = w.cumsum(w.index_select(w.cat([left, right], axis), axis, w.as_tensor(index)), axis)
    if initial is None:
        return found
    start = w.broadcast_to(operands(initial, y)[0], [1 if d == axis else n for d, n in enumerate(y.shape)]).to(found.dtype)
    return w.cat([start, found + start], axis)


def romb(y: Any, dx: Any = 1.0, axis: int = -1) -> Any:
    """Integral of 2**k + 1 samples by Romberg's method."""
    y, dx = operands(y, dx)
    axis = checked_axis(axis, y.ndim)
    intervals = y.shape[axis] - 1
    levels = intervals.bit_length() - 1
    if intervals < 1 or intervals != 1 << levels:
        raise ValueError("Number of samples must be one plus a non-negative power of 2.")
    rows: list[Any] = []
    for k in range(levels + 1):
        stride = intervals >> k
        kept = part(y, axis, 0, None, stride)
        row = [trapezoid(kept, None, dx * stride, axis)]
        for j in range(k):
            row.append(row[j] + (row[j] - rows[-1][j]) / (4 ** (j + 1) - 1))
        rows.append(row)
    return rows[-1][-1]


FUNCTIONS: tuple[Any, ...] = (trapezoid, cumulative_trapezoid, simpson, cumulative_simpson, romb)
