"""The kernels of losses, against the formulas element by element."""

from __future__ import annotations

import numpy as np
import pytest

import wengert
from loops import each
from wengert.kernels import losses, native

pytestmark = pytest.mark.skipif(native is None, reason="no kernels are compiled here")
RNG = np.random.default_rng(0)
SHAPES = [(1,), (7,), (3, 5), (300, 401)]
TOLERANCE = {"float32": 1e-5, "float64": 1e-12}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", SHAPES)
def test_rounded_distances(shape, dtype):
    x, y = [RNG.normal(size=shape).astype(dtype) for _ in range(2)]
    x.reshape(-1)[-1] = 1e3
    d = np.abs(x - y).astype(np.float64)
    expected = np.where(d < 0.7, d * d / 2, 0.7 * (d - 0.35)) * 1.5
    np.testing.assert_allclose(losses.rounded_distances(x, y, 0.7, 1.5, False), expected, TOLERANCE[dtype], 1e-7)
    assert losses.rounded_distances(x, y, 0.7, 1.5, True) == pytest.approx(expected.sum(), TOLERANCE[dtype])
    slopes = 1.5 * np.clip(x - y, -0.7, 0.7)
    np.testing.assert_allclose(losses.rounded_slopes(x, y, 0.7, 1.5), slopes, TOLERANCE[dtype], 1e-7)


def test_distances_that_are_not_finite():
    x, y = np.array([np.nan, np.inf, -np.inf, np.inf]), np.array([0.0, 1.0, 1.0, np.inf])
    np.testing.assert_array_equal(losses.rounded_distances(x, y, 1.0, 1.0, False), [np.nan, np.inf, np.inf, np.nan])
    np.testing.assert_array_equal(losses.rounded_slopes(x, y, 1.0, 2.0), [np.nan, 2, -2, np.nan])
    assert np.isnan(losses.rounded_distances(x, y, 1.0, 1.0, True))


def class_margins(x, target, weights, margin, power):
    """Losses, and their derivatives in x, by loops."""
    found, slopes = np.zeros(len(x)), np.zeros(x.shape)
    for i, row in enumerate(x):
        for j, score in enumerate(row):
            gap = margin - row[target[i]] + score
            if j != target[i] and not gap <= 0:
                found[i] += weights[i] * gap**power / x.shape[1]
                slopes[i, j] += weights[i] * power * gap ** (power - 1) / x.shape[1]
                slopes[i, target[i]] -= weights[i] * power * gap ** (power - 1) / x.shape[1]
    return found, slopes


@each("dtype", ["float32", "float64"])
@each("power", [1, 2])
@each("weighted", [False, True])
@each("shape", [(1, 1), (4, 5), (200, 30)])
def test_class_margins(shape, weighted, power, dtype):
    x, target = RNG.normal(size=shape).astype(dtype), RNG.integers(0, shape[1], shape[0])
    weights = RNG.uniform(size=shape[0]).astype(dtype) if weighted else None
    ct = RNG.normal(size=shape[0]).astype(dtype)
    expected, slopes = class_margins(x, target, np.ones(shape[0]) if weights is None else weights, 0.5, power)
    tolerances = TOLERANCE[dtype], TOLERANCE[dtype]
    np.testing.assert_allclose(losses.class_margins(x, target, weights, 0.5, power == 2, None), expected, *tolerances)
    found = losses.class_margins(x, target, weights, 0.5, power == 2, ct)
    np.testing.assert_allclose(found, slopes * ct[:, None], *tolerances)
    found = losses.class_margins(x, target, weights, 0.5, power == 2, np.asarray(ct[0]))
    np.testing.assert_allclose(found, slopes * ct[0], *tolerances)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(1, 1), (4, 6), (150, 20)])
def test_label_margins(shape, dtype):
    x, labels = RNG.normal(size=shape).astype(dtype), RNG.integers(-1, shape[1], shape)
    ct = RNG.normal(size=shape[0]).astype(dtype)
    expected, slopes = np.zeros(shape[0]), np.zeros(shape)
    for i, row in enumerate(labels.tolist()):
        named = row[: row.index(-1)] if -1 in row else row
        for label in named:
            for j in set(range(shape[1])) - set(named):
                gap = 1 - x[i, label] + x[i, j]
                if gap > 0:
                    expected[i] += gap / shape[1]
                    slopes[i, j] += 1 / shape[1]
                    slopes[i, label] -= 1 / shape[1]
    tolerances = TOLERANCE[dtype], TOLERANCE[dtype]
    np.testing.assert_allclose(losses.label_margins(x, labels, None), expected, *tolerances)
    np.testing.assert_allclose(losses.label_margins(x, labels, ct), slopes * ct[:, None], *tolerances)


def test_nan_makes_a_margin_loss_nan():
    x = np.array([[0.0, np.nan, 1.0]])
    assert np.isnan(losses.class_margins(x, np.array([0]), None, 1.0, False, None))
    assert np.isnan(losses.label_margins(x, np.array([[0, -1, -1]]), None))


def test_kernel_declines_other_dtypes_shapes_and_values():
    x, target = np.zeros((3, 4)), np.zeros(3, np.int64)
    assert losses.rounded_distances(x, x[:2], 1.0, 1.0, True) is None
    assert losses.rounded_distances(x, x.astype(np.float32), 1.0, 1.0, True) is None
    assert losses.rounded_distances(x[:, ::2], x[:, ::2], 1.0, 1.0, True) is None
    assert losses.rounded_slopes(x[:0], x[:0], 1.0, 1.0) is None
    assert losses.class_margins(x, target + 4, None, 1.0, False, None) is None
    assert losses.class_margins(x, target[:2], None, 1.0, False, None) is None
    assert losses.class_margins(x, target, np.zeros(2), 1.0, False, None) is None
    assert losses.class_margins(x, target, None, 1.0, False, np.zeros(2)) is None
    assert losses.label_margins(x, np.full((3, 4), 4), None) is None
    assert losses.label_margins(x, np.zeros((3, 3), np.int64), None) is None


def test_sums_are_the_same_for_any_number_of_threads():
    x, y = RNG.normal(size=(2, 400, 500)).astype(np.float32)
    found, threads = [], wengert.get_num_threads()
    try:
        for count in (1, 2, 4):
            wengert.set_num_threads(count)
            found.append(losses.rounded_distances(x, y, 0.5, 1.0, True))
    finally:
        wengert.set_num_threads(threads)
    assert found == [found[0]] * 3
