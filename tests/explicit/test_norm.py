"""Normalisation layers: numbers worked by hand, running statistics, messages."""

from __future__ import annotations

import numpy as np
import pytest

import wengert
from wengert.nn import functional as F


def leaf(values):
    return wengert.tensor(values, dtype=wengert.float64, requires_grad=True)


def f64(values):
    return wengert.tensor(values, dtype=wengert.float64)


# One channel with mean 2 and variance 1, one with mean 30 and variance 100.
BATCH = [[1.0, 20.0], [3.0, 40.0]]


def test_batch_norm_by_the_batch():
    x, weight, bias = leaf(BATCH), leaf([2.0, 3.0]), leaf([0.5, 1.0])
    y = F.batch_norm(x, None, None, weight, bias, training=True, eps=0.0)
    assert y.tolist() == [[-1.5, -2.0], [2.5, 4.0]] and y.grad_fn.name() == "NativeBatchNormBackward0"
    y.backward(f64([[1.0, 1.0], [10.0, 10.0]]))
    assert weight.grad.tolist() == [9.0, 9.0] and bias.grad.tolist() == [11.0, 11.0]
    np.testing.assert_allclose(x.grad, np.zeros((2, 2)), atol=1e-12)  # two values are -1 and 1 whatever they were


def test_batch_norm_updates_the_running_statistics_in_place():
    mean, variance = f64([0.0, 0.0]), f64([1.0, 1.0])
    F.batch_norm(f64(BATCH), mean, variance, training=True, momentum=0.5)
    np.testing.assert_allclose(mean, [1.0, 15.0], rtol=1e-12)
    np.testing.assert_allclose(variance, [0.5 + 1.0, 0.5 + 100.0], rtol=1e-6)  # the variances without bias are 2 and 200
    assert mean._version == 1


def test_batch_norm_by_running_statistics():
    mean, variance, x = f64([1.0, 10.0]), f64([4.0, 25.0]), leaf(BATCH)
    y = F.batch_norm(x, mean, variance, eps=0.0)
    assert y.tolist() == [[0.0, 2.0], [1.0, 6.0]] and mean.tolist() == [1.0, 10.0]
    mean.add_(5.0)  # what the derivative needs was kept
    y.sum().backward()
    assert x.grad.tolist() == [[0.5, 0.2], [0.5, 0.2]]


def test_the_librarys_batch_norm_has_its_arguments_in_another_order():
    y = wengert.batch_norm(f64(BATCH), f64([2.0, 3.0]), f64([0.5, 1.0]), None, None, True, 0.1, 0.0, False)
    assert y.tolist() == [[-1.5, -2.0], [2.5, 4.0]]


def test_group_norm():
    x = leaf([[1.0, 3.0, 20.0, 40.0]])
    y = F.group_norm(x, 2, f64([1.0, 1.0, 1.0, 2.0]), eps=0.0)
    assert y.tolist() == [[-1.0, 1.0, -1.0, 2.0]] and y.grad_fn.name() == "NativeGroupNormBackward0"


def test_instance_norm():
    mean, variance = f64([0.0]), f64([0.0])
    y = F.instance_norm(f64([[[1.0, 3.0]], [[20.0, 40.0]]]), mean, variance, momentum=1.0, eps=0.0)
    assert y.tolist() == [[[-1.0, 1.0]], [[-1.0, 1.0]]]
    np.testing.assert_allclose(mean, [16.0], rtol=1e-12)
    np.testing.assert_allclose(variance, [101.0], rtol=1e-12)


def test_local_response_norm():
    y = F.local_response_norm(f64([[[1.0], [2.0], [3.0]]]), 2, alpha=2.0, beta=1.0, k=1.0)
    assert y.tolist() == [[[0.5], [2.0 / 6.0], [3.0 / 14.0]]]


def test_half_precision_is_normalised_in_single():
    x = wengert.tensor([[1000.0], [1001.0]], dtype=wengert.float16)
    y = F.batch_norm(x, None, None, wengert.ones(1), training=True, eps=0.0)
    assert y.dtype is wengert.float16 and y.tolist() == [[-1.0], [1.0]]


def ones(*shape):
    return wengert.ones(*shape)


X = wengert.ones(4, 3, 5)
RUNNING = (wengert.zeros(3), wengert.ones(3))
MESSAGES = [
    (lambda: F.batch_norm(ones(1, 3), None, None, training=True),
     "Expected more than 1 value per channel when training, got input size torch.Size([1, 3])"),
    (lambda: F.batch_norm(X, None, None), "running_mean must be defined in evaluation mode"),
    (lambda: F.batch_norm(X, ones(4), ones(3)), "running_mean should contain 3 elements not 4"),
    (lambda: F.batch_norm(X, *RUNNING, ones(4)), "weight should contain 3 elements not 4"),
    (lambda: F.batch_norm(X, ones(3), None, training=True),
     "running_mean and running_var must either both be None or neither be None"),
    (lambda: F.batch_norm(X, ones(3), wengert.ones(3, requires_grad=True), training=True),
     "The function 'native_batch_norm' is not differentiable with respect to argument 'running_var'. This input cannot "
     "have requires_grad True."),
    (lambda: F.batch_norm(X.double(), *RUNNING), "mixed dtype (CPU): all inputs must share same datatype."),
    (lambda: F.batch_norm(X.half(), None, None, ones(3), ones(3).half(), True),
     "mixed dtype (CPU): expect parameter to have scalar type of Float"),
    (lambda: F.batch_norm(X.long(), None, None, training=True), "\"batch_norm\" not implemented for 'Long'"),
    (lambda: F.group_norm(ones(4, 6, 5), 4),
     "Expected number of channels in input to be divisible by num_groups, but got input of shape [4, 6, 5] and "
     "num_groups=4"),
    (lambda: F.group_norm(ones(4, 6, 5), 2, ones(5)),
     "Expected weight to be a vector of size equal to the number of channels in input, but got weight of shape [5] and "
     "input of shape [4, 6, 5]"),
    (lambda: F.group_norm(ones(4), 2), "Expected at least 2 dimensions for input tensor but received 1"),
    (lambda: F.instance_norm(ones(4, 3, 1)),
     "Expected more than 1 spatial element when training, got input size torch.Size([4, 3, 1])"),
    (lambda: F.instance_norm(X, use_input_stats=False),
     "Expected running_mean and running_var to be defined when use_input_stats is false"),
    (lambda: F.local_response_norm(ones(4, 6), 3), "Expected 3D or higher dimensionality input (got 2 dimensions)"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "text"), MESSAGES, ids=[text[:40] for _, text in MESSAGES])
def test_wrong_arguments_are_refused_with_a_message(call, text):
    with pytest.raises((RuntimeError, ValueError)) as error:
        call()
    assert str(error.value) == text
