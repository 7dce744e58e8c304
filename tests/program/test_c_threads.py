"""C functions whose long loops the threads of the kernels share."""

from __future__ import annotations

import os
import shutil
import threading
from typing import Any

import numpy as np
import pytest

import wengert as torch
from thread_counts import threads
from wengert.kernels import native
from wengert.program import compiled as compiled_module
from wengert.program.c_code import PARALLEL

pytestmark = [
    pytest.mark.skipif(not any(map(shutil.which, ("cc", "gcc", "clang"))), reason="needs a C compiler"),
    pytest.mark.skipif(native is None, reason="needs compiled kernels, whose threads these are"),
]


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def uniform(*shape: int, seed: int = 0) -> Any:
    return torch.tensor(np.random.default_rng(seed).uniform(-1, 1, shape))


def formula(x, y):
    z = torch.exp(x) * y - y.tanh()
    return z, (z * y).sum(1), torch.softmax(x * y, 1), (x - y).t() * 2.0, x[::2, 1:] + y[::2, 1:]


def text(made: Any) -> str:
    found = [x.function.source.body for x in made.recordings[0].executable.instructions if x.kind == "c"]
    return "\n".join(found)


def test_results_are_the_same_for_any_number_of_threads():
    made = torch.compile(formula, backend="c", fullgraph=True)
    arguments = uniform(700, 300), uniform(700, 300, seed=1)
    made(*arguments)  # the recorded run is one of eager calls
    found = []
    for n in (1, 2, 5):
        with threads(n):
            found.append([x.numpy().copy() for x in made(*arguments)])
    assert PARALLEL in text(made)
    for results in found:
        for x, y, z in zip(found[0], results, formula(*arguments), strict=True):
            np.testing.assert_array_equal(y, x)
            np.testing.assert_allclose(y, z.numpy(), rtol=1e-12)


def test_short_loops_and_exported_sources_have_no_threads(tmp_path):
    made = torch.compile(formula, backend="c", fullgraph=True)
    made(uniform(10, 10), uniform(10, 10, seed=1))
    assert PARALLEL not in text(made)
    large = torch.compile(lambda x, y: (x * y - x).exp(), fullgraph=True)
    large(uniform(700, 300), uniform(700, 300))
    large.to_c(tmp_path / "large")
    assert PARALLEL not in (tmp_path / "large.c").read_text()


def test_writes_in_place_into_parts_of_arrays():
    def step(x, y):
        x.mul_(y)
        x[:, 3].add_(1.0)
        x[::2].sub_(y[::2])
        return x + 0

    with threads(3):
        made = torch.compile(step, backend="c", fullgraph=True)
        for _ in range(3):
            x, y = uniform(700, 300), uniform(700, 300, seed=1)
            expected, found = x.clone(), x.clone()
            step(expected, y)
            result = made(found, y)
            np.testing.assert_array_equal(found.numpy(), expected.numpy())
            np.testing.assert_array_equal(result.numpy(), expected.numpy())


def test_several_python_threads_call_functions_with_threads():
    arguments = uniform(700, 300), uniform(700, 300, seed=1)
    expected = formula(*arguments)
    found: list[Any] = []

    def work(made):
        found.extend([made(*arguments) for _ in range(5)])

    with threads(2):
        workers = [threading.Thread(target=work, args=(torch.compile(formula, backend="c"),)) for _ in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    assert len(found) == 20
    for results in found:
        for x, y in zip(expected, results, strict=True):
            np.testing.assert_allclose(y.numpy(), x.numpy(), rtol=1e-12)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_child_runs_them():
    arguments = uniform(700, 300), uniform(700, 300, seed=1)
    with threads(3):
        made = torch.compile(formula, backend="c", fullgraph=True)
        made(*arguments)
        expected = made(*arguments)[0].numpy().copy()
        child = os.fork()
        if child == 0:
            status = 1
            try:
                status = 0 if np.array_equal(made(*arguments)[0].numpy(), expected) else 2
            finally:
                os._exit(status)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_auto_takes_large_arrays_whose_loops_threads_share(monkeypatch):
    monkeypatch.setattr(compiled_module, "RUNS_BEFORE_C", 3)
    monkeypatch.setattr(compiled_module, "_BETWEEN_LOOKS", 1)

    def run(x):
        for _ in range(10):
            x = x.tanh() * 1.5 - 0.1
        return x

    with threads(2):
        made = torch.compile(run)
        x = uniform(300, 300)
        recording = None
        for _ in range(10_000):
            made(x)
            recording = made.recordings[0]
            if recording.runs > 3 and not recording.next_look:
                break
        assert recording is not None
        assert "c" in {y.kind for y in recording.executable.instructions}
        np.testing.assert_array_equal(made(x).numpy(), run(x).numpy())
