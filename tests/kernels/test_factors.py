"""Triangular systems, QR factors, distances, triangles, transposed copies, joins and choices compiled, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from loops import each
from wengert.kernels import native, rows

pytestmark = pytest.mark.skipif(native is None, reason="there are no compiled kernels")
DTYPES = [np.float32, np.float64]


def tolerance(dtype):
    return {"rtol": 2e-4, "atol": 2e-4} if dtype is np.float32 else {"rtol": 1e-11, "atol": 1e-11}


@each("dtype", DTYPES)
@each("unit", [False, True])
@each("upper", [False, True])
@each(("batch", "n", "k"), [((), 1, 1), ((), 5, 3), ((2, 3), 4, 17), ((), 70, 64), ((3,), 33, 70), ((), 256, 5)])
def test_triangular_systems(batch, n, k, upper, unit, dtype):
    rng = np.random.default_rng(0)
    a = (rng.normal(size=(*batch, n, n)) / n + 2 * np.eye(n)).astype(dtype)  # the other half is not looked at
    b = rng.normal(size=(*batch, n, k)).astype(dtype)
    half = (np.triu if upper else np.tril)(a)
    if unit:
        half = half - half * np.eye(n, dtype=dtype) + np.eye(n, dtype=dtype)
    for given in (a, a.swapaxes(-1, -2).copy().swapaxes(-1, -2)):
        x = rows.solve_triangular(given, b, upper, unit)
        np.testing.assert_allclose(half.astype(np.float64) @ x, b, **tolerance(dtype))


def test_a_zero_on_the_diagonal_divides():
    a, b = np.array([[2.0, 0.0], [1.0, 0.0]]), np.array([[2.0, 0.0], [2.0, 0.0]])
    np.testing.assert_array_equal(rows.solve_triangular(a, b, False, False), [[1.0, 0.0], [np.inf, np.nan]])


def test_triangular_systems_that_are_declined():
    a, b = np.eye(3), np.ones((3, 2))
    assert rows.solve_triangular(a.astype(complex), b.astype(complex), True, False) is None
    assert rows.solve_triangular(a, b.astype(np.float32), True, False) is None
    assert rows.solve_triangular(a[None], b, True, False) is None
    assert rows.solve_triangular(np.eye(257), np.ones((257, 1)), True, False) is None
    assert rows.solve_triangular(a, b[:, :0], True, False) is None


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(1, 1), (4, 4), (9, 4), (4, 9), (3, 40, 21), (2, 2, 21, 40), (128, 128), (1, 6), (6, 1)])
def test_qr(shape, dtype):
    x = np.random.default_rng(0).normal(size=shape).astype(dtype)
    q, r = rows.qr(x)
    k = min(shape[-2:])
    np.testing.assert_allclose(q @ r, x, **tolerance(dtype))
    np.testing.assert_allclose(q.swapaxes(-1, -2) @ q, np.broadcast_to(np.eye(k), (*shape[:-2], k, k)), **tolerance(dtype))
    np.testing.assert_array_equal(np.tril(r, -1), 0)
    lapack = np.linalg.qr(x.astype(np.float64))  # of which the signs are, too
    np.testing.assert_allclose(q, lapack[0], **tolerance(dtype))


def test_qr_of_dependent_columns_and_zeros():
    x = np.random.default_rng(0).normal(size=(6, 4))
    x[:, 2] = x[:, 0]
    x[:, 3] = 0
    for matrix in (x, np.zeros((5, 3)), np.triu(x)):
        q, r = rows.qr(matrix)
        np.testing.assert_allclose(q @ r, matrix, atol=1e-14)
        np.testing.assert_allclose(q.T @ q, np.eye(q.shape[1]), atol=1e-14)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e300, 1e-300])
def test_qr_is_left_to_lapack_where_squares_are_not_ordinary(value):
    x = np.ones((3, 3))
    x[1, 1] = value
    assert rows.qr(x) is None


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("diagonal", [-100, -2, 0, 1, 3, 100])
def test_triangles(diagonal, dtype):
    x = np.random.default_rng(0).normal(size=(2, 3, 5, 7)).astype(dtype)
    x[0, 0, 0, 0] = np.nan
    for given in (x, x.swapaxes(-1, -2), x[::-1, :, ::2, ::3], np.broadcast_to(x[0, 0, 0], (4, 7)), x[:, :0], x[..., :0]):
        np.testing.assert_array_equal(native.triangle(given, diagonal, False), np.tril(given, diagonal))
        np.testing.assert_array_equal(native.triangle(given, diagonal, True), np.triu(given, diagonal))
    assert native.triangle(np.ones((2, 2), int), 0, False) is None
    assert native.triangle(np.ones((2, 2)), 2**80, False) is None


@pytest.mark.parametrize("dtype", DTYPES)
def test_transposed_copies(dtype):
    x = np.random.default_rng(0).normal(size=(3, 50, 33)).astype(dtype)
    views = [x.transpose(0, 2, 1), x.transpose(2, 1, 0), x.transpose(1, 2, 0)[::-1], x.transpose(2, 0, 1)[:, ::2], x[0].T, x[:1].transpose(2, 1, 0)]
    for view in views:
        copied = native.copy_transposed(view)
        np.testing.assert_array_equal(copied, view)
        assert copied.flags.c_contiguous and not np.shares_memory(copied, x)
    assert native.copy_transposed(x) is None and native.copy_transposed(x.astype(int).T) is None


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_joins(axis):
    parts = [np.random.default_rng(i).normal(size=(40, 30, 20)) for i in range(3)]
    parts[1] = np.ascontiguousarray(parts[1][tuple([slice(0, 5 if d == axis else None) for d in range(3)])])
    np.testing.assert_array_equal(native.join(tuple(parts), axis), np.concatenate(parts, axis))
    assert native.join((parts[0], parts[0].astype(np.float32)), axis) is None
    cut = tuple([slice(7, None) if d == axis else slice(None) for d in range(3)])
    both = (parts[0][cut], parts[2])  # the first is a part of an array: its rows lie apart
    np.testing.assert_array_equal(native.join(both, axis), np.concatenate(both, axis))
    assert native.join((parts[0], parts[0][:, :, ::2]), axis) is None
    assert native.join((parts[0], parts[0][0]), axis) is None
    assert native.join((parts[0],), 3) is None


@pytest.mark.parametrize("shapes", [[(1, 3), (1, 0), (1, 5)], [(4000, 1), (4000, 2), (4000, 0), (4000, 9)], [(2, 70000), (2, 1)]])
def test_joins_of_pieces_of_any_length(shapes):
    """Threads cut the result anywhere, also within a part."""
    parts = [np.random.default_rng(i).normal(size=shape).astype(np.float32) for i, shape in enumerate(shapes)]
    np.testing.assert_array_equal(native.join(tuple(parts), 1), np.concatenate(parts, 1))
    wide = np.random.default_rng(9).normal(size=(shapes[0][0], 3, 8))
    one = wide[:, 1:2, :]  # of a dim of one element the step does not matter
    np.testing.assert_array_equal(native.join((one, one), 2), np.concatenate((one, one), 2))


NORMS = {1: 1, 2: 2, 3: np.inf}


@each("dtype", DTYPES)
@each("kind", NORMS)
@each(("n", "k", "m"), [(1, 1, 1), (4, 5, 3), (30, 20, 37), (100, 3, 64), (3, 2, 0)])
def test_distances_and_their_cotangents(n, k, m, kind, dtype):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(n, m)).astype(dtype), rng.normal(size=(k, m)).astype(dtype)
    if m:
        y[0] = x[0]  # a distance of 0, where the derivative is 0
    first, second = np.triu_indices(n, 1)
    off = (x[:, None] - y[None]).astype(np.float64)
    expected = np.linalg.norm(off, NORMS[kind], axis=-1) if m else np.zeros((n, k))
    got = rows.distances(x, y, kind)
    np.testing.assert_allclose(got, expected, **tolerance(dtype))
    own = rows.distances(x, None, kind)
    np.testing.assert_allclose(own, rows.distances(x, x, kind)[first, second], **tolerance(dtype))

    ct = rng.normal(size=(n, k)).astype(dtype)
    length = expected[..., None]
    with np.errstate(all="ignore"):
        slope = {1: np.sign(off), 2: np.where(length == 0, 0, off / length), 3: np.sign(off) * (abs(off) == length)}[kind]
    found = rows.distances_cotangent(ct, x, y, got, kind)
    np.testing.assert_allclose(found, (ct[..., None] * slope).sum(1), **tolerance(dtype))

    of_pairs = rng.normal(size=own.shape).astype(dtype)
    both, lengths = np.zeros((n, n), dtype), np.zeros((n, n), dtype)
    both[first, second] = both[second, first] = of_pairs
    lengths[first, second] = lengths[second, first] = own
    found = rows.distances_cotangent(of_pairs, x, None, own, kind)
    np.testing.assert_allclose(found, rows.distances_cotangent(both, x, x, lengths, kind), **tolerance(dtype))


def test_distances_that_are_not_finite():
    x, y = np.array([[np.nan, 1.0], [np.inf, 0.0], [1.0, 2.0]]), np.array([[0.0, 0.0]])
    for kind, order in NORMS.items():
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(rows.distances(x, y, kind), np.linalg.norm(x[:, None] - y, order, axis=-1))
    assert rows.distances(x, y, 0) is None and rows.distances(x, y[:, :1], 2) is None
    assert rows.distances(x[:0], y, 2) is None and rows.distances(x[None], y, 2) is None


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(1,), (7,), (300, 301), (2, 0)])
def test_where_kernel_chooses_elements(shape, dtype):
    rng = np.random.default_rng(0)
    x, y, condition = rng.normal(size=shape).astype(dtype), rng.normal(size=shape).astype(dtype), rng.random(shape) < 0.5
    x[..., :1], y[..., :1] = np.nan, -0.0
    number = np.asarray(-np.inf, dtype)
    for a, b in ((x, y), (x, number), (number, y)):
        np.testing.assert_array_equal(native.choose(condition, a, b), np.where(condition, a, b))
    zeros = native.choose(condition, np.zeros((), dtype), -abs(x))
    assert (zeros[condition] == 0).all() and not np.signbit(zeros[condition]).any()


def test_choices_that_are_declined():
    x, condition = np.ones((3, 4)), np.ones((3, 4), bool)
    assert native.choose(condition, x, x.astype(np.float32)) is None
    assert native.choose(condition, x, x[0]) is None and native.choose(condition[0], x, x) is None
    assert native.choose(condition.T, x.T, x.T) is None and native.choose(x, x, x) is None
    assert native.choose(condition, x[0, 0], x) is None  # a number of NumPy is no array


@pytest.mark.parametrize("kind", [1, 2, 3])
def test_a_row_has_no_slope_towards_itself(kind):
    """Nor has one towards an equal row: infinities and NaN in it make no NaN there."""
    x = np.array([[np.inf, np.nan, 1.0]])
    found = rows.distances_cotangent(np.zeros(0), x, None, rows.distances(x, None, kind), kind)
    np.testing.assert_array_equal(found, np.zeros((1, 3)))
    y = np.array([[0.0, 1.0], [0.0, 1.0], [np.inf, 1.0]])
    lengths = rows.distances(y, None, kind)
    found = rows.distances_cotangent(np.array([1.0, 0.0, 0.0]), y, None, lengths, kind)
    np.testing.assert_array_equal(found[:2, 1], 0)  # the second number is the same in all rows
    if kind != 2:
        np.testing.assert_array_equal(found, np.zeros((3, 2)))
