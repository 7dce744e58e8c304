"""Ten thousand runs of each kind of program leave no object behind, with the garbage collector disabled."""

from __future__ import annotations

import gc
import sys

import pytest

import wengert
from user_functions import Cube
from wengert.autograd import Function

N_RUNS = 10_000


def leaf():
    return wengert.tensor([1.0, 2.0, 3.0], requires_grad=True)


class Exp(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0]


class Triple(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(3)

    @staticmethod
    def backward(ctx, g):
        return g * 3


class Again(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        z = leaf()
        with wengert.enable_grad():
            (z * z).sum().backward()
        return g * z.grad


def chain():
    x = leaf()
    (x * x + x.exp()).sum().backward()


def graph_not_differentiated():
    x = leaf()
    (x * x).exp()


def views_and_writes():
    a = leaf() * 1
    v, w = a[1:], a.view(3, 1)
    v.mul_(2)
    w[0] = 5.0
    a.add_(1)
    (a.sum() + v.sum() + w.sum()).backward()


def forbidden_view():
    a = leaf() * 1
    v = a.unbind(0)[0]
    a.mul_(2)
    try:
        v + 1
    except RuntimeError:
        return
    raise AssertionError("it was allowed")


def view_in_place():
    a = (leaf() * 1).unsqueeze(0)
    a.t_()
    a[1:].mul_(2)
    a.sum().backward()


def saved_output_written():
    y = leaf().exp()
    z = y * y
    y.add_(1)
    try:
        z.sum().backward()
    except RuntimeError:
        return
    raise AssertionError("it was not noticed")


def hooks():
    x = leaf()
    y = x * 2
    y.register_hook(lambda g: g * 2)
    y.grad_fn.register_hook(lambda gi, go: None)
    y.grad_fn.register_prehook(lambda go: None)
    x.register_post_accumulate_grad_hook(lambda p: None)
    y.retain_grad()
    y.sum().backward()


def hook_that_raises():
    y = leaf() * 2

    def fail(g):
        raise KeyError

    y.register_hook(fail)
    try:
        y.sum().backward()
    except KeyError:
        return
    raise AssertionError("it was swallowed")


def functions():
    (Cube.apply(leaf()) + Exp.apply(leaf()) + Triple.apply(leaf() * 1)).sum().backward()


def function_that_calls_backward():
    Again.apply(leaf()).sum().backward()


def second_derivatives():
    x = leaf()
    (g,) = wengert.autograd.grad((x**3).sum(), x, create_graph=True)
    (g * Exp.apply(x)).sum().backward()


def gradients_with_a_graph():
    x = leaf()
    wengert.autograd.backward((x**3).sum(), create_graph=True)
    x.grad = None  # the only cycle: the leaf holds a gradient that leads to the leaf


def modes():
    @wengert.no_grad()
    def steps():
        yield leaf() * 2

    with wengert.inference_mode():
        leaf()[0].add_(1)
    list(steps())


def failing_pass():
    x = leaf()
    y = (x * x).sum()
    y.backward()
    try:
        y.backward()
    except RuntimeError:
        return
    raise AssertionError("it ran twice")


PROGRAMS = [
    chain, graph_not_differentiated, views_and_writes, forbidden_view, view_in_place, saved_output_written, hooks,
    hook_that_raises, functions, function_that_calls_backward, second_derivatives, gradients_with_a_graph, modes, failing_pass,
]  # fmt: skip


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore:Using backward:UserWarning")
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_ten_thousand_runs_leave_nothing_behind(program):
    gc.collect()
    gc.disable()
    try:
        for _ in range(500):  # free lists and caches fill
            program()
        before = sys.getallocatedblocks()
        for _ in range(N_RUNS):
            program()
        left = sys.getallocatedblocks() - before
    finally:
        gc.enable()
    assert left < N_RUNS // 50, f"{left} blocks more than before"
