"""Products and solves with a sparse matrix, as functions of its stored values and of the dense side.

SciPy computes the values. Each derivative is a product or a solve again, so all orders exist, backward and forward.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from wengert._forks import import_late
from wengert.array_functions.table import w
from wengert.autograd import Function
from wengert.core.tensor import wrap


class Pattern:
    """The places of the stored values of a sparse matrix: rows[i], cols[i] of value i. Values in one place add up."""

    def __init__(self, rows: Any, cols: Any, shape: tuple[int, int]) -> None:
        self.rows, self.cols, self.shape = np.asarray(rows), np.asarray(cols), shape

    @cached_property
    def transposed(self) -> Pattern:
        found = Pattern(self.cols, self.rows, self.shape[::-1])
        found.__dict__["transposed"] = self
        return found

    def matrix(self, data: Any) -> Any:
        """Return SciPy's matrix with these values, an array."""
        return import_late("scipy.sparse").coo_array((data, (self.rows, self.cols)), shape=self.shape)


class Solver:
    """Solves with a matrix, of arrays. adjoint: the solver for the adjoint matrix."""

    adjoint: Solver

    def __call__(self, matrix: Any, b: Any) -> Any:
        raise NotImplementedError


class Factorization(Solver):
    """Solves by a sparse LU factorization, which is made at the first solve and serves all derivatives.

    factors: SciPy's SuperLU of a matrix, or None. mode: "N", "T", "H" or "C", the matrix solved with is the one of the factors, its
    transpose, its adjoint or its conjugate.
    """

    adjoint: Factorization

    def __init__(self, factors: Any = None, is_real: bool = True, mode: str = "N", adjoint: Factorization | None = None) -> None:
        self.factors, self.is_real, self.mode = factors, is_real, mode
        self.adjoint = adjoint or Factorization(factors, is_real, {"N": "H", "H": "N", "T": "C", "C": "T"}[mode], self)

    def __call__(self, matrix: Any, b: Any) -> Any:
        if self.factors is None:
            dtype = np.result_type(matrix.dtype, b.dtype, np.float32)
            self.factors = self.adjoint.factors = import_late("scipy.sparse.linalg").splu(matrix.tocsc().astype(dtype))
            self.is_real = self.adjoint.is_real = dtype.kind == "f"
        if self.mode == "C":
            return self._solved(np.conj(b), "N").conj()
        return self._solved(b, self.mode)

    def _solved(self, b: Any, mode: str) -> Any:
        if self.is_real and np.iscomplexobj(b):
            return self._solved(b.real, mode) + 1j * self._solved(b.imag, mode)
        return self.factors.solve(np.ascontiguousarray(b), mode)


def _values_at(pattern: Pattern, left: Any, right: Any, like: Any) -> Any:
    """Return sum over k of left[rows, k] * conj(right)[cols, k]: the cotangent of the stored values."""
    found = left[pattern.rows] * w.conj(right)[pattern.cols]
    return _as(found if found.ndim == 1 else w.sum(found, 1), like)


def _as(ct: Any, like: Any) -> Any:
    """Return the cotangent of a real tensor as real."""
    return w.real(ct) if ct.is_complex() and not like.is_complex() else ct


class _Product(Function):
    @staticmethod
    def forward(ctx: Any, pattern: Pattern, data: Any, x: Any) -> Any:
        ctx.pattern = pattern
        ctx.save_for_backward(data, x)
        ctx.save_for_forward(data, x)
        return wrap(np.asarray(pattern.matrix(data._array).tocsr() @ x._array))

    @staticmethod
    def backward(ctx: Any, ct: Any) -> Any:
        data, x = ctx.saved_tensors
        of_data = _values_at(ctx.pattern, ct, x, data) if ctx.needs_input_grad[1] else None
        of_x = _as(_Product.apply(ctx.pattern.transposed, w.conj_physical(data), ct), x) if ctx.needs_input_grad[2] else None
        return None, of_data, of_x

    @staticmethod
    def jvp(ctx: Any, _: Any, data_t: Any, x_t: Any) -> Any:
        data, x = ctx.saved_tensors
        return _Product.apply(ctx.pattern, data_t, x) + _Product.apply(ctx.pattern, data, x_t)


class _Solve(Function):
    @staticmethod
    def forward(ctx: Any, pattern: Pattern, solver: Solver, data: Any, b: Any) -> Any:
        ctx.pattern, ctx.solver = pattern, solver
        found = wrap(np.asarray(solver(pattern.matrix(data._array), b._array)))
        ctx.save_for_backward(data, found)
        ctx.save_for_forward(data, found)
        ctx.is_real = not b.is_complex()
        return found

    @staticmethod
    def backward(ctx: Any, ct: Any) -> Any:
        data, x = ctx.saved_tensors
        of_b = _Solve.apply(ctx.pattern.transposed, ctx.solver.adjoint, w.conj_physical(data), ct)
        of_data = -_values_at(ctx.pattern, of_b, x, data) if ctx.needs_input_grad[2] else None
        return None, None, of_data, w.real(of_b) if ctx.is_real and of_b.is_complex() else of_b

    @staticmethod
    def jvp(ctx: Any, _: Any, __: Any, data_t: Any, b_t: Any) -> Any:
        data, x = ctx.saved_tensors
        return _Solve.apply(ctx.pattern, ctx.solver, data, b_t - _Product.apply(ctx.pattern, data_t, x))


def multiply(pattern: Pattern, data: Any, x: Any) -> Any:
    """Return the product of a sparse matrix (m, n) with x: (n,) or (n, k). data: (values,)."""
    return _Product.apply(pattern, data, x)


def solve(pattern: Pattern, data: Any, b: Any, solver: Solver | None = None) -> Any:
    """Return the solution x of A x = b. b: (n,) or (n, k). solver: by default a new factorization."""
    return _Solve.apply(pattern, solver or Factorization(), data, b)
