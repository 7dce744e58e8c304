"""Thread-local state of the core: one word of flags that the fast path tests, and the quiet context of kernels.

The word is zero in the ordinary case: gradients recorded, nothing unusual switched on. Everything that changes how an
operation is dispatched owns one bit of it, so that "is anything special?" is a single comparison.
"""

from __future__ import annotations

if False:
    import cython
from wengert import _shim as cython

import contextvars
import threading
from typing import Any

import numpy as np


# Bits of the flags word.
NO_GRAD = 1  # operations record nothing
INFERENCE = 2  # as NO_GRAD, and results carry no version counter and may never be saved for a backward pass


def _new_quiet_context() -> contextvars.Context:
    context = contextvars.Context()
    context.run(np.seterr, all="ignore")
    return context


class _ThreadState(threading.local):
    """What is rarely needed, one a thread."""

    def __init__(self) -> None:
        self.flags = 0  # read only when not compiled; compiled code keeps the word in C
        self.quiet = None if cython.compiled else _new_quiet_context()
        self.quiet_token: contextvars.Token | None = None
        self.quiet_depth = 0


state = _ThreadState()


if not cython.compiled:
    # The uncompiled core sets NumPy's own variable: entering a Context needs C.
    _quiet = _new_quiet_context()
    _error_state, _ignore = next((v, x) for v, x in _quiet.items() if v.name == "numpy.ufunc.extobj")

    def wk_flags() -> int:
        return state.flags

    def wk_set_flags(value: int) -> None:
        state.flags = value


def flags() -> int:
    """The calling thread's flags word."""
    return wk_flags()


if not cython.compiled:
    flags = wk_flags  # a call less


def set_flags(value: int) -> None:
    """Replaces the calling thread's flags word. Callers restore what flags() gave them."""
    wk_set_flags(value)


def grad_enabled() -> bool:
    """Whether operations on the calling thread record what a backward pass needs."""
    return (wk_flags() & NO_GRAD) == 0


def set_grad_enabled(enabled: bool) -> None:
    """Switches recording on the calling thread on or off."""
    if enabled:
        wk_set_flags(wk_flags() & ~NO_GRAD)
    else:
        wk_set_flags(wk_flags() | NO_GRAD)


def set_flag(bit: int, on: bool) -> None:
    """Sets or clears one bit of the calling thread's flags word."""
    if on:
        wk_set_flags(wk_flags() | bit)
    else:
        wk_set_flags(wk_flags() & ~bit)


def quiet_enter() -> int:
    """Silences NumPy's floating-point warnings on this thread until quiet_exit; pairs nest. See Note [Quiet kernels]."""
    if cython.compiled:
        if not wk_has_quiet():
            context = _new_quiet_context()
            state.quiet = context  # owns what C borrows
            wk_set_quiet(context)
        wk_quiet_enter()
    else:
        if state.quiet_depth == 0:
            state.quiet_token = _error_state.set(_ignore)
        state.quiet_depth += 1
    return 0


def run_quiet(function: Any, x: Any, y: Any) -> Any:
    """function(x, y) with NumPy's warnings silenced; the hot path's shorter form of quiet_enter and quiet_exit."""
    if not cython.compiled:
        return state.quiet.run(function, x, y)
    quiet_enter()
    try:
        return function(x, y)
    finally:
        quiet_exit()


def quiet_exit() -> int:
    """Ends what the matching quiet_enter began."""
    if cython.compiled:
        wk_quiet_exit()
    else:
        state.quiet_depth -= 1
        if state.quiet_depth == 0:
            _error_state.reset(state.quiet_token)
    return 0


class set_recording:
    """Switches recording on or off in a with block."""

    def __init__(self, enabled: bool) -> None:
        self.enabled = enabled

    def __enter__(self) -> None:
        self.before = flags()
        set_flags(self.before & ~NO_GRAD if self.enabled else self.before | NO_GRAD)

    def __exit__(self, *_: object) -> None:
        set_flags(self.before)
