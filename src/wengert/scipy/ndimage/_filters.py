"""Filters of scipy.ndimage that are sums of weighted neighbours, and filters by rank."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.array_functions.table import checked_axis, detached, ints, tensor, w
from wengert.core.tensor import TensorBase
from wengert.ops.faces import tensor_face as F
from wengert.scipy._borders import extended
from wengert.scipy._frame import operands
from wengert.scipy._ranks import chosen_by_rank

__all__ = [
    "convolve", "convolve1d", "correlate", "correlate1d", "gaussian_filter", "gaussian_filter1d", "gaussian_gradient_magnitude",
    "gaussian_laplace", "generic_gradient_magnitude", "generic_laplace", "laplace", "maximum_filter", "maximum_filter1d",
    "median_filter", "minimum_filter", "minimum_filter1d", "percentile_filter", "prewitt", "rank_filter", "sobel", "uniform_filter",
    "uniform_filter1d",
]  # fmt: skip


def image_of(x: Any) -> Any:
    """Return an image as a tensor of a floating or complex dtype."""
    return operands(x)[0]


def weights_of(weights: Any, image: Any) -> Any:
    """Return weights as a tensor of the image's dtype; complex weights keep theirs."""
    weights = tensor(weights if isinstance(weights, (TensorBase, list, tuple)) else np.asarray(weights))
    return weights if weights.is_complex() and not image.is_complex() else weights.to(image.dtype)


# -- sums of weighted neighbours ---------------------------------------------------------------------------------------


def correlate1d(input, weights, axis=-1, mode="reflect", cval=0.0, origin=0):
    input = image_of(input)
    axis, weights = checked_axis(axis, input.ndim), weights_of(weights, input)
    if weights.ndim != 1 or not len(weights):
        raise RuntimeError("no filter weights given")
    shape = [-1 if d == axis else 1 for d in range(input.ndim)]
    return _weighted(input, w.reshape(weights, shape), {axis: mode}, cval, {axis: origin})


def convolve1d(input, weights, axis=-1, mode="reflect", cval=0.0, origin=0):
    input = image_of(input)
    weights = weights_of(weights, input)
    return correlate1d(input, w.conj(w.flip(weights, (0,))), axis, mode, cval, -origin - (len(weights) % 2 == 0))


def correlate(input, weights, mode="reflect", cval=0.0, origin=0, *, axes=None):
    input = image_of(input)
    axes, weights = _axes(axes, input.ndim), weights_of(weights, input)
    if weights.ndim != len(axes):
        raise RuntimeError(f"weights.ndim ({weights.ndim}) must match len(axes) ({len(axes)})")
    if not weights.numel():
        return w.zeros_like(input)
    origins, modes = _each(origin, axes), _each(mode, axes)
    return _weighted(input, w.reshape(weights, spread_sizes(weights.shape, axes, input.ndim)), modes, cval, origins)


def convolve(input, weights, mode="reflect", cval=0.0, origin=0, *, axes=None):
    input = image_of(input)
    weights = weights_of(weights, input)
    axes = _axes(axes, input.ndim)
    if weights.ndim != len(axes):
        raise RuntimeError(f"weights.ndim ({weights.ndim}) must match len(axes) ({len(axes)})")
    sizes = spread_sizes(weights.shape, axes, input.ndim)
    origins = [-o - (sizes[axis] % 2 == 0) for axis, o in _each(origin, axes).items()]
    turned = w.conj(w.flip(weights, tuple(range(weights.ndim))))
    return correlate(input, turned, mode, cval, origins, axes=axes)


def _weighted(x: Any, weights: Any, modes: dict[int, str], cval: Any, origins: dict[int, int]) -> Any:
    """Correlate x with weights of its number of dimensions, after it is extended at the borders of each axis."""
    for axis, mode in modes.items():
        size = weights.shape[axis]
        before = size // 2 + int(origins[axis])
        if not 0 <= before < size:
            raise ValueError("Invalid origin; origin must satisfy -(len(weights) // 2) <= origin <= (len(weights)-1) // 2")
        x = extended(x, axis, before, size - 1 - before, mode, cval)
    return F._valid_correlation(x, weights, method="direct")


def _axes(axes: Any, ndim: int) -> list[int]:
    return list(range(ndim)) if axes is None else [checked_axis(d, ndim) for d in ints(axes)]


def _each(x: Any, axes: list[int]) -> dict[int, Any]:
    """Return the value of each axis, given one for all of them or a sequence."""
    values = [x] * len(axes) if isinstance(x, str) or np.ndim(detached(x)) == 0 else list(x)
    if len(values) != len(axes):
        raise RuntimeError("sequence argument must have length equal to input rank")
    return dict(zip(axes, values, strict=True))


def spread_sizes(sizes: Any, axes: list[int], ndim: int) -> list[int]:
    """Return the sizes of a window in all dimensions. Those given belong to the axes in increasing order, as in SciPy."""
    given = dict(zip(sorted(axes), sizes, strict=True))
    return [given.get(d, 1) for d in range(ndim)]


def uniform_filter1d(input, size, axis=-1, mode="reflect", cval=0.0, origin=0):
    if size < 1:
        raise RuntimeError("incorrect filter size")
    return correlate1d(input, np.full(int(size), 1.0 / size), axis, mode, cval, origin)


def uniform_filter(input, size=3, mode="reflect", cval=0.0, origin=0, *, axes=None):
    input = image_of(input)
    axes = _axes(axes, input.ndim)
    sizes, modes, origins = _each(size, axes), _each(mode, axes), _each(origin, axes)
    for axis in axes:
        if sizes[axis] > 1:
            input = uniform_filter1d(input, int(sizes[axis]), axis, modes[axis], cval, origins[axis])
    return input


def _derivative_filter(input: Any, axis: int, smoothing: list[float], mode: Any, cval: Any) -> Any:
    input = image_of(input)
    axis = checked_axis(axis, input.ndim)
    modes = _each(mode, list(range(input.ndim)))
    found = correlate1d(input, [-1.0, 0.0, 1.0], axis, modes[axis], cval)
    for other in range(input.ndim):
        if other != axis:
            found = correlate1d(found, smoothing, other, modes[other], cval)
    return found


def prewitt(input, axis=-1, mode="reflect", cval=0.0):
    return _derivative_filter(input, axis, [1.0, 1.0, 1.0], mode, cval)


def sobel(input, axis=-1, mode="reflect", cval=0.0):
    return _derivative_filter(input, axis, [1.0, 2.0, 1.0], mode, cval)


def generic_laplace(input, derivative2, mode="reflect", cval=0.0, extra_arguments=(), extra_keywords=None, *, axes=None):
    input = image_of(input)
    modes = _each(mode, _axes(axes, input.ndim))
    terms = [
        derivative2(input, axis, None, one, cval, *extra_arguments, **(extra_keywords or {})) for axis, one in modes.items()
    ]
    return _summed(terms, input)


def generic_gradient_magnitude(input, derivative, mode="reflect", cval=0.0, extra_arguments=(), extra_keywords=None, *, axes=None):
    input = image_of(input)
    modes = _each(mode, _axes(axes, input.ndim))
    slopes = [derivative(input, axis, None, one, cval, *extra_arguments, **(extra_keywords or {})) for axis, one in modes.items()]
    return w.sqrt(_summed([slope * slope for slope in slopes], input))


def _summed(terms: list[Any], image: Any) -> Any:
    return sum(terms[1:], terms[0]) if terms else image


def laplace(input, mode="reflect", cval=0.0, *, axes=None):
    def second(x: Any, axis: int, output: Any, mode: str, cval: Any) -> Any:
        return correlate1d(x, [1.0, -2.0, 1.0], axis, mode, cval)

    return generic_laplace(input, second, mode, cval, axes=axes)


# -- Gaussians ---------------------------------------------------------------------------------------------------------


def _kernel(sigma: Any, order: int, radius: int, image: Any) -> Any:
    """Weights of a Gaussian, or of its derivative of this order, from -radius to radius. sigma may be a tensor."""
    x = w.arange(-radius, radius + 1, dtype=image.real.dtype)
    weights = w.softmax(-0.5 * x * x / (sigma * sigma), 0)
    if order == 0:
        return weights
    # The derivative is the Gaussian times a polynomial: q' - q x / sigma**2 is the next one.
    powers: list[Any] = [1.0] + [0.0] * order
    for _ in range(order):
        slopes = [(k + 1) * powers[k + 1] if k < order else 0.0 for k in range(order + 1)]
        powers = [slopes[k] - (powers[k - 1] / (sigma * sigma) if k else 0.0) for k in range(order + 1)]
    factor: Any = 0.0
    for k in reversed(range(order + 1)):
        factor = factor * x + powers[k]
    return weights * factor


def gaussian_filter1d(input, sigma, axis=-1, order=0, mode="reflect", cval=0.0, truncate=4.0, *, radius=None):
    input = image_of(input)
    width = float(detached(sigma))
    if not isinstance(sigma, TensorBase):
        sigma = width
    if order < 0:
        raise ValueError("order must be non-negative")
    if radius is None:
        radius = int(truncate * width + 0.5)
    elif int(radius) != radius or radius < 0:
        raise ValueError("Radius must be a nonnegative integer.")
    kernel = w.flip(_kernel(sigma, int(order), int(radius), input), (0,))
    return correlate1d(input, kernel, axis, mode, cval)


def gaussian_filter(input, sigma, order=0, mode="reflect", cval=0.0, truncate=4.0, *, radius=None, axes=None):
    input = image_of(input)
    axes = _axes(axes, input.ndim)
    sigmas, orders, modes, radii = [_each(x, axes) for x in (sigma, order, mode, radius)]
    for axis in axes:
        if float(detached(sigmas[axis])) > 1e-15:
            input = gaussian_filter1d(input, sigmas[axis], axis, orders[axis], modes[axis], cval, truncate, radius=radii[axis])
    return input


def gaussian_laplace(input, sigma, mode="reflect", cval=0.0, *, axes=None, truncate=4.0, radius=None):
    return generic_laplace(input, _gaussian_slope(input, sigma, axes, 2, truncate, radius), mode, cval, axes=axes)


def gaussian_gradient_magnitude(input, sigma, mode="reflect", cval=0.0, *, axes=None, truncate=4.0, radius=None):
    return generic_gradient_magnitude(input, _gaussian_slope(input, sigma, axes, 1, truncate, radius), mode, cval, axes=axes)


def _gaussian_slope(input: Any, sigma: Any, axes: Any, order: int, truncate: float, radius: Any) -> Any:
    """Return the function that filters with a Gaussian's derivative of an order along one axis."""
    axes = _axes(axes, image_of(input).ndim)

    def slope(x: Any, axis: int, output: Any, mode: str, cval: Any) -> Any:
        return gaussian_filter(x, sigma, [order if d == axis else 0 for d in axes], mode, cval, truncate, radius=radius, axes=axes)

    return slope


# -- ranks -------------------------------------------------------------------------------------------------------------


def footprint_of(size: Any, footprint: Any, axes: list[int], ndim: int) -> Any:
    """Return the elements of a window that count, as bools of ndim dimensions."""
    if footprint is None:
        if size is None:
            raise RuntimeError("no footprint or filter size provided")
        sizes = {axis: int(n) for axis, n in _each(size, axes).items()}
        return np.ones([sizes.get(d, 1) for d in range(ndim)], bool)
    footprint = np.asarray(detached(footprint)).astype(bool)
    if footprint.ndim != len(axes):
        raise RuntimeError(f"footprint.ndim ({footprint.ndim}) must match len(axes) ({len(axes)})")
    if not footprint.any():
        raise ValueError("All-zero footprint is not supported.")
    return footprint.reshape(spread_sizes(footprint.shape, axes, ndim))


def _by_rank(input: Any, rank_of: Any, size: Any, footprint: Any, mode: Any, cval: Any, origin: Any, axes: Any) -> Any:
    """Filter by rank. rank_of: a function of the number of elements in a window."""
    input = image_of(input)
    axes = _axes(axes, input.ndim)
    chosen = footprint_of(size, footprint, axes, input.ndim)
    modes, origins = _each(mode, axes), _each(origin, axes)
    if len(set(modes.values())) > 1:
        raise RuntimeError("A sequence of modes is not supported for non-separable footprints")
    shifts = [int(origins.get(d, 0)) for d in range(input.ndim)]
    return chosen_by_rank(input, chosen, rank_of(int(chosen.sum())), modes[axes[0]], cval, shifts)


def rank_filter(input, rank, size=None, footprint=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    return _by_rank(input, lambda count: int(rank), size, footprint, mode, cval, origin, axes)


def median_filter(input, size=None, footprint=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    return _by_rank(input, lambda count: count // 2, size, footprint, mode, cval, origin, axes)


def percentile_filter(input, percentile, size=None, footprint=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    percentile = percentile + 100.0 if percentile < 0.0 else percentile
    if not 0 <= percentile <= 100:
        raise RuntimeError("invalid percentile")

    def rank_of(count: int) -> int:
        return count - 1 if percentile == 100.0 else int(count * percentile / 100.0)

    return _by_rank(input, rank_of, size, footprint, mode, cval, origin, axes)


def minimum_filter(input, size=None, footprint=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    return _by_rank(input, lambda count: 0, size, footprint, mode, cval, origin, axes)


def maximum_filter(input, size=None, footprint=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    return _by_rank(input, lambda count: count - 1, size, footprint, mode, cval, origin, axes)


def minimum_filter1d(input, size, axis=-1, mode="reflect", cval=0.0, origin=0):
    return _by_rank(input, lambda count: 0, size, None, mode, cval, origin, axis)


def maximum_filter1d(input, size, axis=-1, mode="reflect", cval=0.0, origin=0):
    return _by_rank(input, lambda count: count - 1, size, None, mode, cval, origin, axis)
