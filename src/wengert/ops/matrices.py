"""Helpers of the linear algebra families: checks, the adjoint, loops over the matrices of a batch."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import prod
from typing import Any

import numpy as np

from wengert import errors
from wengert._forks import import_late
from wengert.backends.selection import backend_of


def check_square(op: str, x: Any) -> None:
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise errors.square_matrix(op, x.shape)
    if x.dtype.kind not in "fc":
        raise errors.norm_dtype(op, x.dtype)
    if x.dtype.itemsize == 2:
        raise errors.low_precision(op, x.dtype)


def adjoint(F: Any, x: Any) -> Any:
    """Return the conjugate transpose of each matrix."""
    return F.transpose(F.conj(x), dim0=-2, dim1=-1)


def first_failing(xp: Any, x: Any, fails: Any) -> tuple[int | None, int]:
    """Return (i, order) of the first matrix for which order = fails(matrix) is not 0; i is its index in the batch.

    i is None if x is a single matrix. Returns (None, 1) if no matrix fails."""
    for i, matrix in enumerate(x.reshape(-1, *x.shape[-2:])):
        order = fails(matrix)
        if order:
            return (i if x.ndim > 2 else None), order
    return None, 1


def batch_element(batch: int | None) -> str:
    """Prefix of a message about one matrix of a batch. Empty if batch is None."""
    return "" if batch is None else f"(Batch element {batch}): "


def cholesky_factor(xp: Any, A: Any) -> Any:
    """Return the lower Cholesky factor of each matrix. Raises SingularMatrixError if a matrix is not positive definite."""
    check_square("linalg.cholesky", A)
    try:
        return xp.linalg.cholesky(A)
    except xp.linalg.LinAlgError:
        batch, order = first_failing(xp, A, lambda matrix: _first_indefinite_minor(xp, matrix))
        raise errors.SingularMatrixError(
            f"linalg.cholesky: {batch_element(batch)}The factorization could not be completed because the input is not "
            f"positive-definite (the leading minor of order {order} is not positive-definite)."
        ) from None


def _first_indefinite_minor(xp: Any, matrix: Any) -> int:
    """Order of the first leading minor of a matrix that is not positive definite, or 0."""
    for n in range(1, len(matrix) + 1):
        try:
            xp.linalg.cholesky(matrix[:n, :n])
        except xp.linalg.LinAlgError:
            return n
    return 0


def cholesky_cotangent(F: Any, ct: Any, L: Any) -> Any:
    """Return the cotangent of a matrix, given that of its Cholesky factor L."""
    product = F.matmul(adjoint(F, L), ct)
    inner = 0.5 * (F.tril(product, diagonal=0) + F.tril(product, diagonal=-1))
    upper = {"upper": True, "left": True, "unitriangular": False}
    left = F._solve_triangular(adjoint(F, L), inner, **upper)
    found = adjoint(F, F._solve_triangular(adjoint(F, L), adjoint(F, left), **upper))
    return 0.5 * (found + adjoint(F, found))


def zero_pivot(matrix: Any) -> int:
    """Number of the first zero pivot of the LU factors, counted from 1; 0 if no pivot is zero."""
    return max(0, int(lapack_function("getrf", matrix.dtype)(matrix)[2]))


def check_lu_pivots(op: str, LU: Any, pivots: Any) -> None:
    """Raise RuntimeError unless pivots, of shape LU.shape[:-2] + (k,), are row exchanges that `linalg.lu_factor` can return.

    LU, pivots: arrays. They are int32, and 1 <= pivot <= LU.shape[-2]."""
    rows, k = LU.shape[-2:] if LU.ndim > 1 else (0, 0)
    if pivots.dtype != np.int32:
        raise errors.UnsupportedDtypeError(
            f"{op}: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype, but got "
            f"{errors.scalar_name(pivots.dtype)}. Note: this function is intended to be used with the output produced by "
            "torch.linalg.lu_factor"
        )
    if pivots.shape != (*LU.shape[:-2], min(rows, k)):
        raise errors.ShapeError(
            f"{op}: Number of pivots per batch should be same as the dimension of the matrix, but got LU with shape "
            f"{list(LU.shape)} and pivots with shape {list(pivots.shape)}"
        )
    if pivots.size and not 1 <= pivots.min() <= pivots.max() <= rows:
        raise errors.ShapeError(
            f"{op}: pivots must be between 1 and LU.size(-2) = {rows} inclusive, but they lie between {pivots.min()} and "
            f"{pivots.max()}. Did you properly pass the result of lu_factor? Hint: they count from 1"
        )


def identity_like(x: Any) -> Any:
    """Return identity matrices in the shape and dtype of x."""
    xp = backend_of(x)
    eye = xp.eye(*x.shape[-2:], dtype=x.dtype)
    return eye if x.ndim == 2 else xp.broadcast_to(eye, x.shape).copy()


def finite_part(xp: Any, A: Any) -> tuple[Any, Any]:
    """Return (A with the identity in place of matrices that are not finite, mask of the finite ones, (..., 1, 1)).

    LAPACK would report a matrix that is not finite as singular."""
    finite = xp.isfinite(A).all(axis=(-1, -2), keepdims=True)
    return xp.where(finite, A, xp.eye(A.shape[-1], dtype=A.dtype)), finite


def check_matrix(op: str, x: Any) -> None:
    """Raise RuntimeError unless x is a matrix, or a batch, of float32, float64, complex64 or complex128."""
    if x.ndim < 2:
        raise errors.square_matrix(op, x.shape)
    if x.dtype.kind not in "fc":
        raise errors.norm_dtype(op, x.dtype)
    if x.dtype.itemsize == 2:
        raise errors.low_precision(op, x.dtype)


@cache
def lapack_function(name: str, dtype: Any) -> Any:
    """Return LAPACK's function for a dtype, from scipy.linalg.lapack. name: without the letter of the dtype ("getrf")."""
    try:
        return import_late("scipy.linalg").get_lapack_funcs(name, dtype=dtype)
    except ModuleNotFoundError:
        if name not in _WITHOUT_SCIPY:
            raise
        return _WITHOUT_SCIPY[name]


def _getrf(matrix: Any) -> tuple[Any, Any, int]:
    """Return what LAPACK's getrf does: LU factors with partial pivoting, pivots from 0, and the number of the first zero pivot."""
    xp = backend_of(matrix)
    factors, first_zero = matrix.copy(), 0
    pivots = xp.arange(min(matrix.shape), dtype=np.int32)
    for i in range(len(pivots)):
        pivots[i] = p = i + int(xp.argmax(xp.abs(factors[i:, i])))
        if factors[p, i] == 0:
            first_zero = first_zero or i + 1
            continue
        factors[[i, p]] = factors[[p, i]]
        factors[i + 1 :, i] /= factors[i, i]
        factors[i + 1 :, i + 1 :] -= xp.outer(factors[i + 1 :, i], factors[i, i + 1 :])
    return factors, pivots, first_zero


def _potrf(matrix: Any, lower: int) -> tuple[Any, int]:
    """Return what LAPACK's potrf does: the lower Cholesky factor, and the order of the first indefinite minor, or 0."""
    xp = backend_of(matrix)
    for order in (len(matrix), *range(1, len(matrix))):
        try:
            factor = xp.linalg.cholesky(matrix[:order, :order])
        except xp.linalg.LinAlgError:
            if order < len(matrix):
                return matrix, order
        else:
            if order == len(matrix):
                return factor, 0
    return matrix, len(matrix)


_WITHOUT_SCIPY = {"getrf": _getrf, "potrf": _potrf}


def each_matrix(function: Callable[..., tuple[Any, ...]], batch: tuple[int, ...], *operands: Any) -> tuple[Any, ...]:
    """Call function(*matrices) for each item of a batch and stack the results, each of shape (*batch, ...).

    function: returns a tuple of arrays. operands: arrays (*batch, ...). For an empty batch, function is called once, on
    zeros, to find the shapes of the results."""
    if not batch:
        return tuple([np.asarray(x) for x in function(*operands)])
    n = prod(batch)
    flat = [x.reshape(n, *x.shape[len(batch) :]) for x in operands]
    if n == 0:
        found = function(*[np.zeros(x.shape[1:], x.dtype) for x in flat])
        return tuple([np.zeros((*batch, *np.shape(x)), np.asarray(x).dtype) for x in found])
    rows = [function(*[x[i] for x in flat]) for i in range(n)]
    return tuple([np.stack(column).reshape(*batch, *np.shape(column[0])) for column in zip(*rows, strict=True)])
