"""The types of wengert.linalg.

Written by `make generate`: change the sources, not this file.
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

def vector_norm(x: Tensor, ord: _Number | _str | None = 2, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *, dtype: _Dtype | None = None, out: Any = None) -> Tensor:
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
def matrix_norm(A: Tensor, ord: _Number | _str | None = 'fro', dim: _int = ..., keepdim: _bool = False, *, dtype: _Dtype | None = None, out: Any = None) -> Tensor:
    """Norm of a matrix, or of each matrix of a batch."""
def norm(A: Tensor, ord: _Number | _str | None = None, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *, dtype: _Dtype | None = None, out: Any = None) -> Tensor:
    """Norm of vectors or matrices."""
def eigh(A: Tensor, UPLO: _str = 'L', *, out: Any = None) -> return_types.linalg_eigh:
    """Eigenvalues L and eigenvectors V of a Hermitian matrix A = V @ diag(L) @ V^H, as a named tuple."""
def eigvalsh(A: Tensor, UPLO: _str = 'L', *, out: Any = None) -> Tensor:
    """Eigenvalues of a Hermitian matrix, real and ascending: (..., n). A and UPLO as in `linalg.eigh`."""
def eig(A: Tensor, *, out: Any = None) -> return_types.linalg_eig:
    """Eigenvalues L and eigenvectors V of length 1 of a square matrix: A @ V = V @ diag(L)."""
def eigvals(A: Tensor, *, out: Any = None) -> Tensor:
    """Eigenvalues of a square matrix, complex, in no particular order: (..., n). A: as in `linalg.eig`."""
def svd(A: Tensor, full_matrices: _bool = True, *, driver: Any = None, out: Any = None) -> return_types.linalg_svd:
    """Singular value decomposition A = U @ diag(S) @ Vh, as a named tuple (U, S, Vh)."""
def svdvals(A: Tensor, *, driver: Any = None, out: Any = None) -> Tensor:
    """Singular values of a matrix, or of each matrix of a batch, descending: (..., min(m, n))."""
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
    """Moore-Penrose pseudoinverse P of a matrix, or of each matrix of a batch. A: (..., m, n); returns (..., n, m)."""
def matrix_rank(A: Tensor, tol: Any = None, hermitian: _bool = False, *, atol: Any = None, rtol: Any = None, out: Any = None) -> Tensor:
    """Rank of a matrix: the number, as int64, of singular values above max(atol, rtol * largest). A: (..., m, n)."""
def lstsq(A: Tensor, B: Any, rcond: Any = None, *, driver: Any = None, out: Any = None) -> return_types.linalg_lstsq:
    """Least squares: the X that minimises |A @ X - B|, and |X| among these."""
def cond(A: Tensor, p: _float | None = None, *, out: Any = None) -> Tensor:
    """Condition number |A| * |A^-1| in the norm p. Infinite for a singular A, or huge if rounding makes A regular."""
def inv_ex(A: Tensor, *, check_errors: _bool = False, out: Any = None) -> return_types.linalg_inv_ex:
    """`linalg.inv` that raises for a singular matrix only if check_errors: a named tuple (inverse, info)."""
def solve_ex(A: Tensor, B: Any, *, left: _bool = True, check_errors: _bool = False, out: Any = None) -> return_types.linalg_solve_ex:
    """`linalg.solve` that raises for a singular matrix only if check_errors: a named tuple (result, info)."""
def cholesky_ex(A: Tensor, *, upper: _bool = False, check_errors: _bool = False, out: Any = None) -> return_types.linalg_cholesky_ex:
    """`linalg.cholesky` that raises only if check_errors: a named tuple (L, info)."""
def tensorinv(A: Tensor, ind: _int = 2, *, out: Any = None) -> Tensor:
    """Inverse of A as a linear map from its last dimensions to its first `ind` dimensions."""
def tensorsolve(A: Tensor, B: Any, dims: _int | Sequence[_int] | None = None, *, out: Any = None) -> Tensor:
    """X with tensordot(A, X, X.ndim) = B."""
def vander(x: Tensor, *, N: Any = None, out: Any = None) -> Tensor:
    """Vandermonde matrix: the powers 0, 1, ..., N - 1 of each element. x: (..., n); returns (..., n, N)."""
def cross(input: Tensor, other: _Operand, *, dim: _int = -1, out: Any = None) -> Tensor:
    """Cross product of vectors of three elements along dim. input, other: equally many dimensions, with broadcasting."""
def diagonal(A: Tensor, *, offset: _int = 0, dim1: _int = -2, dim2: _int = -1, out: Any = None) -> Tensor:
    """View of the diagonals of the matrices in dim1 and dim2, the last two dimensions unless given: (..., k)."""
def matmul(input: Tensor, other: _Operand, *, out: Any = None) -> Tensor:
    """Matrix product: `matmul`. Derivative: as in `matmul`."""
def ldl_factor_ex(A: Tensor, *, hermitian: _bool = False, check_errors: _bool = False, out: Any = None) -> return_types.linalg_ldl_factor_ex:
    """LDL decomposition of symmetric matrices, or of Hermitian ones if hermitian, as a named tuple (LD, pivots, info)."""
def ldl_factor(A: Tensor, *, hermitian: _bool = False, out: Any = None) -> return_types.linalg_ldl_factor:
    """`linalg.ldl_factor_ex` without info: a named tuple (LD, pivots). Raises RuntimeError if D is singular."""
def ldl_solve(LD: Tensor, pivots: Any, B: Any, *, hermitian: _bool = False, out: Any = None) -> Tensor:
    """X with A @ X = B, given LD and pivots from `linalg.ldl_factor` of A. LD: (..., n, n), pivots: (..., n), B: (..., n, k)."""
