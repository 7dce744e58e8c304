"""Functions that a profiler measures though they do not run through dispatch: what makes tensors, detach(), some writes.

Note [Watched functions]
A test whether a profiler is on costs some 100 nanoseconds in a Python function that others call under several names: a tenth
of zeros(2). Instead each of these functions has its code exchanged while a profiler is on, for code that measures the
function as it was. Without a profiler nothing is different, and all ways to get at the function lead to the same object.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from types import CodeType, FunctionType
from typing import Any

_codes: dict[FunctionType, tuple[CodeType, CodeType]] = {}  # of each function: its own code, and the one that measures it
_originals: dict[FunctionType, FunctionType] = {}  # of each function for which another runs: the function as it was


@cache
def _measuring(n_free: int) -> CodeType:
    """Return code that calls a constant, "measure", with its arguments, for functions with a number of free variables.

    Python reads such variables from where its own instructions have put them, so the code is compiled with as many."""
    names = ", ".join([f"v{i}" for i in range(n_free)])
    source = f"""def around({names}):
    def measuring(*args, **kwargs):
        {"if False: " + names if names else "pass"}
        measure = "measure"
        return measure(*args, **kwargs)
    return measuring"""
    scope: dict[str, Any] = {}
    exec(compile(source, __file__, "exec"), scope)
    code: CodeType = scope["around"](*range(n_free)).__code__
    return code


def _exchanged(function: FunctionType, call: Any) -> CodeType:
    """Return code for a function that returns call(*args, **kwargs)."""
    names = function.__code__.co_freevars
    code = _measuring(len(names))
    constants = tuple([call if constant == "measure" else constant for constant in code.co_consts])
    return code.replace(co_consts=constants, co_freevars=names)


def _copy(function: FunctionType, code: CodeType) -> FunctionType:
    copied = FunctionType(code, function.__globals__, function.__name__, function.__defaults__, function.__closure__)
    copied.__kwdefaults__ = function.__kwdefaults__
    copied.__qualname__ = function.__qualname__
    return copied


def stand_in(function: FunctionType, run: Callable[..., Any], shown: Any) -> None:
    """Let calls of a function run as run(shown, function as it is now, *args, **kwargs) for the rest of the process."""
    if function in _originals:
        return
    original = _copy(function, function.__code__)
    if function in _codes:
        _codes[original] = _codes.pop(function)
    _originals[function] = original
    function.__dict__.setdefault("__wrapped__", original)  # inspect.signature asks it
    function.__code__ = _exchanged(function, partial(run, shown, original))


def watch(function: FunctionType, name: str, makes_memory: bool, measure: Callable[..., Any]) -> None:
    """Let exchange_codes(True) have calls of a function run as measure(name, makes_memory, function as it is now, *args)."""
    function = _originals.get(function, function)
    if function in _codes:
        return
    bound = partial(measure, name, makes_memory, _copy(function, function.__code__))
    _codes[function] = (function.__code__, _exchanged(function, bound))


# Functions that compute with arrays past dispatch. A recorded program calls each as a whole (program/recording.py).
# By the id of their code.
ARRAY_FUNCTIONS: dict[int, FunctionType] = {}
ARRAY_WRITERS: dict[int, FunctionType] = {}  # those that write into the tensor that is their first argument


def of_arrays(function: Any) -> Any:
    """Mark a function whose result depends on its arguments alone, and which has no derivative. It may compute past dispatch.

    Its arguments are tensors, arrays, numbers and containers of these, its result an array, a tensor or a tuple of either."""
    ARRAY_FUNCTIONS[id(function.__code__)] = function
    return function


def into_array(function: Any) -> Any:
    """Mark a function that does nothing but write into its first argument, a tensor, what depends on its other arguments."""
    ARRAY_WRITERS[id(function.__code__)] = function
    return function


def differs_on_arrays(rule: Any) -> Any:
    """Mark a rule that computes other last bits on arrays than on tensors, by a kernel of its own or by another formula.

    A recording that is to be exact runs it on arrays, as backward passes do that are not differentiated again."""
    return differs_above(-1)(rule)


def differs_above(ndim: int) -> Callable[[Any], Any]:
    """Mark a rule that does so if the operation's result has more than ndim dimensions."""

    def mark(rule: Any) -> Any:
        rule.differs_above = ndim
        return rule

    return mark


def own_code(function: Any) -> CodeType:
    """Return the code of a function, also while its code is exchanged."""
    function = _originals.get(function, function)
    codes = _codes.get(function)
    return codes[0] if codes is not None else function.__code__


def is_stand_in(code: CodeType) -> bool:
    """Whether a code was exchanged for that of a function."""
    return code.co_name == "measuring" and code.co_filename == __file__


def as_written(function: Any) -> Any:
    """Return a function, or, while its code is exchanged, a copy with its own code. Tools that read code take this one."""
    if type(function) is not FunctionType or function.__code__ is own_code(function):
        return function
    return _copy(function, own_code(function))


def exchange_codes(measured: bool) -> None:
    """Has all watched functions measured, or not."""
    for function, codes in _codes.items():
        function.__code__ = codes[measured]


number_observer: Any = None


def set_number_observer(observer: Any) -> None:
    """Let item() return observer(tensor, number) in place of the number. None: no more."""
    global number_observer
    number_observer = observer
