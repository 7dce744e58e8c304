"""Backward passes that user code starts inside a backward pass: in a Function's backward, in hooks, hundreds deep."""

import contextlib
import gc
import threading
import weakref

import numpy as np
import pytest

import wengert
from user_functions import function, leaf, numbers
from wengert.autograd import grad
from wengert.autograd.graph import saved_tensors_hooks

DEPTH = 500  # a thousand Python frames hold a fifth of that


def nested(act, depth=DEPTH):
    """A tensor whose backward pass runs a pass inside it, and so on; the innermost calls act. Gradient: 2 at each level."""

    def backward(ctx, g):
        if depth == 1:
            act()
            return g * 2
        with wengert.enable_grad():
            x = leaf(1.0)
            nested(act, depth - 1)(x).backward()
        return g * x.grad

    return function(lambda ctx, x: x * 2, backward)


def test_inside_a_backward():
    running = threading.active_count()  # a progress bar of another test may have a thread
    reached = []
    x = leaf(3.0)
    nested(lambda: reached.append(wengert.is_grad_enabled()))(x).backward()
    assert x.grad.item() == 2.0 and reached == [False]
    assert wengert.is_grad_enabled() and threading.active_count() == running


def test_inside_hooks():
    reached = []

    def descend(level):
        x = leaf(1.0)
        y = x * 2

        @y.register_hook
        def _(g):
            reached.append(level)
            if level < DEPTH:
                with wengert.enable_grad():
                    descend(level + 1)

        y.backward()
        assert x.grad.item() == 2.0

    descend(1)
    assert reached == list(range(1, DEPTH + 1))


def test_an_error_comes_out_as_it_is():
    def fail():
        raise KeyError("the innermost")

    running = threading.active_count()
    x, y = leaf(1.0), leaf(2.0)
    with pytest.raises(KeyError, match="the innermost") as caught:
        (nested(fail)(x) + y).backward()
    assert [entry.name for entry in caught.traceback][-1] == "fail"
    assert x.grad is None and y.grad is None and wengert.is_grad_enabled() and threading.active_count() == running
    (y * 2).backward()
    assert y.grad.item() == 2.0


def test_modes_and_hooks_hold_at_every_depth():
    seen = []

    def act():
        with wengert.enable_grad():
            leaf(7.0).exp()
        seen.append((wengert.is_inference_mode_enabled(), bool(np.geterr()["over"] == "raise")))

    packed = []
    with saved_tensors_hooks(lambda t: packed.append(t.item()) or t, lambda t: t), np.errstate(over="raise"):
        nested(act, 100)(leaf(1.0)).backward()
    assert seen == [(False, True)] and packed == [pytest.approx(np.exp(7.0))]


def test_gradients_of_outer_leaves_add_up():
    total = leaf(0.0)

    def add():
        with wengert.enable_grad():
            (total * 3).backward()

    x = leaf(1.0)
    of_x, of_total = grad(nested(add, 200)(x) + total * 5, [x, total])
    assert (of_x.item(), of_total.item(), total.grad.item()) == (2.0, 5.0, 3.0)


def test_nothing_is_kept_after_an_error():
    alive = []

    def fail():
        local = leaf(1.0)  # held by the frame, which the traceback holds
        alive.append(weakref.ref(local))
        raise ValueError("kept by nobody")

    gc.disable()
    try:
        with contextlib.suppress(ValueError):
            nested(fail, 40)(leaf(1.0)).backward()
        assert alive[0]() is None
    finally:
        gc.enable()


def test_nested_levels_give_the_numbers_of_one_level():
    x = numbers(2.0).requires_grad_()
    nested(lambda: None, 33)(x * x).backward()
    assert x.grad.item() == 8.0
