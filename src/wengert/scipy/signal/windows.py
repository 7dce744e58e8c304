"""scipy.signal.windows with derivatives in the parameters of the windows. See ../_frame.py."""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

from wengert.array_functions.table import special, w
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
