"""The operations. Importing this package registers those that most programs use; `registry` says how they are written.

The other families are registered one by one, each when something of it is first asked for: a function by a namespace, a
method of class Tensor, an operation by a rule or composite that asks F for it, or OPS[name]. `import wengert` does not pay
for them, and a program for those that it uses only. What they hold is listed in `late`, which is generated.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

from wengert.ops import late

_FAMILIES = (
    "arithmetic", "pointwise", "trigonometry", "piecewise", "choice", "compare", "reduce", "extrema", "softmax", "shape", "expand",
    "strided", "index", "join", "linalg", "create", "random",
)  # fmt: skip
_LATE_FAMILIES = (
    "nn", "activation", "binary", "complex", "logic", "special", "scan", "moments", "inplace_views", "rearrange",
    "gather", "scatter", "scatter_reduce", "masks", "sorting", "older", "copies", "index_reduce", "short_time",
    "signal_windows", "native", "segments", "low_rank", "queries", "recurrent", "layer_functions", "einsum", "factor",
    "matrix_functions", "running", "statistics", "histograms", "masked", "fft", "loss", "conv", "pool", "norm", "pad",
    "resize", "grid", "attention", "distance", "bags", "margin_loss", "ctc", "stochastic_activation",
    "fractional_pool", "multi_head", "linear_loss", "eigen", "decomposition", "least_squares", "ldl", "bessel",
    "polynomials", "probability", "beta",
)  # fmt: skip

for _family in _FAMILIES:
    import_module(f"wengert.ops.{_family}")

from wengert.ops.registry import ALIASES, OPS, functions as _functions, inplace_functions, methods as _methods  # noqa: E402


class _LateMethod:
    """Stands in class Tensor for a method of a family that is not registered yet; reading it registers the family."""

    __slots__ = ("family", "name")

    def __init__(self, family: str, name: str) -> None:
        self.family = family
        self.name = name

    def __get__(self, instance: Any, owner: Any) -> Any:
        return load(self.family)[self.name].__get__(instance, owner)


def _late_methods() -> dict[str, _LateMethod]:
    return {name: _LateMethod(family, name) for family, names in late.METHODS.items() for name in names.split()}


# What the operations give class Tensor.
OperationMethods: Any = type("OperationMethods", (), {"__slots__": (), **_late_methods(), **_methods()})


@cache
def load(family: str) -> dict[str, Callable[..., Any]]:
    """Registers a family, if it is not there yet, and gives class Tensor its methods, which it returns."""
    import_module(f"wengert.ops.{family}")
    names = late.OPERATIONS.get(family, "").split()
    found = _methods(names) if names else {}
    for name, method in found.items():
        setattr(OperationMethods, name, method)
    return found


def load_all() -> None:
    """Registers every family."""
    for family in _LATE_FAMILIES:
        load(family)


def load_family_of(operation: str) -> None:
    """Registers the late family that has the operation of this name, if there is one."""
    family = _families_of_operations().get(operation)
    if family is not None:
        load(family)


@cache
def _families_of_operations() -> dict[str, str]:
    return {name: family for family, names in late.OPERATIONS.items() for name in names.split()}


@cache
def late_functions(namespace: str) -> dict[str, str]:
    """The public functions of a namespace that are in families registered late, and which family each is in."""
    return {name: family for family, names in late.FUNCTIONS[namespace].items() for name in names.split()}


def function(namespace: str, name: str) -> Callable[..., Any] | None:
    """The public function of this name in a namespace, in-place forms too; None if there is none."""
    family = late_functions(namespace).get(name)
    if family is not None:
        load(family)
    found = _functions(namespace).get(name)
    return inplace_functions(namespace).get(name) if found is None and name.endswith("_") else found


def functions(namespace: str) -> dict[str, Callable[..., Any]]:
    """All public functions of a namespace: "" for wengert itself, "nn.functional", "linalg"..."""
    for family in late.FUNCTIONS[namespace]:
        load(family)
    return _functions(namespace) | (inplace_functions(namespace) if namespace else {})


def namespace_members(module: str, namespace: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """__getattr__ and __dir__ for the module of a namespace, which gets each function when that is first asked for."""
    members = vars(sys.modules[module])

    def names() -> list[str]:
        registered = [*_functions(namespace), *inplace_functions(namespace)]
        return sorted({*registered, *late_functions(namespace)})

    def getattr(name: str) -> Any:
        if name == "__all__":
            return names()
        found = None if name.startswith("__") else function(namespace, name)
        if found is None:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        members[name] = found
        return found

    return getattr, lambda: sorted({*members, *names()})


def __getattr__(name: str) -> Any:
    if name == "aten":
        return import_module("wengert.ops.aten")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "ALIASES", "OPS", "OperationMethods", "function", "functions", "inplace_functions", "late_functions", "load", "load_all",
    "load_family_of", "namespace_members",
]  # fmt: skip
