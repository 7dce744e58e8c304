"""Signals while a kernel runs: Ctrl-C ends it, and any other handler of Python runs in the middle of it.

The kernel of these tests adds to 2**16 elements, 2**24 times to each. It would run for minutes on any machine, so a signal that is sent
after the first element has changed arrives while it runs.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import wengert
from thread_counts import threads
from wengert.kernels import native
from wengert.nn import functional as F

needs_kernels = pytest.mark.skipif(native is None, reason="no kernels are compiled here")
pytestmark = [needs_kernels, pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="no signals of POSIX on this system")]

LANES = 1 << 16
INDEX = wengert.zeros(1, 1, dtype=wengert.int64).expand(1 << 24, LANES)
ONES = wengert.ones(1, 1).expand(1 << 24, LANES)


class Stop(Exception):
    pass


def stop(number: int, frame: Any) -> None:
    raise Stop


@contextlib.contextmanager
def handler(function: Callable[[int, Any], None]) -> Iterator[None]:
    before = signal.signal(signal.SIGUSR1, function)
    try:
        yield
    finally:
        signal.signal(signal.SIGUSR1, before)


@contextlib.contextmanager
def sent_when(*conditions: Callable[[], bool]) -> Iterator[None]:
    """Send a signal as soon as each of the conditions holds, one after the other."""

    def send() -> None:
        for condition in conditions:
            while not condition():
                time.sleep(0.001)
            os.kill(os.getpid(), signal.SIGUSR1)

    sender = threading.Thread(target=send, daemon=True)
    sender.start()
    yield
    sender.join(60)


@contextlib.contextmanager
def sent_again_and_again() -> Iterator[None]:
    finished = threading.Event()

    def send() -> None:
        while not finished.wait(0.001):
            os.kill(os.getpid(), signal.SIGUSR1)

    sender = threading.Thread(target=send, daemon=True)
    sender.start()
    yield
    finished.set()
    sender.join()


@pytest.mark.parametrize("n_threads", [1, 2])
def test_an_exception_of_a_handler_ends_a_kernel(n_threads):
    x = wengert.zeros(2, LANES)
    array = x.numpy()
    with threads(n_threads), handler(stop), sent_when(lambda: array[0, 0] != 0), pytest.raises(Stop):
        x.scatter_add_(0, INDEX, ONES)
    assert array[0, 0] == 1 << 24 and array[0, -1] == 0
    assert wengert.softmax(wengert.ones(1000, 100), 1).sum().item() == pytest.approx(1000)


def test_a_write_that_was_ended_counts():
    """Elements have changed, so a backward pass may not use what was saved before."""
    x, leaf = wengert.zeros(2, LANES), wengert.ones(2, LANES, requires_grad=True)
    y = leaf * x
    array, version = x.numpy(), x._version
    with handler(stop), sent_when(lambda: array[0, 0] != 0), pytest.raises(Stop):
        x.scatter_add_(0, INDEX, ONES)
    assert x._version == version + 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_a_write_that_is_recorded_is_not_recorded_if_it_was_ended():
    base = wengert.zeros(2, LANES, requires_grad=True)
    x = base * 1
    node, array, version = x.grad_fn, x.detach().numpy(), x._version
    with handler(stop), sent_when(lambda: array[0, 0] != 0), pytest.raises(Stop):
        x.scatter_add_(0, INDEX, ONES)
    assert x.grad_fn is node and x._version == version + 1


def test_a_kernel_goes_on_after_a_handler_that_returns():
    """The handler runs in the main thread, in the middle of the kernel, and may compute."""
    x = wengert.zeros(2, LANES)
    array = x.numpy()
    seen: list[tuple[int, float]] = []

    def look(number: int, frame: Any) -> None:
        assert threading.current_thread() is threading.main_thread()
        seen.append((int((array[0] != 0).sum()), wengert.ones(100_000).exp().log().sum().item()))
        if len(seen) == 2:
            raise Stop

    def has_gone_on() -> bool:
        return bool(seen) and (array[0] != 0).sum() > seen[0][0] + 2

    with handler(look), sent_when(lambda: array[0, 0] != 0, has_gone_on), pytest.raises(Stop):
        x.scatter_add_(0, INDEX, ONES)
    assert 0 < seen[0][0] < seen[1][0] < LANES
    assert seen[0][1] == seen[1][1] == pytest.approx(100_000)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_handler_that_forks_ends_the_kernel_in_the_child():
    """The threads that compute the other elements are not in the child."""
    x = wengert.zeros(2, LANES)
    array = x.numpy()
    parent, status = os.getpid(), []

    def fork(number: int, frame: Any) -> None:
        child = os.fork()
        if child:
            status.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
            raise Stop

    with threads(2), handler(fork), sent_when(lambda: array[0, 0] != 0):
        try:
            with pytest.raises(Stop):
                x.scatter_add_(0, INDEX, ONES)
        except BaseException as error:
            if os.getpid() == parent:
                raise
            works = wengert.ones(100_000).exp().sum().item() > 0
            os._exit(7 if works and type(error) is RuntimeError and "forked" in str(error) else 1)
    assert status == [7]


def test_results_do_not_change_if_handlers_run_in_between():
    calls = []
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 300, 2000)).astype(np.float32)
    labels = rng.integers(1, 5, size=(50, 20))

    def results() -> list[Any]:
        x, y = wengert.tensor(a), wengert.tensor(b)
        picture = x.reshape(1, 6, 100, 1000)
        lengths = [wengert.full((50,), n) for n in (120, 20)]
        return [
            x.exp() + y, x.sum(), y.var(1), x.softmax(1), x.softmax(0), x.cumsum(1), wengert.cdist(x, y), x.msort(),
            F.conv2d(picture, wengert.ones(4, 6, 3, 3)), F.interpolate(picture, (150, 700), mode="bilinear"),
            F.max_pool2d(picture, 3), F.layer_norm(x, (2000,)), F.batch_norm(picture, None, None, training=True),
            x.gather(1, wengert.tensor(labels[0]).expand(300, 20)),
            F.ctc_loss(x[:120, :250].reshape(120, 50, 5).log_softmax(2), wengert.tensor(labels), *lengths),
        ]  # fmt: skip

    expected = results()
    with handler(lambda number, frame: calls.append(number)):
        for _ in range(3):
            with sent_again_and_again():
                found = results()
            for x, y in zip(found, expected):
                assert wengert.equal(x, y)
    assert calls


def test_ctrl_c_ends_a_program():
    program = """if True:
        import os, signal, threading, time
        import wengert
        x = wengert.zeros(2, 1 << 16)
        array = x.numpy()
        def press():
            while array[0, 0] == 0:
                time.sleep(0.001)
            os.kill(os.getpid(), signal.SIGINT)
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores the signal
        threading.Thread(target=press, daemon=True).start()
        x.scatter_add_(0, wengert.zeros(1, 1, dtype=wengert.int64).expand(1 << 24, 1 << 16), wengert.ones(1, 1).expand(1 << 24, 1 << 16))
    """
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert found.returncode == -signal.SIGINT, found.stderr
    assert found.stderr.splitlines()[-1] == "KeyboardInterrupt"
