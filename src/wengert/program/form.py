"""The recorded program: values in memory, instructions that compute them, and what the program does to tensors outside.

A storage is a piece of memory; a value is a view of a storage. So views, writes in place and aliases need no instructions of their
own: an instruction that writes into a value changes all values of the storage, as in the eager run. See docs/adr/0046.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from wengert.core import tape
from wengert.ops.indices import Along

# Where the memory of a storage comes from.
INPUT = "input"  # the argument with the number `key`
TENSOR = "tensor"  # the tensor `key`, which the function reaches: a parameter, for example
GRAD = "grad"  # .grad of the tensor `key`, or of the argument with the number `key`
CONSTANT = tape.CONSTANT  # `key` is the array
NUMBER = "number"  # the Python number at the place `key` of the program's arithmetic
COMPUTED = tape.COMPUTED  # an instruction

EXTERNAL = frozenset({INPUT, TENSOR, GRAD})
_HOLDERS = (tuple, list, dict, Along)  # what may hold values


class Layout(NamedTuple):
    """What a storage takes from its whole array."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: Any


class Storage:
    """A piece of memory. kind, key: where it comes from. whole: the array that it has when it is recorded, or its layout.

    nbytes: its size. before: bytes in front of the first element, if strides are negative. writes: number of writes in place into
    external memory, which versions count."""

    __slots__ = ("before", "dtype", "key", "kind", "nbytes", "number", "shape", "strides", "writes")

    def __init__(self, number: int, kind: str, key: Any, nbytes: int, before: int, whole: Any) -> None:
        self.number = number
        self.kind = kind
        self.key = key
        self.nbytes = nbytes
        self.before = before
        self.shape: tuple[int, ...] = whole.shape
        self.strides: tuple[int, ...] = whole.strides
        self.dtype = whole.dtype
        self.writes = 0

    @property
    def is_external(self) -> bool:
        """Whether the memory belongs to a tensor that exists before the program runs."""
        return self.kind in EXTERNAL

    def __str__(self) -> str:
        if self.kind == INPUT:
            return f"in{self.key}"
        return {TENSOR: "p", GRAD: "g", CONSTANT: "c", NUMBER: "n", COMPUTED: "v"}[self.kind] + str(self.number)


class Value(NamedTuple):
    """An array in a storage. offset: in bytes, from the first element of the storage's whole array."""

    storage: Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: Any

    @property
    def is_whole(self) -> bool:
        """Whether the value is the storage's whole array."""
        s = self.storage
        return self.offset == 0 and self.shape == s.shape and self.strides == s.strides and self.dtype == s.dtype

    def __str__(self) -> str:
        if self.is_whole:
            return str(self.storage)
        steps = ",".join(map(str, self.strides))
        return f"{self.storage}[{self.offset}+({steps})]"

    def described(self) -> str:
        """Return the name, the dtype and the shape."""
        return f"{self}: {self.dtype}({', '.join(map(str, self.shape))})"


class Scalar:
    """A Python number that is given anew at each run. name: what it is, for people.

    memory: where C functions read it, as a value of each dtype that they need."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.memory: dict[Any, Value] = {}

    def in_memory(self, dtype: Any) -> Value:
        """Return the value, of no dimension, that is the number in each run."""
        if dtype not in self.memory:
            number = np.zeros((), dtype)
            storage = Storage(len(self.memory), CONSTANT, number, number.nbytes, 0, number)
            storage.writes = 1  # so that nothing takes the number of now for that of all runs
            self.memory[dtype] = Value(storage, 0, (), (), number.dtype)
        return self.memory[dtype]

    def __str__(self) -> str:
        return f"<{self.name}>"


# What an instruction does with the results of its operation.
MAKE = tape.MAKE  # they are new arrays
INTO = tape.INTO  # it writes the result into its first input
WRITE = tape.WRITE  # `function` writes into its first input
FUSED = "fused"  # `function`, a program of kernels/wk_program.c, makes them, as `parts` do one by one
C = "c"  # `function`, a C function, does what `parts` do one by one
COPY = "copy"  # it copies its input into new memory
UPDATE = "update"  # `function`, a program of ops/program.py, changes its inputs `outputs` in place: the step of an optimizer
HOST = "host"  # `function` is called with the tensors `inputs`: it draws random numbers, or is the step of an optimizer
SET_GRAD = "set_grad"  # .grad of the tensor `function`, or of the argument with this number, becomes the input, or None
CHECK = "check"  # C functions run only if the elements of the input are at least 0 and below `params["limit"]`
OUT = "out"  # `function`, an Output of outputs.py, puts something out at the end of the run
READ = "read"  # the input becomes a Python number; the outputs are numbers that follow from it
GUARD = "guard"  # the program fits only if the input, as a number, is `params["value"]`


class Instruction:
    """One step of a program.

    op: the operation, or None. inputs: values, Python numbers, scalars or None. params: complete, or None for the defaults.
    line: of the user's program. keeps_numbers: whether a Python number stays one, where the other operand is an array."""

    __slots__ = (
        "function", "in_place", "inputs", "is_flat", "keeps_numbers", "kind", "line", "name", "op", "outputs", "params", "parts",
        "reorders",
    )  # fmt: skip

    def __init__(
        self, kind: str, name: str, inputs: tuple[Any, ...], outputs: tuple[Value, ...], params: Any = None, op: Any = None,
        function: Any = None, line: str = "", keeps_numbers: bool = False,
    ) -> None:  # fmt: skip
        self.kind = kind
        self.name = name
        self.inputs = inputs
        self.outputs = outputs
        self.params = params
        self.op = op
        self.function = function
        self.line = line
        self.keeps_numbers = keeps_numbers
        # Whether the values that it reads are elements of `inputs`, and not deeper in there, or in `params`.
        self.is_flat = not (params and _holds_values(params))
        for x in inputs:
            if type(x) in _HOLDERS and _holds_values(x):
                self.is_flat = False
        self.parts: list[Instruction] = []  # of a fused instruction, or one in C: those that it stands for
        self.reorders = False  # whether its sums may run in another order than in the eager operation
        self.in_place: list[tuple[Value, Value]] = []  # an input, and the result that may be written over it

    def __str__(self) -> str:
        arguments = [_text(x) for x in self.inputs]
        arguments += [f"{name}={_text(x)}" for name, x in self.params.items()] if isinstance(self.params, dict) else []
        call = f"{self.name}({', '.join(arguments)})"
        if self.kind == GUARD:
            call = f"guard {_text(self.inputs[0])} is {self.params['value']!r}"
        results = ", ".join([v.described() for v in self.outputs])
        if self.kind in (INTO, WRITE, UPDATE):
            results = f"{', '.join(map(str, self.outputs))} <-"
            return f"{results} {call}"
        return f"{results} = {call}" if results else call


def _holds_values(x: Any) -> bool:
    """Whether x is a container with values in it."""
    if type(x) is Along:
        return isinstance(x.index, Value)
    if type(x) not in _HOLDERS:
        return False
    return any(type(y) is Value or (type(y) in _HOLDERS and _holds_values(y)) for y in (x.values() if type(x) is dict else x))


def values_in(x: Any) -> Iterator[Value]:
    """Yield the values in an operand or a parameter."""
    if isinstance(x, Value):
        yield x
    elif isinstance(x, (tuple, list, dict)):
        for y in x.values() if isinstance(x, dict) else x:
            yield from values_in(y)
    elif type(x) is Along:
        yield from values_in(x.index)


def values_read(x: Instruction) -> list[Value]:
    """Return the values that an instruction reads."""
    if x.is_flat:
        return [y for y in x.inputs if type(y) is Value]
    return [*values_in(x.inputs), *values_in(x.params)]


def values_written(x: Instruction) -> list[Value]:
    """Return the values that an instruction writes."""
    return [*x.outputs, *([x.inputs[0]] if x.kind == HOST and _writes(x) else [])]


def storages_written(x: Instruction) -> list[Storage]:
    """Return the storages that an instruction writes."""
    return [v.storage for v in values_written(x)]


def _writes(x: Instruction) -> bool:
    return getattr(x.function, "writes", False) and isinstance(x.inputs[0], Value)


def may_draw(x: Instruction) -> bool:
    """Whether an instruction may draw random numbers, which changes the next ones."""
    return x.op is not None and ("generator" in x.op.param_names or "noise" in x.op.name or "random" in x.op.name)


def replaced(x: Any, change: Callable[[Any], Any]) -> Any:
    """Return an operand or a parameter with change(y) in place of each y in its tuples, lists, dicts and indices."""
    if type(x) is Along:
        return Along(change(x.index), x.dim)
    if isinstance(x, Value) or not isinstance(x, (tuple, list, dict)):
        return change(x)
    if isinstance(x, dict):
        return {key: replaced(y, change) for key, y in x.items()}
    found = [replaced(y, change) for y in x]
    return tuple(found) if isinstance(x, tuple) else found


def _text(x: Any) -> str:
    if isinstance(x, (Value, Scalar)):
        return str(x)
    if isinstance(x, (tuple, list)):
        return f"({', '.join(map(_text, x))})"
    if type(x) is Along:
        return f"{_text(x.index)} along {x.dim}"
    known = isinstance(x, (int, float, complex, str, slice, type(None), type(Ellipsis)))
    return repr(x) if known else f"<{type(x).__name__}>"


def hooks_of(x: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Return the hooks of a leaf: those on its gradient, and those that run after its gradient is accumulated."""
    return tuple((x._leaf_hooks or {}).values()), tuple((x._post_hooks or {}).values())


class GradState(NamedTuple):
    """What .grad of a leaf must be before the program runs: None if `is_none`, else a tensor.

    leaf: the tensor itself, or its number among the arguments."""

    leaf: Any
    is_none: bool


class View(NamedTuple):
    """A result that is a view of another tensor. value: its elements. root: the storage of a tensor that exists before the
    program runs, or a computed value, of which the steps make the view, one after the other."""

    kind: str
    value: Value
    root: Any
    steps: tuple[Callable[[Any], Any], ...]


class Freed(NamedTuple):
    """A result with a history through which a backward pass has gone. node, output_nr: of the recorded run."""

    kind: str
    value: Value
    node: Any
    output_nr: int


class Program:
    """Instructions in the order in which they run, and the function's result.

    outputs: the leaves of the result: values, ("written", value, version) for one that has been written, ("leaf", value) for a leaf
    that requires grad, ("graph", value) for a value with a history, a View, Freed, ("same", storage) for a tensor that exists
    before the program runs, ("item", value) for a number, ("number", place) for
    a number that follows from the given ones, or ("object", x).
    structure: the tree that they are leaves of.
    arithmetic: what it computes of Python numbers that it is given, an Arithmetic of numbers.py, or None."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.instructions: list[Instruction] = []
        self.storages: list[Storage] = []
        self.outputs: list[Any] = []
        self.structure: Any = None
        self.arithmetic: Any = None
        self.grads: list[GradState] = []
        self.hooks: list[tuple[Any, Any]] = []  # leaves that get gradients, as in GradState, and what hooks_of tells of them
        self.updates: list[tuple[Any, list[list[Scalar]]]] = []  # steps of optimizers, and their numbers, batch by batch

    def may_stop(self, x: Instruction) -> bool:
        """Whether an instruction stops runs that the program does not fit."""
        return x.kind == GUARD or (x.kind == READ and self.arithmetic.may_stop(x.params["place"]))

    def boxes(self) -> list[tuple[str, list[str], str, bool, list[int]]]:
        """Return the boxes of a picture, results first. Each has a name, the shapes of its values, the line, whether it comes from
        outside, and the numbers of the boxes that it reads."""
        outside = [s for s in self.storages if s.kind != COMPUTED]
        total = len(self.instructions) + len(outside)
        places = {s: total - 1 - i for i, s in enumerate(outside)}  # of the box that has written a storage last
        found: list[Any] = [(str(s), [f"{s.dtype} {list(s.shape)}"], "", True, []) for s in outside]
        for i, x in enumerate(self.instructions):
            reads = [places[v.storage] for v in values_in((x.inputs, x.params)) if v.storage in places]
            written = [v.storage for v in x.outputs]
            reads += [places[s] for s in written if s in places]
            found.append((x.name, [f"{v.dtype} {list(v.shape)}" for v in x.outputs], x.line, False, reads))
            places.update(dict.fromkeys(written, total - 1 - len(outside) - i))
        return found[::-1]

    def __str__(self) -> str:
        lines = [f"program {self.name}"]
        for s in self.storages:
            if s.kind != COMPUTED:
                text = f" {self.arithmetic.text(s.key)}" if s.kind == NUMBER else ""
                lines.append(f"  {s}: {s.dtype}({', '.join(map(str, s.shape))}) {s.kind}{text}")
        for i, x in enumerate(self.instructions):
            text = f"  {i:4} {x}"
            lines.append(f"{text:<96} # {x.line}" if x.line else text)
        found = [_text(x) if isinstance(x, Value) else f"{x[0]} {_text(x[1])}" for x in self.outputs]
        return "\n".join([*lines, f"  return {', '.join(found)}"])
