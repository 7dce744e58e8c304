"""What starts the programs of several ranks, for the tests: a hang is reported and leaves nothing behind."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from distributed_ranks import launch, launcher

PROGRAMS = Path(__file__).parent / "programs.py"
HANGS_ONCE = """
marker=$1; shift
[ -e "$marker" ] && exec "$@"
touch "$marker"
exec sleep 1000
"""

pytestmark = pytest.mark.slow


def processes_with(text: str) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if text.encode() in path.read_bytes():
                found.append(path.parent.name)
        except OSError:  # over by now
            pass
    return found


def is_left(text: str) -> bool:
    """Whether processes with a text in their command live on. Those that have been killed are given time to end."""
    end = time.monotonic() + 30
    while processes_with(text) and time.monotonic() < end:
        time.sleep(0.05)
    return bool(processes_with(text))


def test_a_program_that_hangs_says_where_and_is_not_started_again():
    result = launch(PROGRAMS, "hangs", 2, "a-hang", limit=20)
    assert result.returncode and result.stderr.count("in hangs") == 2, result.stderr
    assert "Ranks that had started MPI: 0, 1." in result.stderr and "started again" not in result.stderr
    assert not is_left("a-hang")


def test_a_launcher_that_hangs_is_started_once_more(tmp_path):
    mpirun = ("sh", "-c", HANGS_ONCE, "sh", str(tmp_path / "marker"), launcher())
    result = launch(PROGRAMS, "different_calls", 2, limit=20, mpirun=mpirun)
    assert result.returncode == 0 and result.stdout.count("passed") == 2, result.stderr
    assert "No rank had started MPI, so the program was started again" in result.stderr
    assert not is_left(str(tmp_path))


def test_a_launcher_that_always_hangs_fails():
    result = launch(PROGRAMS, "different_calls", 2, limit=1, mpirun=("sh", "-c", "exec sleep 1000"))
    assert result.returncode and result.stderr.count("The program was killed after 1 seconds. Ranks that had started MPI: none.") == 2
