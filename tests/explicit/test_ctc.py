"""ctc_loss: numbers worked by hand, impossible targets, messages."""

from __future__ import annotations

import math

import pytest

import wengert
from wengert.nn import functional as F


def evenly(steps, items, classes):
    """Every class as probable as every other."""
    return wengert.full((steps, items, classes), -math.log(classes), dtype=wengert.float64)


ONE = wengert.tensor([[1]])
TWICE = wengert.tensor([[1, 1]])


def test_all_alignments_of_one_label():
    """Of two steps with two classes: 11, 01 and 10 spell the label, each of probability 1/4."""
    x = evenly(2, 1, 2).requires_grad_()
    loss = F.ctc_loss(x, ONE, (2,), (1,))
    loss.backward()
    assert loss.item() == pytest.approx(-math.log(0.75))
    assert x.grad.flatten().tolist() == pytest.approx([-1 / 3, -2 / 3, -1 / 3, -2 / 3])


def test_a_label_twice_needs_a_blank_between():
    assert F.ctc_loss(evenly(3, 1, 2), TWICE, (3,), (2,), reduction="sum").item() == pytest.approx(-math.log(1 / 8))


def test_the_mean_is_of_losses_by_label():
    by_item = F.ctc_loss(evenly(3, 2, 2), wengert.tensor([1, 1, 1]), (3, 3), (2, 1), reduction="none").tolist()
    assert F.ctc_loss(evenly(3, 2, 2), wengert.tensor([1, 1, 1]), (3, 3), (2, 1)).item() == pytest.approx(
        (by_item[0] / 2 + by_item[1]) / 2
    )


def test_an_impossible_target_costs_infinity_and_passes_nothing_on():
    x = evenly(2, 1, 2).requires_grad_()
    loss = F.ctc_loss(x, TWICE, (2,), (2,))
    loss.backward()
    assert loss.item() == math.inf and x.grad.abs().max().item() == 0.0
    assert F.ctc_loss(x, TWICE, (2,), (2,), zero_infinity=True).item() == 0.0


def test_a_class_of_probability_zero_is_skipped():
    x = evenly(2, 1, 3)
    x[0, 0, 2] = -math.inf
    x.requires_grad_()
    loss = F.ctc_loss(x, ONE, (2,), (1,))
    loss.backward()
    assert math.isfinite(loss.item()) and x.grad.isfinite().all().item()


X = evenly(5, 2, 4)
TARGETS = wengert.tensor([[1, 2], [3, 1]])
IN_CTC = "(while checking arguments for ctc_loss_allocate_outputs)"
MESSAGES = [
    (lambda: F.ctc_loss(X, TARGETS, (6, 5), (2, 2)),
     f"Expected input_lengths to have value at most 5, but got value 6 {IN_CTC}"),
    (lambda: F.ctc_loss(X, TARGETS, (5, 5), (3, 2)),
     f"Expected tensor to have size at least 3 at dimension 1, but got size 2 for argument #2 'targets' {IN_CTC}"),
    (lambda: F.ctc_loss(X, wengert.tensor([1, 2, 3]), (5, 4), (2, 2)),
     f"Expected tensor to have size 4 at dimension 0, but got size 3 for argument #2 'targets' {IN_CTC}"),
    (lambda: F.ctc_loss(X, TARGETS, (5,), (2, 2)), "input_lengths must be of size batch_size"),
    (lambda: F.ctc_loss(X, TARGETS, (5, 5), (2,)), "target_lengths must be of size batch_size"),
    (lambda: F.ctc_loss(X, TARGETS, (5, 5), (2, 2), blank=4), "blank must be in label range"),
    (lambda: F.ctc_loss(X.half(), TARGETS, (5, 5), (2, 2)), "\"ctc_loss_cpu\" not implemented for 'Half'"),
]  # fmt: skip


def test_no_steps_spell_no_labels_only():
    x = wengert.randn(3, 2, 4).log_softmax(2)
    losses = F.ctc_loss(x, wengert.tensor([[1, 2], [3, 3]]), (3, 0), (2, 1), reduction="none")
    assert losses[0].isfinite()
    assert losses[1].item() == float("inf")
    assert F.ctc_loss(x, wengert.tensor([[1, 2], [3, 3]]), (3, 0), (2, 0), reduction="none")[1].item() == 0


@pytest.mark.parametrize(("call", "text"), MESSAGES, ids=[text[:40] for _, text in MESSAGES])
def test_wrong_arguments_are_refused_with_a_message(call, text):
    with pytest.raises(RuntimeError) as error:
        call()
    assert str(error.value) == text
