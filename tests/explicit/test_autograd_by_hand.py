"""Derivatives worked with pencil and paper. Each test stands alone: the working, then the call, then the numbers."""

import math

import numpy as np
import pytest

import wengert
from wengert.autograd import Function, grad


def test_a_product():
    # f = a b at a = 3, b = -2: df/da = b = -2, df/db = a = 3.
    a = wengert.tensor(3.0, requires_grad=True)
    b = wengert.tensor(-2.0, requires_grad=True)
    (a * b).backward()
    assert a.grad.item() == -2.0 and b.grad.item() == 3.0


def test_a_small_expression():
    # f = (a + b) (b + 1) at a = 2, b = 1: f = 6, df/da = b + 1 = 2, df/db = (b + 1) + (a + b) = 5.
    a = wengert.tensor(2.0, requires_grad=True)
    b = wengert.tensor(1.0, requires_grad=True)
    f = (a + b) * (b + 1)
    f.backward()
    assert f.item() == 6.0 and a.grad.item() == 2.0 and b.grad.item() == 5.0


def test_wengerts_own_kind_of_list():
    # y = ln(x1) + x1 x2 - sin(x2) at (2, 5), the textbook trace:
    # dy/dx1 = 1/x1 + x2 = 5.5, dy/dx2 = x1 - cos(x2) = 2 - cos 5.
    x1 = wengert.tensor(2.0, dtype=wengert.float64, requires_grad=True)
    x2 = wengert.tensor(5.0, dtype=wengert.float64, requires_grad=True)
    y = x1.log() + x1 * x2 - x2.sin()
    y.backward()
    assert y.item() == pytest.approx(math.log(2) + 10 - math.sin(5), abs=1e-15)
    assert x1.grad.item() == pytest.approx(5.5, abs=1e-15)
    assert x2.grad.item() == pytest.approx(2 - math.cos(5), abs=1e-15)


def test_a_value_used_three_times():
    # f = x + x^2 + x^3 at 2: 1 + 2 x + 3 x^2 = 17.
    x = wengert.tensor(2.0, requires_grad=True)
    (x + x * x + x * x * x).backward()
    assert x.grad.item() == 17.0


def test_a_quotient():
    # f = a / b at (6, 3): 1 / b = 1/3, -a / b^2 = -2/3.
    a = wengert.tensor(6.0, dtype=wengert.float64, requires_grad=True)
    b = wengert.tensor(3.0, dtype=wengert.float64, requires_grad=True)
    (a / b).backward()
    assert a.grad.item() == pytest.approx(1 / 3, abs=1e-16) and b.grad.item() == pytest.approx(-2 / 3, abs=1e-15)


def test_a_mean_of_squares():
    # f = mean(x^2) over four elements: 2 x / 4.
    x = wengert.tensor([1.0, -2.0, 3.0, 0.0], requires_grad=True)
    (x**2).mean().backward()
    assert x.grad.tolist() == [0.5, -1.0, 1.5, 0.0]


def test_broadcasting_sums_the_gradient():
    # f = sum over i, j of a_i b_j with a = (1, 2)^T, b = (3, 4, 5): df/da_i = 12, df/db_j = 3.
    a = wengert.tensor([[1.0], [2.0]], requires_grad=True)
    b = wengert.tensor([3.0, 4.0, 5.0], requires_grad=True)
    (a * b).sum().backward()
    assert a.grad.tolist() == [[12.0], [12.0]] and b.grad.tolist() == [3.0, 3.0, 3.0]


def test_a_matrix_product():
    # f = sum of (A B), A = [[1, 2], [3, 4]], B = [[5, 6], [7, 8]]:
    # df/dA_ik = sum_j B_kj = (11, 15) in each row; df/dB_kj = sum_i A_ik = 4 in the first row, 6 in the second.
    a = wengert.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    b = wengert.tensor([[5.0, 6.0], [7.0, 8.0]], requires_grad=True)
    (a @ b).sum().backward()
    assert a.grad.tolist() == [[11.0, 15.0], [11.0, 15.0]] and b.grad.tolist() == [[4.0, 4.0], [6.0, 6.0]]


def test_a_quadratic_form():
    # f = x^T A x with A = [[2, 1], [3, 4]] at (1, 2): (A + A^T) x = [[4, 4], [4, 8]] (1, 2) = (12, 20).
    a = wengert.tensor([[2.0, 1.0], [3.0, 4.0]])
    x = wengert.tensor([1.0, 2.0], requires_grad=True)
    (x @ a @ x).backward()
    assert x.grad.tolist() == [12.0, 20.0]


def test_least_squares():
    # Fit y = w x + b to (1, 2), (2, 4), (3, 7) from w = 1, b = 0: residuals -1, -2, -4.
    # d mean(r^2)/dw = 2/3 (-1 - 4 - 12) = -34/3, /db = 2/3 (-7) = -14/3.
    w = wengert.tensor(1.0, dtype=wengert.float64, requires_grad=True)
    b = wengert.tensor(0.0, dtype=wengert.float64, requires_grad=True)
    x = wengert.tensor([1.0, 2.0, 3.0], dtype=wengert.float64)
    y = wengert.tensor([2.0, 4.0, 7.0], dtype=wengert.float64)
    ((w * x + b - y) ** 2).mean().backward()
    assert w.grad.item() == pytest.approx(-34 / 3, abs=1e-14) and b.grad.item() == pytest.approx(-14 / 3, abs=1e-14)


def test_logistic_regression():
    # p = sigmoid(w x), loss -ln p for label 1 at w = 0, x = 2: p = 1/2, dloss/dw = (p - 1) x = -1.
    w = wengert.tensor(0.0, requires_grad=True)
    (-(w * 2.0).sigmoid().log()).backward()
    assert w.grad.item() == -1.0


def test_softmax_and_cross_entropy():
    # z = (ln 1, ln 2, ln 5): p = (1/8, 2/8, 5/8). d(-ln p_2)/dz = p - (0, 0, 1).
    z = wengert.tensor([0.0, math.log(2), math.log(5)], dtype=wengert.float64, requires_grad=True)
    (-z.softmax(0)[2].log()).backward()
    np.testing.assert_allclose(z.grad.numpy(), [1 / 8, 2 / 8, -3 / 8], atol=1e-15)


def test_a_network_with_one_hidden_layer():
    # h = relu(W x), W = [[1, -1], [2, 1]], x = (1, 2): pre = (-1, 4), h = (0, 4); y = v h, v = (3, 5): y = 20.
    # dy/dv = h; dy/dh = v; only the second unit is on: dy/dW = [[0, 0], [5 x]] = [[0, 0], [5, 10]]; dy/dx = 5 (2, 1).
    w = wengert.tensor([[1.0, -1.0], [2.0, 1.0]], requires_grad=True)
    v = wengert.tensor([3.0, 5.0], requires_grad=True)
    x = wengert.tensor([1.0, 2.0], requires_grad=True)
    y = v @ (w @ x).relu()
    y.backward()
    assert y.item() == 20.0 and v.grad.tolist() == [0.0, 4.0]
    assert w.grad.tolist() == [[0.0, 0.0], [5.0, 10.0]] and x.grad.tolist() == [10.0, 5.0]


def test_rosenbrocks_valley():
    # f = (1 - x)^2 + 100 (y - x^2)^2 at (-1, 2): y - x^2 = 1.
    # f_x = -2 (1 - x) - 400 x (y - x^2) = -4 + 400 = 396; f_y = 200.
    # f_xx = 2 - 400 (y - 3 x^2) = 2 + 400 = 402; f_xy = -400 x = 400; f_yy = 200.
    p = wengert.tensor([-1.0, 2.0], dtype=wengert.float64, requires_grad=True)
    x, y = p[0], p[1]
    (g,) = grad((1 - x) ** 2 + 100 * (y - x**2) ** 2, p, create_graph=True)
    assert g.tolist() == [396.0, 200.0]
    assert grad(g[0], p, retain_graph=True)[0].tolist() == [402.0, 400.0]
    assert grad(g[1], p)[0].tolist() == [400.0, 200.0]


def test_polar_coordinates():
    # (r cos t, r sin t) at r = 2, t = pi/6: rows (cos t, -r sin t) = (sqrt3/2, -1) and (sin t, r cos t) = (1/2, sqrt3).
    p = wengert.tensor([2.0, math.pi / 6], dtype=wengert.float64, requires_grad=True)
    r, t = p
    x, y = r * t.cos(), r * t.sin()
    root = math.sqrt(3)
    np.testing.assert_allclose(grad(x, p, retain_graph=True)[0].numpy(), [root / 2, -1], atol=1e-15)
    np.testing.assert_allclose(grad(y, p)[0].numpy(), [0.5, root], atol=1e-15)


def test_derivatives_of_one_over_x():
    # 1/x at 2: -1/x^2 = -1/4, 2/x^3 = 1/4, -6/x^4 = -3/8, 24/x^5 = 3/4.
    x = wengert.tensor(2.0, dtype=wengert.float64, requires_grad=True)
    y = 1 / x
    found = []
    for _ in range(4):
        (y,) = grad(y, x, create_graph=True)
        found.append(y.item())
    assert found == [-0.25, 0.25, -0.375, 0.75]


def test_a_hessian_vector_product():
    # f = x^2 y at (3, 5), v = (1, 2). H = [[2 y, 2 x], [2 x, 0]] = [[10, 6], [6, 0]]: H v = (22, 6).
    p = wengert.tensor([3.0, 5.0], requires_grad=True)
    (g,) = grad(p[0] ** 2 * p[1], p, create_graph=True)
    (hv,) = grad(g, p, grad_outputs=wengert.tensor([1.0, 2.0]))
    assert hv.tolist() == [22.0, 6.0]


def test_newtons_method():
    # f = x^3 - 2 x - 5 from 2: f = -1, f' = 10, so x = 2.1.
    x = wengert.tensor(2.0, dtype=wengert.float64, requires_grad=True)
    f = x**3 - 2 * x - 5
    (slope,) = grad(f, x)
    assert (x - f / slope).item() == pytest.approx(2.1, abs=1e-15)


def test_gradient_descent():
    # f = (x - 3)^2, step 1/4: the distance to 3 halves each time: 0, 1.5, 2.25, 2.625.
    x = wengert.tensor(0.0, requires_grad=True)
    path = []
    for _ in range(3):
        ((x - 3) ** 2).backward()
        with wengert.no_grad():
            x -= 0.25 * x.grad
        x.grad.zero_()
        path.append(x.item())
    assert path == [1.5, 2.25, 2.625]


def test_a_loop_decides_at_run_time():
    # Doubled until it exceeds 100: 3 -> 6 -> ... -> 192, six doublings: d/dx = 64.
    x = wengert.tensor(3.0, requires_grad=True)
    y = x
    while y < 100:
        y = y * 2
    y.backward()
    assert y.item() == 192.0 and x.grad.item() == 64.0


def test_a_branch_decides_at_run_time():
    # |x| by hand: +1 on the right, -1 on the left.
    for value, slope in ((2.0, 1.0), (-2.0, -1.0)):
        x = wengert.tensor(value, requires_grad=True)
        (x if x > 0 else -x).backward()
        assert x.grad.item() == slope


def test_a_written_element_is_constant():
    # a = 2 x, a[1] = 7, f = sum a^2 = 4 x0^2 + 49 + 4 x2^2: (8 x0, 0, 8 x2).
    x = wengert.tensor([1.0, 2.0, 3.0], requires_grad=True)
    a = x * 2
    a[1] = 7.0
    (a**2).sum().backward()
    assert x.grad.tolist() == [8.0, 0.0, 24.0]


def test_an_element_written_with_a_value():
    # a = (x0, x1), a[0] = x1^2, f = a0 a1 = x1^3 at x = (5, 2): (0, 3 x1^2) = (0, 12).
    x = wengert.tensor([5.0, 2.0], requires_grad=True)
    a = x * 1
    a[0] = x[1] ** 2
    (a[0] * a[1]).backward()
    assert x.grad.tolist() == [0.0, 12.0]


def test_repeated_indices():
    # f = x[0] + x[0] + 10 x[2]: (2, 0, 10).
    x = wengert.tensor([1.0, 2.0, 3.0], requires_grad=True)
    (x[wengert.tensor([0, 0, 2])] * wengert.tensor([1.0, 1.0, 10.0])).sum().backward()
    assert x.grad.tolist() == [2.0, 0.0, 10.0]


def test_a_part_that_is_held_constant():
    # f = x * detach(x^2) at 3: only the first factor counts: 9. With both: 27.
    x = wengert.tensor(3.0, requires_grad=True)
    (x * (x * x).detach()).backward()
    assert x.grad.item() == 9.0
    x.grad = None
    (x * (x * x)).backward()
    assert x.grad.item() == 27.0


def test_a_hook_scales_the_gradient_behind_it():
    # f = (2 x)^2 at 1, the gradient at y = 2 x (which is 2 y = 4) tripled by a hook: 2 * 12 = 24.
    x = wengert.tensor(1.0, requires_grad=True)
    y = 2 * x
    y.register_hook(lambda g: 3 * g)
    (y * y).backward()
    assert x.grad.item() == 24.0


def test_a_function_with_a_derivative_of_its_own():
    # A step with the derivative of the identity: y = 1 for x > 0, passes gradients unchanged. f = 5 y: 5.
    class Step(Function):
        @staticmethod
        def forward(ctx, x):
            return (x > 0).to(x.dtype)

        @staticmethod
        def backward(ctx, g):
            return g

    x = wengert.tensor([-1.0, 2.0], requires_grad=True)
    y = Step.apply(x)
    (5 * y).sum().backward()
    assert y.tolist() == [0.0, 1.0] and x.grad.tolist() == [5.0, 5.0]


def test_a_modulus_of_a_complex_number():
    # f = |z|^2 = a^2 + b^2 at 3 + 4j: the gradient of a real function is df/da + j df/db = 6 + 8j.
    z = wengert.tensor(3 + 4j, dtype=wengert.complex128, requires_grad=True)
    (z * z.conj()).real.backward()
    assert z.grad.item() == 6 + 8j


def test_a_holomorphic_function():
    # f = Re(z^2) = a^2 - b^2 at 3 + 4j: 2 a - 2 b j = 6 - 8j, the conjugate of 2 z.
    z = wengert.tensor(3 + 4j, dtype=wengert.complex128, requires_grad=True)
    (z * z).real.backward()
    assert z.grad.item() == 6 - 8j


def test_a_weighted_sum_of_two_roots():
    # 1 d(x^2) + 10 d(x^3) at 2: 4 + 120.
    x = wengert.tensor(2.0, requires_grad=True)
    wengert.autograd.backward([x**2, x**3], [wengert.tensor(1.0), wengert.tensor(10.0)])
    assert x.grad.item() == 124.0
