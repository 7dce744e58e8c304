"""Pooling: maxima, means and norms of windows; and max_unpool."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from operator import index
from typing import Any

import numpy as np

from wengert import dtypes, errors
from wengert.backends.selection import face_of, may_hold
from wengert.core.modes import NO_GRAD, flags
from wengert.kernels import windows as kernels
from wengert.ops.add_at import add_at
from wengert.ops.indices import raw
from wengert.ops.pool_arguments import pool_sizes, size_of_output, unpool_size, window_divisors, windows_of
from wengert.ops.registry import NONE, composite, general, linear
from wengert.ops.resampling import Table, averaging_table, resample, resample_at_once, window_tables, window_tables_transposed
from wengert.ops.windows import Windows

_PRIVATE: dict[str, Any] = {"method": False, "namespaces": ()}
_FUNCTIONAL = ("nn.functional",)


def _flatten_leading(x: Any, dims: int) -> Any:
    """Reshape x to (1, product of the leading dimensions, *spatial)."""
    return x.reshape(1, prod(x.shape[:-dims]), *x.shape[-dims:])


# -- maxima ------------------------------------------------------------------------------------------------------------


def _smallest_value(dtype: Any) -> Any:
    """Return the smallest value of a dtype: -inf for floating dtypes."""
    return -np.inf if dtypes.is_floating_point(dtype) else np.iinfo(dtype).min


def _tap_positions(xp: Any, windows: Windows, tap: Any, best: Any, smallest: Any) -> Any:
    """Index, in the flattened image, of the element under the given tap of each window.

    tap: number of a tap, (..., *count). best, smallest: the maxima, and the smallest value of their dtype."""
    sizes = windows.size
    steps = [prod(sizes[i + 1 :]) for i in range(len(sizes))]
    taps = xp.unravel_index(xp.arange(windows.taps), windows.kernel)
    offset: Any = sum([t * d * step for t, d, step in zip(taps, windows.dilation, steps, strict=True)])
    grid = []
    for i, (n, s, p) in enumerate(zip(windows.count, windows.stride, windows.padding, strict=True)):
        grid.append((xp.arange(n) * s - p).reshape(-1, *(1,) * (len(sizes) - i - 1)))
    places = sum([g * step for g, step in zip(grid, steps, strict=True)]) + offset[tap]
    if any(windows.padding) and may_hold(best == smallest):
        # The maximum of such a window equals the padding value: choose the first element of the window inside the image.
        first = [g + -(g // d) * d * (g < 0) for g, d in zip(grid, windows.dilation, strict=True)]
        lowest = sum([g * step for g, step in zip(first, steps, strict=True)])
        places = xp.where((best == smallest) & (places < lowest), lowest, places)
    return places


def _check_dtype(kernel: str, x: Any, integers: bool = True) -> None:
    if x.dtype.kind in "bc" or (not integers and x.dtype.kind in "iu"):
        raise errors.unsupported_dtype(kernel, x.dtype)


@general(promote=NONE, outputs=("out", "indices"), **_PRIVATE)
def _max_pool(xp, x, *, windows, node):
    """Maxima of the windows of x, (..., *size), and their indices in the flattened image, both of shape (..., *count).

    The first of equal maxima counts, or the last NaN. Derivative: the cotangent at indices."""
    _check_dtype(f"max_pool{max(len(windows.size), 2)}d", x)
    w = windows
    found = kernels.max_pool(xp.ascontiguousarray(x), w.kernel, w.stride, w.padding, w.dilation, w.count, True)
    if found is not None:
        return found
    smallest = _smallest_value(x.dtype)
    padded = windows.padded(xp, _flatten_leading(x, len(windows.size)), smallest)
    parts = [padded[(..., *where)] for _, where in windows.slices()]
    best = parts[0].copy()
    for part in parts[1:]:
        xp.maximum(best, part, out=best)
    # Index of the first tap that holds the maximum of the window, found by counting the taps before it. Counting is faster
    # than writing the index under a mask.
    tap = xp.zeros(best.shape, xp.min_scalar_type(windows.taps))
    missing = xp.ones(best.shape, bool)
    for part in parts[:-1]:
        missing &= part != best
        tap += missing.view(xp.uint8)
    if best.dtype.kind in "fV" and may_hold(best != best):
        for t, part in enumerate(parts):
            xp.copyto(tap, t, where=part != part)
    shape = (*x.shape[: x.ndim - len(windows.size)], *windows.count)
    items = prod(x.shape[: x.ndim - len(windows.size)])
    places = _tap_positions(xp, windows, tap, best, smallest).astype(xp.int64, copy=False)
    places = places.reshape(items, prod(windows.count))
    # Read the values at the indices, because which of 0.0 and -0.0 maximum() returns depends on the processor.
    flat = x.reshape(items, prod(windows.size))
    return xp.take_along_axis(flat, places, axis=1).reshape(shape), places.reshape(shape)


@general(promote=NONE, **_PRIVATE)
def _max_values(xp, x, *, windows):
    """Maxima of the windows of x, without their indices. Derivative: the cotangent at the indices that _max_pool finds."""
    w = windows
    found = kernels.max_pool(xp.ascontiguousarray(x), w.kernel, w.stride, w.padding, w.dilation, w.count, False)
    return face_of(xp)._max_pool(x, windows=w, node="")[0] if found is None else found


def _row_argmax(xp: Any, rows: Any) -> Any:
    """Index of the maximum of each row: the first of equal maxima, or the last NaN, as in _max_pool."""
    found = rows.argmax(axis=1)
    missing = rows != rows
    if may_hold(missing):
        last = rows.shape[1] - 1 - missing[:, ::-1].argmax(axis=1)
        found = xp.where(missing.any(axis=1), last, found)
    return found


@general(promote=NONE, outputs=("out", "indices"), **_PRIVATE)
def _adaptive_max_pool(xp, x, *, size, node):
    """Maxima of the `size` regions into which each image is divided, and their indices in the flattened image.

    Derivative: the cotangent at indices."""
    dims = len(size)
    _check_dtype(f"adaptive_max_pool{max(dims, 2)}d", x, integers=False)
    found = kernels.max_pool_stretches(xp.ascontiguousarray(x), size)
    if found is not None:
        return found
    items = x.reshape(-1, *x.shape[-dims:])
    best = xp.empty((len(items), *size), x.dtype)
    indices = xp.empty(best.shape, xp.int64)
    steps = [prod(x.shape[x.ndim - dims + i + 1 :]) for i in range(dims)]
    for place in np.ndindex(*size):
        first = [j * n // m for j, n, m in zip(place, x.shape[-dims:], size, strict=True)]
        last = [-(-(j + 1) * n // m) for j, n, m in zip(place, x.shape[-dims:], size, strict=True)]
        region = items[(slice(None), *[slice(a, b) for a, b in zip(first, last, strict=True)])]
        flat = region.reshape(len(items), prod(region.shape[1:]))
        found = _row_argmax(xp, flat)
        best[(slice(None), *place)] = flat[xp.arange(len(items)), found]
        where = xp.unravel_index(found, region.shape[1:])
        indices[(slice(None), *place)] = sum([(a + w) * s for a, w, s in zip(first, where, steps, strict=True)])
    shape = (*x.shape[:-dims], *size)
    return best.reshape(shape), indices.reshape(shape)


def _flat_indices(xp: Any, indices: Any, size: tuple[int, ...]) -> Any:
    """Convert indices into each flattened image to indices into all images flattened. size: the shape of an image.

    indices: (..., *spatial), with as many spatial dimensions as size has entries."""
    lead = indices.ndim - len(size)
    places = indices.reshape(prod(indices.shape[:lead]), prod(indices.shape[lead:]))
    return (places + xp.arange(len(places))[:, None] * prod(size)).reshape(-1)


@linear(promote=NONE, **_PRIVATE)
def _add_at_places(xp, x, indices, *, size):
    """Images of zeros, (..., *size), with the elements of x added at indices. Derivative: the cotangent at indices."""
    found = kernels.add_at_places(xp.ascontiguousarray(x), indices, size)
    if found is not None:
        return found
    out = xp.zeros((*x.shape[: x.ndim - len(size)], *size), x.dtype)
    add_at(out.reshape(-1), _flat_indices(xp, indices, size), x.reshape(-1), True)
    return out


@linear(promote=NONE, **_PRIVATE)
def _at_places(xp, x, indices, *, size):
    """Elements at indices of images x, (..., *size). Derivative: the cotangent, added at indices."""
    return x.reshape(-1)[_flat_indices(xp, indices, size)].reshape(indices.shape)


@_add_at_places.vjp("x")
def _(F, ct, indices, size):
    return F._at_places(ct, indices, size=size)


@_at_places.vjp("x")
def _(F, ct, indices, size):
    return F._add_at_places(ct, indices, size=size)


@_max_pool.vjp("x", flat=True)
def _(F, ct, indices, windows):
    return None if ct[0] is None else F._add_at_places(ct[0], indices, size=windows.size)


@_max_values.vjp("x", flat=True)
def _(F, ct, x, windows):
    places = F._max_pool(x, windows=windows, node="MaxPool2DWithIndicesBackward0")[1]
    return F._add_at_places(ct, places, size=windows.size)


@_adaptive_max_pool.vjp("x", flat=True)
def _(F, ct, x_shape, indices, size):
    return None if ct[0] is None else F._add_at_places(ct[0], indices, size=tuple(x_shape[-len(size) :]))


@linear(promote=NONE, **_PRIVATE)
def _max_unpool(xp, x, indices, *, size, node):
    """Images of zeros, (..., *size), with the elements of x written at indices. Derivative: the cotangent at indices."""
    dims = len(size)
    if indices.size and not (indices.min() >= 0 and indices.max() < prod(size)):
        wrong = indices[(indices < 0) | (indices >= prod(size))]
        raise errors.ShapeError(
            f"Found an invalid max index: {int(wrong.flat[0])} (output volumes are of size {'x'.join(map(str, size))})"
        )
    out = xp.zeros((*x.shape[: x.ndim - dims], *size), x.dtype)
    out.reshape(-1)[_flat_indices(xp, indices, size)] = x.reshape(-1)
    return out


@_max_unpool.vjp("x")
def _(F, ct, indices, size):
    return F._at_places(ct, indices, size=size)


# -- means -------------------------------------------------------------------------------------------------------------


def _slice_dim(dims: int, i: int, where: slice) -> tuple[Any, ...]:
    return (..., where, *(slice(None),) * (dims - i - 1))


def _window_sums(xp: Any, padded: Any, windows: Windows) -> Any:
    """Sum over the windows of a padded array, along one dimension after the other."""
    dims = len(windows.size)
    for i, (k, n, s) in enumerate(zip(windows.kernel, windows.count, windows.stride, strict=True)):
        total = padded[_slice_dim(dims, i, slice(0, (n - 1) * s + 1, s))].copy()
        for t in range(1, k):
            total += padded[_slice_dim(dims, i, slice(t, t + (n - 1) * s + 1, s))]
        padded = total
    return padded


def _window_sums_adjoint(xp: Any, x: Any, windows: Windows) -> Any:
    """Adjoint of _window_sums and of the padding: add each element of x to all elements of its window."""
    dims = len(windows.size)
    for i, (k, n, s) in enumerate(zip(windows.kernel, windows.count, windows.stride, strict=True)):
        shape = list(x.shape)
        shape[x.ndim - dims + i] = windows.reach[i]
        total = xp.zeros(shape, x.dtype)
        for t in range(k):
            total[_slice_dim(dims, i, slice(t, t + (n - 1) * s + 1, s))] += x
        x = total
    return windows.unpadded(xp, x)


def _average_by_tables(x: Any, divisors: Any, tables: tuple[Table, ...], before: bool = False) -> Any:
    """Resample x by tables and divide by divisors, before or after resampling. Returns None if no kernel takes x."""
    if isinstance(divisors, int):
        return resample_at_once(x, tables, divisors)
    if before:
        return resample_at_once(x / divisors.astype(x.dtype), tables)
    found = resample_at_once(x, tables)
    if found is not None:
        found /= divisors.astype(x.dtype)
    return found


@linear(promote=NONE, **_PRIVATE)
def _avg_pool(xp, x, *, windows, divisors, node):
    """Sums over the windows of x, (..., *size), each divided by its divisor.

    Derivative: the cotangent divided by the divisor, in each element of the window."""
    dims = len(windows.size)
    found = _average_by_tables(x, divisors, window_tables(windows))
    if found is not None:
        return found
    if x.dtype.kind in "bc" or (x.dtype.kind in "iu" and x.dtype != xp.int64):
        raise errors.unsupported_dtype(f"avg_pool{max(dims, 2)}d", x.dtype)
    wide = x.astype(xp.float32) if x.dtype.itemsize == 2 else x
    out = _window_sums(xp, windows.padded(xp, _flatten_leading(wide, dims)), windows)
    if x.dtype == xp.int64:
        out = xp.sign(out) * (abs(out) // xp.asarray(divisors, xp.int64))
    else:
        out /= xp.asarray(divisors, out.dtype)
    return out.reshape(*x.shape[: x.ndim - dims], *windows.count).astype(x.dtype, copy=False)


@linear(promote=NONE, **_PRIVATE)
def _avg_pool_cotangent(xp, x, *, windows, divisors, node):
    """Adjoint of _avg_pool: divide each element of x by its divisor and add it to all elements of its window."""
    found = _average_by_tables(x, divisors, window_tables_transposed(windows), before=True)
    if found is not None:
        return found
    dims = len(windows.size)
    wide = x.astype(xp.float32) if x.dtype.itemsize == 2 else x
    shares = _flatten_leading(wide, dims) / xp.asarray(divisors, wide.dtype)
    return _window_sums_adjoint(xp, shares, windows).reshape(*x.shape[: x.ndim - dims], *windows.size).astype(x.dtype, copy=False)


@_avg_pool.vjp("x", flat=True)
def _(F, ct, windows, divisors, node):
    name = node.replace("Backward0", "BackwardBackward0")
    return F._avg_pool_cotangent(ct, windows=windows, divisors=divisors, node=name)


@_avg_pool_cotangent.vjp("x")
def _(F, ct, windows, divisors, node):
    return F._avg_pool(ct, windows=windows, divisors=divisors, node=node)


@linear(promote=NONE, **_PRIVATE)
def _resample(xp, x, *, tables, node):
    """Resample the last dimensions of x, one by each table; None leaves a dimension as it is.

    Derivative: the cotangent, resampled by the transposed tables."""
    out = x.astype(xp.float32) if x.dtype.itemsize == 2 and x.dtype.kind in "fV" else x
    found = resample_at_once(out, tables)
    if found is not None:
        return found.astype(x.dtype, copy=False)
    for i, table in enumerate(tables):
        if table is not None:
            out = resample(xp, out, x.ndim - len(tables) + i, table)
    return out.copy() if out is x else out.astype(x.dtype, copy=False)


@_resample.vjp("x")
def _resample_back(F, ct, tables, node):
    backwards = tuple([None if table is None else table.transposed for table in tables])
    return F._resample(ct, tables=backwards, node=node.replace("Backward0", "BackwardBackward0"))


# For pools and paddings, whose derivative torch computes by a function of x, too.
_resample_flat = linear(promote=NONE, name="_resample_flat", **_PRIVATE)(_resample.forward)
_resample_flat.vjp("x", flat=True)(_resample_back)


# -- torch's arguments -------------------------------------------------------------------------------------------------

def _is_recorded(F: Any, x: Any) -> bool:
    """Whether operations on x are recorded. Only then must the nodes be torch's; otherwise fewer operations may do."""
    return F.is_tensor and x.requires_grad and not flags() & NO_GRAD


def _call_max_pool(F: Any, op: str, dims: int, x: Any, options: tuple[Any, ...]) -> Any:
    """Return (maxima, indices). options: kernel_size, stride, padding, dilation, ceil_mode."""
    windows = windows_of(op, x, dims, *options)
    if dims > 1:
        return F._max_pool(x, windows=windows, node=f"MaxPool{dims}DWithIndicesBackward0")
    values, indices = F._max_pool(
        F.unsqueeze(x, dim=-2), windows=_with_height(windows), node="MaxPool2DWithIndicesBackward0"
    )
    return F.squeeze(values, dim=-2), F.squeeze(indices, dim=-2)


@lru_cache(maxsize=256)
def _with_height(w: Windows) -> Windows:
    """Return windows along one dimension as windows over images of height 1."""
    return Windows((1, *w.size), (1, *w.kernel), (1, *w.count), (1, *w.stride), (0, *w.padding), (1, *w.dilation))


_MAX_DOC = """Max pooling: the maximum of each window.

    input: (n, channels, {spatial}) or (channels, {spatial}), real. kernel_size, stride, padding, dilation: an int, or a
    tuple with one int per dimension. stride: kernel_size if None. padding: at most half the kernel; padded elements never
    are the maximum. ceil_mode: round the number of windows up, so that the last window may reach beyond the end. Returns
    the maxima, or (maxima, indices) if return_indices: int64 indices into the flattened image, the first of equal maxima.
    NaN counts as the largest value. Raises RuntimeError if no window fits.

    Derivative: the cotangent at the chosen element, 0 elsewhere."""
_SPATIAL = {1: "length", 2: "height, width", 3: "depth, height, width"}


def _named_as(name: str, function: Any, doc: str) -> Any:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def _make_max_pool(dims: int) -> None:
    name = f"max_pool{dims}d"

    def pool(F, input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
        if not return_indices and not _is_recorded(F, input):
            return F._max_values(input, windows=windows_of(name, input, dims, kernel_size, stride, padding, dilation, ceil_mode))
        found = _call_max_pool(F, name, dims, input, (kernel_size, stride, padding, dilation, ceil_mode))
        return found if return_indices else found[0]

    def pool_with_indices(
        F, input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False
    ):
        return _call_max_pool(F, name, dims, input, (kernel_size, stride, padding, dilation, ceil_mode))

    doc = _MAX_DOC.format(spatial=_SPATIAL[dims])
    composite(namespaces=("nn.functional", ""))(_named_as(name, pool, doc))
    both = f"Return (maxima, indices): `{name}` with return_indices=True.\n\n    Derivative: as {name}."
    namespaces = ("", "nn.functional") if dims == 1 else _FUNCTIONAL
    composite(namespaces=namespaces)(_named_as(f"{name}_with_indices", pool_with_indices, both))


def _call_avg_pool(F: Any, dims: int, x: Any, windows: Windows, count_include_pad: bool, override: int | None) -> Any:
    divisors = window_divisors(windows, bool(count_include_pad), None if override is None else index(override))
    return F._avg_pool(x, windows=windows, divisors=divisors, node=f"AvgPool{dims}DBackward0")


@composite(namespaces=("", "nn.functional"))
def avg_pool1d(F, input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
    """Average pooling: the mean of each window.

    input: (n, channels, length) or (channels, length), floating or int64; means of integers are rounded towards zero.
    Other arguments: as `avg_pool2d`.

    Derivative: the cotangent of each mean divided by its divisor, in each element of the window."""
    windows = windows_of("avg_pool1d", input, 1, kernel_size, stride, padding, 1, ceil_mode)
    if not _is_recorded(F, input):
        return _call_avg_pool(F, 1, input, windows, count_include_pad, None)
    windows = _with_height(windows)
    return F.squeeze(_call_avg_pool(F, 2, F.unsqueeze(input, dim=-2), windows, count_include_pad, None), dim=-2)


def _make_avg_pool(dims: int) -> None:
    name = f"avg_pool{dims}d"

    def pool(
        F, input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None
    ):
        windows = windows_of(name, input, dims, kernel_size, stride, padding, 1, ceil_mode)
        return _call_avg_pool(F, dims, input, windows, count_include_pad, divisor_override)

    doc = f"""Average pooling: the mean of each window.

    input: (n, channels, {_SPATIAL[dims]}) or (channels, {_SPATIAL[dims]}), floating or int64; means of integers are
    rounded towards zero. kernel_size, stride, padding, ceil_mode: as `max_pool{dims}d`, but padded elements are zeros.
    count_include_pad: whether padded elements count in the divisor. divisor_override: the divisor of all sums, or None.

    Derivative: the cotangent of each mean divided by its divisor, in each element of the window."""
    composite(namespaces=_FUNCTIONAL)(_named_as(name, pool, doc))


for _dims in (1, 2, 3):
    _make_max_pool(_dims)
for _dims in (2, 3):
    _make_avg_pool(_dims)


# -- adaptive ----------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def _averaging_tables(source: tuple[int, ...], size: tuple[int, ...]) -> tuple[Table | None, ...]:
    return tuple([None if n == m else averaging_table(n, m) for n, m in zip(source, size, strict=True)])


def _adaptive_average(F: Any, op: str, dims: int, x: Any, size: tuple[int, ...]) -> Any:
    if size == (1,) * dims and raw(x).dtype.kind not in "biu":
        return F.mean(x, dim=tuple(range(-dims, 0)), keepdim=True)
    _check_dtype(op, raw(x), integers=False)
    return F._resample_flat(x, tables=_averaging_tables(raw(x).shape[-dims:], size), node=f"AdaptiveAvgPool{dims}DBackward0")


_ADAPTIVE_DOC = """Adaptive pooling: the {what} of each of output_size regions that cover the input.

    Region j of m in a dimension of size n has the elements from floor(j n / m) up to, not including, ceil((j + 1) n / m).
    input: (n, channels, {spatial}) or (channels, {spatial}), floating. output_size: an int, or a tuple with one int per
    dimension; None means the input's size. {returns}

    Derivative: {derivative}."""


def _make_adaptive(dims: int) -> None:
    average_name, max_name = f"adaptive_avg_pool{dims}d", f"adaptive_max_pool{dims}d"

    def average(F, input, output_size):
        size = size_of_output(average_name, input, dims, output_size)
        if dims > 1 or not _is_recorded(F, input):
            return _adaptive_average(F, f"adaptive_avg_pool{max(dims, 2)}d", dims, input, size)
        return F.squeeze(_adaptive_average(F, "adaptive_avg_pool2d", 2, F.unsqueeze(input, dim=-2), (1, *size)), dim=-2)

    def largest(F, input, output_size):
        size = size_of_output(max_name, input, dims, output_size, ":")
        if dims > 1 or not _is_recorded(F, input):
            return F._adaptive_max_pool(input, size=size, node=f"AdaptiveMaxPool{dims}DBackward0")
        image = F.unsqueeze(input, dim=-2)
        values, indices = F._adaptive_max_pool(image, size=(1, *size), node="AdaptiveMaxPool2DBackward0")
        return F.squeeze(values, dim=-2), F.squeeze(indices, dim=-2)

    def pool(F, input, output_size, return_indices=False):
        found = largest(F, input, output_size)
        return found if return_indices else found[0]

    def pool_with_indices(F, input, output_size, return_indices=False):
        return largest(F, input, output_size)

    top = ("", "nn.functional") if dims == 1 else _FUNCTIONAL
    doc = _ADAPTIVE_DOC.format(
        what="mean", spatial=_SPATIAL[dims], returns="Raises RuntimeError for other shapes.",
        derivative="the cotangent of each mean divided by the size of its region, in each element of the region",
    )  # fmt: skip
    composite(namespaces=top)(_named_as(average_name, average, doc))
    doc = _ADAPTIVE_DOC.format(
        what="maximum", spatial=_SPATIAL[dims], returns="return_indices: as `max_pool2d`.",
        derivative="the cotangent at the chosen element, 0 elsewhere",
    )  # fmt: skip
    composite(namespaces=_FUNCTIONAL)(_named_as(max_name, pool, doc))
    both = f"Return (maxima, indices): `{max_name}` with return_indices=True.\n\n    Derivative: as {max_name}."
    composite(namespaces=_FUNCTIONAL)(_named_as(f"{max_name}_with_indices", pool_with_indices, both))


for _dims in (1, 2, 3):
    _make_adaptive(_dims)


# -- norms, and the inverse of max pooling -----------------------------------------------------------------------------


def _make_lp_pool(dims: int) -> None:
    name = f"lp_pool{dims}d"

    def pool(F, input, norm_type, kernel_size, stride=None, ceil_mode=False):
        windows = windows_of(name, input, dims, kernel_size, stride, 0, 1, ceil_mode)
        if norm_type == float("inf"):
            return _call_max_pool(F, name, dims, input, (kernel_size, stride, 0, 1, ceil_mode))[0]
        power = F.pow(input, norm_type)
        if dims == 1:
            means = F.avg_pool1d(power, kernel_size, stride, 0, ceil_mode)
        else:
            means = _call_avg_pool(F, dims, power, windows, True, None)
        return F.pow(F.relu(F.abs(means)) * F.sign(means) * windows.taps, 1.0 / norm_type)

    doc = f"""Power-average pooling: the norm (sum of x**norm_type)**(1 / norm_type) of each window.

    input: (n, channels, {_SPATIAL[dims]}) or (channels, {_SPATIAL[dims]}), floating. norm_type: a number; inf gives the
    maximum. Other arguments: as `max_pool{dims}d`.

    Derivative: that of the formula."""
    composite(namespaces=_FUNCTIONAL)(_named_as(name, pool, doc))


def _make_max_unpool(dims: int) -> None:
    name = f"max_unpool{dims}d"

    def unpool(F, input, indices, kernel_size, stride=None, padding=0, output_size=None):
        kernel = pool_sizes(name, "kernel_size", kernel_size, dims)
        steps = kernel if stride is None else pool_sizes(name, "stride", stride, dims)
        size = unpool_size(name, input, (kernel, steps, pool_sizes(name, "padding", padding, dims)), output_size)
        if raw(indices).dtype != np.int64:
            raise errors.UnsupportedDtypeError(
                f"elements in indices should be type int64 but got: {errors.scalar_name(raw(indices).dtype)}"
            )
        if tuple(indices.shape) != tuple(input.shape):
            raise errors.ShapeError(
                f"Expected shape of indices to be same as that of the input tensor ({list(input.shape)}) but got indices "
                f"tensor with shape: {list(indices.shape)}"
            )
        if dims > 1:
            return F._max_unpool(input, indices, size=size, node=f"MaxUnpool{dims}DBackward0")
        rows, places = F.unsqueeze(input, dim=-1), F.unsqueeze(indices, dim=-1)
        return F.squeeze(F._max_unpool(rows, places, size=(*size, 1), node="MaxUnpool2DBackward0"), dim=-1)

    doc = f"""Partial inverse of max_pool{dims}d: images of zeros with the elements of input at indices.

    input, indices: the results of max_pool{dims}d. kernel_size, stride, padding: the arguments of that call. output_size:
    the spatial size of the result, needed if images of several sizes pool to input's size. Raises RuntimeError for an
    index out of range, ValueError for an output_size that does not fit.

    Derivative: the cotangent at indices."""
    composite(namespaces=_FUNCTIONAL)(_named_as(name, unpool, doc))


for _dims in (1, 2, 3):
    _make_lp_pool(_dims)
    _make_max_unpool(_dims)
