"""Forked children and ending threads: no lock that is held for ever, no thread-local state that is used after its end."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import wengert as torch
from fuzz.forks import ACTIVITIES, _repeated, succeeds_in_child

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")


@pytest.mark.slow
@needs_fork
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("activity", ACTIVITIES, ids=lambda activity: activity.__name__.strip("_"))
def test_child_does_what_other_threads_of_the_parent_do(activity):
    activity()
    with _repeated(activity):
        for i in range(10):
            time.sleep(0.001 * (i % 4))
            assert succeeds_in_child(activity)


FORK_IN_IMPORT = """
import os, signal, sys, time
from threading import Event, Thread
import numpy as np
import wengert as torch
begun, x = Event(), torch.eye(3, dtype=torch.float64)
class Slow:
    def find_spec(name, path, target=None):
        if name == sys.argv[1] and not begun.is_set():
            begun.set()
            time.sleep(0.5)
sys.meta_path.insert(0, Slow)
def use():
    return eval(sys.argv[2])
assert sys.argv[1] not in sys.modules
thread = Thread(target=use)
thread.start()
assert begun.wait(10)
child = os.fork()
if child == 0:
    signal.alarm(15)  # a child that hangs is killed
    use()
    os._exit(0)
thread.join()
os._exit(os.waitpid(child, 0)[1] != 0)
"""


@needs_fork
@pytest.mark.parametrize(
    ("module", "expression"),
    [
        ("scipy.special", "torch.special.zeta(x + 2, x + 1)"),
        ("scipy.linalg", "torch.matrix_exp(x)"),
        ("scipy.fft", "torch.fft.fft(x)"),
        ("scipy.sparse", "torch.zeros(4, 4).index_add(0, torch.arange(40000) % 4, torch.ones(40000, 4))"),
        ("wengert.ops.bessel", "torch.special.bessel_j0(x)"),
    ],
)
def test_child_is_whole_if_another_thread_imports_for_the_first_time(module, expression):
    """The import is slowed down, so that the fork falls into it. The child would wait for ever for the lock of the module."""
    environment = os.environ | {"WENGERT_PURE": "1"} if module == "scipy.sparse" else os.environ  # compiled, kernels do it
    found = subprocess.run([sys.executable, "-W", "ignore", "-c", FORK_IN_IMPORT, module, expression], env=environment, check=False)
    assert found.returncode == 0


class Computes:
    """Computes in its finalizer, with NumPy's warnings silenced."""

    def __init__(self, results):
        self.x = torch.ones(3, requires_grad=True)
        self.results = results

    def __del__(self):
        (self.x * 2).log().sum().backward()
        self.results.append((self.x.grad.tolist(), torch.log(torch.zeros(2, dtype=torch.float16)).tolist()))


def test_finalizers_compute_while_their_thread_ends():
    """Thread-local objects are freed in the order of their making, so the finalizer runs after the core's own state is gone."""
    results = []
    local = threading.local()

    def work():
        torch.log(torch.zeros(3, dtype=torch.float16))
        local.computes = Computes(results)

    for _ in range(5):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert results == [([1.0] * 3, [-np.inf] * 2)] * 5
