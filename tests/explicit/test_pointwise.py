"""Functions of one number, with values worked by hand; kinks and special values."""

from __future__ import annotations

import math

import numpy as np
import pytest

import wengert
from wengert import tensor

INF, NAN = math.inf, math.nan


def slope(function, *values, dtype=wengert.float64):
    """The derivative of function at each of the values."""
    x = tensor(values, dtype=dtype, requires_grad=True)
    y = function(x)
    return wengert.autograd.grad(y, x, wengert.ones_like(y))[0].tolist()


def second_slope(function, value):
    x = tensor(value, dtype=wengert.float64, requires_grad=True)
    (first,) = wengert.autograd.grad(function(x), x, create_graph=True)
    return wengert.autograd.grad(first, x)[0].item()


@pytest.mark.parametrize(
    ("name", "x", "value", "derivative"),
    [
        ("neg", 2.0, -2.0, -1.0),
        ("abs", -2.0, 2.0, -1.0),
        ("square", 3.0, 9.0, 6.0),
        ("sqrt", 4.0, 2.0, 0.25),
        ("rsqrt", 4.0, 0.5, -0.0625),
        ("reciprocal", 4.0, 0.25, -0.0625),
        ("exp", 0.0, 1.0, 1.0),
        ("exp2", 3.0, 8.0, 8 * math.log(2)),
        ("expm1", 0.0, 0.0, 1.0),
        ("log", 2.0, math.log(2), 0.5),
        ("log2", 8.0, 3.0, 1 / (8 * math.log(2))),
        ("log10", 100.0, 2.0, 1 / (100 * math.log(10))),
        ("log1p", 1.0, math.log(2), 0.5),
        ("sin", 0.0, 0.0, 1.0),
        ("cos", 0.0, 1.0, 0.0),
        ("tan", math.pi / 4, 1.0, 2.0),
        ("asin", 0.6, math.asin(0.6), 1.25),
        ("acos", 0.6, math.acos(0.6), -1.25),
        ("atan", 2.0, math.atan(2), 0.2),
        ("sinh", 0.0, 0.0, 1.0),
        ("cosh", 0.0, 1.0, 0.0),
        ("tanh", 0.0, 0.0, 1.0),
        ("asinh", 0.75, math.log(2), 0.8),
        ("acosh", 1.25, math.log(2), 4 / 3),
        ("atanh", 0.6, math.log(2), 1.5625),
        ("sigmoid", 0.0, 0.5, 0.25),
        ("relu", 2.0, 2.0, 1.0),
        ("frac", -2.75, -0.75, 1.0),
        ("deg2rad", 180.0, math.pi, math.pi / 180),
        ("rad2deg", math.pi, 180.0, 180 / math.pi),
        ("erf", 0.0, 0.0, 2 / math.sqrt(math.pi)),
        ("erfc", 0.0, 1.0, -2 / math.sqrt(math.pi)),
        ("erfinv", 0.0, 0.0, math.sqrt(math.pi) / 2),
        ("lgamma", 1.0, 0.0, -0.5772156649015329),
        ("digamma", 1.0, -0.5772156649015329, math.pi**2 / 6),
        ("logit", 0.5, 0.0, 4.0),
        ("sinc", 0.5, 2 / math.pi, -4 / math.pi),
        *[(name, 2.25, value, 0.0) for name, value in (("floor", 2.0), ("ceil", 3.0), ("trunc", 2.0), ("round", 2.0))],
        ("sign", -3.0, -1.0, 0.0),
        ("sgn", 3.0, 1.0, 0.0),
    ],
)
def test_value_and_derivative(name, x, value, derivative):
    function = getattr(wengert, name)
    assert function(tensor(x, dtype=wengert.float64)).item() == pytest.approx(value, rel=1e-14, abs=1e-15)
    assert slope(function, x) == [pytest.approx(derivative, rel=1e-13, abs=1e-15)]
    assert getattr(tensor([x], dtype=wengert.float64), name)().item() == pytest.approx(value, rel=1e-14, abs=1e-15)


def test_second_names():
    pairs = {"absolute": "abs", "negative": "neg", "arcsin": "asin", "arctanh": "atanh", "fix": "trunc"}
    for second, first in pairs.items():
        assert getattr(wengert, second) is getattr(wengert, first)
        assert hasattr(wengert.Tensor, second) and hasattr(wengert.Tensor, second + "_")


# -- kinks -------------------------------------------------------------------------------------------------------------


def test_kinks_at_zero():
    assert slope(wengert.abs, 0.0, -0.0) == [0.0, 0.0]
    assert slope(wengert.relu, 0.0, -0.0, -1.0, 1e-300) == [0.0, 0.0, 0.0, 1.0]
    assert slope(wengert.sqrt, 0.0) == [INF]
    assert slope(wengert.rsqrt, 0.0) == [-INF]
    assert slope(wengert.log, 0.0) == [INF]
    assert slope(wengert.reciprocal, 0.0) == [-INF]
    assert slope(wengert.sinc, 0.0) == [0.0]


def test_nan():
    assert math.isnan(wengert.relu(tensor(NAN)).item())
    assert slope(wengert.relu, NAN) == [1.0]
    assert slope(wengert.abs, NAN) == [0.0]
    assert wengert.sign(tensor(NAN)).item() == 0.0
    assert slope(wengert.nan_to_num, NAN, INF, -INF, 2.0) == [0.0, 0.0, 0.0, 1.0]


@pytest.mark.parametrize("n", [3, 3000])
def test_relu_stops_infinite_cotangents(n):
    x = wengert.full((n,), -1.0, requires_grad=True)
    (grad,) = wengert.autograd.grad(x.relu(), x, wengert.full((n,), INF))
    assert grad.tolist() == [0.0] * n


def test_second_derivatives():
    assert second_slope(wengert.sinc, 0.0) == pytest.approx(-(math.pi**2) / 3)
    assert second_slope(lambda x: x.exp(), 0.0) == 1.0
    assert second_slope(wengert.tanh, 0.0) == 0.0
    assert second_slope(wengert.square, 3.0) == 2.0


def test_sigmoid_is_accurate_far_out():
    x = tensor([-1000.0, -700.0, 40.0, 1000.0], dtype=wengert.float64)
    assert wengert.sigmoid(x).tolist() == [0.0, pytest.approx(math.exp(-700), rel=1e-12), 1.0, 1.0]


def test_nan_to_num():
    x = tensor([NAN, INF, -INF, 2.0], dtype=wengert.float64)
    largest = np.finfo(np.float64).max
    assert x.nan_to_num().tolist() == [0.0, largest, -largest, 2.0]
    assert x.nan_to_num(1.0, 3.0, 4.0).tolist() == [1.0, 3.0, 4.0, 2.0]


def test_rounding():
    assert wengert.round(tensor([0.5, 1.5, -0.5, 2.5])).tolist() == [0.0, 2.0, 0.0, 2.0]
    assert wengert.round(tensor([1.26, -0.04], dtype=wengert.float64), decimals=1).tolist() == [1.3, 0.0]
    assert wengert.round(tensor([126.0]), decimals=-1).tolist() == [130.0]
    assert wengert.floor(tensor([3, -2])).dtype is wengert.int64


def test_sinc_of_whole_numbers():
    assert wengert.sinc(tensor([0.0, 1.0, -2.0])).tolist() == pytest.approx([1.0, 0.0, 0.0], abs=1e-7)


# -- dtypes ------------------------------------------------------------------------------------------------------------


def test_integers_become_the_default_float():
    assert wengert.exp(tensor([0, 1])).dtype is wengert.float32
    assert wengert.sqrt(tensor([True])).dtype is wengert.float32
    assert wengert.abs(tensor([-3])).tolist() == [3]


def test_half_precision_stays():
    x = tensor([0.5, -1.0], dtype=wengert.float16)
    for name in ("exp", "sigmoid", "relu", "erf", "sinc", "tanh", "sign"):
        assert getattr(wengert, name)(x).dtype is wengert.float16, name


def test_bools_cannot_be_negated():
    with pytest.raises(RuntimeError, match="Negation, the `-` operator, on a bool tensor is not supported"):
        -tensor([True])
    with pytest.raises(RuntimeError, match="The `\\+` operator, on a bool tensor is not supported"):
        +tensor([True])
    with pytest.raises(RuntimeError, match="Boolean inputs not supported for relu"):
        wengert.relu(tensor([True]))


def test_plus_is_the_tensor_itself():
    x = tensor([1.0], requires_grad=True)
    assert +x is x and wengert.positive(x) is x


def test_clone_is_a_copy_that_passes_gradients_on():
    x = tensor([1.0, 2.0], requires_grad=True)
    y = x.clone()
    y.detach().mul_(5)
    assert x.tolist() == [1.0, 2.0] and y.grad_fn.name() == "CloneBackward0"
    assert slope(wengert.clone, 1.0) == [1.0]


def test_cast():
    x = tensor([1.5, -2.0], requires_grad=True)
    y = x.to(wengert.float64)
    assert y.dtype is wengert.float64 and y.grad_fn.name() == "CopyBackwards"
    (grad,) = wengert.autograd.grad(y, x, tensor([1.0, 2.0], dtype=wengert.float64))
    assert grad.dtype is wengert.float32 and grad.tolist() == [1.0, 2.0]
    assert x.to(wengert.int64).tolist() == [1, -2]


# -- complex numbers ---------------------------------------------------------------------------------------------------


def test_magnitude_and_angle():
    z = tensor([3 + 4j, 0j], dtype=wengert.complex128, requires_grad=True)
    assert z.abs().tolist() == [5.0, 0.0]
    (grad,) = wengert.autograd.grad(z.abs().sum(), z)
    assert np.allclose(grad.numpy(), [0.6 + 0.8j, 0])
    (grad,) = wengert.autograd.grad(wengert.angle(z).sum(), z)
    assert np.allclose(grad.numpy(), [-0.16 + 0.12j, 0])  # 1j * z / |z|**2
    assert wengert.angle(tensor([-2.0, 0.0, 3.0])).tolist() == [pytest.approx(math.pi), 0.0, 0.0]


def test_real_and_imaginary_parts():
    z = tensor([1 + 2j], dtype=wengert.complex128, requires_grad=True)
    assert wengert.real(z).item() == 1.0 and wengert.imag(z).item() == 2.0
    assert wengert.autograd.grad(wengert.real(z).sum(), z)[0].item() == 1
    assert wengert.autograd.grad(wengert.imag(z).sum(), z)[0].item() == 1j
    x = tensor([1.0], requires_grad=True)
    assert wengert.real(x) is x and wengert.conj(x) is x
    with pytest.raises(RuntimeError, match="imag is not implemented for tensors with non-complex dtypes"):
        wengert.imag(x)


def test_complex_numbers_from_parts():
    x, y = tensor([1.0], requires_grad=True), tensor([2.0], requires_grad=True)
    z = wengert.complex(x, y)
    assert z.item() == 1 + 2j
    grads = wengert.autograd.grad(z, (x, y), tensor([3 + 5j]))
    assert [g.item() for g in grads] == [3.0, 5.0]
    assert wengert.polar(tensor([2.0]), tensor([math.pi / 2])).item() == pytest.approx(2j, abs=1e-6)


def test_conjugate():
    z = tensor([1 + 2j], requires_grad=True)
    assert z.conj().item() == 1 - 2j
    assert wengert.autograd.grad(z.conj(), z, tensor([3 + 5j]))[0].item() == 3 - 5j
