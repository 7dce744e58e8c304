"""Second derivatives by hand: of piecewise linear functions, which are 0 and not missing, and through writes into views."""

from __future__ import annotations

import numpy as np
import pytest

import wengert
import wengert.nn.functional as F
from fuzz import second_order
from loops import each
from op_samples.cases import Case, over_samples
from wengert.autograd import grad

PIECEWISE_LINEAR = {
    "relu": F.relu, "leaky_relu": F.leaky_relu, "hardtanh": F.hardtanh, "relu6": F.relu6, "hardsigmoid": F.hardsigmoid,
    "threshold": lambda x: F.threshold(x, 0.5, 0.0), "softshrink": F.softshrink, "hardshrink": F.hardshrink,
    "prelu": lambda x: F.prelu(x, wengert.tensor([0.25])), "max_pool1d": lambda x: F.max_pool1d(x, 2),
    "avg_pool1d": lambda x: F.avg_pool1d(x, 2), "adaptive_avg_pool1d": lambda x: F.adaptive_avg_pool1d(x, 2),
    "adaptive_max_pool1d": lambda x: F.adaptive_max_pool1d(x, 2), "reflect": lambda x: F.pad(x, (1, 1), mode="reflect"),
    "replicate": lambda x: F.pad(x, (1, 1), mode="replicate"),
}  # fmt: skip


@each("name", PIECEWISE_LINEAR)
def test_the_gradient_of_a_piecewise_linear_function_has_the_gradient_zero(name):
    x = wengert.tensor([[[-2.0, 3.0, 0.25, 7.0]]], requires_grad=True)
    (g,) = grad(PIECEWISE_LINEAR[name](x).sum(), x, create_graph=True)
    assert g.requires_grad
    (second,) = grad(g.sum(), x)
    assert second.tolist() == [[[0.0, 0.0, 0.0, 0.0]]]


@each("function", {"clamp": lambda x: x.clamp(0, 1), "amax": lambda x: x.amax(), "max": lambda x: x.max(), "sum": lambda x: x.sum(),
               "median": lambda x: x.median(), "where": lambda x: wengert.where(x > 0, x, 2 * x)}.values())  # fmt: skip
def test_a_gradient_that_torch_computes_without_the_input_has_no_graph(function):
    x = wengert.tensor([-2.0, 3.0], requires_grad=True)
    (g,) = grad(function(x).sum(), x, create_graph=True)
    assert not g.requires_grad
    with pytest.raises(RuntimeError, match="does not require grad"):
        grad(g.sum(), x)


def test_a_gradient_penalty_of_a_relu_network():
    """f(x) = v . relu(w x + b), so df/dx = sum of v w where w x + b > 0: it depends on v and w, and not on b."""
    w, b = wengert.tensor([[1.0], [-2.0], [3.0]], requires_grad=True), wengert.tensor([0.5, 0.5, -9.0], requires_grad=True)
    v = wengert.tensor([2.0, 5.0, 7.0], requires_grad=True)
    x = wengert.tensor([1.0], requires_grad=True)
    value = F.relu(F.linear(x, w, b)) @ v  # only the first unit is active
    (slope,) = grad(value, x, create_graph=True)
    assert slope.tolist() == [2.0]
    ((slope - 1) ** 2).sum().backward()  # the derivative in slope is 2
    assert w.grad.tolist() == [[4.0], [0.0], [0.0]]
    assert v.grad.tolist() == [2.0, 0.0, 0.0]
    assert b.grad.tolist() == [0.0, 0.0, 0.0] and x.grad.tolist() == [0.0]


def test_the_zeros_of_a_flat_rule_meet_no_infinite_slope():
    x = wengert.tensor([0.0, 4.0], requires_grad=True)
    (g,) = grad(F.hardtanh(x.sqrt(), -9, 9).sum() + (x**3).sum(), x, create_graph=True)
    assert grad(F.hardtanh(x.sqrt(), -9, 9).sum(), x)[0].tolist() == [np.inf, 0.25]
    y = x.sqrt()
    (of_y,) = grad(F.relu(y).sum(), y, create_graph=True)
    assert grad(of_y.sum(), x)[0].tolist() == [0.0, 0.0]


def test_a_result_that_was_written_into_a_view_is_differentiated_twice():
    """v = tanh(v) in place, v = x[1:]: with t = tanh(x), d2(t**2)/dx2 = 2 (1 - t^2) (1 - 3 t^2)."""
    x = wengert.tensor([0.3, 0.6, 0.9], dtype=wengert.float64, requires_grad=True)
    base = x.clone()
    base[1:].tanh_()
    (g,) = grad((base * base).sum(), x, create_graph=True)
    (second,) = grad(g.sum(), x)
    t = np.tanh([0.6, 0.9])
    np.testing.assert_allclose(second.numpy(), [2.0, *(2 * (1 - t**2) * (1 - 3 * t**2))])


def test_a_function_that_saves_what_it_wrote_into_a_view():
    class Tanh(wengert.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.tanh_()
            ctx.mark_dirty(x)
            ctx.save_for_backward(x)
            return x

        @staticmethod
        def backward(ctx, ct):
            (out,) = ctx.saved_tensors
            return ct * (1 - out * out)

    x = wengert.tensor([0.3, 0.6], dtype=wengert.float64, requires_grad=True)
    base = x.clone()
    Tanh.apply(base[1:])
    (g,) = grad((base * base).sum(), x, create_graph=True)
    t = np.tanh(0.6)
    np.testing.assert_allclose(grad(g.sum(), x)[0].numpy(), [2.0, 2 * (1 - t**2) * (1 - 3 * t**2)])


def test_one_of_several_views_is_not_written():
    x = wengert.tensor([0.3, 0.6], requires_grad=True)
    with pytest.raises(RuntimeError, match="multiple views"):
        x.clone().chunk(2)[0].tanh_()


WRITTEN = {id(case) for case in second_order.written_cases()}


def is_written(case: Case) -> bool:
    return id(case) in WRITTEN


@over_samples(is_written, quick=1)
def test_a_write_has_the_derivatives_of_the_operation_out_of_place(case):
    for form in second_order.FORMS:
        second_order.check(case, form)


def test_some_writes_are_tested():
    assert len(WRITTEN) > 300
