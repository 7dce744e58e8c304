"""wengert.numpy gives NumPy's values, dtypes and shapes, for arrays with a history and for arrays without."""

import inspect

import numpy
import pytest

import wengert.numpy as np
from loops import each
from numpy_namespace.programs import PROGRAMS, with_numpy, with_wengert


def assert_same(found, expected, rtol):
    if isinstance(expected, (tuple, list)):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other, rtol)
        return
    if isinstance(expected, (numpy.ndarray, numpy.generic)):
        assert type(found) is np.ndarray
        assert found.dtype == expected.dtype
        assert found.shape == expected.shape
        numpy.testing.assert_allclose(numpy.asarray(found.detach()), expected, rtol=rtol, atol=rtol)
    else:
        assert type(found) is type(expected)
        assert found == expected


@each("source", PROGRAMS)
def test_values_dtypes_and_shapes_without_a_history(source):
    for dtype in (float, numpy.float32):
        assert_same(with_wengert(source, dtype), with_numpy(source, dtype), 1e-12 if dtype is float else 1e-5)


@each("source", PROGRAMS)
def test_values_dtypes_and_shapes_with_a_history(source):
    for dtype in (float, numpy.float32):
        assert_same(with_wengert(source, dtype, True), with_numpy(source, dtype), 1e-11 if dtype is float else 2e-5)


CREATION = [
    "np.zeros(3)", "np.ones((2, 2), dtype=int)", "np.full(2, 1.5)", "np.empty(0)", "np.arange(3)", "np.arange(0, 1, 0.25)",
    "np.linspace(0, 1, 5)", "np.eye(2)", "np.identity(3)", "np.array([1, 2])", "np.array([1, 2.5])", "np.array([[True]])",
    "np.array(1j)", "np.array([1, 2], dtype='f4', ndmin=2)", "np.zeros_like([1, 2])", "np.tri(3)", "np.logspace(0, 2, 3)",
    "np.fromfunction(lambda i, j: i + 2 * j, (2, 3))", "np.indices((2, 2))", "np.mgrid[0:2, 0:3]", "np.r_[1:4, 0.5]",
    "np.frombuffer(b'ab', dtype='u1')", "np.hanning(4)", "np.array(['a', 'b'])", "np.array([1, None], dtype=object)",
    "np.ndarray((2, 0))", "np.full_like([1.5], 2)", "np.copy([1, 2])", "np.astype(np.ones(2), 'f4')",
]  # fmt: skip


@each("source", CREATION)
def test_creation(source):
    found, expected = eval(source, {"np": np}), eval(source, {"np": numpy})
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    assert type(found) is (numpy.ndarray if expected.dtype.kind in "OU" else np.ndarray)
    if expected.size and "empty" not in source:
        assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("order", ["C", "F"])
def test_order_of_memory(order):
    x = np.array([[1.0, 2.0], [3.0, 4.0]], order=order)
    x.requires_grad = True
    for found in (x, np.array(x, order=order), x.copy(order), (2 * x).astype("f4", order=order)):
        assert found.flags.c_contiguous is (order == "C")
        assert found.flags.f_contiguous is (order == "F")
    assert np.asfortranarray(2 * x).flags.f_contiguous
    assert np.ascontiguousarray(x.T).flags.c_contiguous


def test_random_numbers_are_those_of_numpy():
    assert np.random.default_rng(3).normal(size=4).tolist() == numpy.random.default_rng(3).normal(size=4).tolist()
    np.random.seed(1)
    found = np.random.rand(3)
    numpy.random.seed(1)  # noqa: NPY002
    assert type(found) is np.ndarray
    assert found.tolist() == numpy.random.rand(3).tolist()  # noqa: NPY002
    shuffled = np.arange(5)
    np.random.default_rng(0).shuffle(shuffled)
    expected = numpy.arange(5)
    numpy.random.default_rng(0).shuffle(expected)
    assert shuffled.tolist() == expected.tolist()


def test_the_public_names_are_those_of_numpy():
    assert set(dir(np)) == {name for name in dir(numpy) if not name.startswith("_")} - {"test"}
    for name in dir(np):
        if name not in ("bool8", "core", "distutils"):
            assert getattr(np, name) is not None or name == "newaxis"
    assert inspect.signature(np.sum) == inspect.signature(numpy.sum)
    for module in ("linalg", "fft", "random"):
        for name in dir(getattr(np, module)):
            getattr(getattr(np, module), name)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        np.nothing  # noqa: B018


def test_methods_of_ndarray_are_those_of_numpy():
    missing = {name for name in dir(numpy.ndarray) if not name.startswith("_")} - set(dir(np.ndarray))
    assert missing == {"setfield"}  # structured dtypes only
