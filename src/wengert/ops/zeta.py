"""Derivatives, of any order, of Hurwitz' zeta function in its exponent, by the Euler-Maclaurin formula.

    zeta(s, q) = sum of (q + k)**-s over k < N  +  t**(1 - s) / (s - 1)  +  t**-s / 2
                 + sum over j of B_2j / (2j)! s (s + 1) ... (s + 2j - 2) t**(1 - s - 2j),      t = q + N

with Bernoulli's numbers B (Johansson, Rigorous high-precision computation of the Hurwitz zeta function and its
derivatives, 2015, equation 5). Each term is expanded in powers of e at s + e; the n-th coefficient times n! is the n-th
derivative. With N + q >= 12 and ten terms of the second sum, the remainder is below the rounding error of float64.
"""

from __future__ import annotations

from math import factorial
from typing import Any

import numpy as np

from wengert.backends.selection import backend_of

_TERMS = 12
# B_2j / (2j)! for j from 1 on: Abramowitz and Stegun, table 23.2.
_BERNOULLI = (
    1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160, -691 / 1307674368000, 1 / 74724249600,
    -3617 / 10670622842880000, 43867 / 5109094217170944000, -174611 / 802857662698291200000,
)  # fmt: skip


def _multiply_series(a: list[Any], b: list[Any]) -> list[Any]:
    """Product of two power series, truncated to their length."""
    return [sum(a[i] * b[n - i] for i in range(n + 1)) for n in range(len(a))]


def _power_series(t: Any, s: Any, order: int) -> list[Any]:
    """Coefficients of t**-(s + e) as a power series in e, up to the given order."""
    xp = backend_of(t)
    value, log_t = t**-s, xp.log(t)
    return [value * (-log_t) ** n / factorial(n) for n in range(order + 1)]


def by_exponent(s: Any, q: Any, order: int) -> Any:
    """Derivative of zeta(s, q) in s, of the given order. s, q: float64 arrays of one shape. NaN unless s > 1 and q > 0."""
    xp = backend_of(s)
    inside = (s > 1) & (q > 0) & xp.isfinite(q) & xp.isfinite(s)
    outside = xp.where((s > 1) & (q == np.inf), 0.0, np.nan)
    s, q = xp.where(inside, s, 2.0), xp.where(inside, q, 1.0)
    total = [0.0] * (order + 1)
    for k in range(_TERMS):
        total = [a + b for a, b in zip(total, _power_series(q + k, s, order), strict=True)]
    t = q + _TERMS
    last = _power_series(t, s, order)
    integral = _multiply_series(last, [t * (-1) ** n / (s - 1) ** (n + 1) for n in range(order + 1)])
    rising = [s, *[xp.ones_like(s)] * min(order, 1), *[0.0] * (order - 1)]  # series of the rising factorial s (s + 1) ...
    ends = [0.5 * last[n] + integral[n] for n in range(order + 1)]
    for j, number in enumerate(_BERNOULLI):
        correction = _multiply_series(last, rising)
        ends = [a + number * c * t ** -(2 * j + 1) for a, c in zip(ends, correction, strict=True)]
        for m in (2 * j + 1, 2 * j + 2):
            rising = _multiply_series(rising, [s + m, *[xp.ones_like(s)] * min(order, 1), *[0.0] * (order - 1)])
    found = (total[order] + ends[order]) * factorial(order)
    return xp.where(inside, found, outside)
