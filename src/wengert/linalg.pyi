"""The types of wengert.linalg.

Written by `python -m wengert.ops.stub`: change the sources, not this file.
"""

# ruff: noqa

from builtins import bool as _bool, complex as _complex, float as _float, int as _int, str as _str, type as _type
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, TypeAlias, overload

import numpy as np

from wengert import return_types as return_types
from wengert.devices import device as _device
from wengert.dtypes import dtype as _dtype
from wengert.generator import Generator as Generator
from wengert.sizes import Size as Size
from wengert.tensor import Tensor as Tensor

_Number: TypeAlias = _bool | _int | _float | _complex
_Operand: TypeAlias = Tensor | np.ndarray[Any, Any] | np.generic | _Number
_Dtype: TypeAlias = _dtype | np.dtype[Any] | _type[Any] | str

def vector_norm(x: Tensor, ord: _int = 2, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *, dtype: _Dtype | None = None, out: Any = None) -> Tensor:
    """Vector norm of the elements of x over dim: (sum of |x|**ord)**(1 / ord). See `norm`, where ord is p."""
def inv(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Inverse of a matrix, or of each matrix of a batch. A: (..., n, n), floating or complex."""
def solve(A: Tensor, B: Any, *, left: _bool = True, out: Any = None) -> Tensor:
    """X with A @ X = B, or X @ A = B if not left."""
def det(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Determinant of a matrix, or of each matrix of a batch. A: (..., n, n), floating or complex; returns (...)."""
def slogdet(A: Tensor, *, out: Any = None) -> return_types.slogdet:
    """Sign and natural logarithm of the absolute value of the determinant, as a named tuple (sign, logabsdet)."""
def cholesky(A: Tensor, *, upper: _bool = False, out: Any = None) -> Tensor:
    """Cholesky factor: the lower triangular L with L @ L^H = A, or L^H if upper."""
def matrix_power(A: Tensor, n: _int, *, out: Any = None) -> Tensor:
    """A @ A @ ... @ A with n factors; the identity for n = 0, a power of the inverse for n < 0. A: (..., k, k)."""
def multi_dot(tensors: Sequence[Tensor], *, out: Any = None) -> Tensor:
    """Product of two or more matrices, multiplied in the order with the fewest operations."""
def vecdot(x: Tensor, y: Any, *, dim: _int = -1, out: Any = None) -> Tensor:
    """Sum of conj(x) * y over one dimension. x, y: floating or complex, shapes that broadcast."""
def svd(A: Tensor, full_matrices: _bool = True, *, driver: Any = None, out: Any = None) -> return_types.linalg_svd:
    """Singular value decomposition A = U @ diag(S) @ Vh, as a named tuple (U, S, Vh)."""
def svdvals(A: Tensor, *, driver: Any = None, out: Any = None) -> Tensor:
    """Singular values of a matrix, or of each matrix of a batch, descending: (..., min(m, n))."""
def matrix_norm(A: Tensor, ord: _str = 'fro', dim: _int = ..., keepdim: _bool = False, *, dtype: _Dtype | None = None, out: Any = None) -> Tensor:
    """Norm of a matrix, or of each matrix of a batch."""
def norm(A: Tensor, ord: Any = None, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *, dtype: _Dtype | None = None, out: Any = None) -> Tensor:
    """Norm of vectors or matrices."""
def eigh(A: Tensor, UPLO: _str = 'L', *, out: Any = None) -> return_types.linalg_eigh:
    """Eigenvalues L and eigenvectors V of a Hermitian matrix A = V @ diag(L) @ V^H, as a named tuple."""
def eigvalsh(A: Tensor, UPLO: _str = 'L', *, out: Any = None) -> Tensor:
    """Eigenvalues of a Hermitian matrix, real and ascending: (..., n). A and UPLO as in `linalg.eigh`."""
def eig(A: Tensor, *, out: Any = None) -> return_types.linalg_eig:
    """Eigenvalues L and eigenvectors V of length 1 of a square matrix: A @ V = V @ diag(L)."""
def eigvals(A: Tensor, *, out: Any = None) -> Tensor:
    """Eigenvalues of a square matrix, complex, in no particular order: (..., n). A: as in `linalg.eig`."""
def matrix_exp(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Exponential of a matrix, the sum of A^k / k! over k >= 0. A: (..., n, n), floating or complex."""
def solve_triangular(A: Tensor, B: Any, *, upper: Any, left: _bool = True, unitriangular: _bool = False, out: Any = None) -> Tensor:
    """X with A @ X = B, or X @ A = B if not left, for a triangular A."""
def qr(A: Tensor, mode: _str = 'reduced', *, out: Any = None) -> return_types.linalg_qr:
    """A = Q @ R with orthonormal columns in Q and an upper triangular R, as a named tuple (Q, R)."""
def lu(A: Tensor, *, pivot: _bool = True, out: Any = None) -> return_types.linalg_lu:
    """LU decomposition A = P @ L @ U with row exchanges, as a named tuple (P, L, U)."""
def lu_factor(A: Tensor, *, pivot: _bool = True, out: Any = None) -> return_types.linalg_lu_factor:
    """Factors of `linalg.lu` packed into one matrix, and the pivots, as a named tuple (LU, pivots)."""
def lu_factor_ex(A: Tensor, *, pivot: _bool = True, check_errors: _bool = False, out: Any = None) -> return_types.linalg_lu_factor_ex:
    """`linalg.lu_factor` that raises only if check_errors: a named tuple (LU, pivots, info)."""
def lu_solve(LU: Tensor, pivots: Any, B: Any, *, left: _bool = True, adjoint: _bool = False, out: Any = None) -> Tensor:
    """X with A @ X = B, or X @ A = B if not left, given LU and pivots from `linalg.lu_factor` of A."""
def householder_product(A: Tensor, tau: Any, *, out: Any = None) -> Tensor:
    """First n columns of the product of the Householder reflections I - tau_i v_i v_i^H, as `geqrf` returns them."""
def pinv(A: Tensor, rcond: Any = None, hermitian: _bool = False, *, atol: Any = None, rtol: Any = None, out: Any = None) -> Tensor:
    """The Moore-Penrose pseudoinverse of a matrix or of each of a batch. A: (..., m, n); returns (..., n, m)."""
def matrix_rank(A: Tensor, tol: Any = None, hermitian: _bool = False, *, atol: Any = None, rtol: Any = None, out: Any = None) -> Tensor:
    """How many singular values are larger than atol and than rtol times the largest, as int64; the defaults are those of"""
def lstsq(A: Tensor, B: Any, rcond: Any = None, *, driver: Any = None, out: Any = None) -> return_types.linalg_lstsq:
    """The X of least |A @ X - B|, and of these the least |X|, as a named tuple (solution, residuals, rank,"""
def cond(A: Tensor, p: _float | None = None, *, out: Any = None) -> Tensor:
    """The condition number |A| |A^-1| in the norm p: None or 2 (largest over smallest singular value), -2, "fro", "nuc","""
def inv_ex(A: Tensor, *, check_errors: _bool = False, out: Any = None) -> return_types.linalg_inv_ex:
    """`inv` that does not raise for a singular matrix, unless check_errors: a named tuple (inverse, info). info: for each"""
def solve_ex(A: Tensor, B: Any, *, left: _bool = True, check_errors: _bool = False, out: Any = None) -> return_types.linalg_solve_ex:
    """`solve` that does not raise for a singular matrix, unless check_errors: a named tuple (result, info), as `inv_ex`."""
def cholesky_ex(A: Tensor, *, upper: _bool = False, check_errors: _bool = False, out: Any = None) -> return_types.linalg_cholesky_ex:
    """`cholesky` that does not raise, unless check_errors: a named tuple (L, info). info: for each matrix 0, or the order"""
def tensorinv(A: Tensor, ind: _int = 2, *, out: Any = None) -> Tensor:
    """The inverse of A as a linear map from its last dims to its first ind: tensordot(tensorinv(A), A, A.ndim - ind) is"""
def tensorsolve(A: Tensor, B: Any, dims: _int | Sequence[_int] | None = None, *, out: Any = None) -> Tensor:
    """X with tensordot(A, X, X.ndim) = B. A: B.shape + X.shape, once dims are moved to its end; of as many elements in"""
def vander(x: Tensor, *, N: Any = None, out: Any = None) -> Tensor:
    """The Vandermonde matrix: the powers 0, 1, ..., N - 1 of each element. x: (..., n); returns (..., n, N), N by default n."""
def cross(input: Tensor, other: _Operand, *, dim: _int = -1, out: Any = None) -> Tensor:
    """The cross product of vectors of three elements along dim. input, other: of as many dimensions, with broadcasting."""
def diagonal(A: Tensor, *, offset: _int = 0, dim1: _int = -2, dim2: _int = -1, out: Any = None) -> Tensor:
    """The diagonals of the matrices in two dims, by default the last: a view. Derivative: the cotangent there, 0"""
def matmul(input: Tensor, other: _Operand, *, out: Any = None) -> Tensor:
    """`matmul`: the product of matrices. Derivative: as of matmul."""
def ldl_factor_ex(A: Tensor, *, hermitian: _bool = False, check_errors: _bool = False, out: Any = None) -> return_types.linalg_ldl_factor_ex:
    """LDL factors of symmetric matrices, or Hermitian ones: L and D in one lower triangle, the pivots as LAPACK's sytrf"""
def ldl_factor(A: Tensor, *, hermitian: _bool = False, out: Any = None) -> return_types.linalg_ldl_factor:
    """linalg.ldl_factor_ex without info. Raises RuntimeError where D is singular."""
def ldl_solve(LD: Tensor, pivots: Any, B: Any, *, hermitian: _bool = False, out: Any = None) -> Tensor:
    """X with A @ X = B, from the LDL factors of A. LD: (..., n, n), pivots: (..., n), B: (..., n, k)."""
