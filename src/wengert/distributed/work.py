"""Work: a call among ranks that is under way, moved on without ever blocking in MPI.

MPI's blocking calls wait for ever if a rank is dead or never makes the call. So each call here is a nonblocking one of MPI, which
is tested again and again until it is complete, the time is over, or a rank has ended.

Note [Headers]: before the data of a collective, the ranks compare what they are about to do: one all-reduce of 96 bytes, the
smallest of each number and of its negative. If the two differ, no array has been touched yet; the ranks send each other a line that
describes their calls, and all of them raise the same error. A call with async_op=True must not wait, so its header and its
data travel at once. MPI matches the calls of a communicator by their order, so headers and lines have communicators of their own,
in which no rank makes another kind of call.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from wengert import errors
from wengert._forks import in_child
from wengert.core.recorder import add_range, is_recording
from wengert.futures import Future

if TYPE_CHECKING:
    from wengert.distributed.process_group import ProcessGroup

__all__ = ["Work", "unfinished"]

GRACE = 2.0  # seconds that a call goes on after a rank has ended, because its data may be on their way
LINE = 256  # bytes of the description of a call
EAGER = 0.002  # seconds for which a rank looks all the time whether the others make the call, too; then it sleeps between looks
PAUSE = 0.0001  # seconds between two looks at calls that nobody waits for


class Header:
    """What a rank is about to do, to be compared with the others. fields: numbers and texts that must be equal on all ranks."""

    def __init__(self, group: ProcessGroup, fields: tuple[Any, ...], text: str) -> None:
        numbers = np.array([crc32(str(field).encode()) for field in fields], np.int64)
        self._group = group
        self._sent = np.concatenate([numbers, -numbers])
        self._smallest = np.empty_like(self._sent)
        self._line = np.frombuffer(text.encode()[:LINE].ljust(LINE), np.uint8).copy()
        self._lines: Any = None
        self._request = group.headers.Iallreduce(self._sent, self._smallest, group.mpi.MIN)

    def advance(self) -> bool:
        """Whether all ranks do the same. Raises DistBackendError that says what they do instead."""
        if not self._request.Test():
            return False
        if self._lines is None:
            half = len(self._sent) // 2
            if (self._smallest[:half] == -self._smallest[half:]).all():
                return True
            self._lines = np.empty((len(self._group.ranks), LINE), np.uint8)
            self._request = self._group.lines.Iallgather(self._line, self._lines)
            return False
        raise self._mismatch()

    def _mismatch(self) -> Exception:
        texts = [bytes(line).decode(errors="replace").rstrip() for line in self._lines]
        other = next(i for i, text in enumerate(texts) if text != texts[0])
        ranks = self._group.ranks
        return errors.DistBackendError(
            f"Detected mismatch between collectives on ranks. Rank {ranks[0]} is running collective: {texts[0]}, but Rank "
            f"{ranks[other]} is running collective: {texts[other]}. Hint: all ranks of a group make the same calls in the same "
            "order, with tensors of one shape and dtype."
        )


class Work:
    """The handle of a call among ranks, as async_op=True, isend and irecv return it.

    start: starts the call and returns MPI's requests. finish: runs once they are complete. header: starts a Header, or None.
    tensors: what result() returns. is_async: the call goes on while the program does something else.
    """

    def __init__(
        self,
        group: ProcessGroup,
        name: str,
        start: Callable[[], Sequence[Any]],
        finish: Callable[[], None] | None = None,
        header: Callable[[], Header] | None = None,
        tensors: Sequence[Any] = (),
        is_async: bool = False,
    ) -> None:
        group.check_usable(name)
        self.group = group
        self.name = name
        self.number = group.count(name, header is not None)
        self._start = start
        self._finish = finish
        self._tensors = tensors
        self._requests: list[Any] | None = None
        self._error: BaseException | None = None
        self._is_done = False
        self._lock = threading.Lock()
        self.is_awaited = False
        self.began = time.perf_counter_ns() if is_async and is_recording() else 0
        self._header = None if header is None else header()
        if is_async or self._header is None:
            self._requests = list(start())
        if is_async:
            _background.add(self)

    def _advance(self) -> bool:
        """Look at the requests once. Return whether the call is over; raise its error if it has failed."""
        with self._lock:
            if self._error is not None:
                raise self._error
            if not self._is_done:
                try:
                    self._is_done = self._look()
                except self.group.mpi.Exception as error:
                    self._fail(errors.DistBackendError(f"{self.name}: {error}"))
                    raise self._error from error  # type: ignore[misc]
                except Exception as error:
                    self._fail(error)
                    raise
            return self._is_done

    def _look(self) -> bool:
        if self._header is not None:
            if not self._header.advance():
                return False
            self._header = None
        if self._requests is None:
            self._requests = list(self._start())
        if not self._test(self._requests):
            return False
        if self._finish is not None:
            self._finish()
        if self.began:
            _background.record(self)
        self._start = _nothing  # it refers to the buffers
        self._finish = None
        return True

    def _test(self, requests: list[Any]) -> bool:
        return self.group.mpi.Request.Testall(requests)

    def _fail(self, error: BaseException) -> None:
        self._error = error
        if self._requests is not None:  # data have been sent: what the ranks send next is no longer in step
            self.group.fail(self.name, error)

    def advance_quietly(self) -> bool:
        """Look at the requests once, without raising. Return whether nothing more happens."""
        try:
            return self._advance()
        except Exception:  # the program gets it from wait()
            return True

    def settle(self, timeout: float) -> None:
        """Wait until the call is over. Raises DistBackendError after timeout seconds, or if a rank has ended."""
        began = time.monotonic()
        self.is_awaited = True
        try:
            looks = 0
            while not self._advance():
                looks += 1
                if looks % 32 == 0:
                    waited = time.monotonic() - began
                    self._check_ranks(waited, timeout)
                    if waited > EAGER and self._requests is None:
                        time.sleep(min(waited / 20, 0.001))
                _yield()
        finally:
            self.is_awaited = False

    def _check_ranks(self, waited: float, timeout: float) -> None:
        ended = self.group.ended_rank(GRACE)
        if ended is not None:
            error = errors.DistBackendError(f"{self.group.describe(self)} cannot be finished: rank {ended[0]} {ended[1]}.")
        elif waited > timeout:
            error = errors.DistBackendError(self.group.explain_timeout(self, timeout))
        else:
            return
        self._error = error
        self.group.fail(self.name, error)
        raise error

    def wait(self, timeout: timedelta | None = None) -> bool:
        """Wait until the call is over, and return True. timeout: the group's if None.

        Raises DistBackendError if another rank has ended, makes another call, or makes none until the time is over.
        """
        self.settle(self.group.timeout if timeout is None else timeout.total_seconds())
        return True

    synchronize = wait

    def get_future(self) -> Future[list[Any]]:
        """Return the future of the list of the call's tensors."""
        return _WorkFuture(self)

    def is_completed(self) -> bool:
        """Whether the call is over, well or not."""
        return self.advance_quietly()

    def is_success(self) -> bool:
        """Whether the call is over and has not failed."""
        return self.advance_quietly() and self._error is None

    def exception(self) -> BaseException | None:
        """Return the error of a call that has failed, or None."""
        self.advance_quietly()
        return self._error

    def result(self) -> list[Any]:
        """Wait, and return the tensors that the call wrote."""
        self.wait()
        return list(self._tensors)


class _WorkFuture(Future[list[Any]]):
    """The future of the tensors of a call among ranks."""

    def __init__(self, work: Work) -> None:
        super().__init__()
        self._work = work

    def _advance(self) -> None:
        with self._changed:
            if self._is_done:  # another thread has waited
                return
            try:
                tensors = self._work.result()
            except Exception as error:
                self.set_exception(error)
            else:
                self.set_result(tensors)

    def done(self) -> bool:
        """Whether the call is over, well or not."""
        if not self._is_done and self._work.is_completed():
            self._advance()
        return self._is_done


def _nothing() -> list[Any]:
    return []


_yield = getattr(os, "sched_yield", lambda: time.sleep(0))


class _Background:
    """A thread that moves calls on that nobody waits for, so that they are under way while the program computes."""

    def __init__(self) -> None:
        self._works: list[Work] = []
        self._wake = threading.Condition()
        self._thread: threading.Thread | None = None
        self._last_end = 0

    def add(self, work: Work) -> None:
        with self._wake:
            self._works.append(work)
            if self._thread is None and work.group.mpi.Query_thread() == work.group.mpi.THREAD_MULTIPLE:
                self._thread = threading.Thread(target=self._run, name="wengert communication", daemon=True)
                self._thread.start()
            self._wake.notify()

    def _run(self) -> None:
        while True:
            with self._wake:
                while not self._works:
                    self._wake.wait()
                works = list(self._works)
            over = [work for work in works if not work.is_awaited and work.advance_quietly()]
            with self._wake:
                self._works = [work for work in self._works if work not in over]
            del works  # or the last works would live until the next
            if not over:
                time.sleep(PAUSE)

    def unfinished(self) -> list[Work]:
        """Look at all calls once, and return those that are not over."""
        with self._wake:
            works = list(self._works)
        return [work for work in works if not work.advance_quietly()]

    def record(self, work: Work) -> None:
        """Tell the profiler of a call. Calls share the wires, so the range of one begins after the end of the one before."""
        ended = time.perf_counter_ns()
        began, self._last_end = max(work.began, self._last_end), ended
        thread = self._thread
        add_range(work.name, began, ended, thread.ident if thread is not None and thread.ident else threading.get_ident())


_background = _Background()


def unfinished(seconds: float) -> list[Work]:
    """Wait some seconds at most until no call is under way, and return the calls that are."""
    end = time.monotonic() + seconds
    while works := _background.unfinished():
        if time.monotonic() > end:
            break
        time.sleep(PAUSE)
    return works


@in_child
def _forget_background() -> None:
    global _background
    _background = _Background()
