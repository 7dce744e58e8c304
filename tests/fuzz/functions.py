"""Custom Functions and hooks that return odd things, in wengert and in torch: the same values, or errors of the same class.

A call draws a Function with an odd forward, backward or jvp, or ordinary ones, puts hooks that return odd things on tensors and nodes,
and differentiates the result in one of several ways.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import wengert
from twins import Raised, assert_same, describe, described_error

needs_torch = True
CALLS = 1200

Odd = Callable[[Any, Any, Any], Any]  # of the library, a tensor, and another one

# What forward, backward, jvp and hooks return: of the library, the tensor that is expected to be the basis, and another tensor.
THINGS: dict[str, Odd] = {
    "itself": lambda t, g, x: g,
    "double": lambda t, g, x: g * 2,
    "None": lambda t, g, x: None,
    "float": lambda t, g, x: 2.0,
    "int": lambda t, g, x: 0,
    "bool": lambda t, g, x: True,
    "string": lambda t, g, x: "gradient",
    "array": lambda t, g, x: np.ones((2, 3)),
    "list": lambda t, g, x: [g],
    "tuple": lambda t, g, x: (g,),
    "nested": lambda t, g, x: ((g,),),
    "empty tuple": lambda t, g, x: (),
    "two": lambda t, g, x: (g, g),
    "two, one None": lambda t, g, x: (g * 2, None),
    "three": lambda t, g, x: (g, g, g),
    "three with None": lambda t, g, x: (g, None, None),
    "dict": lambda t, g, x: {"g": g},
    "object": lambda t, g, x: object(),
    "scalar": lambda t, g, x: g.sum(),
    "row": lambda t, g, x: g[0] if g is not None and g.dim() else g,
    "broader": lambda t, g, x: g.expand(2, *g.shape),
    "transposed": lambda t, g, x: g.transpose(0, -1) * 1,
    "view": lambda t, g, x: g.view(-1).view(g.shape),
    "float32": lambda t, g, x: g.to(t.float32),
    "int64": lambda t, g, x: g.to(t.int64),
    "complex": lambda t, g, x: g.to(t.complex128),
    "nothing": lambda t, g, x: g[:0],
    "expanded": lambda t, g, x: t.ones((), dtype=t.float64).expand(g.shape),
    "with grad": lambda t, g, x: t.ones(g.shape, dtype=t.float64).requires_grad_(),
    "other": lambda t, g, x: x,
    "other twice": lambda t, g, x: (x, x),
    "detached": lambda t, g, x: g.detach(),
    "in place": lambda t, g, x: g.mul_(2),
    "in place, None": lambda t, g, x: g.mul_(2) and None if g.dim() == 0 else [g.mul_(2), None][1],
    "raises": lambda t, g, x: [].index(0),
    "dtype": lambda t, g, x: t.float64,
    "library": lambda t, g, x: t.Tensor,
}
# A call with two odd things may report either of them, so these classes count as one. Others come from inside.
ERRORS = {"RuntimeError", "TypeError", "ValueError", "IndexError", "NotImplementedError"}
ORDINARY = {"forward": "double", "backward": "double", "jvp": "double"}


class Plan:
    """A drawn call: names of what is returned where, and how the result is differentiated."""

    def __init__(self, draw: random.Random) -> None:
        names = list(THINGS)
        odd = draw.choice(["forward", "backward", "backward", "jvp", "hook", "hook", "hook"])
        self.returns = {place: draw.choice(names) if place == odd or draw.random() < 0.1 else usual for place, usual in ORDINARY.items()}
        self.hooks = [(draw.randrange(6), draw.choice(names)) for _ in range(draw.choice([0, 0, 1] if odd != "hook" else [1, 1, 2]))]
        self.inputs = draw.choice([1, 1, 2])
        self.saves = draw.choice(["input", "output", "both", "None", "number", "nothing", "intermediate"])
        self.marks = draw.choice(["", "", "", "dirty", "non_differentiable", "materialize", "dirty other", "needs"])
        self.way = draw.choice(["backward", "backward", "grad", "create_graph", "twice", "jvp", "inputs", "boxed"])
        self.setup = draw.random() < 0.2

    def __repr__(self) -> str:
        return ", ".join(f"{name}={value!r}" for name, value in vars(self).items())


def function_of(plan: Plan, t: Any) -> Any:
    """The planned Function, of this library."""

    def save(ctx: Any, inputs: Any, output: Any) -> None:
        kept = {"input": inputs[:1], "output": (output,), "both": (*inputs, output), "None": (None,), "number": (2.0,), "nothing": ()}
        ctx.save_for_backward(*kept.get(plan.saves, ()))
        if plan.saves == "intermediate":
            ctx.save_for_backward(inputs[0] + 1)
        if plan.marks == "dirty":
            inputs[0].add_(1)
            ctx.mark_dirty(inputs[0])
        elif plan.marks == "dirty other":
            ctx.mark_dirty(output)
        elif plan.marks == "non_differentiable":
            ctx.mark_non_differentiable(output)
        elif plan.marks == "materialize":
            ctx.set_materialize_grads(False)

    class Planned(t.autograd.Function):
        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            if plan.marks == "needs" and not all(ctx.needs_input_grad):
                return None
            for saved in ctx.saved_tensors:
                assert saved is None or isinstance(saved, t.Tensor)
            return THINGS[plan.returns["backward"]](t, grads[0], t.ones(2, 3, dtype=t.float64))

        @staticmethod
        def jvp(ctx: Any, *tangents: Any) -> Any:
            return THINGS[plan.returns["jvp"]](t, tangents[0], t.ones(2, 3, dtype=t.float64))

    if plan.setup:
        Planned.forward = staticmethod(lambda *inputs: THINGS[plan.returns["forward"]](t, inputs[0], inputs[-1]))
        Planned.setup_context = staticmethod(save)
    else:

        def forward(ctx: Any, *inputs: Any) -> Any:
            output = THINGS[plan.returns["forward"]](t, inputs[0], inputs[-1])
            save(ctx, inputs, output)
            return output

        Planned.forward = staticmethod(forward)
    return Planned


def add_hook(t: Any, log: list[Any], x: Any, y: Any, kind: int, name: str) -> None:
    """Register a hook that returns the named thing on the leaf, the result, or a node."""
    other = t.ones(2, 3, dtype=t.float64)

    def of_tensor(g: Any) -> Any:
        return THINGS[name](t, g, other)

    def of_inputs(grads: Any, *_: Any) -> Any:
        return THINGS[name](t, grads[0], other)

    if kind == 0:
        x.register_hook(of_tensor)
    elif kind == 1:
        y.register_hook(of_tensor)
    elif kind == 2:
        y.grad_fn.register_hook(of_inputs)
    elif kind == 3:
        y.grad_fn.register_prehook(of_inputs)
    elif kind == 4:
        x.register_post_accumulate_grad_hook(lambda x: THINGS[name](t, x.grad, other))
    else:
        y.grad_fn.next_functions[0][0].register_prehook(of_inputs)


def differentiate(t: Any, plan: Plan, x: Any, y: Any) -> Any:
    """Differentiate y in the planned way, and return all that comes out."""
    total = (y * t.arange(1.0, y.numel() + 1, dtype=t.float64).view(y.shape)).sum()
    if plan.way == "grad":
        return t.autograd.grad(total, x)
    if plan.way == "create_graph":
        (g,) = t.autograd.grad(total, x, create_graph=True)
        return g, t.autograd.grad((g * g).sum(), x, allow_unused=True)
    if plan.way == "inputs":
        total.backward(inputs=[x])
        return x.grad
    total.backward(retain_graph=plan.way == "twice")
    if plan.way == "twice":
        total.backward()
    return x.grad


def run_in(t: Any, plan: Plan) -> list[Any]:
    """Run the plan in a library. Return a log of values and errors."""
    log: list[Any] = []
    leaf = (t.arange(6, dtype=t.float64) + 1).view(2, 3).requires_grad_(plan.way != "jvp")
    second = t.ones(2, 3, dtype=t.float64).requires_grad_()

    def steps() -> None:
        x = leaf * 1.5
        inputs = (x, second)[: plan.inputs]
        function = function_of(plan, t)
        if plan.way == "jvp":
            with t.autograd.forward_ad.dual_level():
                dual = t.autograd.forward_ad.make_dual(x.detach(), t.ones(2, 3, dtype=t.float64))
                y = function.apply(dual, *inputs[1:])
                log.append([None if z is None else z.detach().tolist() for z in t.autograd.forward_ad.unpack_dual(y)])
            return
        y = function.apply(*inputs)
        log.append(describe(y, t))
        if isinstance(y, tuple):
            y = next(z for z in y if isinstance(z, t.Tensor))
        if plan.way == "boxed":
            log.append([(edge[0] is None, edge[1]) for edge in y.grad_fn.next_functions])
        for kind, name in plan.hooks:
            add_hook(t, log, x if kind != 4 else leaf, y, kind, name)
        log.append(describe(differentiate(t, plan, leaf, y), t))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            steps()
        except Exception as error:
            try:
                log.append(described_error(error))
            except StopIteration:
                log.append(Raised(("raises", type(error).__name__, str(error))))
    return log


def check(plan: Plan, torch: Any) -> None:
    ours, theirs = run_in(wengert, plan), run_in(torch, plan)
    ends = [log.pop() if log and isinstance(log[-1], Raised) else None for log in (ours, theirs)]
    if is_known(plan, ends[1]):
        return
    assert (ends[0] is None) == (ends[1] is None), f"{ends[0] or ours} instead of {ends[1] or theirs}"
    if ends[0] is not None and ends[0][1] not in ERRORS:
        assert ends[0][1] == ends[1][1], f"{ends[0]} instead of {ends[1]}"
    assert_same(ours, theirs)


def is_known(plan: Plan, end: Any) -> bool:
    """Whether a difference from torch is deliberate. end: the error that ended torch's run, or None."""
    forward = plan.returns["forward"]
    # A view of an input that forward makes requires grad in torch, though it is marked as not differentiable.
    if plan.marks == "non_differentiable" and forward in ("row", "view", "transposed", "nothing", "detached", "broader"):
        return True
    # In forward mode torch refuses a tensor marked as dirty that is no input. Here and in reverse mode of both, a warning says so.
    if plan.marks == "dirty other" and plan.way == "jvp":
        return True
    # In forward mode a detached input counts as the input itself, whose tangent must be the input's.
    if plan.way == "jvp" and forward == "detached":
        return True
    # torch refuses to save an input that is returned as it is, and looks at what is saved only when it records.
    if plan.saves == "number" or (plan.setup and plan.saves != "nothing"):
        return True
    # torch calls hooks where there is no gradient, too, with None.
    if plan.hooks and plan.returns["backward"] in ("None", "in place, None"):
        return True
    return end is not None and "INTERNAL ASSERT" in end[2]


def run(seed: int, calls: int) -> None:
    import torch

    draw = random.Random(seed)
    for call in range(calls):
        plan = Plan(draw)
        try:
            check(plan, torch)
        except Exception as error:
            raise AssertionError(f"seed {seed}, call {call + 1}: {type(error).__name__}: {error}\n{plan}") from error
