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

def vector_norm(x: Tensor, ord: _int = 2, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *, dtype: _Dtype | None = None, out: Tensor | None = None) -> Tensor:
    """Norm of the elements of x over dim: (sum of |x|**ord)**(1 / ord); see `norm`, which calls ord p."""
def inv(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Inverse of a matrix or of each of a batch. A: (..., n, n), floating or complex. Raises RuntimeError if singular."""
def solve(A: Tensor, B: Any, *, left: _bool = True) -> Tensor:
    """X with A @ X = B, or X @ A = B if not left."""
def det(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Determinant of a matrix or of each of a batch. A: (..., n, n), floating or complex; returns (...)."""
def slogdet(A: Tensor) -> return_types.slogdet:
    """Sign and natural logarithm of the absolute value of the determinant, as a named tuple (sign, logabsdet)."""
def cholesky(A: Tensor, *, upper: _bool = False) -> Tensor:
    """L, lower triangular, with L @ L^H = A; its adjoint if upper. A: (..., n, n), Hermitian, positive definite."""
def matrix_power(A: Tensor, n: _int) -> Tensor:
    """A @ A @ ... @ A, n times; the identity for n = 0, a power of the inverse for n < 0. A: (..., k, k)."""
def multi_dot(tensors: Sequence[Tensor]) -> Tensor:
    """Product of two or more matrices, in the order that takes least work; the first and last may be vectors."""
def vecdot(x: Tensor, y: Any, *, dim: _int = -1) -> Tensor:
    """Sum of conj(x) * y over one dimension. x, y: shapes that broadcast."""
def svd(A: Tensor, full_matrices: _bool = True, *, driver: Any = None) -> return_types.linalg_svd:
    """Singular value decomposition: a named tuple (U, S, Vh) with A = U @ diag(S) @ Vh, S falling, U and Vh unitary."""
def svdvals(A: Tensor, *, driver: Any = None) -> Tensor:
    """Singular values of a matrix or of each of a batch, falling. A: (..., n, m), floating or complex."""
def matrix_norm(A: Tensor, ord: _str = 'fro', dim: _int = ..., keepdim: _bool = False, *, dtype: _Dtype | None = None) -> Tensor:
    """Norm of a matrix or of each of a batch."""
def norm(A: Tensor, ord: Any = None, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *, dtype: _Dtype | None = None) -> Tensor:
    """Norm of a vector or of a matrix. ord None: the root of the sum of squares, over dim or all."""
