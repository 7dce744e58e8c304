"""Factorisations: by hand, by what the factors multiply to, and their derivatives in functions that do not depend on
the signs and phases that the factors leave free."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.linalg import expm_frechet

import wengert
from wengert import linalg
from wengert.autograd import gradcheck, gradgradcheck
from wengert.errors import WengertError


def matrix(*shape, seed=0, dtype="float64", shift=0.0):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=shape) + (1j * rng.normal(size=shape) if dtype == "complex128" else 0)
    return wengert.tensor(values + shift * np.eye(*shape[-2:]), requires_grad=True)


def hermitian(A):
    return (A + A.mH) / 2


REAL_AND_COMPLEX = pytest.mark.parametrize("dtype", ["float64", "complex128"])


@REAL_AND_COMPLEX
@pytest.mark.parametrize("shape", [(3, 3), (2, 2, 2)])
@pytest.mark.parametrize("UPLO", ["L", "U"])
def test_eigh_derivatives(dtype, shape, UPLO):
    def function(A):
        values, vectors = linalg.eigh(hermitian(A), UPLO)
        return values, vectors.abs()

    A = matrix(*shape, dtype=dtype)
    assert gradcheck(function, (A,)) and gradgradcheck(function, (A,))


@REAL_AND_COMPLEX
@pytest.mark.parametrize("shape", [(3, 3), (2, 2, 2)])
def test_eig_derivatives(dtype, shape):
    def function(A):
        values, vectors = linalg.eig(A)
        return values.abs(), values.real, vectors.abs()

    A = matrix(*shape, dtype=dtype)
    assert gradcheck(function, (A,)) and gradgradcheck(function, (A,))


@REAL_AND_COMPLEX
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (2, 3, 2)])
def test_svd_derivatives(dtype, shape):
    def function(A):
        U, S, Vh = linalg.svd(A, full_matrices=False)
        return U.abs(), S, Vh.abs(), U * S.unsqueeze(-2) @ Vh

    A = matrix(*shape, dtype=dtype)
    assert gradcheck(function, (A,)) and gradgradcheck(function, (A,))


@REAL_AND_COMPLEX
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4)])
def test_factors_multiply_to_the_matrix(dtype, shape):
    A = matrix(*shape, dtype=dtype).detach()
    for mode in ("reduced", "complete"):
        Q, R = linalg.qr(A, mode)
        np.testing.assert_allclose(Q @ R, A, atol=1e-13)
        np.testing.assert_allclose(Q.mH @ Q, np.eye(Q.shape[-1]), atol=1e-13)
    P, L, U = linalg.lu(A)
    np.testing.assert_allclose(P @ L @ U, A, atol=1e-13)
    P, L, U = wengert.lu_unpack(*linalg.lu_factor(A))
    np.testing.assert_allclose(P @ L @ U, A, atol=1e-13)
    if shape[0] >= shape[1]:
        a, tau = wengert.geqrf(A)
        Q, R = linalg.qr(A)
        np.testing.assert_allclose(linalg.householder_product(a, tau), Q, atol=1e-13)
        np.testing.assert_allclose(a.triu()[: shape[1]], R, atol=1e-13)
        np.testing.assert_allclose(wengert.ormqr(a, tau, A, transpose=True)[: shape[1]], R, atol=1e-13)


def test_the_derivative_of_the_sum_of_eigenvalues_is_the_identity_also_where_they_are_equal():
    A = wengert.eye(3, dtype=wengert.float64, requires_grad=True)
    values, vectors = linalg.eigh(A)
    (values.sum() + (vectors @ vectors.mT).trace()).backward()
    np.testing.assert_allclose(A.grad, np.eye(3), atol=1e-14)


def test_the_derivative_of_a_singular_value_is_the_product_of_its_vectors():
    A = wengert.tensor([[3.0, 0.0], [0.0, 1.0], [0.0, 0.0]], requires_grad=True)
    linalg.svdvals(A)[0].backward()
    assert A.grad.tolist() == [[1, 0], [0, 0], [0, 0]]


def test_the_derivative_of_the_exponential_is_frechets():
    A, E = matrix(3, 3).detach().numpy(), matrix(3, 3, seed=1).detach().numpy()
    x = wengert.tensor(A, requires_grad=True)
    linalg.matrix_exp(x).backward(wengert.tensor(E))
    np.testing.assert_allclose(x.grad, expm_frechet(A.T, E, compute_expm=False), rtol=1e-12)
    assert linalg.matrix_exp(wengert.zeros(2, 2)).tolist() == [[1, 0], [0, 1]]


def test_a_pseudoinverse_of_low_rank():
    A = wengert.tensor([[1.0, 2.0], [2.0, 4.0]], dtype=wengert.float64)
    np.testing.assert_allclose(linalg.pinv(A), A.mT.numpy() / 25, atol=1e-15)
    assert linalg.matrix_rank(A).item() == 1 and linalg.matrix_rank(A, 100.0).item() == 0
    assert linalg.pinv(wengert.diag(wengert.tensor([2.0, 0.1])), atol=0.2).tolist() == [[0.5, 0], [0, 0]]

    def function(left, right):  # stays of rank 1
        return linalg.pinv(left @ right, rtol=1e-8)

    factors = (matrix(3, 1), matrix(1, 2, seed=1))
    assert gradcheck(function, factors) and gradgradcheck(function, factors)


def test_least_squares_of_a_line():
    A = wengert.tensor([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]], dtype=wengert.float64)
    B = wengert.tensor([0.0, 1.0, 5.0], dtype=wengert.float64)
    solution, residuals, rank, values = linalg.lstsq(A, B, driver="gelsd")
    np.testing.assert_allclose(solution, [-0.5, 2.5], atol=1e-14)
    assert residuals.tolist() == pytest.approx([1.5]) and rank.item() == 2 and values.shape == (2,)
    assert not values.requires_grad
    assert [x.numel() for x in linalg.lstsq(A, B)] == [2, 0, 1, 0]


def test_singular_matrices_are_reported():
    A = wengert.stack([wengert.eye(2), wengert.zeros(2, 2)])
    inverse, info = linalg.inv_ex(A)
    assert info.tolist() == [0, 1] and info.dtype is wengert.int32
    assert inverse[0].tolist() == [[1, 0], [0, 1]] and inverse[1].isnan().all()
    assert linalg.solve_ex(A, wengert.ones(2, 2)).info.tolist() == [0, 1]
    assert linalg.cholesky_ex(wengert.stack([wengert.eye(2), wengert.diag(wengert.tensor([1.0, -1.0]))])).info.tolist() == [0, 2]
    assert linalg.lu_factor_ex(A).info.tolist() == [0, 1]
    assert linalg.cond(wengert.zeros(2, 2), 1).item() == math.inf


def test_in_mode_r_there_is_a_derivative_too():
    A = matrix(3, 2)
    assert gradcheck(lambda A: linalg.qr(A, "r")[1], (A,))


def test_a_triangular_solver_looks_at_its_triangle_only():
    A = wengert.tensor([[2.0, 1.0], [math.nan, 4.0]], requires_grad=True)
    X = linalg.solve_triangular(A, wengert.tensor([[4.0], [8.0]]), upper=True)
    assert X.tolist() == [[1], [2]]
    X.sum().backward()
    assert A.grad.tolist() == [[-0.5, -1], [0, -0.25]]
    ones = linalg.solve_triangular(A.detach(), wengert.tensor([[4.0], [8.0]]), upper=True, unitriangular=True)
    assert ones.tolist() == [[-4], [8]]


A = wengert.ones(4, 3)
S = wengert.ones(3, 3)


@pytest.mark.parametrize(("call", "text"), [
    (lambda: linalg.eigh(S, "X"), "Expected UPLO argument to be 'L' or 'U', but got X"),
    (lambda: linalg.eigh(A), "linalg.eigh: A must be batches of square matrices, but they are 4 by 3 matrices"),
    (lambda: linalg.eigh(S * math.nan), "linalg.eigh: The algorithm failed to converge"),
    (lambda: linalg.eig(S * math.nan), "torch.linalg.eig: input tensor should not contain infs or NaNs."),
    (lambda: linalg.qr(A, "x"), "qr received unrecognized mode 'x' but expected one of 'reduced' (default), 'r', or 'complete'"),
    (lambda: linalg.qr(A[0]), "linalg.qr: The input tensor A must have at least 2 dimensions."),
    (lambda: linalg.qr(matrix(3, 2), "complete")[0].sum().backward(),
     "The QR decomposition is not differentiable when mode='complete' and nrows > ncols."),
    (lambda: linalg.lu(A, pivot=False), "linalg.lu_factor: LU without pivoting is not implemented on the CPU"),
    (lambda: linalg.lu_factor(wengert.zeros(2, 2)), "torch.linalg.lu_factor: U[1,1] is zero and using it on lu_solve"),
    (lambda: linalg.solve_triangular(S, A, upper=True),
     "linalg.solve_triangular: Incompatible shapes of A and B for the equation AX = B (3x3 and 4x3)"),
    (lambda: linalg.solve_triangular(S, S[0], upper=True), "linalg.solve_triangular: The input tensor B must have at least 2"),
    (lambda: linalg.lstsq(A, A, driver="x"), "torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd"),
    (lambda: linalg.lstsq(A, S), "torch.linalg.lstsq: input.size(-2) should match other.size(-2)"),
    (lambda: linalg.lstsq(A[0], S), "torch.linalg.lstsq: input must have at least 2 dimensions."),
    (lambda: linalg.cond(S, 3), "linalg.cond got an invalid norm type: 3"),
    (lambda: linalg.cond(A, 1), "linalg.cond(ord=1): A must be batches of square matrices, but they are 4 by 3 matrices"),
    (lambda: linalg.cond(A[0]), "linalg.cond: The input tensor must have at least 2 dimensions."),
    (lambda: linalg.householder_product(A.mT, A[0]),
     "torch.linalg.householder_product: input.shape[-2] must be greater than or equal to input.shape[-1]"),
    (lambda: linalg.inv_ex(wengert.zeros(2, 2), check_errors=True), "The diagonal element 1 is zero, the inversion could not"),
    (lambda: linalg.lu_factor_ex(wengert.zeros(2, 2), check_errors=True), "U[1,1] is zero"),
    (lambda: linalg.tensorinv(A, 0), "Expected a strictly positive integer for 'ind', but got 0"),
    (lambda: linalg.tensorinv(A, 1),
     "Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got 3 != 4"),
    (lambda: linalg.tensorsolve(A, A[:, 0]), "prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), but got 3 != 4"),
    (lambda: linalg.vander(wengert.tensor(1.0)), "N must be greater than 1."),
    (lambda: wengert.vander(A), "x must be a one-dimensional tensor."),
    (lambda: linalg.cross(A, A, dim=0), "linalg.cross: inputs dimension 0 must have length 3. Got 4 and 4"),
    (lambda: linalg.cross(A, A[0]), "linalg.cross: inputs must have the same number of dimensions."),
    (lambda: wengert.cross(A[:, :2], A[:, :2]), "no dimension of size 3 in input"),
    (lambda: linalg.matrix_exp(wengert.ones(2, 2, dtype=wengert.int64)),
     "linalg.matrix_exp: Expected a floating point or complex tensor as input. Got Long"),
    (lambda: wengert.geqrf(matrix(3, 2))[0].sum().backward(), "the derivative for 'geqrf: self' is not implemented."),
])  # fmt: skip
def test_wrong_calls_are_refused_with_a_message(call, text):
    with pytest.raises(RuntimeError) as error:
        call()
    assert text in str(error.value)
    assert isinstance(error.value, WengertError)
