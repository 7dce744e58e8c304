"""The pool of threads: what wengert.set_num_threads sets, and that nothing hangs where pools of threads like to."""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import wengert
from wengert import errors
from wengert.kernels import native

needs_kernels = pytest.mark.skipif(native is None, reason="no kernels are compiled here")
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
ROWS = np.random.default_rng(0).normal(size=(600, 500)).astype(np.float32)


@pytest.fixture(autouse=True)
def two_threads():
    before = wengert.get_num_threads()
    wengert.set_num_threads(2)
    yield
    wengert.set_num_threads(before)


def work() -> float:
    """A softmax on all threads, seen to be right."""
    out = wengert.softmax(wengert.tensor(ROWS), 1).numpy()
    np.testing.assert_allclose(out.sum(axis=1), 1.0, rtol=1e-5)
    return float(out[3, 5])


def run(program: str, **environment: str) -> str:
    variables = {k: v for k, v in os.environ.items() if k not in ("WENGERT_NUM_THREADS", "OMP_NUM_THREADS")}
    found = subprocess.run(
        [sys.executable, "-c", program], env=variables | environment, capture_output=True, text=True, timeout=600
    )
    assert found.returncode == 0, found.stderr
    return found.stdout


def test_number_of_threads_is_kept():
    wengert.set_num_threads(3)
    assert wengert.get_num_threads() == 3


@pytest.mark.parametrize("name", ["set_num_threads", "set_num_interop_threads"])
def test_impossible_numbers_of_threads_are_refused(name):
    with pytest.raises(RuntimeError, match=f"^{name} expects a positive integer$"):
        getattr(wengert, name)(0)
    with pytest.raises(errors.ThreadsError, match=f"^{name} expects an int, but got float$"):
        getattr(wengert, name)(2.0)
    with pytest.raises(RuntimeError, match=f"^{name} expects an int, but got str$"):
        getattr(wengert, name)("2")


def test_interop_threads_are_told_as_set():
    wengert.set_num_interop_threads(3)
    assert wengert.get_num_interop_threads() == 3


@needs_kernels
def test_environment_decides_at_first():
    program = "import wengert; print(wengert.get_num_threads())"
    assert run(program, WENGERT_NUM_THREADS="3").strip() == "3"
    assert run(program, OMP_NUM_THREADS="5,2").strip() == "5"
    assert run(program, WENGERT_NUM_THREADS="3", OMP_NUM_THREADS="5").strip() == "3"
    assert run(program, WENGERT_NUM_THREADS="many").strip() == str(len(os.sched_getaffinity(0)))


@needs_kernels
def test_cores_that_the_process_may_use_decide_otherwise():
    program = "import os, wengert; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}); print(wengert.get_num_threads())"
    if not hasattr(os, "sched_setaffinity"):
        pytest.skip("no affinity on this system")
    assert run(program).strip() == "1"


@needs_kernels
def test_blas_and_threadpoolctl_share_the_setting():
    threadpoolctl = pytest.importorskip("threadpoolctl")
    wengert.set_num_threads(1)
    found = {pool["user_api"]: pool["num_threads"] for pool in threadpoolctl.threadpool_info()}
    assert found["wengert"] == 1
    assert found.get("blas", 1) == 1
    wengert.set_num_threads(2)
    with threadpoolctl.threadpool_limits(1):
        assert wengert.get_num_threads() == 1
    assert wengert.get_num_threads() == 2


def test_blas_is_told_without_threadpoolctl():
    program = """
import json, sys
sys.modules["threadpoolctl"] = None
import numpy, wengert
from wengert.threads import blas_threads
before = blas_threads()
wengert.set_num_threads(1)
print(json.dumps([before, blas_threads()]))
"""
    before, after = json.loads(run(program))
    if before is None:
        pytest.skip("NumPy's BLAS is no OpenBLAS here")
    assert after == 1


@needs_fork
def test_forked_child_computes():
    expected = work()
    for _ in range(5):
        child = os.fork()
        if child == 0:
            status = 1
            try:
                status = 0 if work() == expected else 2
            finally:
                os._exit(status)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@needs_fork
def test_fork_while_another_thread_computes():
    done = threading.Event()

    def busy() -> None:
        while not done.is_set():
            work()

    other = threading.Thread(target=busy)
    other.start()
    try:
        for _ in range(5):
            child = os.fork()
            if child == 0:
                # The kernels alone: Python's own locks may be held by the thread that is no more.
                os._exit(0 if native is None or native.softmax(False, 1, ROWS) is not None else 1)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        done.set()
        other.join()


@pytest.mark.slow
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_multiprocessing_pool_computes(method):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip("no such start method on this system")
    expected = np.asarray(wengert.softmax(wengert.tensor(ROWS), 1).sum(0))
    with multiprocessing.get_context(method).Pool(2) as pool:
        results = pool.map(_row_sums, range(4))
    for result in results:
        np.testing.assert_array_equal(result, expected)


def _row_sums(_: int) -> np.ndarray:
    return wengert.softmax(wengert.tensor(ROWS), 1).sum(0).numpy()


def test_several_python_threads_at_once():
    expected, found = work(), []

    def loop() -> None:
        found.extend(work() for _ in range(20))

    threads = [threading.Thread(target=loop) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 80


def test_process_ends_while_threads_wait_for_work():
    program = """
import wengert
wengert.set_num_threads(4)
x = wengert.ones(1000, 1000)
x.softmax(1)
print("last line")
"""
    assert run(program) == "last line\n"


def test_process_ends_while_a_daemon_thread_computes():
    program = """
import threading, time, wengert
x = wengert.ones(2000, 1000)
def loop():
    while True:
        x.softmax(1)
threading.Thread(target=loop, daemon=True).start()
time.sleep(0.2)
print("last line")
"""
    assert run(program) == "last line\n"


def test_parallel_info_names_the_settings_that_decide():
    from wengert import __config__

    text = __config__.parallel_info()
    assert f"wengert.get_num_threads() : {wengert.get_num_threads()}" in text
    assert "WENGERT_NUM_THREADS" in text and "OMP_NUM_THREADS" in text
    assert __config__.info()["threads"] == wengert.get_num_threads()


@needs_kernels
@pytest.mark.parametrize(("groups", "files", "expected"), [
    ("0::/a/b\n", {"a/b/cpu.max": "150000 100000", "a/b/memory.max": "max", "a/memory.max": "1000000"}, (2, 1000000)),
    ("0::/a\n", {"cpu.max": "max 100000", "memory.max": "4096"}, (None, 4096)),  # as in a container: only the root is there
    (
        "4:memory:/m\n3:cpu,cpuacct:/c/d\n2:pids:/\n",
        {
            "memory/m/memory.limit_in_bytes": "9223372036854771712", "memory/memory.limit_in_bytes": "2000",
            "cpu,cpuacct/c/cpu.cfs_quota_us": "300000", "cpu,cpuacct/c/cpu.cfs_period_us": "100000",
            "cpu,cpuacct/c/d/cpu.cfs_quota_us": "-1", "cpu,cpuacct/c/d/cpu.cfs_period_us": "100000",
        },
        (3, 2000),
    ),
    ("0::/a\n", {"a/cpu.max": "1000 100000"}, (1, None)),
    ("0::/a\n", {"a/cpu.max": "", "a/memory.max": "none"}, (None, None)),
    ("", {}, (None, None)),
])  # fmt: skip
def test_limits_of_control_groups(tmp_path, groups, files, expected):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text + "\n")
    (tmp_path / "groups").write_text(groups)
    assert native.group_limits(str(tmp_path), str(tmp_path / "groups")) == expected
    assert native.group_limits(str(tmp_path), str(tmp_path / "absent")) == (None, None)


def test_blas_gets_no_more_threads_than_there_are_cores():
    program = (
        "import os, wengert\n"
        "os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
        "wengert.set_num_threads(8)\n"
        "from wengert.threads import blas_threads\n"
        "assert wengert.get_num_threads() == 8\n"
        "assert blas_threads() in (1, None), blas_threads()\n"
    )
    if not hasattr(os, "sched_setaffinity"):
        pytest.skip("this system does not bind processes to cores")
    subprocess.run([sys.executable, "-c", program], check=True, timeout=600)
