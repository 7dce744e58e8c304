"""Public callables name their parameters where torch's do: `*args` and `**kwargs` would swallow a wrong name."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Any

import pytest

import wengert
from wengert.autograd import graph

torch = pytest.importorskip("torch")

MODULES = [
    "", "nn.functional", "linalg", "special", "fft", "masked", "autograd", "autograd.graph", "autograd.functional", "autograd.forward_ad",
    "func", "nn", "nn.init", "nn.utils", "nn.utils.rnn", "nn.utils.parametrize", "nn.utils.parametrizations", "nn.utils.prune", "optim",
    "optim.lr_scheduler", "utils.checkpoint", "utils.data", "distributions", "amp", "signal.windows", "testing", "random", "compiler",
]  # fmt: skip


def swallows(function: Any) -> bool | None:
    """Whether a callable takes arguments of any name; None if it has no signature."""
    try:
        return any(p.kind is p.VAR_KEYWORD for p in inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None


@pytest.mark.parametrize("name", MODULES)
def test_what_torch_names_is_named(name):
    ours = import_module(f"wengert.{name}".rstrip("."))
    theirs = torch
    for part in filter(None, name.split(".")):
        theirs = getattr(theirs, part, None) or import_module(f"torch.{name}")
    hidden = []
    for member in dir(ours):
        mine, other = getattr(ours, member), getattr(theirs, member, None)
        if mine is graph.Node:
            continue  # nobody calls it, and uncompiled it takes what a subclass takes
        if callable(mine) and not member.startswith("_") and swallows(mine) and swallows(other) is False:
            hidden.append(f"{member}{inspect.signature(mine)}, in torch {inspect.signature(other)}")
    assert not hidden


@pytest.mark.parametrize("call", [
    lambda x: x.to(dtpye="float64"), lambda x: x.type(dtpye="float64"), lambda x: x.cpu(1), lambda x: x.cpu(foo=1),
    lambda x: x.cuda(foo=1), lambda x: x.to("cpu", foo=1), lambda x: x.to("cpu", True, True, True), lambda x: x.type(None, True, 3),
])  # fmt: skip
def test_a_wrong_argument_of_a_conversion_is_refused(call):
    for library in (wengert, torch):
        with pytest.raises(TypeError):
            call(library.ones(2))


@pytest.mark.parametrize("call", [
    lambda t, x: x.to(t.float32, False, True), lambda t, x: x.to("cpu", t.float32, False, True), lambda t, x: x.to(x, copy=True),
    lambda t, x: x.to("cpu", t.float64, True), lambda t, x: x.to(device="cpu", non_blocking=True), lambda t, x: x.to(x, True, False),
    lambda t, x: x.type(t.float64, non_blocking=True), lambda t, x: x.cpu(memory_format=t.preserve_format), lambda t, x: x.to(),
])  # fmt: skip
def test_conversions_copy_where_torch_copies(call):
    found = {}
    for library in (wengert, torch):
        x = library.ones(2)
        y = call(library, x)
        found[library] = (y is x, str(y.dtype), y.data_ptr() == x.data_ptr())
    assert found[wengert] == found[torch]
