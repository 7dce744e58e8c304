"""NumPy's functions that choose, order and compute elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert import dtypes
from wengert.array_functions.table import (
    FUNCTIONS,
    checked_axis,
    detached,
    floating,
    holds_tensor,
    of,
    operand,
    pick,
    promoted,
    tensor,
    w,
)

of(np.round, np.around, method=True)(lambda a, decimals=0: w.round(tensor(a), decimals=decimals))
of(np.fix)(lambda x: w.trunc(tensor(x)))
of(np.nan_to_num)(lambda x, copy=True, nan=0.0, posinf=None, neginf=None: w.nan_to_num(tensor(x), nan, posinf, neginf))
of(np.sinc)(lambda x: w.sinc(tensor(x)))
of(np.i0)(lambda x: w.i0(tensor(x)))
of(np.real)(lambda val: w.real(tensor(val)) if tensor(val).is_complex() else tensor(val))
of(np.imag)(lambda val: w.imag(tensor(val)) if tensor(val).is_complex() else w.zeros_like(tensor(val)))


@of(np.angle)
def _angle(z, deg=False):
    found = w.angle(tensor(z))
    return w.rad2deg(found) if deg else found


@of(np.real_if_close)
def _real_if_close(a, tol=100):
    a = tensor(a)
    if not a.is_complex():
        return a
    values = a.numpy(force=True)
    return w.real(a) if not np.iscomplexobj(np.real_if_close(values, tol)) else a


@of(np.clip, method=True)
def _clip(a, a_min=None, a_max=None, *, min=None, max=None):
    return w.clip(tensor(a), a_min if min is None else min, a_max if max is None else max)


@of(np.unwrap)
def _unwrap(p, discont=None, axis=-1, *, period=2 * np.pi):
    p = floating(p)
    values = p.numpy(force=True)
    return p + w.as_tensor(np.unwrap(values, discont, axis, period=period) - values, dtype=p.dtype)


# -- functions that leave the real numbers: numpy.emath ------------------------------------------------------------------


def _complex(x: Any) -> Any:
    return x if x.is_complex() else w.complex(x, w.zeros_like(x))


def _is_outside(x: Any, is_outside: Callable[[Any], Any]) -> bool:
    """Whether x is real and one of its elements is outside the domain in which the function is real."""
    return not x.is_complex() and bool(np.any(is_outside(detached(x))))


def _leaving(run: Callable[..., Any], is_outside: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return a function whose argument becomes complex if one of its elements is outside the real domain."""

    def of_any_number(x):
        x = floating(x)
        return run(_complex(x) if _is_outside(x, is_outside) else x)

    return of_any_number


def _is_negative(x: Any) -> Any:
    return x < 0


def _is_beyond_one(x: Any) -> Any:
    return np.abs(x) > 1


for _name in ("sqrt", "log", "log2", "log10"):
    of(getattr(np.emath, _name))(_leaving(getattr(w, _name), _is_negative))
of(np.emath.arctanh)(_leaving(w.arctanh, _is_beyond_one))


@of(np.emath.arccos)
def _arccos(x):
    x = floating(x)
    if not _is_outside(x, _is_beyond_one):
        return w.arccos(x)
    # On the branch cut, the derivative of the complex arccos is that of the other side. So the parts are real functions.
    outside = w.abs(x) > 1
    real = w.where(outside, np.pi * (x < 0).to(x.dtype), w.arccos(w.where(outside, 0.0, x)))
    return w.complex(real, w.where(outside, -w.arccosh(w.where(outside, w.abs(x), 2.0)), 0.0))


@of(np.emath.arcsin)
def _arcsin(x):
    x = floating(x)
    return np.pi / 2 - _arccos(x) if _is_outside(x, _is_beyond_one) else w.arcsin(x)


@of(np.emath.logn)
def _logn(n, x):
    over, under = (FUNCTIONS[np.emath.log](v) if holds_tensor((v,)) else np.emath.log(v) for v in (x, n))
    return over / under


@of(np.emath.power)
def _power(x, p):
    x = floating(x)
    return w.pow(_complex(x) if _is_outside(x, _is_negative) else x, operand(p))


# -- choosing ----------------------------------------------------------------------------------------------------------


def condition_of(x: Any) -> Any:
    x = tensor(x)
    return x if x.dtype is dtypes.bool_ else x != 0


@of(np.where)
def _where(condition, x, y):
    return w.where(condition_of(condition), operand(x), operand(y))


@of(np.select)
def _select(condlist, choicelist, default=0):
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if not len(condlist):
        raise ValueError("select with an empty condition list is not possible")
    *choices, found = promoted(*choicelist, default)
    for condition, choice in zip(reversed(condlist), reversed(choices), strict=True):
        found = w.where(condition_of(condition), choice, found)
    return found


@of(np.choose, method=True)
def _choose(a, choices, mode="raise"):
    index, given = np.asarray(detached(a)), promoted(*choices)
    n = len(given)
    if mode == "raise" and (np.any(index < 0) or np.any(index >= n)):
        raise ValueError("invalid entry in choice array")
    index = index % n if mode == "wrap" else np.clip(index, 0, n - 1)
    index, *given = w.broadcast_tensors(w.as_tensor(index), *given)
    return w.gather(w.stack(given), 0, w.unsqueeze(index, 0))[0]


@of(np.piecewise)
def _piecewise(x, condlist, funclist, *args, **kw):
    x = tensor(x)
    if not isinstance(condlist, (list, tuple)) or (x.ndim > 0 and not np.ndim(detached(condlist[0]))):
        condlist = [condlist]
    conditions = [np.broadcast_to(np.asarray(detached(c), bool), x.shape) for c in condlist]
    if len(funclist) == len(conditions) + 1:
        conditions.append(~np.logical_or.reduce(conditions))
    elif len(funclist) != len(conditions):
        n = len(conditions)
        raise ValueError(f"with {n} condition(s), either {n} or {n + 1} functions are expected")
    found = w.zeros_like(x.detach())
    for condition, function in zip(conditions, funclist, strict=True):
        mask = w.as_tensor(condition)
        if not isinstance(function, Callable):  # type: ignore[arg-type]
            found = w.where(mask, tensor(function).to(x.dtype), found)
        elif condition.any():
            found = w.masked_scatter(found, mask, tensor(function(x[mask], *args, **kw)).to(x.dtype).expand(int(condition.sum())))
    return found


@of(np.take, method=True)
def _take(a, indices, axis=None, mode="raise"):
    a = tensor(a)
    if axis is None:
        a, axis = a if a.ndim == 1 else w.ravel(a), 0
    index = indices if type(indices) is np.ndarray else np.asarray(detached(indices))
    if mode != "raise":
        size = a.shape[axis]
        index = index % size if mode == "wrap" else np.clip(index, 0, size - 1)
    return a[index] if axis == 0 else pick(a, index, axis)


def index_along(indices: Any, shape: tuple[int, ...], axis: int) -> tuple[Any, ...]:
    """Return the index of take_along_axis and put_along_axis."""
    places = np.asarray(detached(indices))
    if places.ndim != len(shape):
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    rest = [np.arange(n).reshape([-1 if i == d else 1 for i in range(len(shape))]) for d, n in enumerate(shape)]
    return tuple([places if d == axis else r for d, r in enumerate(rest)])


@of(np.take_along_axis)
def _take_along_axis(arr, indices, axis=-1):
    arr, axis = (w.ravel(tensor(arr)), 0) if axis is None else (tensor(arr), axis)
    return arr[index_along(indices, tuple(arr.shape), checked_axis(axis, arr.ndim))]


@of(np.compress, method=True)
def _compress(condition, a, axis=None):
    a, axis = (w.ravel(tensor(a)), 0) if axis is None else (tensor(a), axis)
    return pick(a, np.flatnonzero(np.asarray(detached(condition), bool)), axis)


@of(np.extract)
def _extract(condition, arr):
    return w.ravel(tensor(arr))[np.flatnonzero(np.asarray(detached(condition)))]


# -- order -------------------------------------------------------------------------------------------------------------


@of(np.sort)
def _sort(a, axis=-1, kind=None, *, stable=None):
    a, axis = (w.ravel(tensor(a)), 0) if axis is None else (tensor(a), axis)
    if a.is_complex():
        return _take_along_axis(a, np.argsort(a.numpy(force=True), axis, kind="stable"), axis)
    return w.sort(a, axis)[0]


@of(np.argsort)
def _argsort(a, axis=-1, kind=None, *, stable=None):
    return w.argsort(w.ravel(tensor(a)) if axis is None else tensor(a), 0 if axis is None else axis, stable=True)


@of(np.partition)
def _partition(a, kth, axis=-1, kind="introselect"):
    a, axis = (w.ravel(tensor(a)), 0) if axis is None else (tensor(a), axis)
    return _take_along_axis(a, np.argpartition(a.numpy(force=True), kth, axis, kind), axis)


@of(np.sort_complex)
def _sort_complex(a):
    a = _sort(a)
    return a if a.is_complex() else w.complex(floating(a), w.zeros_like(floating(a)))


def _distinct(a: Any) -> tuple[Any, ...]:
    """Return the distinct elements, and NumPy's places, inverse and counts of them."""
    a = tensor(a)
    _, index, inverse, counts = np.unique(a.numpy(force=True), True, True, True)
    return w.ravel(a)[index], index, inverse, counts


@of(np.unique)
def _unique(ar, return_index=False, return_inverse=False, return_counts=False, axis=None, *, equal_nan=True, sorted=True):
    ar = tensor(ar)
    values = ar.numpy(force=True)
    _, index, *rest = np.unique(values, True, return_inverse, return_counts, axis, equal_nan=equal_nan)
    found = w.ravel(ar)[index] if axis is None else pick(ar, index, axis)
    more = ([index] if return_index else []) + rest
    return (found, *more) if more else found


of(np.unique_values)(lambda x: _distinct(x)[0])


@of(np.unique_all)
def _unique_all(x):
    found, index, inverse, counts = _distinct(x)
    return type(np.unique_all(np.zeros(1)))(found, index, inverse, counts)


@of(np.unique_counts)
def _unique_counts(x):
    return type(np.unique_counts(np.zeros(1)))(_distinct(x)[0], _distinct(x)[3])


@of(np.unique_inverse)
def _unique_inverse(x):
    return type(np.unique_inverse(np.zeros(1)))(_distinct(x)[0], _distinct(x)[2])


@of(np.union1d)
def _union1d(ar1, ar2):
    return _unique(w.cat([w.ravel(x) for x in promoted(ar1, ar2)], 0))


@of(np.intersect1d)
def _intersect1d(ar1, ar2, assume_unique=False, return_indices=False):
    ar1, ar2 = [w.ravel(x) for x in promoted(ar1, ar2)]
    _, first, second = np.intersect1d(ar1.numpy(force=True), ar2.numpy(force=True), assume_unique, True)
    return (ar1[first], first, second) if return_indices else ar1[first]


@of(np.setdiff1d)
def _setdiff1d(ar1, ar2, assume_unique=False):
    ar1 = w.ravel(tensor(ar1)) if assume_unique else _unique(ar1)
    return ar1[np.isin(ar1.numpy(force=True), detached(ar2), invert=True)]


@of(np.setxor1d)
def _setxor1d(ar1, ar2, assume_unique=False):
    ar1, ar2 = [w.ravel(x) if assume_unique else _unique(x) for x in promoted(ar1, ar2)]
    joined = w.cat([ar1, ar2], 0)
    values, counts = np.unique(joined.numpy(force=True), return_counts=True)
    return _unique(joined[np.isin(joined.numpy(force=True), values[counts == 1])])


# -- functions that call functions -------------------------------------------------------------------------------------


@of(np.apply_along_axis)
def _apply_along_axis(func1d, axis, arr, *args, **kwargs):
    arr = tensor(arr)
    axis = checked_axis(axis, arr.ndim)
    rows = w.movedim(arr, axis, -1)
    outer = tuple(rows.shape[:-1])
    if 0 in outer:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    results = w.stack(promoted(*[func1d(row, *args, **kwargs) for row in w.reshape(rows, (-1, rows.shape[-1]))]))
    inner = tuple(results.shape[1:])
    results = w.reshape(results, outer + inner)
    return w.movedim(results, tuple(range(len(outer), len(outer) + len(inner))), tuple(range(axis, axis + len(inner))))


@of(np.apply_over_axes)
def _apply_over_axes(func, a, axes):
    found = tensor(a)
    ndim = found.ndim
    for axis in (axes,) if np.ndim(axes) == 0 else axes:
        axis = axis + ndim if axis < 0 else axis
        result = func(found, axis)
        if result.ndim != found.ndim:
            result = w.unsqueeze(result, axis)
            if result.ndim != found.ndim:
                raise ValueError("function is not returning an array of the correct shape")
        found = result
    return found


__all__ = ["condition_of", "index_along"]
