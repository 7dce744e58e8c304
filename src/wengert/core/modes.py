"""Thread-local state of the core: the flags word that the fast path tests, and the quiet context of kernels.

The word is zero in the ordinary case: operations are recorded and no mode is on. Every mode that changes how an operation is
dispatched owns one bit of the word, so one comparison tells whether any mode is on.
"""

from __future__ import annotations

if False:
    import cython
import contextvars
from _thread import _local  # threading takes it from here, and is a fortieth of the import of this package
from typing import Any

import numpy as np

from wengert import _shim as cython

# Bits of the flags word.
NO_GRAD = 1  # operations record nothing
INFERENCE = 2  # as NO_GRAD, and results carry no version counter and may never be saved for a backward pass
DUAL = 4  # a dual level is open: tensors may have tangents, which operations carry on (dual.py)
AUTOCAST = 8  # operations cast their inputs first, as state.autocast says (ops/autocast.py)
PROFILE = 16  # operations are measured
CHECK = 32  # results of operations are looked at for what is not finite, or something else runs them
OBSERVED = PROFILE | CHECK  # set for all threads, but not while an observed operation runs; see recorder.py
BLOCK = 16  # from this bit on, with NO_GRAD: the number of the user's block that switched recording off; see node.note_block


def new_quiet_context() -> contextvars.Context:
    """Return a context in which NumPy gives no floating-point warnings. See Note [Quiet kernels] in wk_tls.h."""
    context = contextvars.Context()
    context.run(np.seterr, all="ignore")
    return context


_observed = 0  # read uncompiled only, as what _ThreadState says is


class _ThreadState(_local):
    """The state of one thread. The fields flags, task and quiet_* are read in the uncompiled core only: C has its own."""

    def __init__(self) -> None:
        self.flags = _observed
        self.unobserved = 0
        self.quiet_context: Any = None if cython.compiled else new_quiet_context()
        self.quiet_token: Any = None
        self.quiet_depth = 0
        self.saved_hooks: list[tuple[Any, Any]] = []  # (pack, unpack); the last pair is the one that runs
        self.saved_hooks_refused: str | None = None  # why no pair may be added now
        self.task: Any = None  # the GraphTask of the innermost pass that is running
        self.multithreading = True  # what set_multithreading_enabled says
        self.output_places: dict[Any, Any] = {}  # nodes of writes into views that run now; see saved.output_place
        self.mutation: Any = None  # what keeps saved values apart from later writes
        self.dual_levels: tuple[Any, ...] = ()  # the open levels of forward mode, innermost last; see dual.py
        self.saved_levels: tuple[Any, ...] = ()  # those at which what is saved keeps its tangents
        self.named_level: Any = None  # the level that forward_ad.enter_dual_level has opened, or None
        self.autocast: Any = None  # the Autocast that runs operations while AUTOCAST is set
        self.function_modes: list[Any] = []  # the modes that take calls over, innermost last; see override.py
        self.overrides_off = 0  # how far overrides are switched off: 0, or a constant of override.py


state = _ThreadState()


if not cython.compiled:
    # Twins of wk_tls.h. These set NumPy's own variable: entering a Context as C does cannot be done in Python.
    _error_state, _ignore = next((v, x) for v, x in new_quiet_context().items() if v.name == "numpy.ufunc.extobj")

    def wk_flags() -> int:
        return state.flags

    def wk_set_flags(value: int) -> None:
        value = value & ~OBSERVED if value & NO_GRAD else value & ~OBSERVED & 0xFFFF
        state.flags = value | (0 if state.unobserved else _observed)

    def wk_observed() -> int:
        return _observed

    def wk_set_observed(bits: int) -> None:
        global _observed
        _observed = bits  # other threads see it when they next set their flags
        wk_set_flags(state.flags)

    def wk_set_unobserved(change: int) -> None:
        state.unobserved += change
        wk_set_flags(state.flags)

    def wk_task() -> Any:
        return state.task

    def wk_set_task(task: Any) -> None:
        state.task = task

    def wk_has_quiet() -> bool:
        return True

    def wk_add_quiet(context: contextvars.Context) -> None:
        """Compiled, adds a context in which NumPy is silent. Uncompiled, each thread has its own from the start."""

    def wk_quiet_enter() -> None:
        own = state.__dict__  # of the calling thread
        if own["quiet_depth"] == 0:
            own["quiet_token"] = _error_state.set(_ignore)
        own["quiet_depth"] += 1

    def wk_quiet_exit() -> None:
        own = state.__dict__
        own["quiet_depth"] -= 1
        if own["quiet_depth"] == 0:
            _error_state.reset(own["quiet_token"])


def flags() -> int:
    """Return the calling thread's flags word."""
    return wk_flags()


def set_flags(value: int) -> None:
    """Replace the calling thread's flags word. Callers restore what flags() gave them."""
    wk_set_flags(value)


def current_task() -> Any:
    """Return the GraphTask of the calling thread's innermost backward pass, or None outside of a pass."""
    return wk_task()


def set_current_task(task: Any) -> None:
    """Make task the innermost pass. Callers keep it alive, and restore what current_task() gave them."""
    wk_set_task(task)


def quiet_enter() -> None:
    """Silence NumPy's warnings on this thread until quiet_exit. Pairs nest. See Note [Quiet kernels]."""
    if not wk_has_quiet():
        wk_add_quiet(new_quiet_context())
    wk_quiet_enter()


def quiet_exit() -> None:
    """End what the matching quiet_enter began."""
    wk_quiet_exit()


if not cython.compiled:  # a call less
    flags, set_flags, quiet_enter, quiet_exit = wk_flags, wk_set_flags, wk_quiet_enter, wk_quiet_exit


def grad_enabled() -> bool:
    """Whether operations on the calling thread record what a backward pass needs."""
    return (flags() & NO_GRAD) == 0


def set_grad_enabled(enabled: bool) -> None:
    """Switch recording on the calling thread on or off."""
    set_flag(NO_GRAD, not enabled)


def observed() -> int:
    """Return the bits of OBSERVED that are set, whether or not the calling thread is in sight of observers."""
    return wk_observed()


def set_observed(bits: int) -> None:
    """Set these bits of OBSERVED, and no others, for all threads."""
    wk_set_observed(bits)


def set_unobserved(change: int) -> None:
    """With 1, takes the calling thread out of sight of observers; with -1, ends that. Pairs nest."""
    wk_set_unobserved(change)


def set_flag(bit: int, on: bool) -> None:
    """Set or clears one bit of the calling thread's flags word."""
    set_flags(flags() | bit if on else flags() & ~bit)


class set_recording:
    """Switches recording on or off in a with block."""

    def __init__(self, enabled: bool) -> None:
        self.enabled = enabled

    def __enter__(self) -> None:
        self.before = flags()
        set_flags(self.before & ~NO_GRAD if self.enabled else self.before | NO_GRAD)

    def __exit__(self, kind: object = None, error: object = None, traceback: object = None) -> None:
        set_flags(self.before)


class FlagsSwitch:
    """Context manager that changes the calling thread's flags word and restores it at the end.

    The methods are compiled and take no variable arguments. So no interrupt and no failing allocation comes between entering
    the block and restoring the word."""

    def __init__(self) -> None:
        # (the word to restore, the pair before), as an object can be entered again inside its own block. To take a pair off needs
        # no memory; a list may be moved when it gets shorter.
        self._before: Any = None

    def _changed_flags(self, before: int) -> int:
        raise NotImplementedError

    def __enter__(self) -> None:
        before = flags()
        changed = self._changed_flags(before)
        self._before = before, self._before
        set_flags(changed)

    def __exit__(self, kind: Any = None, error: Any = None, traceback: Any = None) -> None:
        word, self._before = self._before
        set_flags(word)


class LevelsSwitch:
    """Context manager that changes the calling thread's dual levels, and restores them and the flags word at the end.

    Its methods are compiled: see FlagsSwitch. A subclass has `_changed`, which returns (what `with ... as` gives, the levels
    that are open in the block, those at which what is saved keeps its tangents, the level with a name or None)."""

    def __init__(self) -> None:
        self._before: Any = None  # (what to restore, the pair before)

    def _changed(self) -> tuple[Any, tuple[Any, ...], tuple[Any, ...], Any]:
        raise NotImplementedError

    def __enter__(self) -> Any:
        before = flags(), state.dual_levels, state.saved_levels, state.named_level
        result, levels, saved, named = self._changed()
        changed = flags()
        if not levels:
            changed &= ~DUAL
        elif len(levels) > len(state.dual_levels):
            changed |= DUAL
        self._before = before, self._before
        state.dual_levels = levels
        state.saved_levels = saved
        state.named_level = named
        set_flags(changed)
        return result

    def __exit__(self, kind: Any = None, error: Any = None, traceback: Any = None) -> None:
        before, self._before = self._before
        mode, state.dual_levels, state.saved_levels, state.named_level = before
        set_flags(mode)
        self._left()

    def _left(self) -> None:
        """Release what the block has held. The levels have been restored."""


class AutocastSwitch:
    """Context manager that changes the calling thread's autocast settings, and restores them at the end.

    Its methods are compiled: see FlagsSwitch. A subclass has `_changed`, which returns (settings in the block, whether they are
    on). No mode but autocast is restored: a grad mode that is set in the block stays."""

    def __init__(self) -> None:
        self._before: Any = None  # (what to restore, the pair before)

    def _changed(self) -> tuple[Any, bool]:
        raise NotImplementedError

    def __enter__(self) -> Any:
        settings, enabled = self._changed()
        self._before = (state.autocast, flags() & AUTOCAST), self._before
        state.autocast = settings
        set_flag(AUTOCAST, enabled)
        return self

    def __exit__(self, kind: Any = None, error: Any = None, traceback: Any = None) -> Any:
        before, self._before = self._before
        state.autocast, enabled = before
        set_flag(AUTOCAST, enabled != 0)
        return False


class same_autocast(AutocastSwitch):
    """Context manager: the block runs under the autocast settings that the thread had when this object was made."""

    def __init__(self) -> None:
        super().__init__()
        self._enabled = (flags() & AUTOCAST) != 0
        self._settings: Any = None if state.autocast is None else state.autocast.renewed()

    def _changed(self) -> tuple[Any, bool]:
        return None if self._settings is None else self._settings.renewed(), self._enabled
