"""Hypothesis tests and regressions of scipy.stats: statistics and p-values that differentiate in the samples."""

from __future__ import annotations

from math import pi, sqrt
from typing import Any, NamedTuple

import numpy as np

from wengert._forks import import_late
from wengert.array_functions.table import checked_axis, detached, w
from wengert.scipy._frame import operands
from wengert.scipy.stats._descriptive import _sample, kurtosis, skew, trim_mean
from wengert.scipy.stats._distributions import Continuous
from wengert.scipy.stats._formulas import S

__all__ = [
    "alexandergovern", "bartlett", "chi2_contingency", "chisquare", "combine_pvalues", "f_oneway", "false_discovery_control",
    "jarque_bera", "ks_1samp", "kstest", "kurtosistest", "levene", "linregress", "normaltest", "pearsonr", "pointbiserialr",
    "power_divergence", "probplot", "siegelslopes", "skewtest", "theilslopes", "ttest_1samp", "ttest_ind", "ttest_ind_from_stats",
    "ttest_rel", "tukey_hsd",
]  # fmt: skip

theirs = import_late("scipy.stats")
_t, _f, _beta, _chi2, _norm = [Continuous(getattr(theirs, name)) for name in ("t", "f", "beta", "chi2", "norm")]
_kstwo, _ksone, _kstwobign, _range = [
    Continuous(getattr(theirs, name)) for name in ("kstwo", "ksone", "kstwobign", "studentized_range")
]


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


def _of_two(means: Any, variances: Any, counts: Any, equal_var: bool, alternative: str) -> SignificanceResult:
    """Compare the means of two samples by their variances. counts: how many elements they have."""
    (va, vb), (n, m) = variances, counts
    if equal_var:
        df: Any = n + m - 2
        error = ((n - 1) * va + (m - 1) * vb) / df * (1 / n + 1 / m)
    else:
        error = va / n + vb / m
        df = error**2 / ((va / n) ** 2 / (n - 1) + (vb / m) ** 2 / (m - 1))
    t = (means[0] - means[1]) / w.sqrt(error)
    return SignificanceResult(t, _two_sided(_t, t, alternative, df))


def ttest_ind(a, b, *, axis=0, equal_var=True, alternative="two-sided"):
    a, b = operands(a, b)
    (a, first), (b, second) = _sample(a, axis), _sample(b, axis)
    means, variances = (w.mean(a, first), w.mean(b, second)), (w.var(a, first, correction=1), w.var(b, second, correction=1))
    return _of_two(means, variances, (a.shape[first], b.shape[second]), equal_var, alternative)


def ttest_ind_from_stats(mean1, std1, nobs1, mean2, std2, nobs2, equal_var=True, alternative="two-sided"):
    mean1, std1, mean2, std2 = operands(mean1, std1, mean2, std2)
    counts = operands(detached(nobs1), detached(nobs2))
    return _of_two((mean1, mean2), (std1 * std1, std2 * std2), counts, equal_var, alternative)


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


def pointbiserialr(x, y, *, axis=0):
    return pearsonr(*operands(x, y), axis=axis)


# -- tests of normality ----------------------------------------------------------------------------------------------------


def skewtest(a, axis=0, *, alternative="two-sided"):
    a, axis = _sample(a, axis)
    n = a.shape[axis]
    if n < 8:
        raise ValueError(f"skewtest is not valid with less than 8 samples; {n} samples were given.")
    y = skew(a, axis) * sqrt((n + 1) * (n + 3) / (6 * (n - 2)))
    tail = 3 * (n * n + 27 * n - 70) * (n + 1) * (n + 3) / ((n - 2) * (n + 5) * (n + 7) * (n + 9))
    square = sqrt(2 * (tail - 1)) - 1
    z = w.asinh(y * sqrt((square - 1) / 2)) / sqrt(0.5 * np.log(square))
    return SignificanceResult(z, _two_sided(_norm, z, alternative))


def kurtosistest(a, axis=0, *, alternative="two-sided"):
    a, axis = _sample(a, axis)
    n = a.shape[axis]
    if n < 5:
        raise ValueError(f"kurtosistest requires at least 5 observations; only {n} observations were given.")
    variance = 24 * n * (n - 2) * (n - 3) / ((n + 1) ** 2 * (n + 3) * (n + 5))
    x = (kurtosis(a, axis, False) - 3 * (n - 1) / (n + 1)) / sqrt(variance)
    third = 6 * (n * n - 5 * n + 2) / ((n + 7) * (n + 9)) * sqrt(6 * (n + 3) * (n + 5) / (n * (n - 2) * (n - 3)))
    df = 6 + 8 / third * (2 / third + sqrt(1 + 4 / third**2))
    below = 1 + x * sqrt(2 / (df - 4))
    root = w.sign(below) * ((1 - 2 / df) / w.abs(below)) ** (1 / 3)
    z = (1 - 2 / (9 * df) - root) / sqrt(2 / (9 * df))
    return SignificanceResult(z, _two_sided(_norm, z, alternative))


def normaltest(a, axis=0):
    found = skewtest(a, axis)[0] ** 2 + kurtosistest(a, axis)[0] ** 2
    return SignificanceResult(found, _chi2.sf(found, 2))


def jarque_bera(x, *, axis=None):
    x, axis = _sample(x, axis)
    if not x.shape[axis]:
        raise ValueError("At least one observation is required.")
    found = x.shape[axis] / 6 * (skew(x, axis) ** 2 + kurtosis(x, axis) ** 2 / 4)
    return SignificanceResult(found, _chi2.sf(found, 2))


class KstestResult(NamedTuple):
    """What ks_1samp returns. The location is an element of the sample."""

    statistic: Any
    pvalue: Any
    statistic_location: Any
    statistic_sign: Any


def ks_1samp(x, cdf, args=(), alternative="two-sided", method="auto"):
    """cdf: a function of tensors, such as wengert.scipy.stats.norm.cdf. Derivative: that of the largest distance to it."""
    (x,) = operands(x)
    if x.ndim != 1 or method not in ("auto", "exact", "asymp"):
        return NotImplemented
    if alternative not in ("two-sided", "less", "greater"):
        raise ValueError(f"Unexpected value alternative={alternative!r}")
    n, x = len(x), w.sort(x, 0)[0]
    mass = cdf(x, *args)
    sides = {1: w.as_tensor(np.arange(1.0, n + 1) / n) - mass, -1: mass - w.as_tensor(np.arange(0.0, n) / n)}
    allowed = {"two-sided": (1, -1), "greater": (1,), "less": (-1,)}[alternative]
    sign, place = max([(s, int(w.argmax(sides[s]))) for s in allowed], key=lambda found: float(detached(sides[found[0]])[found[1]]))
    distance = sides[sign][place]
    exact = method == "exact" or (method == "auto" and n <= 10000)
    if alternative == "two-sided":
        p = _kstwo.sf(distance, n) if exact else _kstwobign.sf(distance * sqrt(n))
    else:
        p = _ksone.sf(distance, n) if exact else w.exp(-2.0 * n * distance * distance)
    return KstestResult(distance, w.clamp(p, 0.0, 1.0), x[place], np.int8(sign))


def kstest(rvs, cdf, args=(), N=20, alternative="two-sided", method="auto"):
    """The test of one sample. cdf: the name of a continuous distribution, or a function of tensors."""
    if isinstance(cdf, str):
        cdf = Continuous(getattr(theirs, cdf)).cdf
    return ks_1samp(rvs, cdf, args, alternative, method) if callable(cdf) else NotImplemented


# -- tests of variances and means ---------------------------------------------------------------------------------------------


def _groups(samples: Any, axis: Any, least: int = 2) -> list[Any]:
    """Return samples with their elements along the last axis."""
    if len(samples) < least:
        raise ValueError("Must provide at least two samples.")
    found = [_sample(x, axis) for x in operands(*samples)]
    return [w.movedim(x, place, -1) for x, place in found]


def bartlett(*samples, axis=0):
    groups = _groups(samples, axis)
    free = [g.shape[-1] - 1 for g in groups]
    variances, total = [w.var(g, -1, correction=1) for g in groups], sum(free)
    pooled = sum(f * v for f, v in zip(free, variances, strict=True)) / total
    above = total * w.log(pooled) - sum(f * w.log(v) for f, v in zip(free, variances, strict=True))
    found = above / (1 + (sum(1 / f for f in free) - 1 / total) / (3 * (len(groups) - 1)))
    return SignificanceResult(found, _chi2.sf(found, len(groups) - 1))


def levene(*samples, center="median", proportiontocut=0.05, axis=0):
    """Derivative: also at the median, of whose neighbours each has its share."""
    groups = _groups(samples, axis)
    centers = {
        "mean": lambda g: w.mean(g, -1), "median": lambda g: w.quantile(g, 0.5, -1),
        "trimmed": lambda g: trim_mean(g, proportiontocut, -1),
    }  # fmt: skip
    if center not in centers:
        raise ValueError("center must be 'mean', 'median' or 'trimmed'.")
    return f_oneway(*[w.abs(g - centers[center](g)[..., None]) for g in groups], axis=-1)


def alexandergovern(*samples, axis=0):
    groups = _groups(samples, axis)
    means = w.stack([w.mean(g, -1) for g in groups])
    errors = w.stack([w.var(g, -1, correction=1) / g.shape[-1] for g in groups])
    t = (means - w.sum(means / errors, 0) / w.sum(1 / errors, 0)) / w.sqrt(errors)
    v = w.as_tensor(np.array([g.shape[-1] - 1.0 for g in groups])).reshape((-1,) + (1,) * (t.ndim - 1))
    a = v - 0.5
    b, c = 48 * a * a, w.sqrt(a * w.log1p(t * t / v))
    z = c + (c**3 + 3 * c) / b - (4 * c**7 + 33 * c**5 + 240 * c**3 + 855 * c) / (10 * b * b + 8 * b * c**4 + 1000 * b)
    found = w.sum(z * z, 0)
    return SignificanceResult(found, _chi2.sf(found, len(groups) - 1))


def tukey_hsd(*args, equal_var=True):
    """The matrices of differences of means and of p-values. SciPy's result has confidence intervals, too."""
    groups = _groups(args, 0)
    counts = w.as_tensor(np.array([float(len(g)) for g in groups]))
    means, variances = w.stack([w.mean(g) for g in groups]), w.stack([w.var(g, correction=1) for g in groups])
    if equal_var:
        df = w.sum(counts) - len(groups)
        error = w.sum(variances * (counts - 1)) / df * (1 / counts + 1 / counts[:, None]) / 2
    else:
        shares = variances / counts
        both = shares + shares[:, None]
        df, error = both**2 / (shares**2 / (counts - 1) + (shares**2 / (counts - 1))[:, None]), both / 2
    differences = means[:, None] - means
    return SignificanceResult(differences, _range.sf(w.abs(differences) / w.sqrt(error), float(len(groups)), df))


# -- tables of frequencies ------------------------------------------------------------------------------------------------------

_POWERS = {
    "pearson": 1.0, "log-likelihood": 0.0, "freeman-tukey": -0.5, "mod-log-likelihood": -1.0, "neyman": -2.0, "cressie-read": 2 / 3,
}  # fmt: skip


def power_divergence(f_obs, f_exp=None, ddof=0, axis=0, lambda_=None):
    """Distance of frequencies to expected ones, their mean if None. Sums must agree."""
    observed, place = _sample(f_obs, axis)
    if f_exp is None:
        expected = w.mean(observed, place, keepdim=True)
    else:
        (observed, place), (expected, _) = [_sample(x, axis) for x in w.broadcast_tensors(*operands(f_obs, f_exp))]
        first, second = [detached(w.sum(x, place)) for x in (observed, expected)]
        tolerance = float(np.finfo(first.dtype).eps ** 0.5)
        if not np.allclose(first, second, rtol=tolerance, atol=0):
            raise ValueError(
                "For each axis slice, the sum of the observed frequencies must agree with the sum of the expected frequencies to a "
                f"relative tolerance of {tolerance}."
            )
    return _divergence(observed, expected, ddof, place, lambda_)


def _divergence(observed: Any, expected: Any, ddof: Any, axis: int, power: Any) -> SignificanceResult:
    if isinstance(power, str) and power not in _POWERS:
        raise ValueError(f"invalid string for lambda_: {power!r}. Valid strings are {str(list(_POWERS))[1:-1]}")
    power = 1.0 if power is None else _POWERS.get(power, power) if isinstance(power, str) else power
    if power == 1:
        terms = (observed - expected) ** 2 / expected
    elif power == 0:
        terms = 2 * S.xlogy(observed, observed / expected)
    elif power == -1:
        terms = 2 * S.xlogy(expected, expected / observed)
    else:
        terms = observed * ((observed / expected) ** power - 1) / (0.5 * power * (power + 1))
    found = w.sum(terms, axis)
    return SignificanceResult(found, _chi2.sf(found, observed.shape[axis] - 1 - ddof))


def chisquare(f_obs, f_exp=None, ddof=0, axis=0):
    return power_divergence(f_obs, f_exp, ddof, axis)


class Chi2ContingencyResult(NamedTuple):
    """What chi2_contingency returns."""

    statistic: Any
    pvalue: Any
    dof: int
    expected_freq: Any


def chi2_contingency(observed, correction=True, lambda_=None):
    """Derivative: in the table. Yates' correction is by a constant, or up to the expected frequency."""
    (table,) = operands(observed)
    if (detached(table) < 0).any() or not table.numel():
        raise ValueError("All values in `observed` must be nonnegative." if table.numel() else "No data; `observed` has size 0.")
    total, expected = w.sum(table), 1.0
    for axis in range(table.ndim):
        others = [d for d in range(table.ndim) if d != axis]
        expected = expected * (w.sum(table, others, keepdim=True) if others else table) / total
    expected = expected * total
    if (detached(expected) == 0).any():
        raise ValueError("The internally computed table of expected frequencies has a zero element.")
    dof = table.numel() - sum(table.shape) + table.ndim - 1
    if dof == 0:
        return Chi2ContingencyResult(0.0 * total, 1.0 + 0.0 * total, 0, expected)
    if dof == 1 and correction:
        away = expected - table
        table = table + w.sign(away) * w.clamp(w.abs(away), max=0.5)
    found = _divergence(table.reshape(-1), expected.reshape(-1), table.numel() - 1 - dof, 0, lambda_)
    return Chi2ContingencyResult(*found, dof, expected)


# -- p-values ------------------------------------------------------------------------------------------------------------------


def combine_pvalues(pvalues, method="fisher", weights=None, *, axis=0):
    p, weights = operands(pvalues, weights)
    p, axis = _sample(p, axis)
    n = p.shape[axis]
    if method == "fisher":
        found = -2 * w.sum(w.log(p), axis)
        return SignificanceResult(found, _chi2.sf(found, 2 * n))
    if method == "pearson":
        found = 2 * w.sum(w.log1p(-p), axis)
        return SignificanceResult(found, _chi2.cdf(-found, 2 * n))
    if method == "mudholkar_george":
        found, df = w.sum(w.log1p(-p) - w.log(p), axis), 5 * n + 4
        return SignificanceResult(found, _t.sf(found * sqrt(3 / n) / pi * sqrt(df / (df - 2)), df))
    if method == "tippett":
        found = w.amin(p, axis)
        return SignificanceResult(found, _beta.cdf(found, 1, n))
    if method != "stouffer":
        valid = "'fisher', 'pearson', 'mudholkar_george', 'tippett', and 'stouffer'"
        raise ValueError(f"Invalid method {method!r}. Valid methods are {valid}")
    factors = w.ones_like(p) if weights is None else weights
    found = w.sum(factors * _norm.isf(p), axis) / w.sqrt(w.sum(factors * factors, axis))
    return SignificanceResult(found, _norm.sf(found))


def false_discovery_control(ps, *, axis=0, method="bh"):
    """p-values that control the rate of false discoveries. Derivative: in the p-value that each result stems from."""
    p, place = _sample(ps, axis)
    if not ((detached(p) >= 0) & (detached(p) <= 1)).all():
        raise ValueError("`ps` must include only numbers between 0 and 1.")
    if method.lower() not in ("bh", "by"):
        raise ValueError(f"Unrecognized `method` '{method}'.Method must be one of {{'bh', 'by'}}.")
    p = w.movedim(p, place, -1)
    ordered, order = w.sort(p, -1)
    n = p.shape[-1]
    i = np.arange(1.0, n + 1)
    factor = n / i * (np.sum(1 / i) if method.lower() == "by" else 1.0)
    lowest = w.flip(w.cummin(w.flip(ordered * w.as_tensor(factor), (-1,)), -1)[0], (-1,))
    found = w.take_along_dim(w.clamp(lowest, 0.0, 1.0), w.argsort(order, -1), -1)
    return w.movedim(found, -1, place)


# -- lines ----------------------------------------------------------------------------------------------------------------------


class TheilslopesResult(NamedTuple):
    """What theilslopes returns."""

    slope: Any
    intercept: Any
    low_slope: Any
    high_slope: Any


class SiegelslopesResult(NamedTuple):
    """What siegelslopes returns."""

    slope: Any
    intercept: Any


def _line(y: Any, x: Any) -> tuple[Any, Any]:
    y, x = operands(y, x)
    y = y.reshape(-1)
    x = w.as_tensor(np.arange(float(len(y)))) if x is None else x.reshape(-1)
    if len(x) != len(y):
        raise ValueError("Array shapes are incompatible for broadcasting.")
    return y, x


def theilslopes(y, x=None, alpha=0.95, method="separate"):
    """Median of the slopes of all pairs of points, and the slopes at the ends of the confidence interval."""
    result = theirs.theilslopes(detached(y), None if x is None else detached(x), alpha, method)
    y, x = _line(y, x)
    gaps = x[:, None] - x
    before, after = np.nonzero(detached(gaps) > 0)
    slopes = w.sort((y[before] - y[after]) / (x[before] - x[after]), 0)[0]
    slope = w.quantile(slopes, 0.5)
    intercept = w.quantile(y - slope * x, 0.5) if method == "joint" else w.quantile(y, 0.5) - slope * w.quantile(x, 0.5)
    ends = [slopes[int(np.argmin(np.abs(detached(slopes) - end)))] for end in result[2:]]
    return TheilslopesResult(slope, intercept, *ends)


def siegelslopes(y, x=None, method="hierarchical"):
    """Median over the points of the median of the slopes to all other points."""
    if method not in ("hierarchical", "separate"):
        raise ValueError("method can only be 'hierarchical' or 'separate'")
    y, x = _line(y, x)
    slopes, intercepts = [], []
    for j in range(len(x)):
        others = np.flatnonzero(detached(x) != float(detached(x[j])))
        gap = x[others] - x[j]
        slopes.append(w.quantile((y[others] - y[j]) / gap, 0.5))
        intercepts.append(w.quantile((y[j] * x[others] - y[others] * x[j]) / gap, 0.5))
    slope = w.quantile(w.stack(slopes), 0.5)
    intercept = w.quantile(y - slope * x, 0.5) if method == "hierarchical" else w.quantile(w.stack(intercepts), 0.5)
    return SiegelslopesResult(slope, intercept)


def probplot(x, sparams=(), dist="norm", fit=True):
    """Quantiles of a distribution, by name, beside the sorted sample, and the line through them.

    Derivative: in the sample and sparams."""
    if not isinstance(dist, str):
        return NotImplemented
    (x,) = operands(x)
    shapes = tuple(sparams) if isinstance(sparams, (list, tuple)) else (sparams,)
    levels = theirs.uniform.cdf(theirs.probplot(np.zeros(len(x)), dist="uniform", fit=False)[0])
    quantiles, ordered = w.as_tensor(Continuous(getattr(theirs, dist)).ppf(levels, *shapes)), w.sort(x, 0)[0]
    if not fit:
        return quantiles, ordered
    line = linregress(quantiles, ordered)
    return (quantiles, ordered), (line.slope, line.intercept, line.rvalue)
