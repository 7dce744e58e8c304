"""Grad modes, which switch recording on and off: no_grad, enable_grad, set_grad_enabled, inference_mode.

Each is a context manager and a decorator. Each thread has a mode of its own.
"""

from __future__ import annotations

import functools
import types
import warnings
from collections.abc import Callable
from typing import Any, Self, TypeVar, cast

from wengert import errors
from wengert.core.modes import BLOCK, INFERENCE, NO_GRAD, FlagsSwitch, flags, grad_enabled, set_flags, state
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

_F = TypeVar("_F", bound=Callable[..., Any])
_C = TypeVar("_C", bound=type)

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


class _Mode(FlagsSwitch):
    """Context manager and decorator that changes the flags word and restores it at the end."""

    def clone(self) -> _Mode:
        """Return a new context manager with the same setting. Each call of a decorated function uses a new one."""
        return type(self)()

    def __call__(self, function: _F) -> _F:
        """Return the function as one that runs in this mode."""
        return cast(_F, self._wrapped(function))

    def _wrapped(self, function: Any) -> Callable[..., Any]:
        if isinstance(function, type):
            warnings.warn(
                "Decorating classes is deprecated and will be disabled in future versions. You should only decorate "
                "functions or methods. To preserve the current behavior of class decoration, you can directly decorate "
                "the `__init__` method and nothing else.",
                FutureWarning,
                stacklevel=3,
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

    def _run_generator(self, generator: Any) -> Any:
        """Run a generator or a coroutine under the mode. The mode does not hold while the generator is suspended."""
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
            return (yield from self._run_generator(function(*args, **kwargs)))

        return wrapper

    def _wrap_coroutine(self, function: Callable[..., Any]) -> Callable[..., Any]:
        run: Callable[..., Any] = types.coroutine(self._run_generator)

        @functools.wraps(function)
        async def wrapper(*args: Any, **kwargs: Any) -> Any:
            return await run(function(*args, **kwargs))

        return wrapper

    def _wrap_async_generator(self, function: Callable[..., Any]) -> Callable[..., Any]:
        run: Callable[..., Any] = types.coroutine(self._run_generator)

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
    """Return the flags word with recording off and with the source position that switched it off."""
    return before & (1 << BLOCK) - 1 | NO_GRAD | note_block() << BLOCK


def _allow_bare_decorator(cls: _C) -> _C:
    """Class decorator that allows @no_grad without parentheses."""

    def make(self_cls: type, function: Any = None) -> Any:
        mode: Any = object.__new__(self_cls)
        if function is None:
            return mode
        mode.__init__()
        return mode(function)

    cls.__new__ = make  # type: ignore[assignment]
    return cls


@_allow_bare_decorator
class no_grad(_Mode):
    """Context manager or decorator: operations are not recorded, and their results require no gradient.

    >>> import wengert
    >>> x = wengert.tensor([1.0], requires_grad=True)
    >>> with wengert.no_grad():
    ...     y = x * 2
    >>> y.requires_grad
    False
    """

    def _changed_flags(self, before: int) -> int:
        return _unrecorded(before)


@_allow_bare_decorator
class enable_grad(_Mode):
    """Context manager or decorator: operations are recorded, even within no_grad or set_grad_enabled(False)."""

    def _changed_flags(self, before: int) -> int:
        return before & ~NO_GRAD


class set_grad_enabled(_Mode):
    """Switch recording on or off, as a function; or for a block, as a context manager. Raises TypeError unless mode is a bool."""

    def __init__(self, mode: bool) -> None:
        super().__init__()
        if not isinstance(mode, bool):
            raise errors.ArgumentError(
                f"set_grad_enabled(): argument 'enabled' (position 1) must be bool, not {type(mode).__name__}"
            )
        self.mode = mode
        self._found = flags()
        set_flags(self._changed_flags(self._found))

    def _changed_flags(self, before: int) -> int:
        return before & ~NO_GRAD if self.mode else _unrecorded(before)

    def clone(self) -> _Mode:
        return set_grad_enabled(self.mode)

    def __repr__(self) -> str:
        return f"torch.autograd.grad_mode.set_grad_enabled(mode={self.mode})"

    def __enter__(self) -> None:
        # __init__ has switched the mode already; leaving the block restores the mode from before that.
        self._before = flags() if self._before else self._found, self._before
        set_flags(self._changed_flags(flags()))

    def __call__(self, function: _F) -> _F:
        set_flags(self._found)  # a decorator switches the mode in calls, not at the definition
        return super().__call__(function)


class inference_mode(_Mode):
    """Context manager or decorator: as no_grad, and results have no version counter and track no views.

    Tensors made in inference mode can never be part of a graph. mode: False switches inference mode off inside its block,
    so that ordinary tensors are made again.
    """

    def __new__(cls, mode: Any = True) -> Self:
        if callable(mode):
            return cast(Self, cls()(mode))
        return super().__new__(cls)

    def __init__(self, mode: bool = True) -> None:
        super().__init__()
        self.mode = mode

    def _changed_flags(self, before: int) -> int:
        return _unrecorded(before) | INFERENCE if self.mode else before & ~(INFERENCE | NO_GRAD)

    def clone(self) -> _Mode:
        return inference_mode(self.mode)


def is_multithreading_enabled() -> bool:
    """Whether multithreading is enabled on this thread; see set_multithreading_enabled. True by default."""
    return state.multithreading


class set_multithreading_enabled(_Mode):
    """Store a flag for multithreaded backward passes, as a function; or for a block, as a context manager.

    The flag has no effect: a pass runs on the thread that calls backward, and kernels have threads of their own.
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

    def __exit__(self, kind: object = None, error: object = None, traceback: object = None) -> None:
        state.multithreading = self._found

    def __call__(self, function: _F) -> _F:
        state.multithreading = self._found
        return super().__call__(function)


class enforce_grad_layout_policy(_Mode):
    """Context manager without effect: the first gradient of a leaf always has the leaf's memory layout."""

    def __init__(self, enable: bool = True) -> None:
        super().__init__()
        self.enable = enable

    def clone(self) -> _Mode:
        return enforce_grad_layout_policy(self.enable)

    def _changed_flags(self, before: int) -> int:
        return before


def __dir__() -> list[str]:
    return sorted(__all__)
