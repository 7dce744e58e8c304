"""Statistics of samples: means, moments, scores, correlations, tests and transformations of scipy.stats."""

from __future__ import annotations

from math import pi
from typing import Any, NamedTuple

import numpy as np

from wengert._forks import import_late
from wengert.array_functions.table import checked_axis, detached, w
from wengert.scipy._frame import operands
from wengert.scipy.stats._distributions import Continuous

__all__ = [
    "boxcox_llf", "circmean", "circstd", "circvar", "describe", "energy_distance", "entropy", "f_oneway", "gmean", "gstd",
    "gzscore", "hmean", "iqr", "kstat", "kurtosis", "linregress", "median_abs_deviation", "moment", "pearsonr", "pmean", "sem",
    "skew", "tmean", "trim_mean", "tstd", "ttest_1samp", "ttest_ind", "ttest_rel", "tvar", "variation", "wasserstein_distance",
    "yeojohnson_llf", "zmap", "zscore",
]  # fmt: skip

theirs = import_late("scipy.stats")
_t, _f, _beta = [Continuous(getattr(theirs, name)) for name in ("t", "f", "beta")]


def _sample(x: Any, axis: Any) -> tuple[Any, int]:
    """Return (the sample as a tensor, the axis); axis=None ravels it."""
    (x,) = operands(x)
    if axis is None:
        return w.reshape(x, (-1,)), 0
    x = w.atleast_1d(x)
    return x, checked_axis(axis, x.ndim)


def _mean(x: Any, axis: int, keep: bool = False, weights: Any = None) -> Any:
    if weights is None:
        return w.mean(x, axis, keepdim=keep)
    return w.sum(x * weights, axis, keepdim=keep) / w.sum(weights * w.ones_like(x), axis, keepdim=keep)


def _weights(weights: Any, x: Any, axis: int) -> Any:
    """Return weights of a sample's shape, or of one line of it."""
    if weights is None:
        return None
    (weights,) = operands(weights)
    return weights.reshape([-1 if d == axis else 1 for d in range(x.ndim)]) if weights.ndim == 1 and x.ndim > 1 else weights


# -- means and moments -------------------------------------------------------------------------------------------------


def gmean(a, axis=0, weights=None):
    a, axis = _sample(a, axis)
    return w.exp(_mean(w.log(a), axis, weights=_weights(weights, a, axis)))


def hmean(a, axis=0, *, weights=None):
    a, axis = _sample(a, axis)
    return 1 / _mean(1 / a, axis, weights=_weights(weights, a, axis))


def pmean(a, p, *, axis=0, weights=None):
    if np.ndim(detached(p)) != 0:
        raise ValueError("Power mean only implemented for finite `p`")
    if float(detached(p)) == 0:
        return gmean(a, axis, weights)
    a, axis = _sample(a, axis)
    return _mean(a**p, axis, weights=_weights(weights, a, axis)) ** (1 / p)


def moment(a, order=1, axis=0, *, center=None):
    a, axis = _sample(a, axis)
    about = w.mean(a, axis, keepdim=True) if center is None else operands(center)[0]
    if np.ndim(order) > 0:
        return w.stack([w.mean((a - about) ** int(k), axis) for k in order])
    return w.mean((a - about) ** int(order), axis)


def skew(a, axis=0, bias=True):
    a, axis = _sample(a, axis)
    n = a.shape[axis]
    found = moment(a, 3, axis) / moment(a, 2, axis) ** 1.5
    return found if bias or n < 3 else found * (n * (n - 1)) ** 0.5 / (n - 2)


def kurtosis(a, axis=0, fisher=True, bias=True):
    a, axis = _sample(a, axis)
    n = a.shape[axis]
    found = moment(a, 4, axis) / moment(a, 2, axis) ** 2
    if not bias and n > 3:
        found = ((n * n - 1) * found - 3 * (n - 1) ** 2) / ((n - 2) * (n - 3)) + 3
    return found - 3 if fisher else found


def kstat(data, n=2, *, axis=None):
    x, axis = _sample(data, axis)
    size = x.shape[axis]
    if n not in (1, 2, 3, 4):
        raise ValueError("k-statistics only supported for 1<=n<=4")
    if n == 1:
        return w.mean(x, axis)
    second, third, fourth = (moment(x, k, axis) for k in (2, 3, 4))
    if n == 2:
        return size * second / (size - 1)
    if n == 3:
        return size**2 * third / ((size - 1) * (size - 2))
    return size**2 * ((size + 1) * fourth - 3 * (size - 1) * second**2) / ((size - 1) * (size - 2) * (size - 3))


def variation(a, axis=0, ddof=0):
    a, axis = _sample(a, axis)
    return w.std(a, axis, correction=ddof) / w.mean(a, axis)


def sem(a, axis=0, ddof=1):
    a, axis = _sample(a, axis)
    return w.std(a, axis, correction=ddof) / a.shape[axis] ** 0.5


def gstd(a, axis=0, ddof=1):
    a, axis = _sample(a, axis)
    return w.exp(w.std(w.log(a), axis, correction=ddof))


class DescribeResult(NamedTuple):
    """What describe returns."""

    nobs: int
    minmax: Any
    mean: Any
    variance: Any
    skewness: Any
    kurtosis: Any


def describe(a, axis=0, ddof=1, bias=True):
    a, axis = _sample(a, axis)
    ends = (w.amin(a, axis), w.amax(a, axis))
    variance = w.var(a, axis, correction=ddof)
    return DescribeResult(a.shape[axis], ends, w.mean(a, axis), variance, skew(a, axis, bias), kurtosis(a, axis, True, bias))


# -- scores and robust statistics ----------------------------------------------------------------------------------------


def zmap(scores, compare, axis=0, ddof=0):
    scores, compare = operands(scores, compare)
    compare, axis = _sample(compare, axis)
    return (scores - w.mean(compare, axis, keepdim=True)) / w.std(compare, axis, correction=ddof, keepdim=True)


def zscore(a, axis=0, ddof=0):
    return zmap(a, a, axis, ddof)


def gzscore(a, *, axis=0, ddof=0):
    return zscore(w.log(operands(a)[0]), axis, ddof)


def iqr(x, axis=None, rng=(25, 75), scale=1.0):
    x, axis = _sample(x, axis)
    low, high = sorted(rng)
    factor = 1.3489795003921634 if scale == "normal" else scale
    return (_quantile(x, high / 100, axis) - _quantile(x, low / 100, axis)) / factor


def _quantile(x: Any, q: float, axis: int) -> Any:
    """The quantile by linear interpolation between the two elements around it."""
    ordered = w.sort(x, axis)[0]
    place = q * (x.shape[axis] - 1)
    low = int(place)
    high = min(low + 1, x.shape[axis] - 1)
    first, second = w.select(ordered, axis, low), w.select(ordered, axis, high)
    return first + (place - low) * (second - first)


def median_abs_deviation(x, axis=0, *, scale=1.0):
    x, axis = _sample(x, axis)
    middle = w.unsqueeze(_quantile(x, 0.5, axis), axis)
    factor = 0.6744897501960817 if scale == "normal" else scale
    return _quantile(w.abs(x - middle), 0.5, axis) / factor


def trim_mean(a, proportiontocut, axis=0):
    a, axis = _sample(a, axis)
    size = a.shape[axis]
    cut = int(proportiontocut * size)
    if cut > size - cut:
        raise ValueError("Proportion too big.")
    return w.mean(w.narrow(w.sort(a, axis)[0], axis, cut, size - 2 * cut), axis)


def _within(a: Any, limits: Any, inclusive: Any, axis: Any) -> tuple[Any, Any, int]:
    """Return (sample, which elements lie within the limits, axis)."""
    a, axis = _sample(a, axis)
    values = detached(a)
    inside = np.ones(values.shape, bool)
    if limits is not None:
        low, high = limits
        if low is not None:
            inside &= values >= low if inclusive[0] else values > low
        if high is not None:
            inside &= values <= high if inclusive[1] else values < high
    return a, w.as_tensor(inside).to(a.dtype), axis


def tmean(a, limits=None, inclusive=(True, True), axis=None):
    a, inside, axis = _within(a, limits, inclusive, axis)
    return w.sum(a * inside, axis) / w.sum(inside, axis)


def tvar(a, limits=None, inclusive=(True, True), axis=0, ddof=1):
    a, inside, axis = _within(a, limits, inclusive, axis)
    count = w.sum(inside, axis, keepdim=True)
    mean = w.sum(a * inside, axis, keepdim=True) / count
    return w.sum((a - mean) ** 2 * inside, axis) / (w.squeeze(count, axis) - ddof)


def tstd(a, limits=None, inclusive=(True, True), axis=0, ddof=1):
    return w.sqrt(tvar(a, limits, inclusive, axis, ddof))


# -- entropies and distances ---------------------------------------------------------------------------------------------


def entropy(pk, qk=None, base=None, axis=0):
    pk, qk = operands(pk, qk)
    pk, axis = _sample(pk, axis)
    pk = pk / w.sum(pk, axis, keepdim=True)
    if qk is None:
        terms = -w.xlogy(pk, pk)
    else:
        qk = qk / w.sum(qk, axis, keepdim=True)
        terms = w.xlogy(pk, pk) - w.xlogy(pk, qk)
    found = w.sum(terms, axis)
    return found if base is None else found / w.log(operands(base)[0].to(found.dtype))


def wasserstein_distance(u_values, v_values, u_weights=None, v_weights=None):
    return _cumulative_distance(u_values, v_values, u_weights, v_weights, 1)


def energy_distance(u_values, v_values, u_weights=None, v_weights=None):
    return 2**0.5 * _cumulative_distance(u_values, v_values, u_weights, v_weights, 2)


def _cumulative_distance(u: Any, v: Any, u_weights: Any, v_weights: Any, p: int) -> Any:
    """The distance of order p between the cumulative distributions of two samples."""
    u, v, u_weights, v_weights = operands(u, v, u_weights, v_weights)
    places = w.cat([u, v])
    masses = []
    for x, weights, sign in ((u, u_weights, 1.0), (v, v_weights, -1.0)):
        mass = w.ones_like(x) / len(x) if weights is None else weights / w.sum(weights)
        masses.append(sign * mass)
    order = w.as_tensor(np.argsort(detached(places), kind="stable"))
    gaps = w.diff(places[order])
    height = w.abs(w.cumsum(w.cat(masses)[order], 0)[:-1])
    return w.sum(height * gaps) if p == 1 else w.sqrt(w.sum(height * height * gaps))


# -- circular statistics ---------------------------------------------------------------------------------------------------


def _circle(samples: Any, high: float, low: float, axis: Any) -> tuple[Any, Any]:
    """Return (mean sine, mean cosine) of angles."""
    x, axis = _sample(samples, axis)
    angle = (x - low) * 2 * pi / (high - low)
    return w.mean(w.sin(angle), axis), w.mean(w.cos(angle), axis)


def circmean(samples, high=2 * pi, low=0, axis=None):
    sine, cosine = _circle(samples, high, low, axis)
    return w.remainder(w.atan2(sine, cosine), 2 * pi) * (high - low) / (2 * pi) + low


def circvar(samples, high=2 * pi, low=0, axis=None):
    return 1 - w.hypot(*_circle(samples, high, low, axis))


def circstd(samples, high=2 * pi, low=0, axis=None, *, normalize=False):
    found = w.sqrt(-2 * w.log(w.hypot(*_circle(samples, high, low, axis))))
    return found if normalize else found * (high - low) / (2 * pi)


# -- correlations and tests --------------------------------------------------------------------------------------------------


class SignificanceResult(NamedTuple):
    """A statistic and its p-value."""

    statistic: Any
    pvalue: Any


class LinregressResult(NamedTuple):
    """A line of least squares."""

    slope: Any
    intercept: Any
    rvalue: Any
    pvalue: Any
    stderr: Any
    intercept_stderr: Any


def _two_sided(dist: Continuous, statistic: Any, alternative: str, *shapes: Any, **place: Any) -> Any:
    if alternative == "less":
        return dist.cdf(statistic, *shapes, **place)
    if alternative == "greater":
        return dist.sf(statistic, *shapes, **place)
    if alternative != "two-sided":
        raise ValueError("`alternative` must be 'less', 'greater', or 'two-sided'.")
    return 2 * dist.sf(w.abs(statistic), *shapes, **place)


def pearsonr(x, y, *, alternative="two-sided", axis=0):
    x, y = operands(x, y)
    axis = checked_axis(axis, x.ndim)
    n = x.shape[axis]
    if n != y.shape[axis]:
        raise ValueError("`x` and `y` must have the same length along `axis`.")
    if n < 2:
        raise ValueError("`x` and `y` must have length at least 2.")
    x, y = (z - w.mean(z, axis, keepdim=True) for z in (x, y))
    r = w.sum(x * y, axis) / w.sqrt(w.sum(x * x, axis) * w.sum(y * y, axis))
    half = n / 2 - 1
    return SignificanceResult(r, _two_sided(_beta, r, alternative, half, half, loc=-1, scale=2))


def linregress(x, y, alternative="two-sided"):
    x, y = operands(x, y)
    n, mean = len(x), w.mean(x)
    a, b = x - mean, y - w.mean(y)
    square, cross, other = w.mean(a * a), w.mean(a * b), w.mean(b * b)
    r = cross / w.sqrt(square * other)
    slope, df = cross / square, n - 2
    intercept = w.mean(y) - slope * mean
    t = r * w.sqrt(df / ((1 - r) * (1 + r)))
    error = w.sqrt((1 - r * r) * other / square / df)
    p = _two_sided(_t, t, alternative, df)
    return LinregressResult(slope, intercept, r, p, error, error * w.sqrt(square + mean * mean))


def ttest_1samp(a, popmean, axis=0, *, alternative="two-sided"):
    a, axis = _sample(a, axis)
    (popmean,) = operands(popmean)
    n = a.shape[axis]
    t = (w.mean(a, axis) - popmean) / w.sqrt(w.var(a, axis, correction=1) / n)
    return SignificanceResult(t, _two_sided(_t, t, alternative, n - 1))


def ttest_rel(a, b, axis=0, *, alternative="two-sided"):
    a, b = operands(a, b)
    return ttest_1samp(a - b, 0.0, axis, alternative=alternative)


def ttest_ind(a, b, *, axis=0, equal_var=True, alternative="two-sided"):
    a, b = operands(a, b)
    (a, first), (b, second) = _sample(a, axis), _sample(b, axis)
    n, m = a.shape[first], b.shape[second]
    va, vb = w.var(a, first, correction=1), w.var(b, second, correction=1)
    if equal_var:
        df: Any = n + m - 2
        error = ((n - 1) * va + (m - 1) * vb) / df * (1 / n + 1 / m)
    else:
        error = va / n + vb / m
        df = error**2 / ((va / n) ** 2 / (n - 1) + (vb / m) ** 2 / (m - 1))
    t = (w.mean(a, first) - w.mean(b, second)) / w.sqrt(error)
    return SignificanceResult(t, _two_sided(_t, t, alternative, df))


def f_oneway(*samples, axis=0):
    groups = operands(*samples)
    if len(groups) < 2:
        raise TypeError("at least two inputs are required")
    axis = checked_axis(axis, groups[0].ndim)
    whole = w.cat(groups, axis)
    n, count = whole.shape[axis], len(groups)
    centre = w.mean(whole, axis, keepdim=True)
    between = sum(g.shape[axis] * (w.mean(g, axis) - w.squeeze(centre, axis)) ** 2 for g in groups)
    within = sum(w.sum((g - w.mean(g, axis, keepdim=True)) ** 2, axis) for g in groups)
    found = between / (count - 1) / (within / (n - count))
    return SignificanceResult(found, _f.sf(found, count - 1, n - count))


# -- transformations -----------------------------------------------------------------------------------------------------


def boxcox_llf(lmb, data, *, axis=0):
    lmb, data = operands(lmb, data)
    data, axis = _sample(data, axis)
    logs = w.log(data)
    transformed = logs if float(detached(lmb)) == 0 else w.expm1(lmb * logs) / lmb
    return (lmb - 1) * w.sum(logs, axis) - data.shape[axis] / 2 * w.log(w.var(transformed, axis, correction=0))


def yeojohnson_llf(lmb, data, *, axis=0):
    lmb, data = operands(lmb, data)
    data, axis = _sample(data, axis)
    above = data >= 0
    logs = w.log1p(w.abs(data))
    power = w.where(above, lmb, 2 - lmb)
    scaled = w.where(power == 0, logs, w.expm1(power * logs) / w.where(power == 0, 1.0, power))
    transformed = w.where(above, scaled, -scaled)
    sizes = (lmb - 1) * w.sum(w.sign(data) * logs, axis)
    return sizes - data.shape[axis] / 2 * w.log(w.var(transformed, axis, correction=0))
