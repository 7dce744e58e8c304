"""Batch and group norm compiled, against NumPy's mean and variance in float64 and the formula of the cotangent."""

from __future__ import annotations

import numpy as np
import pytest

from loops import each
from wengert.kernels import native, rows

pytestmark = pytest.mark.skipif(native is None, reason="there are no compiled kernels")

SHAPES = [(3, 4), (2, 4, 1), (300, 4, 3), (3, 4, 31), (2, 6, 5, 7), (2, 4, 37, 61), (1, 2, 5000), (5, 150), (40, 32, 28, 28)]


def looked_at(x, groups):
    """Return x as a matrix with one row for each mean, and the function that restores x's shape."""
    if groups:
        return x.reshape(x.shape[0] * groups, -1), lambda y: y.reshape(x.shape)
    by_channel = np.moveaxis(x, 1, 0)
    return by_channel.reshape(x.shape[1], -1), lambda y: np.moveaxis(y.reshape(by_channel.shape), 0, 1)


def per_channel(vector, x):
    return vector.reshape(-1, *(1,) * (x.ndim - 2))


def arrays(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    x, ct = (rng.normal(1, 2, shape).astype(dtype) for _ in range(2))
    return x, ct, rng.normal(size=shape[1]).astype(dtype), rng.normal(size=shape[1]).astype(dtype)


@each("dtype", [np.float32, np.float64])
@each("groups", [0, 1, 2])
@each("shape", SHAPES)
def test_normalize_and_its_cotangent(shape, groups, dtype):
    x, ct, weight, bias = arrays(shape, dtype)
    tolerance = {"rtol": 2e-4, "atol": 2e-4} if dtype is np.float32 else {"rtol": 1e-11, "atol": 1e-11}
    wide, back = looked_at(x.astype(np.float64), groups)
    mean, rstd = wide.mean(1, keepdims=True), 1 / np.sqrt(wide.var(1, keepdims=True) + 0.1)
    h = (wide - mean) * rstd

    out, means, rstds = rows.normalize(x, weight, bias, groups, 0.1)
    np.testing.assert_allclose(out, back(h) * per_channel(weight, x) + per_channel(bias, x), **tolerance)
    np.testing.assert_allclose(means.reshape(-1), mean[:, 0], **tolerance)
    np.testing.assert_allclose(rstds.reshape(-1), rstd[:, 0], **tolerance)
    assert means.shape == ((shape[0], groups, 1, 1) if groups else (1, shape[1], *(1,) * (len(shape) - 2)))

    g, _ = looked_at(ct.astype(np.float64) * per_channel(weight, x), groups)
    of_x = back((g - g.mean(1, keepdims=True) - h * (g * h).mean(1, keepdims=True)) * rstd)
    over = (0, *range(2, x.ndim))
    scale = np.sqrt(x.size / shape[1])
    got = rows.normalize_cotangent(ct, x, means, rstds, weight, groups)
    np.testing.assert_allclose(got[0], of_x, **tolerance)
    np.testing.assert_allclose(got[1] / scale, (ct * back(h)).sum(over) / scale, **tolerance)
    np.testing.assert_allclose(got[2] / scale, ct.astype(np.float64).sum(over) / scale, **tolerance)


@pytest.mark.parametrize("groups", [0, 2])
def test_without_weight_and_bias(groups):
    x, ct, weight, _ = arrays((3, 4, 50), np.float64)
    ones = np.ones_like(weight)
    plain, means, rstds = rows.normalize(x, None, None, groups, 0.1)
    np.testing.assert_array_equal(plain, rows.normalize(x, ones, np.zeros_like(ones), groups, 0.1)[0])
    np.testing.assert_array_equal(
        rows.normalize_cotangent(ct, x, means, rstds, None, groups)[0],
        rows.normalize_cotangent(ct, x, means, rstds, ones, groups)[0],
    )


@pytest.mark.parametrize("inner", [3, 40])
def test_not_a_number_stays_in_its_group(inner):
    x = arrays((2, 4, inner), np.float32)[0]
    x[0, 1, 2] = np.nan
    x[1, 3, 0] = np.inf
    by_channel, by_group = rows.normalize(x, None, None, 0, 0.1)[0], rows.normalize(x, None, None, 2, 0.1)[0]
    assert np.isnan(by_channel[:, 1]).all() and np.isfinite(by_channel[:, [0, 2]]).all()
    assert np.isnan(by_channel[1, 3, 0])
    assert np.isnan(by_group[0, :2]).all() and np.isfinite(by_group[0, 2:]).all() and np.isfinite(by_group[1, :2]).all()


def test_equal_elements_give_the_bias():
    x = np.full((2, 4, 40), 3.0, np.float32)
    out, means, _ = rows.normalize(x, np.ones(4, np.float32), np.arange(4, dtype=np.float32), 0, 1e-5)
    np.testing.assert_array_equal(out, np.broadcast_to(np.arange(4, dtype=np.float32)[:, None], out.shape))
    np.testing.assert_array_equal(means.reshape(-1), 3)


def test_kernel_declines_other_dtypes_shapes_and_layouts():
    x = np.ones((2, 4, 6))
    assert rows.normalize(x.astype(np.float16), None, None, 0, 0.1) is None
    assert rows.normalize(x[:, :, ::2], None, None, 0, 0.1) is None
    assert rows.normalize(x[:0], None, None, 0, 0.1) is None
    assert rows.normalize(np.ones(3), None, None, 0, 0.1) is None
    assert rows.normalize(x, np.ones(4, np.float32), None, 0, 0.1) is None
    assert rows.normalize(x, None, None, 3, 0.1) is None  # 4 channels are not 3 groups
    with pytest.raises(TypeError):
        rows.normalize(x, None, None, 0)
