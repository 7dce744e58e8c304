"""Samples of wengert.ops.linear_maps. The oracles are sums over all elements, by the definitions, and SciPy's functions of images."""

from __future__ import annotations

from itertools import product

import numpy as np
import scipy.ndimage

from op_samples import Data, Sample


class Matrix:
    """A linear map of vectors, as _linear_map takes it."""

    def __init__(self, matrix):
        self.matrix = matrix

    def __repr__(self):
        return f"Matrix{self.matrix.shape}"

    def apply(self, x):
        return (x @ self.matrix.T).astype(x.dtype)

    @property
    def adjoint(self):
        return Matrix(self.matrix.conj().T)


def _full(a, b, method="auto"):
    found = np.zeros([n + m - 1 for n, m in zip(a.shape, b.shape, strict=True)], np.result_type(a, b))
    for i in np.ndindex(a.shape):
        for j in np.ndindex(b.shape):
            found[tuple(np.add(i, j))] += a[i] * b[j]
    return found


def _valid(a, b, method="auto"):
    found = np.zeros([n - m + 1 for n, m in zip(a.shape, b.shape, strict=True)], np.result_type(a, b))
    for k in np.ndindex(found.shape):
        for n in np.ndindex(b.shape):
            found[k] += a[tuple(np.add(n, k))] * np.conj(b[n])
    return found


def _filtered(a, u):
    y = np.zeros(u.shape, np.result_type(a, u))
    for n in range(u.shape[-1]):
        y[..., n] = (u[..., n] - sum(a[k] * y[..., n - k] for k in range(1, min(n + 1, len(a))))) / a[0]
    return y


def _spline(image, coordinates, *, order, mode, cval=0.0, prefilter=True, derivative=()):
    """SciPy's value; derivatives are central differences of it, taken in long steps of the polynomial's own degree."""
    if not any(derivative):
        return scipy.ndimage.map_coordinates(image, coordinates, order=order, mode=mode, cval=cval, prefilter=prefilter)
    axis = next(d for d, m in enumerate(derivative) if m)
    lower = tuple(m - (d == axis) for d, m in enumerate(derivative))
    step = 1e-5 * np.eye(len(coordinates))[axis].reshape(-1, *[1] * (coordinates.ndim - 1))
    up, down = (
        _spline(image, coordinates + s, order=order, mode=mode, cval=cval, prefilter=prefilter, derivative=lower) for s in (step, -step)
    )
    return (up - down) / 2e-5


_MODES = ("constant", "nearest", "mirror", "reflect", "wrap", "grid-constant", "grid-wrap", "grid-mirror")
_POINTS = {"low": -1.7, "high": 6.3, "distinct": True}

SAMPLES = {
    "_linear_map": [
        Sample((4,), map=Matrix(np.arange(12.0).reshape(3, 4) - 5)),
        Sample((2, 3), map=Matrix(np.eye(3))),
    ],
    "_full_convolution": [
        Sample((5,), (3,)),
        Sample((2,), (4,), method="direct"),
        Sample((3, 4), (2, 3)),
        Sample((3, 4), (1, 3)),
        Sample((3, 4), (1, 1)),
        Sample((3, 4), (2, 2), method="fft"),
    ],
    "_valid_correlation": [
        Sample((5,), (3,)),
        Sample((5,), (5,), method="direct"),
        Sample((4, 5), (2, 3)),
        Sample((2, 4, 3), (1, 4, 1)),
        Sample((4, 5), (1, 2)),
        Sample((4, 4), (2, 2), method="fft"),
    ],
    "_all_pole_filter": [
        Sample(Data(3, low=1.0, high=1.5), (6,)),
        Sample(Data(2, low=1.0, high=1.5), (2, 5)),
        Sample(Data(4, low=1.0, high=1.5), (3, 2)),
        Sample(Data(1, low=1.0, high=1.5), (3,)),
    ],
    "_spline_values": [
        *[Sample((5,), Data(1, 7, **_POINTS), order=3, mode=mode, cval=0.5, complex=False) for mode in _MODES],
        *[Sample((4, 5), Data(2, 6, **_POINTS), order=order, mode="mirror", complex=False) for order in (1, 2, 4, 5)],
        Sample((5,), Data(1, 4, **_POINTS), order=3, mode="reflect", prefilter=False, complex=False),
    ],
    "_spline_spread": [
        *[
            Sample((7,), Data(1, 7, **_POINTS), shape=(5,), order=order, mode=mode, complex=False)
            for order, mode in product((2, 3), _MODES)
        ],
        Sample((6,), Data(2, 6, **_POINTS), shape=(4, 5), order=3, mode="nearest", complex=False),
    ],
}


def _spread(values, coordinates, *, shape, order, mode, prefilter=True, derivative=()):
    """By the definition of the adjoint: the value of a spline through each unit image."""
    found = np.zeros(shape)
    for i in np.ndindex(tuple(shape)):
        unit = np.zeros(shape)
        unit[i] = 1.0
        found[i] = (values * _spline(unit, coordinates, order=order, mode=mode, prefilter=prefilter)).sum()
    return found


ORACLES = {
    "_linear_map": lambda x, map: x @ map.matrix.T,
    "_full_convolution": _full,
    "_valid_correlation": _valid,
    "_all_pole_filter": _filtered,
    "_spline_values": _spline,
    "_spline_spread": _spread,
}
