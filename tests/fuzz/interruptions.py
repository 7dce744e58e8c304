"""KeyboardInterrupt at random moments of forward, backward, hooks and optimisation loops: afterwards everything is as before.

The interrupt is a signal of the interval timer, or an exception that another thread sets on this one. Afterwards grad mode and inference
mode are as they were, no dual level is open, no hooks wait for saved tensors, no lock is held, and the same computation gives the same
gradients. Uncompiled, the end of every mode is code of Python, which an interrupt can stop before its first statement: nothing is
promised there, and no calls are made. (detect_anomaly is not drawn for the same reason.)
"""

from __future__ import annotations

import _thread
import ctypes
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import wengert
from wengert import Tensor
from wengert.autograd import Function, forward_ad
from wengert.core import modes
from wengert.kernels import native
from wengert.nn import functional as F
from wengert.utils.checkpoint import checkpoint

CALLS = 250
LONGEST = 0.004  # seconds until the interrupt; most programs take less, and some calls are not interrupted


class Doubled(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        with wengert.enable_grad():
            return grad * 2 + 0 * ctx.saved_tensors[0]


def _loop(x: Tensor, w: Tensor) -> None:
    """Gradient descent, as a user writes it."""
    for _ in range(3):
        loss = (x @ w).tanh().square().mean()
        (grad,) = wengert.autograd.grad(loss, w)
        with wengert.no_grad():
            scratch = w - 0.1 * grad
            scratch.mul_(0.5)


def _hooks(x: Tensor, w: Tensor) -> None:
    y = x * w
    y.register_hook(lambda g: g * 2)
    y.retain_grad()
    handle = x.register_post_accumulate_grad_hook(lambda leaf: None)
    try:
        (y.exp() @ w).sum().backward()
    finally:
        handle.remove()


def _modes(x: Tensor, w: Tensor) -> None:
    for mode in (wengert.no_grad(), wengert.inference_mode(), wengert.enable_grad()):
        with mode:
            (x * w).sum()


def _levels(x: Tensor, w: Tensor) -> None:
    with forward_ad.dual_level():
        forward_ad.unpack_dual(forward_ad.make_dual(x, w.detach()).sin() * w)
    wengert.func.jvp(lambda a: (a * w).cos(), (x,), (w,))
    wengert.func.hessian(lambda a: (a * a * a).sum())(x[0].detach())


def _writes(x: Tensor, w: Tensor) -> None:
    y = x * 1
    y[0] = w[1]
    y[:, 1].mul_(2)
    y.add_(w).tanh_().sum().backward()


def _passes(x: Tensor, w: Tensor) -> None:
    loss = (Doubled.apply(x) * w).sum() + checkpoint(lambda a: (a * w).sin(), x, use_reentrant=False).sum()
    loss.backward(retain_graph=True)
    loss.backward()
    (grad,) = wengert.autograd.grad((x.sin() * w).sum(), x, create_graph=True)
    grad.square().sum().backward()


def _layers(x: Tensor, w: Tensor) -> None:
    F.cross_entropy(F.layer_norm(F.linear(x, w).relu(), (8,)), wengert.arange(8)).backward()
    x.repeat(30, 30).sort(1)[0].cumsum(0).sum().backward()


PROGRAMS: dict[str, Callable[[Tensor, Tensor], None]] = {
    "loop": _loop, "hooks": _hooks, "modes": _modes, "levels": _levels, "writes": _writes, "passes": _passes, "layers": _layers,
}  # fmt: skip


def state() -> tuple[Any, ...]:
    """Modes of this thread, whether a dual level is open, and the number of pairs of hooks on what is saved."""
    try:
        forward_ad.exit_dual_level()
        is_open = True
    except RuntimeError:
        is_open = False
    return wengert.is_grad_enabled(), wengert.is_inference_mode_enabled(), is_open, len(modes.state.saved_hooks)


def reference(x: Tensor, w: Tensor) -> list[Any]:
    """Gradients of a fixed function, of first and second order, along both kinds of derivatives."""
    x.grad = w.grad = None
    y = (x * w).sin() @ w
    (first,) = wengert.autograd.grad(y.sum(), x, create_graph=True)
    (first * first).sum().backward()
    _, tangent = wengert.func.jvp(lambda a: (a * w).exp(), (x,), (w,))
    found = [first.detach().numpy().copy(), x.grad.numpy().copy(), w.grad.numpy().copy(), tangent.detach().numpy().copy()]
    x.grad = w.grad = None
    return found


def _interrupted_by_timer(run: Callable[[], None], delay: float) -> None:
    def interrupt(number: int, frame: Any) -> None:
        if armed:
            armed.clear()
            raise KeyboardInterrupt

    armed = [True]
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, delay)
            run()
        finally:
            armed.clear()
    except KeyboardInterrupt:
        pass
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def _interrupted_by_thread(run: Callable[[], None], delay: float) -> None:
    target = threading.get_ident()
    done: list[bool] = []
    ended: list[bool] = []

    def interrupt() -> None:
        time.sleep(delay)
        if not done:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(target), ctypes.py_object(KeyboardInterrupt))
        ended.append(True)

    try:
        _thread.start_new_thread(interrupt, ())  # threading's own would wait for the thread, and be interrupted in that
        run()
    except KeyboardInterrupt:
        pass
    while True:
        try:
            done.append(True)
            while not ended:
                time.sleep(1e-4)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(target), None)
            return
        except KeyboardInterrupt:  # set at the last moment
            pass


def run(seed: int, calls: int) -> None:
    if native is None:
        return
    rng = np.random.default_rng(seed)
    x, w = (wengert.tensor(rng.standard_normal((8, 8)), requires_grad=True) for _ in range(2))
    values, versions = [t.detach().numpy().copy() for t in (x, w)], [t._version for t in (x, w)]
    expected, before = reference(x, w), state()
    by_timer = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    for call in range(calls):
        name = str(rng.choice(sorted(PROGRAMS)))
        interrupted = _interrupted_by_timer if by_timer and rng.integers(2) else _interrupted_by_thread
        delay = float(rng.random() ** 2 * LONGEST) + 1e-6

        def many(program: Callable[[Tensor, Tensor], None] = PROGRAMS[name]) -> None:
            for _ in range(3):
                program(x, w)

        interrupted(many, delay)
        here = f"seed {seed}, call {call}: {name}, after {delay:.6f} s by {interrupted.__name__}"
        if state() != before:
            raise AssertionError(f"{here}: modes are {state()}, before {before}")
        for t, value, version in zip((x, w), values, versions, strict=True):
            if t._version != version or not np.array_equal(t.detach().numpy(), value):
                raise AssertionError(f"{here}: a leaf was written")
        found = reference(x, w)
        if not all(np.allclose(a, b, rtol=1e-12, atol=1e-12) for a, b in zip(found, expected, strict=True)):
            raise AssertionError(f"{here}: the gradients afterwards are wrong")
