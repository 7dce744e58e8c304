"""A user's array may change its shape, strides or dtype in place: tensors and saved values hold array objects of their own."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import wengert as torch


def reshape(a):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of NumPy 2.5
        a.shape = (2, 3)


def reinterpret(a):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        a.dtype = np.int32


CHANGES = pytest.mark.parametrize("change", [reshape, reinterpret])


@CHANGES
@pytest.mark.parametrize("convert", [torch.from_numpy, torch.as_tensor, torch.asarray])
def test_tensor_keeps_the_shape_and_dtype_that_it_was_made_with(convert, change):
    a = np.arange(6.0)
    t = convert(a)
    change(a)
    assert t.shape == (6,) and t.dtype == torch.float64
    a.reshape(-1).view(np.float64)[:] = 7.0
    assert t.tolist() == [7.0] * 6


@pytest.mark.parametrize("export", [lambda t: t.numpy(), np.asarray])
@CHANGES
def test_exported_array_is_not_the_tensors_own(export, change):
    t = torch.zeros(6, dtype=torch.float64)
    a = export(t)
    a[0] = 1.0
    change(a)
    assert t.tolist() == [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]


@CHANGES
@pytest.mark.parametrize("multiply", [lambda x, a: x * a, lambda x, a: a * x, np.multiply, lambda x, a: torch.where(a > -1, a * x, x)])
def test_saved_array_keeps_its_shape_and_dtype(multiply, change):
    x, a = torch.ones(6, dtype=torch.float64, requires_grad=True), np.arange(6.0)
    y = multiply(x, a)
    change(a)
    y.sum().backward()
    assert x.grad.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]


@CHANGES
def test_index_array_keeps_its_shape_and_dtype(change):
    x, places = torch.ones(6, requires_grad=True), np.array([0, 0, 0, 1, 1, 2])
    y = x[places]
    change(places)
    y.sum().backward()
    assert x.grad.tolist() == [3.0, 2.0, 1.0, 0.0, 0.0, 0.0]


def test_numpy_refuses_to_resize_an_array_while_its_tensor_lives():
    a = np.zeros(3)
    t = torch.from_numpy(a)
    with pytest.raises(ValueError, match="resize"):
        a.resize(10)
    with pytest.raises(ValueError, match="resize"):
        t.numpy().resize(10)
    assert t.shape == (3,)
