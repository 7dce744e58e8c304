"""Operations of SciPy's signals and images: convolutions, recursive filters, splines, and linear maps that a program gives.

Each operation runs a compiled function of SciPy. Its rules are operations of this module, so that they differentiate to any order.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from math import factorial
from typing import Any

import numpy as np

from wengert._forks import import_late
from wengert.backends.selection import backend_of
from wengert.ops.registry import INT_TO_FLOAT, NONE, bilinear, general, linear

_BEYOND = "torch has no functions of SciPy's signals and images"
_SETTINGS: dict[str, Any] = {"method": False, "namespaces": (), "beyond_torch": _BEYOND}




@linear(promote=INT_TO_FLOAT, **_SETTINGS)
def _linear_map(xp, x, *, map):
    """The array map.apply(x). map: an object with apply(array), a linear function, and adjoint, the object of its adjoint.

    Derivative: map.adjoint.apply(ct)."""
    return map.apply(x)


@_linear_map.vjp("x")
def _(F, ct, map):
    return F._linear_map(ct, map=map.adjoint)


# -- convolutions ------------------------------------------------------------------------------------------------------


@bilinear(promote=INT_TO_FLOAT, **_SETTINGS)
def _full_convolution(xp, a, b, *, method="auto"):
    """The sum over n of a[k - n] b[n], for all k. a: (N1, N2, ...), b: (M1, M2, ...); the result is (N1 + M1 - 1, ...).

    method: "direct", "fft", or "auto" for the faster one. Derivative: correlations of ct with the other array."""
    axis = _only_axis(b)
    if axis is not None and a.ndim > 1 and method != "fft":
        size = b.shape[axis]
        widened = xp.pad(a, [(size - 1, size - 1) if d == axis else (0, 0) for d in range(a.ndim)])
        return _along_axis(widened, xp.conj(xp.flip(b)).ravel(), axis)
    return import_late("scipy.signal").convolve(a, b, mode="full", method=method)


@_full_convolution.vjp("a")
def _(F, ct, b, method):
    return F._valid_correlation(ct, b, method=method)


@_full_convolution.vjp("b")
def _(F, ct, a, method):
    return F._valid_correlation(ct, a, method=method)


@bilinear(promote=INT_TO_FLOAT, **_SETTINGS)
def _valid_correlation(xp, a, b, *, method="auto"):
    """The sum over n of a[n + k] conj(b[n]), for all k for which b lies within a. The result is (N1 - M1 + 1, ...).

    Derivative: the convolution of ct with b; the conjugate correlation of a with ct."""
    axis = _only_axis(b)
    if axis is not None and a.ndim > 1 and method != "fft":
        return _along_axis(a, b.ravel(), axis)
    return import_late("scipy.signal").correlate(a, b, mode="valid", method=method)


@_valid_correlation.vjp("a")
def _(F, ct, b, method):
    return F._full_convolution(ct, b, method=method)


@_valid_correlation.vjp("b")
def _(F, ct, a, method):
    return F._valid_correlation(a, ct, method=method)


def _only_axis(b: Any) -> int | None:
    """The axis along which b varies, if it has one element along all others; else None."""
    long = [d for d, size in enumerate(b.shape) if size != 1]
    return long[0] if len(long) == 1 else 0 if b.ndim and not long else None


def _along_axis(a: Any, weights: Any, axis: int) -> Any:
    """Correlate a with real or complex weights along one axis, where they lie within a. SciPy conjugates the weights."""
    ndimage, size = import_late("scipy.ndimage"), len(weights)
    found = ndimage.correlate1d(a, weights, axis, mode="constant")
    start = size // 2
    return found[(slice(None),) * axis + (slice(start, start + a.shape[axis] - size + 1),)]


# -- recursive filters -------------------------------------------------------------------------------------------------


@general(promote=INT_TO_FLOAT, **_SETTINGS)
def _all_pole_filter(xp, a, u):
    """The solution y of a[0] y[n] + a[1] y[n - 1] + ... = u[n] along the last dimension. a: (K,), u: (..., N).

    Derivative: in u, the same filter run backward in time; in a, minus the correlation of that with y."""
    return import_late("scipy.signal").lfilter(xp.ones(1, a.dtype), a, u)


@_all_pole_filter.vjp("u")
def _(F, ct, a):
    return _backward_in_time(F, ct, a)


@_all_pole_filter.vjp("a")
def _(F, ct, a, out):
    back, lags = _backward_in_time(F, ct, a), a.shape[0]
    out = F.conj(out)
    terms = [F.sum(back[..., k:] * out[..., : out.shape[-1] - k]) for k in range(min(lags, out.shape[-1]))]
    found = -F.stack(terms)
    return found if len(terms) == lags else F.cat([found, F.zeros_like(a[len(terms) :])], dim=0)


def _backward_in_time(F: Any, ct: Any, a: Any) -> Any:
    return F.flip(F._all_pole_filter(F.conj(a), F.flip(ct, dims=(-1,))), dims=(-1,))


# -- splines -----------------------------------------------------------------------------------------------------------

# SciPy pads an image before it computes the coefficients of a spline in these modes, by this many elements on each side.
_PADDED = ("nearest", "grid-constant")
_PADDING = 12
_SHORT_LINE = 40  # lines of more elements are filtered with errors below 1e-15


@general(promote=NONE, **_SETTINGS)
def _spline_values(xp, image, coordinates, *, order, mode, cval=0.0, prefilter=True, derivative=()):
    """The spline through the elements of an image, at coordinates. image: (N1, ..., ND), coordinates: (D, ...), in elements.

    order: 0 to 5. mode: one of SciPy's, for coordinates outside the image. derivative: the order of differentiation along each
    axis; () for the value. prefilter=False: the image holds the coefficients of the spline.

    Derivative: in the image, ct times the weight of each element; in coordinates, ct times the slopes."""
    if not any(derivative):
        ndimage = import_late("scipy.ndimage")
        return ndimage.map_coordinates(image, coordinates, order=order, mode=mode, cval=cval, prefilter=prefilter)
    coefficients = _coefficients(image, order, mode, cval, prefilter)
    taps = _Taps(image.shape, coefficients.shape, coordinates, order, mode, derivative)
    return taps.gather(coefficients, cval).astype(image.dtype)


@_spline_values.vjp("image")
def _(F, ct, image_shape, coordinates, order, mode, prefilter, derivative):
    settings = {"order": order, "mode": mode, "prefilter": prefilter, "derivative": derivative}
    return F._spline_spread(ct, coordinates, shape=image_shape, **settings)


@_spline_values.vjp("coordinates")
def _(F, ct, image, coordinates, order, mode, cval, prefilter, derivative):
    settings = {"order": order, "mode": mode, "cval": cval, "prefilter": prefilter}
    return _slopes(F, ct, image, coordinates, derivative, settings)


@general(promote=NONE, **_SETTINGS)
def _spline_spread(xp, values, coordinates, *, shape, order, mode, prefilter=True, derivative=()):
    """The adjoint of _spline_values in the image, for values at coordinates. The result is an image of this shape.

    Derivative: in values, the spline through ct; in coordinates, values times the slopes of the spline through ct."""
    padded = _padding(order, mode, prefilter)
    taps = _Taps(shape, tuple([n + 2 * padded for n in shape]), coordinates, order, mode, derivative)
    return _adjoint_of_coefficients(taps.spread(values), order, mode, prefilter).astype(values.dtype)


@_spline_spread.vjp("values")
def _(F, ct, coordinates, order, mode, prefilter, derivative):
    return F._spline_values(ct, coordinates, order=order, mode=mode, prefilter=prefilter, derivative=derivative)


@_spline_spread.vjp("coordinates")
def _(F, ct, values, coordinates, order, mode, prefilter, derivative):
    return _slopes(F, values, ct, coordinates, derivative, {"order": order, "mode": mode, "prefilter": prefilter})


def _slopes(F: Any, ct: Any, image: Any, coordinates: Any, derivative: tuple[int, ...], settings: dict[str, Any]) -> Any:
    """The cotangent of coordinates: ct times the slope along each axis."""
    axes = range(len(coordinates))
    slopes = []
    for axis in axes:
        raised = tuple([m + (d == axis) for d, m in enumerate(derivative or (0,) * len(axes))])
        slopes.append(F._spline_values(image, coordinates, derivative=raised, **settings))
    return F.stack([ct * F.conj(slope) for slope in slopes])


def _padding(order: int, mode: str, prefilter: bool) -> int:
    return _PADDING if prefilter and order > 1 and mode in _PADDED else 0


def _coefficients(image: Any, order: int, mode: str, cval: float, prefilter: bool) -> Any:
    """The coefficients of the spline through the elements of an image, which may be padded first."""
    xp = backend_of(image)
    if not prefilter or order < 2:
        return image
    if mode == "nearest":
        image = xp.pad(image, _PADDING, "edge")
    elif mode == "grid-constant":
        image = xp.pad(image, _PADDING, constant_values=cval)
    return import_late("scipy.ndimage").spline_filter(image, order, output=_wide(image.dtype), mode=mode)


def _wide(dtype: Any) -> Any:
    return np.complex128 if dtype.kind == "c" else np.float64


def _adjoint_of_coefficients(x: Any, order: int, mode: str, prefilter: bool) -> Any:
    """The adjoint of _coefficients."""
    xp = backend_of(x)
    if not prefilter or order < 2:
        return x
    for axis in range(x.ndim):
        x = spline_filter_adjoint(x, order, axis, mode)
    padded = _padding(order, mode, prefilter)
    for axis in range(x.ndim) if padded else ():
        x = xp.moveaxis(x, axis, 0)
        inner = x[padded:-padded].copy()
        if mode == "nearest":
            inner[0] += x[:padded].sum(0)
            inner[-1] += x[-padded:].sum(0)
        x = xp.moveaxis(inner, 0, axis)
    return x


def spline_filter_adjoint(x: Any, order: int, axis: int, mode: str) -> Any:
    """The adjoint of scipy.ndimage.spline_filter1d.

    The filter solves a banded system. Its matrix is symmetric, but for borders that mirror about the middle of the first element:
    there it is symmetric after the first and the last row are halved. At borders that mirror between elements, SciPy solves the
    system of a short line with errors up to 1e-2: the adjoint of what it computes is the transpose of the matrix itself."""
    xp = backend_of(x)
    filter1d = import_late("scipy.ndimage").spline_filter1d
    size = x.shape[axis]
    if order < 2 or size < 2:
        return x
    if size <= _SHORT_LINE:
        matrix = filter1d(xp.eye(size), order, 0, mode=mode)
        return xp.moveaxis(xp.tensordot(matrix, x, (0, axis)), 0, axis)
    halves = xp.ones(size)
    if mode not in ("reflect", "nearest", "grid-wrap"):
        halves[[0, -1]] = 0.5
    halves = halves.reshape([-1 if d == axis % x.ndim else 1 for d in range(x.ndim)])
    return halves * filter1d(x / halves, order, axis, output=_wide(x.dtype), mode=mode)


class _Taps:
    """The elements of a spline's coefficients that count at each coordinate, and their weights.

    shape: of the image. padded: of the coefficients. derivative: the order of differentiation along each axis, or ()."""

    def __init__(self, shape: Any, padded: Any, coordinates: Any, order: int, mode: str, derivative: Any) -> None:
        self.shape = padded
        self.index: list[list[Any]] = []
        self.weight: list[list[Any]] = []
        self.is_constant: Any = None  # where the value is cval
        for size, wide, x, m in zip(shape, padded, coordinates, derivative or (0,) * len(shape), strict=True):
            shift = (wide - size) // 2
            x, slope, outside = _folded(np.asarray(x, np.float64), size, mode, shift)
            if outside is not None:
                self.is_constant = outside if self.is_constant is None else self.is_constant | outside
            start = (np.floor(x) - (order - 1) // 2 if order % 2 else np.floor(x + 0.5) - order // 2).astype(np.intp)
            self.weight.append([_bspline(order, m, x - (start + k)) * slope**m for k in range(order + 1)])
            self.index.append([_folded_index(start + k + shift, wide, mode) for k in range(order + 1)])

    def __iter__(self) -> Any:
        """Yield (flat index, weight, whether the element lies outside the coefficients) of each tap."""
        for choice in product(*[range(len(index)) for index in self.index]):
            flat: Any = 0
            weight: Any = 1.0
            outside: Any = False
            for index, weights, size, k in zip(self.index, self.weight, self.shape, choice, strict=True):
                beyond = index[k] < 0
                flat = flat * size + np.where(beyond, 0, index[k])
                weight = weight * weights[k]
                outside = outside | beyond
            yield flat, weight, outside

    def gather(self, coefficients: Any, cval: float) -> Any:
        """The sum of the weighted coefficients at each coordinate: a derivative of the spline."""
        values, found = coefficients.reshape(-1), 0.0
        for flat, weight, outside in self:
            found = found + weight * np.where(outside, cval, values[flat])
        return found if self.is_constant is None else np.where(self.is_constant, 0.0, found)

    def spread(self, values: Any) -> Any:
        """The adjoint of gather."""
        if values.dtype.kind == "c":
            return self.spread(values.real) + 1j * self.spread(values.imag)
        size = int(np.prod(self.shape))
        found = np.zeros(size)
        for flat, weight, outside in self:
            unused = outside if self.is_constant is None else outside | self.is_constant
            found += np.bincount(flat.ravel(), np.where(unused, 0.0, weight * values).ravel(), size)
        return found.reshape(self.shape)


def _folded(x: Any, size: int, mode: str, padding: int) -> tuple[Any, Any, Any]:
    """Return (coordinates within the image, the slope of the fold, where the value is a constant or None).

    padding: how many elements the coefficients reach beyond the image."""
    xp = backend_of(x)
    last = size - 1
    if mode == "constant":
        return x, 1.0, (x < 0) | (x > last)
    if mode == "nearest":
        low, high = -padding, last + padding
        return xp.clip(x, low, high), xp.where((x < low) | (x > high), 0.0, 1.0), None
    if mode == "grid-constant":
        return x, 1.0, None
    if mode in ("wrap", "grid-wrap"):
        period = size if mode == "grid-wrap" else last
        if period == 0:
            return xp.zeros_like(x), 0.0, None
        inside = (x >= 0) & (x <= last) if mode == "wrap" else xp.zeros(x.shape, bool)
        return xp.where(inside, x, xp.mod(x, period)), 1.0, None
    if size == 1:
        return xp.zeros_like(x), 0.0, None
    border = 0.5 if mode in ("reflect", "grid-mirror") else 0.0  # how far the mirror lies before the first element
    half = last + 2 * border
    turned = xp.mod(x + border, 2 * half)
    is_back = turned > half
    return xp.where(is_back, 2 * half - turned, turned) - border, xp.where(is_back, -1.0, 1.0), None


def _folded_index(index: Any, size: int, mode: str) -> Any:
    """Return the index of each coefficient; -1 for one outside that counts as cval."""
    xp = backend_of(index)
    if mode == "grid-constant":
        return xp.where((index < 0) | (index >= size), -1, index)
    if mode == "grid-wrap":
        return xp.mod(index, size)
    if mode in ("reflect", "grid-mirror", "nearest"):
        turned = xp.mod(index, 2 * size)
        return xp.minimum(turned, 2 * size - 1 - turned)
    if size == 1:
        return xp.zeros_like(index)
    turned = xp.mod(index, 2 * size - 2)
    return xp.minimum(turned, 2 * size - 2 - turned)


def _bspline(order: int, m: int, x: Any) -> Any:
    """The derivative of order m of the central B-spline, as differences of B-splines of order - m."""
    xp = backend_of(x)
    if m > order:
        return xp.zeros_like(x)
    found = 0.0
    for j, factor in enumerate(_binomials(m)):
        found = found + (-1) ** j * factor * _central(order - m, x + m / 2 - j)
    return found


def _central(order: int, x: Any) -> Any:
    xp = backend_of(x)
    if order == 0:
        return ((x >= -0.5) & (x < 0.5)).astype(np.float64)
    x = (order + 1) / 2 - xp.abs(x)  # the sum is short, and exact, on the side where x is small
    found = 0.0
    for j, factor in enumerate(_binomials(order + 1)[: order // 2 + 1]):
        found = found + (-1) ** j * factor * xp.maximum(x - j, 0.0) ** order
    return found / factorial(order)


@cache
def _binomials(n: int) -> tuple[int, ...]:
    return tuple([factorial(n) // (factorial(k) * factorial(n - k)) for k in range(n + 1)])
