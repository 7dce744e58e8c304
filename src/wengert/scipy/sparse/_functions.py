"""Inverses, powers, exponentials and norms of sparse matrices, and solves with triangular ones, of scipy.sparse.linalg."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert._forks import import_late
from wengert.array_functions.table import holds_tensor, linalg, w
from wengert.scipy._frame import operands
from wengert.scipy._sparse_products import Pattern, Solver, solve
from wengert.scipy.sparse._eigenvalues import svds
from wengert.scipy.sparse._matrices import SparseTensor, sparse_tensor

scipy: Any = import_late("scipy.sparse.linalg")


def differ(*values: Any) -> bool:
    """Whether a tensor, or a sparse matrix with values in a tensor, is among the values."""
    return any(isinstance(x, SparseTensor) for x in values) or holds_tensor(values)


def system(A: Any, b: Any) -> tuple[SparseTensor, Any, Any]:
    """Return (matrix, values, right side) of a system. Raises ValueError for shapes that do not fit."""
    matrix = sparse_tensor(A)
    values, side = operands(matrix.data, b)
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"matrix must be square (has shape {matrix.shape})")
    if side.shape[0] != matrix.shape[0]:
        raise ValueError(f"matrix - rhs dimension mismatch ({matrix.shape} - {side.shape[0]})")
    return matrix, values, side


def _identity(like: SparseTensor) -> SparseTensor:
    every = np.arange(like.shape[0])
    return SparseTensor(w.ones(len(every), dtype=like.dtype), Pattern(every, every, like.shape), like.format, like.is_matrix)


def _full(found: Any, like: SparseTensor) -> SparseTensor:
    """Return a dense result as a sparse matrix of the format csc that stores all elements."""
    matrix = sparse_tensor(found)
    return SparseTensor(matrix.data, matrix.pattern, "csc", like.is_matrix)


def inv(A: Any) -> Any:
    """Inverse of a sparse matrix, by its LU factorization. All elements are stored."""
    if not differ(A):
        return scipy.inv(A)
    matrix = sparse_tensor(A)
    matrix, values, side = system(matrix, w.eye(matrix.shape[0], dtype=matrix.dtype))
    return _full(solve(matrix.pattern, values, side), matrix)


def expm(A: Any) -> Any:
    """Exponential of a sparse matrix. It is computed as that of a dense one, and all elements are stored."""
    if not differ(A):
        return scipy.expm(A)
    matrix = sparse_tensor(A)
    return _full(linalg.matrix_exp(operands(matrix.toarray())[0]), matrix)


def matrix_power(A: Any, power: int) -> Any:
    """Product of `power` equal sparse matrices."""
    if not differ(A):
        return scipy.matrix_power(A, power)
    matrix, power = sparse_tensor(A), int(power)
    if matrix.shape[0] != matrix.shape[1]:
        raise TypeError("sparse matrix is not square")
    if power < 0:
        raise ValueError("exponent must be >= 0")
    found = None
    while power:
        if power % 2:
            found = matrix if found is None else found @ matrix
        power //= 2
        if power:
            matrix = matrix @ matrix
    return _identity(matrix) if found is None else found


class _Substitution(Solver):
    """Solves with a triangular matrix."""

    def __init__(self, lower: bool, adjoint: _Substitution | None = None) -> None:
        self.lower, self.adjoint = lower, adjoint or _Substitution(not lower, self)

    def __call__(self, matrix: Any, b: Any) -> Any:
        return scipy.spsolve_triangular(matrix.tocsr(), b, self.lower)


def spsolve_triangular(
    A: Any, b: Any, lower: bool = True, overwrite_A: bool = False, overwrite_b: bool = False, unit_diagonal: bool = False
) -> Any:  # fmt: skip
    """Solve A x = b for a triangular sparse matrix. unit_diagonal: the diagonal counts as 1, whatever is stored."""
    if not differ(A, b):
        return scipy.spsolve_triangular(A, b, lower, overwrite_A, overwrite_b, unit_diagonal)
    matrix = sparse_tensor(A)
    if unit_diagonal:
        beside = np.flatnonzero(matrix.pattern.rows != matrix.pattern.cols)
        places = Pattern(matrix.pattern.rows[beside], matrix.pattern.cols[beside], matrix.shape)
        matrix = SparseTensor(matrix.data[beside], places, matrix.format, matrix.is_matrix) + _identity(matrix)
    matrix, values, side = system(matrix, b)
    return solve(matrix.pattern, values, side, _Substitution(bool(lower)))


def norm(x: Any, ord: Any = None, axis: Any = None) -> Any:
    """Norm of a sparse matrix, or of its rows or columns. Derivative: 0 at 0 for the Frobenius norm."""
    if not differ(x):
        return scipy.norm(x, ord, axis)
    matrix = sparse_tensor(x)
    if isinstance(axis, (tuple, list)) and len(axis) == 1:
        axis = axis[0]
    if isinstance(axis, (int, np.integer)):
        return linalg.vector_norm(matrix.toarray(), 2 if ord is None else ord, int(axis))
    if ord in (None, "f", "fro"):
        return linalg.vector_norm(matrix.data)
    if ord in (1, -1, np.inf, -np.inf):
        sums = abs(SparseTensor(matrix.data, matrix.pattern)).sum(axis=0 if abs(ord) == 1 else 1)
        return w.amax(sums, 0) if ord > 0 else w.amin(sums, 0)
    if ord == 2:
        return svds(matrix, 1, return_singular_vectors=False)[0]
    raise NotImplementedError if ord == -2 else ValueError("Invalid norm order for matrices.")


def onenormest(A: Any, t: int = 2, itmax: int = 5, compute_v: bool = False, compute_w: bool = False) -> Any:
    """Lower bound of the 1-norm, |A v|_1 for a vector v with one element 1. Derivative: that of |A v|_1 for this v."""
    if not differ(A):
        return scipy.onenormest(A, t, itmax, compute_v, compute_w)
    matrix = sparse_tensor(A)
    _, v = scipy.onenormest(matrix.detach(), t, itmax, True)
    product = matrix @ w.as_tensor(v).to(matrix.dtype)
    found = (w.sum(w.abs(product)), w.as_tensor(v), product)
    chosen = [x for x, wanted in zip(found, (True, compute_v, compute_w), strict=True) if wanted]
    return chosen[0] if len(chosen) == 1 else tuple(chosen)


def _on_detached(name: str) -> Callable[..., Any]:
    theirs = getattr(scipy, name)

    def run(A: Any, *args: Any) -> Any:
        return theirs(A.detach() if isinstance(A, SparseTensor) else A, *args)

    run.__name__, run.__doc__ = name, theirs.__doc__
    return run


FUNCTIONS: tuple[Any, ...] = (inv, expm, matrix_power, spsolve_triangular, norm, onenormest)
SHAPES: tuple[Any, ...] = tuple([_on_detached(name) for name in ("is_sptriangular", "spbandwidth")])
