"""Formulas of SciPy's continuous distributions that are integrals, sums or products of matrices. See _formulas.py.

Integers among the shapes are constants. Where the formula is that of the mass, the density is its slope.
"""

from __future__ import annotations

from collections.abc import Callable
from math import lgamma, log, pi, sqrt
from typing import Any

import numpy as np

from wengert import errors
from wengert._forks import import_late
from wengert.array_functions.table import detached, linalg, w
from wengert.array_protocol import _is_differentiated as is_differentiated
from wengert.scipy._closures import with_values
from wengert.scipy._parameters import over_deviations, slope_at
from wengert.scipy._rules import gauss_rule
from wengert.scipy.stats._formulas import S, _family, known

_LONGEST = 600  # samples for which the power of the matrix of kstwo is computed


def _slope_of(mass: Callable[..., Any], sign: float = 1.0) -> Callable[..., Any]:
    """Return the density as the slope of a mass in x, with its graph. sign: -1 for the mass above x."""

    def density(x: Any, *shapes: Any) -> Any:
        x, *shapes = w.broadcast_tensors(x, *shapes)
        return sign * slope_at(lambda place: mass(place, *shapes), x, shapes)

    return density


def _constant(family: str, n: Any) -> Any:
    """Return an integer shape as a tensor without history. Raises ConversionError if it is differentiated."""
    if is_differentiated([n]):
        raise errors.no_array_of("a Tensor that is differentiated", f"scipy.stats.{family} in n, which is an integer,")
    return n


# -- Student's noncentral distribution ------------------------------------------------------------------------------------


def _nct_logpdf(x: Any, df: Any, nc: Any) -> Any:
    x, df, nc = w.broadcast_tensors(x, df, nc)
    return w.log(over_deviations(df, lambda s: s * w.exp(-0.5 * (x[..., None] * s - nc[..., None]) ** 2))) - log(2 * pi) / 2


_family("nct", logpdf=_nct_logpdf, cdf=lambda x, df, nc: S.nctdtr(df, nc, x), stats=lambda df, nc: _nct_stats(df, nc))


def _nct_stats(df: Any, nc: Any) -> tuple[Any, Any]:
    ratio = w.where(df > 1, df, 2.0)
    mean = nc * w.sqrt(ratio / 2) * w.exp(S.gammaln((ratio - 1) / 2) - S.gammaln(ratio / 2))
    variance = df * (1 + nc * nc) / (w.where(df > 2, df, 3.0) - 2) - mean * mean
    return w.where(df > 1, mean, np.nan), w.where(df > 2, variance, np.nan)


# -- the studentized range: a range of k normal numbers over the deviation of a sample --------------------------------------

_MANY = 1e5  # degrees of freedom from which on SciPy takes the deviation for a constant


def _range_mass(width: Any, k: Any) -> Any:
    """The probability that the range of k normal numbers is below a width: the integral over the largest of them."""
    z, weights = gauss_rule(100)
    z, weights = w.as_tensor(17 * z - 8.5), w.as_tensor(17 * weights)
    density = w.exp(-0.5 * z * z) / sqrt(2 * pi)
    below = w.clamp(S.ndtr(z) - S.ndtr(z - width[..., None]), min=1e-300)
    k = k[..., None]
    return w.sum(weights * density * k * w.exp((k - 1) * w.log(below)), -1)


def _studentized_range_cdf(x: Any, k: Any, df: Any) -> Any:
    x, k, df = w.broadcast_tensors(x, k, df)
    many = w.as_tensor(detached(df) >= _MANY)
    n = w.where(many, 100.0, df)
    found = over_deviations(n, lambda s: _range_mass(x[..., None] * s, k[..., None]))
    return w.where(many, _range_mass(x, k), found)


def _studentized_range_stats(k: Any, df: Any) -> tuple[Any, Any]:
    """Moments of the range, by its mass above each width, times those of 1 / s for the deviation s."""
    width, weights = [w.as_tensor(20 * part) for part in gauss_rule(120)]
    above = weights * (1 - _range_mass(width + 0 * k[..., None], k[..., None]))
    first = w.where(df > 1, df, 2.0)
    mean = w.sum(above, -1) * w.sqrt(first / 2) * w.exp(S.gammaln((first - 1) / 2) - S.gammaln(first / 2))
    variance = 2 * w.sum(width * above, -1) * df / (w.where(df > 2, df, 3.0) - 2) - mean * mean
    return w.where(df > 1, mean, np.inf), w.where(df > 2, variance, np.inf)


def _of_studentized_range(method: str, formula: Callable[..., Any]) -> Callable[..., Any]:
    """Return a formula's derivatives with SciPy's values."""

    def run(x: Any, k: Any, df: Any) -> Any:
        values = getattr(import_late("scipy.stats").studentized_range, method)(*map(detached, (x, k, df)))
        return with_values(formula(x, k, df), np.asarray(values))

    return run


_family(
    "studentized_range", cdf=_of_studentized_range("cdf", _studentized_range_cdf),
    pdf=_of_studentized_range("pdf", _slope_of(_studentized_range_cdf)), stats=_studentized_range_stats,
)  # fmt: skip

# -- the distributions of Kolmogorov's and Smirnov's statistics ------------------------------------------------------------

_family("kstwobign", sf=lambda x: S.kolmogorov(x), pdf=_slope_of(lambda x: S.kolmogorov(x), -1.0))


def _ksone_sf(x: Any, n: Any) -> Any:
    return S.smirnov(_constant("ksone", n), x)


_family("ksone", sf=_ksone_sf, pdf=_slope_of(_ksone_sf, -1.0))


def _kstwo_one(n: int, d: Any) -> Any:
    """The probability that the statistic of n samples is below d, by the power of a matrix (J. Durbin, 1973)."""
    k = int(np.floor(n * float(detached(d)))) + 1
    size, h = 2 * k - 1, k - n * d
    i, j = np.indices((size, size))
    matrix = w.as_tensor(np.where(i - j + 1 >= 0, 1.0, 0.0))
    powers = h ** w.as_tensor(np.arange(1.0, size + 1))
    zeros = w.zeros((size, size - 1), dtype=d.dtype)
    column, row = w.cat([powers[:, None], zeros], 1), w.cat([zeros.mT, w.flip(powers, (0,))[None]], 0)
    matrix = matrix - column - row
    corner = np.zeros((size, size))
    corner[-1, 0] = 1.0
    if float(detached(h)) > 0.5:
        matrix = matrix + w.as_tensor(corner) * (2 * h - 1) ** size
    orders = np.maximum(i - j + 1, 0)
    matrix = matrix * w.as_tensor(np.exp(-np.array([lgamma(order + 1) for order in range(size + 2)])[orders]))
    # n! / n**n is spread over the factors.
    scale = np.exp((lgamma(n + 1) - n * log(n)) / n)
    return linalg.matrix_power(matrix * scale, n)[k - 1, k - 1]


def _kstwo_cdf(x: Any, n: Any) -> Any:
    x, n = w.broadcast_tensors(x, _constant("kstwo", n))
    counts = detached(n).reshape(-1)
    if np.max(counts, initial=0) > _LONGEST:
        raise NotImplementedError(f"scipy.stats.kstwo differentiates for n <= {_LONGEST}. Hint: use kstwobign with sqrt(n) x.")
    flat = x.reshape(-1)
    found = [_kstwo_one(int(count), flat[i]) for i, count in enumerate(counts)]
    values = import_late("scipy.stats").kstwo.cdf(detached(x), detached(n))
    return with_values(w.stack(found).reshape(x.shape), values)


_family("kstwo", cdf=_kstwo_cdf, pdf=_slope_of(_kstwo_cdf))

# -- sums of uniform numbers -------------------------------------------------------------------------------------------------


def _irwinhall_pdf(x: Any, n: Any) -> Any:
    """SciPy's value. The slope is that of B-splines: the difference of two densities of n - 1 numbers."""
    x, n = w.broadcast_tensors(x, _constant("irwinhall", n))
    counts = detached(n)
    values = import_late("scipy.stats").irwinhall.pdf(detached(x), np.maximum(counts, 1))
    values = np.where((counts >= 1) & (detached(x) >= 0) & (detached(x) <= counts), values, 0.0)
    return known(values, [x], [lambda y: _irwinhall_pdf(y, n - 1) - _irwinhall_pdf(y - 1, n - 1) if counts.max() > 1 else 0.0 * y])


_family("irwinhall", pdf=_irwinhall_pdf)

# -- Landau's distribution ---------------------------------------------------------------------------------------------------


def _landau_pdf(x: Any) -> Any:
    """The integral of exp(s log s + y s) / (2 pi i) along a parallel of the imaginary axis, for y = log(pi / 2) + pi x / 2.

    It goes through the saddle point of the integrand for y < -1, and around the cut of the logarithm for the others."""
    given, x = x, log(pi / 2) + pi / 2 * x
    right = w.as_tensor(detached(x) > -1)
    u, weights = [w.as_tensor(part) for part in gauss_rule(300)]
    place = w.where(right, x, 0.0)[..., None]
    ends = np.maximum(1.0, 45 / np.maximum(detached(place) + 1.0, 1.0))
    ends = w.as_tensor(np.minimum(ends, 25.0))
    t = ends * u
    above = w.sum(weights * ends * w.exp(-t * w.log(t) - place * t) * w.sin(pi * t), -1) / pi
    place = w.where(right, -1.0, x)[..., None]
    c = np.exp(-detached(place) - 1)
    ends = w.as_tensor(20 + 14 * np.sqrt(c))
    c, y = w.as_tensor(c), ends * u
    radius, angle = 0.5 * w.log(c * c + y * y), w.atan2(y, c)
    size = w.exp(c * radius - y * angle + place * c)
    below = w.sum(weights * ends * size * w.cos(y * radius + c * angle + place * y), -1) / pi
    return with_values(pi / 2 * w.where(right, above, below), import_late("scipy.stats").landau.pdf(detached(given)))


_family("landau", pdf=_landau_pdf)
