"""What the families of linear algebra share: checks, the adjoint, work on the matrices of a batch one by one."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import prod
from typing import Any

import numpy as np

from wengert import errors


def check_square(op: str, x: Any) -> None:
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise errors.square_matrix(op, x.shape)
    if x.dtype.kind not in "fc":
        raise errors.norm_dtype(op, x.dtype)
    if x.dtype.itemsize == 2:
        raise errors.low_precision(op, x.dtype)


def adjoint(F: Any, x: Any) -> Any:
    """The conjugate transpose."""
    return F.transpose(F.conj(x), dim0=-2, dim1=-1)


def first_failing(xp: Any, x: Any, fails: Any) -> tuple[int | None, int]:
    """Where the first matrix lies that fails: (its number in the batch, None for a single one; what fails returned)."""
    for i, matrix in enumerate(x.reshape(-1, *x.shape[-2:])):
        order = fails(matrix)
        if order:
            return (i if x.ndim > 2 else None), order
    return None, 1


def zero_pivot(matrix: Any) -> int:
    """Which diagonal element of the LU factors is zero, counted from 1; 0 if none."""
    return max(0, int(lapack_function("getrf", matrix.dtype)(matrix)[2]))


def identity_like(x: Any) -> Any:
    """Ones on the diagonals of zeros, matrices in the shape of x."""
    eye = np.eye(*x.shape[-2:], dtype=x.dtype)
    return eye if x.ndim == 2 else np.broadcast_to(eye, x.shape).copy()


def finite_part(xp: Any, A: Any) -> tuple[Any, Any]:
    """A with the identity in place of matrices that are not finite (LAPACK calls them singular); which are."""
    finite = xp.isfinite(A).all(axis=(-1, -2), keepdims=True)
    return xp.where(finite, A, xp.eye(A.shape[-1], dtype=A.dtype)), finite


def check_matrix(op: str, x: Any) -> None:
    """Raises RuntimeError for what is no matrix of floating or complex numbers of full width, nor a batch of such."""
    if x.ndim < 2:
        raise errors.square_matrix(op, x.shape)
    if x.dtype.kind not in "fc":
        raise errors.norm_dtype(op, x.dtype)
    if x.dtype.itemsize == 2:
        raise errors.low_precision(op, x.dtype)


@cache
def lapack_function(name: str, dtype: Any) -> Any:
    """LAPACK's function for a dtype, as scipy.linalg.lapack has it. name: without the letter in front."""
    from scipy.linalg import get_lapack_funcs

    return get_lapack_funcs(name, dtype=dtype)


def each_matrix(function: Callable[..., tuple[Any, ...]], batch: tuple[int, ...], *operands: Any) -> tuple[Any, ...]:
    """function(*matrices), which returns a tuple of arrays, for each of a batch; stacked into the shape of the batch.

    operands: arrays (*batch, ...). An empty batch is computed from zeros, for the shapes."""
    if not batch:
        return tuple([np.asarray(x) for x in function(*operands)])
    n = prod(batch)
    flat = [x.reshape(n, *x.shape[len(batch) :]) for x in operands]
    if n == 0:
        found = function(*[np.zeros(x.shape[1:], x.dtype) for x in flat])
        return tuple([np.zeros((*batch, *np.shape(x)), np.asarray(x).dtype) for x in found])
    rows = [function(*[x[i] for x in flat]) for i in range(n)]
    return tuple([np.stack(column).reshape(*batch, *np.shape(column[0])) for column in zip(*rows, strict=True)])
