"""Programs made at random, of operations, views, writes in place and hooks: torch and wengert agree after every step.

Compared are values, gradients, requires_grad, is_leaf, versions, and the errors of steps that fail.
"""

from __future__ import annotations

import random
import warnings

import numpy as np
import pytest

import wengert
from twins import BUILTINS, assert_same, describe, described_error

torch = pytest.importorskip("torch")

SHAPES = [(2, 3), (3,), (2, 1), ()]


class RandomProgram:
    """Steps on a growing list of tensors, drawn from a seed; both libraries draw the same."""

    def __init__(self, library, seed):
        self.torch, self.draw = library, random.Random(seed)
        self.tensors = [
            library.tensor(np.linspace(0.1, 0.9, int(np.prod(shape))).reshape(shape) + i * 0.05).requires_grad_(i % 3 != 2)
            for i, shape in enumerate(SHAPES * 2)
        ]
        self.log = []

    def pick(self):
        return self.draw.choice(self.tensors)

    def make(self):
        """A new tensor out of old ones."""
        x, y, kind = self.pick(), self.pick(), self.draw.randrange(12)
        if kind < 3:
            return (x + y, x * y, x - y * 0.5)[kind]
        if kind < 6:
            return (x.tanh, x.exp, lambda: x * 0.7)[kind - 3]()
        if kind == 6:
            return x.sum(0) if x.dim() else x.neg()
        if kind == 7:
            return x.clone()
        if kind == 8:
            return x.detach() if self.draw.random() < 0.3 else x * 1
        return self.view(x)

    def view(self, x):
        kind = self.draw.randrange(6)
        if x.dim() == 0:
            return x.unsqueeze(0) if kind < 3 else x.view(1)
        if kind == 0:
            return x[0]
        if kind == 1:
            return x[-1:]
        if kind == 2:
            return x.unsqueeze(0)
        if kind == 3:
            return x.transpose(0, -1)
        if kind == 4:
            return x.reshape(-1)
        return x[..., None].squeeze(-1)

    def write(self):
        """Changes an old tensor in place."""
        x, y, kind = self.pick(), self.pick(), self.draw.randrange(8)
        # torch refuses to write what overlaps with what is read, unless it is the same; and to copy down a dimension.
        y = y.clone() if self.base(x) is self.base(y) else y
        y = y.sum() if y.dim() > x.dim() else y
        if kind < 2:
            return x.mul_(0.5) if kind % 2 else x.add_(0.25)
        if kind < 5:
            return (x.add_, x.mul_, x.copy_)[kind - 2](y)
        if kind == 5:
            return x.zero_()
        if kind == 6 and x.dim():
            x[0] = 0.125
        elif x.dim():
            x[-1] = y.sum() * 0.1
        return x

    @staticmethod
    def base(x):
        return x._base if x._is_view() else x

    def step(self):
        roll = self.draw.random()
        if roll < 0.6:
            self.tensors.append(self.make())
        elif roll < 0.9:
            # Views made under no_grad are not drawn: in torch they require grad, against its own documentation.
            with self.torch.set_grad_enabled(self.draw.random() > 0.2):
                self.write()
        elif roll < 0.95:
            # Not on views: torch forgets their hooks when the base is written under no_grad.
            self.base(self.pick()).register_hook(lambda g: g * 1.5)
        else:
            self.pick().retain_grad()

    def differentiate(self):
        roots = [t.sum() for t in self.draw.sample(self.tensors, 3)]
        total = roots[0] * 1.0 + roots[1] * 2.0 + roots[2] * 3.0
        total.backward()

    def attempt(self, action):
        state = self.draw.getstate()
        try:
            action()
            self.log.append("fine")
        except BUILTINS as error:
            self.log.append(described_error(error))
        # An action that failed early has drawn less: both go on from the same place.
        self.draw.setstate(state)
        self.draw.random()

    def run(self, n_steps):
        for _ in range(n_steps):
            self.attempt(self.step)
        self.attempt(self.differentiate)
        # After a failed pass torch leaves the gradients of the leaves that it had reached, wengert takes them back.
        return [self.summary(t, with_grad=self.log[-1] == "fine") for t in self.tensors]

    def summary(self, t, with_grad=True):
        shown = describe(t, self.torch)
        # Views written through are rebuilt by other operations here than in torch.
        shown["grad_fn"] = shown["grad_fn"] is not None
        del shown["output_nr"]
        shown["version"] = t._version
        shown["grad"] = None if t.grad is None or not with_grad else {"values": describe(t.grad.detach(), self.torch)["values"]}
        return shown


@pytest.mark.parametrize("block", range(20))
def test_random_programs(block):
    differentiated = 0
    for seed in range(block * 25, block * 25 + 25):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ours, theirs = RandomProgram(wengert, seed), RandomProgram(torch, seed)
            mine, torchs = ours.run(14), theirs.run(14)
        for i, (a, b) in enumerate(zip(ours.log, theirs.log, strict=True)):
            assert_same(a, b, f"seed {seed}, step {i}")
        assert_same(mine, torchs, f"seed {seed}, tensors")
        differentiated += theirs.log[-1] == "fine"
    assert differentiated > 2  # the comparison is not one of errors alone


def compare(ours, theirs, mine, torchs, seed):
    for i, (a, b) in enumerate(zip(ours.log, theirs.log, strict=True)):
        assert_same(a, b, f"seed {seed}, step {i}")
    assert_same(mine, torchs, f"seed {seed}, tensors")


def run_within(block, program, n_steps):
    with warnings.catch_warnings(), block:
        warnings.simplefilter("ignore")
        return program.run(n_steps)


def cloning_hooks(library):
    """Hooks under which every saved value stays what it was when it was saved, whatever is written later."""
    return library.autograd.graph.saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t)


@pytest.mark.parametrize("block", range(4))
def test_random_programs_whose_saved_values_are_copies(block):
    """No write is an error then: gradients are those of the values of the time, in torch, and in each way of copying."""
    rescued = 0
    for seed in range(block * 75, block * 75 + 75):
        ours, theirs = RandomProgram(wengert, seed), RandomProgram(torch, seed)
        mine = run_within(cloning_hooks(wengert), ours, 14)
        compare(ours, theirs, mine, run_within(cloning_hooks(torch), theirs, 14), seed)
        assert "modified by an inplace operation" not in str(ours.log)
        mutating = RandomProgram(wengert, seed)
        again = run_within(wengert.autograd.graph.allow_mutation_on_saved_tensors(), mutating, 14)
        compare(mutating, ours, again, mine, seed)
        plain = RandomProgram(wengert, seed)
        run_within(warnings.catch_warnings(), plain, 14)
        rescued += "modified by an inplace operation" in str(plain.log)
    assert rescued > 2
