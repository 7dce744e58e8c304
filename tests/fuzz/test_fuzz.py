"""Each fuzzer makes a fixed number of calls in a child process: none crashes, hangs or ends in an error from inside."""

from __future__ import annotations

import importlib
from importlib.util import find_spec

import pytest

import fuzz
from fuzz import _batches

EXHAUSTIVE = 2  # times as many calls as in `make test`


def check(name: str, first_seed: int, batches: int) -> None:
    """Run batches of a fuzzer, and fail with the first finding."""
    if getattr(importlib.import_module(f"fuzz.{name}"), "needs_torch", False) and find_spec("torch") is None:
        pytest.skip("torch is not installed: `make oracle`")
    calls = max(1, _batches.calls_of(name) // _batches.PER_BATCH)
    done = _batches.run_child(name, first_seed, batches, calls)
    assert not done.findings, _batches.narrow(done.findings[0]).report()
    assert done.calls == batches * calls


@pytest.mark.slow
@pytest.mark.parametrize("name", fuzz.names())
def test_fuzzer_finds_nothing(name):
    check(name, 0, _batches.PER_BATCH)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", fuzz.names())
def test_fuzzer_finds_nothing_in_many_calls(name):
    check(name, 1000, EXHAUSTIVE * _batches.PER_BATCH)


# The frame itself: each kind of failure is found, and narrowed to its call.

FAILING = """
import os, signal, time

def run(seed, calls):
    for call in range(calls):
        if seed == 3 and call == 6:
            {failure}
"""


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        ("raise AssertionError(f'seed {seed}, call {call}')", "AssertionError"),
        ("raise SystemExit", "SystemExit"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", "SIGSEGV"),
        ("time.sleep(60)", "hang"),
    ],
)
def test_a_failure_is_found_and_narrowed_to_its_call(tmp_path, monkeypatch, failure, kind):
    (tmp_path / "fuzz").mkdir()
    (tmp_path / "fuzz" / "failing.py").write_text(FAILING.format(failure=failure))
    child = f"import fuzz; fuzz.__path__.append({str(tmp_path / 'fuzz')!r}); from fuzz import _batches; _batches.LIMIT = 0.5; _batches.main()"
    monkeypatch.setattr(_batches, "CHILD", ["-c", child])
    done = _batches.run_child("failing", 1, 5, 10)
    assert [(f.kind, f.seed) for f in done.findings] == [(kind, 3)]
    assert _batches.narrow(done.findings[0]).calls == (10 if kind == "AssertionError" else 7)
    assert done.next_seed == 4
    assert done.calls == (20 if kind in ("SIGSEGV", "hang") else 30)
