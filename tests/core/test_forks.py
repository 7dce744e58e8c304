"""Forked children and ending threads: no lock that is held for ever, no thread-local state that is used after its end."""

from __future__ import annotations

import os
import threading
import time

import numpy as np
import pytest

import wengert as torch
from fuzz.forks import ACTIVITIES, _repeated, succeeds_in_child

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")


@needs_fork
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("activity", ACTIVITIES, ids=lambda activity: activity.__name__.strip("_"))
def test_child_does_what_other_threads_of_the_parent_do(activity):
    activity()
    with _repeated(activity):
        for i in range(10):
            time.sleep(0.001 * (i % 4))
            assert succeeds_in_child(activity)


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
