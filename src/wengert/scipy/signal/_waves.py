"""Waves, peaks, transforms on spirals, and splines through samples at integers."""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

from wengert._forks import import_late
from wengert.array_functions.table import checked_axis, detached, fft, w as _w
from wengert.ops.faces import tensor_face as F
from wengert.scipy._borders import extended
from wengert.scipy._closures import with_values
from wengert.scipy._frame import operands
from wengert.scipy.signal._spectra import one_sided

__all__ = [
    "chirp", "cspline1d", "cspline1d_eval", "cspline2d", "czt", "czt_points", "find_peaks", "gauss_spline", "gausspulse",
    "hilbert2", "peak_prominences", "peak_widths", "qspline1d", "qspline1d_eval", "qspline2d", "sawtooth", "sepfir2d",
    "sweep_poly", "symiirorder1", "vectorstrength", "zoom_fft",
]  # fmt: skip

theirs: Any = import_late("scipy.signal")


# -- waves -----------------------------------------------------------------------------------------------------------------


def chirp(t, f0, t1, f1, method="linear", phi=0, vertex_zero=True):
    t, f0, t1, f1, phi = operands(t, f0, t1, f1, phi)
    if method in ("linear", "lin", "li"):
        phase = 2 * pi * (f0 * t + 0.5 * (f1 - f0) / t1 * t * t)
    elif method in ("quadratic", "quad", "q"):
        beta = (f1 - f0) / t1**2
        phase = f0 * t + beta * t**3 / 3 if vertex_zero else f1 * t + beta * ((t1 - t) ** 3 - t1**3) / 3
        phase = 2 * pi * phase
    elif method in ("logarithmic", "log", "lo"):
        if float(detached(f0)) * float(detached(f1)) <= 0:
            raise ValueError("For a logarithmic chirp, f0 and f1 must be nonzero and have the same sign.")
        beta = t1 / _w.log(f1 / f0)
        phase = 2 * pi * beta * f0 * _w.expm1(t / beta)
    elif method in ("hyperbolic", "hyp"):
        if float(detached(f0)) == 0 or float(detached(f1)) == 0:
            raise ValueError("For a hyperbolic chirp, f0 and f1 must be nonzero.")
        pole = -f1 * t1 / (f0 - f1)
        phase = -2 * pi * pole * f0 * _w.log(_w.abs(1 - t / pole))
    else:
        raise ValueError(f"method must be 'linear', 'quadratic', 'logarithmic', or 'hyperbolic', not {method!r}.")
    return _w.cos(phase + phi * pi / 180)


def gausspulse(t, fc=1000, bw=0.5, bwr=-6):
    t, fc, bw = operands(t, fc, bw)
    if bwr >= 0:
        raise ValueError("Reference level for bandwidth must be < 0 dB")
    reference = 10.0 ** (bwr / 20.0)
    decay = -((pi * fc * bw) ** 2) / (4.0 * np.log(reference))
    return _w.exp(-decay * t * t) * _w.cos(2 * pi * fc * t)


def sawtooth(t, width=1):
    """A wave of period 2 pi that rises from -1 to 1 for the share `width` of the period, and falls after it."""
    t, width = operands(t, width)
    place = _w.remainder(t, 2 * pi)
    rises = place < 2 * pi * width
    up = place / (pi * _w.where(width == 0, 1.0, width)) - 1
    down = (pi * (width + 1) - place) / (pi * _w.where(width == 1, 1.0, 1 - width))
    return _w.where((width < 0) | (width > 1), float("nan"), _w.where(rises, up, down))


def sweep_poly(t, poly, phi=0):
    """Cosine of a wave whose frequency at t is a polynomial. poly: coefficients, the highest power first."""
    poly = poly.coeffs if isinstance(poly, np.poly1d) else poly
    t, poly, phi = operands(t, poly, phi)
    phase: Any = 0.0
    for k, c in enumerate(poly):
        phase = phase * t + c / (len(poly) - k)
    return _w.cos(2 * pi * phase * t + phi * (pi / 180))


def vectorstrength(events, period):
    """How well events follow a period, from 0 to 1, and their mean phase. period: a number, or a vector for many."""
    events, period = operands(events, period)
    if events.ndim > 1:
        raise ValueError("events cannot have dimensions more than 1")
    if period.ndim > 1:
        raise ValueError("period cannot have dimensions more than 1")
    if not (detached(period) > 0).all():
        raise ValueError("periods must be positive")
    angles = 2 * pi * events.reshape(-1) / period.reshape(-1, 1)
    real, imag = _w.mean(_w.cos(angles), 1), _w.mean(_w.sin(angles), 1)
    found = _w.sqrt(real**2 + imag**2), _w.atan2(imag, real)
    return found if period.ndim else tuple([x[0] for x in found])


# -- transforms --------------------------------------------------------------------------------------------------------------


def hilbert2(x, N=None, axes=(-2, -1)):
    """The two-dimensional analytic signal of x."""
    (x,) = operands(x)
    if x.is_complex():
        raise ValueError("x must be real.")
    axes = [checked_axis(axis, x.ndim) for axis in axes]
    sizes = [x.shape[axis] for axis in axes] if N is None else [int(n) for n in np.broadcast_to(N, 2)]
    found = fft.fftn(x, sizes, axes)
    for axis, size in zip(axes, sizes, strict=True):
        found = found * one_sided(size, axis, x, 0)
    return fft.ifftn(found, sizes, axes)


def _complex_number(x: Any) -> Any:
    (x,) = operands(x)
    return x if x.is_complex() else _w.complex(x.double(), _w.zeros_like(x.double()))


def _step(m: int, w: Any) -> Any:
    """Return the logarithm of the ratio of neighbouring points of a spiral."""
    return _w.as_tensor(np.array(-2j * pi / m)) if w is None else _w.log(_complex_number(w))


def czt_points(m, w=None, a=1 + 0j):
    """The points a * w**-k of a spiral: (m,)."""
    values = theirs.czt_points(m, *[None if x is None else complex(np.asarray(detached(x))) for x in (w, a)])
    k = _w.as_tensor(np.arange(m, dtype=float))
    return with_values(_complex_number(a) * _w.exp(-k * _step(m, w)), values)


def czt(x, m=None, w=None, a=1 + 0j, *, axis=-1):
    """Values at the points of a spiral of the z-transform of x along an axis, by L. Bluestein's convolution (1970)."""
    numbers = [None if n is None else complex(np.asarray(detached(n))) for n in (w, a)]
    values = theirs.czt(detached(x), m, *numbers, axis=axis)
    (x,) = operands(x)
    axis = checked_axis(axis, x.ndim)
    n = x.shape[axis]
    m = n if m is None else int(m)
    step, start = _step(m, w), _w.log(_complex_number(a))
    places = np.arange(-(n - 1), max(m, n), dtype=float)
    turns = _w.exp(_w.as_tensor(places**2 / 2) * step)  # of n - 1 + k is the power k**2 / 2 of w
    spread = _w.exp(-_w.as_tensor(np.arange(n, dtype=float)) * start) * turns[n - 1 : 2 * n - 1]
    size = 2 ** int(np.ceil(np.log2(2 * n + m)))
    lines = _w.movedim(x, axis, -1)
    product = fft.fft(lines * spread, size) * fft.fft(1 / turns[: n - 1 + m], size)
    found = fft.ifft(product)[..., n - 1 : n - 1 + m] * turns[n - 1 : n - 1 + m]
    return with_values(_w.movedim(found, -1, axis), values)


def zoom_fft(x, fn, m=None, *, fs=2, endpoint=False, axis=-1):
    """Spectrum of x at m frequencies between two, fn = (f1, f2), or between 0 and fn. Derivative: also in fn and fs."""
    (given,) = operands(x)
    m = given.shape[checked_axis(axis, given.ndim)] if m is None else int(m)
    fn, fs = operands(fn, fs)
    low, high = (fn.reshape(-1)[0], fn.reshape(-1)[1]) if fn.numel() > 1 else (_w.zeros_like(fn.reshape(())), fn.reshape(()))
    width = (high - low) / (m - 1 if endpoint else m)
    angles = [2 * pi * low / fs, -2 * pi * width / fs]
    start, step = [_w.complex(_w.cos(angle), _w.sin(angle)) for angle in angles]
    return czt(x, m, step, start, axis=axis)


# -- peaks -----------------------------------------------------------------------------------------------------------------


def peak_prominences(x, peaks, wlen=None):
    """Heights of peaks above the higher one of the two valleys around them, and the places of the valleys."""
    _, left, right = theirs.peak_prominences(detached(x), detached(peaks), wlen)
    (x,) = operands(x)
    peaks = np.asarray(detached(peaks))
    return x[peaks] - _w.maximum(x[left], x[right]), _w.as_tensor(left), _w.as_tensor(right)


def peak_widths(x, peaks, rel_height=0.5, prominence_data=None, wlen=None):
    """Widths of peaks at a height between their top and their base, that height, and the places of the sides.

    Derivative: that of the lines between the samples, which cross the height."""
    plain = None if prominence_data is None else tuple(detached(prominence_data))
    rel = float(np.asarray(detached(rel_height)))
    values = theirs.peak_widths(detached(x), detached(peaks), rel, plain, wlen)
    prominences = peak_prominences(x, peaks, wlen)[0] if prominence_data is None else operands(prominence_data[0])[0]
    x, rel_height = operands(x, rel_height)
    peaks, samples = np.asarray(detached(peaks)), detached(x)
    heights = x[peaks] - prominences * rel_height
    ends = []
    for sign, crossings in ((1, values[2]), (-1, values[3])):
        lower = np.floor(crossings).astype(int) if sign > 0 else np.ceil(crossings).astype(int)
        inner = np.clip(lower + sign, 0, len(samples) - 1)
        rise = x[inner] - x[lower]
        exact = (crossings == lower) | (detached(rise) == 0)
        share = (heights - x[lower]) / _w.where(_w.as_tensor(exact), 1.0, rise)
        ends.append(with_values(_w.where(_w.as_tensor(exact), 0.0, sign * share), crossings))
    return ends[1] - ends[0], heights, *ends


def find_peaks(
    x, height=None, threshold=None, distance=None, prominence=None, width=None, wlen=None, rel_height=0.5, plateau_size=None
):  # fmt: skip
    """The places of peaks, integers, and a dict of their properties. Heights, thresholds, prominences and widths differentiate."""
    peaks, found = theirs.find_peaks(
        *detached((x, height, threshold, distance, prominence, width)), wlen, detached(rel_height), detached(plateau_size)
    )
    (x,) = operands(x)
    found = {name: _w.as_tensor(values) for name, values in found.items()}
    if "peak_heights" in found:
        found["peak_heights"] = x[peaks]
    if "left_thresholds" in found:
        found |= {"left_thresholds": x[peaks] - x[peaks - 1], "right_thresholds": x[peaks] - x[peaks + 1]}
    if "prominences" in found:
        found["prominences"] = peak_prominences(x, peaks, wlen)[0]
    if "widths" in found:
        names = ("widths", "width_heights", "left_ips", "right_ips")
        found |= dict(zip(names, peak_widths(x, peaks, rel_height, None, wlen), strict=True))
    return _w.as_tensor(peaks), found


# -- splines ---------------------------------------------------------------------------------------------------------------


def gauss_spline(x, n):
    """The normal density that a B-spline of order n is near to."""
    variance = (n + 1) / 12.0
    return (2 * pi * variance) ** -0.5 * _w.exp(-operands(x)[0] ** 2 / (2 * variance))


def _both_ways(lines: Any, c0: Any, z1: Any) -> Any:
    """Return the result of c0 / ((1 - z1 / z) (1 - z1 z)) along the last axis, for lines that go on as their mirror images."""
    size = lines.shape[-1]
    a = _w.stack([_w.ones_like(z1), -z1])
    start = lines[..., :1] + z1 * _w.sum(lines * z1 ** _w.as_tensor(np.arange(size, dtype=float)), -1, keepdim=True)
    once = F._all_pole_filter(a, _w.cat([start, lines[..., 1:]], -1))
    end = c0 / (1 - z1) * once[..., -1:]
    return _w.flip(F._all_pole_filter(a, _w.cat([end, c0 * _w.flip(once[..., :-1], (-1,))], -1)), (-1,))


def symiirorder1(signal, c0, z1, precision=-1.0):
    """The filter c0 / ((1 - z1 / z) (1 - z1 z)) along the last axis of a signal of one or two dimensions, mirrored at both ends."""
    values = theirs.symiirorder1(detached(signal), *[np.asarray(detached(x)).item() for x in (c0, z1)], precision)
    return with_values(_both_ways(*operands(signal, c0, z1)), values)


_POLES = {"cubic": (6.0, -2 + 3**0.5), "quadratic": (8.0, -3 + 8**0.5)}  # the inverse of B-splines at integers: factor, pole


def _coefficients(name: str, kind: str, signal: Any, lamb: Any, axes: tuple[int, ...]) -> Any:
    """Return the coefficients of the spline through samples at integers, which goes on as its mirror image at both ends."""
    if np.any(detached(lamb)):
        raise NotImplementedError(f"scipy.signal.{name} has a derivative for a smoothing parameter of 0.")
    found = operands(signal)[0]
    factor, pole = operands(*_POLES[kind], found)[:2]
    for axis in axes:
        found = _w.movedim(_both_ways(_w.movedim(found, axis, -1), -factor * pole, pole), -1, axis)
    return with_values(found, getattr(theirs, name)(detached(signal)))


def sepfir2d(input, hrow, hcol):
    """Convolution of an image with a row and a column of odd length. The image goes on as its mirror image at all ends."""
    image, *kernels = operands(input, hrow, hcol)
    if image.ndim != 2 or any(h.ndim != 1 or len(h) % 2 == 0 for h in kernels):
        raise ValueError("sepfir2d takes an image (m, n) and two vectors of odd length")
    for axis, h in zip((1, 0), kernels, strict=True):
        half = len(h) // 2
        wide = extended(image, axis, half, half, "symmetric")
        image = F._valid_correlation(wide, _w.flip(h, (0,)).reshape((1, -1) if axis else (-1, 1)))
    return image


def cspline1d(signal, lamb=0.0):
    """Coefficients of the cubic spline through samples at integers: (n,)."""
    return _coefficients("cspline1d", "cubic", signal, lamb, (0,))


def qspline1d(signal, lamb=0.0):
    """Coefficients of the quadratic spline through samples at integers: (n,)."""
    return _coefficients("qspline1d", "quadratic", signal, lamb, (0,))


def cspline2d(signal, lamb=0.0, precision=-1.0):
    """Coefficients of the cubic spline through samples on a grid of integers: (m, n)."""
    return _coefficients("cspline2d", "cubic", signal, lamb, (0, 1))


def qspline2d(signal, lamb=0.0, precision=-1.0):
    """Coefficients of the quadratic spline through samples on a grid of integers: (m, n)."""
    return _coefficients("qspline2d", "quadratic", signal, lamb, (0, 1))


def _cubic(x: Any) -> Any:
    x = _w.abs(x)
    return _w.where(x < 1, 2 / 3 - 0.5 * x**2 * (2 - x), _w.clamp(2 - x, min=0) ** 3 / 6)


def _quadratic(x: Any) -> Any:
    x = _w.abs(x)
    return _w.where(x < 0.5, 0.75 - x**2, 0.5 * _w.clamp(1.5 - x, min=0) ** 2)


def _evaluated(cj: Any, newx: Any, dx: Any, x0: Any, spline: Any, first: float) -> Any:
    """Return the values of a spline with coefficients cj at x0, x0 + dx, ... first: where the first of its terms begins."""
    cj, newx, dx, x0 = operands(cj, newx, dx, x0)
    n = cj.shape[0]
    if not n:
        raise ValueError("Spline coefficients 'cj' must not be empty.")
    x = (newx - x0) / dx
    if n > 1:  # a mirror image beyond both ends
        x = (n - 1) - _w.abs(_w.remainder(x, 2 * (n - 1)) - (n - 1))
    else:
        x = x * 0.0
    lower = np.floor(detached(x) - first).astype(int) + 1
    found: Any = 0.0
    for i in range(4 if first == 2 else 3):
        found = found + cj[np.clip(lower + i, 0, n - 1)] * spline(x - _w.as_tensor((lower + i).astype(float)))
    return found


def cspline1d_eval(cj, newx, dx=1.0, x0=0):
    """Values of a cubic spline with coefficients cj for the places x0, x0 + dx, ... Derivative: also in newx, dx and x0."""
    return _evaluated(cj, newx, dx, x0, _cubic, 2)


def qspline1d_eval(cj, newx, dx=1.0, x0=0):
    """Values of a quadratic spline with coefficients cj for the places x0, x0 + dx, ... Derivative: also in newx, dx and x0."""
    return _evaluated(cj, newx, dx, x0, _quadratic, 1.5)
