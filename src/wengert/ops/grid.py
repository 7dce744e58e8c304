"""grid_sample: interpolation of images at arbitrary points.

An output is a sum of the elements around its point, each times a weight. The weight is a polynomial of the distance between
the point and the element. The set of elements is piecewise constant in the point.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from itertools import product
from math import prod
from operator import mul
from typing import Any

import numpy as np

from wengert import errors
from wengert.backends.selection import backend_of, face_of, may_hold
from wengert.core.watched import differs_on_arrays
from wengert.kernels import windows as kernels
from wengert.ops.indices import raw
from wengert.ops.registry import NONE, composite, general

_MODES = {"bilinear": 0, "nearest": 1, "bicubic": 2}
_PADDINGS = {"zeros": 0, "border": 1, "reflection": 2}
_FAR_AWAY = 1e6  # in elements: positions this far are outside any image
_CUBIC_PARAMETER = -0.75  # the parameter of the cubic convolution kernel


# -- points as positions among the elements ----------------------------------------------------------------------------


def _reflect(place: Any, n: int, align_corners: bool) -> tuple[Any, Any]:
    """Reflect positions at the edges as often as needed. Returns (positions, their derivative: 1, -1 or 0)."""
    xp = backend_of(place)
    low, high = (0.0, n - 1.0) if align_corners else (-0.5, n - 0.5)
    span = high - low
    if span <= 0:
        return xp.zeros_like(place), xp.zeros_like(place)
    offset = place - low
    sign = xp.where(offset < 0, -1.0, 1.0)
    turns, rest = xp.divmod(xp.abs(offset), span)
    odd = turns % 2 == 1
    return xp.where(odd, span - rest, rest) + low, xp.where(odd, -sign, sign)


def _bring_inside(place: Any, n: int, padding: str, align_corners: bool) -> tuple[Any, Any]:
    """Move positions into the image as padding says. Returns (positions, their derivative: 1, -1 or 0)."""
    xp = backend_of(place)
    slope = xp.ones_like(place)
    if padding == "reflection":
        place, slope = _reflect(place, n, align_corners)
    if padding != "zeros":
        slope = xp.where((place <= 0) | (place >= n - 1), 0.0, slope)
        place = xp.clip(place, 0, n - 1)
    return place, slope


def _positions(F: Any, grid: Any, d: int, n: int, options: tuple[str, str, bool]) -> tuple[Any, Any]:
    """Return (positions along dimension d as a function of grid, their derivative, an array). n: the image's size along d."""
    xp = backend_of(grid)
    mode, padding, align_corners = options
    points = F.select(grid, dim=-1, index=d)
    array = raw(points)
    finite, far = xp.isfinite(array), xp.zeros_like(array)
    if may_hold(~finite):  # NaN and infinities become constant positions far outside
        points, array = F.where(finite, points, 0), xp.where(finite, array, 0)
        far = xp.where(finite, 0, xp.where(raw(F.select(grid, dim=-1, index=d)) > 0, _FAR_AWAY, -_FAR_AWAY))
    scale = (n - 1) / 2 if align_corners else n / 2
    place, slope = (array + 1) * scale - (0 if align_corners else 0.5) + far, xp.ones_like(array)
    if mode != "bicubic":
        place, slope = _bring_inside(place, n, padding, align_corners)
    slope = (slope * scale).astype(array.dtype)
    # points - array is 0: this term only carries the derivative.
    return (points - array) * slope + xp.clip(place, -_FAR_AWAY, _FAR_AWAY).astype(array.dtype), slope


def _cubic_weights(t: Any) -> list[tuple[Any, Any]]:
    """Return (weight, derivative of the weight) of the elements at -1, 0, 1 and 2, for positions 0 <= t < 1."""
    a, s = _CUBIC_PARAMETER, 1 - t
    far = ((a * (t + 1) - 5 * a) * (t + 1) + 8 * a) * (t + 1) - 4 * a, (3 * a * (t + 1) - 10 * a) * (t + 1) + 8 * a
    near = ((a + 2) * t - (a + 3)) * t * t + 1, (3 * (a + 2) * t - 2 * (a + 3)) * t
    next_near = ((a + 2) * s - (a + 3)) * s * s + 1, -(3 * (a + 2) * s - 2 * (a + 3)) * s
    next_far = ((a * (s + 1) - 5 * a) * (s + 1) + 8 * a) * (s + 1) - 4 * a, -((3 * a * (s + 1) - 10 * a) * (s + 1) + 8 * a)
    return [far, near, next_near, next_far]


def _taps(F: Any, grid: Any, d: int, n: int, options: tuple[str, str, bool]) -> list[tuple[Any, Any, Any, Any]]:
    """Return (index, whether it is in the image, weight, derivative of the weight) of each tap along dimension d.

    For mode "nearest" weight and derivative are None."""
    xp = backend_of(grid)
    mode, padding, align_corners = options
    place, slope = _positions(F, grid, d, n, options)
    array = raw(place)
    if mode == "nearest":
        index = xp.rint(array)
        return [(_element_index(index, n), (index >= 0) & (index < n), None, None)]
    first = xp.floor(array)
    t = place - first
    if mode == "bicubic":
        weights = _cubic_weights(t)
        starts = [first - 1, first, first + 1, first + 2]
    else:
        weights, starts = [(1 - t, -1.0), (t, 1.0)], [first, first + 1]
    found = []
    for index, (weight, derivative) in zip(starts, weights, strict=True):
        if mode == "bicubic":
            index = xp.rint(_bring_inside(index, n, padding, align_corners)[0])
        found.append((_element_index(index, n), (index >= 0) & (index < n), weight, derivative * slope))
    return found


def _element_index(place: Any, n: int) -> Any:
    """Clip positions to 0 <= index < n and convert them to ints."""
    xp = backend_of(place)
    return xp.minimum(xp.maximum(place, 0), n - 1).astype(np.int64)  # CuPy clips no bfloat16


def _corners(F: Any, grid: Any, size: tuple[int, ...], options: tuple[str, str, bool]) -> Iterator[tuple[Any, Any, list[Any]]]:
    """For each element around the points, yield (its index in the flattened image, its weight, the weight's derivatives).

    grid: (n, points, dims), its last dimension ordered from the last dimension of the image to the first. All results are
    (n, points); the derivatives are a list with one for each dimension of the image, empty for mode "nearest"."""
    xp = backend_of(grid)
    dims = len(size)
    rows = [_taps(F, grid, dims - 1 - d, size[d], options) for d in range(dims)]
    for corner in product(*rows):
        index: Any = 0
        inside: Any = True
        for d, (place, known, _, _) in enumerate(corner):
            index, inside = index * size[d] + place, inside & known
        mask = xp.asarray(inside).astype(raw(grid).dtype)
        weights = [weight for _, _, weight, _ in corner]
        if weights[0] is None:
            yield index, mask, []
            continue
        derivatives = []
        for d in range(dims):
            others = reduce(mul, [weight for e, weight in enumerate(weights) if e != d])
            derivatives.append(others * (corner[d][3] * mask))  # CuPy's arrays take no tensors on their right
        total = reduce(mul, weights) * mask
        yield index, total, derivatives


# -- the operation -----------------------------------------------------------------------------------------------------


def _flatten_points(F: Any, x: Any, points: int) -> Any:
    """Reshape (n, channels, ...) to (n, channels, points)."""
    return F.reshape(x, shape=(x.shape[0], x.shape[1], points))


def _points_as_rows(F: Any, grid: Any) -> Any:
    """Reshape (n, ..., dims) to (n, points, dims)."""
    return F.reshape(grid, shape=(grid.shape[0], prod(grid.shape[1:-1]), grid.shape[-1]))


def _repeat_for_channels(index: Any, channels: int) -> Any:
    """Broadcast an index, (n, points), to (n, channels, points)."""
    xp = backend_of(index)
    return xp.broadcast_to(index[:, None], (index.shape[0], channels, index.shape[1]))


def _kernel_options(options: tuple[str, str, bool]) -> tuple[int, int, bool]:
    """Return options with the numbers by which the kernels know mode and padding_mode."""
    return _MODES[options[0]], _PADDINGS[options[1]], options[2]


def _node_name(inputs: tuple[Any, ...], params: Any) -> str:
    return f"GridSampler{inputs[1].shape[-1]}DBackward0"


@general(promote=NONE, node=_node_name, complex=False, method=False, namespaces=())
def _grid_sample(xp, x, grid, *, options):
    """grid_sample. options: (mode, padding_mode, align_corners)."""
    wide, places = (a.astype(xp.float32) if a.dtype.itemsize == 2 else a for a in (x, grid))
    found = kernels.sample_grid(wide, places, _kernel_options(options))
    if found is not None:
        return found.astype(x.dtype, copy=False)
    size, channels, points = x.shape[2:], x.shape[1], prod(grid.shape[1:-1])
    face = face_of(xp)
    flat, out = _flatten_points(face, wide, prod(size)), xp.zeros((x.shape[0], channels, points), wide.dtype)
    for index, weight, _ in _corners(face, _points_as_rows(face, places), size, options):
        read = face._at_places(flat, _repeat_for_channels(index, channels), size=(prod(size),))
        out += xp.where(weight[:, None] == 0, 0, read) * weight[:, None]
    return out.reshape(x.shape[0], channels, *grid.shape[1:-1]).astype(x.dtype, copy=False)


@_grid_sample.vjp("x")
@differs_on_arrays
def _(F, ct, x_shape, grid, options):
    found = None if F.is_tensor else kernels.sample_grid_adjoint(ct, grid, tuple(x_shape), _kernel_options(options))
    if found is not None:
        return found
    size, channels = tuple(x_shape[2:]), x_shape[1]
    flat, total = _flatten_points(F, ct, prod(grid.shape[1:-1])), None
    for index, weight, _ in _corners(F, _points_as_rows(F, grid), size, options):
        part = F._add_at_places(flat * F.unsqueeze(weight, dim=1), _repeat_for_channels(index, channels), size=(prod(size),))
        total = part if total is None else total + part
    return F.reshape(total, shape=tuple(x_shape))


@_grid_sample.vjp("grid")
@differs_on_arrays
def _(F, ct, x, grid, options):
    if options[0] == "nearest":
        return F.zeros_like(grid)
    found = None if F.is_tensor else kernels.sample_grid_moved(ct, x, grid, _kernel_options(options))
    if found is not None:
        return found
    size, channels = tuple(x.shape[2:]), x.shape[1]
    flat, image = _flatten_points(F, ct, prod(grid.shape[1:-1])), _flatten_points(F, x, prod(size))
    totals: list[Any] = [None] * len(size)
    for index, _, derivatives in _corners(F, _points_as_rows(F, grid), size, options):
        read = F._at_places(image, _repeat_for_channels(index, channels), size=(prod(size),))
        along = F.sum(flat * read, dim=1)
        for d, derivative in enumerate(derivatives):
            totals[d] = along * derivative if totals[d] is None else totals[d] + along * derivative
    return F.reshape(F.stack(totals[::-1], dim=-1), shape=tuple(grid.shape))


def _check_grid(x: Any, grid: Any, bicubic: bool) -> None:
    """Raise RuntimeError for shapes and dtypes that do not fit."""
    shape, points = tuple(x.shape), tuple(grid.shape)
    if len(points) and points[0] != shape[0]:
        raise errors.ShapeError(
            f"grid_sampler(): expected grid and input to have same batch size, but got input with sizes {list(shape)} and "
            f"grid with sizes {list(points)}"
        )
    if len(points) and points[-1] != len(shape) - 2:
        raise errors.ShapeError(
            f"grid_sampler(): expected grid to have size {len(shape) - 2} in last dimension, but got grid with sizes "
            f"{list(points)}"
        )
    if len(shape) not in (4, 5) or len(points) != len(shape):
        wanted = f"{len(shape)}D" if len(shape) in (4, 5) else "4D or 5D"
        raise errors.ShapeError(
            f"grid_sampler(): expected {wanted} input and grid with same number of dimensions, but got input with sizes "
            f"{list(shape)} and grid with sizes {list(points)}"
        )
    if bicubic and len(shape) != 4:
        raise errors.ShapeError("grid_sampler(): bicubic interpolation only supports 4D input")
    for d in range(2, len(shape)):
        if not shape[d]:
            raise errors.ShapeError(
                f"grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes {list(shape)} "
                f"with dimension {d} being empty"
            )
    if raw(x).dtype.kind not in "fV":
        raise errors.unsupported_dtype(f"grid_sampler_{len(shape) - 2}d_cpu", raw(x).dtype)
    if raw(x).dtype != raw(grid).dtype:
        raise errors.PromotionError(
            f"expected scalar type {errors.scalar_name(raw(x).dtype)} but found {errors.scalar_name(raw(grid).dtype)}"
        )


@composite(namespaces=("nn.functional",))
def grid_sample(F, input, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    """Interpolate input at the points of grid; returns (n, c, *points) for a grid (n, *points, dims).

    input: (n, c, height, width) with grid points (x, y), or (n, c, depth, height, width) with grid points (x, y, z);
    coordinates from -1 to 1 cover the image. input and grid: floating, of one dtype and one number of dimensions. mode:
    "bilinear" (trilinear for a volume), "nearest", or "bicubic" for images only. padding_mode: how to read outside of the
    image: "zeros", "border" (the nearest element) or "reflection". align_corners: whether -1 and 1 are the centres of the
    outermost elements; else they are their outer edges. Raises ValueError for an unknown mode, RuntimeError for shapes and
    dtypes that do not fit.

    Derivative: in input ct times the weights. In grid the derivative of the weights; 0 for a coordinate that is clipped to
    the outermost elements, and 0 for mode "nearest"."""
    if mode not in _MODES:
        raise errors.ElementError(
            f"nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'"
        )
    if padding_mode not in _PADDINGS:
        raise errors.ElementError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: "
            f"'{padding_mode}'"
        )
    _check_grid(input, grid, mode == "bicubic")
    return F._grid_sample(input, grid, options=(mode, padding_mode, bool(align_corners)))


@composite()
def grid_sampler(F, input, grid, interpolation_mode, padding_mode, align_corners):
    """`nn.functional.grid_sample` with numbers for the modes.

    interpolation_mode: 0 bilinear, 1 nearest, 2 bicubic. padding_mode: 0 zeros, 1 border, 2 reflection. Other parameters as
    in `nn.functional.grid_sample`.

    Derivative: as in `nn.functional.grid_sample`."""
    return F.grid_sample(input, grid, [*_MODES][interpolation_mode], [*_PADDINGS][padding_mode], align_corners)
