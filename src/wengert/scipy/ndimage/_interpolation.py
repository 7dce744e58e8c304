"""Splines through images, and geometric transformations."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert import dtypes
from wengert._forks import import_late
from wengert.array_functions.table import checked_axis, detached, tensor, w
from wengert.core.tensor import TensorBase
from wengert.ops.faces import tensor_face as F
from wengert.ops.linear_maps import spline_filter_adjoint
from wengert.scipy._frame import operands
from wengert.scipy.ndimage._filters import _each, image_of

__all__ = [
    "affine_transform", "geometric_transform", "map_coordinates", "rotate", "shift", "spline_filter", "spline_filter1d", "zoom",
]  # fmt: skip

theirs = import_late("scipy.ndimage")


class _SplineFilter:
    """The map from lines to the coefficients of their splines, as _linear_map takes it; or its adjoint."""

    def __init__(self, order: int, axis: int, mode: str, is_adjoint: bool = False) -> None:
        self.settings = (order, axis, mode)
        self.is_adjoint = is_adjoint

    @property
    def adjoint(self) -> _SplineFilter:
        return _SplineFilter(*self.settings, not self.is_adjoint)

    def apply(self, x: Any) -> Any:
        order, axis, mode = self.settings
        if self.is_adjoint:
            return spline_filter_adjoint(x, order, axis, mode).astype(x.dtype)
        return theirs.spline_filter1d(x, order, axis, output=x.dtype, mode=mode)


def spline_filter1d(input, order=3, axis=-1, mode="mirror"):
    (input,) = operands(input)
    _check_order(order)
    if order in (0, 1):
        return input.clone()
    wide = dtypes.complex128 if input.is_complex() else dtypes.float64
    return F._linear_map(input.to(wide), map=_SplineFilter(order, checked_axis(axis, input.ndim), mode))


def spline_filter(input, order=3, mode="mirror"):
    if order < 2 or order > 5:
        raise RuntimeError("spline order not supported")
    for axis in range(image_of(input).ndim):
        input = spline_filter1d(input, order, axis, mode)
    return input


def _check_order(order: int) -> None:
    if order < 0 or order > 5:
        raise RuntimeError("spline order not supported")


def map_coordinates(input, coordinates, order=3, mode="constant", cval=0.0, prefilter=True):
    input = image_of(input)
    coordinates = _coordinates(coordinates)
    _check_order(order)
    if input.ndim < 1:
        raise RuntimeError("input and output rank must be > 0")
    if coordinates.ndim < 1 or coordinates.shape[0] != input.ndim:
        raise RuntimeError("invalid shape for coordinate array")
    return F._spline_values(input, coordinates, order=order, mode=mode, cval=cval, prefilter=bool(prefilter))


def _coordinates(x: Any) -> Any:
    """Return coordinates as a tensor of float64."""
    x = tensor(x if isinstance(x, (TensorBase, list, tuple)) else np.asarray(x))
    if x.is_complex():
        raise TypeError("Complex type not supported")
    return x.to(dtypes.float64)


def _grid(shape: Any) -> Any:
    """The coordinates of all elements of an array: (D, *shape)."""
    return w.as_tensor(np.indices(tuple(shape), dtype=np.float64))


def geometric_transform(
    input, mapping, output_shape=None, order=3, mode="constant", cval=0.0, prefilter=True, extra_arguments=(), extra_keywords=None
):
    input = image_of(input)
    shape = tuple(input.shape) if output_shape is None else tuple(output_shape)
    places = [mapping(place, *extra_arguments, **(extra_keywords or {})) for place in np.ndindex(shape)]
    rows = [w.stack([_coordinates(x) for x in place]) for place in places]
    coordinates = w.reshape(w.movedim(w.stack(rows), 0, -1), (input.ndim, *shape))
    return map_coordinates(input, coordinates, order, mode, cval, prefilter)


def affine_transform(input, matrix, offset=0.0, output_shape=None, order=3, mode="constant", cval=0.0, prefilter=True):
    input, matrix, offset = image_of(input), _coordinates(matrix), _coordinates(offset)
    ndim = input.ndim
    shape = tuple(input.shape) if output_shape is None else tuple(output_shape)
    if matrix.ndim == 2 and matrix.shape[1] == ndim + 1 and matrix.shape[0] in (ndim, ndim + 1):
        matrix, offset = matrix[:ndim, :ndim], matrix[:ndim, ndim]
    if matrix.ndim not in (1, 2) or matrix.shape[0] != ndim:
        raise RuntimeError("affine matrix has wrong number of rows")
    if matrix.ndim == 2 and matrix.shape[1] != len(shape):
        raise RuntimeError("affine matrix has wrong number of columns")
    grid = _grid(shape)
    flat = w.reshape(grid, (len(shape), -1))
    moved = matrix @ flat if matrix.ndim == 2 else matrix[:, None] * flat
    moved = moved + w.reshape(w.broadcast_to(offset, (ndim,)), (-1, 1))
    return map_coordinates(input, w.reshape(moved, (ndim, *shape)), order, mode, cval, prefilter)


def shift(input, shift, order=3, mode="constant", cval=0.0, prefilter=True):
    input = image_of(input)
    shifts = _each(shift, [*range(input.ndim)])
    offset = w.stack([-_coordinates(s) for s in shifts.values()])
    return affine_transform(input, np.ones(input.ndim), offset, None, order, mode, cval, prefilter)


def zoom(input, zoom, order=3, mode="constant", cval=0.0, prefilter=True, *, grid_mode=False):
    input = image_of(input)
    factors = list(_each(detached(zoom), list(range(input.ndim))).values())
    shape = [round(n * float(factor)) for n, factor in zip(input.shape, factors, strict=True)]
    scales, offsets = [], []
    for n, m in zip(input.shape, shape, strict=True):
        step = (n / m if m else 1.0) if grid_mode else ((n - 1) / (m - 1) if m > 1 else 1.0)
        scales.append(step)
        offsets.append(0.5 * step - 0.5 if grid_mode else 0.0)
    grid = _grid(shape)
    column = (input.ndim,) + (1,) * input.ndim
    places = grid * w.as_tensor(np.reshape(scales, column)) + w.as_tensor(np.reshape(offsets, column))
    if not grid_mode:  # the last place is the last element, however the products are rounded
        last = w.as_tensor(np.reshape(np.array(input.shape) - 1.0, column))
        places = w.minimum(places, last)
    return map_coordinates(input, places, order, mode, cval, prefilter)


def rotate(input, angle, axes=(1, 0), reshape=True, order=3, mode="constant", cval=0.0, prefilter=True):
    input = image_of(input)
    if input.ndim < 2:
        raise ValueError("input array should be at least 2D")
    first, second = sorted(checked_axis(int(d), input.ndim) for d in axes)
    turn = w.deg2rad(_coordinates(angle))
    c, s = w.cos(turn), w.sin(turn)
    matrix = w.stack([w.stack([c, s]), w.stack([-s, c])])
    sizes = np.array([input.shape[first], input.shape[second]])
    out = sizes
    if reshape:
        cosine, sine = _cosine_and_sine(detached(angle))
        corners = np.array([[cosine, sine], [-sine, cosine]]) @ [[0, 0, sizes[0], sizes[0]], [0, sizes[1], 0, sizes[1]]]
        out = (np.ptp(corners, axis=1) + 0.5).astype(int)
    middle = w.as_tensor((out - 1) / 2)
    offset = w.as_tensor((sizes - 1) / 2) - matrix @ middle
    grid = w.reshape(_grid(out), (2, -1))
    places = w.reshape(matrix @ grid + offset[:, None], (2, *[int(n) for n in out]))
    planes = w.movedim(input, (first, second), (-2, -1))
    turned = [
        map_coordinates(plane, places, order, mode, cval, prefilter) for plane in w.reshape(planes, (-1, *planes.shape[-2:]))
    ]
    return w.movedim(w.reshape(w.stack(turned), (*planes.shape[:-2], *turned[0].shape)), (-2, -1), (first, second))


def _cosine_and_sine(angle: Any) -> tuple[float, float]:
    """Cosine and sine of an angle in degrees, exact for multiples of 90 degrees."""
    special = import_late("scipy.special")
    return float(special.cosdg(angle)), float(special.sindg(angle))
