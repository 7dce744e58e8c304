"""__torch_function__: calls that the classes of their arguments, or a mode, take over.

Note [Overrides]
A program that has made no tensor of a subclass, no mode and no object with __torch_function__ pays nothing for them: the public
callables of the compiled core test one C number, `overriding()`, and the others have no test at all. `begin_overriding` sets the
number, once and for the whole process, and exchanges the code of the callables that are written in Python; interception.py
does that. From then on each public callable asks `override` first.

A call that is taken over runs `__torch_function__` with the mode, or with overrides of subclasses, switched off. So what runs
inside a public function is never asked again, and no part of the package has to know of overrides.

Nobody says when a class with __torch_function__ is made that is no class of tensors. Its objects are met where no tensor was
found. The first one lets `override_foreign` begin overriding. If it was met inside another public function, the call of that
function fails, and is taken over instead.
"""

from __future__ import annotations

if False:
    import cython
import sys
from collections.abc import Callable
from os import sep
from os.path import dirname
from typing import Any

from wengert import _shim as cython
from wengert.core.modes import state
from wengert.core.tensor import TensorBase

NOT_OVERRIDDEN: Any = object()  # what override returns for a call that nobody takes over
SUBCLASSES_OFF = 1  # values of state.overrides_off
ALL_OFF = 2
_LONG = 32  # lists longer than this are looked through only if their first element is no number

if not cython.compiled:
    from wengert.core.native import wk_begin_overriding, wk_overriding

    _modes_entered = 0
    _begin: Callable[[], None]
    _name_of: Callable[[Any], str]

_CORE = dirname(__file__)
_PACKAGE = dirname(_CORE) + sep


class _DisabledTorchFunction:
    """The __torch_function__ of a class that takes no calls over, such as Parameter. No method, so it gets no self."""

    __name__ = "_disabled_torch_function_impl"

    def __call__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        with DisableTorchFunctionSubclass():
            return func(*args, **(kwargs or {}))


disabled_torch_function = _DisabledTorchFunction()


def overriding() -> bool:
    """Whether public callables ask `override`."""
    return wk_overriding()


def set_override_handlers(begin: Callable[[], None], name_of: Callable[[Any], str]) -> None:
    """Install what begin_overriding calls, and the function that returns the public name of a function for messages."""
    global _begin, _name_of
    _begin = begin
    _name_of = name_of


def begin_overriding() -> None:
    """Let public callables ask `override` from now on."""
    if not wk_overriding():
        _begin()
        wk_begin_overriding()


def has_override(x: Any) -> bool:
    """Whether the class of x takes calls over."""
    cls = type(x)
    if cls is float or cls is int or cls is str or cls is bool or x is None:
        return False
    function = getattr(cls, "__torch_function__", None)
    return function is not None and function is not disabled_torch_function and not is_plain_tensor(cls)


def is_plain_tensor(cls: Any) -> bool:
    """Whether cls is the class of the tensors that operations return."""
    return cls is _plain_class


def set_plain_class(cls: type) -> None:
    """Name the class of tensors that has no override of its own. wengert.tensor calls it, once, at import."""
    global _plain_class
    _plain_class = cls


if not cython.compiled:
    _plain_class: Any = None


def overriding_arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """Return one argument of each class with an override, subclasses before their superclasses, else from left to right."""
    found: list[Any] = []
    for x in args:
        _collect(found, x)
    if kwargs:
        for x in kwargs.values():
            _collect(found, x)
    return found


def _collect(found: list[Any], x: Any) -> None:
    cls = type(x)
    if cls is _plain_class:
        return
    if cls is tuple or cls is list:
        if len(x) > _LONG and isinstance(x[0], (float, int, str)):
            return
        for y in x:
            if type(y) is not _plain_class and has_override(y):
                _insert(found, y)
    elif has_override(x):
        _insert(found, x)


def _insert(found: list[Any], x: Any) -> None:
    place = len(found)
    for i in range(len(found) - 1, -1, -1):
        if type(found[i]) is type(x):
            return
        if issubclass(type(x), type(found[i])):
            place = i
    found.insert(place, x)


def override(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], relevant: Any = None) -> Any:
    """Return what a mode or an argument makes of the call function(*args, **kwargs), or NOT_OVERRIDDEN if nobody takes it over.

    relevant: the arguments whose classes are asked; None: all. Raises TypeError if all who are asked return NotImplemented.
    """
    found = overriding_arguments(args, kwargs) if relevant is None else overriding_arguments(relevant, {})
    if not found and _modes_entered == 0:
        return NOT_OVERRIDDEN
    off = state.overrides_off
    if off == ALL_OFF:
        return NOT_OVERRIDDEN
    if off == SUBCLASSES_OFF:
        found = []
    modes = state.function_modes
    if not found and not modes:
        return NOT_OVERRIDDEN
    return hand_over(function, args, kwargs, found, modes)


def hand_over(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], found: list[Any], modes: list[Any]) -> Any:
    """Return the result of the first handler that does not return NotImplemented: the innermost mode, then the arguments found."""
    types = tuple([type(x) for x in found])
    if modes:
        mode = modes.pop()
        try:
            result = mode.__torch_function__(function, types, args, kwargs)
        finally:
            modes.append(mode)
        if result is not NotImplemented:
            return result
    for x in found:
        result = x.__torch_function__(function, types, args, kwargs)
        if result is not NotImplemented:
            return result
    name = _name_of(function)
    if not name.startswith("torch.") or name.startswith("torch.nn.functional."):  # torch has two wordings
        raise TypeError(f"no implementation found for '{name}' on types that implement __torch_function__: {list(types)}")
    listed = "\n".join([f"  - tensor subclass {type(x)}" for x in found])
    if modes:
        listed = f"  - mode object {modes[-1]}\n{listed}"
    raise TypeError(f"Multiple dispatch failed for '{name}'; all __torch_function__ handlers returned NotImplemented:\n\n{listed}")


def override_operator(function: Any, args: tuple[Any, ...]) -> Any:
    """Return what `override` does, but NotImplemented in place of a TypeError, so that Python tries the other operand."""
    try:
        return override(function, args, {})
    except TypeError:
        return NotImplemented


def run_overridable(function: Any, original: Any, *args: Any, **kwargs: Any) -> Any:
    """Run a public function that is written in Python. original: the function as it was before its code was exchanged."""
    found = override(function, args, kwargs)
    return original(*args, **kwargs) if found is NOT_OVERRIDDEN else found


def run_overridable_by_mode(function: Any, original: Any, *args: Any, **kwargs: Any) -> Any:
    """Run a function that modes take over, and classes of its arguments do not: it makes tensors of data."""
    found = override(function, args, kwargs, ())
    return original(*args, **kwargs) if found is NOT_OVERRIDDEN else found


def run_overridable_operator(function: Any, original: Any, *args: Any) -> Any:
    """Run an operator that is written in Python."""
    found = override_operator(function, args)
    return original(*args) if found is NOT_OVERRIDDEN else found


# -- objects that are no tensors -------------------------------------------------------------------------------------------


def is_foreign(x: Any) -> bool:
    """Whether x is no tensor, and its class has an override."""
    return not isinstance(x, TensorBase) and has_override(x)


def has_foreign(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether an argument, or an element of an argument that is a list, is foreign."""
    for x in overriding_arguments(args, kwargs):
        if not isinstance(x, TensorBase):
            return True
    return False


def override_foreign(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return what `override` does, for a call in which the first object with an override was met.

    Inside another public function it is NOT_OVERRIDDEN: the call of that function is the one to be taken over.
    """
    begin_overriding()
    if _is_nested():
        return NOT_OVERRIDDEN
    return override(function, args, kwargs)


def _is_nested() -> bool:
    """Whether a function of the package, other than the public callables of core and registry, runs the present call."""
    frame: Any = sys._getframe()
    while frame is not None:
        name: str = frame.f_code.co_filename
        if not name.startswith(_CORE) and not name.endswith("registry.py"):
            return name.startswith(_PACKAGE)
        frame = frame.f_back
    return False


# -- modes ------------------------------------------------------------------------------------------------------------------


def push_mode(mode: Any) -> None:
    """Make mode the innermost one of this thread."""
    global _modes_entered
    begin_overriding()
    state.function_modes.append(mode)
    _modes_entered += 1


def pop_mode() -> Any:
    """End the innermost mode of this thread, and return it. Raises RuntimeError if there is none."""
    global _modes_entered
    if not state.function_modes:
        raise RuntimeError("there is no TorchFunctionMode on this thread")
    mode = state.function_modes.pop()
    _modes_entered -= 1
    return mode


class OverridesSwitch:
    """Context manager that sets how far overrides are switched off on this thread. Subclasses say how far."""

    off = SUBCLASSES_OFF

    def __init__(self) -> None:
        self._before: Any = None  # (the value to restore, the pair before)

    def __enter__(self) -> None:
        self._before = state.overrides_off, self._before
        state.overrides_off = max(self.off, state.overrides_off)

    def __exit__(self, kind: Any = None, error: Any = None, traceback: Any = None) -> None:
        state.overrides_off, self._before = self._before


class DisableTorchFunctionSubclass(OverridesSwitch):
    """Classes of arguments take no calls over in this block. Modes do."""


class DisableTorchFunction(OverridesSwitch):
    """Neither classes of arguments nor modes take calls over in this block."""

    off = ALL_OFF
