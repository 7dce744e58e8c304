"""Splines that do not go through their points: least squares fits with given knots, and smoothing splines."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert import errors
from wengert._forks import import_late
from wengert.array_functions.table import detached, linalg, w as _w
from wengert.scipy._sparse_products import Pattern, solve
from wengert.scipy.interpolate._b_splines import BSpline, _places, basis, make_interp_spline
from wengert.scipy.interpolate._piecewise import double

scipy: Any = import_late("scipy.interpolate")


def make_lsq_spline(x: Any, y: Any, t: Any, k: int = 3, w: Any = None, axis: int = 0, check_finite: bool = True) -> BSpline:
    """Return the B-spline of degree k with the knots t that is nearest to the points, with weights w.

    Derivatives in x, y, t and w: those of the solution of the least squares problem, by a sparse solve."""
    theirs = scipy.make_lsq_spline(*detached((x, y, t)), k, None if w is None else detached(w), axis, check_finite)
    x, y, t = double(x), _w.movedim(double(y), axis, 0), double(t)
    weights = _w.ones_like(x) if w is None else double(w)
    m, n = len(x), len(theirs.c)
    place = _places(t, k, x)
    parts = [weights * part for part in basis(t, k, x, place)]
    rows, cols = np.tile(np.arange(m), k + 1), np.concatenate([place - k + r + m for r in range(k + 1)])
    # The residual r and the coefficients c solve r + W B c = W y and (W B)^T r = 0.
    pattern = Pattern(np.concatenate([np.arange(m), rows, cols]), np.concatenate([np.arange(m), cols, rows]), (m + n, m + n))
    values = _w.cat([_w.ones_like(x), *parts, *parts])
    side = (weights.reshape((-1,) + (1,) * (y.ndim - 1)) * y).reshape(m, -1)
    both = solve(pattern, values, _w.cat([side, _w.zeros((n, side.shape[1]), dtype=side.dtype)]))
    return _placed(BSpline(t, both[m:].reshape((n, *y.shape[1:])), k, theirs.extrapolate), theirs)


def _placed(found: BSpline, theirs: Any) -> BSpline:
    found.axis = theirs.axis
    return found


def make_smoothing_spline(x: Any, y: Any, w: Any = None, lam: Any = None, *, axis: int = 0) -> BSpline:
    """Return the natural cubic spline f that minimizes the sum of w (y - f(x))**2 plus lam times the integral of f''**2.

    Derivatives in x, y, w and lam: those of the linear system of C. Reinsch (1967). Without lam, SciPy chooses it by
    cross-validation, which has no derivative."""
    if lam is None:
        name = "scipy.interpolate.make_smoothing_spline without lam"
        raise errors.no_array_of("Tensor that is differentiated", name, "Give lam.")
    plain = None if w is None else detached(w)
    theirs = scipy.make_smoothing_spline(*detached((x, y)), plain, float(np.asarray(detached(lam))), axis=axis)
    x, y, lam = double(x), _w.movedim(double(y), axis, 0), double(lam)
    weights = _w.ones_like(x) if w is None else double(w)
    n, h = len(x), x[1:] - x[:-1]
    left, right = 1 / h[:-1], 1 / h[1:]
    eye = _w.eye(n, dtype=x.dtype)
    bends = left[:, None] * eye[:-2] - (left + right)[:, None] * eye[1:-1] + right[:, None] * eye[2:]
    lengths = _w.diag((h[:-1] + h[1:]) / 3) + _w.diag(h[1:-1] / 6, 1) + _w.diag(h[1:-1] / 6, -1)
    flat = y.reshape(n, -1)
    seconds = linalg.solve(lengths + lam * _w.matmul(bends / weights, bends.mT), _w.matmul(bends, flat))
    smooth = flat - lam * _w.matmul(bends.mT, seconds) / weights[:, None]
    return _placed(make_interp_spline(x, smooth.reshape(y.shape), bc_type="natural"), theirs)


FUNCTIONS = (make_lsq_spline, make_smoothing_spline)
