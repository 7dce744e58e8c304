"""Derivatives of the regularised incomplete beta function I_x(a, b) with respect to a and b, of any order, by quadrature.

These derivatives have no closed form. With p(t) = t**(a - 1) (1 - t)**(b - 1) / B(a, b), the density of the beta distribution,

    I_x(a, b) = integral of p from 0 to x,    d^(m+n) I / da^m db^n = integral of p B_mn from 0 to x,

where B_mn is the polynomial of `densities.bell` in log(t), log(1 - t) and polygammas of a, b and a + b. Because I_x(a, b) =
1 - I_(1-x)(b, a), the integral runs over the side of x that is the tail of the density. There p(t) / p(x), with
t = x exp(-s), decreases from 1. Its only singularity is a logarithm. The double-exponential rule s = L exp(pi / 2 sinh(u))
(Takahasi and Mori, 1974) integrates it to nearly full precision. L is the width over which the exponent falls by one.

For a < 1, the integrand has two different widths. One step of the recurrence (Abramowitz and Stegun 26.5.16)

    I_x(a, b) = I_x(a + 1, b) + x**a (1 - x)**b / (a B(a, b))

raises a above 1. The derivatives of the added term are polynomials of the same kind.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from wengert._forks import import_late
from wengert.backends.selection import backend_of
from wengert.ops.densities import bell, beta_mass, in_blocks, polygamma_step, tail_integral

_STEP = 0.05  # distance of the nodes of the quadrature


def by_parameters(a: Any, b: Any, x: Any, m: int, n: int) -> Any:
    """d^(m+n) I_x(a, b) / da^m db^n for m + n >= 1. a, b, x: float64 arrays of one shape.

    0 at x = 0 and x = 1. NaN unless 0 <= x <= 1, 0 < a < inf and 0 < b < inf."""
    xp = backend_of(a)
    defined = (a > 0) & (b > 0) & xp.isfinite(a) & xp.isfinite(b)
    inside = defined & (x > 0) & (x < 1)
    a, b, x_ = (xp.where(inside, v, 0.5) for v in (a, b, x))
    y = 1 - x_
    lower = x_ * xp.maximum(b, 1) <= y * xp.maximum(a, 1)
    found = xp.empty(x_.shape)
    found[lower] = _lower_tail(a[lower], b[lower], x_[lower], y[lower], m, n)
    upper = ~lower
    found[upper] = -_lower_tail(b[upper], a[upper], y[upper], x_[upper], n, m)
    return xp.where(inside, found, xp.where(defined & ((x == 0) | (x == 1)), 0.0, np.nan))


def _lower_tail(a: Any, b: Any, x: Any, y: Any, m: int, n: int) -> Any:
    """The derivative by the lower tail, for x not far above the peak of the density. y: 1 - x."""
    xp = backend_of(a)
    small = a < 1
    added = xp.zeros_like(x)
    if small.any():
        added[small] = _recurrence_term(a[small], b[small], x[small], y[small], m, n)
    return added + in_blocks(partial(_by_quadrature, m=m, n=n), xp.where(small, a + 1, a), b, x, y)


def _recurrence_term(a: Any, b: Any, x: Any, y: Any, m: int, n: int) -> Any:
    """The derivative of x**a y**b / (a B(a, b))."""
    xp = backend_of(a)
    special = import_late("scipy.special")

    def exponent(i: int, j: int) -> Any:
        if i and j:
            return special.polygamma(i + j - 1, a + b)
        if i:
            return polygamma_step(a + 1, b - 1, i - 1) + (xp.log(x) if i == 1 else 0.0)
        return polygamma_step(b, a, j - 1) + (_log_complement(x, y) if j == 1 else 0.0)

    return beta_mass(a, b, x, y) / a * bell(exponent, m, n)


def _by_quadrature(a: Any, b: Any, x: Any, y: Any, m: int, n: int) -> Any:
    """The derivative as an integral from 0 to x, for a >= 1. y: 1 - x."""
    xp = backend_of(a)
    special = import_late("scipy.special")

    steps_a = [polygamma_step(a, b, k) for k in range(m)]
    steps_b = [polygamma_step(b, a, k) for k in range(n)]
    both = {k: special.polygamma(k, a + b) for k in range(1, m + n)} if m and n else {}
    ratio, log_x = x / y, _log_complement(y, x)
    # The exponent is -slope s - bend s**2 / 2 + ...
    slope = xp.maximum(a - (b - 1) * ratio, 0)
    bend = xp.maximum(b - 1, 0) * ratio * (1 + ratio)
    width = 2 / (slope + xp.sqrt(slope**2 + 2 * bend))

    def integrand(s: Any) -> Any:
        t = x * xp.exp(-s)
        rise = xp.log1p(-ratio * xp.expm1(-s))  # log((1 - t) / (1 - x))
        log_t, log_rest = log_x - s, xp.where(t < 0.5, xp.log1p(-t), xp.log(y) + rise)

        def exponent(i: int, j: int) -> Any:
            if i and j:
                return both[i + j - 1]
            if i:
                return steps_a[i - 1] + (log_t if i == 1 else 0.0)
            return steps_b[j - 1] + (log_rest if j == 1 else 0.0)

        logarithm = (b - 1) * rise - a * s
        return xp.where(logarithm < -745, 0.0, xp.exp(logarithm) * bell(exponent, m, n))

    return beta_mass(a, b, x, y) / y * tail_integral(integrand, width, _STEP)


def _log_complement(x: Any, y: Any) -> Any:
    """log(y) for y = 1 - x, computed from the smaller of x and y."""
    xp = backend_of(x)
    return xp.where(x < 0.5, xp.log1p(-x), xp.log(y))
