"""np.array of nested lists and tuples that hold tensors."""

import numpy as np
import pytest

import wengert
from wengert.array_functions.creation import array, asarray


def _plain(nested):
    if isinstance(nested, wengert.Tensor):
        return nested.detach().numpy()
    return type(nested)([_plain(x) for x in nested]) if isinstance(nested, (list, tuple)) else nested


def _vector(*values, dtype=wengert.float64):
    return wengert.tensor(values, dtype=dtype, requires_grad=True)


X = _vector(1.0, 2.0, 3.0)
NESTED = [
    [X[0], X[1]], (X[0], 2), [X, X], [[X[0], 1.0], [2, X[2]]], [[1, 2, 3], X], [X, np.arange(3.0)], [(X[0],), [X[1]]],
    [X.reshape(1, 3), [[1, 2, 3]]], [_vector(1.0, dtype=wengert.float32)[0], 2.0], [_vector(1.0, dtype=wengert.float32), [2]],
    [1j, X[0]], [True, X[0]], [[[X[1]]]], [X[:0], X[:0]], [1, 2], [], [X[0], np.float32(2)], [[X[0], [1]][0], 4],
]  # fmt: skip


@pytest.mark.parametrize("nested", NESTED, ids=range(len(NESTED)))
def test_values_dtype_and_shape_are_those_of_numpy(nested):
    found, expected = array(nested), np.array(_plain(nested))
    assert found.numpy(force=True).dtype == expected.dtype
    np.testing.assert_array_equal(found.numpy(force=True), expected, strict=True)


def test_each_tensor_gets_the_gradient_of_its_place():
    x, y = _vector(1.0, 2.0), _vector(5.0, dtype=wengert.float32)
    found = array([[x[1], 7.0, y[0]], [x[0], x[1], 2]])
    (found * wengert.tensor([[1.0, 10.0, 100.0], [1000.0, 10000.0, 1.0]])).sum().backward()
    assert x.grad.tolist() == [1000.0, 10001.0]
    assert y.grad.tolist() == [100.0]
    assert y.grad.dtype is wengert.float32


def test_gradients_to_second_order():
    x = _vector(0.3, 0.7)
    assert wengert.autograd.gradgradcheck(lambda x: array([[x[0] * x[1], 1.0], [x[1] ** 2, x[0]]]).prod(0), (x,))


def test_dtype_and_ndmin():
    x = _vector(1.0, 2.0)
    assert array([x, x], dtype=np.float32).dtype is wengert.float32
    assert array([x, x], dtype=wengert.complex64).dtype is wengert.complex64
    assert array(x, ndmin=3).shape == (1, 1, 2)
    assert array([x], ndmin=1).shape == (1, 2)


def test_a_copy_is_made_when_it_is_asked_for():
    x = _vector(1.0, 2.0)
    assert asarray(x) is x
    assert array(x, copy=None) is x
    copied = array(x)
    assert copied is not x and not np.shares_memory(copied.detach(), x.detach())
    with pytest.raises(ValueError, match="Unable to avoid copy"):
        asarray([x], copy=False)
    with pytest.raises(ValueError, match="Unable to avoid copy"):
        asarray(x, np.float32, copy=False)


@pytest.mark.parametrize("nested", [[[X[0], 1], [2]], [X, [1, 2]], [X, X[0]], [X[0], [1, 2]]], ids=range(4))
def test_ragged_nesting_is_refused_in_the_words_of_numpy(nested):
    with pytest.raises(ValueError) as expected:
        np.array(_plain(nested))
    with pytest.raises(ValueError) as found:
        array(nested)
    assert str(found.value) == str(expected.value)


def test_what_is_no_number_is_refused():
    with pytest.raises(TypeError, match="can't convert"):
        array([X[0], "a"])
    with pytest.raises(TypeError, match="can't convert"):
        array([X[0], None])
