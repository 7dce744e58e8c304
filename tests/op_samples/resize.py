"""Samples of wengert.ops.resize. The oracles compute output by output, from the definitions."""

from __future__ import annotations

import numpy as np

from op_samples import Data, Sample
from op_samples.pool import ORACLES as POOLS

SAMPLES = {
    "interpolate": [
        Sample((1, 2, 4), size=6),
        Sample((1, 2, 4, 3), size=(3, 5), mode="nearest-exact"),
        Sample((1, 1, 2, 3, 2), 3),
        Sample((2, 1, 4), size=7, mode="linear"),
        Sample((2, 1, 4), size=7, mode="linear", align_corners=True),
        Sample((1, 2, 4, 3), size=(3, 5), mode="bilinear"),
        Sample((1, 2, 4, 3), scale_factor=2.5, mode="bilinear"),
        Sample((1, 2, 4, 3), scale_factor=(1.5, 0.7), mode="bilinear", recompute_scale_factor=True),
        Sample((1, 2, 4, 5), size=(6, 3), mode="bicubic"),
        Sample((1, 2, 4, 5), size=(6, 1), mode="bicubic", align_corners=True),
        Sample((1, 1, 2, 3, 2), size=(3, 2, 4), mode="trilinear"),
        Sample((1, 2, 7, 5), size=(3, 6), mode="bilinear", antialias=True),
        Sample((1, 2, 7, 5), size=(3, 2), mode="bicubic", antialias=True),
        Sample((1, 2, 5), size=3, mode="area"),
        Sample((1, 2, 5, 4), size=(3, 2), mode="area"),
        Sample((1, 1, 4, 3, 2), size=2, mode="area"),
    ],
    "upsample": [Sample((1, 2, 3), scale_factor=2)],
    "upsample_nearest": [Sample((1, 2, 3, 2), scale_factor=2)],
    "upsample_bilinear": [Sample((1, 2, 3, 2), scale_factor=2)],
    "affine_grid": [
        Sample((2, 2, 3), size=(2, 1, 3, 4)),
        Sample((2, 2, 3), size=(2, 1, 3, 1), align_corners=True),
        Sample(Data(1, 3, 4), size=(1, 1, 2, 3, 2)),
    ],
}
for _name in SAMPLES:
    for _sample in SAMPLES[_name]:
        _sample.complex = False


def _hat(t):
    return max(1 - abs(t), 0.0)


def _keys(a):
    """The cubic convolution kernel of Keys, with its parameter a."""

    def kernel(t):
        t = abs(t)
        if t < 1:
            return (a + 2) * t**3 - (a + 3) * t**2 + 1
        return a * t**3 - 5 * a * t**2 + 8 * a * t - 4 * a if t < 2 else 0.0

    return kernel


def _matrix(n, m, mode, scale, align_corners, antialias):
    """Row j: the weights of the inputs in output j."""
    step = (n - 1) / max(m - 1, 1) if align_corners else n / m if scale is None else 1 / scale
    out = np.zeros((m, n))
    for j in range(m):
        if mode.startswith("nearest"):
            out[j, min(int((j + 0.5 * (mode == "nearest-exact")) * step), n - 1)] = 1
        elif antialias:
            kernel, stretch = (_keys(-0.5) if mode == "bicubic" else _hat), max(step, 1.0)
            for i in range(n):
                out[j, i] = kernel((i + 0.5 - step * (j + 0.5)) / stretch)
            out[j] /= out[j].sum()
        else:
            place = j * step if align_corners else (j + 0.5) * step - 0.5
            kernel = _keys(-0.75) if mode == "bicubic" else _hat
            for i in range(-3, n + 3):
                out[j, min(max(i, 0), n - 1)] += kernel(place - i)
    return out


def _interpolate(
    x, size=None, scale_factor=None, mode="nearest", align_corners=False, recompute_scale_factor=False, antialias=False
):
    dims = x.ndim - 2
    if mode == "area":
        return POOLS[f"adaptive_avg_pool{dims}d"](x, size)
    factors = scale_factor if isinstance(scale_factor, tuple) else (scale_factor,) * dims
    if size is None:
        size = [int(n * f) for n, f in zip(x.shape[2:], factors)]
    size = size if isinstance(size, (tuple, list)) else (size,) * dims
    factors = (None,) * dims if recompute_scale_factor else factors
    for d, (m, f) in enumerate(zip(size, factors)):
        matrix = _matrix(x.shape[2 + d], m, mode, f, align_corners, antialias)
        x = np.moveaxis(np.tensordot(x, matrix, (2 + d, 1)), -1, 2 + d)
    return x


def _affine_grid(theta, size, align_corners=False):
    out = np.zeros((len(theta), *size[2:], len(size) - 2))
    for place in np.ndindex(*size[2:]):
        point = []
        for i, n in zip(place, size[2:]):
            edges = (-1 + 2 * i / (n - 1) if n > 1 else 0.0) if align_corners else -1 + (2 * i + 1) / n
            point.insert(0, edges)
        out[(slice(None), *place)] = theta @ np.array([*point, 1.0])
    return out


ORACLES = {
    "interpolate": _interpolate,
    "upsample": _interpolate,
    "upsample_nearest": _interpolate,
    "upsample_bilinear": lambda x, scale_factor: _interpolate(x, None, scale_factor, "bilinear", True),
    "affine_grid": _affine_grid,
}
