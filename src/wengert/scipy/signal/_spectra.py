"""Spectra, analytic signals, and changes of the sampling rate."""

from __future__ import annotations

from math import gcd
from typing import Any

import numpy as np

from wengert._forks import import_late
from wengert.array_functions.table import checked_axis, detached, fft, w
from wengert.ops.faces import tensor_face as F
from wengert.scipy._borders import extended
from wengert.scipy._frame import operands
from wengert.scipy.signal._filters import detrend as remove_trend, lfilter, sosfilt, sosfiltfilt

__all__ = [
    "coherence", "csd", "decimate", "envelope", "hilbert", "periodogram", "resample", "resample_poly", "upfirdn", "welch",
]  # fmt: skip

theirs = import_late("scipy.signal")


# -- segments --------------------------------------------------------------------------------------------------------------


def overlap_of(noverlap: Any, nperseg: int, usual: int) -> int:
    """The number of samples that neighbouring segments share. usual: if noverlap is None."""
    noverlap = usual if noverlap is None else int(noverlap)
    if noverlap >= nperseg:
        raise ValueError("noverlap must be less than nperseg.")
    return noverlap


def length_of(nfft: Any, nperseg: int) -> int:
    """The length of the transform of a segment."""
    nfft = nperseg if nfft is None else int(nfft)
    if nfft < nperseg:
        raise ValueError("nfft must be greater than or equal to nperseg.")
    return nfft


def spectra_of(lines: Any, weights: np.ndarray, step: int, nfft: int, detrend: Any, onesided: bool) -> Any:
    """The transforms of the weighted segments of lines (..., n): (..., segments, frequencies)."""
    pieces = lines.unfold(-1, len(weights), step)
    if detrend:
        pieces = remove_trend(pieces, -1, detrend)
    pieces = pieces * w.as_tensor(weights).to(lines.real.dtype)
    return fft.rfft(pieces, nfft) if onesided else fft.fft(pieces, nfft)


def frequencies_of(nfft: int, fs: Any, onesided: bool) -> Any:
    """The frequencies of spectra_of."""
    return w.as_tensor(np.fft.rfftfreq(nfft, 1 / fs) if onesided else np.fft.fftfreq(nfft, 1 / fs))


# -- spectra -------------------------------------------------------------------------------------------------------------


def csd(
    x, y, fs=1.0, window="hann_periodic", nperseg=None, noverlap=None, nfft=None, detrend="constant", return_onesided=True,
    scaling="density", axis=-1, average="mean",
):  # fmt: skip
    same = x is y
    x, y = operands(x, y)
    axis = checked_axis(axis, x.ndim)
    if x.shape[axis] != y.shape[axis]:
        raise ValueError("x and y must have the same length along the axis for tensors")
    size = x.shape[axis]
    if isinstance(window, (str, tuple)):
        nperseg = min(256 if nperseg is None else int(nperseg), size)
        weights = np.asarray(theirs.get_window(window, nperseg))
    else:
        weights = np.asarray(detached(window), np.float64)
        nperseg = len(weights)
    noverlap, nfft = overlap_of(noverlap, nperseg, nperseg // 2), length_of(nfft, nperseg)
    onesided = return_onesided and not x.is_complex() and not y.is_complex()

    def spectra(z: Any) -> Any:
        return spectra_of(w.movedim(z, axis, -1), weights, nperseg - noverlap, nfft, detrend, onesided)

    first = spectra(x)
    product = w.conj(first) * (first if same else spectra(y))
    if scaling == "density":
        scale = 1.0 / (fs * (weights**2).sum())
    elif scaling == "spectrum":
        scale = 1.0 / weights.sum() ** 2
    else:
        raise ValueError("Parameter scaling must be in ['density', 'spectrum']!")
    factors = np.full(product.shape[-1], scale)
    if onesided:
        factors[1 : None if nfft % 2 else -1] *= 2
    product = product * w.as_tensor(factors).to(x.real.dtype)
    if average != "mean":
        raise ValueError(f'average must be "mean" for tensors, got {average}')
    found = w.mean(product, -2)
    found = found.real if same else found
    return frequencies_of(nfft, fs, onesided), w.movedim(found, -1, axis)


def welch(
    x, fs=1.0, window="hann_periodic", nperseg=None, noverlap=None, nfft=None, detrend="constant", return_onesided=True,
    scaling="density", axis=-1, average="mean",
):  # fmt: skip
    return csd(x, x, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, average)


def periodogram(x, fs=1.0, window="boxcar", nfft=None, detrend="constant", return_onesided=True, scaling="density", axis=-1):
    (x,) = operands(x)
    axis = checked_axis(axis, x.ndim)
    size = x.shape[axis] if nfft is None else min(int(nfft), x.shape[axis])
    x = w.narrow(x, axis, 0, size)
    weights = np.asarray(theirs.get_window(window, size)) if isinstance(window, (str, tuple)) else window
    return welch(x, fs, weights, None, 0, nfft, detrend, return_onesided, scaling, axis)


def coherence(x, y, fs=1.0, window="hann_periodic", nperseg=None, noverlap=None, nfft=None, detrend="constant", axis=-1):
    settings = (fs, window, nperseg, noverlap, nfft, detrend)
    frequencies, one = welch(x, *settings, axis=axis)
    _, other = welch(y, *settings, axis=axis)
    _, both = csd(x, y, *settings, axis=axis)
    return frequencies, (both.real**2 + both.imag**2) / one / other


def hilbert(x, N=None, axis=-1):
    (x,) = operands(x)
    if x.is_complex():
        raise ValueError("x must be real.")
    axis = checked_axis(axis, x.ndim)
    size = x.shape[axis] if N is None else int(N)
    if size <= 0:
        raise ValueError("N must be positive.")
    return fft.ifft(fft.fft(x, size, axis) * one_sided(size, axis, x), size, axis)


def one_sided(size: int, axis: int, x: Any, middle: float = 1) -> Any:
    """Return what an analytic signal has of each frequency along an axis of x: the positive ones twice, no negative ones.

    middle: what it has of the Nyquist frequency."""
    factors = np.zeros(size)
    factors[: (size + 1) // 2] = 2
    factors[0] = 1
    if size % 2 == 0:
        factors[size // 2] = middle
    shape = [-1 if d == axis else 1 for d in range(x.ndim)]
    return w.as_tensor(factors.reshape(shape)).to(x.dtype)


# -- sampling rates ------------------------------------------------------------------------------------------------------


def resample(x, num, *, axis=0):
    (x,) = operands(x)
    axis, num = checked_axis(axis, x.ndim), int(num)
    if x.is_complex():
        return w.complex(resample(x.real, num, axis=axis), resample(x.imag, num, axis=axis))
    lines = w.movedim(x, axis, -1)
    size = lines.shape[-1]
    least = min(num, size)
    spectrum = fft.rfft(lines)[..., : least // 2 + 1]
    factors = np.full(least // 2 + 1, num / size)
    if least % 2 == 0:  # the element at the Nyquist frequency stands for two, or is one of two
        factors[-1] *= 2 if num < size else 0.5 if num > size else 1
    spectrum = spectrum * w.as_tensor(factors).to(x.dtype)
    spectrum = extended(spectrum, -1, 0, num // 2 + 1 - spectrum.shape[-1], "constant")
    return w.movedim(fft.irfft(spectrum, num), -1, axis)


def upfirdn(h, x, up=1, down=1, axis=-1):
    h, x = operands(h, x)
    if h.ndim != 1 or not len(h):
        raise ValueError("h must be 1-D with non-zero length")
    if up < 1 or down < 1:
        raise ValueError("Both up and down must be >= 1")
    axis = checked_axis(axis, x.ndim)
    lines = w.movedim(x, axis, -1)
    if up > 1:
        filled = w.stack([lines, *[w.zeros_like(lines)] * (up - 1)], -1).reshape((*lines.shape[:-1], -1))
        lines = filled[..., : filled.shape[-1] - up + 1]
    found = F._full_convolution(lines, w.reshape(h, (1,) * (lines.ndim - 1) + (-1,)))
    return w.movedim(found[..., ::down], -1, axis)


def resample_poly(x, up, down, axis=0, window=("kaiser", 5.0), padtype="constant", cval=None):
    (x,) = operands(x)
    if padtype != "constant" or cval is not None:
        raise ValueError("padtype must be 'constant' without cval for tensors")
    if up < 1 or down < 1 or up != int(up) or down != int(down):
        raise ValueError("up and down must be integers >= 1")
    axis, divisor = checked_axis(axis, x.ndim), gcd(int(up), int(down))
    up, down = int(up) // divisor, int(down) // divisor
    if up == down == 1:
        return x.clone()
    size = x.shape[axis] * up
    size = -(-size // down)
    if isinstance(window, (list, np.ndarray)):
        weights = np.asarray(window, np.float64)
        half = (len(weights) - 1) // 2
    else:
        half = 10 * max(up, down)
        weights = theirs.firwin(2 * half + 1, 1.0 / max(up, down), window=window)
    # Zeros before the filter, so that the first output is at the middle of it.
    before = down - half % down
    skipped = (half + before) // down
    kernel = w.as_tensor(np.concatenate([np.zeros(before), weights * up])).to(x.real.dtype)
    lines = w.movedim(x, axis, -1)
    short = max(0, (skipped + size) * down - len(kernel) - (lines.shape[-1] - 1) * up)
    kernel = extended(kernel, 0, 0, short, "constant")
    found = upfirdn(kernel, lines, up, down, -1)
    return w.movedim(found[..., skipped : skipped + size], -1, axis)


def decimate(x, q, n=None, ftype="iir", axis=-1, zero_phase=True):
    (x,) = operands(x)
    axis, q = checked_axis(axis, x.ndim), int(q)
    if ftype == "iir":
        sos = theirs.cheby1(8 if n is None else n, 0.05, 0.8 / q, output="sos")
        found = sosfiltfilt(sos, x, axis) if zero_phase else sosfilt(sos, x, axis)
    elif ftype == "fir":
        length = 20 * q if n is None else n
        weights = theirs.firwin(length + 1, 1.0 / q, window="hamming")
        if zero_phase:
            return resample_poly(x, 1, q, axis, weights)
        return _every(lfilter(weights, np.ones(1), x, axis), q, axis)
    else:
        raise ValueError("invalid ftype: use 'iir' or 'fir' for tensors")
    return _every(found, q, axis)


def _every(x: Any, step: int, axis: int) -> Any:
    return x[(slice(None),) * axis + (slice(None, None, step),)]


def envelope(z, bp_in=(1, None), *, squared=False, residual="lowpass", axis=-1):
    """The amplitude of a signal in a band, and what is below the band, or outside of it, as scipy.signal.envelope.

    Derivative: in z, by the Fourier transform; that of the amplitude is not finite where the amplitude is 0."""
    (z,) = operands(z)
    axis = checked_axis(axis, z.ndim)
    n, is_real = z.shape[axis], not z.is_complex()
    impulse = np.zeros(n, detached(z).dtype)
    impulse[:1] = 1
    filtered = theirs.envelope(impulse, bp_in, residual=residual)  # raises for a band that does not fit
    first, last = [usual if k is None else k for k, usual in zip(bp_in, (-n // 2, (n + 1) // 2), strict=True)]
    places = np.fft.fftfreq(n, 1 / n).round()
    inside = (places >= first) & (places < last)
    if is_real:
        inside &= (places >= 0) | (2 * places == -n)
    shape = [-1 if d == axis else 1 for d in range(z.ndim)]
    spectrum = fft.fft(z, dim=axis)

    def part(factors: Any) -> Any:
        return fft.ifft(spectrum * w.as_tensor(factors).to(spectrum.dtype).reshape(shape), dim=axis)

    band = part(np.where(is_real & (places > 0), 2.0, 1.0) * inside)
    found = w.real(band) ** 2 + w.imag(band) ** 2
    found = found if squared else w.sqrt(found)
    if residual is None:
        return found
    rest = part(np.fft.fft(filtered[1]))  # the residual is linear in z: a filter with this impulse response
    return w.stack([found, w.real(rest)] if is_real else [found.to(rest.dtype), rest])
