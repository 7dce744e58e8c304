"""Low-rank factors of matrices, the largest or smallest eigenvalues, and triangular_solve, the older form of solve_triangular."""

from __future__ import annotations

from typing import Any

from wengert import errors, return_types
from wengert.backends.selection import backend_of, device_name
from wengert.core.tensor import wrap
from wengert.generator import generator_of
from wengert.ops.indices import raw
from wengert.ops.matrices import adjoint
from wengert.ops.registry import composite


def _range_basis(F: Any, A: Any, q: int, niter: int) -> Any:
    """Orthonormal basis that approximates the range of A: (..., m, min(q, m, n)), by power iterations from random vectors.

    Halko, Martinsson, Tropp, Finding Structure with Randomness, 2011, algorithm 4.4."""
    array = raw(A)
    shape = (array.shape[-1], min(q, *array.shape[-2:]))
    Q = F.linalg_qr(F.matmul(A, wrap(generator_of(None, device_name(array)).normal(shape, array.dtype))))[0]
    for _ in range(niter):
        Q = F.linalg_qr(F.matmul(adjoint(F, A), Q))[0]
        Q = F.linalg_qr(F.matmul(A, Q))[0]
    return Q


@composite()
def svd_lowrank(F, A, q=6, niter=2, M=None):
    """Approximate singular value decomposition of rank q: (U, S, V) with A - M close to U @ diag(S) @ V^H.

    A: (..., m, n), floating or complex. M: None, or broadcasts to A's shape. niter: the number of power iterations; more
    give a better approximation. Returns (..., m, q), (..., q) and (..., n, q), with q cut to
    min(m, n). The default generator draws random vectors.

    Derivative: that of the steps, through `linalg.qr` and `linalg.svd`."""
    q = 6 if q is None else q
    A = A if M is None else A - M
    flip = A.shape[-2] < A.shape[-1]
    tall = adjoint(F, A) if flip else A
    Q = _range_basis(F, tall, q, niter)
    U, S, Vh = F.linalg_svd(F.matmul(adjoint(F, Q), tall), False)
    U, V = F.matmul(Q, U), adjoint(F, Vh)
    return (V, S, U) if flip else (U, S, V)


@composite()
def pca_lowrank(F, A, q=None, center=True, niter=2):
    """Principal components: `svd_lowrank` of A, (..., m, n), minus the mean of each column if center.

    q: min(6, m, n) unless given. Raises ValueError unless 0 <= q <= min(m, n) and niter >= 0.

    Derivative: as in `svd_lowrank`."""
    m, n = A.shape[-2:]
    q = min(6, m, n) if q is None else q
    if not 0 <= q <= min(m, n):
        raise errors.ElementError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(m, n)}")
    if niter < 0:
        raise errors.ElementError(f"niter(={niter}) must be non-negative integer")
    return F.svd_lowrank(A - F.mean(A, dim=-2, keepdim=True) if center else A, q, niter)


@composite()
def lobpcg(
    F,
    A,
    k=None,
    B=None,
    X=None,
    n=None,
    iK=None,
    niter=None,
    tol=None,
    largest=None,
    method=None,
    tracker=None,
    ortho_iparams=None,
    ortho_fparams=None,
    ortho_bparams=None,
):
    """The k largest eigenvalues of a symmetric A, or of A x = value * B x, and their eigenvectors; smallest if largest=False.

    A, B: (..., m, m), B positive definite. k: unless given, the number of columns of X, or n, or 1. Returns (..., k) and
    (..., m, k). `linalg.eigh` computes them to full precision. The parameters that control torch's iteration are ignored.

    Derivative: that of the steps, through `linalg.eigh` and `linalg.cholesky`."""
    xp = backend_of(A)
    count = k if k is not None else X.shape[-1] if X is not None else n or 1
    if not 0 < count <= A.shape[-1]:
        raise errors.ElementError(f"q(={count}) must be non-negative integer and not greater than min(m, n)={A.shape[-1]}")
    root = None
    if B is not None:
        root = F.linalg_cholesky(B)
        half = F.linalg_solve_triangular(root, A, upper=False)
        A = F.linalg_solve_triangular(root, adjoint(F, half), upper=False)
    values, vectors = F.linalg_eigh(A)
    order = xp.arange(A.shape[-1])[::-1] if largest is None or largest else xp.arange(A.shape[-1])
    index = wrap(order[:count].copy())
    values, vectors = F.index_select(values, -1, index), F.index_select(vectors, -1, index)
    if root is not None:
        vectors = F.linalg_solve_triangular(adjoint(F, root), vectors, upper=True)
    return values, vectors


@composite(method=True)
def triangular_solve(F, input, A, upper=True, transpose=False, unitriangular=False):
    """X with A @ X = input, or A^T @ X = input if transpose, for a triangular A, as a named tuple (solution, copy of A).

    A, upper, unitriangular: as in `linalg.solve_triangular`, which new programs use.

    Derivative: as in `linalg.solve_triangular`."""
    matrix = F.transpose(A, dim0=-2, dim1=-1) if transpose else A
    solution = F.linalg_solve_triangular(matrix, input, upper=upper != transpose, unitriangular=unitriangular)
    return return_types.triangular_solve((solution, A.clone()))
