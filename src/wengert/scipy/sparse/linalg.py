"""scipy.sparse.linalg with derivatives in the values of a sparse matrix and in the right sides. See _frame.py.

Every solve has the derivative of the exact solution: an iterative method solves with the adjoint matrix to its own tolerance.
"""

from __future__ import annotations

from collections.abc import Callable as _Callable
from typing import Any as _Any

import numpy as _np

from wengert import errors as _errors
from wengert.array_functions.table import detached as _detached, holds_tensor as _holds_tensor
from wengert.autograd import Function as _Function
from wengert.core.tensor import wrap as _wrap
from wengert.scipy._frame import Submodule as _Submodule, operands as _operands
from wengert.scipy._sparse_products import Factorization as _Factorization, Solver as _Solver, solve as _solve
from wengert.scipy.sparse import _eigenvalues, _functions
from wengert.scipy.sparse._functions import differ as _differ, system as _system
from wengert.scipy.sparse._matrices import is_sparse as _is_sparse, sparse_tensor as _sparse_tensor

_module = _Submodule("sparse.linalg", globals())
__getattr__, __dir__ = _module.lookups()
_scipy: _Any = _module.scipy


@_module.differentiates(always=True)
def _spsolve(A: _Any, b: _Any, permc_spec: _Any = None, use_umfpack: bool = True) -> _Any:
    """Solve A x = b with a sparse A. b: (n,) or (n, k), dense or sparse; with tensors the result is dense."""
    if not _differ(A, b):
        return _scipy.spsolve(A, b, permc_spec, use_umfpack)
    matrix, values, side = _system(A, _sparse_tensor(b).toarray() if _is_sparse(b) else b)
    found = _solve(matrix.pattern, values, side)
    return found[:, 0] if side.ndim == 2 and side.shape[1] == 1 else found


class SuperLU:
    """A factorization of a sparse matrix. solve(b, trans): as SciPy's, with derivatives in the values of the matrix and in b."""

    def __init__(self, A: _Any, make: _Any, options: dict[str, _Any]) -> None:
        self._matrix = _sparse_tensor(A)
        self._factors = make(self._matrix.detach().tocsc(), **options)

    def __getattr__(self, name: str) -> _Any:
        if name.startswith("_") or name in ("L", "U"):
            raise AttributeError(f"The factors of a matrix in a tensor have no derivative: there is no {name!r}. Hint: use solve.")
        return getattr(self._factors, name)

    def solve(self, rhs: _Any, trans: str = "N") -> _Any:
        """Solve with the matrix, its transpose ("T") or its adjoint ("H")."""
        matrix = {"N": self._matrix, "T": self._matrix.T, "H": self._matrix.conj().T}[trans]
        matrix, values, side = _system(matrix, rhs)

        is_real = not self._matrix.data.is_complex()
        return _solve(matrix.pattern, values, side, _Factorization(self._factors, is_real, trans))


def _factorizing(name: str) -> _Callable[..., _Any]:
    theirs = getattr(_scipy, name)

    def factor(A: _Any, *args: _Any, **options: _Any) -> _Any:
        if not _differ(A):
            return _Factors(theirs(A, *args, **options), A)
        return SuperLU(A, theirs, options)

    factor.__name__ = name
    return factor


class _Factors:
    """SciPy's factorization of a matrix without tensors, with solves that take tensors."""

    def __init__(self, factors: _Any, A: _Any) -> None:
        self._factors, self._matrix = factors, A

    def __getattr__(self, name: str) -> _Any:
        return getattr(self._factors, name)

    def solve(self, rhs: _Any, trans: str = "N") -> _Any:
        """Solve with the matrix, its transpose ("T") or its adjoint ("H")."""
        if not _differ(rhs):
            return self._factors.solve(rhs, trans)
        return SuperLU(self._matrix, lambda _: self._factors, {}).solve(rhs, trans)


_module.differentiates("splu", always=True)(_factorizing("splu"))


@_module.differentiates(always=True)
def _spilu(A: _Any, *args: _Any, **options: _Any) -> _Any:
    """Incomplete factorization of a matrix without a derivative. Its solves differentiate in the right side."""
    if _differ(A):
        raise _errors.no_array_of("a sparse matrix of a Tensor", "scipy.sparse.linalg.spilu", "Use splu, or detach the matrix.")
    return _Factors(_scipy.spilu(A, *args, **options), A)


@_module.differentiates(always=True)
def _factorized(A: _Any) -> _Any:
    """Return a function that solves A x = b for b."""
    if not _differ(A):
        plain = _scipy.factorized(A)
        return lambda b: _Factors(_scipy.splu(A.tocsc()), A).solve(b) if _differ(b) else plain(b)
    return SuperLU(A, _scipy.splu, {}).solve


# -- iterative methods -------------------------------------------------------------------------------------------------------


class _Map(_Function):
    """A linear operator of SciPy, or its solve, applied to a tensor. forward_map and adjoint: functions of arrays."""

    @staticmethod
    def forward(ctx: _Any, forward_map: _Any, adjoint: _Any, x: _Any) -> _Any:
        ctx.maps = forward_map, adjoint
        return _wrap(_np.asarray(forward_map(x._array)))

    @staticmethod
    def backward(ctx: _Any, ct: _Any) -> _Any:
        return None, None, _Map.apply(*ctx.maps[::-1], ct)

    @staticmethod
    def jvp(ctx: _Any, _: _Any, __: _Any, x_t: _Any) -> _Any:
        return _Map.apply(*ctx.maps, x_t)


class _Iterations(_Solver):
    """Solves by one of SciPy's iterative methods. The solves of derivatives must converge, and begin at 0."""

    def __init__(self, method: _Any, options: dict[str, _Any], x0: _Any, adjoint: _Iterations | None = None) -> None:
        self.method, self.options, self.x0 = method, options, x0
        self.status: int | None = None
        if adjoint is None:
            others = {name: x for name, x in options.items() if name not in ("callback", "callback_type", "M")}
            if options.get("M") is not None:
                others["M"] = _scipy.aslinearoperator(options["M"]).H
            adjoint = _Iterations(method, others, None, self)
        self.adjoint = adjoint

    def __call__(self, matrix: _Any, b: _Any) -> _Any:
        matrix = matrix.tocsr() if _is_sparse(matrix) else matrix
        is_first = self.status is None and self.adjoint.status is None  # type: ignore[attr-defined]
        found, status = self.method(matrix, b, self.x0 if is_first else None, **self.options)
        if status and not is_first:
            raise RuntimeError(f"scipy.sparse.linalg.{self.method.__name__} did not converge for a derivative.")
        self.status = status
        return found


def _iterative(name: str) -> _Callable[..., _Any]:
    theirs = getattr(_scipy, name)

    def solve(A: _Any, b: _Any, x0: _Any = None, **options: _Any) -> _Any:
        if not _differ(A, b):
            return theirs(A, b, x0, **options)
        run = _Iterations(theirs, options, _detached(x0))
        if not _is_sparse(A):
            operator = _scipy.aslinearoperator(A)
            found = _Map.apply(lambda y: run(operator, y), lambda y: run.adjoint(operator.H, y), _operands(b)[0])
        else:
            matrix, values, side = _system(A, b)
            found = _solve(matrix.pattern, values, side, run)
        return found, run.status

    solve.__name__ = name
    return solve


for _name in ("bicg", "bicgstab", "cg", "cgs", "gmres", "lgmres", "minres", "qmr", "tfqmr", "gcrotmk"):
    _module.differentiates(_name, always=True)(_iterative(_name))


@_module.replaces
class LinearOperator(_scipy.LinearOperator):
    """SciPy's LinearOperator, with products with tensors: they differentiate in the tensor by rmatvec."""

    def __new__(cls, *args: _Any, **kwargs: _Any) -> _Any:
        return object.__new__(cls)

    def __init__(self, *args: _Any, **kwargs: _Any) -> None:
        if type(self) is not LinearOperator:
            super().__init__(*args, **kwargs)
            return
        self._functions = _scipy.LinearOperator(*args, **kwargs)
        super().__init__(self._functions.dtype, self._functions.shape)

    def _matvec(self, x: _Any) -> _Any:
        return self._functions.matvec(x)

    def _rmatvec(self, x: _Any) -> _Any:
        return self._functions.rmatvec(x)

    def _matmat(self, X: _Any) -> _Any:
        return self._functions.matmat(X)

    def _rmatmat(self, X: _Any) -> _Any:
        return self._functions.rmatmat(X)

    def __matmul__(self, other: _Any) -> _Any:
        """Return the product with a vector, a matrix or an operator. Of a tensor it is a tensor."""
        return self._applied(other) if _holds_tensor((other,)) else super().__matmul__(other)

    __mul__ = dot = __matmul__

    def matvec(self, x: _Any) -> _Any:
        """Return the product with a vector."""
        return self._applied(x) if _holds_tensor((x,)) else super().matvec(x)

    def matmat(self, X: _Any) -> _Any:
        """Return the product with a matrix."""
        return self._applied(X) if _holds_tensor((X,)) else super().matmat(X)

    def _applied(self, x: _Any) -> _Any:
        theirs = _scipy.LinearOperator
        return _Map.apply(lambda y: theirs.dot(self, y), lambda y: theirs.dot(theirs.adjoint(self), y), _operands(x)[0])


@_module.differentiates(always=True)
def _aslinearoperator(A: _Any) -> _Any:
    """Return a matrix or operator without tensors as a LinearOperator, whose products with tensors differentiate."""
    if _differ(A):
        raise _errors.no_array_of("Tensor that requires grad", "scipy.sparse.linalg.aslinearoperator", "Use A @ x.")
    found = _scipy.aslinearoperator(A)
    return LinearOperator(found.shape, found.matvec, found.rmatvec, found.matmat, found.dtype, found.rmatmat)


# -- functions of matrices -----------------------------------------------------------------------------------------------------


@_module.differentiates(always=True)
def _expm_multiply(A: _Any, B: _Any, **options: _Any) -> _Any:
    """Return the matrix exponential of A times B: (n,) or (n, k). With tensors, without start, stop and num.

    The exponential is a product of s Taylor series of A / s, as many terms as float64 needs: sums of products, which differentiate.
    """
    if not _differ(A, B):
        return _scipy.expm_multiply(A, B, **options)
    if any(options.get(name) is not None for name in ("start", "stop", "num")):
        raise NotImplementedError("expm_multiply with start= has no derivative. Hint: call it for each time, with A * time.")
    matrix = _sparse_tensor(A)
    norm = float(abs(matrix.detach()).sum(0).max()) if matrix.nnz else 0.0
    steps = max(1, int(_np.ceil(norm)))
    matrix, (found,) = matrix.multiply(1.0 / steps), _operands(B)
    for _ in range(steps):
        term = found
        for k in range(1, 25):  # a norm of at most 1: 1 / 25! is below float64's precision
            term = (matrix @ term) / k
            found = found + term
    return found


for _function in (*_eigenvalues.FUNCTIONS, *_functions.FUNCTIONS):
    _module.differentiates(always=True)(_function)
for _function in _functions.SHAPES:
    globals()[_function.__name__] = _function
_module.constant("The result describes the places of elements.", *[_function.__name__ for _function in _functions.SHAPES])
_module.refuse("Use expm_multiply.", "funm_multiply_krylov")
