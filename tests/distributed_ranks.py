"""Runs programs on several ranks: mpirun, one function of a file as the program of each rank."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

LIMIT = 120  # seconds after which a program counts as hanging


def launcher() -> str:
    """The path of mpirun. Skips the test if mpi4py or an MPI library is not installed."""
    pytest.importorskip("mpi4py", reason="needs mpi4py: pip install 'wengert[mpi]'")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    found = shutil.which("mpirun", path=path)
    if found is None:
        pytest.skip("needs mpirun: pip install 'wengert[mpi]', or MPICH or Open MPI")
    return found


def launch(file: Path, program: str, ranks: int, *arguments: str, survive: bool = False) -> subprocess.CompletedProcess[str]:
    """Run `python file program` on some ranks. survive: hide the end of a rank from mpirun, which would kill the others."""
    command = [sys.executable, "-W", "error", str(file), program, *arguments]
    if survive:
        command = ["sh", "-c", '"$@"; status=$?; [ $status -le 128 ] || sleep 60; exit $status', "sh", *command]
    environment = os.environ | {
        "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
        "WENGERT_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
    }  # fmt: skip
    return subprocess.run(
        [launcher(), "-n", str(ranks), *command], capture_output=True, text=True, timeout=LIMIT, env=environment, check=False
    )


def passes(file: Path, program: str, ranks: int, *arguments: str) -> str:
    """Run a program that asserts what it claims, and return what it prints."""
    result = launch(file, program, ranks, *arguments)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout
