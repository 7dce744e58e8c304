"""Running sums and products, and linear recurrences."""

from __future__ import annotations

from typing import Any

from wengert import dtypes
from wengert.backends.selection import others
from wengert.kernels import scans
from wengert.ops.dims import normalize_dim
from wengert.ops.indices import raw
from wengert.ops.registry import INT_TO_INT64, general, linear


def _accumulate(xp: Any, combine: Any, x: Any, dim: int, reverse: bool = False) -> Any:
    """Accumulate x by the ufunc `combine` along dim. Floats use a wider dtype, because rounding errors accumulate too."""
    if x.ndim == 0:
        return x.copy()
    found = scans.scan(scans.SUM if combine is xp.add else scans.PRODUCT, x, dim, reverse)
    if found is not None:
        return found
    if reverse:
        return xp.flip(_accumulate(xp, combine, xp.flip(x, dim), dim), dim)
    if x.dtype.kind in "fV" and x.dtype.itemsize < 8:
        out = x.astype(xp.float64 if x.dtype.itemsize == 4 else xp.float32)
        combine.accumulate(out, axis=dim, out=out)
        return out.astype(x.dtype)
    return combine.accumulate(x, axis=dim, dtype=x.dtype)


def _prepare(xp: Any, x: Any, dim: Any, dtype: Any) -> tuple[Any, int]:
    if dtype is not None:
        x = xp.cast(x, dtypes.as_numpy_dtype(dtype))
    return x, normalize_dim(dim, x.ndim)


@linear(promote=INT_TO_INT64, inplace=True, moves=True)
def cumsum(xp, x, *, dim, dtype=None):
    """Running sum along one dimension.

    x: any shape and dtype; bools and integers give int64. dtype: x is cast to it first.

    Derivative: of result k 1 in each element i <= k, so the cotangent is the running sum from the end."""
    x, dim = _prepare(xp, x, dim, dtype)
    return _accumulate(xp, xp.add, x, dim)


@cumsum.vjp("x")
def _(F, ct, dim):
    return F._reverse_cumsum(ct, dim=dim)


@linear(method=False, namespaces=(), moves=True)
def _reverse_cumsum(xp, x, *, dim):
    """Running sum along one dimension, from its end to its start."""
    return _accumulate(xp, xp.add, x, normalize_dim(dim, x.ndim), reverse=True)


@_reverse_cumsum.vjp("x")
def _(F, ct, dim):
    return F.cumsum(ct, dim=dim)


@general(promote=INT_TO_INT64, inplace=True, along_dim=True)
def cumprod(xp, x, *, dim, dtype=None):
    """Running product along one dimension.

    x: any shape and dtype; bools and integers give int64. dtype: x is cast to it first.

    Derivative: of result k in element i <= k, the product of the other elements up to k; right where elements are 0 too,
    and to any order."""
    x, dim = _prepare(xp, x, dim, dtype)
    return _accumulate(xp, xp.multiply, x, dim)


@cumprod.vjp("x")
def _(F, ct, x, out, dim):
    if not x.ndim:
        return ct
    size = x.shape[dim]
    if type(raw(x)) not in others and not bool(F._any_zero(x, F.narrow(out, dim, size - 1, 1) if size else out)):
        return F._reverse_cumsum(ct * F.conj(out), dim=dim) / F.conj(x)
    # Without division by x: the product p of the elements before i, times s[i] = ct[i] + x[i + 1] * s[i + 1], which begins with 0
    # in place of an element beyond the last, so that no 0 is multiplied by an infinite element.
    x = F.conj(x)
    zero = F.zeros_like(F.narrow(x, dim, 0, min(size, 1)))
    factors = F.cat([zero, F.narrow(x, dim, 1, size - 1), zero], dim=dim) if size else x
    sums = F._scan(factors, F.cat([zero, ct], dim=dim), dim=dim, reverse=True)
    return F._scan(x, dim=dim, init=1.0) * F.narrow(sums, dim, 0, size)


@general(method=False, namespaces=(), along_dim=True)
def _scan(xp, x, y=None, *, dim, reverse=False, init=0.0):
    """Linear recurrence s[0] = init, s[i + 1] = y[i] + x[i] * s[i] along dim; from the end to the start if reverse.

    x, y: of one shape, which is the result's; y is 0 if None. Derivative: the recurrence in the other direction."""
    if x.ndim == 0:
        return xp.full_like(x, init)
    dim = normalize_dim(dim, x.ndim)
    found = scans.recurrence(x, y, dim, reverse, init)
    if found is not None:
        return found
    out = xp.empty(x.shape, x.dtype)
    factors, sums = xp.moveaxis(x, dim, 0), xp.moveaxis(out, dim, 0)
    terms = None if y is None else xp.moveaxis(y, dim, 0)
    n = x.shape[dim]
    state = xp.full(factors.shape[1:], init, x.dtype)
    for i in range(n - 1, -1, -1) if reverse else range(n):
        sums[i] = state
        state = factors[i] * state if terms is None else terms[i] + factors[i] * state
    return out


@_scan.vjp("x", "y")
def _(F, ct, x, out, dim, reverse):
    through = F._scan(F.conj(x), ct, dim=dim, reverse=not reverse)
    return through * F.conj(out), through
