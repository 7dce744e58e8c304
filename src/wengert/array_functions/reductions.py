"""Reductions and running results of NumPy: sums, extrema, means, quantiles, with axis, keepdims, where and initial."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.array_functions.table import (
    FUNCTIONS,
    METHODS,
    PLAIN,
    detached,
    floating,
    ints,
    of,
    promoted,
    since,
    tensor,
    unsupported_arguments,
    w,
)  # fmt: skip

PLAIN |= {
    np.allclose, np.argpartition, np.argwhere, np.array2string, np.array_equal, np.array_equiv, np.array_repr,
    np.array_str, np.common_type, np.count_nonzero, np.diag_indices_from, np.digitize, np.einsum_path, np.flatnonzero,
    np.isclose, np.iscomplex, np.iscomplexobj, np.isin, np.isneginf, np.isposinf, np.isreal, np.isrealobj, np.iterable, np.lexsort,
    np.linalg.matrix_rank, np.may_share_memory, np.min_scalar_type, np.nanargmax, np.nanargmin, np.ndim, np.nonzero,
    np.result_type, np.searchsorted, np.shape, np.shares_memory, np.size, np.tril_indices_from, np.triu_indices_from,
}  # fmt: skip

# What an element counts that `where` leaves out.
_NEUTRAL = {"sum": 0, "prod": 1, "all": True, "any": False}


def over_axes(a: Any, axis: Any, keepdims: bool, run: Callable[[Any], Any]) -> Any:
    """Return run(x), which reduces the last dimension of x. The axes lie there, flattened; all of them if axis is None."""
    axes = sorted({d % a.ndim for d in (range(a.ndim) if axis is None else ints(axis))})
    kept = [d for d in range(a.ndim) if d not in axes]
    found = run(w.permute(a, (*kept, *axes)).reshape([a.shape[d] for d in kept] + [-1]))
    return w.reshape(found, [1 if d in axes else a.shape[d] for d in range(a.ndim)]) if keepdims else found


def _included(name: str, a: Any, where: Any, initial: Any) -> Any:
    """Return a with what counts for nothing in the places that `where` leaves out."""
    if name in _NEUTRAL:
        neutral = _NEUTRAL[name]
    else:
        if initial is None:
            raise ValueError(
                f"reduction operation '{name}imum' does not have an identity, so to use a where mask one has to specify 'initial'"
            )
        neutral = initial
    return w.where(tensor(where), a, w.as_tensor(neutral, dtype=a.dtype))


def _reduction(name: str) -> Callable[..., Any]:
    """Return a reduction over axes, or over all elements if axis is None."""
    over_all, over_dims = getattr(w, name), getattr(w, {"max": "amax", "min": "amin"}.get(name, name))

    def reduce(a, axis=None, dtype=None, keepdims=False, initial=None, where=True):
        a = tensor(a)
        if where is not True:
            a = _included(name, a, where, initial)
        if dtype is not None:
            found = _reduced(a, axis, keepdims, {"dtype": dtype})
        elif a._array.dtype.kind == "c" and name in ("max", "min"):
            found = _complex_extremum(name, a, axis, keepdims)
        elif axis is None and not keepdims:
            found = over_all(a)
        elif type(axis) is int:
            found = over_dims(a, axis, keepdims)
        else:
            found = _reduced(a, axis, keepdims, {})
        if initial is None:
            return found
        join = {"sum": w.add, "prod": w.mul, "max": w.maximum, "min": w.minimum}[name]
        return join(found, w.as_tensor(initial, dtype=found.dtype))

    def _reduced(a: Any, axis: Any, keepdims: bool, options: dict[str, Any]) -> Any:
        if axis is None and not keepdims:
            return over_all(a, **options)
        axes = tuple(range(a.ndim)) if axis is None else ints(axis)
        if name != "prod":
            return over_dims(a, dim=axes, keepdim=keepdims, **options)
        for dim in sorted((d % a.ndim for d in axes), reverse=True):
            a = w.prod(a, dim, keepdim=keepdims, **options)
        return a

    return reduce


def _complex_extremum(name: str, a: Any, axis: Any, keepdims: bool) -> Any:
    """The first largest or smallest complex number by its real part, then by its imaginary part, as NumPy orders them.

    torch has no such operation. Derivative: 1 at this element."""
    axes = sorted(d % a.ndim for d in (range(a.ndim) if axis is None else ints(axis)))
    kept = [d for d in range(a.ndim) if d not in axes]
    flat = w.permute(a, (*kept, *axes)).reshape([a.shape[d] for d in kept] + [-1])
    place = getattr(np, f"arg{name}")(detached(flat), -1, keepdims=True)
    found = w.gather(flat, -1, w.as_tensor(place))[..., 0]
    return found.reshape([1 if d in axes else a.shape[d] for d in range(a.ndim)]) if keepdims else found


for _name in ("sum", "prod", "max", "min", "all", "any"):
    of(getattr(np, _name), method=True)(_reduction(_name))
FUNCTIONS |= {np.amax: FUNCTIONS[np.max], np.amin: FUNCTIONS[np.min]}
METHODS |= {np.amax, np.amin}


@of(np.mean, method=True)
def _mean(a, axis=None, dtype=None, keepdims=False, where=True):
    a = floating(a) if dtype is None else tensor(a)
    if where is True:
        if dtype is None:
            if type(axis) is int:
                return w.mean(a, axis, keepdims)
            if axis is None and not keepdims:
                return w.mean(a)
        axes = None if axis is None and not keepdims else tuple(range(a.ndim)) if axis is None else ints(axis)
        return w.mean(a, dtype=dtype) if axes is None else w.mean(a, dim=axes, keepdim=keepdims, dtype=dtype)
    counts = np.sum(np.broadcast_to(np.asarray(where), a.shape), axis=axis, keepdims=keepdims)
    return FUNCTIONS[np.sum](a, axis, dtype, keepdims, where=where) / w.as_tensor(counts)


def _variance(a: Any, axis: Any, ddof: float, keepdims: bool, where: Any, mean: Any) -> Any:
    a = floating(a)
    if where is True and mean is None:
        return w.var(a, dim=axis if axis is None else ints(axis), correction=ddof, keepdim=keepdims)
    off = a - (_mean(a, axis, keepdims=True, where=where) if mean is None else mean)
    squares = w.square(w.abs(off))
    counts = np.sum(np.broadcast_to(np.asarray(where), a.shape), axis=axis, keepdims=keepdims)
    divisor = w.as_tensor(np.maximum(counts - ddof, 0), dtype=squares.dtype)
    return FUNCTIONS[np.sum](squares, axis, None, keepdims, where=where) / divisor


def _deviation(variance: Any) -> Any:
    """Return the square root of a variance. Where it is 0, so is the derivative, as that of wengert.std."""
    zero = variance.detach() == 0
    if not bool(zero.any()):
        return w.sqrt(variance)
    return w.masked_fill(w.sqrt(w.masked_fill(variance, zero, 1.0)), zero, 0.0)


@of(np.var, method=True)
def _var(a, axis=None, ddof=0, keepdims=False, where=True, mean=None, correction=None):
    return _variance(a, axis, ddof if correction is None else correction, keepdims, where, mean)


@of(np.std, method=True)
def _std(a, axis=None, ddof=0, keepdims=False, where=True, mean=None, correction=None):
    ddof = ddof if correction is None else correction
    if where is True and mean is None:
        return w.std(floating(a), dim=axis if axis is None else ints(axis), correction=ddof, keepdim=keepdims)
    return _deviation(_variance(a, axis, ddof, keepdims, where, mean))


@of(np.ptp)
def _ptp(a, axis=None, keepdims=False):
    return FUNCTIONS[np.max](a, axis, None, keepdims) - FUNCTIONS[np.min](a, axis, None, keepdims)


@of(np.average)
def _average(a, axis=None, weights=None, returned=False, keepdims=False):
    a = floating(a)
    if weights is None:
        found = _mean(a, axis, keepdims=keepdims)
        total = w.as_tensor(a.numel() / max(1, found.numel()), dtype=found.dtype)
    else:
        weights = tensor(weights)
        if weights.shape != a.shape:
            if axis is None:
                raise TypeError("Axis must be specified when shapes of a and weights differ.")
            axes = [d % a.ndim for d in ints(axis)]
            if tuple(weights.shape) != tuple(a.shape[d] for d in axes):
                raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
            order = sorted(range(len(axes)), key=axes.__getitem__)
            weights = w.permute(weights, order).reshape([n if d in axes else 1 for d, n in enumerate(a.shape)])
            weights = w.broadcast_to(weights, a.shape)
        total = FUNCTIONS[np.sum](weights, axis, None, keepdims)
        if bool((total == 0).any()):
            raise ZeroDivisionError("Weights sum to zero, can't be normalized")
        found = FUNCTIONS[np.sum](a * weights, axis, None, keepdims) / total
    return (found, w.broadcast_to(total, found.shape)) if returned else found


# -- quantiles ---------------------------------------------------------------------------------------------------------


def _quantiles(run: Callable[..., Any], name: str) -> Callable[..., Any]:
    def quantile(a, q, axis=None, method="linear", keepdims=False):
        a = floating(a)
        if method not in ("linear", "lower", "higher", "midpoint", "nearest"):
            raise unsupported_arguments(name, [f"method={method!r}"])
        q = q if isinstance(q, (int, float)) else w.as_tensor(q, dtype=a.dtype)
        if axis is None or isinstance(axis, (int, np.integer)):
            return run(a, q, axis if axis is None else int(axis), keepdims, interpolation=method)
        if isinstance(q, (int, float)) or q.ndim == 0:
            return over_axes(a, axis, keepdims, lambda x: run(x, q, -1, False, interpolation=method))
        return w.stack([quantile(a, one, axis, method, keepdims) for one in q])

    return quantile


_quantile = of(np.quantile)(_quantiles(w.quantile, "quantile"))
_nanquantile = of(np.nanquantile)(_quantiles(w.nanquantile, "nanquantile"))
of(np.median)(lambda a, axis=None, keepdims=False: _quantile(a, 0.5, axis, keepdims=keepdims))
of(np.nanmedian)(lambda a, axis=None, keepdims=False: _nanquantile(a, 0.5, axis, keepdims=keepdims))


@of(np.percentile)
def _percentile(a, q, axis=None, method="linear", keepdims=False):
    return _quantile(a, np.true_divide(q, 100), axis, method, keepdims)


@of(np.nanpercentile)
def _nanpercentile(a, q, axis=None, method="linear", keepdims=False):
    return _nanquantile(a, np.true_divide(q, 100), axis, method, keepdims)


# -- without NaN -------------------------------------------------------------------------------------------------------


def _without_nan(name: str, neutral: float) -> Callable[..., Any]:
    """Return a function of NumPy for which NaN count as this number."""

    def run(a, axis=None, dtype=None, keepdims=False, initial=None, where=True):
        a = tensor(a)
        return FUNCTIONS[getattr(np, name)](w.where(w.isnan(a), neutral, a), axis, dtype, keepdims, initial, where)

    return run


of(np.nansum)(_without_nan("sum", 0.0))
of(np.nanprod)(_without_nan("prod", 1.0))


def _extremum_without_nan(name: str, far: float) -> Callable[..., Any]:
    """Return an extremum of the numbers; NaN where there is none."""

    def run(a, axis=None, keepdims=False, initial=None, where=True):
        a = tensor(a)
        found = FUNCTIONS[getattr(np, name)](w.where(w.isnan(a), far, a), axis, None, keepdims, initial, where)
        empty = FUNCTIONS[np.all](w.isnan(a), axis, None, keepdims)
        return w.where(empty, np.nan, found) if bool(empty.any()) and initial is None else found

    return run


of(np.nanmax)(_extremum_without_nan("max", -np.inf))
of(np.nanmin)(_extremum_without_nan("min", np.inf))


def _numbers(a: Any, where: Any) -> Any:
    """The mask of the elements that count: numbers in the places of `where`."""
    return np.broadcast_to(np.asarray(where), a.shape) & ~np.isnan(a.numpy(force=True))


@of(np.nanmean)
def _nanmean(a, axis=None, dtype=None, keepdims=False, where=True):
    a = floating(a)
    return _mean(a, axis, dtype, keepdims, where=_numbers(a, where))


@of(np.nanvar)
def _nanvar(a, axis=None, ddof=0, keepdims=False, where=True, mean=None, correction=None):
    a = floating(a)
    counted = _numbers(a, where)
    return _variance(w.where(tensor(counted), a, 0.0), axis, ddof if correction is None else correction, keepdims, counted, mean)


@of(np.nanstd)
def _nanstd(a, axis=None, ddof=0, keepdims=False, where=True, mean=None, correction=None):
    return _deviation(_nanvar(a, axis, ddof, keepdims, where, mean, correction))


# -- places and running results ------------------------------------------------------------------------------------------


@of(np.argmax, method=True)
def _argmax(a, axis=None, keepdims=False):
    return w.argmax(tensor(a), dim=axis, keepdim=keepdims)


@of(np.argmin, method=True)
def _argmin(a, axis=None, keepdims=False):
    return w.argmin(tensor(a), dim=axis, keepdim=keepdims)


def _running(name: str, neutral: float | None = None) -> Callable[..., Any]:
    """Return running results. neutral: what NaN count as, if they do not count as themselves."""
    run = getattr(w, name)

    def accumulate(a, axis=None, dtype=None):
        a = tensor(a)
        if neutral is not None:
            a = w.where(w.isnan(a), neutral, a)
        if axis is None:
            a, axis = a if a.ndim == 1 else w.ravel(a), 0
        return run(a, axis) if dtype is None else run(a, axis, dtype=dtype)

    return accumulate


for _name, _neutral in (("cumsum", 0.0), ("cumprod", 1.0)):
    of(getattr(np, _name), method=True)(_running(_name))
    of(getattr(np, f"nan{_name}"))(_running(_name, _neutral))


def _cumulative(name: str, first: float) -> Callable[..., Any]:
    run = getattr(w, name)

    def cumulative(x, axis=None, dtype=None, include_initial=False):
        x = tensor(x)
        if axis is None:
            if x.ndim > 1:
                raise ValueError("For arrays which have more than one dimension ``axis`` argument is required.")
            x, axis = w.ravel(x), 0
        found = run(x, axis, dtype=dtype)
        if not include_initial:
            return found
        shape = [1 if d == axis % x.ndim else n for d, n in enumerate(x.shape)]
        return w.cat([w.full(shape, first, dtype=found.dtype), found], axis)

    return cumulative


of(*since("cumulative_sum"))(_cumulative("cumsum", 0.0))
of(*since("cumulative_prod"))(_cumulative("cumprod", 1.0))


# -- covariance --------------------------------------------------------------------------------------------------------


def _observations(m: Any, y: Any, rowvar: bool) -> Any:
    """Return the variables as rows, those of y behind those of m."""

    def rows(x: Any) -> Any:
        x = w.atleast_2d(floating(x))
        return x if rowvar or x.shape[0] == 1 else w.t(x)

    return rows(m) if y is None else w.cat(promoted(rows(m), rows(y)), 0)


@of(np.cov)
def _cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None):
    x = _observations(m, y, rowvar)
    correction = (0 if bias else 1) if ddof is None else ddof
    weights = [None if v is None else tensor(v) for v in (fweights, aweights)]
    return w.squeeze(w.cov(x, correction=correction, fweights=weights[0], aweights=weights[1]))


@of(np.corrcoef)
def _corrcoef(x, y=None, rowvar=True):
    return w.corrcoef(_observations(x, y, rowvar) if tensor(x).ndim > 1 or y is not None else floating(x))


@of(np.bincount)
def _bincount(x, weights=None, minlength=0):
    places = np.asarray(tensor(x).numpy())
    if weights is None:
        return w.as_tensor(np.bincount(places, minlength=minlength))
    size = max(int(places.max(initial=-1)) + 1, minlength)
    weights = floating(weights)
    return w.index_add(w.zeros(size, dtype=weights.dtype), 0, w.as_tensor(places), weights)
