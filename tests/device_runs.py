"""Runs test files again on a device, with the plugin of device_by_default.py, and compares the failures with a list of reasons."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent
OF_DEVICES = ("amp/test_autocast_on_devices.py", "autograd/test_profiler_device.py")  # these make the CPU the usual device again


def outcomes(files: list[str], *options: str) -> dict[str, str]:
    """Return "PASSED", "FAILED" or "ERROR" for each test of the files, run on the device. The names begin with those of the files."""
    command = [sys.executable, "-m", "pytest", "-p", "device_by_default", "-p", "no:cacheprovider", "-q", "-rA", "--tb=no", *options, *files]
    command += [f"--ignore={file}" for file in OF_DEVICES]
    given = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    path = os.pathsep.join([str(TESTS), *[os.path.abspath(folder) for folder in given]])
    done = subprocess.run(
        command, cwd=TESTS, env={**os.environ, "PYTHONPATH": path, "PYTEST_XDIST_WORKER": ""}, capture_output=True, text=True, timeout=600
    )
    lines = re.findall(r"^(PASSED|FAILED|ERROR) (?:\S*?/)?(test_\w+\.py::.*?)(?: - .*)?$", done.stdout, flags=re.MULTILINE)
    assert lines, done.stdout + done.stderr
    return {name: outcome for outcome, name in lines}


def check(files: list[str], reasons: dict[str, str], *options: str) -> int:
    """Hold the failures against the lists of names of each reason, and return how many tests pass.

    A name without parameters stands for a test with all of its parameters. A name of which nothing fails is wrong, too."""
    found = outcomes(files, *options)
    failed = {name for name, outcome in found.items() if outcome != "PASSED"}
    listed = {name for names in reasons.values() for name in re.split(r"\n\s*", names.strip())}
    covered = {name for name in failed if name in listed or name.partition("[")[0] in listed}
    unlisted, held = failed - covered, listed - covered - {name.partition("[")[0] for name in covered}
    assert not unlisted, "\n".join(["these fail on a device:", *sorted(unlisted)])
    assert not held, "\n".join(["these hold by now, take them from the list:", *sorted(held)])
    return len(found) - len(failed)
