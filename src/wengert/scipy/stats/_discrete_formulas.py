"""Formulas of SciPy's discrete distributions in their shapes, for integers k in the support. See _formulas.py."""

from __future__ import annotations

from math import factorial, sqrt
from typing import Any

import numpy as np

from wengert._forks import import_late
from wengert.array_functions.table import detached, w
from wengert.scipy._rules import half_line_rule
from wengert.scipy.stats._formulas import THEIRS, S, _family, betaln

THEIRS |= {"pmf": "boltzmann dlaplace geom logser planck", "logpmf": "geom"}
THEIRS["stats"] += " bernoulli betabinom binom boltzmann geom logser planck skellam yulesimon"
THEIRS["entropy"] += " bernoulli dlaplace geom planck"
THEIRS["cdf"] += " boltzmann geom planck"
THEIRS["sf"] += " geom planck"


def _log_choose(n: Any, k: Any) -> Any:
    return S.gammaln(n + 1) - S.gammaln(k + 1) - S.gammaln(n - k + 1)


_family("bernoulli", logpmf=lambda k, p: S.xlogy(k, p) + S.xlog1py(1 - k, -p), cdf=lambda k, p: w.where(k >= 1, 1.0, 1 - p),
        sf=lambda k, p: w.where(k >= 1, 0.0, p))  # fmt: skip
_family("binom", logpmf=lambda k, n, p: _log_choose(n, k) + S.xlogy(k, p) + S.xlog1py(n - k, -p),
        cdf=lambda k, n, p: S.betainc(n - k, k + 1, 1 - p), sf=lambda k, n, p: S.betainc(k + 1, n - k, p))  # fmt: skip
_family("betabinom", logpmf=lambda k, n, a, b: _log_choose(n, k) + betaln(k + a, n - k + b) - betaln(a, b))
_family(
    "betanbinom",
    logpmf=lambda k, n, a, b: -w.log(n + k) - betaln(n, k + 1) + betaln(a + n, b + k) - betaln(a, b),
    stats=lambda n, a, b: (
        w.where(a > 1, n * b / (a - 1), np.inf),
        w.where(a > 2, n * b * (n + a - 1) * (a + b - 1) / ((a - 2) * (a - 1) ** 2), np.inf),
    ),
)
_family(
    "nbinom",
    logpmf=lambda k, n, p: S.gammaln(n + k) - S.gammaln(k + 1) - S.gammaln(n) + n * w.log(p) + S.xlog1py(k, -p),
    cdf=lambda k, n, p: S.betainc(n, k + 1, p),
    sf=lambda k, n, p: S.betainc(k + 1, n, 1 - p),
    stats=lambda n, p: (n * (1 - p) / p, n * (1 - p) / (p * p)),
)
_family("poisson", logpmf=lambda k, mu: S.xlogy(k, mu) - S.gammaln(k + 1) - mu, cdf=lambda k, mu: S.gammaincc(k + 1, mu),
        sf=lambda k, mu: S.gammainc(k + 1, mu), stats=lambda mu: (mu, 1.0 * mu))  # fmt: skip
_family("dlaplace", cdf=lambda k, a: w.where(k >= 0, 1 - w.exp(-a * w.abs(k)) / (w.exp(a) + 1),
                                             w.exp(a * (1 - w.abs(k))) / (w.exp(a) + 1)))  # fmt: skip


def _successes(ps: Any) -> Any:
    """The probabilities of 0, 1 ... n successes in n trials, along a last axis."""
    found = w.ones_like(ps[0])[..., None]
    for p in w.broadcast_tensors(*ps):
        nothing = w.zeros_like(p)[..., None]
        found = w.cat([found * (1 - p[..., None]), nothing], -1) + w.cat([nothing, found * p[..., None]], -1)
    return found


def _at_count(table: Any, k: Any) -> Any:
    k, _ = w.broadcast_tensors(k, table[..., 0])
    table = w.broadcast_to(table, (*k.shape, table.shape[-1]))
    return w.take_along_dim(table, k[..., None].long(), -1)[..., 0]


_family(
    "poisson_binom",
    pmf=lambda k, *ps: _at_count(_successes(ps), k),
    cdf=lambda k, *ps: _at_count(w.cumsum(_successes(ps), -1), k),
    stats=lambda *ps: (sum(ps), sum(p * (1 - p) for p in ps)),
    entropy=lambda *ps: w.sum(S.entr(_successes(ps)), -1),
)


def _skellam(k: Any, first: Any, second: Any) -> Any:
    """The probability that two numbers of Poisson distributions differ by k: the sum over the smaller of them."""
    largest = float(max(np.max(detached(first)), np.max(detached(second))))
    j = w.as_tensor(np.arange(int(largest + 14 * sqrt(largest) + 60) + 1.0))
    k, first, second = k[..., None], first[..., None], second[..., None]
    up, down = j + w.clamp(k, min=0), j + w.clamp(-k, min=0)
    logs = S.xlogy(up, first) - S.gammaln(up + 1) + S.xlogy(down, second) - S.gammaln(down + 1) - first - second
    return w.logsumexp(logs, -1)


_family("skellam", logpmf=_skellam)
_family("yulesimon", logpmf=lambda k, alpha: w.log(alpha) + betaln(k, alpha + 1),
        sf=lambda k, alpha: k * w.exp(betaln(k, alpha + 1)))  # fmt: skip


def _zipfian(k: Any, a: Any, n: Any) -> Any:
    j = w.as_tensor(np.arange(1.0, float(np.max(detached(n))) + 1))
    inside = j <= n[..., None]
    return -a * w.log(k) - w.logsumexp(w.where(inside, -a[..., None] * w.log(j), -np.inf), -1)


_family("zipfian", logpmf=_zipfian)


def _zeta(a: Any) -> Any:
    """The sum of k**-a over k >= 1, by Euler and Maclaurin's formula from the 16th term on."""
    n = 16.0
    k = w.as_tensor(np.arange(1.0, n))
    found = w.sum(w.exp(-a[..., None] * w.log(k)), -1) + n ** (1 - a) / (a - 1) + n**-a / 2
    term = a * n ** (-a - 1)
    for j, number in enumerate(import_late("scipy.special").bernoulli(12)[2::2], 1):
        found = found + number / factorial(2 * j) * term
        term = term * (a + 2 * j - 1) * (a + 2 * j) / n**2
    return found


_family("zipf", logpmf=lambda k, a: -a * w.log(k) - w.log(_zeta(a)), stats=lambda a: (
    w.where(a > 2, _zeta(w.where(a > 2, a - 1, 2.0)) / _zeta(a), np.inf),
    w.where(a > 3, _zeta(w.where(a > 3, a - 2, 2.0)) / _zeta(a) - (_zeta(w.where(a > 2, a - 1, 2.0)) / _zeta(a)) ** 2, np.inf),
))  # fmt: skip


# -- draws without replacement. Their shapes are integers; the formulas hold for real ones too. ------------------------------


def _hypergeometric(k: Any, M: Any, n: Any, N: Any) -> Any:
    return _log_choose(n, k) + _log_choose(M - n, N - k) - _log_choose(M, N)


_family("hypergeom", logpmf=_hypergeometric, stats=lambda M, n, N: (
    N * n / M, N * n * (M - n) * (M - N) / (M * M * w.where(M > 1, M - 1, 1.0))))  # fmt: skip
_family("nhypergeom", logpmf=lambda k, M, n, r: (
    _log_choose(k + r - 1, k) + _log_choose(M - r - k, n - k) - _log_choose(M, n)))  # fmt: skip
_family("randint", logpmf=lambda k, low, high: 0.0 * k - w.log(high - low), cdf=lambda k, low, high: (k - low + 1) / (high - low),
        sf=lambda k, low, high: (high - k - 1) / (high - low), entropy=lambda low, high: w.log(high - low),
        stats=lambda low, high: ((high + low - 1) / 2, ((high - low) ** 2 - 1) / 12))  # fmt: skip


def _fisher(k: Any, M: Any, n: Any, N: Any, odds: Any) -> Any:
    """The hypergeometric probabilities times powers of the odds, divided by their sum."""
    last = float(np.max(np.minimum(detached(n), detached(N))))
    j, given = w.as_tensor(np.arange(last + 1)), [x[..., None] for x in w.broadcast_tensors(M, n, N, odds)]
    inside = w.as_tensor((detached(j) <= detached(given[1])) & (detached(j) <= detached(given[2])) &
                         (detached(j) >= detached(given[2] + given[1] - given[0])))  # fmt: skip
    safe = w.where(inside, j, w.clamp(given[2] + given[1] - given[0], min=0.0))
    logs = _log_choose(given[1], safe) + _log_choose(given[0] - given[1], given[2] - safe) + safe * w.log(given[3])
    return _log_choose(n, k) + _log_choose(M - n, N - k) + k * w.log(odds) - w.logsumexp(w.where(inside, logs, -np.inf), -1)


def _wallenius(k: Any, M: Any, n: Any, N: Any, odds: Any) -> Any:
    """The integral of (1 - exp(-odds u))**k (1 - exp(-u))**(N - k) d exp(-d u) over u (K. T. Wallenius, 1963)."""
    k, M, n, N, odds = w.broadcast_tensors(k, M, n, N, odds)
    rate = (odds * (n - k) + (M - n) - (N - k))[..., None]
    u, weights = half_line_rule()
    inside = (u > 1e-30) & (u < 1e3)
    u, weights = w.as_tensor(u[inside]), w.as_tensor(weights[inside])
    first = S.xlogy(k[..., None], -w.expm1(-odds[..., None] * u)) + S.xlogy((N - k)[..., None], -w.expm1(-u))
    return _log_choose(n, k) + _log_choose(M - n, N - k) + w.logsumexp(first + w.log(rate * weights) - rate * u, -1)


_family("nchypergeom_fisher", logpmf=_fisher)
_family("nchypergeom_wallenius", logpmf=_wallenius)
