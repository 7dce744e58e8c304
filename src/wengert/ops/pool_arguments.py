"""The arguments of poolings, checked as torch checks them: windows, divisors of means, and sizes of results."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from wengert import errors
from wengert.core.watched import of_arrays
from wengert.ops.indices import raw
from wengert.ops.windows import Windows, as_cache_key, sizes_of_argument


def pool_sizes(op: str, argument: str, value: Any, dims: int) -> tuple[int, ...]:
    """Return an argument such as kernel_size as a tuple of dims ints. Raises an error if it has another length."""
    found = sizes_of_argument(value, dims)
    if found is None:
        raise errors.pool_sizes(op, argument, dims)
    return found


def windows_of(
    op: str, x: Any, dims: int, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> Windows:
    """Return the windows of a pooling, given torch's arguments. Raises RuntimeError for arguments that do not fit."""
    sizes = as_cache_key(kernel_size), as_cache_key(stride), as_cache_key(padding), as_cache_key(dilation)
    return _checked_windows(op, raw(x).shape, dims, *sizes, bool(ceil_mode))


@lru_cache(maxsize=512, typed=True)
def _checked_windows(
    op: str, shape: tuple[int, ...], dims: int, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> Windows:
    kernel = pool_sizes(op, "kernel_size", kernel_size, dims)
    steps = kernel if stride is None or stride == () else pool_sizes(op, "stride", stride, dims)
    low, dilation = pool_sizes(op, "padding", padding, dims), pool_sizes(op, "dilation", dilation, dims)
    if len(shape) not in (dims + 1, dims + 2) or 0 in shape[-dims - 1 :]:
        raise errors.ShapeError(
            f"Expected {dims + 1}D or {dims + 2}D (batch mode) tensor with optional 0 dim batch size for input, but "
            f"got:{list(shape)}"
        )
    for argument, values in (("kernel size", kernel), ("stride", steps), ("dilation", dilation)):
        if min(values) <= 0:
            if argument == "stride":
                raise errors.ShapeError("stride should not be zero")
            word = argument.split()[0]
            sides = " ".join([f"{word}{c}: {v}" for c, v in zip("THW"[-dims:], values, strict=True)])
            raise errors.ShapeError(f"{argument} should be greater than zero, but got {sides}")
    if min(low) < 0:
        raise errors.ShapeError(f"pad must be non-negative, but got pad: {min(low)}")
    for p, k, d in zip(low, kernel, dilation, strict=True):
        if p > ((k - 1) * d + 1) // 2:
            raise errors.ShapeError(
                f"pad should be at most half of effective kernel size, but got pad={p}, kernel_size={k} and dilation={d}"
            )
    size = shape[-dims:]
    count = []
    for n, k, s, p, d in zip(size, kernel, steps, low, dilation, strict=True):
        room = n + 2 * p - d * (k - 1) - 1
        m = (room + (s - 1 if ceil_mode else 0)) // s + 1
        count.append(m - 1 if ceil_mode and (m - 1) * s >= n + p else m)
    if min(count) < 1:
        channels = shape[-dims - 1]
        raise errors.ShapeError(
            f"Given input size: ({'x'.join(map(str, (channels, *size)))}). Calculated output size: "
            f"({'x'.join(map(str, (channels, *[max(m, 0) for m in count])))}). Output size is too small"
        )
    return Windows(size, kernel, tuple(count), steps, low, dilation)


def window_divisors(windows: Windows, count_include_pad: bool, divisor_override: int | None) -> Any:
    """Divisor of the sum over each window: a number, or an array of shape windows.count."""
    if divisor_override is not None:
        if divisor_override == 0:
            raise errors.ShapeError("divisor must be not zero")
        return divisor_override
    if not any(windows.padding) and all(r <= n for r, n in zip(windows.reach, windows.size, strict=True)):
        return windows.taps
    return _sizes_of_windows(windows, count_include_pad)


@of_arrays
def _sizes_of_windows(windows: Windows, count_include_pad: bool) -> Any:
    """Return the number of elements in each window."""
    return _kept_sizes_of_windows(windows, count_include_pad)


@lru_cache(maxsize=256)
def _kept_sizes_of_windows(windows: Windows, count_include_pad: bool) -> Any:
    found: Any = 1
    for n, k, m, s, p in zip(windows.size, windows.kernel, windows.count, windows.stride, windows.padding, strict=True):
        first = np.arange(m) * s - p
        last = np.minimum(first + k, n + p)
        if not count_include_pad:
            first, last = np.maximum(first, 0), np.minimum(last, n)
        found = np.multiply.outer(found, last - first)
    return found


def size_of_output(op: str, x: Any, dims: int, output_size: Any, colon: str = "") -> tuple[int, ...]:
    """Return output_size as a tuple, with the input's size in place of None. Raises RuntimeError if shapes do not fit."""
    return _checked_output_size(op, raw(x).shape, dims, as_cache_key(output_size), colon)


@lru_cache(maxsize=512, typed=True)
def _checked_output_size(op: str, shape: tuple[int, ...], dims: int, output_size: Any, colon: str) -> tuple[int, ...]:
    given = output_size if isinstance(output_size, tuple) else (output_size,) * dims
    if dims > 1 and len(shape) <= dims:
        raise errors.ElementError(f"Input dimension should be at least {dims + 1}")
    if len(shape) not in (dims + 1, dims + 2):
        raise errors.ShapeError(f"{op}(): Expected {dims + 1}D or {dims + 2}D tensor, but got{colon} {list(shape)}")
    if len(given) != dims:
        raise errors.ShapeError(f"{op}: output_size must be {dims}")
    size = tuple([n if m is None else int(m) for m, n in zip(given, shape[-dims:], strict=True)])
    if min(size) < 0:
        raise errors.ShapeError(
            f"{op}: elements of output_size must be greater than or equal to 0 but received {{{', '.join(map(str, size))}}}"
        )
    for d in range(len(shape) - dims - 1, len(shape)):
        if not shape[d]:
            raise errors.ShapeError(
                f"{op}(): Expected input to have non-zero size for non-batch dimensions, but input has sizes {list(shape)} "
                f"with dimension {d} being empty"
            )
    return size


def unpool_size(op: str, x: Any, windows: tuple[Any, ...], output_size: Any) -> tuple[int, ...]:
    """Return the spatial size of the result of max_unpool. windows: (kernel, stride, padding), dims ints each.

    If output_size is None, it is (n - 1) * stride + kernel - 2 * padding. Raises ValueError if output_size does not fit.
    """
    kernel, stride, padding = windows
    dims = len(kernel)
    rows = zip(x.shape[-dims:], kernel, stride, padding, strict=True)
    natural = tuple([(n - 1) * s + k - 2 * p for n, k, s, p in rows])
    if output_size is None:
        return natural
    size = tuple(output_size)
    if len(size) == dims + 2:
        size = size[2:]
    if len(size) != dims:
        raise errors.ElementError(
            f"output_size should be a sequence containing {dims} or {dims + 2} elements, but it has a length of "
            f"'{len(size)}'"
        )
    for d, (wanted, n, s) in enumerate(zip(size, natural, stride, strict=True)):
        if not n - s < wanted < n + s:
            raise errors.ElementError(f'invalid output_size "{tuple(size)}" (dim {d} must be between {n - s} and {n + s})')
    return size
