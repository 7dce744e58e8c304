"""Statistics of samples: means, moments, scores, distances and transformations of scipy.stats."""

from __future__ import annotations

from math import pi
from typing import Any, NamedTuple

import numpy as np

from wengert._forks import import_late
from wengert.array_functions.table import checked_axis, detached, w
from wengert.array_protocol import _is_differentiated as is_differentiated
from wengert.scipy._closures import implicit
from wengert.scipy._frame import operands
from wengert.scipy._parameters import slope_at
from wengert.scipy.stats._formulas import S

__all__ = [
    "binned_statistic", "binned_statistic_2d", "binned_statistic_dd", "boxcox", "boxcox_llf", "boxcox_normmax", "circmean",
    "circstd", "circvar", "describe", "differential_entropy", "directional_stats", "energy_distance", "entropy", "expectile",
    "gmean", "gstd", "gzscore", "hmean", "iqr", "kstat", "kstatvar", "kurtosis", "lmoment", "median_abs_deviation", "mode",
    "moment", "obrientransform", "pmean", "quantile", "scoreatpercentile", "sem", "sigmaclip", "skew", "tmax", "tmean",
    "tmin", "trim1", "trim_mean", "trimboth", "tsem", "tstd", "tvar", "variation", "wasserstein_distance", "yeojohnson",
    "yeojohnson_llf", "yeojohnson_normmax", "zmap", "zscore",
]  # fmt: skip

theirs = import_late("scipy.stats")
binom = import_late("scipy.special").binom


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


def kstatvar(data, n=2, *, axis=None):
    size = _sample(data, axis)[0].shape[_sample(data, axis)[1]]
    second = kstat(data, 2, axis=axis)
    if n == 1:
        return second / size
    if n != 2:
        raise ValueError("Only n=1 or n=2 supported.")
    return (2 * size * second**2 + (size - 1) * kstat(data, 4, axis=axis)) / (size * (size + 1))


def lmoment(sample, order=None, *, axis=0, standardize=True):
    """L-moments along a first axis, by the probability weighted moments of the sorted sample."""
    x, axis = _sample(sample, axis)
    n, orders = x.shape[axis], np.arange(1, 5) if order is None else np.asarray(order)
    if np.any(orders < 1) or np.any(orders % 1 != 0):
        raise ValueError("`order` must contain only positive integers.")
    ordered, found = w.movedim(w.sort(x, axis)[0], axis, -1), {}
    for k in {2, *orders.reshape(-1).tolist()}:
        i, r = np.arange(n), np.arange(k)[:, None]
        share = binom(i, r) / binom(n - 1, r)
        signs = (-1.0) ** (k - 1 - r) * binom(k - 1, r) * binom(k - 1 + r, r)
        found[k] = w.mean(w.as_tensor((signs * share).sum(0)) * ordered, -1)
        if standardize and k > 2:
            found[k] = found[k] / found[2]
    return found[int(orders)] if orders.ndim == 0 else w.stack([found[k] for k in orders.tolist()])


def variation(a, axis=0, ddof=0):
    a, axis = _sample(a, axis)
    return w.std(a, axis, correction=ddof) / w.mean(a, axis)


def sem(a, axis=0, ddof=1):
    a, axis = _sample(a, axis)
    return w.std(a, axis, correction=ddof) / a.shape[axis] ** 0.5


def tsem(a, limits=None, inclusive=(True, True), axis=0, ddof=1):
    _, inside, place = _within(a, limits, inclusive, axis)
    return tstd(a, limits, inclusive, axis, ddof) / w.sqrt(w.sum(inside, place))


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


_QUANTILES = {
    "interpolated_inverted_cdf": lambda p: 0 * p, "hazen": lambda p: 0 * p + 0.5, "weibull": lambda p: p, "linear": lambda p: 1 - p,
    "median_unbiased": lambda p: p / 3 + 1 / 3, "normal_unbiased": lambda p: p / 4 + 3 / 8,
}  # fmt: skip


def quantile(x, p, *, method="linear", axis=0):
    """Quantiles at the levels p, a number, or (k,) for one axis. Derivative: in x and p. method: one that is continuous in p."""
    if method not in (*_QUANTILES, "harrell-davis"):
        return NotImplemented
    x, p = operands(x, p)
    x, axis = _sample(x, axis)
    if p.ndim > 1 or (p.ndim == 1 and x.ndim > 1):
        return NotImplemented
    ordered, n = w.movedim(w.sort(x, axis)[0], axis, -1), x.shape[axis]
    if method == "harrell-davis":
        ends = w.as_tensor(np.linspace(0.0, 1.0, n + 1))
        shares = w.diff(S.betainc((p * (n + 1))[..., None], ((1 - p) * (n + 1))[..., None], ends))
        return w.sum(shares * ordered, -1)
    place = w.clamp(n * p + _QUANTILES[method](p) - 1, 0.0, n - 1.0)
    low = np.minimum(np.floor(detached(place)).astype(int), max(n - 2, 0))
    first, second = ordered[..., w.as_tensor(low)], ordered[..., w.as_tensor(np.minimum(low + 1, n - 1))]
    return first + (place - w.as_tensor(low)) * (second - first)


def scoreatpercentile(a, per, limit=(), interpolation_method="fraction", axis=None):
    if interpolation_method not in ("fraction", "lower", "higher"):
        raise ValueError("interpolation_method can only be 'fraction', 'lower' or 'higher'")
    a, axis = _sample(a, axis)
    if limit:
        a = a[(a >= limit[0]) & (a <= limit[1])]
    last = a.shape[axis] - 1
    rounded: Any = {"fraction": float, "lower": np.floor, "higher": np.ceil}[interpolation_method]
    found = [_quantile(a, float(rounded(level / 100 * last)) / max(last, 1), axis) for level in np.atleast_1d(detached(per))]
    return found[0] if np.ndim(detached(per)) == 0 else w.stack(found)


class ModeResult(NamedTuple):
    """What mode returns."""

    mode: Any
    count: Any


def mode(a, axis=0):
    """The most frequent element, the smallest of equally frequent ones. Derivative: in the first element of this value."""
    found = theirs.mode(detached(a), axis, keepdims=True)
    a, axis = _sample(a, axis)
    value, count = [np.reshape(part, [1 if d == axis else n for d, n in enumerate(a.shape)]) for part in found]
    place = w.as_tensor(np.argmax(detached(a) == value, axis, keepdims=True))
    return ModeResult(w.squeeze(w.take_along_dim(a, place, axis), axis), w.as_tensor(np.squeeze(count, axis)))


class BinnedStatisticResult(NamedTuple):
    """What binned_statistic returns."""

    statistic: Any
    bin_edges: Any
    binnumber: Any


class BinnedStatistic2dResult(NamedTuple):
    """What binned_statistic_2d returns."""

    statistic: Any
    x_edge: Any
    y_edge: Any
    binnumber: Any


class BinnedStatisticddResult(NamedTuple):
    """What binned_statistic_dd returns."""

    statistic: Any
    bin_edges: Any
    binnumber: Any


_WAYS: dict[str, Any] = {
    "mean": w.mean, "sum": w.sum, "min": w.amin, "max": w.amax, "median": lambda v: w.quantile(v, 0.5),
    "std": lambda v: w.std(v, correction=0),
}  # fmt: skip


def binned_statistic_dd(sample, values, statistic="mean", bins=10, range=None, expand_binnumbers=False):
    """Derivative: in the values. The bins and counts are constants."""
    if statistic != "count" and (statistic not in _WAYS or is_differentiated([sample, bins])):
        return NotImplemented
    given = detached(sample), detached(values), statistic, detached(bins), range
    plain, edges, places = theirs.binned_statistic_dd(*given, expand_binnumbers=True)
    places = np.atleast_2d(places)
    number = places if expand_binnumbers else np.ravel_multi_index(tuple(places), [len(e) + 1 for e in edges])
    found = w.as_tensor(plain)
    if statistic != "count":
        (values,) = operands(values)
        if values.ndim != 1:
            return NotImplemented
        cells = np.full(len(values), -1)
        inside = np.all((places > 0) & (places < np.array([len(e) for e in edges])[:, None]), 0)
        cells[inside] = np.ravel_multi_index(tuple(places[:, inside] - 1), plain.shape)
        chosen = [np.flatnonzero(cells == k) for k in np.arange(plain.size)]
        parts = [_WAYS[statistic](values[i]) if len(i) else w.as_tensor(v) for i, v in zip(chosen, plain.flat, strict=True)]
        found = w.stack(parts).reshape(plain.shape)
    return BinnedStatisticddResult(found, [w.as_tensor(e) for e in edges], w.as_tensor(number))


def binned_statistic_2d(x, y, values, statistic="mean", bins=10, range=None, expand_binnumbers=False):
    """Derivative: in the values. The bins and counts are constants."""
    if statistic != "count" and is_differentiated([x, y, bins]):
        return NotImplemented
    plain = detached(bins)
    both = plain if np.ndim(plain) == 0 or len(plain) in (1, 2) else [plain, plain]
    sample = np.stack([detached(x), detached(y)], -1)
    found = binned_statistic_dd(sample, values, statistic, both, range, expand_binnumbers)
    return found if found is NotImplemented else BinnedStatistic2dResult(found[0], found[1][0], found[1][1], found[2])


def binned_statistic(x, values, statistic="mean", bins=10, range=None):
    """Derivative: in the values. The bins and counts are constants."""
    if statistic != "count" and is_differentiated([x, bins]):
        return NotImplemented
    plain = detached(bins)
    ends = None if range is None else [range] if len(range) == 2 else range
    found = binned_statistic_dd(detached(x)[:, None], values, statistic, plain if np.ndim(plain) == 0 else [plain], ends)
    return found if found is NotImplemented else BinnedStatisticResult(found[0], found[1][0], found[2])


def expectile(a, alpha=0.5, *, weights=None):
    """Derivative: that of the weighted mean in which alpha counts above the expectile and 1 - alpha below."""
    at = theirs.expectile(detached(a), detached(alpha), weights=detached(weights))
    a, alpha, weights = operands(a, alpha, weights)
    factors = w.where(a > at, alpha, 1 - alpha) * (1.0 if weights is None else weights)
    return w.sum(factors * a) / w.sum(factors)


def trimboth(a, proportiontocut, axis=0):
    a, axis = _sample(a, axis)
    cut = int(proportiontocut * a.shape[axis])
    if 2 * cut >= a.shape[axis]:
        raise ValueError("Proportion too big.")
    return _between(a, cut, a.shape[axis] - cut, axis)


def trim1(a, proportiontocut, tail="right", axis=0):
    if proportiontocut >= 1 or tail.lower() not in ("left", "right"):
        return NotImplemented
    a, axis = _sample(a, axis)
    n, cut = a.shape[axis], int(proportiontocut * a.shape[axis])
    return _between(a, 0, n - cut, axis) if tail.lower() == "right" else _between(a, cut, n, axis)


def _between(a: Any, low: int, high: int, axis: int) -> Any:
    """Return the elements from rank `low` to `high` along an axis, in NumPy's order."""
    order = np.argpartition(detached(a), (low, high - 1), axis)
    return w.narrow(w.take_along_dim(a, w.as_tensor(order), axis), axis, low, high - low)


class SigmaclipResult(NamedTuple):
    """What sigmaclip returns."""

    clipped: Any
    lower: Any
    upper: Any


def sigmaclip(a, low=4.0, high=4.0):
    a, _ = _sample(a, None)
    while True:
        mean, deviation = w.mean(a), w.std(a, correction=0)
        ends = mean - low * deviation, mean + high * deviation
        kept = a[(a >= ends[0]) & (a <= ends[1])]
        if len(kept) == len(a):
            return SigmaclipResult(kept, *ends)
        a = kept


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


def tmin(a, lowerlimit=None, axis=0, inclusive=True):
    return _extreme(w.amin, a, (lowerlimit, None), inclusive, axis)


def tmax(a, upperlimit=None, axis=0, inclusive=True):
    return _extreme(w.amax, a, (None, upperlimit), inclusive, axis)


def _extreme(reduce: Any, a: Any, limits: Any, inclusive: bool, axis: Any) -> Any:
    a, inside, axis = _within(a, limits, (inclusive, inclusive), axis)
    found = reduce(w.where(inside != 0, a, np.inf if reduce is w.amin else -np.inf), axis)
    return w.where(w.isinf(found), np.nan, found)


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


def differential_entropy(values, *, window_length=None, base=None, axis=0, method="auto"):
    """Entropy of the density of a sample, by the gaps between sorted elements."""
    x, axis = _sample(values, axis)
    n = x.shape[axis]
    m = int(np.floor(n**0.5 + 0.5)) if window_length is None else int(window_length)
    if not 2 <= 2 * m < n:
        raise ValueError(f"Window length ({m}) must be positive and less than half the sample size ({n}).")
    if base is not None and detached(base) <= 0:
        raise ValueError("`base` must be a positive number or `None`.")
    method = method.lower()
    if method == "auto":
        method = "van es" if n <= 10 else "ebrahimi" if n <= 1000 else "vasicek"
    ways = {"vasicek": _vasicek, "van es": _van_es, "ebrahimi": _ebrahimi, "correa": _correa}
    if method not in ways:
        raise ValueError(f"`method` must be one of {{{', '.join(map(repr, ways))}}}")
    found = ways[method](w.sort(w.movedim(x, axis, -1), -1)[0], n, m)
    return found if base is None else found / w.log(operands(base)[0].to(found.dtype))


def _padded(x: Any, n: int, m: int) -> Any:
    """Return a sorted sample with its ends repeated m times."""
    return x[..., np.clip(np.arange(-m, n + m), 0, n - 1)]


def _vasicek(x: Any, n: int, m: int) -> Any:
    x = _padded(x, n, m)
    return w.mean(w.log(n / (2 * m) * (x[..., 2 * m :] - x[..., : -2 * m])), -1)


def _ebrahimi(x: Any, n: int, m: int) -> Any:
    x, i = _padded(x, n, m), np.arange(1, n + 1.0)
    factor = np.where(i <= m, 1 + (i - 1) / m, np.where(i >= n - m + 1, 1 + (n - i) / m, 2.0))
    return w.mean(w.log(n / m * (x[..., 2 * m :] - x[..., : -2 * m]) / w.as_tensor(factor)), -1)


def _van_es(x: Any, n: int, m: int) -> Any:
    first = w.sum(w.log((n + 1) / m * (x[..., m:] - x[..., :-m])), -1) / (n - m)
    return first + float(np.sum(1 / np.arange(m, n + 1))) + float(np.log(m / (n + 1)))


def _correa(x: Any, n: int, m: int) -> Any:
    steps = np.arange(-m, m + 1)
    windows = _padded(x, n, m)[..., np.arange(n)[:, None] + m + steps]
    away = windows - w.mean(windows, -1, keepdim=True)
    return -w.mean(w.log(w.sum(away * w.as_tensor(steps), -1) / (n * w.sum(away * away, -1))), -1)


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


# -- directions ------------------------------------------------------------------------------------------------------------


class DirectionalStats(NamedTuple):
    """What directional_stats returns."""

    mean_direction: Any
    mean_resultant_length: Any


def directional_stats(samples, *, axis=0, normalize=True):
    (x,) = operands(samples)
    if x.ndim < 2:
        raise ValueError(f"samples must at least be two-dimensional. Instead samples has shape: {tuple(x.shape)}")
    x = w.movedim(x, axis, 0)
    if normalize:
        x = x / w.sqrt(w.sum(x * x, -1, keepdim=True))
    mean = w.mean(x, 0)
    length = w.sqrt(w.sum(mean * mean, -1, keepdim=True))
    return DirectionalStats(mean / length, w.squeeze(length, -1))


# -- transformations -----------------------------------------------------------------------------------------------------


def obrientransform(*samples):
    found = []
    for x in operands(*samples):
        n, squares = len(x), (x - w.mean(x)) ** 2
        found.append(((n - 1.5) * n * squares - 0.5 * w.sum(squares)) / ((n - 1) * (n - 2)))
    if len({len(x) for x in found}) > 1:
        return NotImplemented
    return w.stack(found)


def boxcox_llf(lmb, data, *, axis=0):
    lmb, data = operands(lmb, data)
    data, axis = _sample(data, axis)
    transformed = w.var(S.boxcox(data, lmb), axis, correction=0)
    return (lmb - 1) * w.sum(w.log(data), axis) - data.shape[axis] / 2 * w.log(transformed)


def _yeo_johnson(data: Any, lmb: Any) -> Any:
    """Box-Cox transformation of 1 + x for x >= 0, and of 1 - x with 2 - lmb and the other sign for x < 0."""
    above = data >= 0
    found = S.boxcox1p(w.abs(data), w.where(above, lmb, 2 - lmb))
    return w.where(above, found, -found)


def yeojohnson_llf(lmb, data, *, axis=0):
    lmb, data = operands(lmb, data)
    data, axis = _sample(data, axis)
    sizes = (lmb - 1) * w.sum(w.sign(data) * w.log1p(w.abs(data)), axis)
    return sizes - data.shape[axis] / 2 * w.log(w.var(_yeo_johnson(data, lmb), axis, correction=0))


def _maximum(function: Any, value: Any, x: Any) -> Any:
    """Return the place of a function's maximum, near SciPy's value. The derivative is that of the equation slope = 0."""
    return implicit(lambda lmb: slope_at(lambda place: function(place, x), lmb, [x]), np.asarray(value, np.float64))


def _correlation(lmb: Any, x: Any) -> Any:
    """Correlation of the transformed sample with normal quantiles."""
    quantiles = w.as_tensor(theirs.probplot(np.zeros(len(x)), fit=False)[0])
    y = w.sort(S.boxcox(x, lmb), 0)[0]
    y = y - w.mean(y)
    return w.sum(quantiles * y) / w.sqrt(w.sum(quantiles * quantiles) * w.sum(y * y))


def boxcox_normmax(x, *, method="pearsonr"):
    """Derivative: in the sample, that of the maximum of the likelihood ("mle") or of the correlation ("pearsonr")."""
    value = theirs.boxcox_normmax(detached(x), method=method)
    (x,) = operands(x)
    functions: Any = {"mle": [boxcox_llf], "pearsonr": [_correlation], "all": [_correlation, boxcox_llf]}[method]
    found = [_maximum(f, v, x) for f, v in zip(functions, np.atleast_1d(value), strict=True)]
    return w.stack(found) if method == "all" else found[0]


def boxcox(x, lmbda=None):
    """The transformed sample, and the lmbda of the largest likelihood if none is given. Derivative: in the sample and lmbda."""
    if lmbda is not None:
        return S.boxcox(*operands(x, lmbda))
    theirs.boxcox(detached(x))  # raises ValueError for samples that have no transformation
    best = boxcox_normmax(x, method="mle")
    return S.boxcox(operands(x)[0], best), best


def yeojohnson_normmax(x):
    """Derivative: in the sample, that of the maximum of the likelihood."""
    return _maximum(yeojohnson_llf, theirs.yeojohnson_normmax(detached(x)), operands(x)[0])


def yeojohnson(x, lmbda=None):
    """The transformed sample, and the lmbda of the largest likelihood if none is given. Derivative: in the sample and lmbda."""
    if lmbda is not None:
        return _yeo_johnson(*operands(x, lmbda))
    best = yeojohnson_normmax(x)
    return _yeo_johnson(operands(x)[0], best), best
