"""Short-time Fourier transforms, their inverse, spectrograms, and spectra at uneven times."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from wengert._forks import import_late
from wengert.array_functions.table import checked_axis, detached, fft, holds_tensor, w
from wengert.scipy._borders import extended
from wengert.scipy._frame import operands
from wengert.scipy.signal._filters import detrend
from wengert.scipy.signal._spectra import frequencies_of, length_of, overlap_of, spectra_of

__all__ = ["istft", "lombscargle", "spectrogram", "stft"]

theirs: Any = import_late("scipy.signal")


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


# -- SciPy's class -----------------------------------------------------------------------------------------------------------


class ShortTimeFFT(theirs.ShortTimeFFT):
    """SciPy's ShortTimeFFT, whose transforms of tensors differentiate. The window is a constant."""

    def _factors(self) -> Any:
        """Return what the transform has of each frequency: twice the power or the size for fft_mode="onesided2X"."""
        factors = np.ones(self.f_pts)
        if self.fft_mode == "onesided2X":
            factors[1 : None if self.mfft % 2 else -1] = np.sqrt(2) if self.scaling == "psd" else 2
        return w.as_tensor(factors)

    def _shift(self) -> int | None:
        """Return how far a segment is rolled before its transform."""
        return None if self.phase_shift is None else (self.phase_shift + self.m_num_mid) % self.m_num

    def _pieces(self, lines: Any, k_offset: int, p0: int, p1: int, padding: str) -> Any:
        """Return the segments of lines (..., n): (..., segments, m_num)."""
        modes = {"zeros": "constant", "edge": "edge", "even": "mirror"}
        if padding not in (*modes, "odd"):
            raise ValueError(f"Parameter {padding=} not in {(*modes, 'odd')}!")
        first, size = p0 * self.hop - self.m_num_mid + k_offset, lines.shape[-1]
        last = first + (p1 - p0) * self.hop + self.m_num
        kept = lines[..., max(first, 0) : min(last, size)]
        before, after = max(-first, 0), max(last - size, 0)
        if padding != "odd":
            wide = extended(kept, -1, before, after, modes[padding])
        elif max(before, after) >= kept.shape[-1]:
            raise NotImplementedError("With tensors, padding='odd' is for signals longer than a segment.")
        else:
            wide = extended(kept, -1, before, after, "mirror")
            ends = [2 * kept[..., :1] - wide[..., :before], wide[..., before : before + kept.shape[-1]]]
            wide = w.cat([*ends, 2 * kept[..., -1:] - wide[..., before + kept.shape[-1] :]], -1)
        return wide.unfold(-1, self.m_num, self.hop)[..., : p1 - p0, :]

    def stft_detrend(self, x, detr, p0=None, p1=None, *, k_offset=0, padding="zeros", axis=-1):
        """The transform of x with a trend taken from each segment. detr: "linear", "constant", a function of a segment, or None."""
        if not holds_tensor((x,)):
            return super().stft_detrend(x, detr, p0, p1, k_offset=k_offset, padding=padding, axis=axis)
        (x,) = operands(x)
        if self.onesided_fft and x.is_complex():
            raise ValueError(f"Complex-valued `x` not allowed for {self.fft_mode=}! Hint: set it to 'twosided' or 'centered'.")
        if x.shape[axis] < self.m_num - self.m_num_mid:
            raise ValueError(f"the length of x, {x.shape[axis]}, must be >= ceil(m_num/2) = {self.m_num - self.m_num_mid}!")
        lines = w.movedim(x, axis, -1)
        start, end = self.p_range(lines.shape[-1], p0, p1)
        pieces = self._pieces(lines, k_offset, start, end, padding)
        if isinstance(detr, str):
            pieces = detrend(pieces, -1, detr)
        elif detr is not None:
            pieces = w.stack([detr(piece) for piece in w.unbind(pieces, -2)], -2)
        pieces, shift = pieces * w.as_tensor(np.conj(self.win)), self._shift()
        if shift is not None:
            pieces = w.roll(extended(pieces, -1, 0, max(0, self.mfft - self.m_num), "constant"), -shift, -1)
        if self.onesided_fft:
            found = fft.rfft(pieces, self.mfft) * self._factors()
        else:
            found = fft.fft(pieces, self.mfft)
            found = fft.fftshift(found, -1) if self.fft_mode == "centered" else found
        found = found.mT
        return w.movedim(found, -2, axis if axis >= 0 else axis - 1) if x.ndim > 1 else found

    def istft(self, S, k0=0, k1=None, *, f_axis=-2, t_axis=-1):
        """The signal of a transform, by the dual window."""
        values = super().istft(detached(S), k0, k1, f_axis=f_axis, t_axis=t_axis)
        if not holds_tensor((S,)):
            return values
        (S,) = operands(S)
        pieces = w.movedim(S, (f_axis, t_axis), (-1, -2))
        if self.onesided_fft:
            pieces = fft.irfft(pieces / self._factors(), self.mfft)
        else:
            pieces = fft.ifft(fft.ifftshift(pieces, -1) if self.fft_mode == "centered" else pieces, self.mfft)
        shift = self._shift()
        pieces = (pieces if shift is None else w.roll(pieces, shift, -1))[..., : self.m_num] * w.as_tensor(self.dual_win)
        starts = (np.arange(pieces.shape[-2]) + self.p_min) * self.hop - self.m_num_mid - k0
        places = (starts[:, None] + np.arange(self.m_num)).reshape(-1)
        f_axis, t_axis = f_axis % S.ndim, t_axis % S.ndim
        axis = (f_axis if f_axis < S.ndim - 1 else t_axis) if S.ndim > 2 else 0
        size = values.shape[axis]
        inside = np.flatnonzero((places >= 0) & (places < size))
        flat = pieces.reshape(*pieces.shape[:-2], -1)[..., w.as_tensor(inside)]
        found = w.index_add(w.zeros(*flat.shape[:-1], size, dtype=flat.dtype), -1, w.as_tensor(places[inside]), flat)
        return w.movedim(found, -1, axis)
