"""Gradients of leaves, compared with torch: assigning .grad, and grad_dtype."""

from __future__ import annotations

import pytest

import wengert
from twins import assert_same, run

torch = pytest.importorskip("torch")

DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128")
PROGRAMS = []


def program(function):
    PROGRAMS.append(function)
    return function


def leaf(t, dtype="float32"):
    return t.ones(2, dtype=getattr(t, dtype), requires_grad=True)


def attempt(t, step):
    """Return the result of a step, or its error."""
    return run(lambda _: step(), t)


def set_dtype(x, value):
    x.grad_dtype = value
    return str(x.grad_dtype)


def set_grad(x, value):
    x.grad = value
    return x.grad


@program
def default(t):
    return [str(x.grad_dtype) for x in (leaf(t), t.ones(2), t.ones(2, dtype=t.int64), leaf(t).detach())]


@program
def of_no_leaf(t):
    y = leaf(t) * 2
    return attempt(t, lambda: str(y.grad_dtype)), attempt(t, lambda: set_dtype(y, t.float16))


@program
def of_no_dtype(t):
    return [attempt(t, lambda v=v: set_dtype(leaf(t), v)) for v in (1, "float32", float)]


@program
def casts(t):
    x = leaf(t)
    x.grad_dtype = t.float64
    y = (x * 3).sum()
    first = t.autograd.grad(y, x, retain_graph=True)
    y.backward(retain_graph=True)
    y.backward()
    return first, x.grad


@program
def casts_where_the_graph_is_older(t):
    x = leaf(t)
    y = x * 3
    x.grad_dtype = t.float64
    y.sum().backward()
    return x.grad


@program
def before_requires_grad(t):
    x = t.ones(2)
    x.grad_dtype = t.float64
    x.requires_grad_().sum().backward()
    return x.grad, str(x.grad_dtype)


@program
def what_hooks_see(t):
    seen = []
    x = leaf(t)
    x.grad_dtype = t.float64
    x.register_hook(lambda g: seen.append(str(g.dtype)))
    (x * 2).sum().backward()
    return seen, x.grad


def double_backward(t):
    class Doubles(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g.double()

    return Doubles.apply


@program
def any_dtype(t):
    x = leaf(t)
    x.grad_dtype = None
    double_backward(t)(x).sum().backward()
    return x.grad, str(x.grad_dtype)


@program
def any_dtype_is_that_of_the_cotangent(t):
    x = leaf(t)
    x.grad_dtype = None
    (x * 2 + x[0]).sum().backward()
    return x.grad


@program
def a_narrow_dtype(t):
    x = leaf(t)
    x.grad_dtype = t.float16
    f = double_backward(t)
    f(x).sum().backward()
    f(x).sum().backward()
    return x.grad


@program
def with_create_graph(t):
    x = leaf(t)
    x.grad_dtype = t.float64
    (g,) = t.autograd.grad((x**3).sum(), x, create_graph=True)
    g.sum().backward()
    return g.dtype is t.float64, x.grad


@program
def while_there_is_a_gradient(t):
    x = leaf(t)
    x.sum().backward()
    steps = [attempt(t, lambda: set_dtype(x, t.float16)), attempt(t, lambda: set_dtype(x, t.float32))]
    steps.append(attempt(t, lambda: set_dtype(x, None)))
    steps.append(attempt(t, lambda: set_grad(x, t.ones(2, dtype=t.float16))))
    return *steps, attempt(t, lambda: set_dtype(x, t.int32))


@program
def after_new_data(t):
    x, y = leaf(t), leaf(t)
    x.grad_dtype = t.float64
    x.data = y.data = t.ones(2, dtype=t.float16)
    return str(x.grad_dtype), str(y.grad_dtype)


@program
def written_in_place(t):
    x = leaf(t)
    x.grad_dtype = t.float64
    with t.no_grad():
        x.mul_(2)
    return str(x.grad_dtype)


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_program(function):
    assert_same(run(function, wengert), run(function, torch))


@pytest.mark.parametrize("name", DTYPES)
def test_a_gradient_of_another_dtype_is_refused_in_torchs_words(name):
    def assigned(t):
        x = leaf(t, "float64" if name == "float32" else "float32")
        return attempt(t, lambda: set_grad(x, t.ones(2, dtype=getattr(t, name))))

    assert_same(run(assigned, wengert), run(assigned, torch))


@pytest.mark.parametrize("name", DTYPES)
def test_another_grad_dtype_is_refused_in_torchs_words(name):
    def assigned(t):
        x = leaf(t, "float64" if name == "float32" else "float32")
        x.grad = t.ones_like(x)
        return attempt(t, lambda: set_dtype(x, getattr(t, name)))

    assert_same(run(assigned, wengert), run(assigned, torch))
