"""The kernels over windows of pictures, against loops over the windows."""

from __future__ import annotations

import numpy as np
import pytest

import wengert
from wengert.kernels import native, windows

pytestmark = pytest.mark.skipif(native is None, reason="no kernels are compiled here")
RNG = np.random.default_rng(0)
# kernel, stride, padding, dilation, and how many windows a picture of 9 x 12 has
CASES = [
    ((2, 2), (2, 2), (0, 0), (1, 1)),
    ((3, 2), (1, 2), (1, 0), (1, 1)),
    ((3, 3), (2, 1), (1, 1), (2, 3)),
    ((1, 4), (1, 1), (0, 2), (1, 1)),
]


def count(size, kernel, stride, padding, dilation):
    rows = zip(size, kernel, stride, padding, dilation, strict=True)
    return tuple((n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in rows)


def largest_in_windows(picture, kernel, stride, padding, dilation):
    """The largest element of each window and its place: the first of equal ones, or the last NaN."""
    size = picture.shape
    shape = count(size, kernel, stride, padding, dilation)
    best, places = np.empty(shape, picture.dtype), np.empty(shape, np.int64)
    for i, j in np.ndindex(*shape):
        found = None
        for p, q in np.ndindex(*kernel):
            y, x = i * stride[0] - padding[0] + p * dilation[0], j * stride[1] - padding[1] + q * dilation[1]
            if 0 <= y < size[0] and 0 <= x < size[1]:
                value = picture[y, x]
                if found is None or value > found[0] or np.isnan(value):
                    found = value, y * size[1] + x
        best[i, j], places[i, j] = found
    return best, places


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("kernel", "stride", "padding", "dilation"), CASES)
@pytest.mark.parametrize("special", ["none", "ties", "nan", "minus infinity"])
def test_max_pool(kernel, stride, padding, dilation, special, dtype):
    x = RNG.normal(size=(2, 3, 9, 12)).astype(dtype)
    if special == "ties":
        x = np.round(x)
    if special == "nan":
        x[RNG.uniform(size=x.shape) < 0.1] = np.nan
    if special == "minus infinity":
        x[RNG.uniform(size=x.shape) < 0.8] = -np.inf
    shape = count(x.shape[-2:], kernel, stride, padding, dilation)
    best, places = windows.max_pool(x, kernel, stride, padding, dilation, shape)
    for n, c in np.ndindex(2, 3):
        expected = largest_in_windows(x[n, c], kernel, stride, padding, dilation)
        np.testing.assert_array_equal(best[n, c], expected[0])
        np.testing.assert_array_equal(places[n, c], expected[1])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("kernel", "stride", "padding", "dilation"), CASES)
def test_fill_columns(kernel, stride, padding, dilation, dtype):
    x = RNG.normal(size=(2, 3, 9, 12)).astype(dtype)
    n = count((9, 12), kernel, stride, (0, 0), dilation)
    for padded in (x, np.asfortranarray(x), x[:, :, ::-1]):
        columns = np.zeros((2, 3, *kernel, *n), dtype)
        assert windows.fill_columns(columns, padded, stride, dilation)
        for p, q in np.ndindex(*kernel):
            rows = slice(p * dilation[0], p * dilation[0] + (n[0] - 1) * stride[0] + 1, stride[0])
            across = slice(q * dilation[1], q * dilation[1] + (n[1] - 1) * stride[1] + 1, stride[1])
            np.testing.assert_array_equal(columns[:, :, p, q], padded[:, :, rows, across])


@pytest.mark.parametrize(("kernel", "stride", "padding", "dilation"), CASES)
def test_add_up_columns_is_the_adjoint(kernel, stride, padding, dilation):
    n = count((9, 12), kernel, stride, padding, dilation)
    columns = RNG.normal(size=(2, 3, *kernel, *n))
    expected = np.zeros((2, 3, 9 + 2 * padding[0], 12 + 2 * padding[1]))
    for p, q in np.ndindex(*kernel):
        for i, j in np.ndindex(*n):
            expected[:, :, i * stride[0] + p * dilation[0], j * stride[1] + q * dilation[1]] += columns[:, :, p, q, i, j]
    expected = expected[:, :, padding[0] : padding[0] + 9, padding[1] : padding[1] + 12]
    for array in (columns, np.moveaxis(np.moveaxis(columns, 0, 3).copy(), 3, 0)):
        np.testing.assert_allclose(windows.add_up_columns(array, (9, 12), stride, padding, dilation), expected)


def test_windows_beyond_the_array_are_refused():
    columns = np.zeros((1, 1, 3, 3, 8, 10), np.float32)
    with pytest.raises(ValueError, match="the windows do not lie in the array"):
        windows.fill_columns(columns, np.zeros((1, 1, 9, 12), np.float32), (1, 1), (1, 1))
    with pytest.raises(ValueError, match="the windows do not lie in the array"):
        windows.fill_columns(columns[..., :7, :], np.zeros((2, 1, 9, 12), np.float32), (1, 1), (1, 1))


def test_add_at_places():
    values = RNG.normal(size=(2, 3, 4, 5))
    places = RNG.integers(0, 42, values.shape)
    expected = np.zeros((2, 3, 42))
    for n, c in np.ndindex(2, 3):
        np.add.at(expected[n, c], places[n, c].ravel(), values[n, c].ravel())
    np.testing.assert_allclose(windows.add_at_places(values, places, (6, 7)).reshape(2, 3, 42), expected)


def test_results_are_the_same_for_any_number_of_threads():
    x = RNG.normal(size=(64, 8, 30, 30)).astype(np.float32)
    before, found = wengert.get_num_threads(), set()
    try:
        for n in (1, 2, 4):
            wengert.set_num_threads(n)
            best, places = windows.max_pool(x, (3, 3), (2, 2), (1, 1), (1, 1), (15, 15))
            found.add(best.tobytes() + places.tobytes() + windows.add_at_places(best, places, (30, 30)).tobytes())
    finally:
        wengert.set_num_threads(before)
    assert len(found) == 1
