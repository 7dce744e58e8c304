"""torch.overrides: classes and modes that take over calls of public functions by __torch_function__.

>>> import wengert
>>> class Loud(wengert.overrides.TorchFunctionMode):
...     def __torch_function__(self, func, types, args=(), kwargs=None):
...         print("call of", func.__name__)
...         return func(*args, **(kwargs or {}))
>>> with Loud():
...     x = wengert.ones(2) + 1
call of ones
call of add

A function of the package and the method of the same name are one object here: `wengert.add is wengert.Tensor.add`. So
__torch_function__ gets the same func for wengert.add(x, y), x.add(y) and x + y. In torch a method is an object of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import cache, wraps
from typing import Any

from wengert import ops
from wengert._forks import import_late
from wengert.core.modes import state
from wengert.core.override import (
    ALL_OFF,
    NOT_OVERRIDDEN,
    has_override,
    override,
    overriding_arguments,
    pop_mode,
    push_mode,
)
from wengert.ops.interception import is_overridable_member
from wengert.tensor import Tensor

__all__ = [
    "BaseTorchFunctionMode", "TorchFunctionMode", "enable_reentrant_dispatch", "get_default_nowrap_functions",
    "get_ignored_functions", "get_overridable_functions", "get_testing_overrides", "handle_torch_function", "has_torch_function",
    "has_torch_function_unary", "has_torch_function_variadic", "is_tensor_like", "is_tensor_method_or_property",
    "redispatch_function", "resolve_name", "wrap_torch_function",
]  # fmt: skip

_NAMESPACES = ("", "nn.functional", "linalg", "fft", "special")
_MODULE_NAMES = {"": "torch", "Tensor": "torch.Tensor"}


class TorchFunctionMode:
    """Base class of modes: `with mode:` lets its __torch_function__(func, types, args, kwargs) run each public call of this thread.

    The mode is off while its own __torch_function__ runs, so that calling func there ends in the next outer mode or in func
    itself. A result of NotImplemented leaves the call to the classes of the arguments.
    """

    def __torch_function__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        """Run the call of func. Subclasses must define it."""
        raise NotImplementedError

    def __enter__(self) -> Any:
        push_mode(self)
        return self

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        pop_mode()

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> Any:
        """Return a new mode: an older way to write cls(...)."""
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that changes nothing."""

    def __torch_function__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        """Return func(*args, **kwargs)."""
        return func(*args, **(kwargs or {}))


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Whether a mode is on, or the class of an argument takes calls over. Tensor and Parameter do not."""
    return has_torch_function_variadic(*relevant_args)


def has_torch_function_unary(x: Any) -> bool:
    """has_torch_function for one argument."""
    return has_torch_function_variadic(x)


def has_torch_function_variadic(*relevant_args: Any) -> bool:
    """has_torch_function for arguments that are given one by one."""
    if state.overrides_off == ALL_OFF:
        return False
    return bool(state.function_modes) or (not state.overrides_off and any(has_override(x) for x in relevant_args))


def handle_torch_function(public_api: Any, relevant_args: Iterable[Any], *args: Any, **kwargs: Any) -> Any:
    """Return what a mode or the classes of relevant_args make of the call public_api(*args, **kwargs).

    Raises TypeError if all of them return NotImplemented, or if there are none.
    """
    relevant = tuple(relevant_args)
    result = override(public_api, args, kwargs, relevant)
    if result is NOT_OVERRIDDEN:
        raise TypeError(
            f"no implementation found for '{public_api.__module__}.{public_api.__name__}' on types that implement "
            f"__torch_function__: {[type(x) for x in overriding_arguments(relevant, {})]}"
        )
    return result


def wrap_torch_function(dispatcher: Callable[..., Iterable[Any]]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that makes a function overridable. dispatcher(*args, **kwargs) returns the arguments that may override."""

    def decorator(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            relevant = tuple(dispatcher(*args, **kwargs))
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, *args, **kwargs)
            return function(*args, **kwargs)

        return wrapped

    return decorator


def redispatch_function(func: Any, types: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
    """Return func(*args, **kwargs): other modes and classes may take the call over."""
    return func(*args, **(kwargs or {}))


def enable_reentrant_dispatch() -> AbstractContextManager[None]:
    """Return a context manager that does nothing: __torch_dispatch__ is not called here, so there is nothing to enter again."""
    return nullcontext()


def is_tensor_like(inp: Any) -> bool:
    """Whether inp is a tensor, or its class has __torch_function__."""
    return isinstance(inp, Tensor) or hasattr(inp, "__torch_function__")


# -- what can be overridden -------------------------------------------------------------------------------------------------

# Functions that only a mode takes over, beside those that make tensors, and members of Tensor that nobody does.
_IGNORED = """
    can_cast promote_types result_type is_tensor is_storage typename manual_seed seed initial_seed save load broadcast_shapes
    rand_like randn_like randint_like normal scalar_tensor vander fill from_numpy frombuffer tril_indices triu_indices vmap
"""
_IGNORED_MEMBERS = """
    __class__ __delattr__ __delitem__ __dir__ __getattribute__ __hash__ __init__ __init_subclass__ __iter__ __new__ __setattr__
    __subclasshook__ __torch_function__ _make_subclass _make_wrapper_subclass as_subclass new new_empty new_full new_ones new_tensor
    new_zeros reinforce
"""


def _names(namespace: str) -> Iterator[tuple[str, Any]]:
    """Yield (name, function) for the public functions of a namespace."""
    for name, function in sorted(ops.functions(namespace).items()):
        if not name.startswith("_"):
            yield name, function


def _members() -> Iterator[tuple[str, Any]]:
    """Yield (name, member) for the members of Tensor that can be overridden: functions and properties."""
    from inspect import getattr_static

    ops.load_all()
    for name in sorted({name for base in Tensor.__mro__[:-1] for name in vars(base)}):
        member = getattr_static(Tensor, name)
        if is_overridable_member(name) and name not in _IGNORED_MEMBERS.split() and (_is_property(member) or callable(member)):
            yield name, member


def _is_property(member: Any) -> bool:
    return hasattr(member, "__set__")


@cache
def _ignored() -> frozenset[Any]:
    names = _IGNORED.split()
    found = {function for name, function in _names("") if name in names or _makes_tensors(name)}
    return frozenset(found | {getattr(Tensor, name) for name in _IGNORED_MEMBERS.split() if hasattr(Tensor, name)})


def _makes_tensors(name: str) -> bool:
    return name in ops.OPS and ops.OPS[name].kind == "creation" and not name.endswith("_like")


def get_ignored_functions() -> set[Any]:
    """Return the public functions that the classes of arguments cannot override. Modes can override those that make tensors."""
    return set(_ignored())


def get_overridable_functions() -> dict[Any, list[Any]]:
    """Return the functions that __torch_function__ can override, by the module, class or property that has them."""
    found: dict[Any, list[Any]] = {}
    for namespace in _NAMESPACES:
        module = import_late("wengert" + ("." + namespace if namespace else ""))
        found[module] = [function for _, function in _names(namespace) if function not in _ignored()]
    found[Tensor] = [member for _, member in _members() if not _is_property(member)]
    found.update({member: [member.__get__] for _, member in _members() if _is_property(member)})
    return found


def get_testing_overrides() -> dict[Any, Callable[..., int]]:
    """Return a function for each overridable function, which takes the same arguments and returns -1."""
    return {function: _like(function) for functions in get_overridable_functions().values() for function in functions}


def _like(function: Any) -> Callable[..., int]:
    def stand_in(*args: Any, **kwargs: Any) -> int:
        return -1

    stand_in.__name__ = getattr(function, "__name__", "stand_in")
    stand_in.__wrapped__ = function  # type: ignore[attr-defined]  # inspect.signature follows it
    return stand_in


def get_default_nowrap_functions() -> set[Any]:
    """Return the functions whose results Tensor.__torch_function__ does not make tensors of the subclass."""
    from wengert.core.subclass import not_wrapped

    return set(not_wrapped(Tensor))


@cache
def _resolved() -> dict[Any, str]:
    found: dict[Any, str] = {}
    for namespace in _NAMESPACES:
        for name, function in _names(namespace):
            found.setdefault(function, f"torch.{namespace}.{name}" if namespace else f"torch.{name}")
    for name, member in _members():
        if _is_property(member):
            for accessor in ("__get__", "__set__", "__delete__"):
                found[getattr(member, accessor)] = f"torch.Tensor.{name}.{accessor}"
        else:
            found.setdefault(member, f"torch.Tensor.{name}")
    return found


def resolve_name(f: Any) -> str | None:
    """Return the public name of a function or method, such as "torch.add" or "torch.Tensor.grad.__get__", or None."""
    return _resolved().get(f)


def is_tensor_method_or_property(func: Any) -> bool:
    """Whether func is a method of Tensor that is no function too, or reads or writes a property."""
    return (resolve_name(func) or "").startswith("torch.Tensor.")


# -- the stack of modes, under torch's private names -------------------------------------------------------------------------


def _get_current_function_mode() -> Any:
    """Return the innermost mode of this thread, or None."""
    return state.function_modes[-1] if state.function_modes else None


def _get_current_function_mode_stack() -> list[Any]:
    """Return the modes of this thread, innermost last."""
    return list(state.function_modes)


def _len_torch_function_stack() -> int:
    """Return the number of modes that are on in this thread."""
    return len(state.function_modes)


def _is_torch_function_mode_enabled() -> bool:
    """Whether a mode is on in this thread."""
    return bool(state.function_modes) and state.overrides_off != ALL_OFF


def _get_overloaded_args(relevant_args: Iterable[Any]) -> list[Any]:
    """Return one argument of each class that takes calls over, in the order in which they are asked."""
    return overriding_arguments(tuple(relevant_args), {})


_push_mode = _push_on_torch_function_stack = push_mode
_pop_mode = _pop_torch_function_stack = pop_mode


def __dir__() -> list[str]:
    return sorted(__all__)
