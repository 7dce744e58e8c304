"""rrelu, gumbel_softmax, fractional pooling, multi-head attention, linear_cross_entropy: what they draw and what they refuse."""

from __future__ import annotations

import pytest

import wengert
from wengert.nn import functional as F


def test_rrelu_draws_slopes_between_its_bounds_where_the_input_is_negative():
    x = wengert.tensor([-1.0] * 1000 + [2.0], requires_grad=True)
    y = F.rrelu(x, 0.25, 0.5, training=True)
    slopes = -y[:1000]
    assert slopes.min() >= 0.25 and slopes.max() < 0.5 and slopes.std() > 0.05 and y[1000] == 2
    y.sum().backward()
    assert x.grad[:1000].equal(slopes.detach()) and x.grad[1000] == 1
    assert F.rrelu(wengert.tensor([-1.0]), 0.25, 0.75).item() == -0.5
    z = wengert.tensor([-1.0, 1.0])
    assert wengert.rrelu_(z, 0.5, 0.5) is z and z.tolist() == [-0.5, 1.0]
    with pytest.raises(RuntimeError, match="^Lower bound should be less than or equal to the upper bound$"):
        F.rrelu(x, 0.5, 0.25)


def test_gumbel_softmax_draws_classes_by_their_probabilities():
    wengert.manual_seed(0)
    logits = wengert.tensor([0.1, 0.2, 0.7]).log().expand(20000, 3)
    drawn = F.gumbel_softmax(logits, hard=True)
    assert set(drawn.unique().round(decimals=5).tolist()) == {0.0, 1.0} and drawn.sum(1).allclose(wengert.ones(20000))
    assert drawn.mean(0).tolist() == pytest.approx([0.1, 0.2, 0.7], abs=0.02)


def test_hard_samples_have_the_gradient_of_soft_ones():
    found = []
    for hard in (False, True):
        wengert.manual_seed(3)
        x = wengert.tensor([[0.3, -0.2, 0.9]], requires_grad=True)
        (F.gumbel_softmax(x, tau=0.7, hard=hard) * wengert.tensor([1.0, 2.0, 4.0])).sum().backward()
        found.append(x.grad)
    assert found[0].abs().sum() > 0 and found[0].allclose(found[1])


def test_fractional_windows_are_drawn_anew():
    wengert.manual_seed(0)
    x = wengert.rand(1, 1, 9, 9)
    assert any(not F.fractional_max_pool2d(x, 2, 4).equal(F.fractional_max_pool2d(x, 2, 4)) for _ in range(5))
    assert F.fractional_max_pool2d(x, 2, output_ratio=0.5).shape == (1, 1, 4, 4)


Q, K = wengert.ones(3, 2, 4), wengert.ones(5, 2, 4)
W, B, OUT = wengert.ones(12, 4), wengert.ones(12), wengert.ones(4, 4)


def attend(query=Q, key=K, value=K, size=4, heads=2, weight=W, bias_k=None, **params):
    return F.multi_head_attention_forward(query, key, value, size, heads, weight, B, bias_k, None, False, 0.0, OUT, None, **params)


@pytest.mark.parametrize(("call", "kind", "text"), [
    (lambda: attend(size=5), AssertionError, "was expecting embedding dimension of 5, but got 4"),
    (lambda: attend(heads=3), AssertionError, "embed_dim 4 not divisible by num_heads 3"),
    (lambda: attend(query=Q[None]), AssertionError, "query should be unbatched 2D or batched 3D tensor but received 4-D query tensor"),
    (lambda: attend(query=Q[0]), AssertionError,
     "For unbatched (2-D) `query`, expected `key` and `value` to be 2-D but found 3-D and 3-D tensors respectively"),
    (lambda: attend(value=K[:3]), AssertionError, "key's sequence and batch dims (5, 2) do not match value's (3, 2)"),
    (lambda: attend(attn_mask=wengert.zeros(2, 2)), RuntimeError,
     "The shape of the 2D attn_mask is torch.Size([2, 2]), but should be (3, 5)."),
    (lambda: attend(attn_mask=wengert.zeros(3, 5).int()), AssertionError, "only bool and floating types of attn_mask are supported"),
    (lambda: attend(weight=None), AssertionError, "use_separate_proj_weight is False but in_proj_weight is None"),
    (lambda: attend(use_separate_proj_weight=True), AssertionError, "use_separate_proj_weight is True but q_proj_weight is None"),
    (lambda: attend(bias_k=wengert.ones(1, 1, 4)), AssertionError, "bias_k is set but bias_v is None"),
    (lambda: attend(is_causal=True), RuntimeError, "Need attn_mask if specifying the is_causal hint. You may use the "
     "Transformer module method `generate_square_subsequent_mask` to create this mask."),
    (lambda: F.linear_cross_entropy(wengert.ones(2, 3, 4), OUT, wengert.zeros(2, 3).long()), RuntimeError,
     "expected input with dimensionality 1 or 2, got 3"),
    (lambda: F.fractional_max_pool2d(wengert.ones(1, 1, 6, 6), 2), ValueError,
     "fractional_max_pool2d requires specifying either an output_size or an output_ratio"),
    (lambda: F.fractional_max_pool2d(wengert.ones(1, 1, 6, 6), 2, 6), RuntimeError,
     "fractional_max_pool2d(): pool height 2 too large relative to input height 6"),
    (lambda: F.fractional_max_pool2d(wengert.ones(6, 6), 2, 3), RuntimeError,
     "fractional_max_pool2d(): Expected 3D or 4D tensor, but got 2D"),
    (lambda: F.fractional_max_pool2d(wengert.ones(1, 6, 6), 2, 3, _random_samples=wengert.ones(1, 1, 3)), RuntimeError,
     "Expect _random_samples.size(2) equals to 2; got 3."),
])  # fmt: skip
def test_errors(call, kind, text):
    with pytest.raises(kind) as error:
        call()
    assert str(error.value) == text


def test_the_packages_ctc_loss_takes_the_reduction_as_a_number():
    log_probs = wengert.randn(6, 2, 4).log_softmax(2)
    targets, n_inputs, n_targets = wengert.tensor([[1, 2], [3, 1]]), wengert.tensor([6, 5]), wengert.tensor([2, 1])
    for number, name in enumerate(["none", "mean", "sum"]):
        ours = wengert.ctc_loss(log_probs, targets, n_inputs, n_targets, 0, number)
        assert ours.equal(F.ctc_loss(log_probs, targets, n_inputs, n_targets, 0, name))
