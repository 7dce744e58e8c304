"""QR and LU factors, triangular systems, products of Householder reflections."""

from __future__ import annotations

from math import log, pi
from typing import Any

import numpy as np

from wengert import errors, return_types
from wengert._forks import import_late
from wengert.backends.selection import backend_of
from wengert.kernels import rows
from wengert.kernels.memory import new_array, triangle
from wengert.ops.blas import batched_product
from wengert.ops.householder import apply_reflections, check_reflections
from wengert.ops.indices import raw
from wengert.ops.matrices import (
    adjoint,
    check_lu_pivots,
    check_matrix,
    check_square,
    cholesky_cotangent,
    cholesky_factor,
    each_matrix,
    identity_like,
    lapack_function,
)
from wengert.ops.registry import NONE, composite, general, nondifferentiable

_PRIVATE: dict[str, Any] = {"method": False, "namespaces": ()}
_LINALG: dict[str, Any] = {"namespaces": ("linalg",)}
_KERNEL_ROWS = 256  # the largest triangular matrix that the kernel solves


def _add_optional(a: Any, b: Any) -> Any:
    """a + b. None stands for zeros."""
    return b if a is None else a if b is None else a + b


# -- triangular systems ------------------------------------------------------------------------------------------------


@general(node="LinalgSolveTriangularBackward0", **_PRIVATE)
def _solve_triangular(xp, A, B, *, upper, left, unitriangular):
    """linalg_solve_triangular."""
    op = "linalg.solve_triangular"
    check_square(op, A)
    if B.ndim < 2:
        raise errors.ShapeError(f"{op}: The input tensor B must have at least 2 dimensions.")
    if B.shape[-2 if left else -1] != A.shape[-1]:
        raise errors.equation_shapes(op, A.shape, B.shape, left)
    if A.shape[:-2] != B.shape[:-2]:
        batch = xp.broadcast_shapes(A.shape[:-2], B.shape[:-2])
        A, B = xp.broadcast_to(A, batch + A.shape[-2:]), xp.broadcast_to(B, batch + B.shape[-2:])
    if left:
        return solve_left(xp, A, B, upper, unitriangular)
    return solve_left(xp, A.swapaxes(-1, -2), B.swapaxes(-1, -2), not upper, unitriangular).swapaxes(-1, -2).copy()


def solve_left(xp: Any, A: Any, B: Any, upper: bool, unit: bool) -> Any:
    """A^-1 @ B as a new array, for a triangular A. A and B have the same batch dimensions."""
    found = rows.solve_triangular(A, B, upper, unit)
    if found is not None:
        return found
    n = A.shape[-1]
    if not B.size:
        return xp.zeros(B.shape, B.dtype)
    if rows.COMPILED and n > _KERNEL_ROWS and A.dtype == B.dtype and A.dtype.char in "fd":
        return _solve_by_halves(xp, A, B, upper, unit, (n // 2 + 63) // 64 * 64)

    def solve(a: Any, b: Any) -> tuple[Any]:
        if not unit and (a.diagonal() == 0).any():
            return (_substitute(a, b, upper),)
        try:
            solve_triangular = import_late("scipy.linalg").solve_triangular
        except ModuleNotFoundError:
            return (_substitute(a, b, upper, unit),)
        return (solve_triangular(a, b, lower=not upper, unit_diagonal=unit, check_finite=False),)

    return each_matrix(solve, B.shape[:-2], A, B)[0]


def _solve_by_halves(xp: Any, A: Any, B: Any, upper: bool, unit: bool, cut: int) -> Any:
    """solve_left by two systems of about half the size and one matrix product between them."""
    out = new_array(B.shape, B.dtype, B)
    above, below = slice(0, cut), slice(cut, None)
    first, second = (below, above) if upper else (above, below)
    out[..., first, :] = solve_left(xp, A[..., first, first], B[..., first, :], upper, unit)
    rest = batched_product(xp, A[..., second, first], out[..., first, :])
    out[..., second, :] = solve_left(xp, A[..., second, second], xp.subtract(B[..., second, :], rest, out=rest), upper, unit)
    return out


def _substitute(a: Any, b: Any, upper: bool, unit: bool = False) -> Any:
    """Solve a @ x = b by substitution. Zeros on the diagonal, which SciPy refuses, give infinities and NaN."""
    xp = backend_of(a)
    x = xp.zeros_like(b)
    order = range(len(a))
    for i in reversed(order) if upper else order:
        known = slice(i + 1, None) if upper else slice(0, i)
        x[i] = (b[i] - a[i, known] @ x[known]) / (1 if unit else a[i, i])
    return x


@_solve_triangular.vjp("A", "B")
def _(F, ct, A, out, upper, left, unitriangular):
    of_B = F._solve_triangular(adjoint(F, A), ct, upper=not upper, left=left, unitriangular=unitriangular)
    of_A = -(F.matmul(of_B, adjoint(F, out)) if left else F.matmul(adjoint(F, out), of_B))
    shift = 1 if unitriangular else 0
    return (F.triu(of_A, diagonal=shift) if upper else F.tril(of_A, diagonal=-shift)), of_B


@composite(**_LINALG)
def linalg_solve_triangular(F, A, B, *, upper, left=True, unitriangular=False):
    """X with A @ X = B, or X @ A = B if not left, for a triangular A.

    A: (..., n, n), upper or lower triangular. The other triangle is not read. If unitriangular, the diagonal is not read
    either and counts as ones. B: (..., n, k), or (..., k, n) if not left. If the diagonal has a zero, the result is not
    finite.

    Derivative: G = A^-H @ ct in B, the triangle of -G @ X^H in A. If not left, G = ct @ A^-H and -X^H @ G."""
    return F._solve_triangular(A, B, upper=upper, left=left, unitriangular=unitriangular)


# -- density of the multivariate normal distribution ---------------------------------------------------------------------


@general(outputs=("density", "L", "solved"), **_PRIVATE)
def _normal_log_density(xp, x, cov):
    """Logarithm of the density of the normal distribution with mean 0, the Cholesky factor L of cov, and cov^-1 @ x.

    x: (..., n). cov: (n, n), positive definite; only its symmetric part counts. Returns a density of shape (...), L of shape (n, n)
    and the solution of shape (..., n).

    Derivative of the density: -ct * solved in x, (sum of ct * solved @ solved^T - sum of ct * cov^-1) / 2 in cov."""
    L = cholesky_factor(xp, 0.5 * (cov + cov.T))
    right = x.reshape(-1, x.shape[-1]).T
    white = solve_left(xp, L, right, False, False)
    solved = solve_left(xp, L.T, white, True, False).T.reshape(x.shape)
    log_scale = xp.log(L.diagonal()).sum() + 0.5 * (len(L) * log(2 * pi))
    return -0.5 * (white * white).sum(axis=0).reshape(x.shape[:-1]) - log_scale, L, solved


@_normal_log_density.vjp("x", "cov")
def _(F, ct, L, solved):
    ct, of_L, of_solved = ct
    n = L.shape[-1]
    vectors = F.reshape(solved, shape=(-1, n))
    of_x: Any = None
    of_cov: Any = None
    if of_solved is not None:
        of_x = F.cholesky_solve(F.reshape(of_solved, shape=(-1, n)).T, L).T
        of_cov = -F.matmul(of_x.T, vectors)
    if ct is not None:
        weighted = F.reshape(ct, shape=(-1, 1)) * vectors
        of_x = -weighted if of_x is None else of_x - weighted
        outer = 0.5 * (F.matmul(weighted.T, vectors) - F.sum(ct) * F.cholesky_inverse(L))
        of_cov = outer if of_cov is None else of_cov + outer
    if of_L is not None:
        through_L = cholesky_cotangent(F, of_L, L)
        of_cov = through_L if of_cov is None else of_cov + through_L
    return (None if of_x is None else F.reshape(of_x, shape=solved.shape)), 0.5 * (of_cov + of_cov.T)


# -- QR ----------------------------------------------------------------------------------------------------------------


@general(outputs=("Q", "R"), node="LinalgQrBackward0", **_PRIVATE)
def _qr(xp, A, *, mode):
    """linalg_qr, in the modes "reduced" and "complete"."""
    check_matrix("linalg.qr", A)
    found = rows.qr(A) if mode == "reduced" or A.shape[-2] <= A.shape[-1] else None
    return tuple(xp.linalg.qr(A, mode)) if found is None else found


@_qr.vjp("A")
def _(F, ct, A, Q, R, mode):
    of_Q, of_R = ct
    m, n = A.shape[-2:]
    if mode == "complete" and m > n:
        raise errors.NotDifferentiableError(
            "The QR decomposition is not differentiable when mode='complete' and nrows > ncols. Hint: mode='reduced' is."
        )
    if m >= n:
        return _qr_cotangent(F, of_Q, of_R, Q, R)
    # A = [X, Y] with a square X = Q U, and Y = Q V.
    Y = F.narrow(A, -1, m, n - m)
    U = F.narrow(R, -1, 0, m)
    of_Y = None
    if of_R is not None:
        of_V = F.narrow(of_R, -1, m, n - m)
        of_Y = F.matmul(Q, of_V)
        of_Q = _add_optional(of_Q, F.matmul(Y, adjoint(F, of_V)))
        of_R = F.narrow(of_R, -1, 0, m)
    of_X = _qr_cotangent(F, of_Q, of_R, Q, U)
    return F.cat([of_X, F._zeros(Y) if of_Y is None else of_Y], dim=-1)


def _qr_cotangent(F: Any, of_Q: Any, of_R: Any, Q: Any, R: Any) -> Any:
    """Cotangent of A = Q @ R with a square R: (of_Q + Q @ S) @ R^-H.

    S is the Hermitian matrix with the upper triangle of of_R @ R^H - Q^H @ of_Q (S. Walter and L. Lehmann, 2010; see also
    Giles, 2008). of_Q, of_R: the cotangents of Q and R, or None."""
    inner = None if of_R is None else F.matmul(of_R, adjoint(F, R))
    if of_Q is not None:
        inner = _add_optional(inner, -F.matmul(adjoint(F, Q), of_Q))
    above = F.triu(inner, diagonal=1)
    diagonal = F.diag_embed(F.real(F.diagonal(inner, dim1=-2, dim2=-1)))
    right = F.matmul(Q, above + adjoint(F, above) + diagonal)
    return F._solve_triangular(adjoint(F, R), _add_optional(of_Q, right), upper=False, left=False, unitriangular=False)


@nondifferentiable(**_PRIVATE)
def _no_elements(xp, x):
    """An empty vector of x's dtype."""
    return xp.empty((0,), x.dtype)


@composite(**_LINALG)
def linalg_qr(F, A, mode="reduced"):
    """A = Q @ R with orthonormal columns in Q and an upper triangular R, as a named tuple (Q, R).

    A: (..., m, n), floating or complex. mode: "reduced" gives Q (..., m, k) and R (..., k, n) with k = min(m, n);
    "complete" gives Q (..., m, m) and R (..., m, n); "r" gives an empty Q, and R as in "reduced". Raises RuntimeError for
    another mode.

    Derivative: (ct_Q + Q @ S) @ R^-H with a Hermitian S, if the first k columns of A have full rank; also in mode "r". Mode
    "complete" with m > n has no derivative, because the columns of Q beyond n are arbitrary: the backward pass raises
    RuntimeError."""
    if mode not in ("reduced", "complete", "r"):
        raise errors.ShapeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or 'complete'"
        )
    Q, R = F._qr(A, mode="complete" if mode == "complete" else "reduced")
    return return_types.linalg_qr((F._no_elements(Q) if mode == "r" else Q, R))


# -- LU ----------------------------------------------------------------------------------------------------------------


def _lu_of_matrix(A: Any) -> tuple[Any, Any, Any]:
    """Return (LU, pivots, info) of one matrix from LAPACK's getrf. pivots count from 1; info: the first zero pivot, or 0."""
    xp = backend_of(A)
    if not A.size:
        return A.copy(), xp.arange(1, min(A.shape) + 1, dtype=np.int32), np.int32(0)
    factors, pivots, first_zero = lapack_function("getrf", A.dtype)(A)
    pivots += 1
    return factors, pivots.astype(np.int32, copy=False), np.int32(first_zero)


@general(outputs=("LU", "pivots", "info"), node="LinalgLuFactorExBackward0", **_PRIVATE)
def _lu_factor(xp, A):
    """linalg_lu_factor_ex."""
    check_matrix("torch.linalg.lu_factor", A)
    return each_matrix(_lu_of_matrix, A.shape[:-2], A)


@_lu_factor.vjp("A")
def _(F, ct, LU, pivots):
    L, U = _unpack_lu(F, LU)
    k = L.shape[-1]
    of_L = F.tril(F.narrow(ct[0], -1, 0, k), diagonal=-1)
    of_U = F.triu(F.narrow(ct[0], -2, 0, k), diagonal=0)
    return _lu_cotangent(F, F._permutation(LU, pivots), L, U, of_L, of_U)


def _unpack_lu(F: Any, LU: Any) -> tuple[Any, Any]:
    """Return L, with ones on its diagonal, and U from the one matrix into which lu_factor packs them."""
    m, n = LU.shape[-2:]
    k = min(m, n)
    left = F.narrow(LU, -1, 0, k)
    return F.tril(left, diagonal=-1) + F._eye_like(left), F.triu(F.narrow(LU, -2, 0, k), diagonal=0)


def _lu_cotangent(F: Any, P: Any, L: Any, U: Any, of_L: Any, of_U: Any) -> Any:
    """Cotangent of A = P @ L @ U.

    For a square A: P @ L^-H @ (tril(L^H @ of_L, -1) + triu(of_U @ U^H)) @ U^-H. The rows or columns of L or U beyond the
    square solve a triangular system with a factor of the square. Their cotangents are computed first."""
    m, n, k = L.shape[-2], U.shape[-1], L.shape[-1]
    square = {"unitriangular": False}
    below = beside = None
    if m > k:  # L = [L1; A2 U^-1]
        below = F._solve_triangular(adjoint(F, U), F.narrow(of_L, -2, k, m - k), upper=False, left=False, **square)
        of_U = of_U - F.matmul(adjoint(F, F.narrow(L, -2, k, m - k)), below)
        L, of_L = F.narrow(L, -2, 0, k), F.narrow(of_L, -2, 0, k)
    if n > k:  # U = [U1, L^-1 A2]
        beside = F._solve_triangular(
            adjoint(F, L), F.narrow(of_U, -1, k, n - k), upper=True, left=True, unitriangular=True
        )
        of_L = of_L - F.matmul(beside, adjoint(F, F.narrow(U, -1, k, n - k)))
        U, of_U = F.narrow(U, -1, 0, k), F.narrow(of_U, -1, 0, k)
    inner = F.tril(F.matmul(adjoint(F, L), of_L), diagonal=-1) + F.triu(F.matmul(of_U, adjoint(F, U)), diagonal=0)
    inner = F._solve_triangular(adjoint(F, U), inner, upper=False, left=False, **square)
    result = F._solve_triangular(adjoint(F, L), inner, upper=True, left=True, unitriangular=True)
    if below is not None:
        result = F.cat([result, below], dim=-2)
    if beside is not None:
        result = F.cat([result, beside], dim=-1)
    return F.matmul(P, result)


@nondifferentiable(promote=NONE, **_PRIVATE)
def _permutation(xp, LU, pivots):
    """Permutation matrix P with A = P @ L @ U, in LU's dtype, from the row exchanges in pivots."""
    m = LU.shape[-2]

    def permute(matrix: Any, exchanges: Any) -> tuple[Any]:
        order = list(range(m))
        for i, j in enumerate(exchanges.tolist()):
            order[i], order[j - 1] = order[j - 1], order[i]
        P = xp.zeros((m, m), LU.dtype)
        P[order, range(m)] = 1
        return (P,)

    return each_matrix(permute, LU.shape[:-2], LU, pivots)[0]


@nondifferentiable(**_PRIVATE)
def _eye_like(xp, x):
    """Matrices of x's shape with ones on the diagonal and zeros elsewhere."""
    return identity_like(x)


@general(outputs=("P", "L", "U"), node="LinalgLuBackward0", **_PRIVATE)
def _lu(xp, A):
    """linalg_lu."""
    check_matrix("linalg.lu", A)
    LU, pivots, _ = each_matrix(_lu_of_matrix, A.shape[:-2], A)
    k = min(A.shape[-2:])
    left = triangle(LU[..., :k], -1, False)
    return _permutation.forward(xp, LU, pivots), left + identity_like(left), triangle(LU[..., :k, :], 0, True)


@_lu.vjp("A")
def _(F, ct, P, L, U):
    _, of_L, of_U = ct
    of_L = F._zeros(L) if of_L is None else F.tril(of_L, diagonal=-1)
    of_U = F._zeros(U) if of_U is None else F.triu(of_U, diagonal=0)
    return _lu_cotangent(F, P, L, U, of_L, of_U)


def _check_pivot(pivot: bool) -> None:
    """Raise RuntimeError for pivot=False, which LAPACK does not compute."""
    if not pivot:
        raise errors.ShapeError("linalg.lu_factor: LU without pivoting is not implemented on the CPU")


@composite(**_LINALG)
def linalg_lu(F, A, *, pivot=True):
    """LU decomposition A = P @ L @ U with row exchanges, as a named tuple (P, L, U).

    P: a permutation matrix, (..., m, m). L: lower triangular with ones on the diagonal, (..., m, k). U: upper triangular,
    (..., k, n). k = min(m, n). A: (..., m, n), floating or complex. pivot: must be True.

    Derivative: P @ L^-H @ (tril(L^H @ ct_L, -1) + triu(ct_U @ U^H)) @ U^-H for a square A (S. Axen, 2021); for other shapes
    see `_lu_cotangent`. P has no derivative: it is constant where the pivots do not change."""
    _check_pivot(pivot)
    P, L, U = F._lu(A)
    return return_types.linalg_lu((F._detached_copy(P), L, U))


@composite(**_LINALG)
def linalg_lu_factor(F, A, *, pivot=True):
    """Factors of `linalg.lu` packed into one matrix, and the pivots, as a named tuple (LU, pivots).

    A: (..., m, n). Row i was exchanged with row pivots[i], counted from 1. pivot: must be True. Raises RuntimeError if U has
    a zero on its diagonal.

    Derivative: as in `linalg.lu`."""
    xp = backend_of(A)
    _check_pivot(pivot)
    LU, pivots, info = F._lu_factor(A)
    if F.is_tensor and xp.count_nonzero(raw(info)):
        raise _singular_factor(info)
    return return_types.linalg_lu_factor((LU, pivots))


def _singular_factor(info: Any) -> Exception:
    """Error for an LU factorization with a zero on the diagonal of U. info: numbers of the pivots, counted from 1."""
    order = int(info.max())
    return errors.SingularMatrixError(
        f"torch.linalg.lu_factor: U[{order},{order}] is zero and using it on lu_solve would result in a division by "
        "zero. If you still want to perform the factorization, consider calling linalg.lu(A, pivot) or "
        "linalg.lu_factor_ex(A, pivot)"
    )


@composite(**_LINALG)
def linalg_lu_factor_ex(F, A, *, pivot=True, check_errors=False):
    """`linalg.lu_factor` that raises only if check_errors: a named tuple (LU, pivots, info).

    A: (..., m, n). info: (...), int32: the index of the first zero on the diagonal of U, counted from 1, or 0.

    Derivative: as in `linalg.lu`."""
    xp = backend_of(A)
    _check_pivot(pivot)
    LU, pivots, info = F._lu_factor(A)
    if check_errors and xp.count_nonzero(raw(info)):
        raise _singular_factor(info)
    return return_types.linalg_lu_factor_ex((LU, pivots, info))


@composite(**_LINALG)
def linalg_lu_solve(F, LU, pivots, B, *, left=True, adjoint=False):
    """X with A @ X = B, or X @ A = B if not left, given LU and pivots from `linalg.lu_factor` of A.

    LU: (..., n, n), pivots: (..., n), B: (..., n, k), or (..., k, n) if not left. adjoint: solve with A^H in place of A.

    Raises RuntimeError for pivots that `linalg.lu_factor` does not return: they are int32 and count from 1.

    Derivative: that of the two triangular systems."""
    check_square("linalg.lu_solve", raw(LU))
    check_lu_pivots("linalg.lu_solve", raw(LU), raw(pivots))
    P, (L, U) = F._permutation(LU, pivots), _unpack_lu(F, LU)
    if not left:  # X A = B is A^H X^H = B^H
        X = F.linalg_lu_solve(LU, pivots, F.adjoint(B), adjoint=not adjoint)
        return F.adjoint(X)
    if adjoint:
        X = F._solve_triangular(F.adjoint(U), B, upper=False, left=True, unitriangular=False)
        return F.matmul(P, F._solve_triangular(F.adjoint(L), X, upper=True, left=True, unitriangular=True))
    X = F._solve_triangular(L, F.matmul(F.adjoint(P), B), upper=False, left=True, unitriangular=True)
    return F._solve_triangular(U, X, upper=True, left=True, unitriangular=False)


# -- Householder reflections -------------------------------------------------------------------------------------------


@composite(**_LINALG)
def linalg_householder_product(F, A, tau):
    """First n columns of the product of the Householder reflections I - tau_i v_i v_i^H, as `geqrf` returns them.

    With A and tau from geqrf the result is Q of `linalg.qr`. A: (..., m, n), m >= n. v_i is column i of A with zeros above
    the diagonal and 1 on it. tau: (..., k).

    Derivative: that of the products."""
    if A.ndim < 2 or A.shape[-2] < A.shape[-1]:
        raise errors.ShapeError(
            "torch.linalg.householder_product: input.shape[-2] must be greater than or equal to input.shape[-1]"
        )
    check_reflections("torch.linalg.householder_product", A, tau)
    if not tau.shape[-1]:
        return F._constant_eye(A)
    return apply_reflections(F, A, tau, F._eye_like(A), False)
