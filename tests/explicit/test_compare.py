"""Comparisons and logic, with values worked by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

import wengert
from wengert import tensor

INF, NAN = math.inf, math.nan


def test_comparisons():
    x, y = tensor([1.0, 2.0, 3.0]), tensor([2.0, 2.0, 2.0])
    assert (x == y).tolist() == [False, True, False]
    assert (x != y).tolist() == [True, False, True]
    assert (x < y).tolist() == [True, False, False]
    assert (x <= y).tolist() == [True, True, False]
    assert (x > y).tolist() == [False, False, True]
    assert (x >= y).tolist() == [False, True, True]
    assert (x < y).dtype is wengert.bool


def test_comparison_with_numbers_on_either_side():
    x = tensor([1, 2, 3])
    assert (x > 1.5).tolist() == [False, True, True]
    assert (2 < x).tolist() == [False, False, True]  # noqa: SIM300
    assert (2 == x).tolist() == [False, True, False]  # noqa: SIM300
    assert (np.array([1, 5, 3]) == x).tolist() == [True, False, True]


def test_comparison_with_other_things():
    x = tensor([1.0])
    assert (x == None) is False and (x != "a") is True  # noqa: E711
    with pytest.raises(TypeError, match="'<' not supported between instances of 'Tensor' and 'NoneType'"):
        x < None


def test_nothing_equals_nan():
    x = tensor([NAN])
    assert (x == x).tolist() == [False] and (x != x).tolist() == [True]


def test_comparisons_are_not_recorded():
    x = tensor([1.0], requires_grad=True)
    y = x > 0
    assert not y.requires_grad and y.grad_fn is None


def test_second_names():
    assert wengert.greater is wengert.gt and wengert.not_equal is wengert.ne
    assert tensor([1.0]).less_equal(1.0).item() is True


def test_in_place():
    assert tensor([1.0, 2.0]).eq_(2.0).tolist() == [0.0, 1.0]
    assert tensor([3.0, 0.0]).logical_not_().tolist() == [0.0, 1.0]


def test_closeness():
    x = tensor([1.0, INF, NAN, 1e-9])
    y = tensor([1.000001, INF, NAN, 0.0])
    assert wengert.isclose(x, y).tolist() == [True, True, False, True]
    assert wengert.isclose(x, y, equal_nan=True).tolist() == [True, True, True, True]
    assert wengert.isclose(tensor([1.0]), tensor([INF]), rtol=1.0).tolist() == [False]
    assert wengert.allclose(x[:2], y[:2]) is True
    assert wengert.isclose(tensor([10]), tensor([11]), rtol=0.1).tolist() == [True]  # 1 <= 1.1
    with pytest.raises(RuntimeError, match="rtol must be greater than or equal to zero, but got -1"):
        wengert.isclose(x, y, rtol=-1)


def test_equality_of_tensors():
    assert wengert.equal(tensor([1.0, 2.0]), tensor([1.0, 2.0])) is True
    assert wengert.equal(tensor([1.0]), tensor([1.0, 1.0])) is False
    assert tensor([NAN]).equal(tensor([NAN])) is False


def test_kinds_of_numbers():
    x = tensor([1.0, NAN, INF, -INF, -0.0])
    assert wengert.isnan(x).tolist() == [False, True, False, False, False]
    assert wengert.isinf(x).tolist() == [False, False, True, True, False]
    assert wengert.isfinite(x).tolist() == [True, False, False, False, True]
    assert wengert.isposinf(x).tolist() == [False, False, True, False, False]
    assert wengert.isneginf(x).tolist() == [False, False, False, True, False]
    assert wengert.signbit(x).tolist()[-2:] == [True, True]
    assert wengert.isreal(tensor([1j, 1 + 0j])).tolist() == [False, True]


def test_logic():
    x, y = tensor([0.0, 1.0, -2.0]), tensor([True, False, True])
    assert wengert.logical_and(x, y).tolist() == [False, False, True]
    assert wengert.logical_or(x, y).tolist() == [True, True, True]
    assert wengert.logical_xor(x, y).tolist() == [True, True, False]
    assert wengert.logical_not(x).tolist() == [True, False, False]


def test_bits():
    x, y = tensor([12, -7]), tensor([10, 3])
    assert (x & y).tolist() == [8, 1]
    assert (x | y).tolist() == [14, -5]
    assert (x ^ y).tolist() == [6, -6]
    assert (~x).tolist() == [-13, 6]
    assert (x << 1).tolist() == [24, -14] and (x >> 1).tolist() == [6, -4]
    assert (1 << tensor([3])).tolist() == [8] and (6 & tensor([3])).tolist() == [2]
    assert (x << 64).tolist() == [0, 0] and (x >> 64).tolist() == [0, -1]


def test_masks():
    mask = tensor([True, False])
    assert (~mask).tolist() == [False, True]
    assert (mask & tensor([True, True])).tolist() == [True, False]
    assert (mask ^ True).tolist() == [False, True]
    mask |= tensor([False, True])
    assert mask.tolist() == [True, True]
    with pytest.raises(TypeError, match="only implemented on integer and Boolean-type tensors"):
        ~tensor([1.0])
