"""tests/conftest.py fails a test that leaves something behind, and only that test."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]

LEAKY = """
import numpy as np
import pytest
import wengert
from wengert import printing
from wengert.core import modes

def test_clean_1():
    with wengert.no_grad():
        pass

def test_leaks_grad_mode():
    wengert.set_grad_enabled(False)

def test_leaks_inference_mode():
    modes.set_flag(modes.INFERENCE, True)

def test_leaks_default_dtype():
    wengert.set_default_dtype(wengert.float64)

def test_leaks_print_options():
    wengert.set_printoptions(precision=2)

def test_leaks_quiet_state():
    modes.quiet_enter()
    modes.quiet_enter()

def test_leaks_numpy_errors():
    np.seterr(divide="raise")

def test_clean_2():
    assert wengert.is_grad_enabled() and wengert.get_default_dtype() is wengert.float32
    assert printing.get_printoptions()["precision"] == 4 and np.geterr()["divide"] == "warn"

def test_random_numbers_are_seeded():
    first = wengert.rand(3).tolist()
    wengert.manual_seed(0)
    assert wengert.rand(3).tolist() == first
"""


@pytest.mark.slow
def test_a_leak_fails_the_test_that_leaked(tmp_path):
    (tmp_path / "conftest.py").write_text((TESTS / "conftest.py").read_text())
    (tmp_path / "test_leaky.py").write_text(LEAKY)
    command = [sys.executable, "-m", "pytest", "-q", "-rE", "-p", "no:cacheprovider", "-c", "/dev/null", str(tmp_path)]
    output = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False).stdout
    blamed = {line.split("::")[1].split(" ")[0] for line in output.splitlines() if line.startswith("ERROR ")}
    expected = {"grad_mode", "inference_mode", "default_dtype", "print_options", "quiet_state", "numpy_errors"}
    assert blamed == {f"test_leaks_{what}" for what in expected}, output
    assert "9 passed, 6 errors" in output
