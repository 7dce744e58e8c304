"""Ranks on two machines, which are namespaces of this one: other host names, networks and tables of hosts."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from distributed_ranks import launch, launcher

HERE = Path(__file__).parent
PROGRAMS = HERE / "programs.py"

pytestmark = pytest.mark.slow


@pytest.fixture
def mpirun(tmp_path):
    """The launcher of both machines. Skips the test where namespaces are missing, or MPI alone does not run on them."""
    path = launcher()
    if "HYDRA" not in subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout:
        pytest.skip("needs MPICH's mpirun, which takes a program in place of ssh")
    missing = [tool for tool in ("unshare", "nsenter", "ip") if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"needs {', '.join(missing)}, to make machines of namespaces")
    machines = ("sh", str(HERE / "two_machines.sh"), str(tmp_path))
    tried = launch(HERE / "barrier.py", "", 2, limit=60, mpirun=(*machines, path, *options(tmp_path)))
    if tried.returncode:
        pytest.skip(f"MPI does not run on machines of namespaces here: {tried.stderr.strip()}")
    return (*machines, path, *options(tmp_path))


def options(folder):
    """The options of mpirun for two machines."""
    return "-launcher", "ssh", "-launcher-exec", str(folder / "shell"), "-hosts", "node-a,node-b"


def test_ranks_on_two_machines_find_each_other(mpirun):
    result = launch(PROGRAMS, "machines,movements,messages,parallel_modules,slow_end", 2, mpirun=mpirun)
    assert result.returncode == 0, result.stdout + result.stderr


def test_the_environment_names_the_address(mpirun, monkeypatch):
    monkeypatch.setenv("MASTER_ADDR", "10.77.0.1")
    result = launch(PROGRAMS, "machines", 2, mpirun=mpirun)
    assert result.returncode == 0, result.stdout + result.stderr
    monkeypatch.setenv("MASTER_ADDR", "10.77.0.9")
    result = launch(PROGRAMS, "machines", 2, mpirun=mpirun)
    assert "DistNetworkError: init_process_group: rank 1 cannot connect to rank 0 at 10.77.0.9" in result.stderr


def test_ranks_on_the_other_machine_are_named_when_it_is_gone(mpirun):
    result = launch(PROGRAMS, "one_ends", 2, "raises", mpirun=mpirun)
    assert "rank 1 has ended with ArithmeticError: on purpose" in result.stderr, result.stderr
    result = launch(PROGRAMS, "loses_a_machine", 2, mpirun=mpirun)
    assert "on rank 0) cannot be finished: rank 1 has ended unexpectedly" in result.stderr, result.stderr
