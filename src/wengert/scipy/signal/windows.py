"""scipy.signal.windows with derivatives in the parameters of the windows. See ../_frame.py."""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

from wengert.array_functions.table import detached as _detached, fft, holds_tensor as _holds_tensor, special, w
from wengert.scipy._closures import with_values as _with_values
from wengert.scipy._frame import Submodule as _Submodule, operands as _operands

_module = _Submodule("signal.windows", globals())
__getattr__, __dir__ = _module.lookups()


def _places(M: int, sym: bool) -> Any:
    """Places of a window's elements, counted from 0 to 1 over its symmetric form; at most M of them are used."""
    if int(M) != M or M < 0:
        raise ValueError("Window length M must be a non-negative integer")
    last = int(M) - 1 if sym else int(M)
    return w.as_tensor(np.arange(int(M), dtype=np.float64)), max(last, 1)


@_module.differentiates()
def _gaussian(M, std, sym=True):
    n, last = _places(M, sym)
    (std,) = _operands(std)
    return w.exp(-((n - last / 2) ** 2) / (2 * std * std)) if M > 1 else w.ones_like(n)


@_module.differentiates()
def _general_gaussian(M, p, sig, sym=True):
    n, last = _places(M, sym)
    p, sig = _operands(p, sig)
    return w.exp(-0.5 * w.pow(w.abs((n - last / 2) / sig), 2 * p)) if M > 1 else w.ones_like(n)


@_module.differentiates()
def _general_cosine(M, a, sym=True):
    n, last = _places(M, sym)
    (a,) = _operands(a)
    angles = n * (2 * pi / last) - pi
    return sum(a[k] * w.cos(k * angles) for k in range(len(a))) if M > 1 else w.ones_like(n)


@_module.differentiates()
def _general_hamming(M, alpha, sym=True):
    (alpha,) = _operands(alpha)
    return _general_cosine(M, w.stack([alpha, 1 - alpha]), sym)


@_module.differentiates()
def _kaiser(M, beta, sym=True):
    n, last = _places(M, sym)
    (beta,) = _operands(beta)
    inside = w.clamp(1 - ((n - last / 2) / (last / 2)) ** 2, min=0)
    return special.i0(beta * w.sqrt(inside)) / special.i0(beta) if M > 1 else w.ones_like(n)


@_module.differentiates()
def _exponential(M, center=None, tau=1.0, sym=True):
    n, last = _places(M, sym)
    (tau,) = _operands(tau)
    if sym and center is not None:
        raise ValueError("If sym==True, center must be None.")
    return w.exp(-w.abs(n - (last / 2 if center is None else center)) / tau) if M > 1 else w.ones_like(n)


@_module.differentiates()
def _tukey(M, alpha=0.5, sym=True):
    n, last = _places(M, sym)
    (alpha,) = _operands(alpha)
    if M <= 1 or float(alpha.detach()) <= 0:
        return w.ones_like(n) + 0.0 * alpha
    if float(alpha.detach()) >= 1:
        return _general_cosine(M, np.array([0.5, 0.5]), sym) + 0.0 * alpha
    edge = w.minimum(n, last - n)  # to the nearer end
    tapers = edge < np.floor(float(alpha.detach()) * last / 2.0) + 1
    return w.where(tapers, 0.5 * (1 + w.cos(pi * (2.0 * w.where(tapers, edge, 0.0) / alpha / last - 1))), 1.0)


@_module.differentiates()
def _chebwin(M, at, sym=True):
    values = _module.scipy.chebwin(M, float(np.asarray(_detached(at))), sym)
    order = (int(M) if sym else int(M) + 1) - 1
    if order < 1:
        return w.as_tensor(values)
    (at,) = _operands(at)
    beta = w.cosh(w.acosh(10.0 ** (w.abs(at) / 20.0)) / order)
    x = beta * w.as_tensor(np.cos(pi * np.arange(order + 1) / (order + 1)))
    inside = w.abs(x) <= 1
    size = w.where(inside, 2.0, w.abs(x))
    far = w.cosh(order * w.acosh(size)) * w.where(x < 0, -1.0 if order % 2 else 1.0, 1.0)
    p = w.where(inside, w.cos(order * w.acos(w.where(inside, x, 0.0))), far)  # Chebyshev's polynomial of this order
    if order % 2 == 0:
        half = fft.fft(p).real[: (order + 2) // 2]
        found = w.cat([w.flip(half[1:], (0,)), half])
    else:
        angles = w.as_tensor(pi / (order + 1) * np.arange(order + 1))
        half = fft.fft(w.complex(p * w.cos(angles), p * w.sin(angles))).real[: (order + 1) // 2 + 1]
        found = w.cat([w.flip(half[1:], (0,)), half[1:]])
    return _with_values((found / w.amax(found))[: int(M)], values)


@_module.differentiates()
def _kaiser_bessel_derived(M, beta, *, sym=True):
    values = _module.scipy.kaiser_bessel_derived(M, float(np.asarray(_detached(beta))), sym=sym)
    if M < 1:
        return w.as_tensor(values)
    sums = w.cumsum(_kaiser(M // 2 + 1, beta), 0)
    half = w.sqrt(sums[:-1] / sums[-1])
    return w.cat([half, w.flip(half, (0,))])


_NAMES = {
    "kaiser": _kaiser, "ksr": _kaiser, "gaussian": _gaussian, "gauss": _gaussian, "gss": _gaussian, "exponential": _exponential,
    "poisson": _exponential, "general_gaussian": _general_gaussian, "general_cosine": _general_cosine, "tukey": _tukey,
    "tuk": _tukey, "general_hamming": _general_hamming, "chebwin": _chebwin, "cheb": _chebwin,
    "kaiser_bessel_derived": _kaiser_bessel_derived, "kbd": _kaiser_bessel_derived,
}  # fmt: skip


@_module.differentiates()
def _get_window(window, Nx, fftbins=True):
    if not isinstance(window, tuple):
        (beta,) = _operands(window)
        return _kaiser(Nx, beta, not fftbins)
    name = str(window[0]).replace(" ", "_")
    sym = not fftbins
    for ending, chosen in (("_periodic", False), ("_symmetric", True)):
        if name.endswith(ending):
            name, sym = name.removesuffix(ending), chosen
    if name not in _NAMES:
        if _holds_tensor(window):
            raise ValueError(f"The window {name!r} has no derivative in its parameters.")
        return w.as_tensor(_module.scipy.get_window(window, Nx, fftbins))
    return _NAMES[name](Nx, *window[1:], sym=sym)


_module.constant(
    "The result depends on lengths alone.", "barthann", "bartlett", "blackman", "blackmanharris", "bohman", "boxcar", "cosine",
    "flattop", "hamming", "hann", "lanczos", "nuttall", "parzen", "triang",
)  # fmt: skip
_module.refuse("Use kaiser.", "dpss", "taylor")
