"""Interpolation to another size, and grids of sampling points."""

from __future__ import annotations

from functools import lru_cache
from math import floor
from typing import Any

import numpy as np

from wengert import errors
from wengert.backends.selection import backend_of
from wengert.ops.indices import raw
from wengert.ops.registry import NONE, composite, linear, nondifferentiable
from wengert.ops.resampling import Table, resample
from wengert.ops.windows import as_cache_key

_FUNCTIONAL = ("nn.functional",)


# -- tables of the interpolation modes ---------------------------------------------------------------------------------


def _output_distance(source: int, size: int, scale: float | None, align_corners: bool) -> float:
    """Distance of neighbouring outputs, in inputs. scale: the factor that the user gave, or None."""
    if align_corners:
        return (source - 1) / (size - 1) if size > 1 else 0.0
    return 1.0 / scale if scale is not None and scale > 0 else source / size


def _cubic_kernel(t: Any, a: float) -> Any:
    """Cubic convolution kernel with parameter a at distances t >= 0."""
    xp = backend_of(t)
    near = ((a + 2) * t - (a + 3)) * t * t + 1
    far = ((t - 5) * t + 8) * t * a - 4 * a
    return xp.where(t < 1, near, xp.where(t < 2, far, 0.0))


def _nearest_table(source: int, size: int, scale: float | None, exact: bool) -> Table:
    step = np.float32(_output_distance(source, size, scale, False))
    place = np.arange(size, dtype=np.float32) + np.float32(0.5 if exact else 0.0)
    index = np.minimum(np.floor(place * step).astype(np.intp), source - 1)
    return Table.of_entries(source, size, np.arange(size), index, None)


def _smooth_table(source: int, size: int, scale: float | None, align_corners: bool, cubic: bool) -> Table:
    """Table of linear interpolation between two inputs, or cubic convolution of four; the outermost inputs are repeated."""
    step = _output_distance(source, size, scale, align_corners)
    output_index = np.arange(size)
    place = output_index * step if align_corners else (output_index + 0.5) * step - 0.5
    if not cubic:
        place = np.maximum(place, 0)
    first = np.floor(place).astype(np.intp)
    part = place - first
    if cubic:
        taps, weights = range(-1, 3), [_cubic_kernel(np.abs(part - t), -0.75) for t in range(-1, 3)]
    else:
        taps, weights = range(2), [1 - part, part]
    inputs = np.concatenate([np.clip(first + t, 0, source - 1) for t in taps])
    return Table.of_entries(source, size, np.tile(output_index, len(weights)), inputs, np.concatenate(weights))


def _antialiased_table(source: int, size: int, scale: float | None, align_corners: bool, cubic: bool) -> Table:
    """Table of an interpolation whose kernel is stretched over all inputs of an output; its weights sum to 1."""
    step = _output_distance(source, size, scale, align_corners)
    stretch = max(step, 1.0)
    reach = (2.0 if cubic else 1.0) * stretch
    centre = step * (np.arange(size) + 0.5)
    first = np.maximum((centre - reach + 0.5).astype(np.intp), 0)
    counts = np.minimum((centre + reach + 0.5).astype(np.intp), source) - first
    output_index = np.repeat(np.arange(size), counts)
    places = np.arange(output_index.size) + np.repeat(first - (np.cumsum(counts) - counts), counts)
    distance = np.abs(places - centre[output_index] + 0.5) / stretch
    found = _cubic_kernel(distance, -0.5) if cubic else np.maximum(1 - distance, 0)
    weights = found / np.bincount(output_index, found, size)[output_index]
    return Table.of_entries(source, size, output_index, places, weights)


@lru_cache(maxsize=256)
def _table(mode: str, source: int, size: int, scale: float | None, align_corners: bool, antialias: bool) -> Table:
    if mode.startswith("nearest"):
        return _nearest_table(source, size, scale, mode == "nearest-exact")
    make = _antialiased_table if antialias else _smooth_table
    return make(source, size, scale, align_corners, mode == "bicubic")


# -- interpolate -------------------------------------------------------------------------------------------------------

_NODES = {
    "nearest": "UpsampleNearest{}D", "nearest-exact": "UpsampleNearestExact{}D", "linear": "UpsampleLinear{}D",
    "bilinear": "UpsampleBilinear{}D", "bicubic": "UpsampleBicubic{}D", "trilinear": "UpsampleTrilinear{}D",
}  # fmt: skip
_DIMS = {"linear": 1, "bilinear": 2, "bicubic": 2, "trilinear": 3}


def _output_sizes(
    shape: tuple[int, ...], size: Any, scale_factor: Any, recompute: Any
) -> tuple[tuple[int, ...], tuple[float | None, ...]]:
    """Return (size of the output, scale factor of each dimension or None if the sizes determine it)."""
    spatial = list(shape[2:])
    dims = len(spatial)
    if size is not None and scale_factor is not None:
        raise errors.ElementError("only one of size or scale_factor should be defined")
    if size is None and scale_factor is None:
        raise errors.ElementError("either size or scale_factor should be defined")
    if size is not None:
        if recompute:
            raise errors.ElementError("recompute_scale_factor is not meaningful with an explicit size.")
        given = tuple(size) if isinstance(size, (tuple, list)) else (size,) * dims
        if len(given) != dims:
            raise errors.ElementError(
                "Input and output must have the same number of spatial dimensions, but got input with spatial dimensions of "
                f"{spatial} and output size of {given}. Please provide input tensor in (N, C, d1, d2, ...,dK) format and "
                "output size in (o1, o2, ...,oK) format."
            )
        return tuple([int(n) for n in given]), (None,) * dims
    factors = tuple(scale_factor) if isinstance(scale_factor, (tuple, list)) else (scale_factor,) * dims
    if len(factors) != dims:
        raise errors.ElementError(
            "Input and scale_factor must have the same number of spatial dimensions, but got input with spatial dimensions "
            f"of {spatial} and scale_factor of shape {factors}. Please provide input tensor in (N, C, d1, d2, ...,dK) format "
            "and scale_factor in (s1, s2, ...,sK) format."
        )
    found = tuple([floor(float(n) * f) for n, f in zip(spatial, factors, strict=True)])
    return found, (None,) * dims if recompute else tuple([float(f) for f in factors])


def _check_mode(ndim: int, mode: str, align_corners: Any, antialias: bool) -> None:
    if mode not in _DIMS and align_corners is not None:
        raise errors.ElementError(
            "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear"
        )
    if antialias and not (mode in ("bilinear", "bicubic") and ndim == 4):
        raise errors.ElementError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D tensor as input"
        )
    dims = _DIMS.get(mode)
    known = mode in _NODES or mode == "area"
    if not known or ndim not in (3, 4, 5) or (mode == "bicubic" and ndim != 4):
        raise errors.UnsupportedModeError(
            f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {ndim}D) for the modes: nearest | linear | "
            f"bilinear | bicubic | trilinear | lanczos | area | nearest-exact (got {mode})"
        )
    if dims is not None and ndim != dims + 2:
        raise errors.UnsupportedModeError(f"Got {ndim}D input, but {mode} mode needs {dims + 2}D input")


@lru_cache(maxsize=256, typed=True)
def _plan(
    shape: tuple[int, ...], size: Any, scale_factor: Any, mode: str, align_corners: Any, recompute: Any, antialias: bool
) -> tuple[tuple[int, ...], tuple[Table, ...] | None]:
    """Return (size of the output, table of each dimension, or None for mode "area"). Raises for arguments that do not fit."""
    _check_mode(len(shape), mode, align_corners, antialias)
    sizes, scales = _output_sizes(shape, size, scale_factor, recompute)
    if mode == "area":
        return sizes, None
    if min(*sizes, *shape[2:]) <= 0:
        before, after = (
            ", ".join([f"{c}: {n}" for c, n in zip("DHW"[-len(sizes) :], size, strict=True)]) for size in (shape[2:], sizes)
        )
        raise errors.ShapeError(f"Input and output sizes should be greater than 0, but got input ({before}) output ({after})")
    if not shape[1]:
        raise errors.ShapeError(f"Non-empty {len(shape)}D data tensor expected but got a tensor with sizes {list(shape)}")
    rows = zip(shape[2:], sizes, scales, strict=True)
    return sizes, tuple([_table(mode, n, m, s, bool(align_corners), antialias) for n, m, s in rows])


@composite(namespaces=_FUNCTIONAL)
def interpolate(
    F, input, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None, antialias=False
):
    """Resample the spatial dimensions of input to another size.

    input: (n, channels, *spatial) with one to three spatial dimensions, floating; or uint8 for the modes nearest,
    nearest-exact, bilinear and bicubic. uint8 images are weighted in 16-bit fixed point and rounded after each dimension.
    size: the new spatial size, an int or a tuple with one int per dimension. scale_factor: the factor instead of the
    size. recompute_scale_factor: compute with the factor that the rounded sizes give. mode: "nearest", "nearest-exact",
    "area" (means), "linear" (1-D), "bilinear" and "bicubic" (2-D), "trilinear" (3-D). align_corners: for the linear and
    cubic modes, align the centres of the outermost elements instead of their edges. antialias: for bilinear and bicubic,
    average over all inputs if the size shrinks. Raises ValueError and
    NotImplementedError for arguments that do not fit, RuntimeError for an empty input.

    Derivative: for each input the sum over the outputs of their cotangents times the input's weight."""
    shape, dtype = raw(input).shape, raw(input).dtype
    options = (mode, align_corners, recompute_scale_factor, antialias)
    sizes, tables = _plan(shape, as_cache_key(size), as_cache_key(scale_factor), *options)
    dims = len(shape) - 2
    if tables is None:
        pool = (F.adaptive_avg_pool1d, F.adaptive_avg_pool2d, F.adaptive_avg_pool3d)[dims - 1]
        return pool(input, sizes)
    of_bytes = dtype == np.uint8 and mode in ("bilinear", "bicubic")
    if dtype.kind in "bic" or (dtype.kind == "u" and (dtype.itemsize > 1 or mode in _DIMS) and not of_bytes):
        raise errors.unsupported_dtype(_NODES[mode].format(dims), dtype)
    if of_bytes:
        return F._resample_bytes(input, tables=tables)
    return F._resample(input, tables=tables, node=_NODES[mode].format(dims) + ("Aa" if antialias else "") + "Backward0")


@nondifferentiable(promote=NONE, method=False, namespaces=())
def _resample_bytes(xp, x, *, tables):
    """Resample a uint8 x along its last dimensions in fixed point, the last one first, rounding to uint8 after each."""
    for axis in reversed(range(x.ndim)[-len(tables) :]):
        table = tables[axis - x.ndim]
        if table.size != x.shape[axis]:
            weights, bits = table.in_fixed_point()
            sums = resample(xp, x.astype(np.int64), axis, weights)
            x = xp.clip((sums + (1 << bits >> 1)) >> bits, 0, 255).astype(np.uint8)
    return x.copy()


@composite(namespaces=_FUNCTIONAL)
def upsample(F, input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    """Older name of interpolate(). Derivative: as interpolate."""
    return F.interpolate(input, size, scale_factor, mode, align_corners)


@composite(namespaces=_FUNCTIONAL)
def upsample_nearest(F, input, size=None, scale_factor=None):
    """Older name of interpolate() with mode="nearest". Derivative: as interpolate."""
    return F.interpolate(input, size, scale_factor, "nearest")


@composite(namespaces=_FUNCTIONAL)
def upsample_bilinear(F, input, size=None, scale_factor=None):
    """Older name of interpolate() with mode="bilinear" and align_corners=True. Derivative: as interpolate."""
    return F.interpolate(input, size, scale_factor, "bilinear", True)


# -- grids -------------------------------------------------------------------------------------------------------------


def _base_grid(xp: Any, size: tuple[int, ...], align_corners: bool, dtype: Any) -> Any:
    """Coordinates (x, y, 1) or (x, y, z, 1) of the pixels of an image of this size, in [-1, 1], one row per pixel."""
    steps = []
    for n in size:
        steps.append(xp.linspace(-1, 1, n) if n > 1 else xp.zeros(1))
        if not align_corners:
            steps[-1] = steps[-1] * (n - 1) / n
    mesh = xp.meshgrid(*steps, indexing="ij")
    return xp.stack([*[m.reshape(-1) for m in reversed(mesh)], xp.ones(mesh[0].size)], axis=1).astype(dtype)


@linear(promote=NONE, node="AffineGridGeneratorBackward0", complex=False, method=False, namespaces=())
def _affine_grid(xp, theta, *, size, align_corners):
    """Apply theta, (n, d, d + 1), to the pixel coordinates of an image of this size; returns (n, *size, d).

    Derivative: a sum over the pixels."""
    wide = xp.factor(theta, True)
    base = _base_grid(xp, size, align_corners, wide.dtype)
    return xp.matmul(base, wide.swapaxes(1, 2)).reshape(theta.shape[0], *size, len(size)).astype(theta.dtype, copy=False)


@_affine_grid.vjp("theta")
def _(F, ct, size, align_corners):
    base = _base_grid(backend_of(ct), size, align_corners, raw(ct).dtype)
    rows = F.reshape(ct, shape=(ct.shape[0], base.shape[0], len(size)))
    return F.matmul(F.transpose(rows, dim0=1, dim1=2), base)


@composite(namespaces=_FUNCTIONAL)
def affine_grid(F, theta, size, align_corners=None):
    """Sampling points for `grid_sample` of images that are transformed by affine matrices theta.

    theta: (n, 2, 3) for size (n, c, height, width), or (n, 3, 4) for size (n, c, depth, height, width), floating; returns
    (n, height, width, 2) or (n, depth, height, width, 3). align_corners: -1 and 1 are the centres of the outermost pixels
    instead of their edges. Raises ValueError for shapes that do not fit.

    Derivative: in theta a sum over the points."""
    size = tuple([int(n) for n in size])
    if raw(theta).dtype.kind not in "fV":
        raise errors.ElementError(f"Expected theta to have floating point type, but got {errors.dtype_name(raw(theta).dtype)}")
    if len(size) not in (4, 5):
        raise errors.UnsupportedModeError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got size "
            f"{tuple(size)}."
        )
    dims = len(size) - 2
    if theta.ndim != 3 or tuple(theta.shape[1:]) != (dims, dims + 1):
        raise errors.ElementError(
            f"Expected a batch of {dims}D affine matrices of shape Nx{dims}x{dims + 1} for size {tuple(size)}. Got "
            f"torch.Size({list(theta.shape)})."
        )
    if min(size) <= 0:
        raise errors.ElementError(f"Expected non-zero, positive output size. Got {tuple(size)}")
    if theta.shape[0] != size[0]:
        points = dims + 1
        raise errors.ShapeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{size[0]}, {points}] but got: "
            f"[{theta.shape[0]}, {points}]."
        )
    return F._affine_grid(theta, size=size[2:], align_corners=bool(align_corners))
