"""Factors of low rank, eigenvalues by lobpcg, LDL factors, segments: properties and messages."""

from __future__ import annotations

import pytest

import wengert
from wengert import linalg


def matrix(m, n, rank=3, dtype=wengert.float64):
    wengert.manual_seed(1)
    return wengert.randn(m, rank, dtype=dtype) @ wengert.randn(rank, n, dtype=dtype)


@pytest.mark.parametrize("shape", [(7, 5), (5, 7), (5, 5)])
@pytest.mark.parametrize("dtype", [wengert.float64, wengert.complex128])
def test_svd_lowrank_gives_back_a_matrix_of_that_rank(shape, dtype):
    A = matrix(*shape, dtype=dtype)
    U, S, V = wengert.svd_lowrank(A, 3)
    assert U.shape == (shape[0], 3) and S.shape == (3,) and V.shape == (shape[1], 3)
    assert ((U * S) @ V.mH).allclose(A) and (U.mH @ U).allclose(wengert.eye(3, dtype=dtype))
    assert S.allclose(linalg.svdvals(A)[:3])
    assert [x.shape[-1] for x in wengert.svd_lowrank(A, 3, M=A)] == [3, 3, 3]


def test_gradient_of_the_singular_values_agrees_with_svdvals():
    A = matrix(6, 4).requires_grad_()
    (by_steps,) = wengert.autograd.grad(wengert.svd_lowrank(A, 3)[1].sum(), A)
    (exact,) = wengert.autograd.grad(linalg.svdvals(A)[:3].sum(), A)
    assert by_steps.allclose(exact)


def test_pca_lowrank_takes_the_mean_away():
    A = matrix(8, 3) + 5
    U, S, V = wengert.pca_lowrank(A, q=3)
    assert ((U * S) @ V.mT).allclose(A - A.mean(0, keepdim=True))
    assert ((lambda u, s, v: (u * s) @ v.mT)(*wengert.pca_lowrank(A, q=3, center=False))).allclose(A)


def test_lobpcg_gives_the_outer_eigenvalues():
    A = matrix(5, 5, 5)
    A = A @ A.mT
    values, vectors = wengert.lobpcg(A, 2)
    assert values.allclose(linalg.eigvalsh(A).flip(0)[:2]) and (A @ vectors).allclose(vectors * values)
    values, _ = wengert.lobpcg(A, 2, largest=False)
    assert values.allclose(linalg.eigvalsh(A)[:2])
    B = wengert.eye(5, dtype=wengert.float64) * 2 + 0.1
    values, vectors = wengert.lobpcg(A, 1, B)
    assert (A @ vectors).allclose(B @ vectors * values)


def test_ldl_factors_solve_equations():
    A = wengert.tensor([[1.0, 1j], [-1j, 2.0]], dtype=wengert.complex128)
    factors = linalg.ldl_factor(A, hermitian=True)
    B = wengert.tensor([[1.0 + 2j], [3.0]], dtype=wengert.complex128, requires_grad=True)
    X = linalg.ldl_solve(factors.LD, factors.pivots, B, hermitian=True)
    assert (A @ X).allclose(B)
    X.abs().square().sum().backward()
    assert B.grad.allclose(linalg.solve(A.mH, 2 * X.detach()))


@pytest.mark.parametrize("hermitian", [True, False])
def test_derivatives_of_ldl_solve(hermitian):
    A = matrix(3, 3, 3, wengert.complex128)
    LD, pivots = linalg.ldl_factor(A + (A.mH if hermitian else A.mT), hermitian=hermitian)
    B = matrix(3, 2, 2, wengert.complex128).expand(2, 3, 2).clone().requires_grad_()
    assert wengert.autograd.gradcheck(lambda b: linalg.ldl_solve(LD, pivots, b, hermitian=hermitian), (B,))
    assert wengert.autograd.gradgradcheck(lambda b: linalg.ldl_solve(LD, pivots, b, hermitian=hermitian), (B,))


DATA = wengert.arange(5.0)


@pytest.mark.parametrize(("call", "kind", "text"), [
    (lambda: wengert.pca_lowrank(wengert.ones(3, 2), q=9), ValueError,
     "q(=9) must be non-negative integer and not greater than min(m, n)=2"),
    (lambda: wengert.pca_lowrank(wengert.ones(3, 2), niter=-1), ValueError, "niter(=-1) must be non-negative integer"),
    (lambda: linalg.ldl_factor(wengert.zeros(2, 2)), RuntimeError, "torch.linalg.ldl_factor: a block of D is singular, so the "
     "factors solve no equations. Hint: linalg.ldl_factor_ex returns them all the same."),
    (lambda: linalg.ldl_solve(wengert.eye(2), wengert.tensor([1, 2]).int(), wengert.eye(2).double()), RuntimeError,
     "torch.linalg.ldl_solve: Expected LD and B to have the same data type, but got torch.float32 and torch.float64"),
    (lambda: wengert.segment_reduce(DATA, "sum"), RuntimeError, "segment_reduce(): Either lengths or offsets must be defined."),
    (lambda: wengert.segment_reduce(DATA, "most", lengths=wengert.tensor([5])), RuntimeError,
     "reduce argument must be either sum, prod, mean, amax or amin, got most"),
    (lambda: wengert.segment_reduce(DATA, "sum", lengths=wengert.tensor([3, 1])), RuntimeError,
     "segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when !unsafe."),
    (lambda: wengert.segment_reduce(DATA, "sum", lengths=wengert.tensor([7, -2])), RuntimeError, "lengths contains negative value!"),
    (lambda: wengert.segment_reduce(DATA[None], "sum", lengths=wengert.tensor([5]), axis=1), RuntimeError,
     "segment_reduce(): Expected axis to be the last dimension of lengths but got 1."),
    (lambda: wengert.grid_sampler_3d(wengert.ones(1, 1, 2, 2), wengert.ones(1, 2, 2, 2), 0, 0, False), RuntimeError,
     "grid_sampler_3d(): Expected input with 5 dimensions, but got 4"),
])  # fmt: skip
def test_errors(call, kind, text):
    with pytest.raises(kind) as error:
        call()
    assert str(error.value) == text


def test_native_dropout_returns_the_mask_of_kept_elements():
    x = wengert.ones(100)
    out, kept = wengert.native_dropout(x, 0.5, True)
    assert kept.dtype is wengert.bool and 20 < kept.sum() < 80 and out.equal(kept * 2.0)
    assert wengert.native_dropout(x, 0.5, False)[1].all()
