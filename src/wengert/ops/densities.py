"""Densities of the gamma and beta distributions, and the parts of their derivatives with respect to the parameters.

The densities are accurate also where their factors overflow or underflow. They are written with deviances (Loader, Fast and
accurate computation of binomial probabilities, 2000): Stirling's formula cancels the huge factors, and the remaining exponent
is small. The relative error is that of the exponential of this exponent.
"""

from __future__ import annotations

from collections.abc import Callable
from math import comb, factorial, pi
from typing import Any

import numpy as np

from wengert._forks import import_late
from wengert.backends.selection import backend_of, may_hold

_SERIES_FROM = 16.0  # asymptotic series are exact to double precision from this argument on
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)  # B_2, B_4 ...
_BLOCK = 1 << 12  # elements computed at a time, so that they stay in the cache
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360)  # Abramowitz and Stegun 6.1.41


def gamma_mass(a: Any, t: Any) -> Any:
    """t**a exp(-t) / gamma(a). float64 arrays of one shape, positive and finite."""
    xp = backend_of(a)
    return xp.exp(-_stirling_error(a) - _deviance(a, t - a, t)) * xp.sqrt(a / (2 * pi))


def beta_mass(a: Any, b: Any, x: Any, y: Any) -> Any:
    """x**a y**b / B(a, b) for y = 1 - x. float64 arrays of one shape, positive and finite."""
    xp = backend_of(a)
    n, lead = a + b, b * x - a * y
    stirling = _stirling_error(n) - _stirling_error(a) - _stirling_error(b)
    exponent = stirling - _deviance(a, lead, n * x) - _deviance(b, -lead, n * y)
    return xp.exp(exponent) * xp.sqrt(a) * xp.sqrt(b / n) / xp.sqrt(2 * pi)


def gamma_density(a: Any, t: Any, k: int) -> Any:
    """t**(a - 1 - k) exp(-t) / gamma(a). NaN unless 0 < a < inf and t >= 0."""
    xp = backend_of(a)
    special = import_late("scipy.special")

    defined = (a > 0) & xp.isfinite(a) & (t >= 0)
    inside = defined & (t > 0) & (t < np.inf)
    a_, t_ = xp.where(inside, a, 1.0), xp.where(inside, t, 1.0)
    ends = xp.where(t == 0, _power_at_zero(a - 1 - k) / special.gamma(a), 0.0)
    return xp.where(inside, gamma_mass(a_, t_) * t_ ** (-1.0 - k), xp.where(defined, ends, np.nan))


def beta_density(a: Any, b: Any, x: Any, k: int, j: int) -> Any:
    """x**(a - 1 - k) (1 - x)**(b - 1 - j) / B(a, b). NaN unless 0 < a < inf, 0 < b < inf and 0 <= x <= 1."""
    xp = backend_of(a)
    special = import_late("scipy.special")

    defined = (a > 0) & (b > 0) & xp.isfinite(a) & xp.isfinite(b) & (x >= 0) & (x <= 1)
    inside = defined & (x > 0) & (x < 1)
    a_, b_, x_ = (xp.where(inside, v, 0.5) for v in (a, b, x))
    found = beta_mass(a_, b_, x_, 1 - x_) * x_ ** (-1.0 - k) * (1 - x_) ** (-1.0 - j)
    ends = xp.where(x == 0, _power_at_zero(a - 1 - k), _power_at_zero(b - 1 - j)) / special.beta(a, b)
    return xp.where(inside, found, xp.where(defined, ends, np.nan))


def _power_at_zero(exponent: Any) -> Any:
    """0**exponent: 0, 1 or infinity."""
    xp = backend_of(exponent)
    return xp.where(exponent > 0, 0.0, xp.where(exponent == 0, 1.0, np.inf))


def _stirling_error(z: Any) -> Any:
    """log(gamma(z + 1)) minus Stirling's formula."""
    xp = backend_of(z)
    special = import_late("scipy.special")

    large, small = xp.maximum(z, _SERIES_FROM), xp.minimum(z, _SERIES_FROM)
    series = sum(c / large ** (2 * k + 1) for k, c in enumerate(_STIRLING))
    direct = special.gammaln(small + 1) - (special.xlogy(small, small) + xp.log(small) / 2 - small + xp.log(2 * pi) / 2)
    return xp.where(z >= _SERIES_FROM, series, direct)


def _deviance(a: Any, lead: Any, mean: Any) -> Any:
    """a * (d - log(1 + d)) with d = lead / a. mean: a + lead = a * (1 + d)."""
    xp = backend_of(a)
    d = lead / a
    near = abs(d) < 0.3
    v = xp.where(near, d / (2 + d), 0.0)  # log(1 + d) = 2 artanh(v)
    series = sum(v ** (2 * k) / (2 * k + 1) for k in range(1, 12))
    return xp.where(near, a * v * (d - 2 * series), lead - a * xp.log(mean / a))


def in_blocks(function: Callable[..., Any], *arrays: Any) -> Any:
    """function(*arrays) for arrays [n], computed for as many elements at a time as fit into the cache."""
    xp = backend_of(arrays[0])
    n = len(arrays[0])
    if n <= _BLOCK:
        return function(*arrays)
    return xp.concatenate([function(*[array[i : i + _BLOCK] for array in arrays]) for i in range(0, n, _BLOCK)])


def tail_integral(integrand: Callable[[Any], Any], width: Any, step: float) -> Any:
    """Integral of n decreasing functions over s from 0 to infinity, by the rule s = width exp(pi / 2 sinh(u)).

    width: array [n], the scales of the functions. integrand(s): the functions at s, array [nodes, n]. step: distance of the nodes
    in u. The double-exponential rule of Takahasi and Mori, 1974.
    """
    xp = backend_of(width)
    nodes = xp.arange(-3.9, 3.3, step)
    points = xp.exp(pi / 2 * xp.sinh(nodes))
    weights = step * pi / 2 * xp.cosh(nodes) * points
    total = xp.zeros_like(width)
    count = max(1, _BLOCK // max(len(width), 1))
    for first in range(0, len(nodes), count):
        block = slice(first, first + count)
        total += weights[block] @ integrand(points[block, None] * width)
    return width * total


def bell(derivative: Callable[[int, int], Any], m: int, n: int) -> Any:
    """d^(m+n) exp(f) / da^m db^n divided by exp(f): the complete Bell polynomial of the derivatives of f.

    derivative(i, j): d^(i+j) f / da^i db^j, as an array or a tensor."""
    if m == n == 0:
        return 1.0
    if m == 0:
        return bell(lambda i, j: derivative(j, i), n, 0)
    return sum(
        comb(m - 1, i) * comb(n, j) * derivative(i + 1, j) * bell(derivative, m - 1 - i, n - j)
        for i in range(m)
        for j in range(n + 1)
    )


def polygamma_step(z: Any, d: Any, order: int) -> Any:
    """polygamma(order, z + d) - polygamma(order, z), without cancellation if d is small compared to z.

    z, d: float64 arrays of one shape; z > 0, z + d > 0."""
    xp = backend_of(z)
    total = xp.zeros_like(z)
    sign = (-1.0) ** order
    for _ in range(int(_SERIES_FROM)):  # recurrence: Abramowitz and Stegun 6.4.6
        small = xp.minimum(z, z + d) < _SERIES_FROM
        if not may_hold(small):
            break
        total -= xp.where(small, sign * factorial(order) * _power_step(z, d, order + 1), 0.0)
        z = xp.where(small, z + 1, z)
    # Differences of the terms of the asymptotic series 6.4.11.
    total += xp.log1p(d / z) if order == 0 else -sign * factorial(order - 1) * _power_step(z, d, order)
    total -= sign * factorial(order) / 2 * _power_step(z, d, order + 1)
    for k, number in enumerate(_BERNOULLI, 1):
        factor = factorial(2 * k + order - 1) / factorial(2 * k)
        total -= sign * number * factor * _power_step(z, d, 2 * k + order)
    return total


def _power_step(z: Any, d: Any, n: int) -> Any:
    """(z + d)**-n - z**-n."""
    xp = backend_of(z)
    return xp.expm1(-n * xp.log1p(d / z)) * z ** float(-n)
