"""Filters of scipy.ndimage that multiply the Fourier transform of an image."""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

from wengert._forks import import_late
from wengert.array_functions.table import checked_axis, detached, tensor, w
from wengert.scipy.ndimage._filters import _each, image_of

__all__ = ["fourier_ellipsoid", "fourier_gaussian", "fourier_shift", "fourier_uniform"]


def _frequencies(input: Any, n: int, axis: int) -> list[Any]:
    """The frequency of each element along each axis, in cycles an element. n: the size of a real transform's signal, or -1."""
    axis, found = checked_axis(axis, input.ndim), []
    for d, size in enumerate(input.shape):
        line: Any = np.arange(size) / n if d == axis and n > 0 else np.fft.fftfreq(size)
        found.append(w.as_tensor(line.reshape([-1 if e == d else 1 for e in range(input.ndim)])).to(input.real.dtype))
    return found


def _per_axis(x: Any, ndim: int) -> list[Any]:
    return list(_each(x, [*range(ndim)]).values())


def fourier_gaussian(input, sigma, n=-1, axis=-1):
    input = image_of(input)
    for f, s in zip(_frequencies(input, n, axis), _per_axis(sigma, input.ndim), strict=True):
        input = input * w.exp(-2 * pi * pi * w.square(f * s))
    return input


def fourier_uniform(input, size, n=-1, axis=-1):
    input = image_of(input)
    for f, s in zip(_frequencies(input, n, axis), _per_axis(size, input.ndim), strict=True):
        input = input * w.sinc(f * s)
    return input


def fourier_shift(input, shift, n=-1, axis=-1):
    input = image_of(input)
    angle: Any = 0.0
    for f, s in zip(_frequencies(input, n, axis), _per_axis(shift, input.ndim), strict=True):
        angle = angle - 2 * pi * f * s
    return input * w.complex(w.cos(angle), w.sin(angle))


def fourier_ellipsoid(input, size, n=-1, axis=-1):
    input = image_of(input)
    if input.ndim > 3:
        raise NotImplementedError("Only 1d, 2d and 3d inputs are supported")
    ones = np.ones(tuple(input.shape), detached(input).real.dtype)
    factor = import_late("scipy.ndimage").fourier_ellipsoid(ones, size, n, axis)
    return input * tensor(factor)
