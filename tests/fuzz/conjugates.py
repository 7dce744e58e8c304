"""Conjugate views: drawn programs of views, reads, writes and backward passes, compared with torch.

A program makes views of a complex tensor by chains of conj, mH, real, imag, slices and transposes, writes into any of them, reads any
of them, and differentiates in the end. Values, is_conj, is_neg, gradients and classes of errors must agree.
"""

from __future__ import annotations

import random
import re
import warnings
from typing import Any

import numpy as np

import wengert
from wengert.ops import OPS

try:
    import torch
except ImportError:
    torch = None  # type: ignore[assignment]

CALLS = 240
# Refusals of one side: torch's of writes that overlap what they read, and of views whose history it does not know; ours of views
# that show parts of complex numbers after the base was transposed in place.
ALLOWED = (
    "some elements of the input tensor and the written-to tensor refer|modified by an inplace operation|returned an invalid gradient"
    "|a view of another dtype is not differentiable after|setStorage"
)
needs_torch = True

VIEWS = {
    "conj": lambda lib, t: t.conj(),
    "mH": lambda lib, t: t.mH,
    "adjoint": lambda lib, t: t.adjoint(),
    "H": lambda lib, t: t.H,
    "mT": lambda lib, t: t.mT,
    "row": lambda lib, t: t[0] if t.ndim else t[()],
    "part": lambda lib, t: t[:, 1:],
    "step": lambda lib, t: t[..., ::2],
    "none": lambda lib, t: t[None],
    "real": lambda lib, t: t.real,
    "imag": lambda lib, t: t.imag,
    "diagonal": lambda lib, t: t.diagonal(),
    "flat": lambda lib, t: t.view(-1),
    "reshape": lambda lib, t: t.reshape(-1),
    "squeeze": lambda lib, t: t.squeeze(),
    "split": lambda lib, t: t.split(1)[0],
    "unbind": lambda lib, t: t.unbind(-1)[-1],
    "detach": lambda lib, t: t.detach(),
    "data": lambda lib, t: t.data,
    "as_real": lambda lib, t: lib.view_as_real(t),
    "neg": lambda lib, t: lib._neg_view(t) if lib is torch else OPS["_neg_view"].function(t),
    "resolve": lambda lib, t: t.resolve_conj(),
    "resolve_neg": lambda lib, t: t.resolve_neg(),
    "contiguous": lambda lib, t: t.contiguous(),
    "clone": lambda lib, t: t.clone(),
    "unfold": lambda lib, t: t.unfold(0, 1, 1),
    "strided": lambda lib, t: t.as_strided((2,), (1,)),
}
WRITES = {
    "mul_": lambda lib, t, other: t.mul_(1.5),
    "add_": lambda lib, t, other: t.add_(2.0),
    "zero_": lambda lib, t, other: t.zero_(),
    "fill_": lambda lib, t, other: t.fill_(3.0),
    "copy_": lambda lib, t, other: t.copy_(other.reshape(-1)[0].clone()),
    "mul by other": lambda lib, t, other: t.mul_(other.reshape(-1)[-1].real.clone()),
    "square": lambda lib, t, other: t.mul_(t.clone()),
    "set": lambda lib, t, other: t.__setitem__(0, 4.0),
    "set part": lambda lib, t, other: t.__setitem__((Ellipsis, slice(1)), t[..., -1:] * 0.5),
    "set at": lambda lib, t, other: t.__setitem__(lib.tensor([0]), 6.0),
    "set mask": lambda lib, t, other: t.__setitem__(lib.abs(t) > 2, 0.5),
    "exp_": lambda lib, t, other: t.mul_(0.1).exp_(),
    "index_fill_": lambda lib, t, other: t.index_fill_(0, lib.tensor([0]), 2.0),
    "conj_physical_": lambda lib, t, other: t.conj_physical_(),
    "neg_": lambda lib, t, other: t.neg_(),
    "squeeze_": lambda lib, t, other: t.squeeze_(),
    "no_grad mul_": lambda lib, t, other: quietly(lib, lambda: t.mul_(0.5)),
    "no_grad set": lambda lib, t, other: quietly(lib, lambda: t.__setitem__(0, 1.5)),
    "data add_": lambda lib, t, other: t.data.add_(0.25),
    "detached sub_": lambda lib, t, other: t.detach().sub_(0.25),
    "addcmul_": lambda lib, t, other: t.addcmul_(t.clone(), t.clone()),
    "real =": lambda lib, t, other: setattr(t, "real", 2.5 * t.imag.clone()),
    "triu_": lambda lib, t, other: t.triu_(),
}


def quietly(lib: Any, function: Any) -> Any:
    """Call a function under no_grad."""
    with lib.no_grad():
        return function()


def run(seed: int, calls: int) -> None:
    """Compare `calls` drawn programs. Raises AssertionError with the program if one differs."""
    for number in range(calls):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compare(seed * 1_000_003 + number)


def compare(seed: int) -> None:
    """Run one program on both sides and compare all that it sees."""
    draw = random.Random(seed)
    steps: list[tuple[Any, ...]] = []
    for made in range(1, draw.randint(2, 7)):
        steps.append(("view", draw.choice([*VIEWS, *["conj", "mH", "imag", "step", "mT"] * 2]), draw.randrange(made)))
        for _ in range(draw.choice((0, 1, 1, 2))):
            steps.append(("write", draw.choice(list(WRITES)), draw.randrange(made + 1), draw.randrange(made + 1)))
    grad = draw.random() < 0.6
    shape = draw.choice([(2, 3), (3, 3), (1, 2), (2, 2, 3)])
    numbers = np.array([complex(draw.randint(-3, 3), draw.randint(-3, 3)) for _ in range(int(np.prod(shape)))]).reshape(shape)
    ours, theirs = follow(wengert, steps, numbers, grad), follow(torch, steps, numbers, grad)
    for i, (a, b) in enumerate(zip(ours, theirs, strict=False)):
        if any(isinstance(x[-1], Exception) and re.search(ALLOWED, str(x[-1])) for x in (a, b)):
            return
        assert same(a, b), f"compare({seed}): at {i} of {steps} on {shape}, grad {grad}\nwengert: {a}\ntorch:   {b}"


def same(a: Any, b: Any) -> bool:
    """Whether two records agree: (kind, name, value), where an error's value is its class."""
    if isinstance(a[-1], Exception) or isinstance(b[-1], Exception):
        return a[:-1] == b[:-1] and isinstance(a[-1], Exception) and isinstance(b[-1], Exception)
    return a[:-1] == b[:-1] and a[-1].shape == b[-1].shape and np.allclose(a[-1], b[-1], rtol=1e-6, atol=1e-9, equal_nan=True)


def unseen(steps: list[Any]) -> bool:
    """Whether the gradient is not promised: writes that no version counter sees, or a view of memory around another view's.

    Nor is it compared after squeeze_ of a base or a view. torch then makes the history of its views from the other shape, and gives a wrong
    gradient or none: for `b = x * 1` of shape (1, 2), `v = b.conj(); b.squeeze_(); v.index_fill_(0, tensor([0]), 2)` writes all of v."""
    return any(name in ("data", "data add_", "strided", "squeeze_") for _, name, *_ in steps)


def follow(lib: Any, steps: list[Any], numbers: Any, grad: bool) -> list[Any]:
    """Return a record of what a program sees: the values of all tensors after each step, and the gradient."""
    x = lib.tensor(numbers, requires_grad=grad)
    tensors, seen = [x * 1], list[Any]()
    for kind, name, i, *j in steps:
        try:
            if kind == "view":
                tensors.append(VIEWS[name](lib, tensors[i]))
            else:
                _ = tensors[i].grad_fn  # torch takes a view whose base was written for a leaf until its grad_fn is asked for
                WRITES[name](lib, tensors[i], tensors[j[0]])
        except (RuntimeError, TypeError, IndexError, ValueError) as error:
            seen.append((kind, name, error))
            if kind == "view":
                tensors.append(tensors[i])
            else:
                break  # how much was written is not said
            continue
        for k, t in enumerate(tensors):
            marks = (kind, name, k, t.is_conj(), t.is_neg(), t.is_contiguous(), t.requires_grad)
            marks += (tuple([step for step, n in zip(t.stride(), t.shape, strict=True) if n > 1 and t.numel()]),)
            seen.append((*marks, t.detach().resolve_conj().resolve_neg().numpy().copy()))
    else:
        for t in [] if unseen(steps) else tensors[-2:]:
            try:
                value = lib.abs(t * 1) ** 2
                weight = lib.arange(1, value.numel() + 1, dtype=lib.float64).reshape(value.shape)
                found = lib.autograd.grad((value * weight).sum(), x, retain_graph=True)[0]
                seen.append(("grad", found.detach().resolve_conj().numpy()))
            except RuntimeError as error:
                seen.append(("grad", error))
    return seen
