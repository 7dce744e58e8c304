"""t_(), squeeze_() and the like, which turn a tensor into another view of its memory, on torch and wengert."""

from __future__ import annotations

import pytest

import wengert
from loops import each
from steps import differentiate, facts, start, strides
from twins import assert_same, attempt, run

torch = pytest.importorskip("torch")

FORMS = {
    "t_": lambda a: a.t_(),
    "transpose_": lambda a: a.transpose_(0, -1),
    "swapaxes_": lambda a: a.swapaxes_(0, 1),
    "swapdims_": lambda a: a.swapdims_(1, 0),
    "unsqueeze_": lambda a: a.unsqueeze_(1),
    "squeeze_": lambda a: a.squeeze_(),
    "squeeze_(0)": lambda a: a.squeeze_(0),
    "squeeze_((0, 1))": lambda a: a.squeeze_((0, 1)),
    "as_strided_": lambda a: a.as_strided_((2, 2), (4, 1), 1),
    "out of range": lambda a: a.transpose_(0, 5),
}
TARGETS = {
    "result": lambda t, x: x * 1,
    "leaf": lambda t, x: x,
    "constant": lambda t, x: x.detach().clone(),
    "view": lambda t, x: (x * 1)[:1],
    "view of a leaf": lambda t, x: x[:1],
    "view of a constant": lambda t, x: x.detach().clone()[:1],
    "one of several": lambda t, x: (x * 1).split(1)[0],
    "transposed": lambda t, x: (x * 1).t(),
    "detached": lambda t, x: x.detach(),
}


@each("target", TARGETS)
@each("form", FORMS)
def test_a_view_in_place(form, target):
    def program(t, recorded):
        x = start(t)
        a = TARGETS[target](t, x)
        other = a[0]
        log = []
        with t.set_grad_enabled(recorded):
            attempt(log, FORMS[form], a)
        log += [facts(t, a, other), strides(a), a._is_view(), x._version]
        if log[0] == "fine":
            log.append(None if a.grad_fn is None or not recorded else a.grad_fn.name())
        if recorded or target != "leaf":  # torch's graphs go on expecting the gradient in the leaf's old shape, and fail
            differentiate(t, log, x, a, other)
        return log

    for recorded in (True, False):
        assert_same(run(program, wengert, recorded), run(program, torch, recorded), f"recorded {recorded}")


@pytest.mark.parametrize("form", [form for form in FORMS if form != "as_strided_"])
def test_writes_before_and_after_a_view_in_place(form):
    """A base is written through views made before and after it became another view of its memory, and itself.

    (Not as_strided_, after which a base may no longer reach its old views' elements: torch fails in the backward pass.)
    """

    def program(t):
        x = start(t)
        a = x * 1
        before = a[1]
        before.mul_(2)
        log = []
        attempt(log, FORMS[form], a)
        before.add_(x[0])
        after = a.select(0, 0)
        after.mul_(3)
        a.mul_(1.5)
        before[1:].mul_(5)
        log += facts(t, a, before, after)
        differentiate(t, log, x, a, before, after)
        return log

    assert_same(run(program, wengert), run(program, torch))


@pytest.mark.parametrize("laid_out", ["row-major", "transposed", "expanded"])
def test_as_strided_of_memory_in_another_order(laid_out):
    """A view that walks in memory, of a base whose elements do not lie there in row-major order, is written and replayed."""

    def program(t):
        x = start(t)
        a = {"row-major": lambda: x * 1, "transposed": lambda: x.t() * 1, "expanded": lambda: x.clone()[:, None]}[laid_out]()
        v = a.as_strided((3,), (2,), 1)
        v.mul_(t.tensor([2.0, 3.0, 5.0], dtype=t.float64))
        w = v.as_strided((2,), (1,), 2)
        w.add_(x.sum())
        log = facts(t, v, w, a)
        differentiate(t, log, x, a, v, w)
        (g,) = t.autograd.grad((a * a).sum(), x, create_graph=True)
        log.append(t.autograd.grad(g.pow(2).sum(), x))
        return log

    assert_same(run(program, wengert), run(program, torch))
