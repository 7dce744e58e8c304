"""The kernels that run, sort and select along a dim, against NumPy's accumulate and stable sorts."""

from __future__ import annotations

import numpy as np
import pytest

import wengert
from loops import each
from wengert.kernels import native, scans

pytestmark = pytest.mark.skipif(native is None, reason="no kernels are compiled here")
RNG = np.random.default_rng(0)
SHAPES = [((1,), 0), ((50,), 0), ((3, 7), 1), ((7, 3), 0), ((3, 60, 5), 1), ((130, 300), 1), ((300, 130), 0)]
SORTED_DTYPES = ["float32", "float64", "int32", "int64"]


def numbers(shape, dtype, special="none"):
    x = 3 * RNG.normal(size=shape)
    if special == "ties":
        x = np.round(x)
    if special == "nan":
        x = np.where(RNG.uniform(size=shape) < 0.2, np.nan, np.round(x))
    if special == "infinities":
        x = np.where(RNG.uniform(size=shape) < 0.5, RNG.choice([np.inf, -np.inf, 0.0, -0.0], shape), x)
    return (1000 * x if "int" in dtype else x).astype(dtype)


def stable_order(x, dim, descending=False):
    """The indices that sort x, equal elements in order, NaN largest, 0 equal to -0."""
    if not descending:
        return np.argsort(x, axis=dim, kind="stable")
    backwards = np.flip(np.argsort(np.flip(x, dim), axis=dim, kind="stable"), dim)
    return x.shape[dim] - 1 - backwards


def specials(dtype):
    return ["none", "ties"] if "int" in dtype else ["none", "ties", "nan", "infinities"]


@each(("dtype", "special"), [(d, s) for d in SORTED_DTYPES for s in specials(d)])
@each(("shape", "dim"), SHAPES)
def test_first_values_of_a_sort_along_a_dim(shape, dim, dtype, special):
    x = numbers(shape, dtype, special)
    n = shape[dim]
    for descending in (False, True):
        order = stable_order(x, dim, descending)
        for k in {1, min(3, n), min(16, n), min(17, n), max(n - 1, 1), n}:
            for array in (x, np.asfortranarray(x)):
                values, indices = scans.first_along(array, dim, k, descending)
                np.testing.assert_array_equal(indices, order.take(range(k), axis=dim))
                np.testing.assert_array_equal(values, np.take_along_axis(x, indices, dim))
                assert values.dtype == x.dtype


@each(("dtype", "special"), [(d, s) for d in SORTED_DTYPES for s in specials(d)])
@each(("shape", "dim"), SHAPES)
def test_kth_value_along_a_dim(shape, dim, dtype, special):
    x = numbers(shape, dtype, special)
    order = stable_order(x, dim)
    for k in {0, shape[dim] // 3, shape[dim] // 2, shape[dim] - 1}:
        values, indices = scans.one_along(x, dim, k)
        np.testing.assert_array_equal(indices, order.take([k], axis=dim))
        np.testing.assert_array_equal(values, np.take_along_axis(x, indices, dim))


@each(("dtype", "special"), [(d, s) for d in SORTED_DTYPES for s in specials(d)])
@each(("shape", "dim"), SHAPES)
def test_median_along_a_dim(shape, dim, dtype, special):
    x = np.moveaxis(numbers(shape, dtype, special), dim, -1)
    of_numbers, of_all = scans.one_along(x, x.ndim - 1, scans.MIDDLE_NUMBER), scans.one_along(x, x.ndim - 1, scans.MIDDLE)
    for place in np.ndindex(*x.shape[:-1]):
        lane = x[place]
        nan = np.flatnonzero(lane != lane)
        middle = stable_order(lane, 0)[max(len(lane) - len(nan) - 1, 0) // 2]
        assert of_numbers[1][place] == middle
        assert of_all[1][place] == (nan[0] if len(nan) else middle)
    np.testing.assert_array_equal(of_all[0], np.take_along_axis(x, of_all[1], -1))


def test_the_largest_ints_are_no_nan():
    x = np.array([2**31 - 1, 0, 2**31 - 1, 5, 2**31 - 1], np.int32)
    assert scans.one_along(x, 0, scans.MIDDLE)[1] == [0]
    assert scans.one_along(x, 0, scans.MIDDLE_NUMBER)[1] == [0]


def test_a_long_lane_of_numbers_alike_but_for_their_last_bits():
    bits = np.arange(100_000, dtype=np.int64) + 0x3FF0_0000_0000_0000
    x = RNG.permutation(bits).view(np.float64)
    np.testing.assert_array_equal(scans.first_along(x, 0, x.size, False)[0], bits.view(np.float64))
    assert scans.one_along(x, 0, 77_777)[0] == bits.view(np.float64)[77_777]


RUNNING = [(scans.SUM, np.add), (scans.PRODUCT, np.multiply)]


@each("dtype", ["float32", "float64"])
@each(("kind", "ufunc"), RUNNING)
@each(("shape", "dim"), SHAPES)
@each("reverse", [False, True])
def test_running_sums_and_products(shape, dim, kind, ufunc, dtype, reverse):
    x = RNG.uniform(0.5, 1.5, shape).astype(dtype)
    way = np.flip(x, dim) if reverse else x
    expected = ufunc.accumulate(way.astype(np.float64), axis=dim).astype(dtype)
    expected = np.flip(expected, dim) if reverse else expected
    for array in (x, np.asfortranarray(x)):
        np.testing.assert_array_equal(scans.scan(kind, array, dim, reverse), expected)


@each("special", ["none", "ties", "nan", "infinities"])
@each("dtype", ["float32", "float64"])
@each(("shape", "dim"), SHAPES)
def test_running_extrema(shape, dim, dtype, special):
    x = numbers(shape, dtype, special)
    for kind, ufunc in ((scans.LARGEST, np.maximum), (scans.SMALLEST, np.minimum)):
        expected = ufunc.accumulate(x, axis=dim)
        places = np.arange(shape[dim]).reshape([-1 if d == dim else 1 for d in range(x.ndim)])
        met = np.maximum.accumulate(np.where((x == expected) | (x != x), places, 0), axis=dim)
        values, indices = scans.scan(kind, x, dim, False)
        np.testing.assert_array_equal(values, expected)
        np.testing.assert_array_equal(indices, met)


@each("special", ["none", "nan", "infinities"])
@each(("dtype", "tolerance"), [("float32", 1e-6), ("float64", 1e-14)])
@each(("shape", "dim"), SHAPES)
def test_running_logsumexp(shape, dim, dtype, tolerance, special):
    x = numbers(shape, dtype, special)
    with np.errstate(all="ignore"):
        expected = np.logaddexp.accumulate(x.astype(np.float64), axis=dim)
    np.testing.assert_allclose(scans.scan(scans.LOGSUMEXP, x, dim, False), expected, tolerance, tolerance)


def test_running_logsumexp_does_not_overflow():
    x = np.array([-1e4, -1e4, 1e4, 1e4, -np.inf])
    np.testing.assert_allclose(scans.scan(scans.LOGSUMEXP, x, 0, False), [-1e4, -1e4 + np.log(2), 1e4, *[1e4 + np.log(2)] * 2])


@each(("shape", "dim"), SHAPES)
@each("reverse", [False, True])
@each("terms", [False, True])
def test_recurrences(shape, dim, reverse, terms):
    x, y = RNG.uniform(-1, 1, shape), RNG.normal(size=shape) if terms else None
    found = np.moveaxis(scans.recurrence(x, y, dim, reverse, 1.5), dim, 0)
    factors = np.moveaxis(x, dim, 0)
    state = np.full(factors.shape[1:], 1.5)
    for i in reversed(range(shape[dim])) if reverse else range(shape[dim]):
        np.testing.assert_allclose(found[i], state, 1e-14)
        state = factors[i] * state + (0 if y is None else np.moveaxis(y, dim, 0)[i])


def test_kernel_declines_other_dtypes_shapes_and_values():
    x = np.zeros((3, 4))
    for declined in (np.zeros((3, 4), np.float16), x[:0], np.zeros((3, 4), np.complex64), np.zeros(())):
        assert scans.scan(scans.SUM, declined, 0, False) is None
        assert scans.first_along(declined, 0, 1, False) is None
        assert scans.one_along(declined, 0, 0) is None
    assert scans.scan(scans.SUM, x, 2, False) is None
    assert scans.first_along(x, 0, 4, False) is None
    assert scans.first_along(x, 0, 0, False) is None
    assert scans.one_along(x, 0, 3) is None
    assert scans.recurrence(x, x[:2], 0, False, 0.0) is None


def test_results_are_the_same_for_any_number_of_threads():
    x, found, threads = RNG.normal(size=(600, 300)).astype(np.float32), [], wengert.get_num_threads()
    try:
        for count in (1, 4):
            wengert.set_num_threads(count)
            found.append([scans.scan(scans.LOGSUMEXP, x, 1, False), scans.first_along(x, 1, 300, True)[1]])
    finally:
        wengert.set_num_threads(threads)
    for one, several in zip(*found, strict=True):
        np.testing.assert_array_equal(one, several)


@each("special", ["none", "nan", "infinities"])
@each("dtype", ["float32", "float64"])
@each(("shape", "dim"), SHAPES)
def test_products(shape, dim, dtype, special):
    x = numbers(shape, dtype, special)
    x /= np.maximum(np.abs(x), 0.5) if special == "none" else 1
    with np.errstate(all="ignore"):
        expected = np.multiply.reduce(x, axis=dim, keepdims=True)
    for array in (x, np.asfortranarray(x)):
        np.testing.assert_allclose(scans.multiply_up(array, dim), expected, 1e-4 if dtype == "float32" else 1e-12)


@each(("dtype", "special"), [(d, s) for d in SORTED_DTYPES for s in specials(d)])
@each(("shape", "dim"), SHAPES)
def test_mode_along_a_dim(shape, dim, dtype, special):
    x = np.moveaxis(numbers(shape, dtype, special), dim, -1)
    values, places = scans.one_along(x, x.ndim - 1, scans.MODE)
    for place in np.ndindex(*x.shape[:-1]):
        lane = x[place]
        kinds, counts = np.unique(lane, return_counts=True, equal_nan=False)
        mode = kinds[counts.argmax()]
        there = np.flatnonzero((lane == mode) | ((lane != lane) & (mode != mode)))
        assert places[place] == there[-1]
    np.testing.assert_array_equal(values, np.take_along_axis(x, places, -1))
