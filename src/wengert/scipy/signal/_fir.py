"""Designs of filters without feedback. They differentiate in frequencies, gains, weights and in the parameters of windows."""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

from wengert._forks import import_late
from wengert.array_functions.table import detached, fft, linalg, w
from wengert.scipy._closures import with_values
from wengert.scipy._frame import operands
from wengert.scipy.signal import windows

__all__ = [
    "firls", "firwin", "firwin2", "get_window", "kaiser_atten", "kaiser_beta", "kaiserord", "minimum_phase", "savgol_coeffs",
]  # fmt: skip

theirs: Any = import_late("scipy.signal")


def _floats(*values: Any) -> list[Any]:
    """Return values as SciPy takes them: arrays, and numbers in place of tensors without dimensions."""
    found = [detached(x) for x in values]
    return [x.item() if isinstance(x, np.ndarray) and x.ndim == 0 else x for x in found]


def _weights(window: Any, size: int) -> Any:
    return w.as_tensor(np.asarray(theirs.get_window(window, size, fftbins=False))) if isinstance(window, str) else (
        get_window(window, size, False))  # fmt: skip


def get_window(window, Nx, fftbins=True):
    """A window by its name and parameters, as scipy.signal.get_window. Derivative: in the parameters."""
    return windows.get_window(window, Nx, fftbins)


def kaiser_atten(numtaps, width):
    """Attenuation in decibels of a filter by the window of Kaiser, for the width of its transition."""
    return 2.285 * (numtaps - 1) * pi * operands(width)[0] + 7.95


def kaiser_beta(a):
    """Parameter of the window of Kaiser for an attenuation of a decibels."""
    (a,) = operands(a)
    inside = w.clamp(a - 21, min=0)
    low = 0.5842 * w.where(inside > 0, inside, 1.0) ** 0.4 + 0.07886 * inside
    return w.where(a > 50, 0.1102 * (a - 8.7), w.where(inside > 0, low, 0.0))


def kaiserord(ripple, width):
    """Length of a filter by the window of Kaiser, an integer, and the window's parameter."""
    return theirs.kaiserord(*_floats(ripple, width))[0], kaiser_beta(w.abs(operands(ripple)[0]))


def firwin(numtaps, cutoff, *, width=None, window="hamming", pass_zero=True, scale=True, fs=None):
    """Coefficients of a filter with linear phase by the window method. Derivative: in cutoff, width, fs and the window."""
    plain = [x if isinstance(x, str) else _floats(x)[0] for x in (window if isinstance(window, tuple) else (window,))]
    values = theirs.firwin(numtaps, *_floats(cutoff), width=_floats(width)[0], fs=_floats(fs)[0], scale=scale, pass_zero=pass_zero,
                           window=tuple(plain) if isinstance(window, tuple) else plain[0])  # fmt: skip
    cutoff, width, half = operands(cutoff, width, 2.0 if fs is None else fs)
    half, places = half / 2, w.as_tensor(np.arange(numtaps) - (numtaps - 1) / 2)
    ends = w.atleast_1d(cutoff) / half
    if isinstance(pass_zero, str):
        pass_zero = pass_zero in ("bandstop", "lowpass")
    passes_end = bool(len(ends) % 2) ^ bool(pass_zero)
    bands = w.cat([w.zeros(int(bool(pass_zero)), dtype=ends.dtype), ends, w.ones(int(passes_end), dtype=ends.dtype)])
    found: Any = 0.0
    for left, right in bands.reshape(-1, 2):
        found = found + right * w.sinc(right * places) - left * w.sinc(left * places)
    if width is not None:
        window = ("kaiser", kaiser_beta(kaiser_atten(numtaps, width / half)))
    found = found * _weights(window, numtaps)
    if scale:
        left, right = bands[0], bands[1]
        middle = 0.0 if float(left.detach()) == 0 else 1.0 if float(right.detach()) == 1 else 0.5 * (left + right)
        found = found / w.sum(found * w.cos(pi * places * middle))
    return with_values(found, values)


def firwin2(numtaps, freq, gain, *, nfreqs=None, window="hamming", antisymmetric=False, fs=None):
    """Coefficients of a filter with these gains at these frequencies. Derivative: in freq, gain, fs and the window."""
    plain = tuple(_floats(*window)) if isinstance(window, tuple) else detached(window)
    freq, gain = operands(freq, gain)
    options = {"nfreqs": nfreqs, "antisymmetric": antisymmetric, "fs": _floats(fs)[0]}
    values = theirs.firwin2(numtaps, detached(freq), detached(gain), window=plain, **options)
    half = operands(2.0 if fs is None else fs)[0].double() / 2
    count = 1 + 2 ** int(np.ceil(np.log2(numtaps))) if nfreqs is None else nfreqs
    freq, gain = freq.double() / half, gain.double()
    points = detached(freq).copy()
    for k in np.flatnonzero(np.diff(points) == 0):  # a jump: SciPy moves both points a little
        points[k : k + 2] += np.array([-1.0, 1.0]) * np.finfo(float).eps
    at = np.linspace(0.0, 1.0, count)
    lower = np.clip(np.searchsorted(points, at, side="right") - 1, 0, len(points) - 2)
    steps = w.as_tensor(points - detached(freq))
    left, right = (freq + steps)[lower], (freq + steps)[lower + 1]
    share = (w.as_tensor(at) - left) / (right - left)
    heights = gain[lower] * (1 - share) + gain[lower + 1] * share
    angle = w.as_tensor(-(numtaps - 1) / 2.0 * pi * at + (pi / 2 if antisymmetric else 0.0))
    found = fft.irfft(w.complex(heights * w.cos(angle), heights * w.sin(angle)))[:numtaps]
    if window is not None:
        found = found * _weights(window, numtaps)
    return with_values(found, values)


def firls(numtaps, bands, desired, *, weight=None, fs=None):
    """Coefficients of the filter with linear phase whose response is nearest to piecewise linear gains, in least squares.

    Derivative: in bands, desired and weight, that of the solution of the normal equations."""
    values = theirs.firls(numtaps, *detached((bands, desired)), weight=detached(weight), fs=_floats(fs)[0])
    bands, desired, weight, fs = operands(bands, desired, weight, 2.0 if fs is None else fs)
    ends, heights = (2 * bands / fs).reshape(-1, 2), desired.reshape(-1, 2)
    shares = w.ones(len(ends), dtype=ends.dtype) if weight is None else weight.reshape(-1)
    order = (numtaps - 1) // 2
    n = np.arange(order + 1)

    def integral(k: Any) -> Any:
        """The weighted integral of cos(pi k f) over the bands. k: integers of any shape."""
        turns = w.as_tensor(k.astype(float))[..., None, None]
        whole = ends * w.sinc(turns * ends)
        return w.sum(shares * (whole[..., 1] - whole[..., 0]), -1)

    matrix = 0.5 * (integral(n[:, None] - n) + integral(n[:, None] + n))
    slopes = (heights[:, 1:] - heights[:, :1]) / (ends[:, 1:] - ends[:, :1])
    turns = w.as_tensor(n.astype(float))[:, None, None] * pi
    line = heights[:, :1] + slopes * (ends - ends[:, :1])
    # The integral of (line) cos(turns f): by parts, and for 0 the area.
    positive = w.where(turns == 0, 1.0, turns)
    waves = line * w.sin(positive * ends) / positive + slopes * w.cos(positive * ends) / positive**2
    areas = line * ends - 0.5 * slopes * ends**2
    whole = w.where(turns == 0, areas, waves)
    found = linalg.solve(matrix, w.sum(shares * (whole[..., 1] - whole[..., 0]), -1))
    halves = 0.5 * found[1:]
    return with_values(w.cat([w.flip(halves, (0,)), found[:1], halves]), values)


def minimum_phase(h, method="homomorphic", n_fft=None, *, half=True):
    """The filter of minimum phase with the magnitude of the response of h, or its square root. For method="homomorphic"."""
    if method != "homomorphic":
        raise NotImplementedError("minimum_phase has a derivative for method='homomorphic'.")
    values = theirs.minimum_phase(detached(h), method, n_fft, half=half)
    (h,) = operands(h)
    size = 2 ** int(np.ceil(np.log2(2 * (len(h) - 1) / 0.01))) if n_fft is None else int(n_fft)
    response = fft.fft(h, size)
    squares = response.real**2 + response.imag**2
    sizes = w.sqrt(w.where(squares > 0, squares, 1.0)) * (squares > 0)
    logs = w.log(sizes + 1e-7 * w.amin(w.where(sizes > 0, sizes, float("inf"))))
    cepstrum = fft.ifft(0.5 * logs if half else logs).real
    factors = np.zeros(size)
    factors[0], factors[1 : size // 2] = 1, 2
    factors[size // 2] = size % 2
    found = fft.ifft(w.exp(fft.fft(cepstrum * w.as_tensor(factors).to(cepstrum.dtype)))).real
    return with_values(found[: len(values)], values)


def savgol_coeffs(window_length, polyorder, deriv=0, delta=1.0, pos=None, use="conv"):
    """Coefficients of the filter of Savitzky and Golay. Derivative: in delta."""
    values = theirs.savgol_coeffs(window_length, polyorder, deriv, 1.0, pos, use)
    return w.as_tensor(values) / operands(delta)[0] ** deriv
