"""Python's garbage collector: what it is spared of graphs, and that it still frees every cycle."""

import gc
import subprocess
import sys
import threading
import weakref

import pytest

import wengert
from wengert import __config__

spared = pytest.mark.skipif(
    __config__.info()["core"] != "compiled" or sys.version_info >= (3, 14),
    reason="only the compiled core sets objects aside, where the collector's lists are laid out as it knows them",
)


@pytest.fixture
def no_automatic_collection():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def graph_objects(generation=None):
    kinds = (wengert.Tensor, wengert.autograd.graph.Node)
    return [o for o in gc.get_objects(generation) if issubclass(type(o), kinds)]  # isinstance would ask lazy modules, too


@spared
def test_young_collections_do_not_see_graphs_full_ones_do(no_automatic_collection):
    x = wengert.ones(4, requires_grad=True)
    known = set(map(id, graph_objects()))
    results = [x * x for _ in range(100)] + [x[0] for _ in range(100)]
    assert len([o for o in graph_objects() if id(o) not in known]) <= 1  # the leaf's own node
    assert all(gc.is_tracked(y) and gc.is_tracked(y.grad_fn) for y in results)
    gc.collect(0)
    assert len([o for o in graph_objects() if id(o) not in known]) <= 1
    gc.collect()
    seen = set(map(id, graph_objects(generation=2)))
    assert all(id(y) in seen and id(y.grad_fn) in seen for y in results)


@spared
def test_objects_set_aside_are_counted_out_one_by_one(no_automatic_collection):
    """Releasing first, last and inner ones leaves the list whole for the collection that follows."""
    x = wengert.ones(4, requires_grad=True)
    results = [x * x for _ in range(30)]
    del results[0], results[-1], results[10:15]
    gc.collect()
    alive = set(map(id, graph_objects()))
    assert len(results) == 23 and all(id(y) in alive for y in results)


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


def most_alive(make_cycle, times):
    """Make cycles one after the other, and return the largest number that were alive at the same time."""
    watches, most = [], 0
    for i in range(times):
        watches.append(weakref.ref(make_cycle()))
        if i % 500 == 0:
            watches = [w for w in watches if w() is not None]
            most = max(most, len(watches))
    return most


def test_cycles_through_hooks_are_freed_without_being_asked():
    def make_cycle():
        x = wengert.ones(3, requires_grad=True)
        y = x * x
        z = y.exp()
        y.register_hook(lambda ct: z)
        return z

    gc.collect()
    assert most_alive(make_cycle, 20_000) < 5_000


def test_cycles_through_attributes_are_freed_without_being_asked():
    """In a fresh process: Python puts full collections off the longer, the more objects there are."""
    program = """
import weakref, wengert
watches, most = [], 0
for i in range(60_000):
    x = wengert.ones(3, requires_grad=True)
    x.loss = x.exp()
    watches.append(weakref.ref(x.loss))
    del x
    if i % 500 == 0:
        watches = [w for w in watches if w() is not None]
        most = max(most, len(watches))
print(most)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 40_000  # some thousands to 27,000, by version of Python


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
