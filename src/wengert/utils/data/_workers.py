"""The iterator of a DataLoader with worker processes.

Each worker has a duplex connection of its own. So no lock is shared, and a worker that dies leaves nothing behind that others
wait for. The main process sends (number, index) to the workers in turn, prefetch_factor tasks ahead, and a worker sends
(number, batch) back. Numbers grow through all passes: results of a pass that was given up are known by their numbers.
"""

from __future__ import annotations

import os
import signal
import sys
import warnings
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import wait
from time import monotonic
from typing import Any, NoReturn
from weakref import WeakSet, finalize

from wengert._forks import in_child
from wengert._utils import ExceptionWrapper
from wengert.utils.data._iterators import _BaseDataLoaderIter
from wengert.utils.data._utils import MP_STATUS_CHECK_INTERVAL
from wengert.utils.data._utils.fetch import _DatasetKind
from wengert.utils.data._utils.worker import _End, _Resume, _worker_loop

__all__: list[str] = []

_PENDING = object()  # stands for a batch that has not arrived
_connections: WeakSet[Any] = WeakSet()  # the ends of this process


@in_child
def _close_connections() -> None:
    """Close the copies that a forked process has of the main process's ends, so that a worker sees when the main process ends."""
    for connection in _connections:
        connection.close()


def _end_workers(owner: int, connections: list[Any], workers: list[Any]) -> None:
    """End the processes of an iterator. owner: the process that has started them; others, forked from it, leave them alone."""
    if os.getpid() != owner or sys.is_finalizing():
        return
    for connection in connections:
        connection.close()
    deadline = monotonic() + MP_STATUS_CHECK_INTERVAL
    for worker in workers:
        worker.join(max(deadline - monotonic(), 0))
    for worker in workers:
        if worker.is_alive():
            worker.terminate()
            worker.join(1)
        if worker.is_alive():
            worker.kill()
            worker.join()


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """Iterator that receives batches from worker processes."""

    _shutdown = True  # until there are processes

    def __init__(self, loader: Any) -> None:
        super().__init__(loader)
        self._prefetch_factor = loader.prefetch_factor
        self._in_order = loader.in_order
        if not self._prefetch_factor > 0:
            raise AssertionError("prefetch_factor must be greater than 0 for MultiProcessingDataLoaderIter")
        self._workers: list[Any] = []
        self._connections: list[Any] = []
        self._shutdown = False
        # Not __del__: the collector may have finalised the connections before, which then close descriptors of others.
        self._finalizer = finalize(self, _end_workers, os.getpid(), self._connections, self._workers)
        self._finalizer.atexit = False  # multiprocessing ends the processes
        self._send_idx = 0  # number of the next task
        self._start_workers(loader)
        self._reset(loader, first_iter=True)

    def _start_workers(self, loader: Any) -> None:
        context = get_context() if loader.multiprocessing_context is None else loader.multiprocessing_context
        make_fetcher = partial(
            _DatasetKind.create_fetcher, self._dataset_kind, self._dataset, self._auto_collation, self._collate_fn, self._drop_last
        )
        try:
            for i in range(self._num_workers):
                ours, theirs = context.Pipe()
                _connections.add(ours)
                self._connections.append(ours)
                arguments = (make_fetcher, self._dataset, theirs, self._base_seed, i, self._num_workers, loader.worker_init_fn)
                worker = context.Process(target=_worker_loop, args=arguments, daemon=True)
                worker.start()
                theirs.close()
                self._workers.append(worker)
        except BaseException as error:
            if "pickle" in str(error) or "Pickl" in type(error).__name__:
                warnings.warn(
                    "Got pickle error when attempting to start a worker Process. This might be because the worker Process "
                    "arguments are not picklable. Python 3.14+ changed the multiprocessing start method in non-Mac POSIX platforms "
                    "to 'forkserver', which requires the worker Process arguments to be picklable. You can also try "
                    "multiprocessing.set_start_method('fork').",
                    stacklevel=5,
                )
            self._shutdown_workers()
            raise

    # -- passes --------------------------------------------------------------------------------------------------------

    def _reset(self, loader: Any, first_iter: bool = False) -> None:
        super()._reset(loader, first_iter)
        self._rcvd_idx = self._first_idx = self._send_idx  # number of the next batch, and of the first one of this pass
        self._task_info: dict[int, tuple[int, Any]] = {}  # number of a task: its worker, and its batch or _PENDING
        self._is_active = [True] * self._num_workers  # whether the worker's data set has more samples
        self._turn = 0
        if not first_iter:
            for i in range(self._num_workers):
                self._send(i, _Resume())
        for _ in range(self._prefetch_factor * self._num_workers):
            self._try_put_index()

    def _send(self, worker: int, task: Any) -> None:
        try:
            self._connections[worker].send(task)
        except OSError:
            self._fail([worker])

    def _next_worker(self) -> int | None:
        """Return the worker for the next task: in turn, or the least busy one if batches need no order. None: all have ended."""
        candidates = [(self._turn + i) % self._num_workers for i in range(self._num_workers)]
        candidates = [i for i in candidates if self._is_active[i]]
        if not candidates:
            return None
        if not self._in_order:
            busy = [worker for worker, data in self._task_info.values() if data is _PENDING]
            candidates.sort(key=busy.count)
        return candidates[0]

    def _try_put_index(self) -> None:
        worker = self._next_worker()
        if worker is None:
            return
        try:
            index = self._next_index()
        except StopIteration:
            return
        self._turn = worker + 1
        self._task_info[self._send_idx] = (worker, _PENDING)
        self._send_idx += 1
        self._send(worker, (self._send_idx - 1, index))

    def _next_data(self) -> Any:
        while not self._shutdown:
            while self._rcvd_idx < self._send_idx:
                worker, data = self._task_info.get(self._rcvd_idx, (None, None))
                if worker is not None and (data is not _PENDING or self._is_active[worker]):
                    break
                self._task_info.pop(self._rcvd_idx, None)  # given already, or the worker has ended before it
                self._rcvd_idx += 1
            else:
                if not self._persistent_workers:
                    self._shutdown_workers()
                break
            number = self._rcvd_idx
            if data is _PENDING:
                workers = [worker] if self._in_order else self._awaited()
                number, data = self._receive(workers)
                if number < self._first_idx:
                    continue
                worker = self._task_info[number][0]
                if isinstance(data, _End):
                    self._end(worker)
                    continue
                if self._in_order and number != self._rcvd_idx:
                    self._task_info[number] = (worker, data)
                    continue
            del self._task_info[number]
            self._try_put_index()
            if isinstance(data, ExceptionWrapper):
                data.reraise()
            return data
        raise StopIteration

    def _awaited(self) -> list[int]:
        """Return the workers that will send something."""
        return sorted({w for w, data in self._task_info.values() if data is _PENDING and self._is_active[w]})

    def _end(self, worker: int) -> None:
        """Note that a worker's data set has no more samples; the worker ends unless it is persistent."""
        self._is_active[worker] = False
        if not self._persistent_workers:
            self._connections[worker].close()
        self._try_put_index()

    # -- processes -----------------------------------------------------------------------------------------------------

    def _receive(self, workers: list[int]) -> tuple[int, Any]:
        """Wait for the next result of one of these workers. Raises RuntimeError if one has died, or after the timeout."""
        sources = {self._connections[i]: i for i in workers}
        ends = {self._workers[i].sentinel: i for i in workers}
        deadline = monotonic() + self._timeout if self._timeout > 0 else None
        while True:
            seconds = MP_STATUS_CHECK_INTERVAL if deadline is None else min(MP_STATUS_CHECK_INTERVAL, deadline - monotonic())
            ready: list[Any] = wait([*sources, *ends], max(seconds, 0))
            for connection in ready:
                if connection in sources:
                    return self._result_of(sources[connection])
            dead = [ends[end] for end in ready] or [i for i in workers if not self._workers[i].is_alive()]
            if dead:
                self._fail(dead)
            if deadline is not None and monotonic() >= deadline:
                raise RuntimeError(f"DataLoader timed out after {self._timeout} seconds")

    def _result_of(self, worker: int) -> tuple[int, Any]:
        try:
            result: tuple[int, Any] = self._connections[worker].recv()
            return result
        except (EOFError, OSError):
            self._fail([worker])
        except Exception:
            raise
        except BaseException:  # an interrupt may have left a part of the message in the pipe
            self._shutdown_workers()
            raise

    def _fail(self, workers: list[int]) -> NoReturn:
        """Raise torch's error for workers that have died."""
        dead = [self._workers[i] for i in workers]
        for worker in dead:
            worker.join(MP_STATUS_CHECK_INTERVAL)  # sets the exit code
        code, pid = dead[0].exitcode, dead[0].pid
        if code is not None and code < 0:
            reason = f"DataLoader worker (pid {pid}) is killed by signal: {signal.strsignal(-code)}. "
        else:
            reason = (
                f"DataLoader worker (pid {pid}) exited unexpectedly with exit code {code}. Details are lost due to "
                "multiprocessing. Rerunning with num_workers=0 may give better error trace."
            )
        self._shutdown_workers()
        pids = ", ".join([str(worker.pid) for worker in dead])
        raise RuntimeError(f"DataLoader worker (pid(s) {pids}) exited unexpectedly") from RuntimeError(reason)

    def _shutdown_workers(self) -> None:
        """End the processes: those that do not end by themselves within seconds are killed."""
        self._shutdown = True
        self._finalizer()
