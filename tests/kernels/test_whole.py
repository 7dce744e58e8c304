"""Functions of whole arrays: products of matrices, full sums, and their cotangents, beside NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

import wengert
from loops import each
from wengert.kernels import native

pytestmark = pytest.mark.skipif(native is None, reason="nothing is compiled")

SIZES = [
    (1, 1, 1), (3, 0, 2), (0, 3, 2), (2, 3, 0), (16, 2, 16), (16, 16, 1), (5, 17, 33), (4, 16, 32), (64, 64, 16), (7, 200, 9),
    # From here on on our own threads: rows, columns and depths that blocks do not divide.
    (40, 130, 70), (9, 300, 95), (101, 257, 16), (500, 8, 130), (13, 300, 100),
]  # fmt: skip
wide_registers = pytest.mark.skipif(getattr(native, "level", "") == "base", reason="these products are BLAS's on this CPU level")
FORMS = {"matmul": (False, False), "matmul.x": (False, True), "matmul.y": (True, False)}


def run(role, *inputs):
    return native.apply(native.role(role)[0], inputs)


def draw(shape, dtype, layout, seed):
    """A matrix laid out in one of several ways."""
    x = np.random.default_rng(seed).normal(size=shape).astype(dtype)
    if layout == "columns":
        return np.asfortranarray(x)
    if layout == "slice":
        wide = np.full((shape[0] * 2 + 1, shape[1] * 3 + 1), np.nan, dtype)
        part = wide[1::2, 1::3]
        part[...] = x
        return part
    if layout == "backwards":
        return x[::-1, ::-1].copy()[::-1, ::-1]
    return x


@each("layouts", [("rows", "rows"), ("columns", "slice"), ("slice", "columns"), ("backwards", "backwards")])
@each("dtype", ["f4", "f8"])
@each("role", FORMS)
@each("size", SIZES)
def test_products_are_numpys(size, role, dtype, layouts):
    m, k, n = size
    left, right = FORMS[role]
    x = draw((k, m) if left else (m, k), dtype, layouts[0], 1)
    y = draw((n, k) if right else (k, n), dtype, layouts[1], 2)
    before = x.copy(), y.copy()
    exact = (x.T if left else x).astype("f8") @ (y.T if right else y).astype("f8")
    found = run(role, x, y)
    assert found.dtype == dtype and found.shape == (m, n) and found.flags.c_contiguous
    assert found.base is None or found.nbytes >= 1 << 17  # large arrays are in memory that is used again
    np.testing.assert_allclose(found, exact, atol=1e-4 if dtype == "f4" else 1e-12)
    np.testing.assert_array_equal(x, before[0])
    np.testing.assert_array_equal(y, before[1])


@pytest.mark.parametrize("n", [1, 16, 21, 300])
def test_products_keep_nan_and_infinities(n):
    x, y = np.ones((36, 25), "f4"), np.ones((25, n), "f4")
    x[0, 0], x[1, 1], x[2, 2], y[2, 0] = np.nan, np.inf, np.inf, 0.0
    x[3, 0], x[3, 1] = np.inf, -np.inf
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(run("matmul", x, y), np.einsum("ij,jk->ik", x, y))


def draw_batches(size, batch, dtype):
    """Two batches of matrices, (m, k) and (k, n), then the same with the last two dims exchanged in memory."""
    m, k, n = size
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(*batch, m, k)).astype(dtype), rng.normal(size=(*batch, k, n)).astype(dtype)
    return x, y, *(np.ascontiguousarray(array.swapaxes(-1, -2)) for array in (x, y))


def exact_products(x, y):
    return np.einsum("...ij,...jk->...ik", x.astype("f8"), y.astype("f8"))


@wide_registers
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("batch", [(5,), (2, 3), (1,)])
@pytest.mark.parametrize("size", [(40, 33, 50), (65, 70, 18), (12, 300, 90)])
def test_products_of_batches_are_numpys(size, batch, dtype):
    x, y, x_t, y_t = draw_batches(size, batch, dtype)
    exact = exact_products(x, y)
    every_second = np.repeat(x, 2, 0)[::2]
    cases = [("matmul", x, y), ("matmul.x", x, y_t), ("matmul.y", x_t, y), ("matmul", x_t.swapaxes(-1, -2), y), ("matmul", every_second, y)]
    for role, left, right in cases:
        found = run(role, left, right)
        assert found.dtype == dtype and found.shape == exact.shape and found.flags.c_contiguous
        np.testing.assert_allclose(found, exact, atol=1e-4 if dtype == "f4" else 1e-12)
    one = np.broadcast_to(x[:1], x.shape) if len(batch) == 1 else x
    np.testing.assert_allclose(run("matmul", one, y), exact_products(one, y), atol=1e-4)


def test_batches_of_other_shapes_are_left_to_numpy():
    x = np.ones((4, 40, 40))
    assert run("matmul", x, np.ones((40, 40))) is None
    assert run("matmul", x, np.ones((1, 40, 40))) is None
    assert run("matmul", x, np.ones((2, 2, 40, 40))) is None
    assert run("matmul", np.ones((4, 50, 50)), np.ones((4, 50, 1))) is None
    assert run("bmm", np.ones((4, 4)), np.ones((4, 4))) is None and run("bmm", np.ones((1, 4, 4, 4)), np.ones((1, 4, 4, 4))) is None


SMALL = [(3, 4, 5), (1, 1, 1), (2, 7, 1), (4, 2, 33), (16, 16, 16), (1, 20, 17), (3, 0, 4), (0, 3, 4), (3, 4, 0)]


@each("dtype", ["f4", "f8"])
@each("batch", [(5,), (2, 3), (1,), (0,), (700,)])
@each("size", SMALL)
def test_products_of_batches_of_small_matrices_are_numpys(size, batch, dtype):
    x, y, x_t, y_t = draw_batches(size, batch, dtype)
    exact = exact_products(x, y)
    upside_down = y[..., ::-1, :]
    cases = [
        ("matmul", x, y, exact), ("matmul.x", x, y_t, exact), ("matmul.y", x_t, y, exact), ("matmul", np.repeat(x, 2, 0)[::2], y, exact),
        ("matmul", x, upside_down, exact_products(x, upside_down)),
    ]  # fmt: skip
    for role, left, right, expected in cases:
        found = run(role, left, right)
        assert found.dtype == dtype and found.shape == exact.shape and found.flags.c_contiguous
        np.testing.assert_allclose(found, expected, atol=1e-5 if dtype == "f4" else 1e-13)


def test_a_batch_of_products_keeps_nan_and_infinities():
    x, y = np.ones((3, 4, 5), "f4"), np.ones((3, 5, 6), "f4")
    x[0, 0, 0], x[1, 1, 1], y[1, 1, 2], x[2, 0, 0], x[2, 0, 1] = np.nan, np.inf, 0.0, np.inf, -np.inf
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(run("matmul", x, y), np.einsum("bij,bjk->bik", x, y))


def test_nodes_of_products_are_named_by_their_dims():
    """Whichever comes first."""
    for dims in (2, 3, 2, 4):
        x = wengert.ones(*(1,) * (dims - 2), 2, 2, requires_grad=True)
        assert (x @ x).grad_fn.name() == ("MmBackward0" if dims == 2 else "UnsafeViewBackward0")


@wide_registers
@pytest.mark.parametrize("size", [(130, 700, 90), (1000, 40, 20), (8, 300, 500)])
def test_products_are_the_same_on_any_number_of_threads(size):
    m, k, n = size
    x, y = draw((m, k), "f4", "rows", 1), draw((n, k), "f4", "rows", 2)
    before = wengert.get_num_threads()
    try:
        found = []
        for threads in (1, 2, 5):
            wengert.set_num_threads(threads)
            found.append(run("matmul.x", x, y))
    finally:
        wengert.set_num_threads(before)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_a_repeated_row_is_a_factor():
    row = np.arange(8.0)
    x = np.broadcast_to(row, (5, 8))
    np.testing.assert_array_equal(run("matmul", x, np.eye(8)), x)
    np.testing.assert_array_equal(run("matmul", np.eye(5), x), x)


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (np.ones((2, 3)), np.ones((4, 2))),
        (np.ones((2, 3)), np.ones((3, 2), "f4")),
        (np.ones((2, 3), "i8"), np.ones((3, 2), "i8")),
        (np.ones((2, 3)), np.ones(3)),
        (np.ones((2, 3), ">f8"), np.ones((3, 2), ">f8")),
        (np.ones((2, 3)), 2.0),
    ],
)
def test_other_products_are_left_to_numpy(x, y):
    assert run("matmul", x, y) is None


def test_full_sums_and_their_cotangents():
    x = np.arange(6, dtype="f4").reshape(2, 3)
    assert run("sum", x) == 15 and run("mean", x) == 2.5
    assert run("sum", x).shape == () and run("sum", x[:0]) is None
    ct = np.asarray(3.0, "f4")
    np.testing.assert_array_equal(run("sum.x", ct, (2, 3)), np.full((2, 3), 3, "f4"))
    np.testing.assert_array_equal(run("mean.x", ct, (2, 3)), np.full((2, 3), 0.5, "f4"))
    assert run("sum.x", ct, (100, 100)) is None  # a view of one number serves for more
    assert run("mean.x", np.ones(1), (2, 3)) is None
    assert run("sum.x", ct, ()).shape == ()


def test_the_node_of_a_product_is_named_for_its_operands():
    x = wengert.ones(2, 2, requires_grad=True)
    v = wengert.ones(2, requires_grad=True)
    names = [(x @ x), (x @ v), (v @ v), (v @ x), (x @ x)]
    assert [y.grad_fn.name() for y in names] == [
        "MmBackward0", "MvBackward0", "DotBackward0", "SqueezeBackward4", "MmBackward0"
    ]  # fmt: skip
    sums = [x.sum(), x.sum(0), x.sum(), x.mean(), x.mean(0)]
    assert [y.grad_fn.name() for y in sums] == [
        "SumBackward0", "SumBackward1", "SumBackward0", "MeanBackward0", "MeanBackward1"
    ]  # fmt: skip


@pytest.mark.parametrize("shape", [(3,), (1,), (), (2, 1), (1, 3), (4, 1, 3)])
def test_broadcasting_is_undone(shape):
    generator = np.random.default_rng(3)
    x = wengert.tensor(generator.normal(size=(4, 2, 3)), requires_grad=True)
    y = wengert.tensor(generator.normal(size=shape), requires_grad=True)
    (x * y).backward(wengert.ones_like(x))
    axes = tuple(range(3 - len(shape))) + tuple(i + 3 - len(shape) for i, n in enumerate(shape) if n == 1)
    expected = x.detach().numpy().sum(axes, keepdims=True).reshape(shape)
    np.testing.assert_allclose(y.grad.numpy(), expected)
