"""Views crossed with writes in place, grad modes and kinds of base, on torch and wengert: values, gradients, flags, versions, errors.

Every case is a program of a few steps. A step that raises is logged with its error, and the program goes on: what an error
leaves behind is compared as well.
"""

from __future__ import annotations

import itertools

import pytest

import wengert
from loops import each
from steps import differentiate, facts, start, strides
from twins import assert_same, attempt, run

torch = pytest.importorskip("torch")

# -- views -----------------------------------------------------------------------------------------------------------------

VIEWS = {
    "a[0]": lambda t, a: a[0],
    "a[-1]": lambda t, a: a[-1],
    "a[1:]": lambda t, a: a[1:],
    "a[:, ::2]": lambda t, a: a[:, ::2],
    "a[..., 1]": lambda t, a: a[..., 1],
    "a[None]": lambda t, a: a[None],
    "a[...]": lambda t, a: a[...],
    "a[:]": lambda t, a: a[:],
    "a[0, 1]": lambda t, a: a[0, 1],
    "a[0:1, None, 2]": lambda t, a: a[0:1, None, 2],
    "select": lambda t, a: a.select(1, 2),
    "narrow": lambda t, a: a.narrow(1, 1, 2),
    "view": lambda t, a: a.view(4, 2),
    "view(-1)": lambda t, a: a.view(-1),
    "view_as": lambda t, a: a.view_as(t.zeros(8)),
    "reshape": lambda t, a: a.reshape(8),
    "flatten": lambda t, a: a.flatten(),
    "ravel": lambda t, a: a.ravel(),
    "unflatten": lambda t, a: a.unflatten(1, (2, 2)),
    "unsqueeze": lambda t, a: a.unsqueeze(1),
    "squeeze": lambda t, a: a.squeeze(),
    "squeeze(0)": lambda t, a: a.squeeze(0),
    "transpose": lambda t, a: a.transpose(0, 1),
    "t": lambda t, a: a.t(),
    "T": lambda t, a: a.T,
    "mT": lambda t, a: a.mT,
    "H": lambda t, a: a.H,
    "adjoint": lambda t, a: a.adjoint(),
    "permute": lambda t, a: a.permute(1, 0),
    "movedim": lambda t, a: a.movedim(0, 1),
    "swapaxes": lambda t, a: a.swapaxes(0, 1),
    "swapdims": lambda t, a: a.swapdims(0, 1),
    "diagonal": lambda t, a: a.diagonal(),
    "expand": lambda t, a: a.expand(2, 2, 4),
    "expand_as": lambda t, a: a.expand_as(t.zeros(1, 2, 4)),
    "broadcast_to": lambda t, a: t.broadcast_to(a, (3, 2, 4)),
    "unfold": lambda t, a: a.unfold(1, 2, 2),
    "as_strided": lambda t, a: a.as_strided((2, 2), (4, 1), 1),
    "atleast_3d": lambda t, a: t.atleast_3d(a),
    "detach": lambda t, a: a.detach(),
    "data": lambda t, a: a.data,
    "real": lambda t, a: a.real,
    "positive": lambda t, a: a.positive(),
    "contiguous": lambda t, a: a.contiguous(),
    "to(dtype)": lambda t, a: a.to(t.float64),
    "clone": lambda t, a: a.clone(),
    "a[1:][:, 2:]": lambda t, a: a[1:][:, 2:],
    "t()[1]": lambda t, a: a.t()[1],
    "view of the detached": lambda t, a: a.detach()[0],
    "detached view": lambda t, a: a[0].detach(),
    "unbind()[1]": lambda t, a: a.unbind(0)[1],
    "split(1)[0]": lambda t, a: a.split(1)[0],
    "split([1, 3])[1]": lambda t, a: a.split([1, 3], 1)[1],
    "chunk(2)[0]": lambda t, a: a.chunk(2)[0],
    "tensor_split": lambda t, a: a.tensor_split(2)[0],
    "hsplit": lambda t, a: a.hsplit(2)[0],
    "vsplit": lambda t, a: a.vsplit(2)[1],
    "unsafe_split": lambda t, a: a.unsafe_split(1)[0],
    "unsafe_chunk": lambda t, a: a.unsafe_chunk(2)[1],
    "unsafe_split_with_sizes": lambda t, a: a.unsafe_split_with_sizes([1, 1])[1],
    "view of one of several": lambda t, a: a.unbind(0)[1][1:],
    "iteration": lambda t, a: next(iter(a)),
}

# A base: from a leaf x of shape (2, 4).
BASES = {
    "leaf": lambda t, x: x,
    "result": lambda t, x: x * 1,
    "constant": lambda t, x: x.detach().clone(),
    "detached": lambda t, x: x.detach(),
    "view": lambda t, x: (x * 1).unsqueeze(0)[0],
    "result without grad": lambda t, x: no_grad_result(t, x),
}


def no_grad_result(t, x):
    with t.no_grad():
        return x * 1


MODES = {
    "grad": lambda t: t.enable_grad(),
    "no_grad": lambda t: t.no_grad(),
    "inference": lambda t: t.inference_mode(),
}


@each("view", VIEWS)
@each("base", BASES)
def test_a_view(view, base):
    def program(t):
        x = start(t)
        a = BASES[base](t, x)
        v = VIEWS[view](t, a)
        root = a._base if a._is_view() else a
        log = [v._is_view(), v._base is root, v is a, v.data_ptr() == a.data_ptr(), *facts(t, v), strides(v)]
        with t.no_grad():
            a.add_(1)
        attempt(log, lambda: log.extend(facts(t, v, a)))
        differentiate(t, log, x, v)
        return log

    assert_same(run(program, wengert), run(program, torch))


WRITES = {
    "mul_": lambda t, v, y: v.mul_(2),
    "zero_": lambda t, v, y: v.zero_(),
    "copy_": lambda t, v, y: v.copy_(y),
    "setitem": lambda t, v, y: v.__setitem__(..., y * 3),
    "setitem of a number": lambda t, v, y: v.__setitem__(..., 3.0),
    "fill_": lambda t, v, y: v.fill_(7.0),
    "fill_ with a tensor": lambda t, v, y: v.fill_(y * 2),
    "add_ of a tensor": lambda t, v, y: v.add_(y, alpha=3),
    "exp_": lambda t, v, y: v.exp_(),
}


@each("write", WRITES)
@each("view", VIEWS)
def test_a_write_into_a_view(view, write):
    def program(t, base):
        x = start(t)
        y = t.tensor(0.5, dtype=t.float64, requires_grad=True)
        a = BASES[base](t, x)
        before = a[0]
        v = VIEWS[view](t, a)
        log = []
        attempt(log, WRITES[write], t, v, y)
        for tensor in (v, a, before):
            attempt(log, lambda tensor=tensor: log.append(facts(t, tensor)))
        if not (view in ("expand", "broadcast_to", "expand_as") and write in ("zero_", "fill_")):
            # torch allows these writes into repeated memory, and then fails in the backward pass
            differentiate(t, log, x, v, a, before)
            log.append(y.grad)
        return log

    for base in ("result", "constant", "leaf"):
        assert_same(run(program, wengert, base), run(program, torch, base), f"of a {base}")


IN_MODES = ["a[0]", "view", "t", "expand", "detach", "unbind()[1]", "split(1)[0]", "view of one of several", "as_strided"]


@each("view", IN_MODES)
@each(("made", "written"), list(itertools.product(MODES, MODES)))
@each("base", ["result", "constant", "leaf"])
def test_a_write_into_a_view_by_mode(view, base, made, written):
    """A view made in one mode, it or its base written in another, and then used with recording on."""

    def program(t, whole):
        x = start(t)
        y = t.tensor(0.5, dtype=t.float64, requires_grad=True)
        a = BASES[base](t, x)
        with MODES[made](t):
            v = VIEWS[view](t, a)
        log = []
        with MODES[written](t):
            attempt(log, lambda: (a if whole else v).mul_(y))
        log += [v.is_inference(), v._is_view()]
        if not (made != "grad" and a.requires_grad and log[0] != "fine"):
            # torch says that a view made with recording off requires grad, against its documentation.
            attempt(log, lambda: log.append(facts(t, v)))
        attempt(log, lambda: log.append(facts(t, a)))
        differentiate(t, log, x, *((v, a) if made == "grad" else (a,)))
        return log

    for whole in (False, True):
        assert_same(run(program, wengert, whole), run(program, torch, whole), f"written {'base' if whole else 'view'}")
