"""Finding out that a forward or a rule is one NumPy function of its arguments, which then needs no Python frame.

Both are tried out once, on stand-ins that only record. What does more than one plain call keeps its own function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.backends import numpy as numpy_backend

PASS = "pass"  # the rule returns the cotangent itself


class _CallRecorder:
    """Stands in for xp: remembers the calls made on it."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []

    def __getattr__(self, name: str) -> Any:
        def record(*args: Any, **kwargs: Any) -> int:
            self.calls.append((name, args, kwargs))
            return len(self.calls)

        return record


class _Unknown:
    """Stands in for an array of which nothing may be asked: a forward that does is no mere pass-through."""

    def __getattr__(self, name: str) -> Any:
        # No AttributeError, which a forward may take for a wrong argument: making that error loads its message's module.
        raise TypeError("a forward that looks at its arguments is no single function of them")


def find_kernel(forward: Callable[..., Any], n_inputs: int) -> Any:
    """The NumPy function that a forward only passes its arrays on to, in order; False where it does more."""
    recorder = _CallRecorder()
    arguments = [_Unknown() for _ in range(n_inputs)]
    try:
        result = forward(recorder, *arguments)
    except Exception:  # it looked at its arguments: no mere pass-through
        return False
    if result != 1 or len(recorder.calls) != 1:
        return False
    name, args, kwargs = recorder.calls[0]
    if kwargs or len(args) != n_inputs or any(a is not b for a, b in zip(args, arguments, strict=True)):
        return False
    return getattr(numpy_backend, name)


class Argument:
    """Stands in for a real array in a rule: an operator makes a _Result of it."""

    def __init__(self, position: int) -> None:
        self.position = position  # among the rule's saved values; -1 is the cotangent

    def __bool__(self) -> bool:
        raise TypeError("a rule that looks at its arguments is no single function of them")

    def __eq__(self, other: object) -> bool:
        raise TypeError("a rule that looks at its arguments is no single function of them")

    __hash__ = None  # type: ignore[assignment]

    def __mul__(self, other: Any) -> Any:
        return _Result("multiply", self, other) if isinstance(other, Argument) else NotImplemented

    def __truediv__(self, other: Any) -> Any:
        return _Result("divide", self, other) if isinstance(other, Argument) else NotImplemented

    def __neg__(self) -> Any:
        return _Result("negative", self, NO_ARGUMENT)


NO_ARGUMENT = Argument(-2)


class _Result:
    """The result of one operator, of which nothing more is known."""

    def __init__(self, function: str, left: Argument, right: Argument) -> None:
        self.function, self.left, self.right = function, left, right


class _RealFace:
    """Stands in for F where everything is real."""

    is_tensor = False

    @staticmethod
    def conj(x: Any) -> Any:
        return x


def find_rule_kernel(function: Callable[..., Any], arguments: list[Any]) -> tuple[Any, int, int]:
    """The NumPy function that a rule is for real arrays, and the positions of its one or two arguments, as in Argument.

    PASS in its place: the rule returns the cotangent. None: it does more. arguments: an Argument for what is an array, or
    the value of a parameter.
    """
    try:
        result = function(_RealFace, Argument(-1), *arguments)
    except Exception:  # it uses another operation, or looks at a value: it keeps its own function
        return None, 0, 0
    if isinstance(result, _Result):
        return getattr(numpy_backend, result.function), result.left.position, result.right.position
    if isinstance(result, Argument) and result.position == -1:
        return PASS, 0, 0
    return None, 0, 0
