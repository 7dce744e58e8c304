"""The job: the processes that mpirun has started, from the start of MPI to its end.

Note [End of MPI]: mpi4py's Finalize blocks until all ranks have called it, and holds the lock of the interpreter meanwhile, so no
other thread of the process runs. A rank calls it when the hub has said that all ranks have left. The hub is a thread of rank 0, so
it tells rank 0 last: if rank 0 called Finalize earlier, the hub could not tell the others, and all would wait for ever.
"""

from __future__ import annotations

import atexit
import faulthandler
import os
import secrets
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, NoReturn

from wengert import errors
from wengert._forks import import_late, in_child
from wengert.distributed.watch import LEFT, Hub, Watch, addresses
from wengert.distributed.work import unfinished

__all__ = ["Job", "await_request", "load_mpi", "within"]

UNFINISHED = 30.0  # seconds that calls which nobody waits for may go on after all ranks have left
ENDING = 60.0  # seconds that MPI may take for its end, after all ranks have come so far


def load_mpi() -> Any:
    """Return mpi4py's module MPI. Its own end, which would wait for ranks that have died, is left to Job."""
    if "mpi4py.MPI" not in sys.modules:
        import_late("mpi4py").rc.finalize = False
    try:
        mpi = import_late("mpi4py.MPI")
    except ModuleNotFoundError:
        raise
    except (ImportError, RuntimeError) as error:
        raise errors.DistBackendError(
            f'init_process_group: mpi4py finds no MPI library: {error}\nHint: pip install "wengert[mpi]", which brings one, or '
            "install MPICH or Open MPI."
        ) from error
    if mpi.COMM_WORLD.Get_size() == 1:
        atexit.register(_finalize_alone, mpi)
    return mpi


def _finalize_alone(mpi: Any) -> None:
    """End MPI in a process that is the only one, even if it has never come so far as to be a rank."""
    if not mpi.Is_finalized():
        mpi.Finalize()


@in_child
def _leave_mpi_alone() -> None:
    """The end of MPI is the parent's."""
    atexit.unregister(_finalize_alone)


class Job:
    """The processes that mpirun has started. Made once; it lives until the process ends, because MPI starts only once."""

    def __init__(self, mpi: Any, timeout: float) -> None:
        self.mpi = mpi
        self.timeout = timeout
        world = mpi.COMM_WORLD
        self.rank: int = world.Get_rank()
        self.size: int = world.Get_size()
        self.states: dict[str, tuple[int, str]] = {}  # label of a group -> number and name of the last call
        self.is_broken = False
        self.groups = 0  # made so far, by all ranks
        comm, request = world.Idup()
        await_request(request, timeout, "init_process_group: not all ranks of mpirun have called it")
        self.comm = comm
        self.watch = within(mpi, timeout, "init_process_group", self._connect)
        atexit.register(self.leave)
        in_child(lambda: atexit.unregister(self.leave))  # a forked child is no rank, and has nobody to tell that it ends

    def _connect(self) -> Watch:
        """Connect this rank to the hub of rank 0, whose address travels through MPI."""
        names = self.comm.allgather(self.mpi.Get_processor_name())
        offer = None
        if self.rank == 0:
            token, is_local = secrets.token_hex(16), len(set(names)) == 1
            hosts = ["127.0.0.1"] if is_local else addresses()
            offer = (hosts, Hub(self.size, token, is_local).port, token)
        hosts, port, token = self.comm.bcast(offer)
        watch = Watch(self.rank, self.size, hosts, port, token, self.states.get)
        self.comm.barrier()
        return watch

    def leave(self) -> None:
        """Tell the others that the program is over. End MPI if all have come so far, else leave that to mpirun.

        MPI's own end waits for all ranks, so it is not for a job in which a rank has failed."""
        problem = getattr(sys, "last_value", None)
        if self.is_broken:
            reason = "has ended after a failed call"
        elif isinstance(problem, Exception):
            reason = f"has ended with {type(problem).__name__}: {(str(problem).splitlines() or [''])[0]}"
        else:
            reason = LEFT
        sys.stdout.flush()
        sys.stderr.flush()
        try:
            have_all_left = self.watch.leave(reason, reason != LEFT, self.timeout)
        except errors.DistBackendError as error:
            _exit_with(str(error))
        if have_all_left:
            self._finalize_mpi()
        elif import_late("mpi4py").rc.finalize is not False:  # the program itself has loaded MPI, which would wait at the end
            os._exit(1)

    def _finalize_mpi(self) -> None:
        """End MPI. If this hangs, faulthandler prints so and exits, as no thread of Python can: see Note [End of MPI]."""
        if self.mpi.Is_finalized():
            return
        pending = unfinished(UNFINISHED)
        if pending:
            names = ", ".join([work.group.describe(work) for work in pending])
            _exit_with(f"The program is over, and a call can never be finished, because the other ranks have left: {names}.")
        faulthandler.dump_traceback_later(ENDING, exit=True, file=2)
        self.mpi.Finalize()
        faulthandler.cancel_dump_traceback_later()


def _exit_with(problem: str) -> NoReturn:
    """End the process at once, with an error: the end of MPI would wait for ever."""
    print(f"DistBackendError: {problem}", file=sys.stderr, flush=True)
    os._exit(1)


def within(mpi: Any, seconds: float, name: str, call: Callable[[], Any], check: Callable[[], None] | None = None) -> Any:
    """Return call(), which blocks in MPI. check: raises if there is no use in waiting longer.

    Raises DistBackendError after some seconds, and leaves the call to its thread. There is no limit if MPI allows one thread only.
    """
    if mpi.Query_thread() < mpi.THREAD_SERIALIZED:
        return call()
    results: list[Any] = []
    problems: list[BaseException] = []
    is_over = threading.Event()

    def run_call() -> None:
        try:
            results.append(call())
        except BaseException as error:
            problems.append(error)
        is_over.set()

    threading.Thread(target=run_call, name=f"wengert {name}", daemon=True).start()
    end = time.monotonic() + seconds
    while not is_over.wait(0.1):
        if check is not None:
            check()
        if time.monotonic() > end:
            raise errors.DistBackendError(f"{name}: MPI has not returned for {seconds:g} seconds.")
    if problems:
        raise problems[0]
    return results[0]


def await_request(request: Any, timeout: float, problem: str) -> None:
    began = time.monotonic()
    while not request.Test():
        if time.monotonic() - began > timeout:
            raise errors.DistBackendError(f"{problem}: waited {timeout:g} seconds.")
        time.sleep(0.0002)
