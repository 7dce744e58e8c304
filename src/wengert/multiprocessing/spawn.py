"""spawn and start_processes: run a function in several processes, and raise the first error of any."""

from __future__ import annotations

import multiprocessing
import signal
import sys
import warnings
from collections.abc import Callable
from multiprocessing.connection import wait
from typing import Any

__all__ = [
    "ProcessContext", "ProcessException", "ProcessExitedException", "ProcessRaisedException", "SpawnContext", "spawn",
    "start_processes",
]  # fmt: skip

_GRACE = 30.0  # seconds between SIGTERM and SIGKILL


class ProcessException(Exception):
    """A process has failed. error_index: its number among the processes; error_pid: its process id."""

    def __init__(self, msg: str, error_index: int, pid: int) -> None:
        super().__init__(msg)
        self.msg = msg
        self.error_index = error_index
        self.error_pid = pid

    @property
    def pid(self) -> int:
        """The process id."""
        return self.error_pid


class ProcessRaisedException(ProcessException):
    """The function has raised an error in a process. The message has the traceback."""

    def __init__(self, msg: str, error_index: int, error_pid: int) -> None:
        super().__init__(msg, error_index, error_pid)


class ProcessExitedException(ProcessException):
    """A process has ended with an exit code other than 0, or was killed by the signal signal_name."""

    def __init__(self, msg: str, error_index: int, error_pid: int, exit_code: int, signal_name: str | None = None) -> None:
        super().__init__(msg, error_index, error_pid)
        self.exit_code = exit_code
        self.signal_name = signal_name


def _run(fn: Callable[..., Any], i: int, args: tuple[Any, ...], errors: Any) -> None:
    try:
        fn(i, *args)
    except KeyboardInterrupt:  # the main process gets it too
        pass
    except Exception:
        from traceback import format_exc

        errors.send(format_exc())
        sys.exit(1)


class ProcessContext:
    """Processes that start_processes has started.

    processes: the processes; sentinels: what multiprocessing.connection.wait takes."""

    def __init__(self, processes: list[Any], errors: list[Any]) -> None:
        self.processes = processes
        self._errors = errors
        self._running = {process.sentinel: i for i, process in enumerate(processes)}

    @property
    def sentinels(self) -> dict[int, int]:
        """The sentinels of the processes that have not been joined, and the processes' numbers."""
        return self._running

    def pids(self) -> list[int]:
        """Return the process ids."""
        return [process.pid for process in self.processes]

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Wait until a process has ended, or for timeout seconds. Return whether all have ended.

        If one has failed, the others are ended: by SIGTERM, and by SIGKILL after grace_period seconds (30). Then
        ProcessRaisedException or ProcessExitedException is raised for the one that failed.
        """
        failed = None
        for sentinel in wait(list(self._running), timeout) if self._running else ():
            i = self._running.pop(sentinel)
            self.processes[i].join()
            if self.processes[i].exitcode != 0:
                failed = i
                break
        if failed is None:
            return not self._running
        self._end_all(_GRACE if grace_period is None else grace_period)
        raise self._error_of(failed)

    def _end_all(self, grace_period: float) -> None:
        for process in self.processes:
            if process.is_alive():
                process.terminate()
        for process in self.processes:
            process.join(grace_period)
            if process.is_alive():
                process.kill()
                process.join()
        self._running.clear()

    def _error_of(self, i: int) -> ProcessException:
        process = self.processes[i]
        try:
            text = self._errors[i].recv() if self._errors[i].poll() else None
        except (EOFError, OSError):
            text = None
        if text is not None:
            return ProcessRaisedException(f"\n\n-- Process {i} terminated with the following error:\n{text}", i, process.pid)
        code = process.exitcode
        if code >= 0:
            return ProcessExitedException(f"process {i} terminated with exit code {code}", i, process.pid, code)
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"<Unknown signal {-code}>"
        return ProcessExitedException(f"process {i} terminated with signal {name}", i, process.pid, code, name)


SpawnContext = ProcessContext


def start_processes(
    fn: Callable[..., Any],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Run fn(i, *args) in nprocs processes, i = 0, ..., nprocs - 1.

    join: wait until all have ended, and return None; otherwise return a ProcessContext. daemon: whether the processes are ended
    with this one. start_method: "spawn", "fork" or "forkserver"; for "spawn" fn must be the function of a module.

    Raises ProcessRaisedException for an error in a process, with its traceback, and ProcessExitedException for a process that
    ended in another way.
    """
    context: Any = multiprocessing.get_context(start_method)
    processes, errors = [], []
    for i in range(nprocs):
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=_run, args=(fn, i, args, sender), daemon=daemon)
        process.start()
        sender.close()
        processes.append(process)
        errors.append(receiver)
    found = ProcessContext(processes, errors)
    if not join:
        return found
    while not found.join():
        pass
    return None


def spawn(
    fn: Callable[..., Any],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """start_processes(fn, args, nprocs, join, daemon, "spawn"). Warns of another start_method, which start_processes takes."""
    if start_method != "spawn":
        warnings.warn(
            f"This method only supports start_method=spawn (got: {start_method}).\nTo use a different start_method use:\n\t\t "
            "torch.multiprocessing.start_processes(...)",
            FutureWarning,
            stacklevel=2,
        )
    return start_processes(fn, args, nprocs, join, daemon, "spawn")
