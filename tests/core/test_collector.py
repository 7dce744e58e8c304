"""Python's garbage collector: what it is spared of graphs, and that it still frees every cycle."""

import gc
import os
import random
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest

import wengert
from fuzz import cycles
from wengert import __config__

spared = pytest.mark.skipif(__config__.info()["core"] != "compiled", reason="only the compiled core untracks objects")


@pytest.fixture
def no_automatic_collection():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def is_known(tensor):
    """Whether the collector knows a tensor and its node."""
    return gc.is_tracked(tensor), gc.is_tracked(tensor.grad_fn)


@spared
def test_collector_knows_no_graph_to_which_nothing_is_attached(no_automatic_collection):
    x = wengert.ones(4, requires_grad=True)
    results = [x * x for _ in range(100)] + [x[0] for _ in range(100)]
    gc.collect(0)
    gc.collect(1)
    assert {is_known(y) for y in results} == {(False, False)}
    gc.collect()
    assert {is_known(y) for y in results} == {(True, True)}
    assert is_known(x * x) == (False, False)


def attach_attribute(x, y):
    y.later = [y]


def attach_hook(x, y):
    y.register_hook(lambda ct: None)


def attach_leaf_hook(x, y):
    x.register_hook(lambda ct: None)


def attach_metadata(x, y):
    y.grad_fn.metadata["later"] = y


def attach_gradient(x, y):
    x.grad = y


@spared
@pytest.mark.parametrize("attach", [attach_attribute, attach_hook, attach_leaf_hook, attach_metadata, attach_gradient])
def test_collector_knows_all_while_something_is_attached(attach, no_automatic_collection):
    x = wengert.ones(4, requires_grad=True)
    before = x * x
    attach(x, x * x)
    assert is_known(before) == (True, True)
    if attach in (attach_leaf_hook, attach_gradient):
        assert is_known(x * x) == (True, True)
    del x, before
    gc.collect()
    assert is_known(wengert.ones(4, requires_grad=True) * 2) == (False, False)


@spared
def test_values_that_cannot_be_in_a_cycle_are_no_attachments(no_automatic_collection):
    x = wengert.ones(4, requires_grad=True)
    x.label, x.numbers, x.kind, x.table = "weight", (1, (2, 3.0)), np.dtype("f4"), np.ones(3)
    x.grad = wengert.ones(4)
    x.data = wengert.ones(4)
    assert is_known(x * x) == (False, False)


@spared
def test_objects_leave_the_lists_one_by_one(no_automatic_collection):
    """Releasing first, last and inner ones leaves the lists whole for the collection that follows."""
    x = wengert.ones(4, requires_grad=True)
    results = [x * x for _ in range(30)]
    del results[0], results[-1], results[10:15]
    gc.collect()
    assert len(results) == 23 and {is_known(y) for y in results} == {(True, True)}


@spared
def test_attachment_made_while_objects_are_freed(no_automatic_collection):
    """What a weak reference's callback attaches to tracks all objects except those that are being freed."""
    x = wengert.ones(4, requires_grad=True)
    kept = x * 3
    y = x * 2
    handles = []
    reference = weakref.ref(y, lambda _: handles.append(kept.register_hook(lambda ct: None)))
    del y
    assert reference() is None and handles and is_known(kept) == (True, True)
    gc.collect()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", cycles.KINDS, ids=lambda kind: kind.__name__.strip("_"))
def test_automatic_collection_frees_each_kind_of_cycle(kind):
    gc.collect()
    assert 0 < cycles.most_alive(kind, random.Random(0), 600) <= cycles.ALIVE


@pytest.mark.parametrize("attach", ["hook", "node hook", "metadata", "attribute"])
def test_full_collection_frees_a_cycle(attach, no_automatic_collection):
    x = wengert.ones(3, requires_grad=True)
    y = x * x
    z = (y + 1).exp()
    watch = weakref.ref(z)
    if attach == "hook":
        y.register_hook(lambda ct, z=z: None)
    elif attach == "node hook":
        y.grad_fn.register_hook(lambda inputs, outputs, z=z: None)
    elif attach == "metadata":
        y.grad_fn.metadata["later"] = z
    else:
        y.later = z
        z = z * y  # so that y is part of the graph behind z and z of y
    del x, y, z
    gc.collect()
    assert watch() is None


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="reads the peak of memory there; ru_maxrss begins at the parent's")
def test_memory_stays_bounded_when_ctx_keeps_the_output():
    """In a fresh process: 1 MB hangs on each ctx. All 600 would be 600 MB."""
    program = """
import re, wengert as torch
class Exp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.y = x.exp()
        return ctx.y
    @staticmethod
    def backward(ctx, ct):
        return ct * ctx.y
x = torch.ones(250_000, requires_grad=True)
for _ in range(600):
    Exp.apply(x)
print(int(re.search("VmHWM: +(\\d+)", open("/proc/self/status").read().replace("\\t", " "))[1]) // 1024)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 350


@pytest.mark.slow
def test_collections_amid_work_in_several_threads():
    stop = threading.Event()
    failures = []

    def work():
        x = wengert.ones(4, requires_grad=True)
        while not stop.is_set():
            y = x
            for _ in range(50):
                y = y * x
            x.grad = None
            y.sum().backward()
            if x.grad.tolist() != [51.0] * 4:
                failures.append(x.grad)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for i in range(60):
        gc.collect(i % 3)
    stop.set()
    for thread in threads:
        thread.join()
    assert not failures
