"""Samplers of gamma, Poisson and binomial distributions by rejection, a number at a time: the twins of those in wk_random.c.

They draw the numbers of torch, because they are the same algorithms with the same constants, among them a third in float32:

- gamma: G. Marsaglia and W. W. Tsang, A simple method for generating gamma variables, 2000.
- Poisson: W. Hoermann, The transformed rejection method for generating Poisson random variables, 1993. Below a rate of 10, it is
  the number of uniform numbers whose product stays above exp(-rate) (D. E. Knuth).
- binomial: W. Hoermann, The generation of binomial random variates, 1993. Below a mean of 10, it is the number of geometric waiting
  times that fit in n trials.

uniform() returns a number of [0, 1), normal() one of the standard normal distribution.
"""

from __future__ import annotations

import math
from collections.abc import Callable

_THIRD = 0.3333333432674408  # in float32
_STIRLING_RESTS = (
    0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509, 0.0166446911898211,
    0.0138761288230707, 0.0118967099458917, 0.0104112652619720, 0.00925546218271273, 0.00833056343336287,
)  # fmt: skip

Draw = Callable[[], float]


def _log(x: float) -> float:
    return math.log(x) if x > 0 else -math.inf


def draw_gamma(uniform: Draw, normal: Draw, a: float, inverse: float) -> float:
    """Draw from the gamma distribution of shape a and scale 1. Returns a if it is not positive and finite.

    inverse: 1 / a, as the dtype of a gives it."""
    if not 0 < a < math.inf:
        return a
    scale = 1.0
    if a < 1:
        scale = (1 - uniform()) ** inverse
        a += 1
    d = a - _THIRD
    c = 1 / math.sqrt(9 * d)
    while True:
        x = normal()
        y = 1 + c * x
        if y <= 0:
            continue
        v, u, square = y * y * y, 1 - uniform(), x * x
        if u < 1 - 0.0331 * square * square or math.log(u) < 0.5 * square + d * (1 - v + math.log(v)):
            return scale * d * v


def draw_poisson(uniform: Draw, normal: Draw, rate: float, unused: float) -> float:
    """Draw from the Poisson distribution. Returns the rate if it is not positive and finite."""
    if not 0 < rate < math.inf:
        return rate
    if rate < 10:
        limit, product, count = math.exp(-rate), uniform(), 0
        while product > limit:
            product *= uniform()
            count += 1
        return float(count)
    b = 0.931 + 2.53 * math.sqrt(rate)
    a = -0.059 + 0.02483 * b
    inverse_alpha, certain = 1.1239 + 1.1328 / (b - 3.4), 0.9277 - 3.6224 / (b - 2)
    while True:
        u, v = uniform() - 0.5, uniform()
        us = 0.5 - abs(u)
        if us == 0:
            continue
        k = math.floor((2 * a / us + b) * u + rate + 0.43)
        if us >= 0.07 and v <= certain:
            return float(k)
        if k < 0 or (us < 0.013 and v > us):
            continue
        bound = k * math.log(rate) - rate - math.lgamma(k + 1)
        if _log(v) + math.log(inverse_alpha) - math.log(a / (us * us) + b) <= bound:
            return float(k)


def _stirling_rest(k: float) -> float:
    """log(k!) minus Stirling's formula."""
    if k <= 9:
        return _STIRLING_RESTS[int(k)]
    square = (k + 1) * (k + 1)
    return (1 / 12 - (1 / 360 - 1 / 1260 / square) / square) / (k + 1)


def _draw_successes(uniform: Draw, n: float, p: float) -> float:
    """Draw from the binomial distribution for 0 < p <= 1/2."""
    if n * p < 10:
        trials, count = 0.0, 0
        while True:
            first = _log(uniform())
            trials += math.ceil(first / math.log1p(-p)) if first > -math.inf else math.inf
            if trials > n:
                return float(count)
            count += 1
    deviation = math.sqrt(n * p * (1 - p))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * p
    certain, odds, alpha, m = 0.92 - 4.2 / b, p / (1 - p), (2.83 + 5.1 / b) * deviation, math.floor((n + 1) * p)
    while True:
        u, v = uniform() - 0.5, uniform()
        us = 0.5 - abs(u)
        if us == 0:
            continue
        k = math.floor((2 * a / us + b) * u + n * p + 0.5)
        if us >= 0.07 and v <= certain:
            return float(k)
        if not 0 <= k <= n:
            continue
        bound = (
            (m + 0.5) * math.log((m + 1) / (odds * (n - m + 1)))
            + (n + 1) * math.log((n - m + 1) / (n - k + 1))
            + (k + 0.5) * math.log(odds * (n - k + 1) / (k + 1))
            + _stirling_rest(m) + _stirling_rest(n - m) - _stirling_rest(k) - _stirling_rest(n - k)
        )  # fmt: skip
        if _log(v * alpha / (a / (us * us) + b)) <= bound:
            return float(k)


def draw_binomial(uniform: Draw, normal: Draw, n: float, p: float) -> float:
    """Draw the number of successes of n trials of probability p. NaN if n or p is NaN, or n is infinite."""
    if math.isnan(n) or math.isnan(p) or n == math.inf:
        return math.nan
    if n <= 0 or p <= 0:
        return 0.0
    if p >= 1:
        return n
    return _draw_successes(uniform, n, p) if p <= 0.5 else n - _draw_successes(uniform, n, 1 - p)


KINDS = (draw_gamma, draw_poisson, draw_binomial)  # as wk_random.c numbers them
