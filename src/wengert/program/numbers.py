"""Python numbers that a program is given: stand-ins write down what a function does with them, and a run does it again.

A recorded function that is called with another number than before gets stand-ins in place of its numbers. Arithmetic on stand-ins
gives stand-ins, comparisons and whatever else reads a value are conditions: the program fits only if they come out the same. So no
value gets into a program unseen. Operations of tensors and numbers take the numbers from memory of the program. See docs/adr/0060.
"""

from __future__ import annotations

import operator
from _thread import get_ident
from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import Any

from wengert.core.binding import stand_ins
from wengert.core.tensor import TensorBase

_PLAIN = frozenset({int, float, bool})  # operands that arithmetic is written down with
_READ = object()  # in place of a function, for a number that a tensor gives
_NEVER_FAILING = frozenset({operator.add, operator.sub, operator.mul, operator.neg, operator.pos, operator.abs})


class Arithmetic:
    """What a program computes of the numbers that it is given, and the values that must come out as they were recorded.

    n_given: how many numbers there are. names: what they are called."""

    def __init__(self, given: Sequence[Any], names: Sequence[str] = ()) -> None:
        self.n_given = len(given)
        self.is_recording = True
        self.is_put_out: Callable[[], bool] = bool  # whether texts are made of values to be put out, which is done anew in each run
        self._thread = get_ident()  # to others, stand-ins are numbers: they may find them where the function does
        self._parts: dict[int, Any] = {}  # what _part_after has returned, by the first place
        self.conditions: dict[int, Any] = {}  # places of numbers, and their values in the recording
        # What follows the given numbers in the table: (None, (), a constant), (a function, places, the type of its result), or
        # (_READ, (), the type of the number).
        self.rows: list[tuple[Any, tuple[int, ...], Any]] = []
        self._texts = list(names) or [f"n{i}" for i in range(len(given))]
        self._constants: dict[tuple[type, str], int] = {}
        self.types = [type(x) for x in given]
        self.stand_ins = [self._stand_in(i, x) for i, x in enumerate(given)]

    def _stand_in(self, place: int, value: Any) -> Number:
        return (Int if type(value) is int else Number)(self, place, value)

    def _place_of(self, x: Any) -> int:
        """Return the place of an operand, a stand-in or a number."""
        if isinstance(x, Number) and x._arithmetic is self:
            return x._place
        key = type(x), repr(x)
        if key not in self._constants:
            self._constants[key] = self._add(None, (), x, repr(x))
        return self._constants[key]

    def _add(self, function: Any, places: tuple[int, ...], result: Any, text: str) -> int:
        self.rows.append((function, places, result))
        self._texts.append(text)
        return self.n_given + len(self.rows) - 1

    def compute(self, function: Callable[..., Any], *operands: Any) -> Any:
        """Return function(*operands): a stand-in for an int or a float, a condition if it is a truth value."""
        result = function(*[value_of(x) for x in operands])
        if not self.is_seen():
            return result
        if type(result) is complex:
            for x in operands:
                plain(x)
            return result
        places = tuple([self._place_of(x) for x in operands])
        place = self._add(function, places, type(result), f"{function.__name__}({', '.join([self._texts[i] for i in places])})")
        if type(result) is bool:
            self.conditions[place] = result
            return result
        return self._stand_in(place, result)

    def is_seen(self) -> bool:
        """Whether what is done with stand-ins now is part of the recorded run."""
        return self.is_recording and get_ident() == self._thread

    def text(self, place: int) -> str:
        """Return what the number at a place is, for people."""
        return self._texts[place]

    def read(self, number: Any, text: str) -> Number:
        """Return a stand-in for a number that a tensor gives in the middle of the run. text: what it is, for people."""
        return self._stand_in(self._add(_READ, (), type(number), text), number)

    def may_stop(self, place: int) -> bool:
        """Whether something that follows from the number at a place, up to the next one that a tensor gives, may not fit."""
        rows, conditions = self._part_after(place, place + 1)
        fails = any(function is not None and (function not in _NEVER_FAILING or kind is int) for function, _, kind in rows)
        return fails or bool(conditions)

    def _part_after(self, first: int, end: int) -> tuple[list[Any], list[tuple[int, Any]]]:
        """Return the rows from the place `end` to the next number that a tensor gives, and the conditions from `first` to there."""
        if first not in self._parts:
            rows = list(takewhile(lambda row: row[0] is not _READ, self.rows[end - self.n_given :]))
            conditions = [(place, x) for place, x in self.conditions.items() if first <= place < end + len(rows)]
            if self.is_recording:
                return rows, conditions
            self._parts[first] = rows, conditions
        return self._parts[first]

    def table_of(self, given: Sequence[Any]) -> list[Any] | None:
        """Return the table of numbers for given ones, up to the first that a tensor gives, or None if a condition fails."""
        table = list(given[: self.n_given])
        return table if self._follows(table, *self._part_after(-1, self.n_given)) else None

    def go_on(self, table: list[Any], number: Any) -> bool:
        """Add the number that a tensor gives, and what follows, to the table. Return False if a condition fails."""
        table.append(number)
        place = len(table) - 1
        is_same = type(number) is self.rows[place - self.n_given][2]
        return is_same and self._follows(table, *self._part_after(place, place + 1))

    def _follows(self, table: list[Any], rows: list[Any], conditions: list[tuple[int, Any]]) -> bool:
        try:
            for function, places, expected in rows:
                result = expected if function is None else function(*[table[i] for i in places])
                if function is not None and type(result) is not expected:
                    return False
                table.append(result)
        except (ArithmeticError, ValueError):
            return False  # the function raises it, at its line
        for place, expected in conditions:
            found = table[place]
            if type(found) is not type(expected) or (found is not expected and repr(found) != repr(expected)):
                return False
        return True


def value_of(x: Any) -> Any:
    """Return the value of a stand-in, or x itself, without a condition."""
    return x._value if type(x) in _STAND_INS else x


def plain(x: Any) -> Any:
    """Return the value of a stand-in, on which the program depends from now on, or x itself."""
    if type(x) in _STAND_INS:
        if x._arithmetic.is_seen() and not x._arithmetic.is_put_out():
            x._arithmetic.conditions[x._place] = x._value
        return x._value
    return x


def is_stand_in(x: Any) -> bool:
    """Whether x stands in for a number."""
    return type(x) in _STAND_INS


class Number:
    """Stands in for a float while a function is recorded. Afterwards, it computes as the float does."""

    __slots__ = ("_arithmetic", "_place", "_value")

    def __init__(self, arithmetic: Arithmetic, place: int, value: Any) -> None:
        self._arithmetic = arithmetic
        self._place = place
        self._value = value

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return type(self._value)

    def __bool__(self) -> bool:
        return bool(self._arithmetic.compute(operator.truth, self))

    def __getattr__(self, name: str) -> Any:
        getattr(type(self._value), name)  # raises AttributeError, as for a number
        return getattr(plain(self), name)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return getattr(ufunc, method)(*map(plain, inputs), **options)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        import numpy as np

        return np.array(plain(self), dtype)

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self

    def __reduce_ex__(self, protocol: Any) -> Any:
        return type(self._value), (plain(self),)


class Int(Number):
    """Stands in for an int."""

    __slots__ = ()

    def __index__(self) -> int:
        return int(plain(self))


_STAND_INS = frozenset({Number, Int})
stand_ins.update({Number: float, Int: int})


def _takes(x: Any) -> bool:
    """Whether arithmetic with x is written down."""
    return type(x) in _STAND_INS or type(x) in _PLAIN


def _binary(function: Callable[..., Any], is_reflected: bool) -> Callable[..., Any]:
    def compute(self: Any, other: Any) -> Any:
        if _takes(other):
            operands = (other, self) if is_reflected else (self, other)
            return self._arithmetic.compute(function, *operands)
        if isinstance(other, complex):
            return function(other, plain(self)) if is_reflected else function(plain(self), other)
        return NotImplemented  # a tensor takes the stand-in as it is

    return compute


def _read(function: Callable[..., Any]) -> Callable[..., Any]:
    def read(self: Any, *others: Any) -> Any:
        return function(plain(self), *map(plain, others))

    return read


def _read_reflected(function: Callable[..., Any]) -> Callable[..., Any]:
    def read(self: Any, other: Any) -> Any:
        return NotImplemented if isinstance(other, TensorBase) else function(plain(other), plain(self))

    return read


def _define() -> None:
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
        function = getattr(operator, name)
        setattr(Number, f"__{name}__", _binary(function, False))
        setattr(Number, f"__r{name}__", _binary(function, True))
    for name in ("lt", "le", "gt", "ge", "eq", "ne"):
        setattr(Number, f"__{name}__", _binary(getattr(operator, name), False))
    for name in ("neg", "pos", "abs"):
        function = getattr(operator, name)
        setattr(Number, f"__{name}__", lambda self, function=function: self._arithmetic.compute(function, self))
    readers: dict[str, Any] = {"round": round, "format": format, "hash": hash, "int": int, "float": float, "complex": complex}
    for name, function in {**readers, "repr": repr, "str": str, "divmod": divmod}.items():
        setattr(Number, f"__{name}__", _read(function))
    for name in ("trunc", "floor", "ceil"):
        setattr(Number, f"__{name}__", lambda self, name=name: getattr(plain(self), f"__{name}__")())
    setattr(Number, "__rdivmod__", _read_reflected(divmod))  # noqa: B010 (as the others)
    for name in ("and", "or", "xor", "lshift", "rshift"):
        function = getattr(operator, f"{name}_" if name in ("and", "or") else name)
        setattr(Int, f"__{name}__", _read(function))
        setattr(Int, f"__r{name}__", _read_reflected(function))
    setattr(Int, "__invert__", _read(operator.invert))  # noqa: B010


_define()
