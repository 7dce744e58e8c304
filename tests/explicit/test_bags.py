"""Bags of embeddings, rows kept within a norm, alpha dropout: numbers worked by hand, messages."""

from __future__ import annotations

import numpy as np
import pytest

import wengert
from wengert.nn import functional as F


def leaf(values):
    return wengert.tensor(values, dtype=wengert.float64, requires_grad=True)


ROWS = [[1.0, 2.0], [3.0, 4.0], [5.0, 0.0]]


def ints(*numbers):
    return wengert.tensor(numbers)


@pytest.mark.parametrize(("mode", "wanted", "gradient"), [
    ("sum", [[11.0, 2.0], [0.0, 0.0], [3.0, 4.0]], [[1.0, 1.0], [100.0, 100.0], [2.0, 2.0]]),
    ("mean", [[11 / 3, 2 / 3], [0.0, 0.0], [3.0, 4.0]], [[1 / 3, 1 / 3], [100.0, 100.0], [2 / 3, 2 / 3]]),
    ("max", [[5.0, 2.0], [0.0, 0.0], [3.0, 4.0]], [[0.0, 1.0], [100.0, 100.0], [1.0, 0.0]]),
])  # fmt: skip
def test_a_bag_of_three_an_empty_one_and_one_of_one(mode, wanted, gradient):
    weight = leaf(ROWS)
    y = F.embedding_bag(ints(0, 2, 2, 1), weight, ints(0, 3, 3), mode=mode)
    assert y.grad_fn.name() == "EmbeddingBagBackward0"
    y.backward(wengert.tensor([[1.0, 1.0], [10.0, 10.0], [100.0, 100.0]], dtype=wengert.float64))
    np.testing.assert_allclose(y.detach(), wanted, rtol=1e-12)
    np.testing.assert_allclose(weight.grad, gradient, rtol=1e-12)


def test_per_sample_weights_and_padding():
    weight, factors = leaf(ROWS), leaf([10.0, 1.0, 100.0])
    y = F.embedding_bag(ints(0, 1, 2), weight, ints(0), mode="sum", per_sample_weights=factors, padding_idx=1)
    y.sum().backward()
    assert y.tolist() == [[510.0, 20.0]]
    assert factors.grad.tolist() == [3.0, 0.0, 5.0] and weight.grad.tolist() == [[10.0, 10.0], [0.0, 0.0], [100.0, 100.0]]


def test_gradients_divided_by_how_often_a_row_is_used():
    weight = leaf(ROWS)
    F.embedding_bag(ints(0, 2, 2), weight, ints(0), mode="sum", scale_grad_by_freq=True).sum().backward()
    assert weight.grad.tolist() == [[1.0, 1.0], [0.0, 0.0], [1.0, 1.0]]


@pytest.mark.parametrize("look_up", [
    lambda weight: F.embedding(ints(1, 1), weight, max_norm=1.0),
    lambda weight: F.embedding_bag(ints(1), weight, ints(0), max_norm=1.0),
])  # fmt: skip
def test_rows_that_are_used_are_scaled_down_in_place(look_up):
    weight = leaf([[3.0, 4.0], [6.0, 8.0]])
    y = look_up(weight)
    np.testing.assert_allclose(weight.detach(), [[3.0, 4.0], [0.6, 0.8]], rtol=1e-6)
    np.testing.assert_allclose(y.detach()[0], [0.6, 0.8], rtol=1e-6)
    assert weight._version == 1 and weight.is_leaf and y.requires_grad


def test_rows_within_the_norm_stay_as_they_are():
    weight = leaf([[0.3, 0.4]])
    F.embedding(ints(0), weight, max_norm=1.0)
    assert weight.tolist() == [[0.3, 0.4]] and weight._version == 0


def test_alpha_dropout_keeps_mean_and_variance():
    wengert.manual_seed(0)
    x = wengert.randn(100_000, dtype=wengert.float64)
    y = F.alpha_dropout(x, 0.3, True)
    assert abs(y.mean().item()) < 0.02 and abs(y.var().item() - 1) < 0.02
    assert F.alpha_dropout(x, 0.3) is x and F.alpha_dropout(x, 1.0, True).abs().max().item() == 0.0


def test_feature_alpha_dropout_drops_whole_channels():
    wengert.manual_seed(0)
    y = F.feature_alpha_dropout(wengert.ones(20, 3, 5), 0.5, True)
    assert (y == y[:, :, :1]).all().item() and len(set(y.flatten().tolist())) == 2


WEIGHT = wengert.ones(5, 3)
MESSAGES = [
    (lambda: F.embedding_bag(ints(0, 2), WEIGHT, ints(0), mode="x"), "mode has to be one of sum, mean or max"),
    (lambda: F.embedding_bag(ints(0, 2), WEIGHT), "offsets has to be a 1D Tensor but got None"),
    (lambda: F.embedding_bag(ints(0, 2), WEIGHT, wengert.tensor([[0]])), "offsets has to be a 1D Tensor"),
    (lambda: F.embedding_bag(wengert.tensor([[[0]]]), WEIGHT), "input has to be 1D or 2D Tensor, but got Tensor of dimension 3"),
    (lambda: F.embedding_bag(wengert.tensor([[0]]), WEIGHT, ints(0)),
     "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length sequences. However, "
     "found offsets of type <class 'wengert.tensor.Tensor'>"),
    (lambda: F.embedding_bag(ints(0, 2), WEIGHT, ints(1, 2)),
     "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. However, got 1"),
    (lambda: F.embedding_bag(ints(0, 2), WEIGHT, ints(0, 5)),
     "offsets[-1] can not be greater than input's length 2 but got offsets[-1] of 5"),
    (lambda: F.embedding_bag(wengert.tensor([0.0]), WEIGHT, ints(0)),
     "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
     "torch.FloatTensor instead (while checking arguments for embedding_bag)"),
    (lambda: F.embedding_bag(ints(0), WEIGHT.long(), ints(0)),
     "Expected tensor for argument #1 'weight' to have one of the following scalar types: Half, BFloat16, Float, Double; "
     "but got torch.LongTensor instead (while checking arguments for embedding_bag)"),
    (lambda: F.embedding_bag(ints(0), WEIGHT, ints(0), mode="max", scale_grad_by_freq=True),
     "max mode does not support scaling the gradient by the frequency"),
    (lambda: F.embedding_bag(ints(0, 2), WEIGHT, ints(0), mode="sum", per_sample_weights=wengert.ones(3)),
     "embedding_bag: If per_sample_weights (torch.Size([3])) is not None, then it must have the same shape as the input "
     "(torch.Size([2]))"),
    (lambda: F.embedding_bag(ints(0), WEIGHT, ints(0), per_sample_weights=wengert.ones(1)),
     "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' (got "
     "mode='mean')."),
    (lambda: F.embedding_bag(ints(0), WEIGHT, ints(0), mode="sum", per_sample_weights=wengert.ones(1).double()),
     "Expected tensor for argument #1 'weight' to have the same type as tensor for argument #1 'per_sample_weights'; but "
     "type torch.FloatTensor does not equal torch.DoubleTensor (while checking arguments for embedding_bag)"),
    (lambda: F.embedding_bag(ints(7), WEIGHT, ints(0)), "index out of range in self"),
    (lambda: F.feature_alpha_dropout(wengert.ones(3), 0.5, True), "Feature dropout requires at least 2 dimensions in the input"),
    (lambda: F.alpha_dropout(wengert.ones(3), 1.5), "dropout probability has to be between 0 and 1, but got 1.5"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "text"), MESSAGES, ids=[text[:40] for _, text in MESSAGES])
def test_wrong_arguments_are_refused_with_a_message(call, text):
    with pytest.raises((RuntimeError, ValueError, IndexError)) as error:
        call()
    assert str(error.value) == text
