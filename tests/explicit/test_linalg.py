"""Products of vectors and matrices: numbers worked by hand, memory, messages."""

from __future__ import annotations

import numpy as np
import pytest

import wengert


def leaf(values, dtype=wengert.float64):
    return wengert.tensor(values, dtype=dtype, requires_grad=True)


def f64(values):
    return wengert.tensor(values, dtype=wengert.float64)


A, B = [[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]


def test_matrix_product_and_gradients():
    a, b = leaf(A), leaf(B)
    c = a @ b
    assert c.tolist() == [[19.0, 22.0], [43.0, 50.0]] and c.grad_fn.name() == "MmBackward0"
    c.backward(f64([[1.0, 10.0], [100.0, 1000.0]]))
    # ct @ B^T and A^T @ ct
    assert a.grad.tolist() == [[65.0, 87.0], [6500.0, 8700.0]]
    assert b.grad.tolist() == [[301.0, 3010.0], [402.0, 4020.0]]


def test_matrix_times_vector():
    a, v = leaf(A), leaf([1.0, 10.0])
    y = a @ v
    assert y.tolist() == [21.0, 43.0]
    y.backward(f64([1.0, 2.0]))
    assert a.grad.tolist() == [[1.0, 10.0], [2.0, 20.0]] and v.grad.tolist() == [7.0, 10.0]


def test_vector_times_matrix_and_vector():
    v = leaf([1.0, 10.0])
    assert (v @ leaf(A)).tolist() == [31.0, 42.0]
    (v @ v).backward()
    assert v.grad.tolist() == [2.0, 20.0]


def test_batches_broadcast_and_their_gradients_are_summed():
    batch, b = leaf([A, [[1.0, 0.0], [0.0, 1.0]]]), leaf(B)
    y = batch @ b
    assert y.tolist() == [[[19.0, 22.0], [43.0, 50.0]], B]
    y.sum().backward()
    assert b.grad.tolist() == [[5.0, 5.0], [7.0, 7.0]], "column sums of both matrices of the batch"
    assert batch.grad.tolist() == [[[11.0, 15.0]] * 2] * 2


def test_conjugates_of_complex_factors():
    z, w = wengert.tensor([1 + 2j], requires_grad=True), wengert.tensor([3 - 1j], requires_grad=True)
    (z @ w).real.backward()
    assert z.grad.tolist() == [3 + 1j] and w.grad.tolist() == [1 - 2j]
    assert wengert.vdot(z, w).item() == (1 - 2j) * (3 - 1j)


def test_numpy_operands():
    x = leaf(A)
    assert (x @ np.array(B)).tolist() == [[19.0, 22.0], [43.0, 50.0]]
    assert (np.array(B) @ x).tolist() == [[23.0, 34.0], [31.0, 46.0]]


def test_addmm_scales_both_parts():
    c, a, b = leaf([[1.0, 1.0]]), leaf(A), leaf(B)
    y = wengert.addmm(c, a, b, beta=2, alpha=3)
    assert y.tolist() == [[59.0, 68.0], [131.0, 152.0]]
    y.sum().backward()
    assert c.grad.tolist() == [[4.0, 4.0]] and a.grad.tolist() == [[33.0, 45.0]] * 2
    assert wengert.addmm(f64(np.nan), f64(A), f64(B), beta=0).tolist() == [[19.0, 22.0], [43.0, 50.0]]


def test_outer_inner_and_kron():
    u, v = f64([1.0, 2.0]), f64([3.0, 4.0])
    assert wengert.outer(u, v).tolist() == [[3.0, 4.0], [6.0, 8.0]] and wengert.inner(u, v).item() == 11.0
    assert wengert.kron(u, v).tolist() == [3.0, 4.0, 6.0, 8.0] and wengert.trace(f64(A)).item() == 5.0


def test_tensordot_over_pairs_of_dims():
    a, b = f64(A), f64(B)
    assert wengert.tensordot(a, b).item() == 70.0
    assert wengert.tensordot(a, b, dims=([0], [0])).tolist() == [[26.0, 30.0], [38.0, 44.0]]
    assert wengert.tensordot(a, b, dims=0).shape == (2, 2, 2, 2)


def test_einsum():
    a, b = leaf(A), leaf(B)
    assert wengert.einsum("ij,jk", a, b).tolist() == [[19.0, 22.0], [43.0, 50.0]]
    assert wengert.einsum("ij,jk->ki", [a, b]).tolist() == [[19.0, 43.0], [22.0, 50.0]]
    assert wengert.einsum(a, [0, 1], b, [1, 2], [0, 2]).tolist() == [[19.0, 22.0], [43.0, 50.0]]
    assert wengert.einsum("ii", a).item() == 5.0 and wengert.einsum("ii->i", a).tolist() == [1.0, 4.0]
    assert wengert.einsum("...j->...", a).tolist() == [3.0, 7.0]
    wengert.einsum("i,ij,j->", f64([1.0, 10.0]), a, f64([1.0, 100.0])).backward()
    assert a.grad.tolist() == [[1.0, 100.0], [10.0, 1000.0]]


def test_einsum_of_a_matrix_with_itself_twice():
    a = leaf(A)
    wengert.einsum("ij,ij->", a, a).backward()
    assert a.grad.tolist() == [[2.0, 4.0], [6.0, 8.0]]


def test_einsum_stretches_a_size_of_1():
    a, ones = leaf([[1.0], [2.0]]), leaf([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    y = wengert.einsum("ij,ij->i", a, ones)
    assert y.tolist() == [6.0, 30.0]
    y.sum().backward()
    assert a.grad.tolist() == [[6.0], [15.0]] and ones.grad.tolist() == [[1.0] * 3, [2.0] * 3]


def test_half_products_are_summed_in_float32():
    x = wengert.ones(1, 3000, dtype=wengert.float16)
    assert (x @ x.T).item() == 3000.0 and (x @ x.T).dtype is wengert.float16


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: x.mm(x), r"mat1 and mat2 shapes cannot be multiplied \(2x3 and 2x3\)"),
        (lambda x: x @ x, r"mat1 and mat2 shapes cannot be multiplied \(2x3 and 2x3\)"),
        (lambda x: x[0] @ x, r"mat1 and mat2 shapes cannot be multiplied \(1x3 and 2x3\)"),
        (lambda x: x.mm(x[0]), "mat2 must be a matrix"),
        (lambda x: x[0].mm(x), "self must be a matrix"),
        (lambda x: x.mv(x[0, :2]), r"size mismatch, got input \(2\), mat \(2x3\), vec \(2\)"),
        (lambda x: x.mv(x), r"vector \+ matrix @ vector expected, got 1, 2, 2"),
        (lambda x: x.dot(x), "1D tensors expected, but got 2D and 2D tensors"),
        (
            lambda x: x[0] @ x[0, :2],
            r"inconsistent tensor size, expected tensor \[3\] and src \[2\] to have the same number",
        ),
        (lambda x: x @ x[0, 0], "both arguments to matmul need to be at least 1D, but they are 2D and 0D"),
        (lambda x: x @ x.T.double(), "expected m1 and m2 to have the same dtype, but got: float != double"),
        (lambda x: x @ x.T.long(), "expected m1 and m2 to have the same dtype, but got: float != long int"),
        (lambda x: x[0] @ x[0].double(), "dot : expected both vectors to have same dtype, but found Float and Double"),
        (
            lambda x: x[None].bmm(x[None]),
            r"Expected size for first two dimensions of batch2 tensor to be: \[1, 3\] but got: \[1, 2\]",
        ),
        (lambda x: x.bmm(x), "batch1 must be a 3D tensor"),
        (lambda x: x.outer(x), "outer: Expected 1-D argument self, but got 2-D"),
        (
            lambda x: x.inner(x[:, :2]),
            r"the last dimension must match on both input tensors but got shapes \[2, 3\] and \[2, 2\]",
        ),
        (lambda x: wengert.tensordot(x, x, 1), "contracted dimensions need to match, but first has size 3 in dim -1"),
        (lambda x: wengert.addmm(x, x, x.T), r"expanded size of the tensor \(2\) must match the existing size \(3\)"),
        (lambda x: wengert.einsum("ij,jk", x, x), "subscript j has size 2 for operand 1 which does not broadcast"),
        (
            lambda x: wengert.einsum("ij->k", x),
            "output subscript k does not appear in the equation for any input operand",
        ),
        (lambda x: wengert.einsum("ijk", x), r"the number of subscripts in the equation \(3\) does not match"),
        (lambda x: wengert.einsum("ij", x, x), "more operands were provided than specified in the equation"),
        (lambda x: wengert.einsum("ii", x), "subscript i is repeated for operand 0 but the sizes don't match, 3 != 2"),
        (lambda x: wengert.trace(x[0]), "trace: expected a matrix, but got tensor with dim 1"),
    ],
)
def test_wrong_arguments_are_refused_with_a_message(call, message):
    with pytest.raises(RuntimeError, match=message):
        call(wengert.ones(2, 3))


def test_a_number_is_no_matrix():
    with pytest.raises(TypeError, match="must be Tensor, not float"):
        wengert.ones(2, 2) @ 2.0


# -- factorisations ----------------------------------------------------------------------------------------------------


def test_inverse_and_its_gradient():
    a = leaf([[2.0, 0.0], [0.0, 4.0]])
    y = a.inverse()
    assert y.tolist() == [[0.5, 0.0], [0.0, 0.25]]
    y.sum().backward()
    assert a.grad.tolist() == [[-0.25, -0.125], [-0.125, -0.0625]], "minus the outer product of the column and row sums"


def test_determinant_gradient_is_the_cofactors_also_where_singular():
    for values, cofactors in (
        ([[1.0, 2.0], [3.0, 4.0]], [[4, -3], [-2, 1]]),
        ([[1.0, 2.0], [2.0, 4.0]], [[4, -2], [-2, 1]]),
    ):
        a = leaf(values)
        wengert.det(a).backward()
        np.testing.assert_allclose(a.grad.numpy(), cofactors, atol=1e-12)
    z = leaf([[0.0] * 3] * 3)
    z.det().backward()
    assert z.grad.tolist() == [[0.0] * 3] * 3


@pytest.mark.parametrize("values", [[[1.0, 2.0], [2.0, 4.0]], [[0.0, 0.0], [0.0, 0.0]]])
def test_second_derivative_of_a_singular_determinant(values):
    """Of a d - b c, the squares of the gradient add up to those of a, b, c and d."""
    a = leaf(values)
    (g,) = wengert.autograd.grad(a.det(), a, create_graph=True)
    (h,) = wengert.autograd.grad((g * g).sum(), a)
    np.testing.assert_allclose(h.numpy(), 2 * np.array(values), atol=1e-12)


@pytest.mark.parametrize("rank", [0, 1, 2])
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_second_derivative_of_a_singular_determinant_along_a_direction(rank, dtype):
    """det(A + t G) is a cubic in t, so that its second difference is its second derivative."""
    rng = np.random.default_rng(3)

    def draw(*shape):
        return dtype(0) + rng.integers(-3, 4, shape) * (1 if dtype is np.float64 else 1 + 0.5j)

    diagonal = np.diag([float(i < rank) for i in range(3)])  # exactly singular, of this rank
    A, G = diagonal * draw(3), draw(3, 3) + 1
    a = wengert.from_numpy(A).requires_grad_()
    expected = np.linalg.det(A + G) + np.linalg.det(A - G) - 2 * np.linalg.det(A)
    (g,) = wengert.autograd.grad(wengert.real(a.det()), a, create_graph=True)
    (h,) = wengert.autograd.grad(wengert.real(g.conj() * wengert.from_numpy(G)).sum(), a)
    assert np.vdot(h.numpy(), G).real == pytest.approx(expected.real, rel=1e-9, abs=1e-9)


def test_third_derivative_of_a_singular_determinant_is_refused():
    a = leaf([[1.0, 2.0], [2.0, 4.0]])
    (g,) = wengert.autograd.grad(a.det(), a, create_graph=True)
    (h,) = wengert.autograd.grad((g * g).sum(), a, create_graph=True)
    with pytest.raises(RuntimeError, match="det is differentiable only twice at a singular matrix"):
        h.sum().backward()


def test_slogdet_and_logdet():
    result = wengert.slogdet(f64([[0.0, 2.0], [3.0, 0.0]]))
    assert result.sign.item() == -1.0 and result.logabsdet.item() == pytest.approx(np.log(6))
    assert np.isnan(wengert.logdet(f64([[-1.0]])).item()) and wengert.logdet(f64([[2.0]])).item() == pytest.approx(
        np.log(2)
    )


def test_solve_and_its_gradients():
    a, b = leaf([[2.0, 0.0], [0.0, 4.0]]), leaf([2.0, 8.0])
    x = wengert.linalg.solve(a, b)
    assert x.tolist() == [1.0, 2.0]
    x.sum().backward()
    assert b.grad.tolist() == [0.5, 0.25] and a.grad.tolist() == [[-0.5, -1.0], [-0.25, -0.5]]


def test_cholesky_and_its_gradient():
    a = leaf([[4.0, 2.0], [2.0, 5.0]])
    factor = wengert.linalg.cholesky(a)
    assert factor.tolist() == [[2.0, 0.0], [1.0, 2.0]]
    # l00 = sqrt(a00), l10 = a10 / l00, l11 = sqrt(a11 - l10**2); what a10 gets is shared with a01.
    (factor * f64([[1.0, 0.0], [10.0, 100.0]])).sum().backward()
    d10 = 10 / 2 - 100 * 1 / 2 / 2
    d00 = 1 / 4 - 10 * 2 / 16 + 100 * 1 * 2 / 16 / 2
    np.testing.assert_allclose(a.grad.numpy(), [[d00, d10 / 2], [d10 / 2, 25.0]], atol=1e-12)
    assert wengert.linalg.cholesky(a, upper=True).tolist() == [[2.0, 1.0], [0.0, 2.0]]


def test_cholesky_second_derivative():
    def function(x):
        return wengert.linalg.cholesky(x @ x.mH + wengert.eye(2, dtype=wengert.float64))

    x = leaf([[1.0, 0.5], [-0.3, 2.0]])
    assert wengert.autograd.gradcheck(function, x) and wengert.autograd.gradgradcheck(function, x)


def test_singular_values_and_matrix_norms():
    a = leaf([[3.0, 0.0], [0.0, -4.0]])
    assert wengert.linalg.svdvals(a).tolist() == pytest.approx([4.0, 3.0])
    norms = {p: wengert.linalg.matrix_norm(a, p).item() for p in ("fro", "nuc", 1, -1, 2, -2)}
    assert norms == pytest.approx({"fro": 5.0, "nuc": 7.0, 1: 4.0, -1: 3.0, 2: 4.0, -2: 3.0})
    wengert.norm(a, "nuc").backward()
    np.testing.assert_allclose(a.grad.numpy(), [[1.0, 0.0], [0.0, -1.0]], atol=1e-15)


@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4)])
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_derivatives_of_singular_vectors(shape, dtype):
    """Of functions that do not see the vectors' signs or phases."""

    def function(a):
        u, s, vh = wengert.linalg.svd(a, full_matrices=False)
        return (u * s.exp()) @ vh, (u * s) @ u.mH, s

    rng = np.random.default_rng(3)
    values = rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if dtype is np.complex128 else 0)
    a = wengert.tensor(values, requires_grad=True)
    assert wengert.autograd.gradcheck(function, a) and wengert.autograd.gradgradcheck(function, a, atol=1e-4)


def test_full_singular_vectors():
    a = leaf([[3.0, 0.0], [0.0, 4.0], [0.0, 0.0]])
    result = wengert.linalg.svd(a)
    assert result.U.shape == (3, 3) and repr(result).startswith("torch.return_types.linalg_svd(\nU=")
    result.S.sum().backward(retain_graph=True)
    np.testing.assert_allclose(a.grad.numpy(), [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]], atol=1e-15)
    # The third column is the axis that the others leave. Where a[2, 0] grows by h, it turns by -h / 3 towards the first.
    b = leaf([[3.0, 0.0], [0.0, 4.0], [0.0, 0.0]])
    third = wengert.linalg.svd(b).U[:, 2]
    (third[0] * third[2]).backward()
    np.testing.assert_allclose(b.grad.numpy(), [[0.0, 0.0], [0.0, 0.0], [-1 / 3, 0.0]], atol=1e-15)


def test_matrix_powers():
    a = f64([[1.0, 1.0], [0.0, 1.0]])
    assert a.matrix_power(5).tolist() == [[1.0, 5.0], [0.0, 1.0]] and a.matrix_power(-2).tolist() == [
        [1.0, -2.0],
        [0.0, 1.0],
    ]
    assert a.matrix_power(0).tolist() == [[1.0, 0.0], [0.0, 1.0]] and a.matrix_power(1) is not a


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda s: wengert.linalg.inv(s),
            r"linalg.inv: The diagonal element 2 is zero, the inversion could not be completed",
        ),
        (
            lambda s: wengert.linalg.inv(wengert.stack([wengert.eye(2), s])),
            r"linalg.inv: \(Batch element 1\): The diagonal element 2",
        ),
        (lambda s: wengert.linalg.solve(s, s), "The solver failed because the input matrix is singular"),
        (lambda s: wengert.linalg.cholesky(s - 3), r"the leading minor of order 1 is not positive-definite"),
        (lambda s: wengert.linalg.inv(s[:1]), "A must be batches of square matrices, but they are 1 by 2 matrices"),
        (lambda s: wengert.det(s.long()), "linalg.det: Expected a floating point or complex tensor as input. Got Long"),
        (
            lambda s: wengert.linalg.solve(s, wengert.ones(3)),
            r"Incompatible shapes of A and B for the equation AX = B \(2x2 and 3x1\)",
        ),
        (lambda s: wengert.linalg.multi_dot([s]), r"multi_dot\(\): expected at least 2 tensors but got 1"),
        (lambda s: wengert.linalg.multi_dot([s, s[0], s]), r"multi_dot\(\): tensor 1 must be 2D but got 1D"),
        (lambda s: wengert.linalg.multi_dot([s, s[0, 0]]), r"multi_dot\(\): the last tensor must be 1D or 2D but got 0D"),
        (lambda s: wengert.linalg.multi_dot([s, s[:1]]), r"tensors 0 and 1 with shapes \[2, 2\] and \[1, 2\] cannot be multiplied"),
        (lambda s: wengert.linalg.multi_dot([s, s.double()]), "be the same dtype but tensor 0 is float and tensor 1 double"),
        (lambda s: wengert.linalg.matrix_norm(s, 3), "linalg.matrix_norm: Order 3 not supported"),
    ],
)
def test_factorisation_messages(call, message):
    with pytest.raises(RuntimeError, match=message):
        call(wengert.tensor([[1.0, 2.0], [2.0, 4.0]]))
