"""Fixtures of every test: a test leaves the process as it found it, and random numbers are the same in each run."""

from __future__ import annotations

import contextvars
import gc
import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import wengert
from wengert import dtypes, printing
from wengert.core import modes

# Compiled, quiet_enter enters an empty contextvars.Context: there this variable has no value.
_outside_of_kernels = contextvars.ContextVar("_outside_of_kernels", default=False)
_outside_of_kernels.set(True)


def is_quiet() -> bool:
    """Whether a quiet_enter of this thread waits for its quiet_exit."""
    return modes.state.quiet_depth > 0 or not _outside_of_kernels.get()


def process_state() -> dict[str, Any]:
    """Return the settings of the process that a test could change for later tests."""
    return {
        "grad mode and inference mode (flags of wengert.core.modes)": modes.flags(),
        "hooks on saved tensors": (*modes.state.saved_hooks, modes.state.saved_hooks_refused, modes.state.mutation),
        "open dual levels": (modes.state.dual_levels, modes.state.saved_levels),
        "default dtype": dtypes.get_default_dtype(),
        "print options": printing.get_printoptions(),
        "an unpaired quiet_enter": is_quiet(),
        "NumPy's floating-point warnings": np.geterr(),
    }


def restore(state: dict[str, Any]) -> None:
    """Restore the settings, so that no test fails because an earlier test changed them."""
    flags, saved, levels, dtype, options, _, numpy_errors = state.values()
    modes.set_flags(flags)
    *modes.state.saved_hooks, modes.state.saved_hooks_refused, modes.state.mutation = saved
    modes.state.dual_levels, modes.state.saved_levels = levels
    dtypes.set_default_dtype(dtype)
    printing.set_printoptions(**options)
    while is_quiet():
        modes.quiet_exit()
    np.seterr(**numpy_errors)


def leaks(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """One line for each thing that differs."""
    return [f"{what}: was {before[what]}, is {after[what]}" for what in before if before[what] != after[what]]


@pytest.fixture(autouse=True)
def _leaves_no_trace() -> Iterator[None]:
    _outside_of_kernels.set(True)
    before = process_state()
    yield
    found = leaks(before, process_state())
    if found:
        restore(before)
        pytest.fail("the test changed the state of the process and did not restore it:\n  " + "\n  ".join(found))


@pytest.fixture(autouse=True, scope="module")
def _frozen() -> None:
    """Set aside what earlier modules have loaded and kept, so that collections that a test asks for are quick."""
    gc.collect(1)
    gc.freeze()


@pytest.fixture(autouse=True)
def _seeded() -> None:
    wengert.manual_seed(0)


def _load_hypothesis_profile() -> None:
    """HYPOTHESIS_PROFILE=ci or dev; CI=1 means ci: more examples, and the same ones in each run."""
    try:
        from hypothesis import settings
    except ImportError:
        return
    settings.register_profile("ci", max_examples=200, deadline=None, derandomize=True, print_blob=True)
    settings.register_profile("dev", max_examples=25, deadline=None)
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "dev"))


_load_hypothesis_profile()


def pytest_collectstart() -> None:
    """Load the test modules without the garbage collector, which would look at all that was loaded before again and again."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Set the test items aside. With them a full collection takes a tenth of a second, and many tests ask for one."""
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the deliberate differences from torch that tests/parity/test_ops.py reports."""
    reports = [r for outcome in ("passed", "failed") for r in terminalreporter.stats.get(outcome, [])]
    properties = [p for report in reports for p in getattr(report, "user_properties", [])]
    known = sorted({text for name, text in properties if name == "differs from torch"})
    if known:
        terminalreporter.section("operations that differ from torch, and why")
        for text in known:
            terminalreporter.line(text)
