"""Special functions by NumPy and the standard library alone, under scipy.special's names: what `special` calls without SciPy.

They are as accurate as SciPy's, but those from the module math run one element at a time. Functions that are not here need SciPy.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import Any

import numpy as np

_INVERSE_OF_NORMAL = NormalDist().inv_cdf
_HALF_ROOT_PI = math.sqrt(math.pi) / 2
_ROOT_2 = math.sqrt(2.0)
# B(2k) / (2k)! of the Bernoulli numbers: the coefficients of the Euler-Maclaurin formula.
_EULER_MACLAURIN = (
    1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160, -691 / 1307674368000, 1 / 74724249600,
    -3617 / 10670622842880000, 43867 / 5109094217170944000,
)  # fmt: skip
_PSI_SERIES = (-1 / 12, 1 / 120, -1 / 252, 1 / 240, -1 / 132, 691 / 32760, -1 / 12)  # Abramowitz and Stegun 6.3.18
_FAR = 10.0  # from here on the asymptotic series have all digits


def _by_elements(function: Callable[[float], float]) -> Callable[[Any], Any]:
    loop = np.frompyfunc(function, 1, 1)

    def of_array(x: Any) -> Any:
        with np.errstate(all="ignore"):
            return np.asarray(loop(np.asarray(x, np.float64)), np.float64)

    return of_array


def _log_gamma(x: float) -> float:
    if math.isnan(x) or math.isinf(x):
        return abs(x)
    return math.inf if x <= 0 and x == math.floor(x) else math.lgamma(x)


def _inverse_erf(y: float) -> float:
    size = abs(y)
    if not size < 1:
        return math.copysign(math.inf, y) if size == 1 else math.nan
    if size < 1e-300:
        return y * _HALF_ROOT_PI
    x = -_INVERSE_OF_NORMAL((1 - size) / 2) / _ROOT_2
    if x < 5:  # one step of Newton's method, with erfc near 1, where erf has few digits
        error = math.erf(x) - size if size < 0.5 else (1 - size) - math.erfc(x)
        x -= error * _HALF_ROOT_PI * math.exp(x * x)
    return math.copysign(x, y)


erf = _by_elements(math.erf)
erfc = _by_elements(math.erfc)
gammaln = _by_elements(_log_gamma)
erfinv = _by_elements(_inverse_erf)


def psi(x: Any) -> Any:
    """Digamma function: by its recurrence and asymptotic series, left of 1/2 by reflection."""
    x = np.asarray(x, np.float64)
    with np.errstate(all="ignore"):
        left = x < 0.5
        y = np.where(left, 1 - x, x)
        found = np.zeros_like(y)
        for _ in range(int(_FAR)):
            near = y < _FAR
            found -= np.where(near, 1 / y, 0.0)
            y = np.where(near, y + 1, y)
        square = 1 / (y * y)
        series = np.zeros_like(y)
        for coefficient in reversed(_PSI_SERIES):
            series = (series + coefficient) * square
        found += np.where(np.isinf(y), y, np.log(y) - 0.5 / y + series)
        # tan of the fraction: pi x has too few digits.
        reflected = found - np.pi / np.tan(np.pi * (x - np.round(x)))
        found = np.where(left, reflected, found)
        pole = (x <= 0) & (x == np.floor(x))
        return np.where(x == 0, np.copysign(np.inf, -x), np.where(pole | (x == -np.inf), np.nan, found))


def zeta(s: Any, q: Any) -> Any:
    """Hurwitz zeta function, the sum of (k + q)**-s over k >= 0, by the Euler-Maclaurin formula."""
    s, q = np.broadcast_arrays(np.asarray(s, np.float64), np.asarray(q, np.float64))
    with np.errstate(all="ignore"):
        steps = int(np.max(np.where(np.isfinite(q), np.maximum(_FAR - q, 0.0), 0.0), initial=0.0)) + int(_FAR)
        if steps > 10**7:
            raise ValueError(f"zeta({s.flat[0]}, {q.min()}) would take {steps} terms")
        total = np.zeros(q.shape)
        for k in range(steps):
            total += (q + k) ** -s
        a = q + steps
        power = a**-s
        total += power * a / (s - 1) + power / 2
        factor = power * s / a
        for k, coefficient in enumerate(_EULER_MACLAURIN):
            total += coefficient * factor
            factor = factor * (s + 2 * k + 1) * (s + 2 * k + 2) / (a * a)
        pole, whole = (q <= 0) & (q == np.floor(q)), s == np.floor(s)
        total = np.where(q == np.inf, 0.0, np.where((q < 0) & ~whole, np.nan, total))
        total = np.where(pole, np.inf, total)
        return np.where(s == 1, np.inf, np.where(s < 1, np.nan, total))


def entr(x: Any) -> Any:
    """-x log(x), which is 0 at 0 and -inf below."""
    return np.where(x > 0, -x * np.log(np.where(x > 0, x, 1)), np.where(x == 0, 0.0, np.where(x < 0, -np.inf, x)))


def xlog1py(x: Any, y: Any) -> Any:
    """x log(1 + y), which is 0 for x = 0 unless y is NaN."""
    with np.errstate(all="ignore"):
        return np.where((x == 0) & ~np.isnan(y), 0.0, x * np.log1p(y))


def logit(x: Any) -> Any:
    """log(x / (1 - x)). Near 1/2, where the quotient has few digits, log1p of the quotient minus 1."""
    with np.errstate(all="ignore"):
        return np.where(np.abs(x - 0.5) < 0.2, np.log1p((2 * x - 1) / (1 - x)), np.log(x / (1 - x)))


def i0(x: Any) -> Any:
    """Modified Bessel function of order 0."""
    with np.errstate(all="ignore"):
        return np.i0(x)
