"""autograd.functional: values by hand, structures of results, create_graph, strict, what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import wengert
from wengert.autograd import functional

PRODUCTS = ["vjp", "jvp", "vhp", "hvp"]
ALL = [*PRODUCTS, "jacobian", "hessian"]


def tensor(*values, **kwargs):
    return wengert.tensor(list(values), dtype=wengert.float64, **kwargs)


def cubes(x):
    return (x**3).sum()


def mixed(x, y):
    return (x**3 * y).sum()


def listed(x):
    return [listed(y) for y in x] if isinstance(x, (tuple, list)) else x.tolist()


X, Y, ONES = tensor(1.0, 2.0), tensor(3.0, 4.0), tensor(1.0, 1.0)


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("vjp", (lambda x: x**3, X, ONES), [[1.0, 8.0], [3.0, 12.0]]),
        ("vjp", (lambda x: x**3, (X,), (ONES,)), [[1.0, 8.0], [[3.0, 12.0]]]),
        ("vjp", (lambda x, y: (x * y, x.sum()), (X, Y), (ONES, ONES[0])), [[[3.0, 8.0], 3.0], [[4.0, 5.0], [1.0, 2.0]]]),
        ("vjp", (cubes, X), [9.0, [3.0, 12.0]]),
        ("jvp", (lambda x: x**3, X, ONES), [[1.0, 8.0], [3.0, 12.0]]),
        ("jvp", (lambda x, y: (x * y, x.sum()), (X, Y), (ONES, ONES)), [[[3.0, 8.0], 3.0], [[4.0, 6.0], 2.0]]),
        ("jvp", (lambda x: x**2, tensor(3.0)), [[9.0], [6.0]]),
        ("vhp", (cubes, X, ONES), [9.0, [6.0, 12.0]]),
        ("vhp", (mixed, (X, Y), (ONES, ONES)), [35.0, [[21.0, 60.0], [3.0, 12.0]]]),
        ("hvp", (cubes, X, ONES), [9.0, [6.0, 12.0]]),
        ("hvp", (mixed, (X, Y), (ONES, ONES)), [35.0, [[21.0, 60.0], [3.0, 12.0]]]),
        ("jacobian", (lambda x: x**3, X), [[3.0, 0.0], [0.0, 12.0]]),
        ("jacobian", (lambda x: x**3, (X,)), [[[3.0, 0.0], [0.0, 12.0]]]),
        ("jacobian", (lambda x, y: (x * y, x.sum()), (X, Y)),
         [[[[3.0, 0.0], [0.0, 4.0]], [[1.0, 0.0], [0.0, 2.0]]], [[1.0, 1.0], [0.0, 0.0]]]),
        ("hessian", (cubes, X), [[6.0, 0.0], [0.0, 12.0]]),
        ("hessian", (mixed, (X, Y)),
         [[[[18.0, 0.0], [0.0, 48.0]], [[3.0, 0.0], [0.0, 12.0]]], [[[3.0, 0.0], [0.0, 12.0]], [[0.0, 0.0], [0.0, 0.0]]]]),
    ],
)  # fmt: skip
def test_values_by_hand(name, arguments, expected):
    found = getattr(functional, name)(*arguments)
    assert listed(found) == expected
    with wengert.no_grad():
        assert listed(getattr(functional, name)(*arguments)) == expected


@pytest.mark.parametrize("name", ALL)
def test_create_graph(name):
    x = tensor(1.0, 2.0, requires_grad=True)
    vector = (wengert.ones(()),) if name == "vjp" else (ONES,) if name in PRODUCTS else ()
    plain = getattr(functional, name)(cubes, x, *[v.to(wengert.float64) for v in vector])
    recorded = getattr(functional, name)(cubes, x, *[v.to(wengert.float64) for v in vector], create_graph=True)
    last = recorded[-1] if name in PRODUCTS else recorded
    assert not (plain[-1] if name in PRODUCTS else plain).requires_grad
    (found,) = wengert.autograd.grad(last.sum(), x)
    expected = {"vjp": [6.0, 12.0], "jvp": [6.0, 12.0], "jacobian": [6.0, 12.0]}.get(name, [6.0, 6.0])
    assert found.tolist() == expected


def test_create_graph_in_the_vector():
    v = tensor(1.0, 1.0, requires_grad=True)
    _, product = functional.jvp(lambda x: x**3, X, v, create_graph=True)
    assert wengert.autograd.grad(product.sum(), v)[0].tolist() == [3.0, 12.0]


@pytest.mark.parametrize("strategy", ["reverse-mode", "forward-mode"])
def test_vectorize_and_strategies(strategy):
    f = lambda x, y: (x.sin() * y.sum(), (x * y).sum())  # noqa: E731
    expected = functional.jacobian(f, (X, Y))
    found = functional.jacobian(f, (X, Y), vectorize=True, strategy=strategy)
    for rows in zip(found, expected, strict=True):
        for a, b in zip(*rows, strict=True):
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-14)
    assert listed(functional.hessian(mixed, (X, Y), vectorize=True, outer_jacobian_strategy=strategy)) == listed(
        functional.hessian(mixed, (X, Y))
    )
    assert functional.jacobian(lambda x: x.view(1, 2) * wengert.ones(3, 1), X, vectorize=True, strategy=strategy).shape == (
        3, 2, 2,
    )  # fmt: skip


def test_functions_without_jvp_have_jvp():
    class Square(wengert.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, ct):
            return 2 * ctx.saved_tensors[0] * ct

    assert functional.jvp(Square.apply, X, ONES)[1].tolist() == [2.0, 4.0]


CONSTANT, DETACHED = (lambda x: wengert.ones((), dtype=wengert.float64)), (lambda x: x.detach().sum())
FIRST_ONLY, LINEAR = (lambda x, y: cubes(x)), (lambda x: (x * 2).sum())
OUTPUT = "^Output 0 of the user-provided function does not require gradients"
INPUT = "of the user-provided function is independent of input 1. This is not allowed in strict mode.$"
JACOBIAN = "^The jacobian of the user-provided function is independent of input 0. This is not allowed in strict mode when"
HESSIAN = "^While computing the hessian, found that the jacobian of the user-provided function with respect to input"


def call(name, f, inputs, **options):
    fn = getattr(functional, name)
    if name not in PRODUCTS:
        return fn(f, inputs, **options)
    if name == "vjp":
        return fn(f, inputs, wengert.ones((), dtype=wengert.float64), **options)
    return fn(f, inputs, (ONES, ONES) if isinstance(inputs, tuple) else ONES, **options)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("f", [CONSTANT, DETACHED], ids=["constant", "detached"])
def test_strict_outputs(name, f):
    found = call(name, f, X)
    assert not any(np.any(np.asarray(v)) for v in listed(found)[1:]) or name in PRODUCTS
    with pytest.raises(RuntimeError, match=OUTPUT):
        call(name, f, X, strict=True)


@pytest.mark.parametrize("name", ALL)
def test_strict_inputs(name):
    call(name, FIRST_ONLY, (X, Y))
    with pytest.raises(RuntimeError, match=HESSIAN if name == "hessian" else INPUT):
        call(name, FIRST_ONLY, (X, Y), strict=True)


@pytest.mark.parametrize("name", ALL)
def test_strict_derivatives(name):
    if name in ("vjp", "jvp", "jacobian"):
        call(name, LINEAR, X, strict=True)
        with pytest.raises(RuntimeError, match=JACOBIAN):
            call(name, LINEAR, X, strict=True, create_graph=True)
    else:
        with pytest.raises(RuntimeError, match=HESSIAN):
            call(name, LINEAR, X, strict=True)


@pytest.mark.parametrize(
    ("run", "kind", "message"),
    [
        (lambda: functional.vjp(cubes, 1.0), TypeError, "inputs given to vjp must be either a Tensor or a tuple of Tensors"),
        (lambda: functional.hvp(cubes, (X, 1.0)), TypeError, "the value at index 1 has type <class 'float'>"),
        (lambda: functional.jacobian(cubes, [X]), TypeError, "given inputs has type <class 'list'>"),
        (lambda: functional.jvp(lambda x: 1.0, X, ONES), TypeError, "The outputs of the user-provided function given to jvp"),
        (lambda: functional.vjp(lambda x: x, X, 1.0), TypeError, "The v given to vjp must be either a Tensor or a tuple"),
        (lambda: functional.vjp(lambda x: x, X), RuntimeError, "can only be None if the user-provided function returns a"),
        (lambda: functional.jvp(lambda x: x, X), RuntimeError, "can only be None if the input to the user-provided function"),
        (lambda: functional.vhp(cubes, X, tensor(1.0)), RuntimeError, r"v has invalid size: should be torch.Size\(\[2\]\)"),
        (lambda: functional.vhp(mixed, (X, Y), (X, tensor(1.0))), RuntimeError, "Entry 1 in v has invalid size"),
        (lambda: functional.jvp(cubes, X, (X, X)), RuntimeError, "The given v should contain a single Tensor"),
        (lambda: functional.jvp(mixed, (X, Y), X), RuntimeError, "v is a tuple of invalid length: should be 2 but got 1"),
        (lambda: functional.hessian(lambda x: x, X), RuntimeError, "given to hessian should contain a single element"),
        (lambda: functional.hvp(lambda x: (x.sum(), x), X, ONES), RuntimeError, "given to hvp should return a single Tensor"),
        (lambda: functional.jacobian(cubes, X, strict=True, vectorize=True), RuntimeError, "`strict=True` and `vectorized=True`"),
        (lambda: functional.jacobian(cubes, X, strategy="forward-mode"), NotImplementedError, "isonly implemented for `vectori"),
        (lambda: functional.jacobian(cubes, X, strict=True, vectorize=True, strategy="forward-mode"), RuntimeError,
         '`strict=True` and `strategy="forward-mode"` are not supported together'),
        (lambda: functional.jacobian(cubes, X, strategy="x"), AssertionError, 'Hint: If your function has more outputs than inp'),
        (lambda: functional.hessian(cubes, X, outer_jacobian_strategy="x"), AssertionError, 'or "reverse-mode".$'),
    ],
)  # fmt: skip
def test_wrong_calls_are_refused_with_a_message(run, kind, message):
    with pytest.raises(kind, match=message):
        run()
