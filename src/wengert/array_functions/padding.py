"""np.pad: constants, edges, reflections, ramps and statistics around an array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.array_functions.table import detached, of, part, pick, tensor, w

# The keyword arguments of each mode, and their defaults.
_MODES: dict[str, dict[str, Any]] = {
    "constant": {"constant_values": 0}, "edge": {}, "linear_ramp": {"end_values": 0}, "maximum": {"stat_length": None},
    "mean": {"stat_length": None}, "median": {"stat_length": None}, "minimum": {"stat_length": None},
    "reflect": {"reflect_type": "even"}, "symmetric": {"reflect_type": "even"}, "wrap": {}, "empty": {},
}  # fmt: skip


def _pairs(x: Any, ndim: int) -> list[tuple[Any, Any]]:
    """Return (before, after) for each axis, of a number, a pair, a pair for each axis, or one such pair in a list."""
    if isinstance(x, (list, tuple)) and len(x) and not isinstance(x[0], (list, tuple)) and np.ndim(detached(x[0])) == 0:
        return [(x[0], x[-1])] * ndim if len(x) <= 2 else _pairs([(v,) for v in x], ndim)
    if isinstance(x, (list, tuple)):
        rows = [tuple(row) for row in x] * (ndim if len(x) == 1 else 1)
        if len(rows) != ndim:
            raise ValueError(f"operands could not be broadcast together: {len(rows)} pairs for {ndim} dimensions")
        return [(row[0], row[-1]) for row in rows]
    if np.ndim(detached(x)) > 0:
        return [(row[0], row[1]) for row in np.broadcast_to(detached(x), (ndim, 2))]
    return [(x, x)] * ndim


def _widths(pad_width: Any, ndim: int) -> list[tuple[int, int]]:
    if isinstance(pad_width, dict):
        found: list[Any] = [(0, 0)] * ndim
        for axis, width in pad_width.items():
            found[axis] = (width, width) if np.ndim(width) == 0 else tuple(width)
    else:
        if not np.asarray(pad_width).dtype.kind == "i":
            raise TypeError("`pad_width` must be of integral type.")
        found = [tuple(row) for row in np.broadcast_to(np.asarray(pad_width), (ndim, 2)).tolist()]
    if any(width < 0 for row in found for width in row):
        raise ValueError("index can't contain negative values")
    return found


def _rows(x: Any, axis: int, width: int) -> Any:
    """Return x, whose axis has one element or none, with `width` of them."""
    return w.broadcast_to(x, [width if d == axis else n for d, n in enumerate(x.shape)])


def _constants(x: Any, axis: int, width: int, value: Any) -> Any:
    shape = [width if d == axis else n for d, n in enumerate(x.shape)]
    return w.broadcast_to(tensor(value).to(x.dtype), shape)


def _ramp(edge: Any, axis: int, width: int, end: Any, before: bool) -> Any:
    """Numbers that lead from `end`, which is the outermost, to the edge, which is not among them."""
    steps = np.arange(width) / max(1, width)
    steps = steps if before else steps[::-1].copy()
    steps = w.as_tensor(steps.reshape([-1 if d == axis else 1 for d in range(edge.ndim)]), dtype=edge.dtype)
    end = tensor(end).to(edge.dtype)
    return end + (edge - end) * steps


def _statistic(mode: str, x: Any, axis: int, length: Any, before: bool) -> Any:
    """The statistic of the elements nearest to one edge, with the axis kept."""
    size = x.shape[axis]
    length = size if length is None else min(int(length), size)
    if length < 1:
        if mode in ("maximum", "minimum"):
            raise ValueError("stat_length of 0 yields no value for padding")
        return w.full([1 if d == axis else n for d, n in enumerate(x.shape)], np.nan, dtype=x.dtype)
    x = part(x, axis, 0, length) if before else part(x, axis, size - length, size)
    if mode == "median":
        return w.quantile(x, 0.5, axis, True)
    run = {"maximum": w.amax, "minimum": w.amin, "mean": w.mean}[mode]
    return run(x, dim=axis, keepdim=True)


def _odd(x: Any, axis: int, before: int, after: int, mode: str) -> Any:
    """Reflect at the edges as 2 * edge - x, as often as the widths need it."""
    skipped = 1 if mode == "reflect" else 0
    while before > 0 or after > 0:
        size = x.shape[axis]
        if size - skipped < 1:
            edges = [part(x, axis, 0, 1), part(x, axis, size - 1, size)]
            return w.cat([_rows(edges[0], axis, before), x, _rows(edges[1], axis, after)], axis)
        left, right = min(before, size - skipped), min(after, size - skipped)
        pieces = [x]
        if left:
            mirror = w.flip(part(x, axis, skipped, skipped + left), (axis,))
            pieces.insert(0, 2 * part(x, axis, 0, 1) - mirror)
        if right:
            mirror = w.flip(part(x, axis, size - skipped - right, size - skipped), (axis,))
            pieces.append(2 * part(x, axis, size - 1, size) - mirror)
        x, before, after = w.cat(pieces, axis), before - left, after - right
    return x


@of(np.pad)
def _pad(array, pad_width, mode: str | Callable[..., Any] = "constant", **kwargs):
    x = tensor(array)
    widths = _widths(pad_width, x.ndim)
    if not isinstance(mode, str) or mode not in _MODES:
        if callable(mode):
            raise TypeError(
                "numpy.pad on a Tensor takes the name of a mode, not a function. Hint: pad with 'empty' and write the borders."
            )
        raise ValueError(f"mode '{mode}' is not supported")
    unknown = sorted(set(kwargs) - set(_MODES[mode]))
    if unknown:
        raise ValueError(f"unsupported keyword arguments for mode '{mode}': {set(unknown)}")
    settings = {**_MODES[mode], **kwargs}
    ours = [value for name, value in settings.items() if name != "reflect_type"]
    values = _pairs(ours[0], x.ndim) if ours else [(0, 0)] * x.ndim
    for axis, ((before, after), (first, last)) in enumerate(zip(widths, values, strict=True)):
        if not before and not after:
            continue
        size = x.shape[axis]
        if size == 0 and mode not in ("constant", "empty"):
            raise ValueError(f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'")
        if mode in ("constant", "empty"):
            x = w.cat([_constants(x, axis, before, first), x, _constants(x, axis, after, last)], axis)
        elif mode == "linear_ramp":
            edges = part(x, axis, 0, 1), part(x, axis, size - 1, size)
            x = w.cat([_ramp(edges[0], axis, before, first, True), x, _ramp(edges[1], axis, after, last, False)], axis)
        elif "stat_length" in settings:
            sides = _statistic(mode, x, axis, first, True), _statistic(mode, x, axis, last, False)
            x = w.cat([_rows(sides[0].to(x.dtype), axis, before), x, _rows(sides[1].to(x.dtype), axis, after)], axis)
        elif settings.get("reflect_type") == "odd":
            x = _odd(x, axis, before, after, mode)
        else:  # NumPy pads the numbers of the elements
            x = pick(x, np.pad(np.arange(size), (before, after), mode), axis)  # type: ignore[call-overload]
    return x if any(map(any, widths)) else x.clone()
