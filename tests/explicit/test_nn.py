"""Layers, activations and losses: numbers worked by hand, kinks, ignored targets, messages."""

from __future__ import annotations

import math

import numpy as np
import pytest

import wengert
from wengert.nn import functional as F

inf = float("inf")


def leaf(values, dtype=wengert.float64):
    return wengert.tensor(values, dtype=dtype, requires_grad=True)


def f64(values):
    return wengert.tensor(values, dtype=wengert.float64)


def gradient(function, values):
    x = leaf(values)
    function(x).sum().backward()
    return x.grad.tolist()


# -- layers ------------------------------------------------------------------------------------------------------------


def test_linear_and_its_three_gradients():
    x, weight, bias = leaf([[1.0, 2.0]]), leaf([[3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]), leaf([0.5, 0.5, 0.5])
    y = F.linear(x, weight, bias)
    assert y.tolist() == [[11.5, 17.5, 23.5]] and y.grad_fn.name() == "AddmmBackward0"
    y.backward(f64([[1.0, 10.0, 100.0]]))
    assert x.grad.tolist() == [[753.0, 864.0]] and bias.grad.tolist() == [1.0, 10.0, 100.0]
    assert weight.grad.tolist() == [[1.0, 2.0], [10.0, 20.0], [100.0, 200.0]]


def test_linear_folds_batches_into_one_weight_gradient():
    weight = leaf([[1.0, 1.0]])
    F.linear(f64([[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]]), weight).sum().backward()
    assert weight.grad.tolist() == [[16.0, 20.0]]


def test_linear_messages():
    x = wengert.ones(2, 3)
    with pytest.raises(RuntimeError, match=r"mat1 and mat2 shapes cannot be multiplied \(2x3 and 4x5\)"):
        F.linear(x, wengert.ones(5, 4))
    with pytest.raises(RuntimeError, match="expected m1 and m2 to have the same dtype, but got: float != double"):
        F.linear(x, wengert.ones(5, 3, dtype=wengert.float64))
    with pytest.raises(RuntimeError, match=r"expanded size of the tensor \(5\) must match the existing size \(4\)"):
        F.linear(x, wengert.ones(5, 3), wengert.ones(4))


def test_embedding_adds_up_the_gradient_of_a_row_used_twice():
    weight = leaf([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    rows = F.embedding(wengert.tensor([0, 2, 2]), weight)
    assert rows.tolist() == [[1.0, 2.0], [5.0, 6.0], [5.0, 6.0]]
    rows.backward(f64([[1.0, 1.0], [10.0, 10.0], [100.0, 200.0]]))
    assert weight.grad.tolist() == [[1.0, 1.0], [0.0, 0.0], [110.0, 210.0]]


def test_embedding_options():
    index = wengert.tensor([0, 2, 2])
    assert gradient(lambda w: F.embedding(index, w, padding_idx=0), [[1.0]] * 3) == [[0.0], [0.0], [2.0]]
    assert gradient(lambda w: F.embedding(index, w, padding_idx=-1), [[1.0]] * 3) == [[1.0], [0.0], [0.0]]
    assert gradient(lambda w: F.embedding(index, w, scale_grad_by_freq=True), [[1.0]] * 3) == [[1.0], [0.0], [1.0]]
    with pytest.raises(IndexError, match="index out of range in self"):
        F.embedding(wengert.tensor([3]), wengert.ones(3, 2))
    with pytest.raises(
        RuntimeError, match=r"have one of the following scalar types: Long, Int; but got torch\.FloatTensor"
    ):
        F.embedding(wengert.tensor([1.0]), wengert.ones(3, 2))


def test_one_hot():
    assert F.one_hot(wengert.tensor([0, 2])).tolist() == [[1, 0, 0], [0, 0, 1]]
    with pytest.raises(RuntimeError, match="Class values must be smaller than num_classes"):
        F.one_hot(wengert.tensor([0, 2]), 2)
    with pytest.raises(RuntimeError, match="Class values must be non-negative"):
        F.one_hot(wengert.tensor([-1]))


def test_dropout_scales_kept_elements_and_passes_the_gradient_to_them():
    x = wengert.ones(10_000, dtype=wengert.float64, requires_grad=True)
    y = F.dropout(x, 0.25)
    assert set(np.unique(y.detach().numpy())) == {0.0, 1 / 0.75}
    assert 0.73 < (y != 0).double().mean().item() < 0.77
    y.sum().backward()
    assert x.grad.tolist() == y.tolist()
    assert F.dropout(x, 0.5, training=False) is x and F.dropout(x, 1.0).sum().item() == 0.0
    with pytest.raises(ValueError, match=r"dropout probability has to be between 0 and 1, but got 1\.5"):
        F.dropout(x, 1.5)


def test_dropout_in_place_and_of_channels():
    x = wengert.ones(4, 3)
    assert F.dropout(x, 1.0, inplace=True) is x and x.sum().item() == 0.0
    y = F.dropout2d(wengert.ones(8, 5, 3, 3))
    assert ((y == 0).all(-1).all(-1) | (y == 2).all(-1).all(-1)).all().item()


def test_layer_norm():
    x = leaf([[1.0, 3.0]])
    assert F.layer_norm(x, (2,), eps=0.0).tolist() == [[-1.0, 1.0]]
    assert F.layer_norm(x, 2, f64([2.0, 3.0]), f64([10.0, 20.0]), eps=0.0).tolist() == [[8.0, 23.0]]
    assert gradient(lambda x: F.layer_norm(x, (2,), eps=0.0)[0, :1], [[1.0, 3.0]]) == [[0.0, 0.0]], (
        "two points: always -1, 1"
    )
    with pytest.raises(RuntimeError, match=r"Given normalized_shape=\[3\], expected input with shape \[\*, 3\]"):
        F.layer_norm(x, (3,))


def test_normalize_and_cosine_similarity():
    assert F.normalize(f64([[3.0, 4.0]])).tolist() == [[0.6, 0.8]] and F.normalize(f64([[0.0, 0.0]])).tolist() == [
        [0.0, 0.0]
    ]
    assert F.cosine_similarity(f64([[1.0, 0.0], [1.0, 1.0]]), f64([0.0, 1.0])).tolist() == pytest.approx(
        [0.0, 0.5**0.5]
    )


# -- activations -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "kinks", "at_kinks"),
    [
        (F.leaky_relu, [0.0], [0.01]),
        (F.elu, [0.0], [1.0]),
        (lambda x: F.elu(x, 0.5), [0.0], [0.5]),
        (F.celu, [0.0], [1.0]),
        (F.hardtanh, [-1.0, 1.0], [0.0, 0.0]),
        (F.relu6, [0.0, 6.0], [0.0, 0.0]),
        (lambda x: F.threshold(x, 0.5, 9.0), [0.5], [0.0]),
        (F.hardswish, [-3.0, 3.0], [0.0, 1.0]),
        (F.hardsigmoid, [-3.0, 3.0], [0.0, 0.0]),
        (F.softshrink, [-0.5, 0.5], [0.0, 0.0]),
        (F.hardshrink, [-0.5, 0.5], [0.0, 0.0]),
        (F.softsign, [0.0], [1.0]),
    ],
)
def test_slopes_at_kinks(function, kinks, at_kinks):
    assert gradient(function, kinks) == at_kinks


def test_values_of_activations():
    x = f64([-2.0, 0.0, 2.0])
    assert F.leaky_relu(x, 0.1).tolist() == [-0.2, 0.0, 2.0] and F.hardtanh(x).tolist() == [-1.0, 0.0, 1.0]
    assert F.elu(x).tolist() == pytest.approx([math.exp(-2) - 1, 0.0, 2.0])
    assert F.silu(x).tolist() == pytest.approx([-2 / (1 + math.exp(2)), 0.0, 2 / (1 + math.exp(-2))])
    assert F.gelu(x).tolist() == pytest.approx([-(1 + math.erf(-(2**0.5))), 0.0, 1 + math.erf(2**0.5)])
    assert F.softplus(x).tolist() == pytest.approx([math.log1p(math.exp(v)) for v in (-2.0, 0.0, 2.0)])
    assert F.glu(f64([3.0, 0.0])).tolist() == [1.5] and F.prelu(x, f64([0.5])).tolist() == [-1.0, 0.0, 2.0]


def test_large_inputs_do_not_overflow():
    x = f64([-1000.0, 1000.0])
    assert F.softplus(x).tolist() == [0.0, 1000.0] and F.logsigmoid(x).tolist() == [-1000.0, 0.0]
    assert F.silu(x).tolist() == [0.0, 1000.0] and F.mish(x).tolist() == [0.0, 1000.0]


def test_in_place_activation_is_recorded():
    x = leaf([-1.0, 2.0])
    y = x * 1
    assert F.leaky_relu(y, 0.5, inplace=True) is y and y.tolist() == [-0.5, 2.0]
    y.sum().backward()
    assert x.grad.tolist() == [0.5, 1.0]


def test_activation_messages():
    with pytest.raises(RuntimeError, match="\"silu_cpu\" not implemented for 'Long'"):
        F.silu(wengert.tensor([1]))
    with pytest.raises(RuntimeError, match="approximate argument must be either none or tanh"):
        F.gelu(wengert.ones(1), approximate="foo")
    with pytest.raises(ValueError, match="min_val cannot be greater than max_val"):
        F.hardtanh(wengert.ones(1), 2, 1)
    with pytest.raises(RuntimeError, match="Halving dimension must be even, but dimension 1 is size 3"):
        F.glu(wengert.ones(2, 3))


# -- losses ------------------------------------------------------------------------------------------------------------


def test_cross_entropy_of_equal_scores():
    scores = leaf([[0.0, 0.0], [0.0, 0.0]])
    loss = F.cross_entropy(scores, wengert.tensor([0, 1]))
    assert loss.item() == pytest.approx(math.log(2))
    loss.backward()
    assert scores.grad.tolist() == [[-0.25, 0.25], [0.25, -0.25]]


def test_cross_entropy_second_derivative():
    # Of log(1 + exp(b - a)) at a = b the second derivatives are 1/4, -1/4, 1/4.
    scores = leaf([[0.0, 0.0]])
    (g,) = wengert.autograd.grad(F.cross_entropy(scores, wengert.tensor([0])), scores, create_graph=True)
    g[0, 0].backward()
    assert scores.grad.tolist() == [[0.25, -0.25]]


def test_ignored_targets_count_for_nothing():
    scores, target = leaf([[0.0, 0.0], [5.0, 1.0]]), wengert.tensor([0, -100])
    assert F.cross_entropy(scores, target).item() == pytest.approx(math.log(2))
    assert F.cross_entropy(scores, target, reduction="none").tolist() == pytest.approx([math.log(2), 0.0])
    F.cross_entropy(scores, target).backward()
    assert scores.grad.tolist() == [[-0.5, 0.5], [0.0, 0.0]]
    ignored = wengert.tensor([-100, -100])
    assert (
        math.isnan(F.cross_entropy(scores, ignored).item())
        and F.cross_entropy(scores, ignored, reduction="sum").item() == 0.0
    )
    assert gradient(lambda x: F.cross_entropy(x, ignored), [[0.0, 1.0], [2.0, 3.0]]) == [[0.0, 0.0], [0.0, 0.0]]


def test_class_weights_divide_by_their_sum():
    log_probs, weight = f64([[-1.0, -2.0], [-3.0, -4.0]]), f64([1.0, 3.0])
    assert F.nll_loss(log_probs, wengert.tensor([0, 1]), weight).item() == (1 * 1.0 + 3 * 4.0) / 4
    assert F.nll_loss(log_probs, wengert.tensor([0, 1]), weight, reduction="sum").item() == 13.0


def test_class_weights_can_be_learnt():
    """The losses of each class; of the mean, (w0 1 + w1 4) / (w0 + w1), its derivatives."""
    log_probs, target = f64([[-1.0, -2.0], [-3.0, -4.0]]), wengert.tensor([0, 1])
    assert gradient(lambda w: F.nll_loss(log_probs, target, w, reduction="sum"), [1.0, 3.0]) == [1.0, 4.0]
    assert gradient(lambda w: F.nll_loss(log_probs, target, w), [1.0, 3.0]) == [-9 / 16, 3 / 16]
    scores, weight, target = leaf([[0.3, -0.2, 1.0], [0.1, 0.4, -1.0]]), leaf([1.0, 3.0, 0.5]), wengert.tensor([2, -100])
    for reduction in ("mean", "sum", "none"):
        assert wengert.autograd.gradgradcheck(
            lambda x, w, how=reduction: F.cross_entropy(x * x, target, w, reduction=how), (scores, weight)
        )


def test_probabilities_as_targets_and_label_smoothing():
    scores = f64([[0.0, math.log(3.0)]])  # probabilities 1/4, 3/4
    assert F.cross_entropy(scores, f64([[0.5, 0.5]])).item() == pytest.approx(0.5 * (math.log(4) + math.log(4 / 3)))
    smoothed = F.cross_entropy(scores, wengert.tensor([1]), label_smoothing=0.2).item()
    assert smoothed == pytest.approx(0.9 * math.log(4 / 3) + 0.1 * math.log(4))


def test_scores_of_images_and_of_one_sample():
    scores = wengert.zeros(2, 3, 4, 5)
    assert F.cross_entropy(scores, wengert.zeros(2, 4, 5, dtype=wengert.int64)).item() == pytest.approx(math.log(3))
    assert F.cross_entropy(wengert.zeros(3), wengert.tensor(1)).item() == pytest.approx(math.log(3))


@pytest.mark.parametrize(
    ("target", "error", "message"),
    [
        ([0, 4, 1], IndexError, "Target 4 is out of bounds."),
        ([0, -1, 1], IndexError, "Target -1 is out of bounds."),
        ([0, 1], ValueError, r"Expected input batch_size \(3\) to match target batch_size \(2\)"),
        ([0.0, 1.0, 1.0], RuntimeError, "expected target dtype to be Long or Byte, but got Float"),
        ([[0], [1], [1]], RuntimeError, "0D or 1D target tensor expected, multi-target not supported"),
    ],
)
def test_wrong_targets(target, error, message):
    for function in (F.cross_entropy, F.nll_loss):
        with pytest.raises(error, match=message):
            function(wengert.zeros(3, 4), wengert.tensor(target))


def test_mse_and_l1():
    x, y = leaf([1.0, 5.0]), f64([2.0, 3.0])
    loss = F.mse_loss(x, y)
    assert loss.item() == 2.5 and F.l1_loss(x, y).item() == 1.5
    loss.backward()
    assert x.grad.tolist() == [-1.0, 2.0]
    assert gradient(lambda x: F.l1_loss(x, x.detach()), [1.0]) == [0.0]


def test_smooth_l1_and_huber_on_both_sides_of_the_bend():
    x, zero = f64([0.5, 3.0]), f64([0.0, 0.0])
    assert F.smooth_l1_loss(x, zero, reduction="none").tolist() == [0.125, 2.5]
    assert F.smooth_l1_loss(x, zero, reduction="none", beta=2.0).tolist() == [0.0625, 2.0]
    assert F.huber_loss(x, zero, reduction="none", delta=2.0).tolist() == [0.125, 4.0]
    assert gradient(lambda x: F.huber_loss(x, zero, reduction="sum", delta=2.0), [0.5, 3.0]) == [0.5, 2.0]


def test_binary_cross_entropy():
    assert F.binary_cross_entropy(f64([0.25]), f64([1.0])).item() == pytest.approx(math.log(4))
    assert F.binary_cross_entropy(f64([0.0, 1.0]), f64([1.0, 0.0])).tolist() == 100.0
    assert F.binary_cross_entropy_with_logits(f64([0.0]), f64([1.0])).item() == pytest.approx(math.log(2))
    assert F.binary_cross_entropy_with_logits(f64([-1000.0]), f64([1.0])).item() == 1000.0
    assert gradient(lambda x: F.binary_cross_entropy_with_logits(x, f64([1.0])), [0.0]) == [-0.5]
    with pytest.raises(RuntimeError, match="all elements of input should be between 0 and 1"):
        F.binary_cross_entropy(f64([1.5]), f64([1.0]))
    with pytest.raises(
        ValueError, match=r"Target size \(torch.Size\(\[2\]\)\) must be the same as input size \(torch.Size\(\[1\]\)\)"
    ):
        F.binary_cross_entropy_with_logits(f64([0.0]), f64([1.0, 0.0]))


def test_weights_of_a_loss_may_be_learnt():
    weight = leaf([2.0])
    F.binary_cross_entropy_with_logits(f64([0.0]), f64([1.0]), weight).backward()
    assert weight.grad.item() == pytest.approx(math.log(2))


def test_kl_divergence():
    target = f64([[0.5, 0.5]])
    log_probs = f64([[math.log(0.25), math.log(0.75)]])
    expected = 0.5 * math.log(2) + 0.5 * math.log(2 / 3)
    assert F.kl_div(log_probs, target, reduction="batchmean").item() == pytest.approx(expected)
    assert F.kl_div(log_probs, target.log(), reduction="sum", log_target=True).item() == pytest.approx(expected)
    assert F.kl_div(log_probs, f64([[0.0, 1.0]]), reduction="none")[0].tolist() == pytest.approx([0.0, -math.log(0.75)])
    with pytest.warns(UserWarning, match="'batchmean' divides only by the batch size"):
        F.kl_div(log_probs, target)


def test_reduction_arguments():
    x, y = f64([1.0, 5.0]), f64([2.0, 3.0])
    with pytest.warns(UserWarning, match="please use reduction='sum' instead"):
        assert F.mse_loss(x, y, size_average=False).item() == 5.0
    with pytest.warns(UserWarning, match="please use reduction='none' instead"):
        assert F.mse_loss(x, y, reduce=False).tolist() == [1.0, 4.0]
    with pytest.raises(ValueError, match="foo is not a valid value for reduction"):
        F.mse_loss(x, y, reduction="foo")
    with pytest.warns(
        UserWarning, match=r"Using a target size \(torch.Size\(\[1\]\)\) that is different to the input size"
    ):
        F.mse_loss(x, y[:1])


def test_relu_of_nn_functional_can_write_into_its_input():
    x = leaf([-1.0, 2.0, 0.0])
    y = x * 3
    assert F.relu(y, inplace=True) is y and y.tolist() == [0.0, 6.0, 0.0] and y._version == 1
    y.sum().backward()
    assert x.grad.tolist() == [0.0, 3.0, 0.0]
    z = wengert.tensor([-1.0, 2.0])
    assert F.relu(z, False) is not z and F.relu(input=z).tolist() == [0.0, 2.0] and z.tolist() == [-1.0, 2.0]
    assert F.relu_(z) is z and z.tolist() == [0.0, 2.0]
    with pytest.raises(RuntimeError, match="^a leaf Variable that requires grad is being used in an in-place operation"):
        F.relu(x, inplace=True)
