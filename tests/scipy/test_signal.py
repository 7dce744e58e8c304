"""wengert.scipy.signal against scipy.signal and its finite differences."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.signal

import wengert
import wengert.scipy.signal as signal
from loops import each
from scipy_checks import check_call

RNG = np.random.default_rng(7)
B, A = np.array([0.2, 0.5, 0.3]), np.array([1.3, -0.6, 0.2])
SOS = scipy.signal.butter(4, 0.3, output="sos")


def _x(*shape):
    return RNG.normal(size=shape)


def _z(*shape):
    return _x(*shape) + 1j * _x(*shape)


def _row(name, *arrays, args=(), at=None, **kwargs):
    """A call with these differentiated arrays first. at: where among the arguments they stand, if not first."""
    return name, lambda f, *xs: f(*xs, *args, **kwargs), arrays


STEEP = ("medfilt", "medfilt2d", "order_filter", "wiener")  # functions with kinks: short steps stay between two of them

CONVOLUTIONS = [
    *[_row(name, _x(6), _x(3), mode=mode) for name in ("convolve", "correlate", "fftconvolve", "oaconvolve") for mode in ("full", "same", "valid")],
    *[_row(name, _x(3), _x(6), mode=mode) for name in ("convolve", "correlate") for mode in ("full", "same", "valid")],
    *[_row(name, _x(4, 5), _x(2, 3), mode=mode, method=method) for name in ("convolve", "correlate") for mode in ("same", "valid") for method in ("direct", "fft")],
    _row("convolve", _x(2, 3, 4), _x(2, 1, 3)),
    _row("convolve", _z(5), _x(3)),
    _row("correlate", _z(5), _z(3), mode="same"),
    _row("correlate", _z(2, 3), _z(3, 4), mode="valid"),
    _row("fftconvolve", _x(2, 6), _x(2, 3), axes=1, mode="same"),
    _row("fftconvolve", _z(1, 6), _x(2, 3), axes=[1]),
    _row("oaconvolve", _x(3, 20), _x(3, 3), axes=-1),
    *[
        _row(name, _x(4, 5), _x(2, 3), mode=mode, boundary=boundary, fillvalue=0.5)
        for name in ("convolve2d", "correlate2d") for mode in ("full", "same", "valid") for boundary in ("fill", "wrap", "symm")
    ],
    *[_row(name, _x(2, 3), _x(4, 4), mode="valid") for name in ("convolve2d", "correlate2d")],
    *[_row(name, _z(3, 3), _z(2, 2)) for name in ("convolve2d", "correlate2d")],
    _row("deconvolve", _x(7), np.array([2.0, 0.5, 0.3])),
]  # fmt: skip

FILTERS = [
    ("lfilter", lambda f, b, a, x: f(b, a, x), (B, A, _x(9))),
    ("lfilter", lambda f, b, a, x: f(b, a, x, axis=0), (B[:2], A, _x(6, 2))),
    ("lfilter", lambda f, b, a, x, zi: f(b, a, x, zi=zi), (B, A, _x(6), _x(2))),
    ("lfilter", lambda f, b, a, x, zi: f(b, a, x, axis=1, zi=zi), (_x(4), A, _x(2, 6), _x(2, 3))),
    ("lfilter", lambda f, b, a, x, zi: f(b, a, x, zi=zi), (_x(5), A, _x(2), _x(4))),  # fewer samples than states
    ("lfilter", lambda f, b, x, zi: f(b, 2.0, x, zi=zi), (B, _x(3, 5), _x(1, 2))),
    ("lfilter", lambda f, b, a, x: f(b, a, x), (B + 0.1j, A + 0.2j, _z(5))),
    ("lfilter_zi", lambda f, b, a: f(b, a), (B, A)),
    ("lfilter_zi", lambda f, b, a: f(b, a), (B[:1], A)),
    ("lfiltic", lambda f, b, a, y, x: f(b, a, y, x), (B, A, _x(2), _x(2))),
    ("lfiltic", lambda f, b, a, y: f(b, a, y), (_x(4), A, _x(1))),
    *[("filtfilt", lambda f, b, a, x, p=p: f(b, a, x, padtype=p, padlen=4), (B, A, _x(8))) for p in ("odd", "even", "constant", None)],
    ("filtfilt", lambda f, b, a, x: f(b, a, x, axis=0), (B, A, _x(11, 2))),
    ("sosfilt", lambda f, s, x: f(_with_ones(s), x), (SOS[:, [0, 1, 2, 4, 5]].copy(), _x(7))),
    ("sosfilt", lambda f, x, zi: f(SOS, x, axis=0, zi=zi), (_x(6, 2), _x(2, 2, 2))),
    ("sosfilt_zi", lambda f, s: f(_with_ones(s)), (SOS[:, [0, 1, 2, 4, 5]].copy(),)),
    ("sosfiltfilt", lambda f, x: f(SOS, x), (_x(2, 18),)),
    *[_row("savgol_filter", _x(2, 9), args=(5, 2), mode=mode, cval=0.3) for mode in ("interp", "mirror", "constant", "nearest", "wrap")],
    _row("savgol_filter", _x(9), args=(4, 3), deriv=1, delta=0.5),
    _row("savgol_filter", _x(9, 2), args=(4, 2), axis=0, mode="nearest"),
    _row("detrend", _x(7)),
    _row("detrend", _x(7, 2), axis=0, type="constant"),
    _row("detrend", _x(2, 9), bp=[3, 5]),
    _row("wiener", _x(6, 5)),
    ("wiener", lambda f, x, n: f(x, (3, 5), n), (_x(6, 6), np.array(0.7))),
    _row("medfilt", _x(7)),
    _row("medfilt", _x(4, 5), args=((3, 1),)),
    _row("medfilt2d", _x(5, 4)),
    ("order_filter", lambda f, x: f(x, np.array([[1, 0, 1], [1, 1, 0], [0, 0, 1]]), 3), (_x(5, 4),)),
]


def _with_ones(s):
    """Sections of a filter from all but their fourth column, which is 1."""
    module = wengert if isinstance(s, wengert.Tensor) else np
    found = module.concatenate([s[:, :3], s[:, :1] * 0 + 1, s[:, 3:]], **({"dim": 1} if module is wengert else {"axis": 1}))
    return found if module is wengert else np.ascontiguousarray(found)


ENVELOPED = np.array([0.4, -1.2, 0.9, 2.1, -0.3, 0.8, -1.7, 0.6, 1.1])

SPECTRA = [
    *[_row("welch", _x(2, 20), nperseg=8, scaling=scaling, detrend=d) for scaling in ("density", "spectrum") for d in ("linear", False)],
    _row("welch", _x(17), fs=3.0, nperseg=5, noverlap=1, nfft=9),
    _row("welch", _z(20), nperseg=8),
    _row("welch", _x(12, 2), nperseg=6, axis=0, return_onesided=False),
    _row("csd", _x(20), _x(20), nperseg=8),
    *[_row("stft", _x(15), nperseg=6, boundary=boundary) for boundary in ("zeros", "even", "odd", "constant", None)],
    _row("stft", _x(2, 14), fs=2.0, nperseg=5, noverlap=3, nfft=8, padded=False, scaling="psd", detrend="linear"),
    _row("stft", _z(13, 2), nperseg=4, axis=0, return_onesided=False),
    _row("istft", _z(4, 5), nperseg=6),
    _row("istft", _z(4, 3), nperseg=4, input_onesided=False, scaling="psd", fs=2.0),
    _row("istft", _z(5, 2, 4), nperseg=6, time_axis=0, freq_axis=-1),
    *[_row("spectrogram", _x(16), nperseg=6, mode=mode, scaling="spectrum") for mode in ("psd", "complex", "magnitude", "angle")],
    _row("spectrogram", _x(2, 16), fs=3.0, nperseg=5, noverlap=2, nfft=8, window="hann"),
    *[_row("lombscargle", np.array([0.1, 0.7, 1.9, 2.3, 3.8]), _x(5), np.array([0.8, 1.7]), normalize=n) for n in (False, True, "amplitude")],
    ("lombscargle", lambda f, x, y, weights: f(x, y, [0.8, 1.7], weights=weights, floating_mean=True), (np.array([0.1, 0.7, 1.9, 2.3, 3.8]), _x(5), np.array([0.5, 1.0, 0.7, 1.2, 0.9]))),
    ("freqz_sos", lambda f, s: f(_with_ones(s), worN=5), (np.delete(SOS, 3, 1),)),
    _row("periodogram", _x(13), fs=2.0, window="hann"),
    _row("periodogram", _x(9), nfft=12),
    _row("coherence", _x(30), _x(30), nperseg=8),
    *[_row("hilbert", _x(2, n)) for n in (5, 6)],
    _row("hilbert", _x(5), N=8),
    *[("envelope", lambda f, x, b=b, r=r, n=n: f(x[..., :n], b, residual=r), (ENVELOPED,)) for n in (8, 9)
      for b in ((1, None), (None, None), (2, 4), (0, 3)) for r in ("lowpass", "all", None)],
    ("envelope", lambda f, z: f(z, (-2, 3), squared=True, residual="all", axis=0), (_x(6, 2) + 1j * _x(6, 2),)),
    *[_row("resample", _x(n, 2), args=(m,)) for n in (7, 8) for m in (4, 5, 7, 8, 12, 13)],
    _row("resample", _z(6), args=(9,)),
    *[_row("upfirdn", _x(5), _x(2, 7), up=up, down=down) for up, down in ((1, 1), (3, 1), (1, 2), (3, 2))],
    *[_row("resample_poly", _x(12, 2), args=ratio) for ratio in ((3, 2), (1, 3), (2, 4), (1, 1))],
    _row("decimate", _x(40), args=(2,)),
    _row("decimate", _x(40), args=(2,), zero_phase=False),
    *[_row("decimate", _x(30), args=(3,), ftype="fir", zero_phase=zero) for zero in (True, False)],
    _row("freqz", B, A, worN=5),
    _row("freqz", B, args=(2.0, [0.1, 0.7]), fs=3.0),
    *[
        _row("chirp", np.linspace(0.1, 0.9, 4), np.array(0.8), np.array(1.3), np.array(2.1), method=m, phi=20)
        for m in ("linear", "quadratic", "logarithmic", "hyperbolic")
    ],
    _row("gausspulse", np.linspace(-0.2, 0.3, 4), np.array(1.5), np.array(0.4)),
]  # fmt: skip


WINDOWS = [
    *[
        (name, lambda f, *xs, m=m, sym=sym: f(m, *xs, sym=sym), tuple(np.array(v) for v in values))
        for name, values in (("gaussian", (1.3,)), ("general_gaussian", (1.4, 1.7)), ("general_hamming", (0.6,)), ("kaiser", (2.5,)))
        for m in (6, 7) for sym in (True, False)
    ],
    ("exponential", lambda f, tau: f(6, tau=tau), (np.array(1.4),)),
    ("exponential", lambda f, tau: f(6, 1.3, tau, False), (np.array(1.4),)),
    ("general_cosine", lambda f, a: f(7, a), (np.array([0.5, 0.3, 0.2]),)),
]  # fmt: skip


@each("row", WINDOWS)
def test_windows(row):
    name, call, arrays = row
    check_call("signal.windows", name, call, *arrays)


@each("row", SPECTRA)
def test_spectra_rates_and_responses(row):
    name, call, arrays = row
    check_call("signal", name, call, *arrays, step=1e-3 if name == "coherence" else 1e-2)


@each("row", CONVOLUTIONS)
def test_convolutions(row):
    name, call, arrays = row
    check_call("signal", name, call, *arrays)


@each("row", FILTERS)
def test_filters(row):
    name, call, arrays = row
    check_call("signal", name, call, *arrays, step=1e-3 if name in STEEP else 1e-2)


def test_bad_signals_are_refused():
    x, long = wengert.ones(6, requires_grad=True), wengert.ones(40, requires_grad=True)
    for call, error in [
        (lambda: signal.convolve(x, np.ones((2, 2))), ValueError),
        (lambda: signal.convolve(x, [1.0], mode="some"), ValueError),
        (lambda: signal.fftconvolve(wengert.ones(2, 3, requires_grad=True), np.ones((4, 2)), axes=1), ValueError),
        (lambda: signal.correlate(wengert.ones(2, 6, requires_grad=True), np.ones((3, 3)), mode="valid"), ValueError),
        (lambda: signal.lfilter([1.0], [0.0, 1.0], x), ValueError),
        (lambda: signal.lfilter(B, A, x, zi=np.ones(3)), ValueError),
        (lambda: signal.filtfilt(B, A, x), ValueError),
        (lambda: signal.filtfilt(B, A, long, padtype="none"), ValueError),
        (lambda: signal.filtfilt(B, A, long, method="gust"), wengert.errors.ArgumentError),
        (lambda: signal.sosfilt(SOS[:, :5], x), ValueError),
        (lambda: signal.savgol_filter(x, 7, 2), ValueError),
        (lambda: signal.medfilt(x, 4), ValueError),
        (lambda: signal.detrend(x, type="cubic"), ValueError),
    ]:
        with pytest.raises(error):
            call()


def test_float32_stays_float32():
    x = wengert.ones(20, requires_grad=True)
    assert signal.lfilter(wengert.tensor([0.5]), wengert.tensor([1.0, -0.2]), x).dtype == wengert.float32
    assert signal.convolve(x, wengert.ones(3)).dtype == wengert.float32
    assert signal.convolve(x, np.ones(3)).dtype == wengert.float64


def number(x):
    """A number for SciPy, which takes no arrays of no dimension."""
    return float(x) if isinstance(x, np.ndarray) else x


ZEROS, POLES = np.array([-0.5 + 0.3j, -0.5 - 0.3j, 0.2]), np.array([-0.7 + 0.2j, -0.7 - 0.2j, -0.4, -0.9 + 0j])
FORMS = [
    ("zpk2tf", lambda f, z, k: f(z, POLES, k), np.array([0.3, -0.2]), np.array(1.7)),
    ("zpk2tf", lambda f, p: f([], p * (1 + 2j), 2.0), np.array([0.3, -0.2])),
    ("tf2zpk", lambda f, b, a: f(b, a), np.array([1.0, 2.0, 0.3]), np.array([2.0, 1.0, 0.8, 0.1])),
    ("tf2zpk", lambda f, b, a: f(b, a), np.array([2.0, 0.5]), np.array([2.0])),
    ("sos2tf", lambda f, s: f(s), np.random.default_rng(0).normal(size=(2, 6))),
    ("zpk2sos", lambda f, k: f(ZEROS, POLES, k), np.array(1.4)),
    ("bilinear", lambda f, b, a, fs: f(b, a, number(fs)), np.array([1.0, 2.0]), np.array([2.0, 1.0, 0.8]), np.array(3.0)),
    ("lp2hp_zpk", lambda f, z, p: f(z, p, 1.0, 2.0), ZEROS, POLES),
    *[(name, lambda f, k, *a: f(ZEROS, POLES, k, *map(number, a)), np.array(1.4), *map(np.array, more)) for name, more in
      (("bilinear_zpk", (3.0,)), ("lp2lp_zpk", (1.3,)), ("lp2hp_zpk", (1.3,)), ("lp2bp_zpk", (1.3, 0.7)), ("lp2bs_zpk", (1.3, 0.7)))],
]  # fmt: skip
DESIGNS = [
    ("butter", lambda f, q, form: f(3, q, output=form), np.array(0.3)),
    ("butter", lambda f, q, form: f(2, q, btype="bandpass", output=form), np.array([0.2, 0.5])),
    ("cheby1", lambda f, q, fs, form: f(4, 0.5, q, btype="high", output=form, fs=number(fs)), np.array(13.0), np.array(50.0)),
    ("ellip", lambda f, q, form: f(3, 0.5, 40, q, btype="bandstop", output=form), np.array([0.2, 0.5])),
    ("cheby2", lambda f, q, form: f(4, 30, q, output=form), np.array(0.3)),
    ("bessel", lambda f, q, form: f(4, q, analog=True, output=form), np.array(30.0)),
    ("iirfilter", lambda f, q, form: f(4, q, btype="high", output=form), np.array(0.3)),
]  # fmt: skip


@pytest.mark.parametrize("row", FORMS)
def test_forms_of_filters(row):
    name, call, *arrays = row
    check_call("signal", name, call, *arrays, step=1e-3, value_rtol=1e-9)


@pytest.mark.parametrize("form", ["ba", "zpk", "sos"])
@pytest.mark.parametrize("row", DESIGNS)
def test_designs_of_filters(row, form):
    name, call, *arrays = row
    check_call("signal", name, lambda f, *a: call(f, *a, form), *arrays, step=1e-3, value_rtol=1e-9)
