"""Hooks on tensors and nodes: their order, in-place changes, removal, backward passes inside; the same on torch."""

from __future__ import annotations

import pytest

import wengert
from twins import assert_same, run

torch = pytest.importorskip("torch")

PROGRAMS = []


def program(function):
    """Adds a function of the library, called `torch` in it, to the programs that are compared."""
    PROGRAMS.append(function)
    return function


def leaf(torch, *numbers):
    return torch.tensor(list(numbers), dtype=torch.float64, requires_grad=True)


def noting(log, name, factor=None):
    """A hook on a tensor that notes its call, and may multiply the gradient."""

    def hook(grad):
        log.append([name, grad.tolist()])
        return None if factor is None else grad * factor

    return hook


def noting_node(log, name):
    """A hook on a node that notes its call."""

    def hook(*grads):
        log.append([name, [[None if g is None else g.tolist() for g in group] for group in grads]])

    return hook


def noting_none(log, name):
    """A hook on a tensor that may get no gradient."""
    return lambda grad: log.append([name, grad if grad is None else grad.tolist()])


@program
def hooks_of_outputs_without_gradient(torch):
    """They are called with None, and retain_grad keeps nothing."""
    log = []
    x = leaf(torch, 1, 2)
    a, b = (x * 1).unbind()
    b.register_hook(noting_none(log, "first"))
    b.register_hook(noting_none(log, "second"))
    b.retain_grad()
    torch.autograd.graph.register_multi_grad_hook((a, b), lambda grads: log.append(["all", [g is None for g in grads]]))
    torch.autograd.graph.register_multi_grad_hook((b, a), lambda grad: log.append(["any", grad is None]), mode="any")
    (a * 3).backward()
    return log, x.grad, b.grad


@program
def hooks_of_inputs_without_gradient(torch):
    """Behind a Function that returns None: on a result, on a leaf, and on a node."""

    class First(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x * y

        @staticmethod
        def backward(ctx, grad_output):
            return grad_output, None

    log = []
    x, y = leaf(torch, 1, 2), leaf(torch, 3, 4)
    z = y * 2
    z.register_hook(noting_none(log, "result"))
    z.grad_fn.register_prehook(lambda grads: log.append(["node", list(grads)]))
    y.register_hook(noting_none(log, "leaf"))
    First.apply(x, z).sum().backward()
    return log, x.grad, y.grad


@program
def order_of_all_hooks(torch):
    log = []
    x = leaf(torch, 1, 2)
    y = x * 3
    z = y.exp()
    accumulator = y.grad_fn.next_functions[0][0]
    accumulator.register_hook(noting_node(log, "leaf node, after"))
    accumulator.register_prehook(lambda grads: log.append(["leaf node, before"]))
    x.register_post_accumulate_grad_hook(lambda t: log.append(["accumulated", t.grad.tolist()]))
    x.register_hook(noting(log, "leaf"))
    y.grad_fn.register_hook(noting_node(log, "node, after"))
    y.grad_fn.register_prehook(lambda grads: log.append(["node, before", grads[0].tolist()]))
    y.register_hook(noting(log, "first", 2))
    y.retain_grad()
    y.register_hook(noting(log, "second", 5))
    z.register_hook(noting(log, "result"))
    z.sum().backward()
    return log, x.grad, y.grad


@program
def order_for_captured_tensors(torch):
    """One at a time: of y and x captured together torch gives y's gradient as it was before y's hooks, wengert after them."""
    results = []
    for name in ("y", "x"):
        log = []
        x = leaf(torch, 1, 2)
        y = x * 3
        y.register_hook(noting(log, "y", 2))
        y.grad_fn.register_prehook(lambda grads, log=log: log.append("before"))
        y.grad_fn.register_hook(lambda *_, log=log: log.append("after"))
        x.register_hook(noting(log, "x", 10))
        x.register_post_accumulate_grad_hook(lambda t, log=log: log.append("accumulated"))
        results.append([torch.autograd.grad(y.sum(), y if name == "y" else x), log, x.grad])
    return results


@program
def hooks_before_and_after_a_write(torch):
    log = []
    x = leaf(torch, 1, 2)
    y = x * 3
    y.register_hook(noting(log, "before"))
    y.mul_(2)
    y.register_hook(noting(log, "after"))
    (y * 10).sum().backward()
    return log, x.grad


@program
def factors_before_and_after_a_write(torch):
    log = []
    x = leaf(torch, 1, 2)
    y = x * 3
    y.register_hook(noting(log, "before", 2))
    y.exp_()
    y.register_hook(noting(log, "after", 5))
    y.mul_(2)
    y.sum().backward()
    return log, x.grad


@program
def retained_before_a_write(torch):
    x = leaf(torch, 1, 2)
    y = x * 3
    y.retain_grad()
    y.mul_(2)
    (y * 10).sum().backward()
    return x.grad, y.grad, y.retains_grad


@program
def retained_with_hooks(torch):
    log = []
    x = leaf(torch, 1, 2)
    y = x * 3
    y.retain_grad()
    y.register_hook(noting(log, "y", 2))
    y.sum().backward()
    return x.grad, y.grad, log


@program
def retained_twice_over_two_passes(torch):
    x = leaf(torch, 1, 2)
    y = x * 3
    y.retain_grad()
    y.retain_grad()
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    return x.grad, y.grad


@program
def hook_on_a_base_before_a_view_is_written(torch):
    log = []
    x = leaf(torch, 1, 2, 3)
    base = x * 2
    base.register_hook(noting(log, "base before"))
    base[1:].mul_(5)
    base.register_hook(noting(log, "base after"))
    base.sum().backward()
    return log, x.grad


@program
def retained_base_of_a_written_view(torch):
    x = leaf(torch, 1, 2, 3)
    base = x * 2
    base.retain_grad()
    base[:2].mul_(5)
    (base * 3).sum().backward()
    return x.grad, base.grad


@program
def hooks_on_several_outputs(torch):
    log = []
    x = leaf(torch, 1, 2, 3)
    a, b, c = x.unbind()
    c.register_hook(noting(log, "c", 3))
    a.register_hook(noting(log, "a", 2))
    a.grad_fn.register_prehook(lambda grads: log.append([g is None for g in grads]))
    (a * 10 + c).backward()
    return log, x.grad


@program
def prehook_that_replaces(torch):
    x, y = leaf(torch, 1, 2), leaf(torch, 3, 4)
    z = x * y
    z.grad_fn.register_prehook(lambda grads: (grads[0] * 2,))
    z.grad_fn.register_prehook(lambda grads: (grads[0] + 1,))
    z.sum().backward()
    return x.grad, y.grad


@program
def posthook_that_replaces(torch):
    x, y = leaf(torch, 1, 2), leaf(torch, 3, 4)
    z = x * y
    z.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] * 2, inputs[1] + outputs[0]))
    z.sum().backward()
    return x.grad, y.grad


@program
def backward_inside_a_hook(torch):
    x, w = leaf(torch, 1), leaf(torch, 2)
    y = x * 3

    def hook(grad):
        with torch.enable_grad():
            (w * w * grad.detach()).sum().backward()

    y.register_hook(hook)
    (y * 5).backward()
    return x.grad, w.grad


@program
def backward_of_the_same_graph_inside_a_hook(torch):
    x = leaf(torch, 1)
    y = x.exp()
    calls = []

    def hook(grad):
        calls.append(1)
        if len(calls) < 4:
            y.backward(retain_graph=True)

    y.register_hook(hook)
    y.backward(retain_graph=True)
    return x.grad, len(calls)


@program
def grad_inside_a_post_accumulate_hook(torch):
    x = leaf(torch, 2)
    found = []

    def hook(t):
        with torch.enable_grad():
            found.extend(torch.autograd.grad(t**3, t))

    x.register_post_accumulate_grad_hook(hook)
    (x * 2).backward()
    return found, x.grad


@program
def steps_in_post_accumulate_hooks(torch):
    x = leaf(torch, 2)

    def step(t):
        with torch.no_grad():
            t.sub_(t.grad)
        t.grad = None

    x.register_post_accumulate_grad_hook(step)
    for _ in range(3):
        (x * x * 0.25).backward()
    return x, x.grad, x._version


@program
def hooks_under_create_graph(torch):
    log = []
    x = leaf(torch, 2)
    y = x**3
    y.register_hook(lambda g: (log.append([g.requires_grad, torch.is_grad_enabled()]), g * x)[1])
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    return g, torch.autograd.grad(g, x), log


@program
def hooks_without_create_graph(torch):
    log = []
    x = leaf(torch, 2)
    y = x**3
    y.register_hook(lambda g: (log.append([g.requires_grad, torch.is_grad_enabled()]), g * x)[1])
    return torch.autograd.grad(y, x), log


@program
def hooks_of_detached_tensors(torch):
    log = []
    x = leaf(torch, 2)
    y = x * 3
    y.register_hook(noting(log, "y"))
    z = y * 2
    y.detach_()
    z.backward()
    return x.grad, log, y.requires_grad


@program
def hooks_that_fail_half_way(torch):
    log = []
    x = leaf(torch, 2)
    y = x * 3
    y.register_hook(noting(log, "first"))
    y.register_hook(lambda g: {}["mine"])
    y.register_hook(noting(log, "third"))
    try:
        y.backward(retain_graph=True)
    except KeyError as error:
        log.append(str(error))
    return log, x.grad, torch.is_grad_enabled()


@program
def handles_as_context_managers(torch):
    log = []
    x = leaf(torch, 2)
    y = x * 3
    with y.register_hook(noting(log, "in")), x.register_hook(noting(log, "leaf")):
        y.backward(retain_graph=True)
    y.backward()
    return log, len(y._backward_hooks), len(x._backward_hooks)


@program
def one_hook_registered_twice(torch):
    log = []
    x = leaf(torch, 2)
    hook = noting(log, "hook", 2)
    first = x.register_hook(hook)
    x.register_hook(hook)
    (x * 3).backward()
    first.remove()
    (x * 3).backward()
    return log, x.grad


@program
def hooks_where_no_gradient_flows(torch):
    log = []
    x, w = leaf(torch, 2), leaf(torch, 3)
    y, z = x * 3, w * 5
    for t in (x, w, y, z):
        t.register_hook(noting(log, "hook"))
    z.grad_fn.register_prehook(lambda grads: log.append("node"))
    y.backward()
    torch.autograd.grad(y + z, z)
    return log


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_program(function):
    assert_same(run(function, wengert), run(function, torch))
