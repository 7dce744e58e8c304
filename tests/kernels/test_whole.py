"""Functions of whole arrays: small products of matrices, full sums, and their cotangents, beside NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

import wengert
from wengert.kernels import native

pytestmark = pytest.mark.skipif(native is None, reason="nothing is compiled")

SIZES = [(1, 1, 1), (3, 0, 2), (0, 3, 2), (2, 3, 0), (16, 2, 16), (16, 16, 1), (5, 17, 33), (4, 16, 32), (64, 64, 16), (7, 200, 9), (40, 130, 70)]
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


@pytest.mark.parametrize("layouts", [("rows", "rows"), ("columns", "slice"), ("slice", "columns"), ("backwards", "backwards")])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("role", FORMS)
@pytest.mark.parametrize("size", SIZES)
def test_products_are_numpys(size, role, dtype, layouts):
    m, k, n = size
    left, right = FORMS[role]
    x = draw((k, m) if left else (m, k), dtype, layouts[0], 1)
    y = draw((n, k) if right else (k, n), dtype, layouts[1], 2)
    before = x.copy(), y.copy()
    exact = (x.T if left else x).astype("f8") @ (y.T if right else y).astype("f8")
    found = run(role, x, y)
    assert found.dtype == dtype and found.shape == (m, n) and found.flags.c_contiguous and found.base is None
    np.testing.assert_allclose(found, exact, atol=1e-4 if dtype == "f4" else 1e-12)
    np.testing.assert_array_equal(x, before[0])
    np.testing.assert_array_equal(y, before[1])


@pytest.mark.parametrize("n", [1, 16, 21])
def test_products_keep_nan_and_infinities(n):
    x, y = np.ones((6, 5), "f4"), np.ones((5, n), "f4")
    x[0, 0], x[1, 1], x[2, 2], y[2, 0] = np.nan, np.inf, np.inf, 0.0
    x[3, 0], x[3, 1] = np.inf, -np.inf
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(run("matmul", x, y), np.einsum("ij,jk->ik", x, y))


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


def test_a_node_is_named_for_what_was_multiplied():
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
