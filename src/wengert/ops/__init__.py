"""The operations. Importing this package registers the families that most programs use. `registry` says how they are declared.

Each late family is registered when a program first asks for something in it: a function of a namespace, a method of class
Tensor, an operation that a rule or composite takes from F, or an entry of OPS. So `import wengert` does not pay for late
families, and a program pays only for those that it uses. See `families`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Any

from wengert import errors
from wengert._forks import import_late
from wengert.core.override import overriding
from wengert.ops import late
from wengert.ops.families import FAMILIES, LATE_FAMILIES, late_functions, register
from wengert.ops.interception import intercept_member

for _family in FAMILIES:
    register(_family)

from wengert.ops.registry import ALIASES, OPS, functions as _functions, inplace_functions, methods as _methods  # noqa: E402


class _LateMethod:
    """A method of class Tensor whose family is not registered yet. Reading it registers the family."""

    __slots__ = ("family", "name")

    def __init__(self, family: str, name: str) -> None:
        self.family = family
        self.name = name

    def __get__(self, instance: Any, owner: Any) -> Any:
        return load(self.family)[self.name].__get__(instance, owner)


def _late_methods() -> dict[str, _LateMethod]:
    return {name: _LateMethod(family, name) for family, names in late.METHODS.items() for name in names.split()}


# The methods and operators that the operations give class Tensor.
OperationMethods: Any = type("OperationMethods", (), {"__slots__": (), **_late_methods(), **_methods()})


@cache
def load(family: str) -> dict[str, Callable[..., Any]]:
    """Register a family, and set its methods on class Tensor. Returns them by name."""
    register(family)
    names = late.OPERATIONS.get(family, "").split()
    found = _methods(names) if names else {}
    for name, method in found.items():
        setattr(OperationMethods, name, method)
        if overriding():
            intercept_member(name, method)
    return found


def load_all() -> None:
    """Register every family."""
    for family in LATE_FAMILIES:
        load(family)


def function(namespace: str, name: str) -> Callable[..., Any] | None:
    """Return the public function of this name in a namespace, in-place forms included, or None."""
    family = late_functions(namespace).get(name)
    if family is not None:
        load(family)
    found = _functions(namespace).get(name)
    return inplace_functions(namespace).get(name) if found is None and name.endswith("_") else found


def functions(namespace: str) -> dict[str, Callable[..., Any]]:
    """Return all public functions of a namespace: "" for wengert itself, "nn.functional", "linalg" and so on."""
    for family in late.FUNCTIONS[namespace]:
        load(family)
    return _functions(namespace) | (inplace_functions(namespace) if namespace else {})


def namespace_members(module: str, namespace: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return (__getattr__, __dir__) for the module of a namespace. The module gets each function at its first use."""
    members = vars(sys.modules[module])

    def names() -> list[str]:
        registered = [*_functions(namespace), *inplace_functions(namespace)]
        return sorted({*registered, *late_functions(namespace)})

    def getattr(name: str) -> Any:
        if name == "__all__":
            return names()
        found = None if name.startswith("__") else function(namespace, name)
        if found is None:
            raise errors.no_such_name(module, name)
        members[name] = found
        return found

    return getattr, lambda: sorted({*members, *names()})


def __getattr__(name: str) -> Any:
    if name == "aten":
        return import_late("wengert.ops.aten")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "ALIASES", "OPS", "OperationMethods", "function", "functions", "inplace_functions", "late_functions", "load", "load_all",
    "namespace_members",
]  # fmt: skip
