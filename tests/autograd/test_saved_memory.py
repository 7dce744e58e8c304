"""Graphs with hooks on what they save, in blocks where writes are allowed, and of checkpoints leave nothing behind."""

import gc
import os
import weakref

import pytest

import wengert
from snapshots import nodes_behind
from wengert.autograd import Function, grad
from wengert.autograd.graph import (
    allow_mutation_on_saved_tensors,
    register_multi_grad_hook,
    save_on_cpu,
    saved_tensors_hooks,
)
from wengert.utils.checkpoint import checkpoint


def leaf(*numbers):
    return wengert.tensor(list(numbers), dtype=wengert.float64, requires_grad=True)


def same(x):
    return x


@pytest.fixture
def no_gc():
    gc.disable()
    yield
    gc.enable()


class SavesAll(Function):
    @staticmethod
    def forward(ctx, a):
        b = a.exp()
        ctx.save_for_backward(a, b, a * 2)
        return b

    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[1]


def written(a):
    a[:1] *= a[1]
    return a


PROGRAMS = {
    "inputs": lambda x: x * x * x,
    "outputs": lambda x: x.exp().tanh().sigmoid(),
    "a Function": lambda x: SavesAll.apply(SavesAll.apply(x)),
    "writes": lambda x: (x * 2).mul_(3).add_(1).tanh_(),
    "writes into views": lambda x: written(x * 2),
    "a tuple": lambda x: x[wengert.tensor([0, 1, 0])].exp(),
    "gradient of a gradient": lambda x: grad((x**4).sum(), x, create_graph=True)[0],
}

BLOCKS = {
    "hooks that return what they get": lambda: saved_tensors_hooks(same, same),
    "hooks that copy": lambda: saved_tensors_hooks(lambda t: t.clone(), same),
    "save_on_cpu": save_on_cpu,
    "allow_mutation_on_saved_tensors": allow_mutation_on_saved_tensors,
}


@pytest.mark.parametrize("pass_", ["unused", "run", "kept", "failed"])
@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_graphs_die_by_reference_count(no_gc, program, block, pass_):
    x = leaf(0.5, 0.25)
    with BLOCKS[block]():
        root = PROGRAMS[program](x).sum()
        references = [weakref.ref(node) for node in nodes_behind(root)]
        if pass_ == "failed":
            x.register_hook(lambda g: 3)
            with pytest.raises(TypeError) as caught:
                root.backward()
            del caught
        elif pass_ != "unused":
            root.backward(retain_graph=pass_ == "kept")
        del root
        assert [r() for r in references if r() is not None] == []


@pytest.mark.parametrize("use_reentrant", [False, True])
@pytest.mark.parametrize("pass_", ["unused", "run", "kept", "failed"])
@pytest.mark.parametrize("program", [p for p in PROGRAMS if p != "gradient of a gradient"])
def test_checkpoints_die_by_reference_count(no_gc, program, pass_, use_reentrant):
    x = leaf(0.5, 0.25)
    made = []

    def part(x):
        y = PROGRAMS[program](x).sum()
        made.extend(weakref.ref(node) for node in nodes_behind(y))
        return y

    a = x * 1
    root = checkpoint(part, a, use_reentrant=use_reentrant)
    made.extend(weakref.ref(node) for node in nodes_behind(root))
    del a
    if pass_ == "failed":
        x.register_hook(lambda g: 3)
        with pytest.raises(TypeError) as caught:
            root.backward()
        del caught
    elif pass_ != "unused":
        root.backward(retain_graph=pass_ == "kept")
    del root
    assert [r() for r in made if r() is not None] == []


def multi_grad(x):
    y = x * 2
    register_multi_grad_hook((x, y), lambda grads: None)
    register_multi_grad_hook((x, y), lambda grads: None, mode="any")
    return y


def single_hooks(x):
    y = x.exp()
    y.grad_fn._raw_saved_result.register_hooks(lambda t: t.clone(), same)
    return y


def within(block, program):
    def run(x):
        with block():
            return program(x)

    return run


STEPS = {
    **{name: within(block, lambda x: PROGRAMS["writes"](x) * PROGRAMS["a Function"](x)) for name, block in BLOCKS.items()},
    "checkpoint": lambda x: checkpoint(lambda t: t.exp().sin() * t, x, use_reentrant=False),
    "reentrant checkpoint": lambda x: checkpoint(lambda t: t.exp().sin() * t, x, use_reentrant=True),
    "nested checkpoint": lambda x: checkpoint(
        lambda t: checkpoint(wengert.exp, t.sin(), use_reentrant=False).sin(), x, use_reentrant=False
    ),
    "hooks on several gradients": multi_grad,
    "hooks on one value": single_hooks,
}


@pytest.mark.exhaustive
@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="reads /proc")
@pytest.mark.parametrize("step", STEPS)
def test_ten_thousand_steps_keep_memory_flat(no_gc, step):
    """Without the garbage collector. One leaked array a step would be 80 MB."""

    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6

    data = wengert.ones(1000, dtype=wengert.float64) / 1000
    before = 0.0
    for i in range(10_000):
        if i == 1000:
            before = resident()
        x = data.clone().requires_grad_()
        mutating = step == "allow_mutation_on_saved_tensors"
        y = STEPS[step](x).sum()
        if not mutating:
            y.backward()
    assert resident() - before < 8
