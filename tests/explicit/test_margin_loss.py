"""Losses with margins, of Poisson and Gaussian models: numbers worked by hand, limits, messages."""

from __future__ import annotations

import math

import pytest

import wengert
from wengert.nn import functional as F


def leaf(values):
    return wengert.tensor(values, dtype=wengert.float64, requires_grad=True)


def f64(values):
    return wengert.tensor(values, dtype=wengert.float64)


def test_poisson():
    x = leaf([0.0, 1.0])
    loss = F.poisson_nll_loss(x, f64([2.0, 1.0]), reduction="none")
    assert loss.tolist() == pytest.approx([1.0, math.e - 1])
    loss.sum().backward()
    assert x.grad.tolist() == pytest.approx([-1.0, math.e - 1])
    full = F.poisson_nll_loss(f64([0.0, 0.0]), f64([1.0, 2.0]), full=True, reduction="none")
    assert full.tolist() == pytest.approx([1.0, 1 + 2 * math.log(2) - 2 + 0.5 * math.log(4 * math.pi)])


def test_a_target_of_0_has_a_finite_gradient_in_full():
    target = leaf([0.0])
    F.poisson_nll_loss(f64([1.0]), target, full=True).backward()
    assert target.grad.tolist() == [-1.0]


def test_gaussian():
    x, variance = leaf([3.0]), leaf([4.0])
    loss = F.gaussian_nll_loss(x, f64([1.0]), variance)
    assert loss.item() == pytest.approx(0.5 * (math.log(4) + 1))
    loss.backward()
    assert x.grad.tolist() == [0.5] and variance.grad.tolist() == [0.0]
    small = leaf([0.0])
    F.gaussian_nll_loss(f64([1.0]), f64([1.0]), small, eps=0.5).backward()
    assert small.grad.tolist() == [1.0]  # as if it were eps


def test_hinge_embedding():
    x = leaf([0.25, 0.25, 2.0])
    loss = F.hinge_embedding_loss(x, wengert.tensor([1, -1, -1]), reduction="none")
    loss.sum().backward()
    assert loss.tolist() == [0.25, 0.75, 0.0] and x.grad.tolist() == [1.0, -1.0, 0.0]


def test_margin_ranking():
    x, y = leaf([1.0, 1.0]), leaf([3.0, 3.0])
    loss = F.margin_ranking_loss(x, y, wengert.tensor([1, -1]), margin=0.5, reduction="none")
    loss.sum().backward()
    assert loss.tolist() == [2.5, 0.0] and x.grad.tolist() == [-1.0, 0.0] and y.grad.tolist() == [1.0, 0.0]


def test_cosine_embedding():
    x, y = f64([[3.0, 4.0], [1.0, 0.0]]), f64([[4.0, 3.0], [1.0, 0.0]])
    loss = F.cosine_embedding_loss(x, y, wengert.tensor([1, -1]), margin=0.25, reduction="none")
    assert loss.tolist() == pytest.approx([0.04, 0.75])


def test_triplets():
    anchor, near, far = f64([[0.0]]), f64([[3.0]]), f64([[1.0]])
    assert F.triplet_margin_loss(anchor, near, far, eps=0.0).item() == 3.0
    # The negative is 2 from the positive, but 1 from the anchor, which counts; and the other way round.
    assert F.triplet_margin_loss(anchor, near, f64([[4.0]]), eps=0.0).item() == 0.0
    assert F.triplet_margin_loss(anchor, near, f64([[4.0]]), eps=0.0, swap=True).item() == 3.0
    found = F.triplet_margin_with_distance_loss(anchor, near, far, distance_function=lambda a, b: ((a - b) ** 2).sum(-1))
    assert found.item() == 9.0


def test_soft_margin_does_not_overflow():
    x = leaf([0.0, -1000.0])
    loss = F.soft_margin_loss(x, f64([1.0, 1.0]), reduction="none")
    loss.sum().backward()
    assert loss.tolist() == [pytest.approx(math.log(2)), 1000.0] and x.grad.tolist() == [-0.5, -1.0]


def test_multilabel_soft_margin():
    loss = F.multilabel_soft_margin_loss(f64([[0.0, 0.0]]), f64([[1.0, 0.0]]), f64([1.0, 3.0]))
    assert loss.item() == pytest.approx(2 * math.log(2))


def test_multi_margin():
    x = leaf([[1.0, 0.5, -3.0, 2.0]])  # too near to the target's 1: 0.5 by 0.5, 2 by 2
    loss = F.multi_margin_loss(x, wengert.tensor([0]))
    loss.backward()
    assert loss.item() == 0.625 and x.grad.tolist() == [[-0.5, 0.25, 0.0, 0.25]]
    assert F.multi_margin_loss(x, wengert.tensor([0]), p=2).item() == (0.25 + 4.0) / 4
    weight = f64([3.0, 1.0, 1.0, 1.0])
    assert F.multi_margin_loss(x, wengert.tensor([0]), weight=weight).item() == 1.875


def test_multilabel_margin():
    x = leaf([0.1, 0.2, 0.4, 0.8])
    loss = F.multilabel_margin_loss(x, wengert.tensor([3, 0, -1, 1]))
    assert loss.item() == pytest.approx((0.4 + 0.6 + 1.1 + 1.3) / 4)
    loss.backward()
    assert x.grad.tolist() == [-0.5, 0.5, 0.5, -0.5]


def ones(*shape):
    return wengert.ones(*shape)


def classes(*numbers):
    return wengert.tensor(numbers)


MESSAGES = [
    (lambda: F.poisson_nll_loss(ones(3), ones(3), reduction="foo"), "foo is not a valid value for reduction"),
    (lambda: F.gaussian_nll_loss(ones(3), ones(3), ones(4)), "var is of incorrect size"),
    (lambda: F.gaussian_nll_loss(ones(3), ones(3), -ones(3)), "var has negative entry/entries"),
    (lambda: F.gaussian_nll_loss(ones(3), ones(3), -1.0), "var has negative entry/entries"),
    (lambda: F.gaussian_nll_loss(ones(3), ones(3), ones(3), reduction="x"), "x is not valid"),
    (lambda: F.margin_ranking_loss(ones(3), ones(3, 1), ones(3)),
     "margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: torch.Size([3]), input2: "
     "torch.Size([3, 1]), target: torch.Size([3]) "),
    (lambda: F.cosine_embedding_loss(ones(3, 4), ones(4), ones(3)),
     "1D target tensor expects 2D input tensors, but found inputs with sizes [3, 4] and [4]."),
    (lambda: F.cosine_embedding_loss(ones(3, 4), ones(3, 4), ones(3, 4)),
     "0D or 1D target tensor expected, multi-target not supported"),
    (lambda: F.triplet_margin_loss(ones(3, 4), ones(3, 4), ones(4)),
     "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: anchor 2D, "
     "positive 2D, and negative 1D inputs"),
    (lambda: F.triplet_margin_loss(ones(3, 4), ones(3, 4), ones(3, 4), margin=-1.0), "margin must be greater than 0, got -1.0"),
    (lambda: F.multi_margin_loss(ones(3, 4), classes(1, 0, 3), p=3), "only p == 1 and p == 2 supported"),
    (lambda: F.multi_margin_loss(ones(3, 4), classes(1, 0, 4)), "target out of range"),
    (lambda: F.multi_margin_loss(ones(3, 4), classes(1, 0)),
     "multi_margin_loss: target tensor should be 1-D with size equal to the number of input samples (batch size). Expected "
     "target size [3], but got [2]. Input has shape [3, 4]."),
    (lambda: F.multi_margin_loss(ones(3, 4), classes(1, 0, 3), weight=ones(3)),
     "inconsistent weight size, expected 4 but got [3]"),
    (lambda: F.multi_margin_loss(ones(3, 4, 2), classes(1, 0, 3)),
     "Expected non-empty vector or matrix with optional 0-dim batch size, but got: [3, 4, 2]"),
    (lambda: F.multi_margin_loss(ones(3, 4), classes(1, 0, 3), weight=wengert.ones(4, requires_grad=True)),
     "the derivative for 'weight' is not implemented. Hint: detach() the weight of multi_margin_loss."),
    (lambda: F.multilabel_margin_loss(ones(2, 4), wengert.tensor([[3, 0, -1, 1], [0, -1, 2, 4]])),
     "argument #2 'target' is out of range"),
    (lambda: F.multilabel_margin_loss(ones(2, 4), wengert.tensor([[3, 0, -1], [0, -1, 2]])),
     "inconsistent target size: [2, 3] for input of size: [2, 4]"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "text"), MESSAGES, ids=[text[:40] for _, text in MESSAGES])
def test_wrong_arguments_are_refused_with_a_message(call, text):
    with pytest.raises((RuntimeError, ValueError)) as error:
        call()
    assert str(error.value) == text
