"""cond and while_loop: what they compute, what is recorded, messages."""

from __future__ import annotations

import re

import pytest

import wengert
from wengert import cond, errors, while_loop


def refused():
    raise AssertionError("the branch that is not taken is called")


@pytest.mark.parametrize("pred", [True, 1, 0.5, lambda x: x > 2, lambda x: (x > 2).view(1, 1)])
def test_the_branch_that_is_taken_is_recorded(pred):
    x = wengert.tensor(3.0, requires_grad=True)
    pred = pred(x) if callable(pred) else pred
    y = cond(pred, lambda a, b: a * a * b, lambda a, b: refused(), (x, 2.0))
    assert (y.item(), y.grad_fn.name()) == (18.0, "MulBackward0")
    assert wengert.autograd.grad(y, x)[0].item() == 12.0


def test_the_other_branch():
    assert cond(wengert.tensor(False), refused, lambda: "other") == "other"


def test_a_loop_is_recorded_step_by_step():
    x = wengert.tensor(1.5, dtype=wengert.float64, requires_grad=True)
    start = (wengert.tensor(0), wengert.tensor(1.0, dtype=wengert.float64))
    i, power = while_loop(lambda i, p: i < 3, lambda i, p: [i + 1, p * x], start)
    assert (i.item(), power.item()) == (3, 1.5**3)
    (g,) = wengert.autograd.grad(power, x, create_graph=True)
    assert g.item() == pytest.approx(3 * 1.5**2)
    assert wengert.autograd.grad(g, x)[0].item() == pytest.approx(6 * 1.5)


def test_a_loop_without_steps_returns_its_arguments():
    x = wengert.ones(2)
    assert while_loop(lambda x: False, refused, [x]) == (x,)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: cond(wengert.tensor([True, True]), refused, refused),
            errors.ShapeError,
            "Expected pred to be bool or single-element tensor, but got tensor([True, True]).",
        ),
        (lambda: cond("yes", refused, refused), errors.ShapeError, "Expected pred to be bool or single-element tensor, but got 'yes'."),
        (lambda: cond(True, 3, refused), TypeError, "Expect true_fn and false_fn to be callable."),
        (lambda: while_loop(3, refused, ()), TypeError, "Expect cond_fn and body_fn to be callable."),
        (
            lambda: while_loop(lambda i: True, lambda i: (i, i), (0,)),
            RuntimeError,
            "Expected body_fn_output and carried_inputs to have same number of outputs but got 2 from body_fn for 1 carried inputs",
        ),
        (
            lambda: while_loop(lambda i, j: True, lambda i, j: i, (0, 1)),
            RuntimeError,
            "Expected body_fn_output and carried_inputs to have same number of outputs but got 1 from body_fn for 2 carried inputs",
        ),
        (
            lambda: while_loop(lambda i: wengert.ones(2), lambda i: i, (0,)),
            RuntimeError,
            "Expected the result of cond_fn to be bool or single-element tensor, but got tensor([1., 1.]).",
        ),
    ],
)
def test_wrong_control_flow_is_refused_with_a_message(call, error, message):
    with pytest.raises(error, match=re.escape(message)):
        call()
