"""The kernel that resamples, against products with the tables written out as matrices."""

from __future__ import annotations

import numpy as np
import pytest

import wengert
from loops import each
from wengert.kernels import native, windows

pytestmark = pytest.mark.skipif(native is None, reason="no kernels are compiled here")
RNG = np.random.default_rng(0)


def table_of(matrix, dtype, unit=False):
    """(starts, inputs, weights) of a matrix (outputs, inputs), of its elements that are not 0."""
    starts, inputs = [0], []
    for row in matrix:
        inputs += np.flatnonzero(row).tolist()
        starts.append(len(inputs))
    weights = None if unit else matrix[matrix != 0].astype(dtype)
    return np.array(starts, np.int64), np.array(inputs, np.int64), weights


def matrix_of(kind, n):
    """Outputs by inputs: as many entries a row as the kinds of resampling have."""
    if kind == "kept":
        return np.eye(n)
    if kind == "padded":
        return np.eye(n)[[2, 1, *range(n), n - 1]]
    if kind == "its adjoint":
        return np.eye(n - 3)[[2, 1, *range(n - 3), n - 4]].T
    if kind == "pairs":
        return np.kron(np.eye(n // 2), np.ones(2))[:, :n]
    weighted = {"two": 2, "four": 4, "any": None}
    if kind in weighted:
        matrix = np.zeros((n + 3, n))
        for row in matrix:
            entries = weighted[kind] if weighted[kind] is not None else RNG.integers(0, 4)
            row[RNG.choice(n, entries, replace=False)] = RNG.normal(size=entries)
        return matrix
    raise ValueError(kind)


UNIT = ("padded", "its adjoint", "pairs")
CASES = [(k,) for k in (*UNIT, "two", "four", "any")] + [
    ("padded", "pairs"), ("two", "two"), ("any", "kept"), ("kept", "four"), ("pairs", "padded", "its adjoint"),
    ("two", "any", "two"), ("kept", "padded", "any"),
]  # fmt: skip


@each("dtype", ["float32", "float64"])
@each("kinds", CASES)
def test_resample(kinds, dtype):
    sizes = (12, 14, 16)[-len(kinds) :]
    x = RNG.normal(size=(2, 3, *sizes)).astype(dtype)
    matrices = [matrix_of(kind, n) for kind, n in zip(kinds, sizes, strict=True)]
    tables = tuple(
        None if kind == "kept" else table_of(matrix, dtype, kind in UNIT) for kind, matrix in zip(kinds, matrices, strict=True)
    )
    expected = x.astype(np.float64)
    for axis, matrix in enumerate(matrices, start=2):
        expected = np.moveaxis(np.tensordot(matrix, expected, (1, axis)), 0, axis)
    tolerance = {"rtol": 1e-5, "atol": 1e-5} if dtype == "float32" else {"rtol": 1e-12, "atol": 1e-12}
    np.testing.assert_allclose(windows.resample(x, tables, 1), expected, **tolerance)
    np.testing.assert_allclose(windows.resample(x, tables, 3), expected / 3, **tolerance)
    strided = np.moveaxis(x, 1, 0).copy().swapaxes(0, 1)
    np.testing.assert_array_equal(windows.resample(strided, tables, 1), windows.resample(x, tables, 1))


def test_special_values_stay_where_they_are_read():
    matrix = matrix_of("padded", 12)
    x = np.zeros((1, 12))
    x[0, 1], x[0, 5], x[0, 11] = np.nan, np.inf, -np.inf
    np.testing.assert_array_equal(windows.resample(x, (table_of(matrix, float, True),), 1), x[:, matrix.argmax(axis=1)])


def test_kernel_declines_other_dtypes_shapes_and_values():
    table = table_of(matrix_of("two", 12), np.float64)
    x = RNG.normal(size=(2, 12))
    for other in (x.astype(np.float16), x.astype(complex), x.astype(int), x.astype(">f8"), x[:0], x[:, :11], x[0, 0]):
        assert windows.resample(other, (table,), 1) is None
    assert windows.resample(x.astype(np.float32), (table,), 1) is None  # weights of another dtype
    outside = (table[0], table[1] + 1, table[2])
    outside[1][0] = 12
    assert windows.resample(x, (outside,), 1) is None
    assert windows.resample(x, (table[:2],), 1) is None


def test_results_are_the_same_for_any_number_of_threads():
    x, before, found = RNG.normal(size=(64, 3, 40, 40)).astype(np.float32), wengert.get_num_threads(), set()
    tables = tuple(table_of(matrix_of("any", 40), np.float32) for _ in range(2))
    try:
        for n in (1, 2, 4):
            wengert.set_num_threads(n)
            found.add(windows.resample(x, tables, 1).tobytes())
    finally:
        wengert.set_num_threads(before)
    assert len(found) == 1
