"""Selective checkpoints beside torch: what the policy is asked, the gradients, the errors."""

from __future__ import annotations

import functools
from importlib import import_module

import pytest

import wengert
from twins import assert_same, run

torch = pytest.importorskip("torch")

PROGRAMS = []


def program(function):
    PROGRAMS.append(function)
    return function


def leaves(t):
    x = t.arange(9.0, dtype=t.float64).reshape(3, 3).div(10)
    return x.clone().requires_grad_(), (x * 2 - 0.3).requires_grad_()


def checkpointed(t, part, keep, *inputs, **options):
    module = import_module(f"{t.__name__}.utils.checkpoint")
    contexts = functools.partial(module.create_selective_checkpoint_contexts, keep, **options)
    return module.checkpoint(part, *inputs, use_reentrant=False, context_fn=contexts)


def attempt(t, step):
    return run(lambda _: step(), t)


def part(x, w):
    a = x.mm(w).sin()
    return (a + 1).t().exp().sum()


@program
def asked_and_gradients(t):
    asked = []
    policies = import_module(f"{t.__name__}.utils.checkpoint").CheckpointPolicy

    def policy(context, op, *inputs, **parameters):
        asked.append([context.is_recompute, str(op).rsplit(".", 1)[0], op is t.ops.aten.mm.default])
        return policies.MUST_SAVE if op is t.ops.aten.mm.default else policies.PREFER_RECOMPUTE

    x, w = leaves(t)
    y = checkpointed(t, part, policy, x, w)
    y.backward(retain_graph=True)
    return asked, x.grad, w.grad, attempt(t, y.backward)


@program
def lists(t):
    aten = t.ops.aten
    found = []
    for keep in ([], [aten.mm.default], [aten.sin.default, aten.exp.default], [aten.add.Tensor]):
        x, w = leaves(t)
        checkpointed(t, part, keep, x, w).backward()
        found += [x.grad, w.grad]
    return found


@program
def written(t):
    def writes(x, w):
        a = x.mm(w)
        a.add_(1)
        return a.sin().sum()

    found = []
    for allowed in (False, True):
        x, w = leaves(t)
        y = checkpointed(t, writes, [t.ops.aten.mm.default], x, w, allow_cache_entry_mutation=allowed)
        found += [attempt(t, y.backward), x.grad]
    return found


@program
def of_policies_that_are_none(t):
    create = import_module(f"{t.__name__}.utils.checkpoint").create_selective_checkpoint_contexts
    return attempt(t, lambda: create(3)), attempt(t, lambda: create(None))


@program
def other_values(t):
    found = []
    for value in (True, False, 3, None):
        x, w = leaves(t)
        checkpointed(t, part, lambda *_, value=value, **__: value, x, w).backward()
        found += [x.grad, w.grad]
    return found


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_program(function):
    assert_same(run(function, wengert), run(function, torch))
