"""The documents on a device: tests of this folder run again with the stand-in's arrays, where `cuda` is the usual device.

Each claim holds there, too, but for a list with reasons. A claim of the list that holds by now fails."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import device_library

TESTS = Path(__file__).resolve().parents[1]
FILES = [f"documents/test_{name}.py" for name in ("s0", "s1", "s2", "s3", "s4", "semantics", "pages")]
REASONS = {
    "The test or its program asks for a NumPy array of a tensor, or gives one, which a tensor on a GPU refuses or copies.": """
        test_s1.py::test_backward_takes_a_tensor_or_a_sequence
        test_s1.py::test_exp_function
        test_semantics.py::test_table_row_holds[v = torch.complex(c, c).conj(); v.numpy()]
        test_pages.py::test_examples_of_pages_print_the_shown_output[functions.md-en]
        test_pages.py::test_examples_of_pages_print_the_shown_output[functions.md-zh]
        test_pages.py::test_examples_of_pages_print_the_shown_output[numpy.md-en]
        test_pages.py::test_examples_of_pages_print_the_shown_output[numpy.md-zh]
    """,
}
EXCEPTIONS = {name for names in REASONS.values() for name in re.split(r"\n\s*", names.strip())}


def outcomes(files: list[str]) -> dict[str, str]:
    """Return "PASSED" or "FAILED" for each test of the files, run on the device."""
    command = [sys.executable, "-m", "pytest", "-p", "device_by_default", "-p", "no:cacheprovider", "-q", "-rA", "--tb=no", *files]
    path = os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        command, cwd=TESTS, env={**os.environ, "PYTHONPATH": path, "PYTEST_XDIST_WORKER": ""}, capture_output=True, text=True, timeout=600
    )
    lines = re.findall(r"^(PASSED|FAILED|ERROR) \S*?/(test_\w+\.py::.*?)(?: - .*)?$", done.stdout, flags=re.MULTILINE)
    assert lines, done.stdout + done.stderr
    return {name: outcome for outcome, name in lines}


@pytest.mark.slow
@device_library.on_the_stand_in
def test_the_documents_hold_on_a_device():
    found = outcomes(FILES)
    failed = {name for name, outcome in found.items() if outcome != "PASSED"}
    assert failed - EXCEPTIONS == set(), "these fail on a device"
    assert EXCEPTIONS - failed == set(), "these hold by now: take them from the list"
    assert len(found) - len(failed) > 290
