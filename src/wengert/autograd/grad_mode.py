"""Switching recording on and off: no_grad, enable_grad, set_grad_enabled, inference_mode.

Each is a context manager and a decorator; the state is the calling thread's own.
"""

from __future__ import annotations

import functools
import types
import warnings
from collections.abc import Callable
from typing import Any

from wengert import errors
from wengert.core.modes import BLOCK, INFERENCE, NO_GRAD, flags, grad_enabled, set_flags, state
from wengert.core.node import note_block

__all__ = [
    "enable_grad",
    "enforce_grad_layout_policy",
    "inference_mode",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "is_multithreading_enabled",
    "no_grad",
    "set_grad_enabled",
    "set_multithreading_enabled",
]

# Flags of code objects, as in module inspect, which is slow to import.
_CO_GENERATOR = 0x20
_CO_COROUTINE = 0x80
_CO_ASYNC_GENERATOR = 0x200


def is_grad_enabled() -> bool:
    """Whether operations on this thread are recorded."""
    return grad_enabled()


def is_inference_mode_enabled() -> bool:
    """Whether this thread is in inference mode."""
    return (flags() & INFERENCE) != 0


class _Mode:
    """A context manager that changes the flags word and puts back what it found; usable as a decorator."""

    def __init__(self) -> None:
        self._before: list[int] = []  # a stack: one object may be entered again inside itself

    def _changed(self, before: int) -> int:
        raise NotImplementedError

    def clone(self) -> _Mode:
        """A new context manager of the same setting, as each call of a decorated function takes one."""
        return type(self)()

    def __enter__(self) -> None:
        before = flags()
        self._before.append(before)
        set_flags(self._changed(before))

    def __exit__(self, *_: object) -> None:
        set_flags(self._before.pop())

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        if isinstance(function, type):
            warnings.warn(
                "Decorating classes is deprecated and will be disabled in future versions. You should only decorate "
                "functions or methods. To preserve the current behavior of class decoration, you can directly decorate "
                "the `__init__` method and nothing else.",
                FutureWarning,
                stacklevel=2,
            )
            return self._wrap_function(function)
        code = getattr(function, "__code__", None)
        kind = 0 if code is None else code.co_flags
        if kind & _CO_GENERATOR:
            return self._wrap_generator(function)
        if kind & _CO_COROUTINE:
            return self._wrap_coroutine(function)
        if kind & _CO_ASYNC_GENERATOR:
            return self._wrap_async_generator(function)
        return self._wrap_function(function)

    def _wrap_function(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with self.clone():
                return function(*args, **kwargs)

        return wrapper

    def _run(self, generator: Any) -> Any:
        """Runs a generator, or what is under a coroutine: the mode holds while it runs, not while it is suspended."""
        step: Callable[[], Any] = functools.partial(generator.send, None)
        while True:
            try:
                with self.clone():
                    value = step()
            except StopIteration as stop:
                return stop.value
            try:
                sent = yield value
            except GeneratorExit:
                with self.clone():
                    generator.close()
                raise
            except BaseException as error:
                step = functools.partial(generator.throw, error)
            else:
                step = functools.partial(generator.send, sent)

    def _wrap_generator(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            return (yield from self._run(function(*args, **kwargs)))

        return wrapper

    def _wrap_coroutine(self, function: Callable[..., Any]) -> Callable[..., Any]:
        run: Callable[..., Any] = types.coroutine(self._run)

        @functools.wraps(function)
        async def wrapper(*args: Any, **kwargs: Any) -> Any:
            return await run(function(*args, **kwargs))

        return wrapper

    def _wrap_async_generator(self, function: Callable[..., Any]) -> Callable[..., Any]:
        run: Callable[..., Any] = types.coroutine(self._run)

        @functools.wraps(function)
        async def wrapper(*args: Any, **kwargs: Any) -> Any:
            generator = function(*args, **kwargs)
            step: Callable[[], Any] = functools.partial(generator.asend, None)
            while True:
                try:
                    value = await run(step())
                except StopAsyncIteration:
                    return
                try:
                    sent = yield value
                except GeneratorExit:
                    await run(generator.aclose())
                    raise
                except BaseException as error:
                    step = functools.partial(generator.athrow, error)
                else:
                    step = functools.partial(generator.asend, sent)

        return wrapper


def _unrecorded(before: int) -> int:
    """The flags word with recording off, and the place where that was asked for."""
    return before & (1 << BLOCK) - 1 | NO_GRAD | note_block() << BLOCK


def _usable_bare(cls: type) -> Any:
    """Lets @no_grad be written without parentheses."""

    def make(self_cls: type, function: Any = None) -> Any:
        mode: Any = object.__new__(self_cls)
        if function is None:
            return mode
        mode.__init__()
        return mode(function)

    cls.__new__ = make  # type: ignore[assignment]
    return cls


@_usable_bare
class no_grad(_Mode):
    """Operations inside record nothing: their results require no gradient, whatever their inputs do.

    >>> import wengert
    >>> x = wengert.tensor([1.0], requires_grad=True)
    >>> with wengert.no_grad():
    ...     y = x * 2
    >>> y.requires_grad
    False
    """

    def _changed(self, before: int) -> int:
        return _unrecorded(before)


@_usable_bare
class enable_grad(_Mode):
    """Operations inside are recorded, also within no_grad or set_grad_enabled(False)."""

    def _changed(self, before: int) -> int:
        return before & ~NO_GRAD


class set_grad_enabled(_Mode):
    """Switches recording on or off at once: for good as a plain call, until the end of a with block."""

    def __init__(self, mode: bool) -> None:
        super().__init__()
        if not isinstance(mode, bool):
            raise errors.ArgumentError(
                f"set_grad_enabled(): argument 'enabled' (position 1) must be bool, not {type(mode).__name__}"
            )
        self.mode = mode
        self._found = flags()
        set_flags(self._changed(self._found))

    def _changed(self, before: int) -> int:
        return before & ~NO_GRAD if self.mode else _unrecorded(before)

    def clone(self) -> _Mode:
        return set_grad_enabled(self.mode)

    def __repr__(self) -> str:
        return f"torch.autograd.grad_mode.set_grad_enabled(mode={self.mode})"

    def __enter__(self) -> None:
        # The call itself has switched already; leaving the block restores what the call found.
        self._before.append(self._found if not self._before else flags())
        set_flags(self._changed(flags()))

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        set_flags(self._found)  # as a decorator it acts in the calls, not at the definition
        return super().__call__(function)


class inference_mode(_Mode):
    """As no_grad, and results carry no version counter and no view relation: they can never be part of a graph.

    mode: whether to switch it on. inference_mode(False) inside inference mode gives ordinary tensors again.
    """

    def __new__(cls, mode: Any = True) -> Any:
        if callable(mode):
            return cls()(mode)
        return super().__new__(cls)

    def __init__(self, mode: bool = True) -> None:
        super().__init__()
        self.mode = mode

    def _changed(self, before: int) -> int:
        return _unrecorded(before) | INFERENCE if self.mode else before & ~(INFERENCE | NO_GRAD)

    def clone(self) -> _Mode:
        return inference_mode(self.mode)


def is_multithreading_enabled() -> bool:
    """What set_multithreading_enabled says on this thread; at first True."""
    return state.multithreading


class set_multithreading_enabled(_Mode):
    """Notes whether a backward pass may use several threads: at once as a plain call, until the end of a with block.

    A pass runs on the thread that asks for it, whatever this says; kernels have threads of their own.
    """

    def __init__(self, mode: bool) -> None:
        super().__init__()
        self.mode = mode
        self._found = is_multithreading_enabled()
        state.multithreading = mode

    def clone(self) -> _Mode:
        return set_multithreading_enabled(self.mode)

    def __enter__(self) -> None:
        state.multithreading = self.mode

    def __exit__(self, *_: object) -> None:
        state.multithreading = self._found

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        state.multithreading = self._found
        return super().__call__(function)


class enforce_grad_layout_policy(_Mode):
    """Changes nothing: the first gradient of a leaf always lies in memory as the leaf does."""

    def __init__(self, enable: bool = True) -> None:
        super().__init__()
        self.enable = enable

    def clone(self) -> _Mode:
        return enforce_grad_layout_policy(self.enable)

    def _changed(self, before: int) -> int:
        return before
