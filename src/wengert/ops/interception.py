"""What all public callables have: they tell their signatures, and ask `override` once overriding has begun.

The compiled callables take (*args, **kwargs), and so do the Python functions around operations. To make a signature costs 50
microseconds, so none is made at import: inspect.signature follows `__wrapped__` to the registry entry, which has `__signature__`.

Overriding: see Note [Overrides] in core/override.py. Public callables that are written in Python ask `override` once it has begun.
Their code is exchanged, as the profiler does it: see Note [Watched functions]. So a function that a program has imported before, or
has put into a table of its overrides, is the one that __torch_function__ gets.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from types import FunctionType
from typing import Any, TypeVar

from wengert.core.override import (
    overriding,
    run_overridable,
    run_overridable_by_mode,
    run_overridable_operator,
    set_override_handlers,
)
from wengert.core.tensor import TensorBase
from wengert.core.watched import own_code, stand_in

_F = TypeVar("_F", bound=Callable[..., Any])

# Operators that __torch_function__ sees under the name of a method. All others are shown as they are.
_SHOWN = {
    "__add__": "add", "__radd__": "add", "__iadd__": "add_", "__sub__": "sub", "__isub__": "sub_", "__mul__": "mul",
    "__rmul__": "mul",
    "__imul__": "mul_", "__matmul__": "matmul", "__mod__": "remainder", "__imod__": "remainder_", "__truediv__": "div",
    "__itruediv__": "div_", "__div__": "div", "__idiv__": "div_", "__pow__": "pow", "__lt__": "lt", "__le__": "le", "__gt__": "gt",
    "__ge__": "ge", "__ne__": "ne",
}  # fmt: skip
_OPERATORS = frozenset(_SHOWN) | {
    "__eq__", "__and__", "__rand__", "__iand__", "__or__", "__ror__", "__ior__", "__xor__", "__rxor__", "__ixor__", "__rsub__",
    "__rtruediv__", "__rdiv__", "__floordiv__", "__rfloordiv__", "__ifloordiv__", "__rmod__", "__rpow__", "__ipow__", "__rmatmul__",
    "__lshift__", "__rlshift__", "__ilshift__", "__rshift__", "__rrshift__", "__irshift__",
}  # fmt: skip
_OTHERS = frozenset({
    "__getitem__", "__setitem__", "__len__", "__reversed__", "__contains__", "__bool__", "__int__", "__float__", "__complex__",
    "__index__", "__repr__", "__format__", "__deepcopy__", "__array__", "__dlpack__", "__dlpack_device__", "__neg__", "__pos__",
    "__abs__",
    "__invert__", "_version", "_base", "_is_view", "_backward_hooks",
})  # fmt: skip
_NOT_OVERRIDABLE = frozenset({"as_subclass"})
_NOT_OVERRIDABLE_FUNCTIONS = frozenset({"from_numpy", "frombuffer", "is_storage", "typename"})
_BY_MODES = frozenset({"tensor", "as_tensor", "asarray", "scalar_tensor"})  # functions that only modes take over

_functions: list[Any] = []  # the public functions of namespaces
_classes: list[type] = []


class Signed:
    """An entry of the registry. It is `__wrapped__` of its function, so that inspect.signature asks for the signature here."""

    @cached_property
    def __signature__(self) -> Any:
        from wengert.ops.signatures import signature_of  # few programs ask

        return signature_of(self)

    @property
    def __wrapped__(self) -> Any:
        """The function that is written in the sources. inspect.getsource and editors show it."""
        written = vars(self).get("fn") or self.forward  # type: ignore[attr-defined]
        # A public function that is itself the written one is copied: a chain of `__wrapped__` must not be a loop.
        return _copied(written) if written is self.function else written  # type: ignore[attr-defined]


class InplaceForm:
    """The `__wrapped__` of an in-place form: it has the signature of its operation, without out= and inplace=."""

    __slots__ = ("op",)

    def __init__(self, op: Any) -> None:
        self.op = op

    @property
    def __signature__(self) -> Any:
        found = self.op.__signature__
        return found.replace(parameters=[p for p in found.parameters.values() if p.name not in ("out", "inplace")])

    @property
    def __wrapped__(self) -> Any:
        return self.op.__wrapped__


def _copied(function: FunctionType) -> FunctionType:
    return FunctionType(own_code(function), function.__globals__, function.__name__, function.__defaults__, function.__closure__)


def shown(name: str) -> Callable[[Any], Any]:
    """Return a function that returns the function which __torch_function__ gets for an operator, given the operator.

    name: of the operator as a method, such as "__add__"."""
    method = _SHOWN.get(name)
    if method is None:
        return _itself
    return lambda operator: getattr(_classes[0], method)


def _itself(function: Any) -> Any:
    return function


def overridable(function: _F) -> _F:
    """Let a public function ask `override` once overriding has begun, and return it."""
    if type(function) is FunctionType and function.__name__ not in _NOT_OVERRIDABLE_FUNCTIONS:
        _functions.append(function)
        if overriding():
            _intercept(function)
    return function


def _intercept(function: Any) -> None:
    stand_in(function, run_overridable_by_mode if function.__name__ in _BY_MODES else run_overridable, function)


def register_overridable_class(cls: type) -> None:
    """Name the class whose members ask `override` once overriding has begun. wengert.tensor calls it, once, at import."""
    _classes.append(cls)


def is_overridable_member(name: str) -> bool:
    """Whether __torch_function__ is asked for a member of class Tensor of this name."""
    return name in _OPERATORS or name in _OTHERS or not (name.startswith("_") or name in _NOT_OVERRIDABLE)


def intercept_member(name: str, member: Any) -> None:
    """Let a member of class Tensor that is written in Python ask `override`."""
    if isinstance(member, property):
        for accessor, function in ((member.__get__, member.fget), (member.__set__, member.fset), (member.__delete__, member.fdel)):
            if type(function) is FunctionType:
                stand_in(function, run_overridable, accessor)
    elif type(member) is FunctionType and name in _OPERATORS:
        stand_in(member, run_overridable_operator, shown(name)(member))
    elif type(member) is FunctionType:
        stand_in(member, run_overridable, member)


def _begin() -> None:
    for function in _functions:
        _intercept(function)
    for cls in _classes:
        for base in cls.__mro__[:-1]:
            for name, member in list(vars(base).items()):
                if not is_overridable_member(name):
                    continue
                if base is TensorBase and type(member) not in (FunctionType, property):
                    member = _python_form(cls, name, member)
                    setattr(cls, name, member)
                intercept_member(name, member)


def _python_form(cls: type, name: str, member: Any) -> Any:
    """Return a member of the compiled class as a property or a function, whose code can be exchanged."""
    if hasattr(member, "__set__"):
        return property(
            lambda self: member.__get__(self),
            lambda self, value: member.__set__(self, value),
            lambda self: member.__delete__(self),
            member.__doc__,
        )

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return member(self, *args, **kwargs)

    method.__name__, method.__qualname__, method.__module__ = name, f"{cls.__qualname__}.{name}", cls.__module__
    method.__doc__ = member.__doc__
    method.__wrapped__ = member  # type: ignore[attr-defined]  # for inspect.signature
    return method


def _name_of(function: Any) -> str:
    """Return the name of a function for messages: "torch.linalg.norm", "torch.Tensor.add_", "torch.Tensor.shape.__get__"."""
    name: str = getattr(function, "__qualname__", str(function))
    if isinstance(getattr(function, "__self__", None), property):
        return f"torch.Tensor.{function.__self__.fget.__name__}.{function.__name__}"
    if name.split(".")[0] in ("ReadableBase", "Tensor", "TensorBase", "GradientMembers"):
        return f"torch.Tensor.{function.__name__}"
    module = getattr(function, "__module__", None) or "torch"
    return f"torch{module.removeprefix('wengert')}.{name}" if module.startswith("wengert") else f"{module}.{function.__name__}"


set_override_handlers(_begin, _name_of)
