"""Solutions of equations: the implicit function theorem, with tensors that the equation closes over."""

from __future__ import annotations

import numpy as np
import scipy.optimize

import wengert as w
from wengert.autograd import forward_ad, grad, gradcheck, gradgradcheck
from wengert.scipy._closures import implicit


def double(*values):
    return w.tensor(values, dtype=w.float64, requires_grad=True)


def solution(a, b):
    squares = a * a  # made outside of the equation, from a tensor that the equation closes over as well

    def residual(x):
        return x**3 + squares * x - b * w.flip(x, (0,)).cos() + 0.1 * a

    found = scipy.optimize.root(lambda x: residual(w.tensor(x)).detach().numpy(), np.full(2, 0.5), tol=1e-14).x
    return implicit(residual, found)


def test_solutions_differentiate_to_any_order_both_ways():
    a, b = double(1.3, 2.0), double(2.0, 3.0)
    assert gradcheck(solution, (a, b), check_forward_ad=True) and gradgradcheck(solution, (a, b))
    assert gradcheck(lambda a, b: grad(solution(a, b).sum(), (a, b), create_graph=True), (a, b), check_forward_ad=True)

    def third(a):
        return grad(grad(solution(a, b).sum(), a, create_graph=True)[0].sum(), a, create_graph=True)[0]

    assert gradcheck(third, (a,))


def test_tangents_are_recorded():
    a, b = double(1.3, 2.0), double(2.0, 3.0)
    with forward_ad.dual_level():
        tangent = forward_ad.unpack_dual(solution(forward_ad.make_dual(a, w.ones(2).double()), b)).tangent
        found = grad(tangent.sum(), a)[0]
    expected = grad(grad(solution(a, b).sum(), a, create_graph=True)[0].sum(), a)[0]
    assert np.allclose(forward_ad.unpack_dual(found).primal.numpy(), expected.numpy(), rtol=1e-9)


def test_both_a_tensor_and_what_was_computed_from_it_get_their_own_part():
    a = double(2.0)
    half = a / 2
    x = implicit(lambda x: x - a * half, np.array([2.0]))
    assert [float(g) for g in grad(x, (a, half), retain_graph=True)] == [2.0, 2.0]  # through half as well: 1 + 2 / 2


def test_nothing_to_differentiate_in():
    assert not implicit(lambda x: x - 2, np.array([2.0])).requires_grad
