"""Large arrays, for which operations take other ways than for small ones: the same values, against NumPy and SciPy."""

import math

import numpy as np
import pytest
from scipy import special

import wengert
from wengert.nn import functional as F

RNG = np.random.default_rng(0)


def normal(*shape, dtype=np.float32):
    return RNG.normal(0, 1, shape).astype(dtype)


# -- sums --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [32767, 32768, 100_000, 1_000_003])
def test_a_long_sum_is_as_exact_as_numpys(size, dtype):
    x = np.abs(normal(size, dtype=dtype))
    exact = math.fsum(x.tolist())
    eps = np.finfo(dtype).eps
    assert abs(wengert.tensor(x).sum().item() - exact) <= 2 * eps * exact
    assert abs(wengert.tensor(x).mean().item() - exact / size) <= 2 * eps * exact / size


@pytest.mark.parametrize("shape", [(64, 1000), (5, 10_000), (4, 10_007), (2, 3, 8000), (50_000, 2)])
def test_sums_of_rows(shape):
    x = normal(*shape)
    expected = x.astype(np.float64).sum(axis=-1)
    scale = np.abs(x.astype(np.float64)).sum(axis=-1)
    for keepdim in (False, True):
        out = wengert.tensor(x).sum(-1, keepdim=keepdim).numpy()
        assert out.shape == ((*expected.shape, 1) if keepdim else expected.shape)
        assert (np.abs(out.reshape(expected.shape) - expected) <= 4 * np.finfo(np.float32).eps * scale).all()


def test_a_long_sum_keeps_its_dimensions_and_dtype():
    x = wengert.ones(200, 300)
    assert x.sum(dim=(0, 1), keepdim=True).shape == (1, 1)
    assert x.sum().dtype is wengert.float32 and x.sum().shape == ()
    assert x.t().sum().item() == 60_000.0  # not contiguous


def test_long_sums_of_nan_and_infinity():
    x = np.ones(100_000, np.float32)
    x[777] = np.inf
    assert wengert.tensor(x).sum().item() == math.inf
    x[99_999] = -np.inf
    assert math.isnan(wengert.tensor(x).sum().item())
    rows = np.ones((100, 1000), np.float32)
    rows[3, 500] = np.nan
    assert np.flatnonzero(np.isnan(wengert.tensor(rows).sum(1).numpy())).tolist() == [3]


# -- softmax and cross entropy -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(30, 1000), (3, 70_000), (2, 100, 200)])
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax_of_long_rows(name, shape):
    x, ct = normal(*shape) * 5, normal(*shape)
    oracle = special.softmax if name == "softmax" else special.log_softmax
    p = special.softmax(x.astype(np.float64), axis=-1)
    if name == "softmax":
        gradient = p * (ct - (ct * p).sum(-1, keepdims=True))
    else:
        gradient = ct - p * ct.astype(np.float64).sum(-1, keepdims=True)
    leaf = wengert.tensor(x, requires_grad=True)
    out = getattr(wengert, name)(leaf, -1)
    out.backward(wengert.tensor(ct))
    rounding = np.finfo(np.float32).eps * (1 if name == "softmax" else 2 * np.abs(x).max())  # of the largest number met
    np.testing.assert_allclose(out.detach().numpy(), oracle(x.astype(np.float64), axis=-1), rtol=3e-6, atol=rounding)
    np.testing.assert_allclose(leaf.grad.numpy(), gradient, rtol=2e-5, atol=1e-5)


def test_softmax_of_long_rows_with_infinities_and_nan():
    x = normal(40, 1000)
    x[0, 3] = -np.inf
    x[1, 4] = np.inf
    x[2, 5] = np.nan
    out = wengert.tensor(x).softmax(1).numpy()
    assert out[0, 3] == 0 and out[0].sum() == pytest.approx(1)
    assert np.isnan(out[1, 4]) and np.isnan(out[2]).all() and np.isfinite(out[3:]).all()


@pytest.mark.parametrize("classes", [2, 10, 16, 17, 1000, 3001])
def test_cross_entropy_of_many_classes(classes):
    x, target = normal(50, classes) * 3, RNG.integers(0, classes, 50)
    logs = special.log_softmax(x.astype(np.float64), axis=1)
    for scores in (wengert.tensor(x), wengert.tensor(np.asfortranarray(x))):
        scores.requires_grad_()
        loss = F.cross_entropy(scores, wengert.tensor(target))
        loss.backward()
        assert loss.item() == pytest.approx(-logs[np.arange(50), target].mean(), rel=1e-6)
        expected = (np.exp(logs) - np.eye(classes)[target]) / 50
        np.testing.assert_allclose(scores.grad.numpy(), expected, atol=1e-8, rtol=1e-5)


# -- products ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
@pytest.mark.parametrize("rows", [1, 2, 64, 65])
def test_few_rows_times_a_transposed_matrix(rows, dtype):
    x, w, b = normal(rows, 200).astype(dtype), normal(300, 200).astype(dtype), normal(300).astype(dtype)
    if np.iscomplexobj(x):
        x, w = x * (1 + 2j), w * (2 - 1j)
    expected = np.einsum("ik,jk->ij", x.astype(np.complex128), w.astype(np.complex128))
    product = wengert.tensor(x) @ wengert.tensor(w).t()
    layer = F.linear(wengert.tensor(x), wengert.tensor(w), wengert.tensor(b))
    tolerance = 1e-4 if dtype == np.float32 else 1e-11
    np.testing.assert_allclose(product.numpy(), expected, atol=tolerance)
    np.testing.assert_allclose(layer.numpy(), expected + b, atol=tolerance)
    assert product.is_contiguous() and layer.is_contiguous()


# -- relu --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(64, 256), (10_000,), (500, 10)])
def test_relu_of_many_elements(shape):
    x = normal(*shape)
    x.reshape(-1)[:4] = [np.nan, np.inf, -np.inf, 0.0]
    leaf = wengert.tensor(x, requires_grad=True)
    out = wengert.relu(leaf)
    out.sum().backward()
    np.testing.assert_array_equal(out.detach().numpy(), np.where(x <= 0, 0, x))
    np.testing.assert_array_equal(leaf.grad.numpy(), np.where(x <= 0, 0.0, 1.0))
