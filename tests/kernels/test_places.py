"""The kernels that read and write at places along a dim, against NumPy's indexing and ufunc.at."""

from __future__ import annotations

import numpy as np
import pytest

import wengert
from loops import each
from wengert.kernels import native, places

pytestmark = pytest.mark.skipif(native is None, reason="no kernels are compiled here")
RNG = np.random.default_rng(0)
KINDS = [(places.ADD, np.add), (places.MULTIPLY, np.multiply), (places.LARGEST, np.maximum), (places.SMALLEST, np.minimum)]
SHAPES = [((7,), (9,), 0), ((4, 6), (3, 8), 1), ((4, 6), (9, 5), 0), ((3, 5, 4), (3, 2, 4), 1), ((300, 400), (300, 250), 1)]


def mesh(index, dim):
    """NumPy's index of the elements that `index` names along dim."""
    parts = list(np.meshgrid(*[np.arange(n) for n in index.shape], indexing="ij"))
    parts[dim] = index
    return tuple(parts)


def layouts(x):
    """x as C lays it out, transposed in memory, and with gaps."""
    gaps = np.zeros((*x.shape[:-1], 2 * x.shape[-1]), x.dtype)
    gaps[..., ::2] = x
    return [x, np.asfortranarray(x), gaps[..., ::2]]


@each("dtype", ["int8", "float16", "int32", "float32", "float64", "int64", "complex64", "complex128"])
@each(("shape", "wanted", "dim"), SHAPES)
def test_take_along(shape, wanted, dim, dtype):
    x = (100 * RNG.normal(size=shape)).astype(dtype)
    index = RNG.integers(0, shape[dim], wanted)
    for array in layouts(x):
        for places_ in layouts(index):
            np.testing.assert_array_equal(places.take_along(array, places_, dim, False), x[mesh(index, dim)])


@each("dtype", ["float32", "float64"])
@each(("kind", "ufunc"), KINDS)
@each(("shape", "wanted", "dim"), SHAPES)
def test_write_along(shape, wanted, dim, kind, ufunc, dtype):
    x, index = RNG.normal(size=shape).astype(dtype), RNG.integers(0, shape[dim], wanted)
    values = RNG.normal(size=[n + 1 for n in wanted]).astype(dtype)  # more than are written
    used = values[tuple([slice(n) for n in wanted])]
    expected = x.copy()
    ufunc.at(expected, mesh(index, dim), used)
    for array in layouts(used):
        held = x.copy()
        assert places.write_along(kind, held, index, array, dim, False) is True
        np.testing.assert_array_equal(held, expected)
    for layout in range(3):
        held = layouts(x.copy())[layout]
        assert places.write_along(kind, held, index, values, dim, False) is True
        np.testing.assert_array_equal(held, expected)


@pytest.mark.parametrize(("shape", "wanted", "dim"), SHAPES)
def test_put_writes_the_last_of_several(shape, wanted, dim):
    x, index = RNG.normal(size=shape), RNG.integers(0, shape[dim], wanted)
    values, expected = RNG.normal(size=wanted), x.copy()
    for place in np.ndindex(*wanted):
        target = list(place)
        target[dim] = index[place]
        expected[tuple(target)] = values[place]
    assert places.write_along(places.PUT, x, index, values, dim, False) is True
    np.testing.assert_array_equal(x, expected)
    assert places.write_along(places.PUT, x, index, np.array(2.5), dim, False) is True
    assert (x[mesh(index, dim)] == 2.5).all()


@pytest.mark.parametrize(("shape", "dim"), [((7,), 0), ((6, 3), 0), ((6, 3), 1), ((3, 50, 4), 1), ((500, 300), 0), ((500, 300), 1)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_vector_names_whole_slices(shape, dim, dtype):
    x, index = RNG.normal(size=shape).astype(dtype), RNG.integers(-shape[dim], shape[dim], 2 * shape[dim])
    taken = np.take(x, index, axis=dim)
    np.testing.assert_array_equal(places.take_along(x, index, dim, True), taken)
    expected, held = np.moveaxis(x.copy(), dim, 0), x.copy()
    np.add.at(expected, index, np.moveaxis(taken, dim, 0))
    assert places.write_along(places.ADD, held, index, taken, dim, True) is True
    np.testing.assert_array_equal(np.moveaxis(held, dim, 0), expected)


@pytest.mark.parametrize("counts_back", [False, True])
@pytest.mark.parametrize("wrong", [-6, -5, -1, 4, 5, 2**63 - 1, -(2**63)])
def test_places_that_are_not_there_are_declined_and_nothing_is_written(wrong, counts_back):
    x, index = RNG.normal(size=(3, 5)), RNG.integers(0, 5, (3, 4))
    index[2, 3] = wrong
    there = -5 * counts_back <= wrong < 5
    held = x.copy()
    for order in (index, np.asfortranarray(index)):
        assert (places.take_along(x, order, 1, counts_back) is not None) == there
        assert bool(places.write_along(places.PUT, held, order, np.array(9.0), 1, counts_back)) == there
    assert there == (held == 9).any()
    assert (places.take_along(x, np.array([0, wrong]), 1, counts_back) is not None) == there


def test_writing_the_largest_keeps_nan_of_either_operand():
    held = np.array([1.0, np.nan, 2.0, -np.inf])
    index, values = np.array([0, 1, 2, 2, 3]), np.array([np.nan, 5.0, 3.0, np.nan, np.inf])
    assert places.write_along(places.LARGEST, held, index, values, 0, False) is True
    np.testing.assert_array_equal(held, [np.nan, np.nan, np.nan, np.inf])


def test_kernel_declines_other_dtypes_shapes_and_values():
    x, index = np.zeros((3, 4)), np.zeros((3, 4), np.int64)
    assert places.take_along(x, index.astype(np.int32), 0, False) is None
    assert places.take_along(x, index[:, :0], 1, False).shape == (3, 0)
    assert places.take_along(x, np.zeros((3, 5), np.int64), 0, False) is None  # larger than x in another dim
    assert places.take_along(x[:0], index, 0, False) is None
    assert places.take_along(np.zeros((3, 4), object), index, 0, False) is None
    assert places.write_along(places.ADD, x, index, x, 0, False) is None  # what is written to would be read
    assert places.write_along(places.ADD, x, index, np.zeros((3, 3)), 0, False) is None
    assert places.write_along(places.ADD, x, index, np.zeros((3, 4), np.float32), 0, False) is None
    assert places.write_along(places.ADD, np.broadcast_to(x[:1], (3, 4)), index, np.ones(()), 0, False) is None
    assert places.write_along(places.ADD, np.zeros((3, 4), np.int64), index, np.ones((), np.int64), 0, False) is None
    assert not x.any()


def test_sums_are_the_same_for_any_number_of_threads():
    x, index = np.zeros((700, 90), np.float32), RNG.integers(0, 90, (700, 300))
    values, found, threads = RNG.normal(size=(700, 300)).astype(np.float32), [], wengert.get_num_threads()
    try:
        for count in (1, 2, 4):
            wengert.set_num_threads(count)
            held = x.copy()
            places.write_along(places.ADD, held, index, values, 1, False)
            found.append(held)
    finally:
        wengert.set_num_threads(threads)
    assert (found[0] == found[1]).all()
    assert (found[0] == found[2]).all()
