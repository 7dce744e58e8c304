"""Short-time Fourier transforms, their inverse, spectrograms, and spectra at uneven times."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from wengert._forks import import_late
from wengert.array_functions.table import checked_axis, detached, fft, w
from wengert.scipy._borders import extended
from wengert.scipy._frame import operands
from wengert.scipy.signal._spectra import frequencies_of, length_of, overlap_of, spectra_of

__all__ = ["istft", "lombscargle", "spectrogram", "stft"]

theirs = import_late("scipy.signal")


def _weights(window: Any, nperseg: Any, size: int | None) -> np.ndarray:
    """The window of a segment. size: of the signal, which may be shorter than a segment, or None."""
    if isinstance(window, (str, tuple)):
        nperseg = 256 if nperseg is None else int(nperseg)
        if nperseg < 1:
            raise ValueError("nperseg must be a positive integer")
        return np.asarray(theirs.get_window(window, nperseg if size is None else min(nperseg, size)))
    weights = np.asarray(detached(window), np.float64)
    if weights.ndim != 1:
        raise ValueError("window must be 1-D")
    if nperseg is not None and int(nperseg) != len(weights):
        raise ValueError("value specified for nperseg is different from length of window")
    return weights


def _bordered(lines: Any, half: int, boundary: Any) -> Any:
    """Lines continued by half a segment at both ends: with zeros, the last element, or their mirror image, even or odd."""
    if boundary is None:
        return lines
    if boundary not in ("even", "odd", "constant", "zeros"):
        raise ValueError(f"Unknown boundary option '{boundary}', must be one of: ['even', 'odd', 'constant', 'zeros', None]")
    if boundary in ("zeros", "constant"):
        return extended(lines, -1, half, half, "constant" if boundary == "zeros" else "edge")
    mirrored = extended(lines, -1, half, half, "mirror")
    if boundary == "even" or half == 0:
        return mirrored
    first, last = 2 * lines[..., :1] - mirrored[..., :half], 2 * lines[..., -1:] - mirrored[..., -half:]
    return w.cat([first, lines, last], -1)


def stft(
    x, fs=1.0, window="hann_periodic", nperseg=256, noverlap=None, nfft=None, detrend=False, return_onesided=True, boundary="zeros",
    padded=True, axis=-1, scaling="spectrum",
):  # fmt: skip
    (x,) = operands(x)
    axis = checked_axis(axis, x.ndim)
    weights = _weights(window, nperseg, x.shape[axis])
    nperseg = len(weights)
    noverlap, nfft = overlap_of(noverlap, nperseg, nperseg // 2), length_of(nfft, nperseg)
    if scaling not in ("spectrum", "psd"):
        raise ValueError(f"Parameter {scaling=} not in ['spectrum', 'psd']!")
    scale = 1 / abs(weights.sum()) if scaling == "spectrum" else 1 / np.sqrt(fs * (weights**2).sum())
    lines = _bordered(w.movedim(x, axis, -1), nperseg // 2, boundary)
    step = nperseg - noverlap
    if padded:
        lines = extended(lines, -1, 0, (-(lines.shape[-1] - nperseg) % step) % nperseg, "constant")
    if return_onesided and x.is_complex():
        warnings.warn("Input data is complex, switching to return_onesided=False", stacklevel=2)
    onesided = return_onesided and not x.is_complex()
    found = spectra_of(lines, weights * scale, step, nfft, detrend, onesided)
    times = np.arange(nperseg / 2, lines.shape[-1] - nperseg / 2 + 1, step) / float(fs)
    if boundary is not None:
        times = times - (nperseg / 2) / fs
    return frequencies_of(nfft, fs, onesided), w.as_tensor(times), w.movedim(found, -1, axis)


def istft(
    Zxx, fs=1.0, window="hann_periodic", nperseg=None, noverlap=None, nfft=None, input_onesided=True, boundary=True, time_axis=-1,
    freq_axis=-2, scaling="spectrum",
):  # fmt: skip
    (Zxx,) = operands(Zxx)
    if Zxx.ndim < 2:
        raise ValueError("Input stft must be at least 2d!")
    time_axis, freq_axis = checked_axis(time_axis, Zxx.ndim), checked_axis(freq_axis, Zxx.ndim)
    if time_axis == freq_axis:
        raise ValueError("Must specify differing time and frequency axes!")
    count = Zxx.shape[time_axis]
    usual = 2 * (Zxx.shape[freq_axis] - 1) if input_onesided else Zxx.shape[freq_axis]
    if nperseg is None:
        nperseg = usual if isinstance(window, (str, tuple)) else len(detached(window))
    nperseg = int(nperseg)
    if nfft is None:
        nfft = nperseg if input_onesided and nperseg == usual + 1 else usual
    nfft = length_of(nfft, nperseg)
    noverlap = overlap_of(noverlap, nperseg, nperseg // 2)
    step = nperseg - noverlap
    weights = _weights(window, nperseg, None)
    if scaling not in ("spectrum", "psd"):
        raise ValueError(f"Parameter {scaling=} not in ['spectrum', 'psd']!")
    scale = weights.sum() if scaling == "spectrum" else np.sqrt(fs * (weights**2).sum())
    spectra = w.movedim(Zxx, (time_axis, freq_axis), (-2, -1))
    pieces = (fft.irfft(spectra, nfft) if input_onesided else fft.ifft(spectra, nfft))[..., :nperseg]
    taper = w.as_tensor(weights * scale).to(pieces.real.dtype)
    size = nperseg + (count - 1) * step
    places = (np.arange(count)[:, None] * step + np.arange(nperseg)).reshape(-1)
    norm = np.bincount(places, weights=np.tile(weights**2, count), minlength=size)
    flat = (pieces * taper).reshape(*pieces.shape[:-2], -1)
    summed = w.index_add(w.zeros(*flat.shape[:-1], size, dtype=flat.dtype), -1, w.as_tensor(places), flat)
    keep = slice(nperseg // 2, -(nperseg // 2)) if boundary and nperseg > 1 else slice(None)
    if (norm[keep] > 1e-10).sum() != len(norm[keep]):
        warnings.warn("NOLA condition failed, STFT may not be invertible.", stacklevel=2)
    found = (summed / w.as_tensor(np.where(norm > 1e-10, norm, 1.0)).to(summed.real.dtype))[..., keep]
    found = found.real if input_onesided else found
    if found.ndim > 1 and time_axis != Zxx.ndim - 1:
        found = w.movedim(found, -1, time_axis - 1 if freq_axis < time_axis else time_axis)
    return w.as_tensor(np.arange(found.shape[0]) / float(fs)), found  # SciPy too counts along the first axis


def spectrogram(
    x, fs=1.0, window=("tukey_periodic", 0.25), nperseg=None, noverlap=None, nfft=None, detrend="constant", return_onesided=True,
    scaling="density", axis=-1, mode="psd",
):  # fmt: skip
    modes = ["psd", "complex", "magnitude", "angle", "phase"]
    if mode not in modes:
        raise ValueError(f"unknown value for mode {mode}, must be one of {modes}")
    if mode == "phase":
        raise ValueError('mode="phase" unwraps angles, which is not done for tensors; mode="angle" gives them as they are')
    if scaling not in ("density", "spectrum"):
        raise ValueError(f"Unknown scaling: {scaling!r}")
    (x,) = operands(x)
    axis = checked_axis(axis, x.ndim)
    weights = _weights(window, nperseg, x.shape[axis])
    noverlap = len(weights) // 8 if noverlap is None else noverlap
    scaled = "psd" if scaling == "density" else "spectrum"
    settings = (weights, None, noverlap, nfft, detrend, return_onesided, None, False, axis, scaled)
    frequencies, times, found = stft(x, fs, *settings)
    if mode == "complex":
        return frequencies, times, found
    if mode == "magnitude":
        return frequencies, times, found.abs()
    if mode == "angle":
        return frequencies, times, w.angle(found)
    power = found.real**2 + found.imag**2
    if return_onesided and not x.is_complex():
        length = length_of(nfft, len(weights))
        factors = np.ones(power.shape[axis])
        factors[1 : None if length % 2 else -1] = 2
        power = power * w.as_tensor(factors.reshape([-1 if d == axis else 1 for d in range(power.ndim)])).to(power.dtype)
    return frequencies, times, power


def lombscargle(x, y, freqs, *, normalize=False, weights=None, floating_mean=False):
    if normalize not in (False, True, "power", "normalize", "amplitude"):
        raise ValueError("Normalize must be: False (or 'power'), True (or 'normalize'), or 'amplitude'.")
    given = (x, y, freqs) if weights is None else (x, y, freqs, weights)
    x, y, freqs, *rest = operands(*given)
    if x.ndim != 1 or y.shape != x.shape or freqs.ndim != 1:
        raise ValueError("Parameters x, y, freqs must be one-dimensional, and x and y of one length!")
    shares = rest[0] / rest[0].sum() if rest else w.full_like(x, 1 / len(x))
    angles = freqs[:, None] * x
    cos, sin = w.cos(angles), w.sin(angles)
    total_y, total_c, total_s = (shares * y).sum(), cos @ shares, sin @ shares
    yy, yc, ys = (shares * y * y).sum(), cos @ (shares * y), sin @ (shares * y)
    cc, cs = (cos * cos) @ shares, (cos * sin) @ shares
    ss = 1 - cc
    if floating_mean:
        yy, yc, ys = yy - total_y**2, yc - total_y * total_c, ys - total_y * total_s
        cc, ss, cs = cc - total_c**2, ss - total_s**2, cs - total_c * total_s
    turn = 0.5 * w.atan2(2 * cs, cc - ss)  # the angle by which sine and cosine have no correlation
    c, s = w.cos(turn), w.sin(turn)
    yc, ys = yc * c + ys * s, ys * c - yc * s
    cc, ss = cc * c * c + 2 * cs * c * s + ss * s * s, ss * c * c - 2 * cs * c * s + cc * s * s
    if normalize == "amplitude":
        return w.complex(yc / cc, ys / ss) * w.exp(w.complex(w.zeros_like(turn), turn))
    power = yc**2 / cc + ys**2 / ss
    return power / yy if normalize in (True, "normalize") else power * len(x) / 2
