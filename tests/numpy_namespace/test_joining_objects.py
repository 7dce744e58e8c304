"""r_ and c_ of arrays with a history: values, shapes and dtypes of NumPy's, and the derivative of each element's place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import wengert
import wengert.numpy as np

X, Y = numpy.arange(1.0, 5.0).reshape(2, 2), numpy.array([5.0, 6.0])

CALLS: list[Callable[[Any, Any, Any], Any]] = [
    lambda np, x, y: np.r_[x, x], lambda np, x, y: np.r_[y, 1, 2.5, y], lambda np, x, y: np.r_[0:3, y, 0:1:4j], lambda np, x, y: np.r_[y],
    lambda np, x, y: np.r_["0,2", y, y], lambda np, x, y: np.r_["1", x, x], lambda np, x, y: np.r_["0,2,0", y, y], lambda np, x, y: np.r_[y[0], y[1]],
    lambda np, x, y: np.c_[y, y], lambda np, x, y: np.c_[x, y], lambda np, x, y: np.c_[y, [7, 8], 0:2], lambda np, x, y: np.c_[y[0], 3],
]  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
def test_values_and_derivatives(call):
    """The weights differ, so that a derivative in a wrong place shows. Differences of NumPy's values are exact here."""
    tensors = [wengert.tensor(X, requires_grad=True), wengert.tensor(Y, requires_grad=True)]
    found, expected = call(np, *[np.asarray(t) for t in tensors]), call(numpy, X, Y)
    assert isinstance(found, np.ndarray) and found.shape == expected.shape and found.dtype == expected.dtype
    numpy.testing.assert_array_equal(numpy.asarray(found.detach()), expected)
    weights = numpy.arange(1.0, expected.size + 1).reshape(expected.shape)
    slopes = wengert.autograd.grad(wengert.asarray((found * weights).sum()), tensors, materialize_grads=True)
    for k, (array, slope) in enumerate(zip((X, Y), slopes, strict=True)):
        for place in numpy.ndindex(array.shape):
            moved = [X.copy(), Y.copy()]
            moved[k][place] += 1
            assert slope[place].item() == ((call(numpy, *moved) - expected) * weights).sum()


def test_dtypes_are_numpys():
    x = np.asarray(wengert.ones(2, requires_grad=True))
    assert np.r_[x, 1.5].dtype == numpy.r_[numpy.ones(2, numpy.float32), 1.5].dtype == numpy.float32
    assert np.r_[x, numpy.ones(1)].dtype == numpy.float64


def test_arrays_that_do_not_fit_are_refused():
    x = np.asarray(wengert.ones(2, requires_grad=True))
    with pytest.raises(ValueError, match="dimension"):
        np.c_[x, [1.0, 2.0, 3.0]]


def test_numpys_own_objects_refuse_and_name_the_line():
    """NumPy asks for the memory of arrays there, without asking the tensors first."""
    x = wengert.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"`numpy.r_\[x, x\]`, asked for an array, at .*test_joining_objects.py:\d+"):
        numpy.r_[x, x]
