"""Fractional max pooling: windows at random positions that cover the image evenly.

Window i begins at floor((i + u) * a) - floor(u * a) with a = (size - kernel) / (output - 1) and one random u from [0, 1) for
each image and dimension. The last window ends at the end of the image (Graham, Fractional Max-Pooling, 2014).
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from wengert import errors
from wengert.backends.selection import backend_of, device_name
from wengert.core.tensor import wrap
from wengert.generator import generator_of
from wengert.ops.indices import raw, sortable
from wengert.ops.registry import composite
from wengert.ops.windows import sizes_of_argument


def _window_starts(samples: Any, size: int, output: int, kernel: int) -> Any:
    """First index of each window along a dimension, for each image: (images, output). samples: u, (images)."""
    xp = backend_of(samples)
    if output == 1:
        return xp.full((len(samples), 1), size - kernel)
    step = (size - kernel) / (output - 1)
    first = xp.floor((xp.arange(output - 1) + samples[:, None]) * step) - xp.floor(samples * step)[:, None]
    return xp.concatenate([first.astype(np.int64), xp.full((len(samples), 1), size - kernel)], axis=1)


def _argmax_of_windows(images: Any, samples: Any, kernel: tuple[int, ...], output: tuple[int, ...]) -> Any:
    """Index, in the flattened image, of the largest element of each window: (images, *output). images: (images, *size)."""
    xp = backend_of(images)
    n, *size = images.shape
    dims = len(size)
    index: list[Any] = [xp.arange(n).reshape(-1, *(1,) * (2 * dims))]
    for d in range(dims):
        starts = _window_starts(samples[:, d], size[d], output[d], kernel[d])
        places = starts[:, :, None] + xp.arange(kernel[d])  # (images, output, kernel)
        shape = [n] + [output[d] if i == d else 1 for i in range(dims)] + [kernel[d] if i == d else 1 for i in range(dims)]
        index.append(places.reshape(shape))
    windows = images[tuple(index)].reshape(n, *output, prod(kernel))
    taps = xp.unravel_index(sortable(windows).argmax(axis=-1), kernel)
    flat = 0
    for d in range(dims):
        starts = _window_starts(samples[:, d], size[d], output[d], kernel[d])
        row = starts.reshape(n, *[output[d] if i == d else 1 for i in range(dims)])
        flat = flat * size[d] + row + taps[d]
    return flat


def _check_windows(op: str, dims: int, input: Any, kernel: tuple[int, ...], output: tuple[int, ...], samples: Any) -> None:
    """Raise RuntimeError if the windows do not fit into the input, or samples have a wrong size or are not finite."""
    xp = backend_of(input)
    names = ("time", "height", "width")[-dims:]
    for name, size, k, out in zip(names, input.shape[-dims:], kernel, output, strict=True):
        if out + k - 1 > size:
            raise errors.ShapeError(f"{op}(): pool {name} {k} too large relative to input {name} {size}")
    if samples is not None and samples.shape[-1] != dims:
        raise errors.ShapeError(f"Expect _random_samples.size(2) equals to {dims}; got {samples.shape[-1]}.")
    if samples is not None and not xp.isfinite(raw(samples)).all():
        raise errors.ShapeError(f"{op}(): _random_samples must be finite")


def _pool(F: Any, op: str, dims: int, input: Any, kernel_size: Any, output_size: Any, output_ratio: Any, samples: Any) -> Any:
    """Return (largest element of each window, its index in the flattened image)."""
    if output_size is None and output_ratio is None:
        raise errors.ElementError(f"{op} requires specifying either an output_size or an output_ratio")
    if input.ndim not in (dims + 1, dims + 2):
        raise errors.ShapeError(f"{op}(): Expected {dims + 1}D or {dims + 2}D tensor, but got {input.ndim}D")
    if raw(input).dtype.kind not in "fV":
        raise errors.unsupported_dtype(op, raw(input).dtype)
    size = tuple(input.shape[-dims:])
    if output_size is None:
        ratios = output_ratio if isinstance(output_ratio, (tuple, list)) else (output_ratio,) * dims
        if not all(0 < ratio < 1 for ratio in ratios):
            raise errors.ElementError(
                f"{op} requires output_ratio to either be a single float or a tuple of ints between 0 and 1, got "
                f"{output_ratio}"
            )
        output_size = tuple([int(n * ratio) for n, ratio in zip(size, ratios, strict=True)])
    kernel, output = sizes_of_argument(kernel_size, dims), sizes_of_argument(output_size, dims)
    if kernel is None or output is None:
        raise errors.pool_sizes(op, "kernel_size" if kernel is None else "output_size", dims)
    _check_windows(op, dims, input, kernel, output, samples)
    images = raw(input).reshape(-1, *size)
    if samples is None:
        wanted = np.dtype(np.float64 if images.dtype == "float64" else np.float32)
        draws = generator_of(None, device_name(images)).uniform((len(images), dims), wanted)
    else:
        draws = raw(samples).reshape(-1, dims)
    # The samples of an image are ordered (width, height), those of a volume (time, height, width).
    places = _argmax_of_windows(images, draws[:, ::-1] if dims == 2 else draws, kernel, output)
    lead = tuple(input.shape[:-dims])
    flat = F.gather(F.flatten(input, -dims, -1), -1, wrap(places.reshape(*lead, prod(output))))
    return F.reshape(flat, shape=(*lead, *output)), wrap(places.reshape(*lead, *output))


def _docs(dims: int, results: str) -> str:
    """Return the docstring of the functions for `dims` dimensions."""
    sizes = ", ".join(["size"] * dims)
    return f"""Largest element of windows at random positions that cover the input evenly.

    input: (n, channels, {sizes}) or (channels, {sizes}), floating. kernel_size: the size of the windows. output_size: the
    number of windows in each dimension; or output_ratio: that number divided by the size of input, in (0, 1).
    _random_samples: (n, channels, {dims}) numbers from [0, 1), drawn unless given. Returns {results}. Raises RuntimeError if
    the windows do not fit.

    Derivative: the largest element of each window gets its cotangent."""


def _register(dims: int) -> None:
    """Register fractional_max_pool<dims>d and its form that returns indices."""
    name = f"fractional_max_pool{dims}d"

    def with_indices(
        F, input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None
    ):
        return _pool(F, name, dims, input, kernel_size, output_size, output_ratio, _random_samples)

    def pool(F, input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
        found = _pool(F, name, dims, input, kernel_size, output_size, output_ratio, _random_samples)
        return found if return_indices else found[0]

    with_indices.__doc__ = _docs(dims, "(values, indices in the flattened image)")
    pool.__doc__ = _docs(dims, "the values, or (values, indices in the flattened image) if return_indices")
    with_indices.__name__ = with_indices.__qualname__ = f"{name}_with_indices"
    pool.__name__ = pool.__qualname__ = name
    composite(namespaces=("nn.functional",))(with_indices)
    composite(namespaces=("nn.functional",))(pool)


_register(2)
_register(3)
