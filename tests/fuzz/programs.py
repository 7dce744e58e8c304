"""Programs of operations, views, writes in place, hooks, Functions and backward passes, in wengert and in torch.

The steps are those of `drawn_programs`. After every step everything that can be seen of every tensor is compared.
"""

from __future__ import annotations

import random
import warnings
from typing import Any

import wengert
from drawn_programs import STEPS, Program
from twins import Raised, assert_same

needs_torch = True
CALLS = 250
PASSES = ("backward", "backward_into")
# torch fails on an assertion of its own, because a leaf was detached and written, or because a saved tensor was detached in place. Here
# both are allowed, and the derivative is that of the values at the time of saving.
TORCH_ALONE = ("INTERNAL ASSERT", "moved into the graph interior", "saved tensor that has been detached in-place")
FREED = "backward through the graph a second time"
STALE = "its base or another view of its base has been modified inplace"


def draw_steps(draw: random.Random) -> list[tuple[str, int, int, int]]:
    names = sorted(STEPS)
    chosen = names if draw.random() < 0.5 else draw.sample(names, draw.randrange(2, 8))
    return [(draw.choice(chosen), *(draw.randrange(8) for _ in range(3))) for _ in range(draw.randrange(2, 20))]


def check(steps: Any, torch: Any) -> None:
    ours, theirs = Program(wengert).run(steps), Program(torch).run(steps)
    if any(isinstance(end, Raised) and any(words in end[2] for words in TORCH_ALONE) for end in theirs):
        return
    if isinstance(theirs[-1], Raised) and FREED in theirs[-1][2] and "fine" in ours[len(theirs) - 1 :][:1]:
        assert any(name.startswith("write") for name, *_ in steps)  # torch frees the node of a write, which here has saved nothing
        return
    if isinstance(ours[-1], Raised) and isinstance(theirs[-1], Raised):
        # Of a pass that fails, the hooks before the failure depend on the order of nodes, which writes under no_grad change in torch.
        ours, theirs = [log[: max(n for n, entry in enumerate(log) if entry in PASSES)] + log[-1:] for log in (ours, theirs)]
    for number, (a, b) in enumerate(zip(ours, theirs, strict=False)):
        if any(isinstance(end, Raised) and STALE in end[2] for end in (a, b)):
            return  # a stale view raises when it is asked for its grad_fn, which torch does later
        assert_same(a, b, f"log[{number}]")
    assert len(ours) == len(theirs)


def run(seed: int, calls: int) -> None:
    import torch

    draw = random.Random(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for call in range(calls):
            steps = draw_steps(draw)
            try:
                check(steps, torch)
            except Exception as error:
                raise AssertionError(f"seed {seed}, call {call + 1}: {type(error).__name__}: {error}\n{steps}") from error
