"""Responses of filters and of linear systems to frequencies. The frequencies differentiate too."""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

from wengert._forks import import_late
from wengert.array_functions.table import detached, holds_tensor, w as _w
from wengert.scipy._closures import with_values
from wengert.scipy._frame import operands
from wengert.scipy.signal._designs import _complex, polyval, zpk2tf
from wengert.scipy.signal._systems import coefficients_of, parts_of

__all__ = [
    "bode", "dbode", "dfreqresp", "freqresp", "freqs", "freqs_zpk", "freqz", "freqz_sos", "freqz_zpk", "group_delay", "sosfreqz",
]  # fmt: skip

theirs = import_late("scipy.signal")


def _vectors(b: Any, a: Any) -> Any:
    b, a = [_w.atleast_1d(x) for x in operands(b, a)]
    if b.ndim > 1 or a.ndim > 1:
        raise ValueError("b and a must be vectors for tensors")
    return b, a


def _turns(angles: Any) -> Any:
    """Return the points of the unit circle at these angles."""
    return _w.complex(_w.cos(angles), _w.sin(angles))


def _on_axis(frequencies: Any) -> Any:
    """Return the points of the imaginary axis at these frequencies."""
    return _w.complex(_w.zeros_like(frequencies), frequencies)


def _products(roots: Any, x: Any) -> Any:
    """Return the values at places x of the polynomial with these roots."""
    return _w.prod(x[:, None] - roots[None], 1)


def _frequencies(given: Any, usual: Any) -> Any:
    """Return frequencies as a vector. usual: a function that returns SciPy's, if a number of them is given, or None."""
    if given is None or isinstance(given, (int, np.integer)):
        return _w.as_tensor(np.asarray(usual(), float))
    return _w.atleast_1d(operands(given)[0].double())


def _angles(worN: Any, whole: bool, fs: Any, include_nyquist: bool = False) -> tuple[Any, Any]:
    """Return (frequencies in the units of fs, angles) of a digital filter."""
    fs = operands(fs)[0].double() if holds_tensor([fs]) else fs
    if worN is None or isinstance(worN, (int, np.integer)):
        end = 2 * pi if whole else pi
        count = 512 if worN is None else int(worN)
        angles = _w.as_tensor(np.linspace(0, end, count, endpoint=include_nyquist and not whole))
        return angles * fs / (2 * pi), angles
    given = _frequencies(worN, None)
    return given, 2 * pi * given / fs


# -- digital filters ---------------------------------------------------------------------------------------------------------


def freqz(b, a=1, worN=512, whole=False, *, fs=2 * pi, include_nyquist=False):
    """Response of a digital filter (b, a), vectors: (frequencies, values)."""
    b, a = _vectors(b, a)
    frequencies, angles = _angles(worN, whole, fs, include_nyquist)
    delays = angles[:, None] * _w.as_tensor(np.arange(max(len(b), len(a)), dtype=float))
    turns = _turns(-delays)
    response = turns[:, : len(b)] @ b.to(turns.dtype) / (turns[:, : len(a)] @ a.to(turns.dtype))
    return frequencies, response


def freqz_zpk(z, p, k, worN=512, whole=False, fs=2 * pi):
    """Response of a digital filter with these zeros, poles and gain."""
    frequencies, angles = _angles(worN, whole, fs)
    x = _turns(angles)
    return frequencies, operands(k)[0] * _products(_complex(z), x) / _products(_complex(p), x)


def freqz_sos(sos, worN=512, whole=False, fs=2 * pi):
    """Response of a digital filter in second-order sections (sections, 6)."""
    (sos,) = operands(sos)
    if sos.ndim != 2 or sos.shape[1] != 6:
        raise ValueError("sos array must be shape (n_sections, 6)")
    if not (detached(sos)[:, 3] == 1).all():
        raise ValueError("sos[:, 3] should be all ones")
    if sos.shape[0] == 0:
        raise ValueError("Cannot compute frequencies with no sections")
    frequencies, found = freqz(sos[0, :3], sos[0, 3:], worN, whole, fs=fs)
    for row in sos[1:]:
        found = found * freqz(row[:3], row[3:], worN, whole, fs=fs)[1]
    return frequencies, found


def sosfreqz(sos, worN=512, whole=False, fs=2 * pi):
    """The old name of freqz_sos."""
    return freqz_sos(sos, worN, whole, fs)


def group_delay(system, w=512, whole=False, fs=2 * pi):
    """Delay of the envelope of a signal by a digital filter (b, a): minus the derivative of the phase in the angle.

    As in SciPy, it is 0 where the response is 0."""
    values = theirs.group_delay(detached(system), detached(w), whole, float(np.asarray(detached(fs))))[1]
    b, a = _vectors(*system)
    frequencies, angles = _angles(w, whole, fs)
    delays, total = _turns(-angles), 0.0
    lost = _w.as_tensor(values == 0)
    for side, sign in ((b, 1.0), (a, -1.0)):
        steps = _w.as_tensor(np.arange(len(side), dtype=float)).to(side.dtype)
        below = polyval(_w.flip(side, (0,)), delays)
        above = polyval(_w.flip(side * steps, (0,)), delays)
        total = total + sign * (above / _w.where(below.detach() == 0, 1.0, below)).real
    return frequencies, with_values(_w.where(lost, 0.0, total), values)


# -- analog filters and systems ----------------------------------------------------------------------------------------------


def freqs(b, a, worN=200, plot=None):
    """Response of an analog filter (b, a), vectors: (angular frequencies, values)."""
    b, a = _vectors(b, a)
    frequencies = _frequencies(worN, lambda: theirs.freqs(*detached((b, a)), worN)[0])
    x = _on_axis(frequencies)
    found = polyval(b, x) / polyval(a, x)
    if plot is not None:
        plot(frequencies, found)
    return frequencies, found


def freqs_zpk(z, p, k, worN=200):
    """Response of an analog filter with these zeros, poles and gain."""
    frequencies = _frequencies(worN, lambda: theirs.freqs_zpk(*detached((z, p, k)), worN)[0])
    x = _on_axis(frequencies)
    return frequencies, operands(k)[0] * _products(_complex(z), x) / _products(_complex(p), x)


def _single(parts: Any) -> Any:
    """Return the coefficients of a system with one input and one output."""
    if len(parts) == 3:
        return zpk2tf(*parts)
    num, den = coefficients_of(parts)
    if num.ndim > 1 and num.shape[0] > 1:
        raise ValueError("the response is that of a SISO (single input, single output) system.")
    return num.reshape(-1), den


def freqresp(system, w=None, n=10000):
    """Response of a continuous system with one input and one output: (angular frequencies, values)."""
    frequencies = _frequencies(w, lambda: theirs.freqresp(detached(system), None, n)[0])
    num, den = _single(parts_of(system))
    return freqs(num, den, frequencies)


def dfreqresp(system, w=None, n=10000, whole=False):
    """Response of a discrete system with one input and one output: (angles, values)."""
    angles = _frequencies(w, lambda: theirs.dfreqresp(detached(system), None, n, whole)[0])
    num, den = _single(parts_of(system, discrete=True)[:-1])
    x = _turns(angles)
    return angles, polyval(num, x) / polyval(den, x)


def _bode(found: Any) -> tuple[Any, Any]:
    """Return (magnitudes in dB, phases in degrees) of a response. The phases have no jumps."""
    squares = found.real**2 + found.imag**2
    phases = _w.atan2(found.imag, found.real)
    return 10 * _w.log10(squares), with_values(phases, np.unwrap(detached(phases))) * (180 / pi)


def bode(system, w=None, n=100):
    """Magnitudes and phases of a continuous system: (angular frequencies, dB, degrees)."""
    frequencies, found = freqresp(system, w, n)
    return frequencies, *_bode(found)


def dbode(system, w=None, n=100):
    """Magnitudes and phases of a discrete system: (angular frequencies, dB, degrees)."""
    angles, found = dfreqresp(system, w, n)
    return angles / parts_of(system, discrete=True)[-1], *_bode(found)
