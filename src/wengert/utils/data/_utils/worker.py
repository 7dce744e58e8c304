"""The worker processes of a DataLoader, and get_worker_info."""

from __future__ import annotations

import os
import random
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from multiprocessing.reduction import ForkingPickler
from threading import Condition, Thread
from typing import Any

from wengert._utils import ExceptionWrapper
from wengert.utils.data._utils import MP_STATUS_CHECK_INTERVAL
from wengert.utils.data._utils.fetch import _IterableDatasetFetcher

__all__ = ["WorkerInfo", "get_worker_info"]


class WorkerInfo:
    """What a worker process knows of itself: id, num_workers, seed, dataset (its own copy). Attributes cannot be set."""

    id: int
    num_workers: int
    seed: int
    dataset: Any

    __slots__ = ("dataset", "id", "num_workers", "rng", "seed", "worker_method")
    _ORDER = ("id", "num_workers", "seed", "dataset", "rng", "worker_method")

    def __init__(self, id: int, num_workers: int, seed: int, dataset: Any) -> None:
        for name, value in zip(self._ORDER, (id, num_workers, seed, dataset, None, "multiprocessing")):
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        raise RuntimeError(f"Cannot assign attributes to {type(self).__name__} objects")

    def __repr__(self) -> str:
        return f"WorkerInfo({', '.join([f'{name}={getattr(self, name)!r}' for name in self._ORDER])})"


_worker_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """Return the WorkerInfo of the worker process that calls it, or None in the main process."""
    return _worker_info


class _End:
    """Result of a worker: its copy of an IterableDataset has no more samples."""


class _Resume:
    """Task of a persistent worker: a new pass begins."""


def _set_seeds(base_seed: int, worker_id: int) -> None:
    """Seed the generators of a worker as torch does."""
    import numpy

    from wengert.generator import manual_seed

    seed = base_seed + worker_id
    random.seed(seed)
    manual_seed(seed)
    state = numpy.random.SeedSequence([worker_id, base_seed & 0xFFFFFFFF, base_seed >> 32]).generate_state(4)
    numpy.random.seed(state)  # noqa: NPY002  # programs draw from it


class _Sender:
    """Sends pickled results in the background, so that the worker goes on while the main process is busy."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        self.queue: deque[memoryview] = deque()
        self.changed = Condition()
        self.is_closed = False
        self.thread = Thread(target=self._run, daemon=True)
        self.thread.start()

    def put(self, data: memoryview) -> None:
        """Send data after what was put before."""
        with self.changed:
            self.queue.append(data)
            self.changed.notify()

    def _run(self) -> None:
        with suppress(OSError):  # the main process has closed its end: nobody waits for results
            while True:
                with self.changed:
                    while not self.queue and not self.is_closed:
                        self.changed.wait()
                    if not self.queue:
                        return
                    data = self.queue.popleft()
                self.connection.send_bytes(data)

    def finish(self) -> None:
        """Send what is left and return."""
        with self.changed:
            self.is_closed = True
            self.changed.notify()
        self.thread.join()


def _worker_loop(
    make_fetcher: Callable[[], Any],
    dataset: Any,
    connection: Any,
    base_seed: int,
    worker_id: int,
    num_workers: int,
    init_fn: Callable[[int], Any] | None,
) -> None:
    """Run a worker process: fetch a batch for each (number, index) that arrives; send (number, batch) back."""
    global _worker_info
    try:
        from wengert.threads import set_num_threads

        set_num_threads(1)
        _set_seeds(base_seed, worker_id)
        _worker_info = WorkerInfo(worker_id, num_workers, base_seed + worker_id, dataset)
        sender = _Sender(connection)
        first = None if init_fn is None else partial(init_fn, worker_id)
        _serve(make_fetcher, connection, sender, f"in DataLoader worker process {worker_id}", first)
        sender.finish()
    except KeyboardInterrupt:  # the main process gets it too
        pass


def _serve(
    make_fetcher: Callable[[], Any], connection: Any, sender: _Sender, where: str, init_fn: Callable[[], Any] | None
) -> None:
    """Answer tasks until there are no more. A failure of init_fn, or of the data set's __iter__, answers every task."""
    fetcher: Any = None
    failure: ExceptionWrapper | None = None
    has_ended = False
    task: Any = _Resume()
    while task is not None:
        if isinstance(task, _Resume):
            try:
                if init_fn is not None:
                    init_fn()
                init_fn = None
                fetcher, failure, has_ended = make_fetcher(), None, False
            except Exception:
                failure = ExceptionWrapper(where=where)
        elif not has_ended:
            number, index = task
            result: Any = failure
            if failure is None:
                try:
                    result = fetcher.fetch(index)
                except Exception as error:
                    has_ended = isinstance(error, StopIteration) and isinstance(fetcher, _IterableDatasetFetcher)
                    result = _End() if has_ended else ExceptionWrapper(where=where)
            sender.put(_pickled(number, result, where))
            del result
        task = _next_task(connection)


def _pickled(number: int, result: Any, where: str) -> memoryview:
    """Pickle a result, or an error if the result, or the class of its error, cannot be pickled."""
    try:
        return ForkingPickler.dumps((number, result), 5)
    except Exception:
        if isinstance(result, ExceptionWrapper):
            result.exc_type = RuntimeError
        else:
            result = ExceptionWrapper(where=where)
        return ForkingPickler.dumps((number, result), 5)


def _next_task(connection: Any) -> Any:
    """Return the next task, or None when the main process has no more, or has ended."""
    parent = os.getppid()
    try:
        while not connection.poll(MP_STATUS_CHECK_INTERVAL):
            if os.getppid() != parent:
                return None
        return connection.recv()
    except (EOFError, OSError):
        return None
