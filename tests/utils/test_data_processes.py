"""Worker processes of a DataLoader: they die, hang, are interrupted or forgotten, and leave nothing behind."""

from __future__ import annotations

import gc
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
import weakref
from multiprocessing import resource_tracker
from pathlib import Path

import numpy as np
import pytest

import wengert
from wengert.utils.data import DataLoader, Dataset, TensorDataset

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="the tests look at processes as POSIX systems do"),
]
LIMIT = 60  # seconds, far more than any of the programs takes


@pytest.fixture(autouse=True)
def _time_limit():
    def stop(*_):
        raise TimeoutError("the test hangs")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(LIMIT)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(autouse=True)
def _few_processors_do_not_warn(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(64)), raising=False)


@pytest.fixture(autouse=True)
def _leaves_no_process_and_no_file():
    gc.collect()
    resource_tracker.ensure_running()  # has an open file
    before = open_files()
    yield
    gc.collect()
    assert multiprocessing.active_children() == []
    assert open_files() <= before


def open_files() -> int:
    return len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0


class Acting(Dataset):
    """Sample 2 is what act() returns; the others are their indices."""

    def __init__(self, act):
        self.act = act

    def __len__(self):
        return 8

    def __getitem__(self, i):
        return self.act() if i == 2 else i


def die(number):
    return lambda: os.kill(os.getpid(), number) or time.sleep(LIMIT)


@pytest.mark.parametrize(
    ("act", "reason"),
    [
        (lambda: os._exit(3), "exited unexpectedly with exit code 3. Details are lost due to multiprocessing. Rerunning with num_workers=0"),
        (lambda: os._exit(0), "exited unexpectedly with exit code 0"),
        (lambda: sys.exit(4), "exited unexpectedly with exit code 4"),
        (die(signal.SIGKILL), "is killed by signal: Killed. "),
        (die(signal.SIGSEGV), "is killed by signal: Segmentation fault. "),
        (die(signal.SIGTERM), "is killed by signal: Terminated. "),
    ],
    ids=["exit-3", "exit-0", "sys-exit", "kill", "segmentation-fault", "terminate"],
)
@pytest.mark.parametrize("workers", [1, 2])
def test_a_worker_that_dies_is_an_error(act, reason, workers):
    begin = time.monotonic()
    with pytest.raises(RuntimeError, match=r"^DataLoader worker \(pid\(s\) \d+\) exited unexpectedly$") as caught:
        list(DataLoader(Acting(act), num_workers=workers))
    assert reason in str(caught.value.__cause__)
    assert time.monotonic() - begin < LIMIT / 2


def test_a_loader_whose_workers_died_starts_new_ones():
    flag = [os.getpid()]
    loader = DataLoader(Acting(lambda: os._exit(1)), num_workers=1, persistent_workers=True, collate_fn=list)
    with pytest.raises(RuntimeError, match="exited unexpectedly"):
        list(loader)
    loader.dataset.act = lambda: flag
    assert [x[0] for x in loader] == [0, 1, flag, 3, 4, 5, 6, 7]


def test_a_killed_worker_is_noticed_between_batches():
    iterator = iter(DataLoader(range(100), num_workers=1, prefetch_factor=1))
    next(iterator)
    os.kill(iterator._workers[0].pid, signal.SIGKILL)
    with pytest.raises(RuntimeError, match="exited unexpectedly"):
        list(iterator)
    assert next(iterator, "end") == "end"


def test_timeout():
    begin = time.monotonic()
    iterator = iter(DataLoader(Acting(lambda: time.sleep(1.5) or 2), num_workers=1, timeout=0.5))
    found = []
    while len(found) < 8:
        try:
            found += next(iterator).tolist()
        except RuntimeError as error:
            assert str(error) == "DataLoader timed out after 0.5 seconds"
            found.append("late") if "late" not in found else None
    assert found == [0, 1, "late", 2, 3, 4, 5, 6]  # the pass goes on after a late batch
    assert time.monotonic() - begin < LIMIT / 2


def test_a_busy_worker_is_killed_when_nobody_waits_for_it():
    iterator = iter(DataLoader(Acting(lambda: time.sleep(10 * LIMIT)), num_workers=2))
    next(iterator)
    workers = iterator._workers
    del iterator
    gc.collect()
    assert not any(worker.is_alive() for worker in workers)


@pytest.mark.parametrize("persistent", [False, True])
def test_a_loop_that_is_left_ends_its_workers(persistent):
    def loop():
        for _ in DataLoader(range(1000), num_workers=2, persistent_workers=persistent):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        loop()
    gc.collect()
    assert multiprocessing.active_children() == []


def test_an_iterator_is_freed_without_the_collector():
    iterator = iter(DataLoader(range(8), num_workers=1))
    next(iterator)
    reference = weakref.ref(iterator)
    gc.disable()
    try:
        del iterator
        assert reference() is None
    finally:
        gc.enable()


class Unpicklable:
    def __reduce__(self):
        raise TypeError("not for pickle")


def test_a_batch_that_cannot_be_pickled_is_an_error():
    with pytest.raises(TypeError, match="not for pickle"):
        list(DataLoader(Acting(Unpicklable), num_workers=1, collate_fn=list))


def test_an_error_of_a_local_class_has_its_traceback():
    class LocalError(Exception):
        pass

    def act():
        raise LocalError("in the worker")

    with pytest.raises(RuntimeError, match="LocalError: in the worker"):
        list(DataLoader(Acting(act), num_workers=1))


def test_init_function_fails():
    def init(worker):
        raise ValueError(f"worker {worker}")

    with pytest.raises(ValueError, match=r"^Caught ValueError in DataLoader worker process 0.\nOriginal Traceback(.|\n)*worker 0"):
        list(DataLoader(range(4), num_workers=2, worker_init_fn=init))


# -- large batches -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [1, 2])
def test_large_batches_arrive_as_they_were(workers):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((12, 300, 70)).astype(np.float32)
    data = TensorDataset(wengert.from_numpy(x), wengert.arange(12), wengert.from_numpy(x[:, :, 0].copy()).to(wengert.bfloat16))
    batches = list(DataLoader(data, batch_size=5, num_workers=workers))
    assert np.array_equal(np.concatenate([a.numpy() for a, *_ in batches]), x)
    assert [b.tolist() for _, b, _ in batches] == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9], [10, 11]]
    assert wengert.equal(wengert.cat([c for *_, c in batches]), data.tensors[2])
    for a, *_ in batches:
        assert a._array.flags.writeable and a._array.flags.aligned
        a.zero_()


def test_batches_are_kept_as_they_were_made():
    """A data set may write its next sample into the same array."""

    class Reused(Dataset):
        def __init__(self):
            self.array = np.zeros(50000)

        def __len__(self):
            return 8

        def __getitem__(self, i):
            self.array[:] = i
            return self.array

    assert [int(x[-1]) for x in DataLoader(Reused(), None, num_workers=1, prefetch_factor=8)] == list(range(8))


def test_indices_and_batches_beyond_the_size_of_a_pipe():
    loader = DataLoader(range(10**5), batch_size=30000, num_workers=1, prefetch_factor=8, collate_fn=list)
    assert [len(b) for b in loader] == [30000, 30000, 30000, 10000]


# -- ways to start -----------------------------------------------------------------------------------------------------


STARTS = """
import json, multiprocessing, sys
import numpy as np
import wengert
from wengert.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info

class Numbers(Dataset):
    def __len__(self):
        return 6

    def __getitem__(self, i):
        return np.full(20000, i), get_worker_info().id, float(wengert.rand(()))

class Count(IterableDataset):
    def __iter__(self):
        info = get_worker_info()
        return iter(range(info.id, 7, info.num_workers))

if __name__ == "__main__":
    method, found = sys.argv[1], []
    for context in (method, multiprocessing.get_context(method)):
        wengert.manual_seed(1)
        loader = DataLoader(Numbers(), num_workers=2, multiprocessing_context=context)
        found.append([(x[0, -1].item(), w.item(), r.item()) for x, w, r in loader])
    found.append(sorted(DataLoader(Count(), None, num_workers=2, multiprocessing_context=method)))
    print(json.dumps(found))
"""


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_ways_to_start_workers(method, tmp_path):
    path = tmp_path / "program.py"
    path.write_text(STARTS)
    done = subprocess.run([sys.executable, str(path), method], capture_output=True, text=True, timeout=LIMIT)
    assert done.stderr == ""
    first, second, counted = json.loads(done.stdout)
    assert first == second
    assert [(x, w) for x, w, _ in first] == [(0, 0), (1, 1), (2, 0), (3, 1), (4, 0), (5, 1)]
    assert counted == list(range(7))


def test_a_lambda_cannot_be_sent_to_a_spawned_worker():
    with pytest.raises((AttributeError, TypeError), match="pickle"), pytest.warns(UserWarning, match="Got pickle error when attempting"):
        iter(DataLoader(range(3), num_workers=2, multiprocessing_context="spawn", collate_fn=lambda x: x))


def test_a_loader_in_a_thread():
    from concurrent.futures import ThreadPoolExecutor

    def total(n):
        return sum(int(x) for x in DataLoader(range(n), None, num_workers=1))

    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(total, [5, 6, 7])) == [10, 15, 21]


# -- ends of the main process ------------------------------------------------------------------------------------------

# A shell lets its background jobs ignore interrupts, and children inherit this: the handler is set anew.
PROGRAM = """
import os, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
import wengert
from wengert.utils.data import DataLoader

class Slow:
    def __len__(self):
        return 1000
    def __getitem__(self, i):
        time.sleep(0.01)
        return i

loader = DataLoader(Slow(), num_workers=2, persistent_workers={persistent})
iterator = iter(loader)
next(iterator)
print(*[worker.pid for worker in iterator._workers], flush=True)
{end}
"""
ENDS = {
    "exit": "",
    "exception": "raise ValueError('main')",
    "sys-exit": "sys.exit(3)",
    "os-exit": "os._exit(3)",
    "kill": "os.kill(os.getpid(), signal.SIGKILL)",
    "terminate": "os.kill(os.getpid(), signal.SIGTERM)",
    "interrupt": "os.killpg(0, signal.SIGINT)\ntime.sleep(60)",
    "interrupt in the loop": "signal.setitimer(signal.ITIMER_REAL, 0.3)\n"
    "signal.signal(signal.SIGALRM, lambda *_: os.killpg(0, signal.SIGINT))\nfor _ in iterator: pass",
}


@pytest.mark.parametrize("persistent", [False, True])
@pytest.mark.parametrize("end", ENDS)
def test_no_orphans(end, persistent):
    program = PROGRAM.format(end=ENDS[end], persistent=persistent)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=LIMIT, start_new_session=True)
    workers = [int(pid) for pid in done.stdout.split()]
    assert len(workers) == 2
    deadline = time.monotonic() + 20  # a worker looks for the main process each five seconds
    while any(is_alive(pid) for pid in workers):
        assert time.monotonic() < deadline, f"a worker lives on: {done.stderr}"
        time.sleep(0.05)
    last = {"exception": "ValueError: main", "interrupt": "KeyboardInterrupt", "interrupt in the loop": "KeyboardInterrupt"}
    assert done.stderr.strip().split("\n")[-1] == last.get(end, "")
    assert done.stderr.count("Traceback") == (end in last)


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")
    try:
        return not state.exists() or state.read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
