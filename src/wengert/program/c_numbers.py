"""Numbers of optimizers in C: settings such as the learning rate, and expressions of the number of steps, as Adam's have them.

An optimizer computes its numbers in Python before each step (updates.py). Here its `numbers` runs once with a stand-in for the
number of steps, which notes the arithmetic.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.kernels.c_source import literal
from wengert.program.form import Program, Storage

_DOUBLE = np.dtype(np.float64)


class _Expression:
    """The text of a C expression of double. Python's operators make other ones; what asks for its value raises TypeError."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __bool__(self) -> bool:
        raise TypeError("a formula branches on the number of steps")

    def __add__(self, other: Any) -> _Expression:
        return _joined("({0} + {1})", self, other)

    def __radd__(self, other: Any) -> _Expression:
        return _joined("({0} + {1})", other, self)

    def __sub__(self, other: Any) -> _Expression:
        return _joined("({0} - {1})", self, other)

    def __rsub__(self, other: Any) -> _Expression:
        return _joined("({0} - {1})", other, self)

    def __mul__(self, other: Any) -> _Expression:
        return _joined("({0} * {1})", self, other)

    def __rmul__(self, other: Any) -> _Expression:
        return _joined("({0} * {1})", other, self)

    def __truediv__(self, other: Any) -> _Expression:
        return _joined("({0} / {1})", self, other)

    def __rtruediv__(self, other: Any) -> _Expression:
        return _joined("({0} / {1})", other, self)

    def __pow__(self, other: Any) -> _Expression:
        return _joined("pow({0}, {1})", self, other)

    def __rpow__(self, other: Any) -> _Expression:
        return _joined("pow({0}, {1})", other, self)


def _joined(form: str, *operands: Any) -> _Expression:
    if not all(isinstance(x, (int, float, _Expression)) for x in operands):
        raise TypeError("an operand is no number")
    return _Expression(form.format(*[x.text if isinstance(x, _Expression) else literal(x, _DOUBLE) for x in operands]))


class Numbers:
    """The numbers of the optimizers of a program.

    settings: the storages of those that stay, with the names that they have in C. computed: the storages of those that depend on
    the number of steps, with names and expressions. counters: names of the numbers of steps, and what they are before the next
    step. prefix: of all names. Raises TypeError, with the name of the optimizer, if its numbers are no expressions."""

    def __init__(self, program: Program, prefix: str) -> None:
        self.settings: dict[Storage, str] = {}
        self.computed: dict[Storage, tuple[str, str]] = {}
        self.counters: dict[str, float] = {}
        for update, scalars in program.updates:
            for batch, numbers in zip(update.batches, scalars, strict=True):
                counter = f"{prefix}_steps{len(self.counters)}"
                values = _values(update.optimizer, batch, counter)
                if any(isinstance(value, _Expression) for value in values):
                    self.counters[counter] = float(batch.states[0]["step"]._array)
                for value, scalar in zip(values, numbers, strict=True):
                    for memory in scalar.memory.values():
                        name = f"{prefix}_{scalar.name.replace('.', '_')}"
                        taken = {*self.settings.values(), *[known for known, _ in self.computed.values()]}
                        name += f"_{len(taken)}" if name in taken else ""
                        if isinstance(value, _Expression):
                            self.computed[memory.storage] = name, value.text
                        else:
                            memory.storage.key[...] = value
                            self.settings[memory.storage] = name


def _values(optimizer: Any, batch: Any, counter: str) -> tuple[Any, ...]:
    """Return the numbers of an optimizer, with the variable `counter` for the number of steps."""
    step = _Expression(f"{counter}[0]")
    name = type(optimizer).__name__
    try:
        is_same = optimizer.options(batch.group, {}, not batch.names and not batch.states[0]) == batch.options
        found: tuple[Any, ...] = optimizer.numbers(batch.group, {}, step)
    except (KeyError, TypeError, ValueError) as error:
        raise TypeError(f"the numbers of {name} are no formula of the number of steps") from error
    if not is_same or not all(isinstance(x, (int, float, _Expression)) for x in found):
        raise TypeError(f"the numbers of {name} are no formula of the number of steps, or this is its first step")
    return found
