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
CALLS = 600
STALE = "is a view and its base or another view of its base has been modified inplace"


def draw_steps(draw: random.Random) -> list[tuple[str, int, int, int]]:
    names = sorted(STEPS)
    chosen = names if draw.random() < 0.5 else draw.sample(names, draw.randrange(2, 8))
    return [(draw.choice(chosen), *(draw.randrange(8) for _ in range(3))) for _ in range(draw.randrange(2, 20))]


def check(steps: Any, torch: Any) -> None:
    ours, theirs = Program(wengert).run(steps), Program(torch).run(steps)
    # torch fails on an assertion of its own, or because a leaf was detached and written, which is allowed here.
    if any(isinstance(end, Raised) and ("INTERNAL ASSERT" in end[2] or "moved into the graph interior" in end[2]) for end in theirs):
        return
    for number, (a, b) in enumerate(zip(ours, theirs, strict=False)):
        if isinstance(a, Raised) and isinstance(b, Raised) and STALE in a[2] + b[2]:
            return  # a stale view, and a second reason: either is named
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
