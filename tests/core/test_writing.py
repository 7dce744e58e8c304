"""In-place operations that nothing records: their values, what they count, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

import wengert
from loops import each

rng = np.random.default_rng(0)
DTYPES = ["f4", "f8"]


def draw(dtype, shape=(3, 4)):
    return rng.uniform(0.5, 2, shape).astype(dtype)


WRITES = {
    "sub": (lambda p, g, h: p.__isub__(g), lambda p, g, h: p - g),
    "mul by a number": (lambda p, g, h: p.mul_(0.25), lambda p, g, h: p * 0.25),
    "div by an integer": (lambda p, g, h: p.div_(3), lambda p, g, h: p / 3),
    "add scaled": (lambda p, g, h: p.add_(g, alpha=-0.5), lambda p, g, h: p - 0.5 * g),
    "add scaled by an integer": (lambda p, g, h: p.add_(g, alpha=2), lambda p, g, h: p + 2 * g),
    "sub scaled": (lambda p, g, h: p.sub_(g, alpha=0.5), lambda p, g, h: p - 0.5 * g),
    "addcmul": (lambda p, g, h: p.addcmul_(g, h), lambda p, g, h: p + g * h),
    "addcmul scaled": (lambda p, g, h: p.addcmul_(g, h, value=-0.5), lambda p, g, h: p - 0.5 * g * h),
    "addcdiv scaled": (lambda p, g, h: p.addcdiv_(g, h, value=-0.5), lambda p, g, h: p - 0.5 * g / h),
    "lerp": (lambda p, g, h: p.lerp_(g, 0.25), lambda p, g, h: p + 0.25 * (g - p)),
    "exp": (lambda p, g, h: p.exp_(), lambda p, g, h: np.exp(p)),
    "zero": (lambda p, g, h: p.zero_(), lambda p, g, h: np.zeros_like(p)),
    "fill": (lambda p, g, h: p.fill_(2.5), lambda p, g, h: np.full_like(p, 2.5)),
}


@each("dtype", DTYPES)
@each("name", WRITES)
@each("kind", ["leaf", "column", "other layout", "broadcast operands"])
def test_values_are_numpys_and_the_write_is_counted(name, dtype, kind):
    write, expected = WRITES[name]
    memory, g, h = draw(dtype), draw(dtype), draw(dtype)
    if kind == "other layout":
        g = np.asfortranarray(g)
    if kind == "broadcast operands":
        g, h = g[:1], h[:, :1]
    p = wengert.from_numpy(memory)
    target = p[:, 1:3] if kind == "column" else p
    if kind == "column":
        g, h = g[:, 1:3], h[:, 1:3]
    wanted = memory.copy()
    region = wanted[:, 1:3] if kind == "column" else wanted
    region[...] = expected(region.copy(), g, h)
    p.requires_grad_()
    version = p._version
    with wengert.no_grad():
        assert write(target, wengert.from_numpy(g), wengert.from_numpy(h)) is target
    np.testing.assert_allclose(memory, wanted, rtol=1e-6 if dtype == "f4" else 1e-14)
    assert p._version == version + 1 and p.is_leaf and p.grad_fn is None


@pytest.mark.parametrize("name", WRITES)
def test_a_leaf_is_not_written_while_recording(name):
    write, _ = WRITES[name]
    p = wengert.tensor(draw("f4"), requires_grad=True)
    before = p.detach().clone()
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        write(p, wengert.tensor(draw("f4")), wengert.tensor(draw("f4")))
    assert wengert.equal(p, before)


@pytest.mark.parametrize("name", [n for n in WRITES if n not in ("zero", "fill", "exp", "mul by a number", "div by an integer")])
def test_a_write_of_a_tensor_that_requires_grad_is_recorded(name):
    write, _ = WRITES[name]
    p = wengert.tensor(draw("f8"))
    g = wengert.tensor(draw("f8"), requires_grad=True)
    write(p, g, wengert.tensor(draw("f8")))
    assert p.requires_grad and p.grad_fn is not None
    p.sum().backward()
    assert g.grad is not None


@pytest.mark.parametrize("name", WRITES)
def test_backward_notices_a_write_into_a_saved_tensor(name):
    write, _ = WRITES[name]
    x = wengert.tensor(draw("f4"), requires_grad=True)
    p = wengert.tensor(draw("f4"))
    y = (x * p).sum()
    write(p, wengert.tensor(draw("f4")), wengert.tensor(draw("f4")))
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_operands_that_overlap_are_read_before_they_are_written():
    memory = np.arange(8.0)
    p = wengert.from_numpy(memory)
    with wengert.no_grad():
        p[1:].add_(p[:-1])
    np.testing.assert_array_equal(memory, [0, 1, 3, 5, 7, 9, 11, 13])
    square = np.arange(4.0).reshape(2, 2)
    s = wengert.from_numpy(square)
    s.sub_(s.T, alpha=1.0)
    np.testing.assert_array_equal(square, [[0, -1], [1, 0]])


def test_values_that_cannot_be_written_are_refused():
    read_only = np.ones(3)
    read_only.flags.writeable = False
    locked = wengert.ones(3, dtype=wengert.float64)
    locked._array = read_only
    seen_twice = wengert.ones(1).expand(3)
    with wengert.inference_mode():
        inferred = wengert.ones(3)
    for write in (lambda t: t.add_(1), lambda t: t.add_(t, alpha=0.5)):
        with pytest.raises(ValueError, match="read-only"):
            write(locked)
        with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
            write(seen_twice)
        with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
            write(inferred)
    with pytest.raises(ValueError, match="read-only"):
        locked.zero_()
    with pytest.raises(RuntimeError, match="shape"):
        wengert.ones(3).add_(wengert.ones(2, 3))
    with pytest.raises(RuntimeError, match=r"must match the size|broadcast"):
        wengert.ones(3).add_(wengert.ones(2), alpha=0.5)
    with pytest.raises(RuntimeError, match="can't be cast"):
        wengert.ones(3, dtype=wengert.int64).add_(0.5)


@pytest.mark.parametrize("alpha", [2, 0.5])
def test_other_dtypes_are_written_in_the_targets(alpha):
    p = wengert.ones(2)
    p.add_(wengert.ones(2, dtype=wengert.float64), alpha=alpha)
    assert p.dtype is wengert.float32 and p.tolist() == [1 + alpha] * 2
    n = wengert.ones(2, dtype=wengert.int64)
    n.add_(n, alpha=2)
    assert n.tolist() == [3, 3]
    half = wengert.ones(2, dtype=wengert.float16).mul_(0.5)
    assert half.dtype is wengert.float16 and half.tolist() == [0.5, 0.5]


def test_float32_takes_no_number_beyond_its_range():
    with pytest.raises(RuntimeError, match="cannot be converted to type float without overflow"):
        wengert.ones(2).fill_(1e300)
    assert wengert.ones(2).fill_(float("inf")).tolist() == [float("inf")] * 2
    assert wengert.ones(2, dtype=wengert.float64).fill_(1e300).tolist() == [1e300] * 2
