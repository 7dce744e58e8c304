"""Eigenvalues, singular values and least squares solutions of sparse matrices: SciPy's values, with derivatives by sparse solves.

Note [Bordered systems]
An eigenvalue s and its vector v solve A v = s v and v.v = 1. Newton's steps on this system, whose matrix is A - s with a row and a
column more, leave SciPy's solution as it is and give it its derivatives: one order after the first step, three after the second.
They hold for eigenvalues that are simple. Singular values are eigenvalues of the matrix with the blocks A and A^H.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert._forks import import_late
from wengert.array_functions.table import detached, holds_tensor, w
from wengert.scipy._closures import with_values
from wengert.scipy._frame import operands
from wengert.scipy._sparse_products import Pattern, multiply, solve
from wengert.scipy.sparse._matrices import is_sparse, sparse_tensor

scipy: Any = import_late("scipy.sparse.linalg")

_STEPS = 2


def _parts(A: Any) -> tuple[Any, Any, Any]:
    """Return (matrix for SciPy, pattern, values) of a sparse matrix or a dense tensor."""
    if is_sparse(A):
        matrix = sparse_tensor(A)
        (data,) = operands(matrix.data)
        return matrix.detach().tocsc(), matrix.pattern, data
    (dense,) = operands(A)
    rows, cols = np.indices(dense.shape)
    return detached(dense), Pattern(rows.reshape(-1), cols.reshape(-1), tuple(dense.shape)), dense.reshape(-1)


def _refined(pattern: Pattern, data: Any, value: Any, vector: Any, second: tuple[Pattern, Any] | None = None) -> tuple[Any, Any]:
    """Return the eigenvalue and the vector of a square matrix with their derivatives. See Note [Bordered systems].

    second: the matrix M of A v = s M v, whose product v.Mv is that of the vector; the identity if None."""
    n = pattern.shape[0]
    dtype = w.as_tensor(np.zeros(0, np.result_type(detached(data), vector, value))).dtype
    every = np.arange(n)
    other, weights = second or (Pattern(every, every, (n, n)), w.ones(n, dtype=data.dtype))
    v, s, data, weights = [x.to(dtype) for x in (w.as_tensor(vector), w.as_tensor(np.asarray(value)), data, weights)]
    start = np.conj(detached(multiply(other, weights.detach(), v)))
    size = start @ vector
    left = w.as_tensor(start / size).to(dtype)
    rows = np.concatenate([pattern.rows, other.rows, every, np.full(n, n)])
    cols = np.concatenate([pattern.cols, other.cols, np.full(n, n), every])
    bordered = Pattern(rows, cols, (n + 1, n + 1))
    for _ in range(_STEPS):
        weighted = multiply(other, weights, v)
        values = w.cat([data, -s * weights, -weighted, left])
        gap = w.cat([multiply(pattern, data, v) - s * weighted, (w.sum(left * v) - 1.0).reshape(1)])
        change = solve(bordered, values, gap)
        v, s = v - change[:n], s - change[n]
    return s, v * w.sqrt(float(size.real) / w.real(w.sum(v.conj() * multiply(other, weights, v))))


def _each(pattern: Pattern, data: Any, known: tuple[Any, Any], second: Any = None) -> tuple[Any, Any]:
    """Return eigenvalues and vectors that SciPy computed, with their derivatives."""
    values, vectors = known
    found = [_refined(pattern, data, values[i], vectors[:, i], second) for i in range(len(values))]
    return with_values(w.stack([s for s, _ in found]), values), with_values(w.stack([v for _, v in found], 1), vectors)


def _pair(A: Any, M: Any) -> tuple[Any, Any, Any, Any, Any]:
    """Return (A and M for SciPy, pattern of A, its values, (pattern, values) of M or None)."""
    matrix, pattern, data = _parts(A)
    if M is None:
        return matrix, None, pattern, data, None
    other, *second = _parts(M)
    return matrix, other, pattern, data, tuple(second)


def _refuse(name: str, options: dict[str, Any], allowed: tuple[str, ...]) -> None:
    given = [key for key in allowed if options.get(key) is not None]
    if given:
        raise NotImplementedError(f"scipy.sparse.linalg.{name} has no derivative with {', '.join(given)}. Hint: leave it out.")


def eigsh(
    A: Any, k: int = 6, M: Any = None, sigma: Any = None, which: str = "LM", return_eigenvectors: bool = True, **more: Any
) -> Any:  # fmt: skip
    """k eigenvalues and vectors of a symmetric or Hermitian matrix, sparse or a dense tensor, as scipy.sparse.linalg.eigsh.

    Derivative: in all stored elements of A and M, as if they were independent. Vectors v keep their size v.Mv."""
    _refuse("eigsh", more, ("Minv", "OPinv"))
    matrix, other, pattern, data, second = _pair(A, M)
    values, vectors = _each(pattern, data, scipy.eigsh(matrix, k, other, sigma=sigma, which=which, **more), second)
    return (values, vectors) if return_eigenvectors else values


def eigs(
    A: Any, k: int = 6, M: Any = None, sigma: Any = None, which: str = "LM", return_eigenvectors: bool = True, **more: Any
) -> Any:  # fmt: skip
    """k eigenvalues and right vectors of a square matrix, sparse or a dense tensor, as scipy.sparse.linalg.eigs. They are complex.

    Derivative: in the stored elements of A and M. Vectors v keep their size v.Mv, and their products with SciPy's M v stay real."""
    _refuse("eigs", more, ("Minv", "OPinv", "OPpart"))
    matrix, other, pattern, data, second = _pair(A, M)
    values, vectors = _each(pattern, data, scipy.eigs(matrix, k, other, sigma=sigma, which=which, **more), second)
    return (values, vectors) if return_eigenvectors else values


def lobpcg(A: Any, X: Any, B: Any = None, M: Any = None, Y: Any = None, **more: Any) -> Any:
    """Eigenvalues and vectors of a symmetric pair of matrices from the start vectors X: (n, k), as scipy.sparse.linalg.lobpcg.

    Derivative: in the stored elements of A and B, as eigsh. The result does not depend on X and the preconditioner M."""
    _refuse("lobpcg", {"Y": Y}, ("Y",))
    if more.get("retLambdaHistory") or more.get("retResidualNormsHistory"):
        raise NotImplementedError("scipy.sparse.linalg.lobpcg has no derivative of its histories. Hint: leave them out.")
    matrix, other, pattern, data, second = _pair(A, B)
    return _each(pattern, data, scipy.lobpcg(matrix, detached(X), other, M, **more), second)


def svds(A: Any, k: int = 6, return_singular_vectors: Any = True, **more: Any) -> Any:
    """k singular values and vectors (u, s, vh) of a matrix, sparse or a dense tensor, as scipy.sparse.linalg.svds.

    Derivative: for singular values that are simple and not 0; of complex matrices for functions that do not depend on phases."""
    matrix, pattern, data = _parts(A)
    u, s, vh = scipy.svds(matrix, k, **more)
    m, n = pattern.shape
    rows, cols = np.concatenate([pattern.rows, pattern.cols + m]), np.concatenate([pattern.cols + m, pattern.rows])
    both = Pattern(rows, cols, (m + n, m + n))
    values, vectors = _each(both, w.cat([data, data.conj().resolve_conj()]), (s, np.concatenate([u, vh.conj().T])))
    values = values.real if values.is_complex() else values
    if return_singular_vectors is False:
        return values
    left, right = vectors[:m], vectors[m:].mH
    return (None if return_singular_vectors == "vh" else left), values, (None if return_singular_vectors == "u" else right)


def _least_squares(name: str) -> Any:
    theirs = getattr(scipy, name)

    def run(A: Any, b: Any, damp: Any = 0.0, **more: Any) -> Any:
        matrix, pattern, data = _parts(A)
        found = list(theirs(matrix, detached(b), float(np.asarray(detached(damp))), **more))
        data, side, damp = operands(data, b, damp)
        m, n = pattern.shape
        # The residual r = b - A x and x solve r + A x = b and A^H r = damp^2 x.
        rows = np.concatenate([np.arange(m), pattern.rows, pattern.cols + m, np.arange(m, m + n)])
        cols = np.concatenate([np.arange(m), pattern.cols + m, pattern.rows, np.arange(m, m + n)])
        ones = w.ones(m, dtype=data.dtype), w.ones(n, dtype=data.dtype)
        values = w.cat([ones[0], data, data.conj().resolve_conj(), -damp * damp * ones[1]])
        both = solve(Pattern(rows, cols, (m + n, m + n)), values, w.cat([side, w.zeros(n, dtype=data.dtype)]))
        found[0] = with_values(both[m:], found[0])
        return tuple(found)

    run.__name__ = name
    run.__doc__ = f"""Least squares solution of A x = b, as scipy.sparse.linalg.{name}. The first of its results is a tensor.

    Derivative: that of the exact solution, for A of full column rank or damp > 0, by a sparse solve."""
    return run


def _always(ours: Any) -> Any:
    """Return a function that calls SciPy's, if no argument holds tensors."""
    theirs = getattr(scipy, ours.__name__)

    def run(A: Any, *args: Any, **more: Any) -> Any:
        if not holds_tensor((A, *args, *more.values())) and not any(hasattr(x, "pattern") for x in (A, *args, *more.values())):
            return theirs(A, *args, **more)
        return ours(A, *args, **more)

    run.__name__, run.__doc__ = ours.__name__, ours.__doc__
    return run


FUNCTIONS: tuple[Any, ...] = tuple(
    [_always(f) for f in (eigsh, eigs, lobpcg, svds, _least_squares("lsqr"), _least_squares("lsmr"))]
)
