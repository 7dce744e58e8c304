"""Samples and oracles of wengert.ops.short_time: sums written out, window by window."""

from __future__ import annotations

import numpy as np

from op_samples import Sample

_WINDOW = np.array([0.25, 0.75, 1.0, 0.75, 0.25], np.float32)
_REAL = {"complex": False}
_PARTS = {"complex": False, "return_complex": True}

OTHER_STEPS = {"stft"}

SAMPLES = {
    "stft": [
        Sample((12,), 6, return_complex=True), Sample((2, 10), n_fft=4, hop_length=3, normalized=True, **_PARTS),
        Sample((9,), 4, hop_length=2, win_length=2, center=False, **_PARTS), Sample((9,), 6, win_length=5, window=_WINDOW, **_PARTS),
        Sample((9,), 4, center=False, win_length=2, align_to_window=True, **_PARTS),
        Sample((10,), 4, pad_mode="constant", onesided=False, return_complex=True),
        Sample((8,), 4, return_complex=False, **_REAL),
    ],
    "istft": [
        Sample(np.fft.rfft(np.arange(24.0).reshape(4, 6) % 7).T, 6), Sample(np.ones((2, 3, 5)) + 0j, 4, hop_length=2, length=7),
        Sample(np.arange(18.0).reshape(6, 3) + 1j, 6, onesided=False, return_complex=True, normalized=True),
        Sample(np.ones((4, 4)) + 2j, 6, win_length=5, window=_WINDOW, hop_length=1),
    ],
}  # fmt: skip


def _padded_window(window, win_length, n_fft):
    full = np.zeros(n_fft)
    left = (n_fft - win_length) // 2
    full[left : left + win_length] = 1 if window is None else window
    return full


def _stft(x, n_fft, hop_length=None, win_length=None, window=None, center=True, pad_mode="reflect", normalized=False,
          onesided=None, return_complex=None, align_to_window=None):  # fmt: skip
    hop, width = hop_length or n_fft // 4, win_length or n_fft
    rows = np.atleast_2d(x)
    if center:
        rows = np.pad(rows, [(0, 0), (n_fft // 2, n_fft // 2)], mode=pad_mode)
    elif align_to_window:
        left = (n_fft - width) // 2
        rows = np.pad(rows, [(0, 0), (left, n_fft - width - left)])
    onesided = x.dtype.kind != "c" if onesided is None else onesided
    frequencies = np.arange(n_fft // 2 + 1 if onesided else n_fft)
    waves = np.exp(-2j * np.pi * np.outer(frequencies, np.arange(n_fft)) / n_fft) * _padded_window(window, width, n_fft)
    starts = range(0, rows.shape[1] - n_fft + 1, hop)
    found = np.stack([rows[:, t : t + n_fft] @ waves.T for t in starts], axis=-1)
    found = found / np.sqrt(n_fft) if normalized else found
    found = found if x.ndim == 2 else found[0]
    return found if return_complex is not False else np.stack([found.real, found.imag], axis=-1)


def _istft(X, n_fft, hop_length=None, win_length=None, window=None, center=True, normalized=False, onesided=None, length=None,
           return_complex=False):  # fmt: skip
    hop, width = hop_length or n_fft // 4, win_length or n_fft
    window = _padded_window(window, width, n_fft)
    batch = X if X.ndim == 3 else X[None]
    count = batch.shape[-1]
    total = np.zeros((len(batch), (count - 1) * hop + n_fft), complex)
    squares = np.zeros(total.shape[1])
    for t in range(count):
        column = batch[:, :, t] * (np.sqrt(n_fft) if normalized else 1)
        piece = np.fft.irfft(column, n_fft) if batch.shape[1] != n_fft else np.fft.ifft(column)
        total[:, t * hop : t * hop + n_fft] += piece * window
        squares[t * hop : t * hop + n_fft] += window**2
    start = n_fft // 2 if center else 0
    end = start + length if length else total.shape[1] - start
    found = total[:, start:end] / squares[start:end]
    found = found if return_complex else found.real
    return found if X.ndim == 3 else found[0]


ORACLES = {"stft": _stft, "istft": _istft}
