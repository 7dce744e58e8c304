"""Partial fractions of the ratio of two polynomials. Derivatives: for poles that are all different."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert._forks import import_late
from wengert.array_functions.table import detached, w
from wengert.scipy._closures import with_values
from wengert.scipy._frame import operands
from wengert.scipy.signal._convolutions import deconvolve
from wengert.scipy.signal._designs import _complex, _like, _polynomial, _roots, _times, polyval

__all__ = ["invres", "invresz", "residue", "residuez"]

theirs: Any = import_late("scipy.signal")


def _check_different(poles: Any, tol: float, rtype: str, name: str) -> None:
    if len(theirs.unique_roots(detached(poles), tol, rtype)[0]) < len(poles):
        raise NotImplementedError(f"scipy.signal.{name} has a derivative if all poles are different. Hint: a smaller tol.")


def _trimmed(x: Any, side: str) -> Any:
    """Return a polynomial without its leading zeros ("f"), or without those at the end ("b")."""
    x = w.atleast_1d(x)
    places = np.flatnonzero(detached(x))
    if not len(places):
        return x[:1]
    return x[int(places[0]) :] if side == "f" else x[: int(places[-1]) + 1]


def _differences(poles: Any) -> Any:
    """Return the product of the differences of each pole from the others."""
    gaps = poles[:, None] - poles[None]
    return w.prod(gaps + w.eye(len(poles), dtype=gaps.dtype), 1)


def residue(b, a, tol=1e-3, rtype="avg"):
    """Residues r, poles p and polynomial k of b(s) / a(s)."""
    r, p, k = theirs.residue(*detached((b, a)), tol, rtype)
    b, a = [_trimmed(x, "f") for x in operands(b, a)]
    poles = _complex(_roots(a, p))
    _check_different(poles, tol, rtype, "residue")
    found = polyval(b, poles) / (a[0] * _differences(poles))
    direct = with_values(deconvolve(b, a)[0], k) if len(k) else w.as_tensor(k)
    return _like(found, r), _like(poles, p), direct


def residuez(b, a, tol=1e-3, rtype="avg"):
    """Residues r, poles p and polynomial k of b(1/z) / a(1/z), polynomials in 1/z whose constant comes first."""
    r, p, k = theirs.residuez(*detached((b, a)), tol, rtype)
    b, a = [_trimmed(x, "b") for x in operands(b, a)]
    poles = _complex(_roots(a, p))
    _check_different(poles, tol, rtype, "residuez")
    inverse = 1 / poles
    gaps = 1 - poles[None] * inverse[:, None]
    below = a[0] * w.prod(gaps + w.eye(len(poles), dtype=gaps.dtype), 1)
    found = polyval(w.flip(b, (0,)), inverse) / below
    direct = with_values(w.flip(deconvolve(w.flip(b, (0,)), w.flip(a, (0,)))[0], (0,)), k) if len(k) else w.as_tensor(k)
    return _like(found, r), _like(poles, p), direct


def _joined(r: Any, p: Any, k: Any, values: Any, name: str, tol: float, rtype: str) -> Any:
    """Return (numerator, denominator) with the constant first if name is invresz, as vectors of SciPy's length."""
    _check_different(p, tol, rtype, name)
    r, poles = _complex(r), _complex(p)
    below = _polynomial(poles)
    is_delay = name == "invresz"
    above = w.zeros(max(len(poles), 1), dtype=below.dtype)
    for i in range(len(poles)):
        above = above + r[i] * _polynomial(w.cat([poles[:i], poles[i + 1 :]]))
    k = None if k is None or not np.size(detached(k)) else _trimmed(_complex(k), "b" if is_delay else "f")
    if k is not None:
        product = _times(k, below)
        gap = w.zeros(abs(len(product) - len(above)), dtype=below.dtype)
        above = product + (w.cat([above, gap]) if is_delay else w.cat([gap, above]))
    size = len(values[0])
    gap = w.zeros(max(0, size - len(above)), dtype=below.dtype)
    above = w.cat([above, gap])[:size] if is_delay else w.cat([gap, above])[-size:]
    return _like(above, values[0]), _like(below, values[1])


def invres(r, p, k, tol=1e-3, rtype="avg"):
    """The polynomials (b, a) of partial fractions: the inverse of residue."""
    return _joined(r, p, k, theirs.invres(*detached((r, p, k)), tol, rtype), "invres", tol, rtype)


def invresz(r, p, k, tol=1e-3, rtype="avg"):
    """The polynomials (b, a) in 1/z of partial fractions: the inverse of residuez."""
    return _joined(r, p, k, theirs.invresz(*detached((r, p, k)), tol, rtype), "invresz", tol, rtype)
