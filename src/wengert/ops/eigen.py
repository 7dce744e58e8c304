"""Eigenvalues and eigenvectors, and the exponential of a matrix.

See Note [Equal values] in factor.py. Derivatives are those of M. Giles, An extended collection of matrix derivative
results for forward and reverse mode algorithmic differentiation, 2008.
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
        raise errors.no_convergence("linalg.eigh") from None


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
    """Eigenvalues, rising and real, and eigenvectors of a Hermitian matrix, as a named tuple (eigenvalues,
    eigenvectors): A = V @ diag(L) @ V^H.

    A: (..., n, n), floating or complex; only the lower triangle is looked at, the upper one for UPLO="U". Raises
    RuntimeError for another UPLO and where LAPACK does not converge.

    Derivative: V (diag(ct L) + (V^H ct V) / (l_j - l_i)) V^H: of functions that do not depend on the signs (phases) of
    the vectors, nor on their choice where values are equal; the quotient is taken for 0 there.
    """
    return return_types.linalg_eigh(F._eigh(A, UPLO=UPLO))


@composite(**_LINALG)
def linalg_eigvalsh(F, A, UPLO="L"):
    """Eigenvalues of a Hermitian matrix, rising and real; A and UPLO as in `eigh`.

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
        raise errors.no_convergence("linalg.eig") from None


@_eig.vjp("A")
def _(F, ct, eigenvalues, eigenvectors):
    of_values, of_vectors = ct
    inner = None if of_values is None else F.diag_embed(of_values)
    to_left = adjoint(F, eigenvectors)
    if of_vectors is not None:
        # The vectors have length 1: what the cotangent has along them, in the real part of a product, does not count.
        turn = F.matmul(to_left, of_vectors)
        along = F.unsqueeze(F.real(F.diagonal(turn, dim1=-2, dim2=-1)), dim=-2)
        turn = turn - F.matmul(to_left, eigenvectors) * along
        gaps = F.unsqueeze(eigenvalues, dim=-2) - F.unsqueeze(eigenvalues, dim=-1)
        turn = turn * F.conj(F._masked_complex_reciprocal(gaps))
        inner = turn if inner is None else inner + turn
    return F.linalg_solve(to_left, F.matmul(inner, to_left))


@general(**_PRIVATE)
def _masked_complex_reciprocal(xp, x):
    """1 / x, and 0 where x is 0: as _masked_reciprocal, for complex numbers.

    Derivative: -out**2."""
    return xp.where(x == 0, x.dtype.type(0), xp.reciprocal(x))


@_masked_complex_reciprocal.vjp("x")
def _(F, ct, out):
    return -ct * F.conj(out * out)


@composite(**_LINALG)
def linalg_eig(F, A):
    """Eigenvalues and eigenvectors of length 1, as a named tuple (eigenvalues, eigenvectors), both complex:
    A @ V = V @ diag(L).

    A: (..., n, n), floating or complex, finite (RuntimeError else).

    Derivative: V^-H (diag(ct L) + (V^H ct V - V^H V diag(Re(V^H ct V))) / conj(l_j - l_i)) V^H: of functions that do
    not depend on the phases of the vectors, nor on their choice where values are equal; the quotient is taken for 0
    there. For a real A its real part (C. Boeddeker and others, On the computation of complex-valued gradients, 2017).
    """
    return return_types.linalg_eig(F._eig(A))


@composite(**_LINALG)
def linalg_eigvals(F, A):
    """Eigenvalues, as complex numbers, in no order. A: as in `eig`.

    Derivative: V^-H @ diag(ct) @ V^H."""
    return F._eig(A)[0]


# -- the exponential ---------------------------------------------------------------------------------------------------


@general(node="LinalgMatrixExpBackward0", method=False, namespaces=("linalg",))
def linalg_matrix_exp(xp, A):
    """The exponential of a matrix, the sum of A^k / k! over k. A: (..., n, n), floating or complex.

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
