"""Runs programs on several ranks: mpirun, one function of a file as the program of each rank.

Each rank is `python distributed_ranks.py FILE ...`, which starts MPI, notes so in a folder, and runs FILE as the main program. When the
time is over, the ranks are told to print where their threads are, and are killed. If none has started MPI by then, mpirun or the
start of MPI hangs, which is none of our code: the program is started once more.
"""

from __future__ import annotations

import faulthandler
import os
import runpy
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest

LIMIT = 120.0  # seconds after which a program counts as hanging
REPORTING = 2.0  # seconds for which the ranks can print where they are
FOLDER = "WENGERT_TEST_RANKS"  # environment variable: the folder of a run, by which its processes are known, too


def launcher() -> str:
    """The path of mpirun. Skips the test if mpi4py or an MPI library is not installed."""
    pytest.importorskip("mpi4py", reason="needs mpi4py: pip install 'wengert[mpi]'")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    found = shutil.which("mpirun", path=path)
    if found is None:
        pytest.skip("needs mpirun: pip install 'wengert[mpi]', or MPICH or Open MPI")
    return found


def launch(
    file: Path, program: str, ranks: int, *arguments: str, survive: bool = False, limit: float = LIMIT, mpirun: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    """Run `python file program` on some ranks. survive: hide the end of a rank from mpirun, which would kill the others.

    limit: seconds, after which nothing of the program is left. mpirun: the launcher, the installed one if empty."""
    command = [sys.executable, "-W", "error", __file__, str(file), program, *arguments]
    if survive:
        command = ["sh", "-c", '"$@"; status=$?; [ $status -le 128 ] || sleep 60; exit $status', "sh", *command]
    command = [*(mpirun or (launcher(),)), "-n", str(ranks), *command]
    result, can_repeat = _run(command, limit)
    if can_repeat:
        first = f"{result.stdout}{result.stderr}No rank had started MPI, so the program was started again. What it printed then:\n"
        result, _ = _run(command, limit)
        result.stderr = first + result.stderr
    return result


def _run(command: list[str], limit: float) -> tuple[subprocess.CompletedProcess[str], bool]:
    """Run a command, and kill what is left of it. Return its result, and whether it hung before a rank had started MPI."""
    is_late = False
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {
            "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
            "WENGERT_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", FOLDER: folder,
        }  # fmt: skip
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
            start_new_session=True,
        )  # fmt: skip
        try:
            out, err = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            is_late = True
            for note in Path(folder).iterdir():
                with suppress(ProcessLookupError):
                    os.kill(int(note.name), signal.SIGUSR1)
            with suppress(subprocess.TimeoutExpired):
                process.communicate(timeout=REPORTING)
            _kill(process, folder)
            out, err = process.communicate()
        finally:
            _kill(process, folder)
        started, memory = _read_notes(Path(folder))
    for path in memory:
        path.unlink(missing_ok=True)  # MPI leaves it behind when a rank dies
    if is_late:
        err += f"\nThe program was killed after {limit:g} seconds. Ranks that had started MPI: {', '.join(started) or 'none'}.\n"
    return subprocess.CompletedProcess(command, process.returncode, out, err), is_late and not started


def _read_notes(folder: Path) -> tuple[list[str], set[Path]]:
    """Return the ranks that have started MPI, and the files that are their shared memory. Each rank has a file named by its process."""
    lines = [note.read_text().splitlines() for note in folder.iterdir()]
    return sorted([line[0] for line in lines if line]), {Path(path) for line in lines for path in line[1:]}


def _kill(process: subprocess.Popen[str], folder: str) -> None:
    """Kill the group of mpirun, and the ranks, which are in groups of their own and known by their environment."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    mark = f"{FOLDER}={folder}\0".encode()
    for environment in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):  # of other users, or over by now
            if mark in environment.read_bytes():
                os.kill(int(environment.parent.name), signal.SIGKILL)


def passes(file: Path, program: str, ranks: int, *arguments: str) -> str:
    """Run a program that asserts what it claims, and return what it prints."""
    result = launch(file, program, ranks, *arguments)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def run_rank(file: str) -> None:
    """Run a file as the main program of a rank."""
    faulthandler.register(signal.SIGUSR1)  # prints where all threads are, whichever holds the interpreter's lock
    note = Path(os.environ[FOLDER], str(os.getpid()))
    note.touch()
    import mpi4py

    mpi4py.rc.finalize = False  # as wengert.distributed does when it starts MPI
    from mpi4py import MPI

    memory = Path("/proc/self/maps")
    paths = {line.split()[-1] for line in memory.read_text().splitlines()} if memory.exists() else set()
    note.write_text("\n".join([str(MPI.COMM_WORLD.Get_rank()), *[path for path in paths if path.startswith("/dev/shm/mpich_")]]))
    sys.path[0] = str(Path(file).parent)
    runpy.run_path(file, run_name="__main__")


if __name__ == "__main__":
    del sys.argv[0]
    run_rank(sys.argv[0])
