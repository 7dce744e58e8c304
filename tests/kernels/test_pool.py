"""The memory of large results: used again when nothing looks into it, and never before."""

from __future__ import annotations

import gc
import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import wengert
from wengert.kernels import native

pytestmark = pytest.mark.skipif(not hasattr(native, "pool_counts"), reason="no kernels are compiled here")
MiB = 2**20


@pytest.fixture(autouse=True)
def empty_pool():
    gc.collect()
    wengert.empty_cache()
    yield
    wengert.empty_cache()


def new(mib: float) -> np.ndarray:
    return native.new_array((int(mib * MiB) // 4,), np.dtype(np.float32))


def address(array: np.ndarray) -> int:
    return array.ctypes.data


def test_memory_is_used_again():
    first = new(8)
    place = address(first)
    del first
    assert address(new(8)) == place


def test_small_arrays_are_ordinary():
    assert new(0.01).flags.owndata
    assert not new(8).flags.owndata


def test_memory_that_is_looked_into_is_not_used_again():
    first = new(8)
    first[:] = 7
    view = first[1000:].reshape(-1, 8)
    place = address(first)
    del first
    second = new(8)
    assert address(second) != place
    second[:] = 0
    assert (view == 7).all()
    del view
    assert address(new(8)) == place


def test_results_belong_to_the_user_for_ever():
    x = wengert.ones(3 * MiB // 4, requires_grad=True)
    kept = [wengert.softmax(x * i, 0).detach().numpy() for i in range(4)]
    copies = [a.copy() for a in kept]
    for i in range(8):
        (wengert.softmax(x * i, 0) * 3).sum().backward()
    for array, copy in zip(kept, copies, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_sizes_are_rounded_up_by_an_eighth_at_most():
    for size in (MiB, MiB + 4, 5 * MiB // 3 // 4 * 4, 33 * MiB, 63 * MiB + 12):
        before = wengert.memory_stats()["allocated_bytes.all.current"]
        array = new(size / MiB)
        taken = wengert.memory_stats()["allocated_bytes.all.current"] - before
        assert size <= taken <= size * 9 // 8 + 4
        del array


def test_statistics_count():
    start = wengert.memory_stats()
    assert start["reserved_bytes.all.current"] == start["allocated_bytes.all.current"]
    first, second = new(8), new(8)
    del first
    now = wengert.memory_stats()
    assert now["allocated_bytes.all.current"] - start["allocated_bytes.all.current"] == 8 * MiB
    assert now["reserved_bytes.all.current"] - start["reserved_bytes.all.current"] == 16 * MiB
    assert now["num_misses"] - start["num_misses"] == 2
    third = new(8)
    assert wengert.memory_stats()["num_hits"] - start["num_hits"] == 1
    del second, third
    wengert.empty_cache()
    now = wengert.memory_stats()
    assert now["reserved_bytes.all.current"] == start["reserved_bytes.all.current"]
    assert now["num_released"] - start["num_released"] == 2
    wengert.reset_peak_memory_stats()
    assert wengert.memory_stats()["reserved_bytes.all.peak"] == now["reserved_bytes.all.current"]


def test_large_blocks_start_on_huge_pages_and_at_different_colours():
    arrays = [new(8) for _ in range(8)]
    offsets = [address(a) % (2 * MiB) for a in arrays]
    assert all(offset < 4096 and offset % 64 == 0 for offset in offsets)
    assert len(set(offsets)) == 8


def test_idle_memory_is_limited_and_the_oldest_block_goes_first():
    program = """
import numpy as np, wengert
from wengert.kernels import native
new = lambda mib: native.new_array((mib << 18,), np.dtype(np.float32))
a, b, c = new(8), new(10), new(12)
oldest, newest = a.ctypes.data, c.ctypes.data
del a, b, c
stats = wengert.memory_stats()
assert stats["limit_bytes"] == 25 << 20
assert stats["reserved_bytes.all.current"] == 22 << 20, stats
assert stats["num_released"] == 1
assert new(12).ctypes.data == newest and wengert.memory_stats()["num_hits"] == 1
new(4)
assert wengert.memory_stats()["num_misses"] == 4
"""
    environment = os.environ | {"WENGERT_POOL_LIMIT": str(25 << 20)}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True, timeout=600)


def run_alone(program):
    """Runs a program in a process of its own, whose pool is empty."""
    prelude = """
import numpy as np, wengert
from wengert.kernels import native
new = lambda mib: native.new_array((int(mib * 2**18),), np.dtype(np.float32))
stats = lambda name: wengert.memory_stats()[name]
"""
    subprocess.run([sys.executable, "-c", prelude + program], check=True, timeout=600)


def test_a_result_takes_a_larger_idle_block_up_to_twice_its_size():
    run_alone("""
a = new(16)
where = a.ctypes.data
del a
b = new(8)
assert b.ctypes.data == where and stats("num_hits") == 1 and stats("reserved_bytes.all.current") == 16 << 20
c, d = new(16), new(4)  # that block is taken; and none is idle
assert stats("num_misses") == 3
del b
e = new(9)
assert e.ctypes.data == where
del e
f = new(7.9)
assert f.ctypes.data == where
del f
g = new(3)
assert g.ctypes.data != where and stats("num_misses") == 4  # sixteen would be too much
""")


def test_the_system_gives_little_more_than_arrays_had_at_a_time():
    run_alone("""
for size in range(20, 200, 3):  # each too large for the blocks before it
    new(size)
assert stats("allocated_bytes.all.peak") == 208 << 20
assert stats("reserved_bytes.all.peak") <= (208 * 17 // 16 + 8) << 20
held = [new(20) for _ in range(9)]
assert stats("reserved_bytes.all.peak") <= (208 * 17 // 16 + 8) << 20
""")


def test_no_limit_keeps_nothing():
    program = """
import numpy as np, wengert
from wengert.kernels import native
native.new_array((1 << 21,), np.dtype(np.float32))
assert wengert.memory_stats()["reserved_bytes.all.current"] == 0
"""
    subprocess.run([sys.executable, "-c", program], env=os.environ | {"WENGERT_POOL_LIMIT": "0"}, check=True, timeout=600)


def test_shapes_and_dtypes():
    for shape, dtype in [((), "f4"), ((0, 5), "f4"), ((3, 0), "f8"), ((600, 700), "f8"), ((2, 300, 500), "c8"), ((10**6,), "?")]:
        array = native.new_array(shape, np.dtype(dtype))
        assert array.shape == shape and array.dtype == np.dtype(dtype)
        assert array.flags.c_contiguous and array.flags.writeable and array.flags.aligned
    with pytest.raises((ValueError, MemoryError)):
        native.new_array((2**62, 2**62), np.dtype("f4"))
    with pytest.raises(MemoryError):
        native.new_array((2**45,), np.dtype("f4"))


def test_arrays_pickle_and_trace():
    array = new(2)
    array[:] = 3
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(array)), array)
    import tracemalloc

    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        other = new(4)
        assert tracemalloc.get_traced_memory()[0] - before > 4 * MiB - 1000
        del other
        assert tracemalloc.get_traced_memory()[0] - before < 100_000
    finally:
        tracemalloc.stop()


def test_gradients_that_own_pooled_memory_are_told_from_views():
    """Adding into a gradient in place is right only where nobody else sees its memory."""
    x = wengert.ones(600, 600, requires_grad=True)
    out = wengert.softmax(x, 1)
    weights = wengert.rand(600, 600)
    (out * weights).sum().backward(retain_graph=True)
    first = x.grad.clone()
    held = x.grad.numpy()
    x.grad = None
    (out * weights).sum().backward(retain_graph=True)
    (out * weights).sum().backward()
    np.testing.assert_array_equal(held, first.numpy())
    np.testing.assert_allclose(x.grad.numpy(), 2 * first.numpy(), rtol=1e-6)


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_large_gradient_that_is_a_copy_lies_as_its_leaf(order):
    """No leaf owns the cotangent that an addition passes on: the second leaf gets a copy, and so does a caller of autograd.grad."""
    n = 300
    x = wengert.from_numpy(np.ones((n, n), order=order)).requires_grad_()
    y = wengert.from_numpy(np.ones((n, n), order=order)).requires_grad_()
    total = x + y
    given = np.arange(float(n * n)).reshape(n, n)
    before = wengert.memory_stats()
    total.backward(wengert.from_numpy(given), retain_graph=True)
    after = wengert.memory_stats()
    assert (after["num_hits"] + after["num_misses"] > before["num_hits"] + before["num_misses"]) == (order == "C")
    for grad in (x.grad.numpy(), y.grad.numpy(), *[g.numpy() for g in wengert.autograd.grad(total, [x, y], wengert.from_numpy(given))]):
        np.testing.assert_array_equal(grad, given)
        assert not np.shares_memory(grad, given)
    assert x.grad.numpy().strides == x.detach().numpy().strides



@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_forked_child_has_its_own_pool():
    kept = new(8)
    kept[:] = 1
    spare = new(8)
    del spare
    child = os.fork()
    if child == 0:
        mine = new(8)
        mine[:] = 2
        native.empty_cache()
        os._exit(0 if (kept == 1).all() and (mine == 2).all() else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert (kept == 1).all()


def test_threads_take_and_give_back_at_once():
    failures = []

    def loop(number: int) -> None:
        rng = np.random.default_rng(number)
        held = []
        for i in range(300):
            array = new(float(rng.uniform(1, 3)))
            array[0] = array[-1] = i
            held.append((array, i))
            if len(held) > 3:
                old, value = held.pop(int(rng.integers(4)))
                if not old[0] == old[-1] == value:
                    failures.append((number, value))

    threads = [threading.Thread(target=loop, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_limit_of_the_pool_is_a_number_of_bytes():
    """The limit is read once in a process, so each has a child of its own, forked before the first allocation of the pool."""
    limits = {"1e9": 10**9, "500000000": 500000000, "2.5e8": 250000000, "0": 0, "1e300": 2**62}
    program = """if True:
        import os, sys
        import wengert
        for value in sys.argv[1:]:
            child = os.fork()
            if child == 0:
                os.environ["WENGERT_POOL_LIMIT"] = value
                print(wengert.memory_stats()["limit_bytes"], flush=True)
                os._exit(0)
            os.waitpid(child, 0)
    """
    values = [*limits, "", "12 apples", "-5", "nan"]
    found = subprocess.run([sys.executable, "-c", program, *values], check=True, timeout=600, capture_output=True).stdout.split()
    assert [int(x) for x in found[: len(limits)]] == list(limits.values())
    assert len(set(found[len(limits) :])) == 1 and len(found) == len(values)  # the limit of a process that says nothing
