"""Passes inside passes, without a limit on how deep: each few dozen levels go on in a thread of their own.

A pass that user code starts inside a pass (in a Function's backward, in a hook) nests on the interpreter's stack, which
holds a thousand Python frames: a few hundred levels. A new thread has a stack of its own. The caller waits for it, so
this is still one pass after another. Not compiled: it is rare.
"""

from __future__ import annotations

import contextvars
from collections.abc import Callable
from typing import Any

from wengert.core.modes import flags, set_flags, state

LEVELS = 32  # of passes on one thread

_OWN = ("task", "quiet_context", "quiet_token", "quiet_depth")  # what a thread's state says of that thread alone


def run_on_new_thread(function: Callable[..., Any], *arguments: Any) -> Any:
    """Run a function on a new thread that has this one's modes and context variables. Return or raise what it does."""
    import threading

    inherited = {name: value for name, value in vars(state).items() if name not in _OWN}
    inherited["saved_hooks"] = list(state.saved_hooks)
    before = flags()
    context = contextvars.copy_context()
    outcome: list[Any] = []

    def work() -> None:
        vars(state).update(inherited)
        set_flags(before)
        try:
            outcome.extend((context.run(function, *arguments), None))
        except BaseException as error:
            outcome.extend((None, error))

    thread = threading.Thread(target=work, name="wengert-reentrant-pass")
    thread.start()
    try:
        thread.join()
    except BaseException as interruption:  # KeyboardInterrupt, which only the main thread gets
        _raise_in(thread, type(interruption))
        thread.join()
        raise
    result, error = outcome
    outcome.clear()
    if error is None:
        return result
    try:
        raise error
    finally:
        del error  # whose traceback holds this frame


def _raise_in(thread: Any, kind: type[BaseException]) -> None:
    """Raise an exception of this class in another thread, at its next Python instruction."""
    import ctypes

    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(kind))
