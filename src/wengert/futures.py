"""torch.futures: values that are there later, such as the tensors of a call of torch.distributed that is under way.

>>> import wengert
>>> future = wengert.futures.Future()
>>> doubled = future.then(lambda done: 2 * done.value())
>>> future.set_result(3)
>>> doubled.wait()
6
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

__all__ = ["Future", "collect_all", "wait_all"]

T = TypeVar("T")


class Future(Generic[T]):
    """A value, or an error, that is set once, in any thread. devices: has no effect."""

    def __init__(self, *, devices: Any = None) -> None:
        self._changed = threading.Condition()
        self._is_done = False
        self._value: Any = None
        self._error: BaseException | None = None
        self._callbacks: list[Callable[[Future[T]], Any]] = []

    def _advance(self) -> None:
        """Do what brings the value nearer, in subclasses that compute it when it is asked for."""

    def _complete(self, value: Any, error: BaseException | None) -> None:
        with self._changed:
            if self._is_done:
                raise RuntimeError(
                    "Attempting to mark a completed Future as complete again. Note that a Future can only be marked completed once."
                )
            self._value, self._error, self._is_done = value, error, True
            callbacks, self._callbacks = self._callbacks, []
            self._changed.notify_all()
        for callback in callbacks:
            callback(self)

    def set_result(self, result: T) -> None:
        """Set the value, and run the callbacks in this thread. Raises RuntimeError if the future is done."""
        self._complete(result, None)

    def set_exception(self, result: BaseException) -> None:
        """Set an error, which wait() and value() raise. Raises RuntimeError if the future is done."""
        assert isinstance(result, Exception), f"{result} is of type {type(result)}, not an Exception."
        self._complete(None, result)

    def done(self) -> bool:
        """Whether the value or the error is there."""
        return self._is_done

    def wait(self) -> T:
        """Wait for the value, and return it, or raise the error."""
        if not self._is_done:
            self._advance()
        with self._changed:
            self._changed.wait_for(self.done)
        return self.value()

    def value(self) -> T:
        """Return the value, or raise the error. Raises RuntimeError if neither is there."""
        if not self.done():
            raise RuntimeError("The value of a Future was asked for before it is there. Hint: wait() waits for it.")
        if self._error is not None:
            raise self._error
        return self._value

    def add_done_callback(self, callback: Callable[[Future[T]], None]) -> None:
        """Call callback(self) as soon as the future is done, at once if it is."""
        with self._changed:
            if not self._is_done:
                self._callbacks.append(callback)
                return
        callback(self)

    def then(self, callback: Callable[[Future[T]], Any]) -> Future[Any]:
        """Return the future of callback(self), which runs as soon as this future is done. Its error is that of the new future."""
        result = _Following([self])

        def follow(done: Future[T]) -> None:
            try:
                value = callback(done)
            except Exception as error:
                result.set_exception(error)
            else:
                result.set_result(value)

        self.add_done_callback(follow)
        return result


class _Following(Future[Any]):
    """A future that is done when others are."""

    def __init__(self, others: list[Future[Any]]) -> None:
        super().__init__()
        self._others = others

    def _advance(self) -> None:
        for other in self._others:
            if not other._is_done:
                other._advance()

    def done(self) -> bool:
        """Whether the value or the error is there. Futures of calls among ranks are asked first."""
        for other in self._others:
            other.done()
        return self._is_done


def collect_all(futures: Iterable[Future[Any]]) -> Future[list[Future[Any]]]:
    """Return the future of the list of the futures, which is done when all are."""
    waited = list(futures)
    result = _Following(waited)
    missing = [len(waited)]
    lock = threading.Lock()

    def count(_: Any) -> None:
        with lock:
            missing[0] -= 1
            is_last = missing[0] == 0
        if is_last:
            result.set_result(waited)

    for future in waited:
        future.add_done_callback(count)
    if not waited:
        result.set_result(waited)
    return result


def wait_all(futures: Iterable[Future[Any]]) -> list[Any]:
    """Wait for futures, and return their values. Raises the first error."""
    return [future.wait() for future in collect_all(futures).wait()]


def __dir__() -> list[str]:
    return sorted(__all__)
