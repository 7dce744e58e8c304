"""Grad modes as context managers, decorators and calls, on torch and wengert.

Not in here, where wengert does what torch does not (docs/semantics.md): a mode holds inside async functions, and one object may
be entered again inside itself.
"""

from __future__ import annotations

import itertools

import pytest

import wengert
from twins import assert_same, attempt, run

torch = pytest.importorskip("torch")

MODES = {
    "no_grad": lambda t: t.no_grad(),
    "enable_grad": lambda t: t.enable_grad(),
    "set_grad_enabled(True)": lambda t: t.set_grad_enabled(True),
    "set_grad_enabled(False)": lambda t: t.set_grad_enabled(False),
    "inference_mode": lambda t: t.inference_mode(),
    "inference_mode(False)": lambda t: t.inference_mode(False),
}


def state(t):
    x = t.ones(1, requires_grad=True)
    y = x * 2
    return [t.is_grad_enabled(), t.is_inference_mode_enabled(), y.requires_grad, y.is_inference()]


@pytest.mark.parametrize(("outer", "inner"), list(itertools.product(MODES, MODES)))
def test_modes_within_modes(outer, inner):
    def program(t):
        seen = [state(t)]
        with MODES[outer](t):
            seen.append(state(t))
            with MODES[inner](t):
                seen.append(state(t))
            seen.append(state(t))
            attempt(seen, lambda: raises_within(t, MODES[inner]))
            seen.append(state(t))
            seen.append(MODES[inner](t)(lambda: state(t))())
            seen.append(state(t))
        return [*seen, state(t)]

    assert_same(run(program, wengert), run(program, torch))


def raises_within(t, mode):
    with mode(t):
        raise KeyError("inside")


# -- decorators ---------------------------------------------------------------------------------------------------------------


def generator_steps(t, decorate):
    """A decorated generator is advanced, sent to, thrown into and closed; the mode is noted inside and outside."""
    seen = []

    def generate(n):
        try:
            for i in range(n):
                try:
                    seen.append(("got", (yield [i, state(t)])))
                except ValueError as error:
                    seen.append(("caught", str(error), t.is_grad_enabled()))
            return "end"
        finally:
            seen.append(("finally", t.is_grad_enabled()))

    generate = decorate(generate)
    it = generate(4)
    seen += [next(it), state(t), it.send(7), state(t), it.throw(ValueError("mine")), state(t)]
    it.close()
    seen.append(state(t))
    it = generate(1)
    next(it)
    try:
        next(it)
    except StopIteration as stop:
        seen.append(stop.value)
    attempt(seen, lambda: thrown_out(generate(2)))
    return [*seen, list(generate(2)), state(t)]


def thrown_out(it):
    next(it)
    it.throw(KeyError("out"))


def recursion(t, decorate):
    @decorate
    def descend(n):
        with t.enable_grad():
            inside = state(t)
        return [inside, state(t), *(descend(n - 1) if n else [])]

    return [descend(2), state(t)]


def method(t, decorate):
    class C:
        @decorate
        def f(self, x, *, k=1):
            return [x, k, state(t)]

        @staticmethod
        @decorate
        def s():
            return state(t)

        @classmethod
        @decorate
        def c(cls):
            return [cls.__name__, state(t)]

    return [C().f(2, k=3), C.s(), C.c(), C.f.__name__]


def failing(t, decorate):
    seen = []
    attempt(seen, decorate(lambda: {}["mine"]))
    return [*seen, state(t)]


def of_a_class(t, decorate):
    @decorate
    class C:
        def __init__(self):
            self.made = state(t)

        def f(self):
            return state(t)

    return [C().made, C().f(), isinstance(C, type)]


USES = {f.__name__: f for f in (generator_steps, recursion, method, failing, of_a_class)}
DECORATORS = {
    "no_grad()": lambda t: t.no_grad(),
    "no_grad": lambda t: t.no_grad,
    "enable_grad()": lambda t: t.enable_grad(),
    "enable_grad": lambda t: t.enable_grad,
    "set_grad_enabled": lambda t: t.set_grad_enabled(False),
    "inference_mode()": lambda t: t.inference_mode(),
    "inference_mode": lambda t: t.inference_mode,
    "inference_mode(False)": lambda t: t.inference_mode(mode=False),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("decorator", DECORATORS)
def test_decorators(decorator, use):
    def program(t, around):
        with MODES[around](t):
            return USES[use](t, lambda f: DECORATORS[decorator](t)(f))

    for around in ("no_grad", "enable_grad"):
        assert_same(run(program, wengert, around), run(program, torch, around), around)


CALLS = {
    "for good": lambda t: [t.set_grad_enabled(False), state(t), t.set_grad_enabled(True), state(t)],
    "repr": lambda t: repr(t.set_grad_enabled(True)),
    "no argument": lambda t: t.set_grad_enabled(),
    "keyword": lambda t: [t.set_grad_enabled(mode=False), state(t), t.set_grad_enabled(mode=True)],
    "text": lambda t: t.set_grad_enabled("a"),
    "number": lambda t: t.set_grad_enabled(1),
    "clone": lambda t: [type(m(t).clone()).__name__ for m in MODES.values()],
    "inside of no_grad": lambda t: [t.no_grad()(lambda: (t.set_grad_enabled(True), state(t)))()[1], state(t)],
}


@pytest.mark.parametrize("call", CALLS)
def test_modes_around_calls(call):
    def program(t):
        try:
            found = CALLS[call](t)
        finally:
            t.set_grad_enabled(True)
        return [None if isinstance(f, t.set_grad_enabled) else f for f in found] if isinstance(found, list) else found

    assert_same(run(program, wengert), run(program, torch))


# -- inference tensors ---------------------------------------------------------------------------------------------------------


INFERENCE = {
    "arithmetic": lambda t, y, x: y * 2,
    "saved": lambda t, y, x: y * x,
    "not saved": lambda t, y, x: x + y,
    "write": lambda t, y, x: y.add_(1),
    "zero_": lambda t, y, x: y.zero_(),
    "setitem": lambda t, y, x: y.__setitem__(0, 1.0),
    "write into a view": lambda t, y, x: y[0].add_(1),
    "write into": lambda t, y, x: x.data.copy_(y),
    "out": lambda t, y, x: t.add(x.detach(), 1, out=y),
    "view": lambda t, y, x: y.view(2, 1),
    "view of a view": lambda t, y, x: y.view(2, 1)[0],
    "unbind": lambda t, y, x: y.unbind(0)[0],
    "detach": lambda t, y, x: y.detach(),
    "data": lambda t, y, x: y.data,
    "clone": lambda t, y, x: y.clone(),
    "version": lambda t, y, x: y._version,
    "requires_grad_": lambda t, y, x: y.requires_grad_(),
    "t_": lambda t, y, x: y.t_(),
    "under no_grad": lambda t, y, x: t.no_grad()(lambda: y.add_(1))(),
    "in inference mode": lambda t, y, x: t.inference_mode()(lambda: y.add_(1))(),
    "backward": lambda t, y, x: y.sum().backward(),
    "stack": lambda t, y, x: t.stack([y, x]),
}


@pytest.mark.parametrize("use", INFERENCE)
def test_inference_tensors(use):
    def program(t):
        x = t.tensor([3.0, 4.0], requires_grad=True)
        with t.inference_mode():
            y = t.tensor([1.0, 2.0])
        found = INFERENCE[use](t, y, x)
        if not isinstance(found, t.Tensor):
            return found
        return [found.detach().tolist(), found.is_inference(), found._is_view(), found.requires_grad, found is y]

    assert_same(run(program, wengert), run(program, torch))
