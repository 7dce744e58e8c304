"""Pooling: numbers worked by hand, ties and NaN, messages."""

from __future__ import annotations

import math

import numpy as np
import pytest

import wengert
from wengert.nn import functional as F

inf, nan = math.inf, math.nan


def leaf(values):
    return wengert.tensor(values, dtype=wengert.float64, requires_grad=True)


def f64(values):
    return wengert.tensor(values, dtype=wengert.float64)


IMAGE = [[[1.0, 5.0, 2.0], [4.0, 3.0, 6.0], [9.0, 8.0, 7.0]]]


def test_max_pool2d_passes_the_cotangent_to_the_element_chosen():
    x = leaf(IMAGE)
    y, where = F.max_pool2d(x, 2, stride=1, return_indices=True)
    assert y.tolist() == [[[5.0, 6.0], [9.0, 8.0]]] and where.tolist() == [[[1, 5], [6, 7]]]
    assert y.grad_fn.name() == "MaxPool2DWithIndicesBackward0" and where.dtype is wengert.int64
    y.backward(f64([[[1.0, 2.0], [3.0, 4.0]]]))
    assert x.grad.tolist() == [[[0.0, 1.0, 0.0], [0.0, 0.0, 2.0], [3.0, 4.0, 0.0]]]


def test_an_element_that_wins_twice_gets_both_cotangents():
    x = leaf([[1.0, 3.0, 2.0]])
    F.max_pool1d(x, 2, stride=1).backward(f64([[1.0, 10.0]]))
    assert x.grad.tolist() == [[0.0, 11.0, 0.0]]


def test_the_first_of_equal_elements_wins_and_nan_over_all():
    assert F.max_pool1d(f64([[2.0, 2.0, 1.0]]), 3, return_indices=True)[1].tolist() == [[0]]
    values, where = F.max_pool1d(f64([[2.0, nan, inf]]), 3, return_indices=True)
    assert math.isnan(values.item()) and where.tolist() == [[1]]


def test_a_window_of_nothing_but_minus_infinity_is_not_found_in_the_padding():
    values, where = F.max_pool1d(f64([[-inf, -inf, 1.0]]), 2, padding=1, return_indices=True)
    assert values.tolist() == [[-inf, 1.0]] and where.tolist() == [[0, 2]]


def test_ceil_mode_keeps_the_last_window():
    x = f64([[1.0, 2.0, 3.0, 4.0, 5.0]])
    assert F.max_pool1d(x, 2).tolist() == [[2.0, 4.0]]
    assert F.max_pool1d(x, 2, ceil_mode=True).tolist() == [[2.0, 4.0, 5.0]]
    assert F.avg_pool1d(x, 2, ceil_mode=True).tolist() == [[1.5, 3.5, 5.0]]


def test_avg_pool_counts_the_padding_unless_told_otherwise():
    x = leaf([[2.0, 4.0, 6.0, 8.0]])
    assert F.avg_pool1d(x, 2, padding=1).tolist() == [[1.0, 5.0, 4.0]]
    y = F.avg_pool1d(x, 2, padding=1, count_include_pad=False)
    assert y.tolist() == [[2.0, 5.0, 8.0]]
    y.backward(f64([[1.0, 10.0, 100.0]]))
    assert x.grad.tolist() == [[1.0, 5.0, 5.0, 100.0]]
    image = f64([[[1.0, 2.0], [3.0, 4.0]]])
    assert F.avg_pool2d(image, 2, divisor_override=5).tolist() == [[[2.0]]]


def test_means_of_integers_are_cut_off():
    assert F.avg_pool1d(wengert.tensor([[-3, 0, 3, 0]]), 2).tolist() == [[-1, 1]]


def test_adaptive_stretches_share_elements():
    x = leaf([[1.0, 2.0, 6.0, 10.0, 16.0]])
    y = F.adaptive_avg_pool1d(x, 3)  # of the elements 0 1, 1 2 3, 3 4
    assert y.tolist() == [[1.5, pytest.approx(6.0), 13.0]]
    y.backward(f64([[2.0, 3.0, 4.0]]))
    assert x.grad.tolist() == [pytest.approx([1.0, 2.0, 1.0, 3.0, 2.0])]
    assert F.adaptive_max_pool1d(x, 3, return_indices=True)[1].tolist() == [[1, 3, 4]]


def test_lp_pool():
    assert F.lp_pool1d(f64([[3.0, 4.0, 0.0, 5.0]]), 2, 2).tolist() == [[5.0, 5.0]]
    assert F.lp_pool1d(f64([[3.0, 4.0, 0.0, 5.0]]), inf, 2).tolist() == [[4.0, 5.0]]


def test_max_unpool_puts_the_elements_back():
    x = leaf(IMAGE)
    y, where = F.max_pool2d(x, 2, stride=1, return_indices=True)
    back = F.max_unpool2d(y, where, 2, stride=1)
    assert back.tolist() == [[[0.0, 5.0, 0.0], [0.0, 0.0, 6.0], [9.0, 8.0, 0.0]]]
    back.sum().backward()
    assert x.grad.tolist() == [[[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 1.0, 0.0]]]
    assert F.max_unpool1d(f64([[3.0, 5.0]]), wengert.tensor([[1, 2]]), 2, output_size=(5,)).tolist() == [
        [0.0, 3.0, 5.0, 0.0, 0.0]
    ]


def ones(*shape):
    return wengert.ones(*shape)


IMAGES = ones(2, 3, 8, 8)
POOLED = wengert.zeros(1, 2, 2, dtype=wengert.int64)
MESSAGES = [
    (lambda: F.max_pool2d(ones(8, 8), 2),
     "Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, but got:[8, 8]"),
    (lambda: F.max_pool2d(IMAGES, 2, padding=2),
     "pad should be at most half of effective kernel size, but got pad=2, kernel_size=2 and dilation=1"),
    (lambda: F.max_pool2d(IMAGES, 2, padding=-1), "pad must be non-negative, but got pad: -1"),
    (lambda: F.max_pool2d(IMAGES, 9),
     "Given input size: (3x8x8). Calculated output size: (3x0x0). Output size is too small"),
    (lambda: F.max_pool2d(IMAGES, 2, stride=0), "stride should not be zero"),
    (lambda: F.max_pool2d(IMAGES, 2, dilation=0), "dilation should be greater than zero, but got dilationH: 0 dilationW: 0"),
    (lambda: F.max_pool2d(IMAGES, (2, 2, 2)), "max_pool2d: kernel_size must either be a single int, or a tuple of two ints"),
    (lambda: F.max_pool2d(IMAGES.bool(), 2), "\"max_pool2d\" not implemented for 'Bool'"),
    (lambda: F.avg_pool2d(IMAGES, 2, divisor_override=0), "divisor must be not zero"),
    (lambda: F.avg_pool2d(IMAGES.int(), 2), "\"avg_pool2d\" not implemented for 'Int'"),
    (lambda: F.adaptive_avg_pool2d(ones(8, 8), 3), "Input dimension should be at least 3"),
    (lambda: F.adaptive_max_pool2d(ones(8, 8), 3), "Input dimension should be at least 3"),
    (lambda: F.adaptive_avg_pool2d(IMAGES, (3, 3, 3)), "adaptive_avg_pool2d: output_size must be 2"),
    (lambda: F.adaptive_avg_pool2d(IMAGES, -1),
     "adaptive_avg_pool2d: elements of output_size must be greater than or equal to 0 but received {-1, -1}"),
    (lambda: F.adaptive_avg_pool2d(ones(2, 3, 0, 8), 2),
     "adaptive_avg_pool2d(): Expected input to have non-zero size for non-batch dimensions, but input has sizes "
     "[2, 3, 0, 8] with dimension 2 being empty"),
    (lambda: F.adaptive_avg_pool2d(IMAGES.long(), 2), "\"adaptive_avg_pool2d\" not implemented for 'Long'"),
    (lambda: F.max_unpool2d(ones(1, 2, 2), POOLED.int(), 2), "elements in indices should be type int64 but got: Int"),
    (lambda: F.max_unpool2d(ones(1, 2, 2), POOLED + 35, 2), "Found an invalid max index: 35 (output volumes are of size 4x4)"),
    (lambda: F.max_unpool2d(ones(1, 2, 2), POOLED[..., :1], 2),
     "Expected shape of indices to be same as that of the input tensor ([1, 2, 2]) but got indices tensor with shape: "
     "[1, 2, 1]"),
    (lambda: F.max_unpool2d(ones(1, 2, 2), POOLED, 2, output_size=(9, 9)),
     'invalid output_size "(9, 9)" (dim 0 must be between 2 and 6)'),
    (lambda: F.max_unpool2d(ones(1, 2, 2), POOLED, 2, output_size=(4,)),
     "output_size should be a sequence containing 2 or 4 elements, but it has a length of '1'"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "text"), MESSAGES, ids=[text[:40] for _, text in MESSAGES])
def test_wrong_arguments_are_refused_with_a_message(call, text):
    with pytest.raises((RuntimeError, ValueError)) as error:
        call()
    assert str(error.value) == text


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("name", ["max_pool", "avg_pool"])
def test_pooling_gives_the_same_whether_it_is_recorded_or_not(name, dims):
    values = np.random.default_rng(0).integers(-2, 3, (2, 3, 5, 6, 7)[: dims + 2]).astype(np.float32)
    values[(0, 0, *(1,) * dims)] = np.nan
    x = wengert.tensor(values, requires_grad=True)
    pool = getattr(wengert.nn.functional, f"{name}{dims}d")
    recorded = pool(x, 3, 2, 1)
    assert recorded.requires_grad
    with wengert.no_grad():
        np.testing.assert_array_equal(pool(x, 3, 2, 1).numpy(), recorded.detach().numpy())
    np.testing.assert_array_equal(pool(x.detach(), 3, 2, 1).numpy(), recorded.detach().numpy())
