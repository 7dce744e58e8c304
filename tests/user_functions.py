"""Small Functions, and the leaves they are tried on."""

from __future__ import annotations

import wengert
from wengert.autograd import Function


def leaf(*numbers):
    return wengert.tensor(list(numbers), dtype=wengert.float64, requires_grad=True)


def numbers(*values):
    return wengert.tensor(list(values), dtype=wengert.float64)


def function(forward, backward=None, **others):
    """Return the apply of a Function named F with the given static methods."""
    methods = {"forward": forward, "backward": backward, **others}
    return type("F", (Function,), {k: staticmethod(m) for k, m in methods.items() if m is not None}).apply


class Cube(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x**2
