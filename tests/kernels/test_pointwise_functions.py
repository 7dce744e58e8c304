"""wengert.pointwise: functions of scalars as operations."""

from __future__ import annotations

import math
from operator import add, mul, neg, sub, truediv

import numpy as np
import pytest

import wengert
from wengert.autograd import grad, gradcheck, gradgradcheck
from wengert.kernels import native
from wengert.ops import program

EXPRESSIONS = {
    "tanh(x*y+z)": lambda x, y, z: wengert.tanh(x * y + z),
    "bell": lambda x, y, z: wengert.exp(-((x / y) ** 2)) + 0.5 * z,
    "choice": lambda x, y, z: wengert.where((x > y) & ~(z < 0), x * z, wengert.sin(y) - z),
    "powers": lambda x, y, z: y**z + y**-1 + x**3 + 2.0**x,
    "methods": lambda x, y, z: (x.sigmoid() + y.log()).clamp(-1.0, 2.0) * z.abs(),
    "networks": lambda x, y, z: wengert.nn.functional.gelu(x) + wengert.nn.functional.softplus(y) + wengert.nn.functional.elu(z),
    "special": lambda x, y, z: wengert.i0(y) * x + wengert.erf(z),  # no kernel for the first: NumPy runs it
    "unused": lambda x, y, z: wengert.maximum(x, y) * 1.0,
    "repeated": lambda x, y, z: wengert.exp(x) * wengert.exp(x) + wengert.exp(x) / (1 + wengert.exp(x)) - y * z,
}  # fmt: skip


def operands(*shapes, dtype=wengert.float64):
    rng = np.random.default_rng(0)
    ranges = [(-2, 2), (0.5, 2), (-1, 1)]
    return [
        wengert.tensor(rng.uniform(low, high, shape), dtype=dtype, requires_grad=True)
        for shape, (low, high) in zip(shapes, ranges, strict=True)
    ]


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_value_and_gradients_agree_with_the_unfused_function(name):
    fn = EXPRESSIONS[name]
    fused = wengert.pointwise(fn)
    for dtype, limit in ((wengert.float32, 2e-5), (wengert.float64, 1e-12)):
        for shapes in [((3, 4), (3, 4), (3, 4)), ((), (), ()), ((700, 3), (3,), (700, 1)), ((0,), (0,), (1,)), ((5000,), (1,), ())]:
            inputs = operands(*shapes, dtype=dtype)
            found, expected = fused(*inputs), fn(*inputs)
            assert found.dtype == dtype and found.shape == expected.shape
            np.testing.assert_allclose(found.detach().numpy(), expected.detach().numpy(), rtol=limit, atol=limit)
            for a, b in zip(
                grad(found.sum(), inputs, allow_unused=True, materialize_grads=True),
                grad(expected.sum(), inputs, allow_unused=True, materialize_grads=True),
                strict=True,
            ):
                np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=limit * 20, atol=limit * 20)


def random_arithmetic(seed, length):
    """Return a random arithmetic function of three tensors or NumPy arrays. It uses its intermediate values again later."""
    operations = np.random.default_rng(seed)

    def fn(x, y, z):
        values = [x, y, z]
        for _ in range(length):
            # Mostly the value before: so chains are long.
            first, second = [values[-1] if operations.random() < 0.6 else values[operations.integers(len(values))] for _ in "ab"]
            second = second if operations.random() < 0.8 else float(operations.choice([0.5, -1.5]))
            kind = operations.integers(9)
            root = np.sqrt if isinstance(x, np.ndarray) else wengert.sqrt
            if kind < 6:
                values.append([add, sub, lambda a, b: b - a, mul, truediv, lambda a, b: b / a][kind](first, second))
            else:
                values.append([neg, lambda a: a * a, root][kind - 6](first))
        return values[-1] + values[length // 2] * values[3]

    return fn


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("seed", range(12))
def test_arithmetic_is_numpys_bit_for_bit(seed, dtype):
    rng = np.random.default_rng(seed)
    for n in (1, 31, 64, 127, 128, 129, 1000):
        arrays = [rng.uniform(-2, 2, n).astype(dtype) for _ in range(3)]
        arrays[2] = rng.uniform(-2, 2, 2 * n).astype(dtype)[::2]
        fused = wengert.pointwise(random_arithmetic(seed, 3 + 3 * seed))
        with np.errstate(all="ignore"):
            expected = random_arithmetic(seed, 3 + 3 * seed)(*arrays)
        found = fused(*[wengert.from_numpy(a) for a in arrays]).numpy()
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("compiled", [True, False])
def test_a_negative_zero_is_another_constant_than_zero(compiled, monkeypatch):
    if not compiled:
        monkeypatch.setattr(program, "native", None)
    for fn in (
        lambda x: wengert.copysign(x, -0.0) - wengert.copysign(x * 2, 0.0),
        lambda x: wengert.copysign(x * 2, 0.0) + wengert.copysign(x * 2, -0.0) * 4,
        lambda x: (1 / (x * -0.0)) * (x + 0.0),
    ):
        x = wengert.tensor([1.5, 2.0, 3.0], requires_grad=True)
        found, expected = wengert.pointwise(fn)(x), fn(x)
        np.testing.assert_array_equal(found.detach().numpy(), expected.detach().numpy())
        np.testing.assert_array_equal(grad(found.sum(), x)[0].numpy(), grad(expected.sum(), x)[0].numpy())


@pytest.mark.skipif(native is None, reason="nothing is compiled here")
@pytest.mark.parametrize(
    "fn",
    [
        lambda x, y: x + y, lambda x, y: x - y, lambda x, y: wengert.rsub(x, y), lambda x, y: x * y, lambda x, y: x / y,
        lambda x, y: -x * y, lambda x, y: x**2 + y, lambda x, y: wengert.reciprocal(x) - y, lambda x, y: x**1.0 + y,
    ],
)  # fmt: skip
def test_arithmetic_is_one_chain(fn):
    """The test fails if wk_program.c does not find the kernel of one of these operations by its role."""
    ((n_steps, n_links),) = native.program_stages(program.trace(fn)[1].compiled)
    assert n_steps > 0 and n_links > 0


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_derivatives_of_derivatives(name):
    fused = wengert.pointwise(EXPRESSIONS[name])
    inputs = operands((2, 3), (3,), (2, 1))
    assert gradcheck(fused, inputs) and gradgradcheck(fused, inputs)


def test_third_derivative_by_hand():
    cube = wengert.pointwise(lambda x: x * x * x)
    x = wengert.tensor([2.0], requires_grad=True)
    y = cube(x)
    for expected in (8.0, 12.0, 12.0, 6.0):
        assert y.item() == expected
        (y,) = grad(y, x, create_graph=True)


def test_a_pointwise_function_is_one_node():
    out = wengert.pointwise(EXPRESSIONS["bell"])(*operands((2,), (2,), (2,)))
    assert [edge[0].name() for edge in out.grad_fn.next_functions] == ["torch::autograd::AccumulateGrad"] * 3


def test_a_decorator_keeps_name_and_documentation():
    @wengert.pointwise
    def gauss(x, width):
        """A bell."""
        return wengert.exp(-((x / width) ** 2))

    assert gauss.__name__ == "gauss" and gauss.__doc__ == "A bell."
    out = gauss(wengert.ones(2, requires_grad=True), 2)
    assert out.grad_fn.name() == "GaussBackward0"
    assert out.tolist() == pytest.approx([math.exp(-0.25)] * 2)


def test_numbers_integers_and_dtypes():
    half = wengert.pointwise(lambda x, y: x / 2 + y)
    assert half(wengert.tensor([1, 2]), 1).tolist() == [1.5, 2.0]
    assert half(wengert.tensor([1, 2]), 1).dtype == wengert.float32
    assert half(wengert.ones(2, dtype=wengert.float64), wengert.ones(2)).dtype == wengert.float64
    assert half(wengert.ones(2, dtype=wengert.float16), 1.0).dtype == wengert.float16


def test_a_function_named_as_an_operation_is_not_that_operation():
    def tanh(x):
        return x * 3

    x = wengert.ones(2, requires_grad=True)
    (slope,) = grad(wengert.pointwise(tanh)(x).sum(), x)
    assert slope.tolist() == [3.0, 3.0]


def test_results_without_compiled_kernels(monkeypatch):
    monkeypatch.setattr(program, "native", None)
    for fn in EXPRESSIONS.values():
        inputs = operands((100_000, 1), (2,), ())
        found, expected = wengert.pointwise(fn)(*inputs), fn(*inputs)
        # Terms of a size near 1 may cancel.
        np.testing.assert_allclose(found.detach().numpy(), expected.detach().numpy(), rtol=1e-12, atol=1e-15)


def test_many_values_at_once():
    """There are more values than registers: values that are not used again give up their registers."""

    def series(x):
        total, term = 1.0, 1.0
        for n in range(1, 40):
            term = term * x / n
            total = total + term
        return total

    x = wengert.linspace(-1, 1, 3000, dtype=wengert.float64, requires_grad=True)
    y = wengert.pointwise(series)(x)
    np.testing.assert_allclose(y.detach().numpy(), np.exp(x.detach().numpy()), rtol=1e-14)
    np.testing.assert_allclose(grad(y.sum(), x)[0].numpy(), np.exp(x.detach().numpy()), rtol=1e-13)


OUTSIDE = wengert.ones(2)
REFUSED = {
    "branches on a value": lambda x: x if x > 0 else -x,
    "an operand of add is a tensor of the function's surroundings": lambda x: x + OUTSIDE,
    "asks for a value as a Python number": lambda x: math.exp(x),
    "sum is no function that works element by element": lambda x: x.sum(),
    "matmul is no function": lambda x: wengert.matmul(x, x),
    "numpy.exp is no function": lambda x: np.exp(x),
    "returned float, expected a value": lambda x: 2.0,
    "returned tuple": lambda x: (x, x),
    "expected a function of one or more positional parameters": lambda *x: x[0],
}


@pytest.mark.parametrize("message", REFUSED)
def test_functions_that_cannot_be_traced_are_refused(message):
    with pytest.raises(TypeError, match=message):
        wengert.pointwise(REFUSED[message])(wengert.ones(2))
