"""Quadrature rules of double exponential type, on intervals whose ends may be singular or infinite, and Gauss' rule.

With x = u(t), u' tends to zero double exponentially, and the trapezoidal rule in t converges fast for functions that are
analytic between the ends (H. Takahasi and M. Mori, Double exponential formulas for numerical integration, 1974).
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

_STEP = 1 / 24


@cache
def unit_rule() -> tuple[Any, Any]:
    """Return (places, weights) of a rule on (0, 1). Places near 0 have full precision."""
    t = np.arange(-144, 145) * _STEP
    below = 1 / (1 + np.exp(-np.pi * np.sinh(np.minimum(t, 0))))
    above = 1 / (1 + np.exp(np.pi * np.sinh(np.maximum(t, 0))))
    return np.where(t < 0, below, 1 - above), _STEP * np.pi * np.cosh(t) * np.where(t < 0, below * (1 - below), above * (1 - above))


@cache
def half_line_rule() -> tuple[Any, Any]:
    """Return (places, weights) of a rule on (0, inf)."""
    t = np.arange(-144, 145) * _STEP
    places = np.exp(0.5 * np.pi * np.sinh(t))
    return places, _STEP * 0.5 * np.pi * np.cosh(t) * places


@cache
def gauss_rule(n: int) -> tuple[Any, Any]:
    """Return (places, weights) of Gauss' and Legendre's rule on (0, 1), with n places."""
    places, weights = np.polynomial.legendre.leggauss(n)
    return 0.5 * (places + 1), 0.5 * weights
