"""Distances between rows: pairwise_distance, cdist, pdist."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert import dtypes, errors
from wengert.backends.selection import backend_of
from wengert.core.watched import differs_on_arrays
from wengert.kernels import rows
from wengert.ops.blas import batched_product
from wengert.ops.indices import raw
from wengert.ops.registry import NONE, composite, general, nondifferentiable

_PRIVATE: dict[str, Any] = {"method": False, "namespaces": ()}
_KERNEL_NORMS = {1.0: 1, 2.0: 2, np.inf: 3}  # by p, the number by which the kernels know the norm
_FEW_DISTANCES = 1024  # matrix products are faster for more distances
_MANY_ROWS = 25  # as in torch, Euclidean distances of more rows are computed by a matrix product


@composite(namespaces=("", "nn.functional"))
def pairwise_distance(F, x1, x2, p=2.0, eps=1e-6, keepdim=False):
    """p-norm of x1 - x2 + eps over the last dimension. x1, x2: floating, shapes that broadcast.

    Derivative: that of the norm."""
    return F.norm(x1 - x2 + eps, p, -1, keepdim)


def _norms(xp: Any, difference: Any, p: float) -> Any:
    """p-norms over the last dimension. difference: a new array, which is overwritten."""
    difference = xp.abs(difference, out=difference)
    if p == 0:
        return xp.add.reduce(xp.minimum(xp.ceil(difference, out=difference), 1, out=difference), axis=-1)  # counts nonzeros
    if p == np.inf:
        return difference.max(axis=-1) if difference.shape[-1] else xp.zeros(difference.shape[:-1], difference.dtype)
    if p == 1:
        return xp.add.reduce(difference, axis=-1)
    if p == 2:
        return xp.sqrt(xp.einsum("...i,...i->...", difference, difference))
    return xp.add.reduce(difference**p, axis=-1) ** (1 / p)


@nondifferentiable(promote=NONE, **_PRIVATE)
def _is_nonzero(xp, x):
    """1 where x is not 0, else 0, in x's dtype."""
    return (x != 0).astype(x.dtype)


@nondifferentiable(promote=NONE, **_PRIVATE)
def _sign(xp, x):
    """Sign of each element: -1, 0 or 1."""
    return xp.sign(x)


@nondifferentiable(promote=NONE, **_PRIVATE)
def _magnitude_equals(xp, x, y):
    """1 where |x| equals y, else 0, in x's dtype."""
    return (xp.abs(x) == y).astype(x.dtype)


def _safe_power(F: Any, x: Any, exponent: float) -> Any:
    """x**exponent for x >= 0. Where x is 0, the value and all derivatives are 0, for every exponent."""
    mask = F._is_nonzero(x)
    return F.pow(x + (1 - mask), exponent) * mask


def _norm_cotangent(F: Any, ct: Any, difference: Any, out: Any, p: float) -> Any:
    """Cotangent of difference, (..., m), given ct, the cotangent of its p-norms out, both (..., 1).

    0 where an element of difference, or all elements, are 0."""
    if p == 0:
        return ct * F._is_nonzero(difference) * 0
    if p == 1:
        return ct * F._sign(difference)
    if p == np.inf:
        return ct * F._sign(difference) * F._magnitude_equals(difference, out)
    if p == 2:
        return ct * _safe_power(F, out, -1.0) * difference
    return ct * _safe_power(F, out, 1.0 - p) * (F._sign(difference) * _safe_power(F, F.abs(difference), p - 1.0))


# -- between the rows of two matrices ----------------------------------------------------------------------------------


@general(promote=NONE, complex=False, **_PRIVATE)
def _cdist(xp, x, y, *, p, as_products, node):
    """p-norms of the differences between the rows of x, (..., n, m), and of y, (..., k, m): (..., n, k).

    as_products: compute Euclidean distances as sqrt(|x|^2 + |y|^2 - 2 x.y)."""
    if not as_products:
        found = rows.distances(x, y, _KERNEL_NORMS.get(p, 0))
        if found is not None:
            return found
        return _norms(xp, x[..., :, None, :] - y[..., None, :, :], p)
    squares = batched_product(xp, x, y.swapaxes(-1, -2))
    squares *= -2
    squares += xp.einsum("...i,...i->...", x, x)[..., :, None]
    squares += xp.einsum("...i,...i->...", y, y)[..., None, :]
    return xp.sqrt(xp.maximum(squares, 0, out=squares), out=squares)


def _cdist_cotangent(F: Any, ct: Any, x: Any, y: Any, out: Any, p: float, dim: int) -> Any:
    """Sum the cotangents of all differences x - y over the rows of y (dim -2) or the rows of x (dim -3)."""
    difference = F.unsqueeze(x, dim=-2) - F.unsqueeze(y, dim=-3)
    return F.sum(_norm_cotangent(F, F.unsqueeze(ct, dim=-1), difference, F.unsqueeze(out, dim=-1), p), dim=dim)


@_cdist.vjp("x")
@differs_on_arrays
def _(F, ct, x, y, out, p):
    if not F.is_tensor and out.size <= _FEW_DISTANCES:
        found = rows.distances_cotangent(ct, x, y, out, _KERNEL_NORMS.get(p, 0))
        if found is not None:
            return found
    if p != 2:
        return _cdist_cotangent(F, ct, x, y, out, p, -2)
    # The sum of ct * (x - y) / |x - y| over y as one matrix product, without n * k differences.
    shares = ct * _safe_power(F, out, -1.0)
    return F.sum(shares, dim=-1, keepdim=True) * x - F.matmul(shares, y)


@_cdist.vjp("y")
@differs_on_arrays
def _(F, ct, x, y, out, p):
    xp = backend_of(ct)
    if not F.is_tensor and out.size <= _FEW_DISTANCES and out.ndim == 2:
        exchanged = xp.ascontiguousarray(ct.T), y, x, xp.ascontiguousarray(out.T)
        found = rows.distances_cotangent(*exchanged, _KERNEL_NORMS.get(p, 0))
        if found is not None:
            return found
    if p != 2:
        return -_cdist_cotangent(F, ct, x, y, out, p, -3)
    shares = F.transpose(ct * _safe_power(F, out, -1.0), dim0=-2, dim1=-1)
    return F.sum(shares, dim=-1, keepdim=True) * y - F.matmul(shares, x)


_COMPUTE_MODES = (
    "use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist",
)  # fmt: skip


@composite()
def cdist(F, x1, x2, p=2.0, compute_mode="use_mm_for_euclid_dist_if_necessary"):
    """p-norms of the differences between all rows of x1, (..., n, m), and of x2, (..., k, m): (..., n, k).

    x1, x2: floating, of one dtype; leading dimensions broadcast. compute_mode: whether Euclidean distances are computed by
    a matrix product, which is fast, but inaccurate for distances that are small compared to the rows:
    "use_mm_for_euclid_dist_if_necessary" (for more than 25 rows), "use_mm_for_euclid_dist" or
    "donot_use_mm_for_euclid_dist". Raises RuntimeError for shapes and dtypes that do not fit, and for p < 0.

    Derivative: sign(d) * |d|^(p-1) / out^(p-1) in each difference d; 0 where d or the distance is 0."""
    if compute_mode not in _COMPUTE_MODES:
        raise errors.ElementError(f"{compute_mode} is not a valid value for compute_mode")
    for name, x in (("X1", x1), ("X2", x2)):
        if not dtypes.is_floating_point(raw(x).dtype):
            raise errors.UnsupportedDtypeError(
                f"cdist only supports floating-point dtypes, {name} got: {errors.scalar_name(raw(x).dtype)}"
            )
        if x.ndim < 2:
            raise errors.ShapeError(f"cdist only supports at least 2D tensors, {name} got: {x.ndim}D")
    if x1.shape[-1] != x2.shape[-1]:
        raise errors.ShapeError(f"X1 and X2 must have the same number of columns. X1: {x1.shape[-1]} X2: {x2.shape[-1]}")
    if p < 0:
        raise errors.ShapeError("cdist only supports non-negative p values")
    if raw(x1).dtype != raw(x2).dtype:
        raise errors.PromotionError(
            f"expected scalar type {errors.scalar_name(raw(x1).dtype)} but found {errors.scalar_name(raw(x2).dtype)}"
        )
    try:
        np.broadcast_shapes(tuple(x1.shape[:-2]), tuple(x2.shape[:-2]))
    except ValueError:
        raise errors.broadcast_shapes(tuple(x1.shape[:-2]), tuple(x2.shape[:-2])) from None
    many = compute_mode == _COMPUTE_MODES[0] and max(x1.shape[-2], x2.shape[-2]) > _MANY_ROWS
    as_products = p == 2 and (many or compute_mode == _COMPUTE_MODES[1])
    node = "ViewBackward0" if as_products and x1.shape[-1] else "CdistBackward0"
    return F._cdist(x1, x2, p=float(p), as_products=as_products, node=node)


# -- between the rows of one matrix ------------------------------------------------------------------------------------


@general(promote=NONE, complex=False, node="PdistBackward0", **_PRIVATE)
def _pdist(xp, x, *, p):
    """p-norms of the differences between all pairs of rows of x, (n, m): (n * (n - 1) / 2)."""
    found = rows.distances(x, None, _KERNEL_NORMS.get(p, 0))
    if found is not None:
        return found
    first, second = xp.triu_indices(x.shape[0], 1)
    return _norms(xp, x[first] - x[second], p)


@_pdist.vjp("x")
@differs_on_arrays
def _(F, ct, x, out, p):
    xp = backend_of(ct)
    if not F.is_tensor:
        found = rows.distances_cotangent(xp.ascontiguousarray(ct), x, None, out, _KERNEL_NORMS.get(p, 0))
        if found is not None:
            return found
    first, second = xp.triu_indices(x.shape[0], 1)
    difference = F._index_select(x, first, dim=0) - F._index_select(x, second, dim=0)
    slopes = _norm_cotangent(F, F.unsqueeze(ct, dim=-1), difference, F.unsqueeze(out, dim=-1), p)
    n = x.shape[0]
    return F._scatter_rows(slopes, first, rows=n) - F._scatter_rows(slopes, second, rows=n)


@composite(namespaces=("", "nn.functional"))
def pdist(F, input, p=2.0):
    """p-norms of the differences between all pairs of rows of input, (n, m), as a vector.

    The pairs are ordered (0, 1), (0, 2), ..., (1, 2), ... Raises RuntimeError for other shapes and dtypes, and for p < 0.

    Derivative: as in `cdist`."""
    if input.ndim != 2:
        raise errors.ShapeError(f"pdist only supports 2D tensors, got: {input.ndim}D")
    if not dtypes.is_floating_point(raw(input).dtype):
        raise errors.UnsupportedDtypeError("pdist only supports floating-point dtypes")
    if p < 0:
        raise errors.ShapeError("pdist only supports non-negative p values")
    return F._pdist(input, p=float(p))
