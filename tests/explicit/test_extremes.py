"""Values and derivatives at numbers that are very large, very small, infinite, or of unequal dtypes."""

from __future__ import annotations

import math

import numpy as np
import pytest

import wengert
from wengert.autograd import grad

inf = math.inf


def vector(*numbers: float, requires_grad: bool = False) -> wengert.Tensor:
    return wengert.tensor(numbers, dtype=wengert.float64, requires_grad=requires_grad)


def test_norms_neither_underflow_nor_overflow():
    assert wengert.norm(vector(1e-320)).item() == 1e-320
    assert wengert.linalg.vector_norm(vector(3e-320, 4e-320)).item() == 5e-320
    assert wengert.linalg.vector_norm(vector(3e200, 4e200)).item() == pytest.approx(5e200)
    assert wengert.linalg.vector_norm(vector(1e200, 1e200), 3).item() == pytest.approx(2 ** (1 / 3) * 1e200)
    assert wengert.linalg.vector_norm(vector(inf, 1.0)).item() == inf and wengert.norm(vector(0.0, 0.0)).item() == 0
    x = vector(3e-200, 4e-200, requires_grad=True)
    assert grad(x.norm(), x)[0].tolist() == pytest.approx([0.6, 0.8])


def test_a_0d_tensor_promotes_kron_as_others_do():
    found = wengert.kron(wengert.tensor(300, dtype=wengert.int32), wengert.tensor([1, 2], dtype=wengert.uint8))
    assert found.tolist() == [300, 600] and found.dtype is wengert.int32
    x = wengert.tensor(2.0, dtype=wengert.float64, requires_grad=True)
    wengert.kron(x, wengert.tensor([[1.0, 2.0]])).sum().backward()
    assert x.grad.item() == 3.0


def test_cumprod_of_a_zero_and_an_infinity():
    """The results are a and a b, so the derivatives are 1 + b and a."""
    x = vector(0.0, inf, requires_grad=True)
    assert grad(wengert.cumprod(x, 0).sum(), x)[0].tolist() == [inf, 0.0]
    x = vector(0.0, 2.0, 0.0, requires_grad=True)
    assert grad(wengert.cumprod(x, 0).sum(), x)[0].tolist() == [3.0, 0.0, 0.0]


@pytest.mark.parametrize("scale", [1.0, 1e8, 1e14, 1e200, 1e-200])
def test_the_derivative_of_the_exponential_is_linear_in_large_cotangents(scale):
    rng = np.random.default_rng(0)
    A, G, H = rng.normal(size=(3, 3, 3))

    def derivatives(scale: float) -> list[np.ndarray]:
        x = wengert.tensor(A, requires_grad=True)
        (first,) = grad((wengert.linalg.matrix_exp(x) * wengert.tensor(G)).sum() * scale, x, create_graph=True)
        (second,) = grad((first * wengert.tensor(H)).sum(), x)
        return [first.detach().numpy() / scale, second.numpy() / scale]

    for found, expected in zip(derivatives(scale), derivatives(1.0), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-13)


def test_assigning_a_view_to_its_own_place_is_a_write():
    x = wengert.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        x[0:] = x[0:]
    y = x.exp()
    version = y._version
    y[1:] = y[1:]
    assert y._version > version
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
    z = x * 1
    z[1:] += 2
    z.sum().backward()
    assert x.grad.tolist() == [1, 1, 1]
