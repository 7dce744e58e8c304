"""Splines that do not go through their points: least squares fits with given knots, and smoothing splines.

Note [Smoothing splines]
FITPACK's splines have the smallest sum of squares of the jumps of their highest derivative at the knots, among those whose sum of
weighted squares of residuals is s (P. Dierckx, Curve and Surface Fitting with Splines, 1993). With the knots that SciPy chose, the
coefficients c and the factor q of the jumps solve B^T W^2 (B c - y) + q D^T D c = 0 and |W (B c - y)|^2 = s. The derivative is that
of this implicit function. SciPy stops when the sum is within 0.1 percent of s: the share of s that it reached is kept. If the
least squares spline with these knots meets the condition, as a polynomial does for a large s, it is the spline, and s has no part.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert import errors
from wengert._forks import import_late
from wengert.array_functions.table import detached, linalg, w as _w
from wengert.scipy._closures import implicit, with_values
from wengert.scipy._sparse_products import Pattern, multiply, solve
from wengert.scipy.interpolate._b_splines import BSpline, _differences, _places, basis, knots_of, make_interp_spline
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


# -- smoothing with knots that are chosen ----------------------------------------------------------------------------------------


def fitted(x: Any, y: Any, weights: Any, theirs: Any, s: Any, t: Any = None) -> tuple[Any, Any]:
    """Return the knots and coefficients (n, columns) of a spline that SciPy fitted to points, as tensors.

    y: (m, columns). theirs: SciPy's (t, c, k), with c: (n, columns). s: the smoothing condition, a number or a tensor. t: knots
    that were given, or None: then those that are points of the data move with these. See Note [Smoothing splines].
    """
    given, values, k = np.asarray(theirs[0]), np.asarray(theirs[1]), theirs[2]
    x, y = double(x), double(y)
    weights = _w.ones_like(x) if weights is None else double(weights)
    knots, n = double(t) if t is not None else knots_of(x, k, given), len(given) - k - 1
    place = _places(given, k, x)
    pattern = Pattern(np.tile(np.arange(len(x)), k + 1), np.concatenate([place - k + r for r in range(k + 1)]), (len(x), n))
    data = _w.cat([weights * part for part in basis(knots, k, x, place)])
    target = weights[:, None] * y
    matrix, side = pattern.matrix(detached(data)).toarray(), detached(target)
    missed = ((matrix @ values - side) ** 2).sum()
    least = ((matrix @ np.linalg.lstsq(matrix, side, rcond=None)[0] - side) ** 2).sum()
    if len(x) == n:
        return knots, with_values(solve(pattern, data, target), values)
    if n == k + 1 or missed <= least * (1 + 1e-7) + 1e-14 * (side**2).sum():
        return knots, with_values(make_lsq_spline(x, y, knots, k, weights).c, values)
    jumps = _w.eye(n, dtype=x.dtype)
    for j in range(k):
        jumps = _differences(knots, jumps, k - j)
    jumps = jumps[k + 1 :] - jumps[k:-1]
    jumps = jumps / float(np.linalg.norm(detached(jumps)))
    limit = missed * double(s) / float(np.asarray(detached(s)))

    def residual(z: Any) -> Any:
        c, q = z[:-1].reshape(values.shape), z[-1]
        gaps = multiply(pattern, data, c) - target
        balance = multiply(pattern.transposed, data, gaps) + q * (jumps.mT @ (jumps @ c))
        return _w.cat([balance.reshape(-1), (_w.sum(gaps * gaps) - limit).reshape(1)])

    roughness = detached(jumps).T @ (detached(jumps) @ values)
    factor = np.sum(roughness * (matrix.T @ (side - matrix @ values))) / np.sum(roughness**2)
    return knots, implicit(residual, np.append(values.reshape(-1), factor))[:-1].reshape(values.shape)


FUNCTIONS = (make_lsq_spline, make_smoothing_spline)
