"""Reference cycles through graphs: ordinary automatic collection frees each kind, and the number alive stays bounded."""

from __future__ import annotations

import gc
import random
import weakref
from collections.abc import Callable
from typing import Any

import wengert as torch

CALLS = 20
STEPS = 400  # cycles that a call makes
ALIVE = 260  # cycles that may be alive at a time: automatic collection starts after 700 new objects


class _Keeps(torch.autograd.Function):
    """exp, with something of the user's on ctx."""

    @staticmethod
    def forward(ctx: Any, x: Any, kind: str) -> Any:
        y = torch.exp(x)
        ctx.save_for_backward(y)
        if kind == "plain":
            ctx.y = y
        elif kind == "private":
            ctx._y = y
        elif kind == "list":
            ctx.kept = []
            ctx.kept.append(y)
        else:
            ctx.kept = (1, (y,))
        return y

    @staticmethod
    def backward(ctx: Any, ct: Any) -> Any:
        (y,) = ctx.saved_tensors
        return ct * y, None


class _Slotted(torch.Tensor):
    __slots__ = ("later",)


class _Box:
    pass


def _context(x: Any, chance: random.Random) -> Any:
    return _Keeps.apply(x * 2, chance.choice(["plain", "private", "list", "tuple"]))


def _attribute(x: Any, chance: random.Random) -> Any:
    kept: dict[str, Any] = {}
    way = chance.randrange(3)
    if way == 0:
        x.kept = kept  # filled later
    z = (x * 2 + 1).exp()
    kept["later"] = z
    if way == 1:
        x.later = z
    elif way == 2:
        x.kept = 1, kept
    return z


def _subclass(x: Any, chance: random.Random) -> Any:
    leaf = torch.ones(3).as_subclass(_Slotted) if hasattr(torch.Tensor, "as_subclass") else x
    leaf.requires_grad_()
    z = leaf * x
    leaf.later = z
    return z


def _tensor_hook(x: Any, chance: random.Random) -> Any:
    """A hook on a leaf or a result that refers to a tensor made before or after it."""
    y = x * 2
    target = chance.choice([x, y])
    if chance.random() < 0.5:
        box = _Box()
        target.register_hook(lambda ct: box and None)
        z = (y + 1).exp()
        box.z = z
    else:
        z = (y + 1).exp()
        target.register_hook(lambda ct: z and None)
    return z


def _node_hook(x: Any, chance: random.Random) -> Any:
    y = x * 2
    z = (y + 1).exp()
    register = chance.choice([y.grad_fn.register_hook, y.grad_fn.register_prehook])
    register(lambda *grads: z and None)
    return z


def _accumulate_hook(x: Any, chance: random.Random) -> Any:
    z = (x * 2).exp()
    x.register_post_accumulate_grad_hook(lambda leaf: z and None)
    return z


def _metadata(x: Any, chance: random.Random) -> Any:
    y = x * 2
    kept = y.grad_fn.metadata
    z = (y + 1).exp()
    kept["later"] = z
    return z


def _gradient(x: Any, chance: random.Random) -> Any:
    """A gradient with a graph, kept on its leaf by a pass or by the user."""
    y = (x * x).sum()
    if chance.random() < 0.5:
        y.backward(create_graph=True)
    else:
        (x.grad,) = torch.autograd.grad(y, x, create_graph=True)
    return x.grad


def _pack_hook(x: Any, chance: random.Random) -> Any:
    box = _Box()
    with torch.autograd.graph.saved_tensors_hooks(lambda t: (box, t.detach()), lambda packed: packed[1]):
        z = (x * 2).exp()
    box.z = z
    return z


def _view(x: Any, chance: random.Random) -> Any:
    base = x * 2
    part = base.view(-1)[1:]
    base.parts = [part]
    return part


KINDS: tuple[Callable[[Any, random.Random], Any], ...] = (
    _context, _attribute, _subclass, _tensor_hook, _node_hook, _accumulate_hook, _metadata, _gradient, _pack_hook, _view,
)  # fmt: skip


def most_alive(kind: Callable[[Any, random.Random], Any], chance: random.Random, steps: int) -> int:
    """Make cycles one after the other, and return the largest number that were alive at a time. Chains without cycles lie between."""
    alive: set[int] = set()
    most = 0
    for step in range(steps):
        x = torch.ones(3, requires_grad=True)
        for _ in range(chance.randrange(3)):
            (x * 2).exp().sum().backward()
        x.grad = None
        z = kind(x, chance)
        alive.add(step)
        weakref.finalize(z, alive.discard, step)
        del x, z
        most = max(most, len(alive))
    return most


def run(seed: int, calls: int) -> None:
    """Make cycles of a kind drawn from the seed. Raise AssertionError if too many are alive at a time."""
    chance = random.Random(seed)
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    try:
        for call in range(calls):
            kind = chance.choice(KINDS)
            gc.collect()
            before_graph = torch.ones(3, requires_grad=True) * 2 if chance.random() < 0.5 else None  # alive, without a cycle
            most = most_alive(kind, chance, STEPS)
            assert most <= ALIVE, f"seed {seed}, call {call}: {most} cycles of {kind.__name__} were alive at a time"
            del before_graph
    finally:
        gc.set_threshold(*before)
