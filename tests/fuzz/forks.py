"""Forks while other threads compute: no child hangs. A lock that a thread of the parent holds must be free in the child."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread

import wengert as torch
from wengert.kernels import native

CALLS = 30
SECONDS = 15.0  # that a child may take
_leaf = torch.ones(9_000, requires_grad=True)  # fewer than a sum for which OpenBLAS starts threads
_generator = torch.Generator()


def _accumulate() -> None:
    (_leaf * 3).sum().backward()


def _accumulate_graph() -> None:
    (_leaf * _leaf).sum().backward(create_graph=True)
    _leaf.grad = None


def _profile() -> None:
    with torch.autograd.profiler.profile():
        (_leaf * 2).sum()


def _check() -> None:
    with torch.autograd.detect_anomaly():
        (_leaf * 2).sum().backward()


def _draw() -> None:
    torch.randn(100_000)


def _draw_from_generator() -> None:
    torch.randn(100_000, generator=_generator)
    _generator.get_state()


def _gather_gradients() -> None:
    y, z = _leaf * 2, _leaf * 3
    torch.autograd.graph.register_multi_grad_hook((y, z), lambda grads: None)
    torch.autograd.graph.register_multi_grad_hook((y, z), lambda grad: None, mode="any")
    (y + z).sum().backward()


def _save() -> None:
    with torch.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x):
        (_leaf * _leaf).sum().backward()


def _fail() -> None:
    with suppress(RuntimeError):
        torch.ones(3) @ torch.ones(4)


def _run_kernels() -> None:
    (torch.ones(1000, 1000) + 1).sum().item()


def _align() -> None:
    scores = torch.randn(20, 2, 5).log_softmax(2)
    torch.nn.functional.ctc_loss(scores, torch.ones(2, 3, dtype=torch.int64), (20, 20), (3, 3))


# Uncompiled, a sum is a product by NumPy's BLAS, and OpenBLAS's own fork handler can wait for ever for its threads.
ACTIVITIES = (
    _accumulate, _accumulate_graph, _profile, _check, _draw, _draw_from_generator, _gather_gradients, _save, _fail, _align,
    *((_run_kernels,) if native is not None else ()),
)  # fmt: skip

IMPORTING = """
import os, sys, time
from threading import Thread
import wengert as torch
def use():
    torch.special.bessel_j0; torch.nn.functional.ctc_loss; torch.linalg.eigvals
    torch.autograd.functional.vjp; torch.utils.checkpoint
    x = torch.ones(3, 3)
    torch.fft.fft(x), torch.special.zeta(x, x), torch.matrix_exp(x), torch.linalg.lstsq(x, x)
Thread(target=use, daemon=True).start()
time.sleep(float(sys.argv[1]))
child = os.fork()
if child == 0:
    use()
    os._exit(0)
os._exit(os.waitpid(child, 0)[1] != 0)
"""


@contextmanager
def _repeated(activity: Callable[[], None]) -> Iterator[None]:
    """Run an activity again and again in two other threads."""
    over = Event()

    def repeat() -> None:
        while not over.is_set():
            activity()

    threads = [Thread(target=repeat) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()
        torch.autograd.set_detect_anomaly(False)  # of all threads; blocks that overlap can leave it on


def succeeds_in_child(activity: Callable[[], None]) -> bool:
    """Whether an activity ends without an error in a forked child, within SECONDS."""
    child = os.fork()
    if child == 0:
        try:
            activity()
        except BaseException:
            os._exit(1)
        os._exit(0)
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status == 0
        time.sleep(0.001)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def run(seed: int, calls: int) -> None:
    """Fork `calls` times, each time while other threads do something. Raise AssertionError if a child hangs or fails."""
    if not hasattr(os, "fork"):
        return
    chance = random.Random(seed)
    done = 0
    while done < calls:
        beside, inside = chance.choice(ACTIVITIES), chance.choice(ACTIVITIES)
        inside = beside if chance.random() < 0.7 else inside
        beside()  # late families are imported before, so that this tests locks
        inside()
        with _repeated(beside):
            for _ in range(min(10, calls - done)):
                time.sleep(chance.random() * 0.01)
                done += 1
                assert succeeds_in_child(inside), f"seed {seed}, call {done}: {inside.__name__} in a fork beside {beside.__name__}"
        if chance.random() < 0.1:
            delay = chance.random() * 0.5
            found = subprocess.run([sys.executable, "-c", IMPORTING, str(delay)], timeout=SECONDS, check=False)
            assert found.returncode == 0, f"seed {seed}: late imports in a fork after {delay} s of late imports"
