"""Fractional max pooling: windows at random places that spread evenly over the image.

Windows begin at floor((i + u) a) - floor(u a), with one random u from [0, 1) for each image and dimension and
a = (size - kernel) / (output - 1); the last one ends with the image (Graham, Fractional Max-Pooling, 2014).
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from wengert import errors
from wengert.core.tensor import wrap
from wengert.generator import generator_of
from wengert.ops.indices import raw
from wengert.ops.registry import composite
from wengert.ops.windows import sizes_of_argument


def _window_starts(samples: Any, size: int, output: int, kernel: int) -> Any:
    """Where the windows along a dimension begin, for each image: (images, output). samples: (images)."""
    if output == 1:
        return np.full((len(samples), 1), size - kernel)
    step = (size - kernel) / (output - 1)
    first = np.floor((np.arange(output - 1) + samples[:, None]) * step) - np.floor(samples * step)[:, None]
    return np.concatenate([first.astype(np.int64), np.full((len(samples), 1), size - kernel)], axis=1)


def _argmax_of_windows(images: Any, samples: Any, kernel: tuple[int, ...], output: tuple[int, ...]) -> Any:
    """Where in its image, as a vector, the largest element of each window is. images: (images, *size)."""
    n, *size = images.shape
    dims = len(size)
    index: list[Any] = [np.arange(n).reshape(-1, *(1,) * (2 * dims))]
    for d in range(dims):
        starts = _window_starts(samples[:, d], size[d], output[d], kernel[d])
        places = starts[:, :, None] + np.arange(kernel[d])  # (images, output, kernel)
        shape = [n] + [output[d] if i == d else 1 for i in range(dims)] + [kernel[d] if i == d else 1 for i in range(dims)]
        index.append(places.reshape(shape))
    windows = images[tuple(index)].reshape(n, *output, prod(kernel))
    taps = np.unravel_index(windows.argmax(axis=-1), kernel)
    flat = 0
    for d in range(dims):
        starts = _window_starts(samples[:, d], size[d], output[d], kernel[d])
        row = starts.reshape(n, *[output[d] if i == d else 1 for i in range(dims)])
        flat = flat * size[d] + row + taps[d]
    return flat


def _check_windows(op: str, dims: int, input: Any, kernel: tuple[int, ...], output: tuple[int, ...], samples: Any) -> None:
    names = ("time", "height", "width")[-dims:]
    for name, size, k, out in zip(names, input.shape[-dims:], kernel, output, strict=True):
        if out + k - 1 > size:
            raise errors.ShapeError(f"{op}(): pool {name} {k} too large relative to input {name} {size}")
    if samples is not None and samples.shape[-1] != dims:
        raise errors.ShapeError(f"Expect _random_samples.size(2) equals to {dims}; got {samples.shape[-1]}.")


def _pool(F: Any, op: str, dims: int, input: Any, kernel_size: Any, output_size: Any, output_ratio: Any, samples: Any) -> Any:
    """(the largest elements, where they are)."""
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
    draws = generator_of(None).random((len(images), dims)) if samples is None else raw(samples).reshape(-1, dims)
    # Of an image the samples come in the order width, height; of a volume time, height, width.
    places = _argmax_of_windows(images, draws[:, ::-1] if dims == 2 else draws, kernel, output)
    lead = tuple(input.shape[:-dims])
    flat = F.gather(F.flatten(input, -dims, -1), -1, wrap(places.reshape(*lead, prod(output))))
    return F.reshape(flat, shape=(*lead, *output)), wrap(places.reshape(*lead, *output))


def _docs(dims: int, results: str) -> str:
    sizes = ", ".join(["size"] * dims)
    return f"""Largest element of windows at random places that cover the input evenly. input: (n, channels, {sizes}), or
    without n; floating.

    kernel_size: of the windows. output_size: how many windows, or output_ratio: how many of each element, in (0, 1).
    _random_samples: (n, channels, {dims}) numbers from [0, 1), drawn unless given. Returns {results}. Raises
    RuntimeError where the windows do not fit.

    Derivative: the cotangent at the place of each largest element."""


def _register(dims: int) -> None:
    name = f"fractional_max_pool{dims}d"

    def with_indices(
        F, input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None
    ):
        return _pool(F, name, dims, input, kernel_size, output_size, output_ratio, _random_samples)

    def pool(F, input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
        found = _pool(F, name, dims, input, kernel_size, output_size, output_ratio, _random_samples)
        return found if return_indices else found[0]

    with_indices.__doc__ = _docs(dims, "them and their places in the image as a vector")
    pool.__doc__ = _docs(dims, "them, with return_indices also their places in the image as a vector")
    with_indices.__name__ = with_indices.__qualname__ = f"{name}_with_indices"
    pool.__name__ = pool.__qualname__ = name
    composite(namespaces=("nn.functional",))(with_indices)
    composite(namespaces=("nn.functional",))(pool)


_register(2)
_register(3)
