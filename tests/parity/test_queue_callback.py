"""Callbacks at the end of a backward pass: wengert calls them as torch does."""

from __future__ import annotations

import pytest

import wengert

torch = pytest.importorskip("torch")


def program(t):
    """Run passes with callbacks. Return what happened, in order."""
    log = []

    def note(*what):
        log.append(what)

    queue = t.autograd.Variable._execution_engine.queue_callback
    x = t.ones(2, requires_grad=True)

    def told():
        note("callback", t.is_grad_enabled(), x.grad.tolist())
        queue(lambda: note("queued by a callback"))

    def hook(g):
        note("hook")
        queue(told)
        queue(lambda: note("second"))

    y = x * 2
    y.register_hook(hook)
    (y * 3).sum().backward()
    note("after")

    def inner(g):
        z = x.detach().clone().requires_grad_()
        with t.enable_grad():
            w = z * 2
            w.register_hook(lambda g: queue(lambda: note("end of the inner pass")))
            w.sum().backward()
        note("after the inner pass")

    y = x * 2
    y.register_hook(inner)
    y.sum().backward()

    def fails():
        raise ValueError("the callback failed")

    y = x * 2
    y.register_hook(lambda g: queue(fails))
    with pytest.raises(ValueError, match="^the callback failed$"):
        y.sum().backward()
    note(x.grad.tolist())
    y = x * 2
    y.register_hook(lambda g: queue(lambda: note("gradients for grad")))
    note(t.autograd.grad(y.sum(), x)[0].tolist())
    y = x * 2
    y.register_hook(lambda g: (queue(lambda: note("never")), 1 / 0))
    with pytest.raises(ZeroDivisionError):
        y.sum().backward()
    with pytest.raises(RuntimeError, match=r"^Final callbacks can only be installed during backward pass\.$"):
        queue(lambda: None)
    return log


def test_callbacks_run_at_the_end_of_the_pass():
    assert program(wengert) == program(torch)


def test_a_callback_must_be_callable():
    x = wengert.ones(2, requires_grad=True)
    y = x * 2
    y.register_hook(lambda g: wengert.autograd.Variable._execution_engine.queue_callback(3))
    with pytest.raises(TypeError, match="^queue_callback: expected a function without arguments, got int"):
        y.sum().backward()
