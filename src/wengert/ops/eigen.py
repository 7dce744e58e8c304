"""Eigenvalues and eigenvectors, and the exponential of a matrix.

See Note [Equal values] in factor.py. The derivatives follow M. Giles, An extended collection of matrix derivative results
for forward and reverse mode algorithmic differentiation, 2008.
"""

from __future__ import annotations

from typing import Any

from wengert import errors, return_types
from wengert.ops.matrices import adjoint, check_square
from wengert.ops.registry import composite, general

_PRIVATE: dict[str, Any] = {"method": False, "namespaces": ()}
_LINALG: dict[str, Any] = {"namespaces": ("linalg",)}


# -- Hermitian matrices ------------------------------------------------------------------------------------------------


@general(outputs=("eigenvalues", "eigenvectors"), node="LinalgEighBackward0", **_PRIVATE)
def _eigh(xp, A, *, UPLO="L"):
    """linalg_eigh."""
    check_square("linalg.eigh", A)
    if UPLO not in ("L", "U", "l", "u"):
        raise errors.ShapeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    try:
        return tuple(xp.linalg.eigh(A, UPLO))
    except xp.linalg.LinAlgError:
        raise errors.SingularMatrixError(
            "linalg.eigh: The algorithm failed to converge because the input matrix is ill-conditioned or has too many "
            "repeated eigenvalues."
        ) from None


@_eigh.vjp("A")
def _(F, ct, eigenvalues, eigenvectors):
    of_values, of_vectors = ct
    left = None if of_values is None else eigenvectors * F.unsqueeze(of_values, dim=-2)
    if of_vectors is not None:
        # 1 / (l_j - l_i), 0 for equal values.
        gaps = F._masked_reciprocal(F.unsqueeze(eigenvalues, dim=-2) - F.unsqueeze(eigenvalues, dim=-1))
        turned = F.matmul(eigenvectors, F.matmul(adjoint(F, eigenvectors), of_vectors) * gaps)
        left = turned if left is None else left + turned
    return F.matmul(left, adjoint(F, eigenvectors))


@composite(**_LINALG)
def linalg_eigh(F, A, UPLO="L"):
    """Eigenvalues L and eigenvectors V of a Hermitian matrix A = V @ diag(L) @ V^H, as a named tuple.

    A: (..., n, n), floating or complex. Returns (eigenvalues, eigenvectors), (..., n), real and ascending, and (..., n, n).
    Only the lower triangle of A is read, or the upper one for UPLO="U". Raises RuntimeError for another UPLO, and if LAPACK
    does not converge.

    Derivative: V @ (diag(ct_L) + (V^H @ ct_V) / (l_j - l_i)) @ V^H. The quotient counts as 0 where l_i = l_j. The derivative
    is right for functions that do not depend on the signs (phases) of the eigenvectors, nor on their choice where
    eigenvalues are equal.
    """
    return return_types.linalg_eigh(F._eigh(A, UPLO=UPLO))


@composite(**_LINALG)
def linalg_eigvalsh(F, A, UPLO="L"):
    """Eigenvalues of a Hermitian matrix, real and ascending: (..., n). A and UPLO as in `linalg.eigh`.

    Derivative: V @ diag(ct) @ V^H."""
    return F._eigh(A, UPLO=UPLO)[0]


# -- other matrices ----------------------------------------------------------------------------------------------------


@general(outputs=("eigenvalues", "eigenvectors"), node="LinalgEigBackward0", **_PRIVATE)
def _eig(xp, A):
    """linalg_eig."""
    check_square("linalg.eig", A)
    if not xp.isfinite(A).all():
        raise errors.ShapeError("torch.linalg.eig: input tensor should not contain infs or NaNs.")
    wanted = xp.result_type(A, xp.complex64)
    try:
        return tuple([xp.asarray(found, wanted) for found in xp.linalg.eig(A)])
    except xp.linalg.LinAlgError:
        raise errors.SingularMatrixError(
            "linalg.eig: The algorithm failed to converge because the input matrix is ill-conditioned or has too many "
            "repeated eigenvalues."
        ) from None


@_eig.vjp("A")
def _(F, ct, eigenvalues, eigenvectors):
    of_values, of_vectors = ct
    inner = None if of_values is None else F.diag_embed(of_values)
    V_h = adjoint(F, eigenvectors)
    if of_vectors is not None:
        # The eigenvectors have length 1, so the component of the cotangent along them is removed.
        turn = F.matmul(V_h, of_vectors)
        along = F.unsqueeze(F.real(F.diagonal(turn, dim1=-2, dim2=-1)), dim=-2)
        turn = turn - F.matmul(V_h, eigenvectors) * along
        gaps = F.unsqueeze(eigenvalues, dim=-2) - F.unsqueeze(eigenvalues, dim=-1)
        turn = turn * F.conj(F._masked_complex_reciprocal(gaps))
        inner = turn if inner is None else inner + turn
    return F.linalg_solve(V_h, F.matmul(inner, V_h))


@general(**_PRIVATE)
def _masked_complex_reciprocal(xp, x):
    """1 / x, and 0 where x is 0: _masked_reciprocal for complex numbers.

    Derivative: -out**2."""
    return xp.where(x == 0, x.dtype.type(0), xp.reciprocal(x))


@_masked_complex_reciprocal.vjp("x")
def _(F, ct, out):
    return -ct * F.conj(out * out)


@composite(**_LINALG)
def linalg_eig(F, A):
    """Eigenvalues L and eigenvectors V of length 1 of a square matrix: A @ V = V @ diag(L).

    A: (..., n, n), floating or complex; RuntimeError if an element is not finite. Returns a named tuple (eigenvalues,
    eigenvectors), (..., n) and (..., n, n), both complex.

    Derivative: V^-H @ (diag(ct_L) + (V^H @ ct_V - V^H @ V @ diag(Re(diag(V^H @ ct_V)))) / conj(l_j - l_i)) @ V^H, and its
    real part for a real A (C. Boeddeker and others, On the computation of complex-valued gradients, 2017). The quotient
    counts as 0 where l_i = l_j. The derivative is right for functions that do not depend on the phases of the eigenvectors,
    nor on their choice where eigenvalues are equal.
    """
    return return_types.linalg_eig(F._eig(A))


@composite(**_LINALG)
def linalg_eigvals(F, A):
    """Eigenvalues of a square matrix, complex, in no particular order: (..., n). A: as in `linalg.eig`.

    Derivative: V^-H @ diag(ct) @ V^H."""
    return F._eig(A)[0]


# -- the exponential ---------------------------------------------------------------------------------------------------


@general(node="LinalgMatrixExpBackward0", method=False, namespaces=("linalg",))
def linalg_matrix_exp(xp, A):
    """Exponential of a matrix, the sum of A^k / k! over k >= 0. A: (..., n, n), floating or complex.

    Derivative: the upper right block of the exponential of [[A^H, ct], [0, A^H]] (R. Mathias, A chain rule for matrix
    functions and applications, 1996)."""
    wide = A.astype(xp.float32) if A.dtype.itemsize == 2 and A.dtype.kind not in "iu" else A
    check_square("linalg.matrix_exp", wide)
    from scipy.linalg import expm

    return expm(wide).astype(A.dtype, copy=False) if A.size else A.copy()


@linalg_matrix_exp.vjp("A")
def _(F, ct, A):
    n = A.shape[-1]
    A = adjoint(F, A)
    upper = F.cat([A, ct], dim=-1)
    lower = F.cat([F._zeros(A), A], dim=-1)
    exponential = F.linalg_matrix_exp(F.cat([upper, lower], dim=-2))
    return F.narrow(F.narrow(exponential, -2, 0, n), -1, n, n)
