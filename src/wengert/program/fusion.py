"""Fusion: neighbouring pointwise instructions of one shape become one, which reads and writes each array once.

Comparisons and selections are pointwise, too. Between them, conditions are numbers, 1 or 0, which stay in registers.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter
from typing import Any

import numpy as np

from wengert.kernels import native
from wengert.ops.program import ELEMENTWISE_KERNELS
from wengert.program import form
from wengert.program.form import Instruction, Storage, Value, may_draw, storages_written, values_read
from wengert.program.lowering import is_plain, is_pointwise, kernel_of

_MAX_OPERANDS, _MAX_REGISTERS, _MAX_STEPS = 24, 64, 128  # of a fused program, as in kernels/wk_apply.h
_WINDOW = 64  # instructions that a pointwise one may overtake
_BOOL = np.dtype(bool)
_LARGEST_NUMBER = 2**53  # larger integers would be rounded twice
_LOGICAL = {"bitwise_and": "logical_and", "bitwise_or": "logical_or", "bitwise_not": "logical_not"}  # of conditions


class Group:
    """Pointwise instructions of one shape and dtype that run together. Conditions among their values have dtype bool."""

    def __init__(self) -> None:
        self.instructions: list[tuple[Instruction, int, tuple[Any, ...]]] = []
        self.made: dict[Storage, Value] = {}
        self.inputs: dict[Value, None] = {}
        self.shape: tuple[int, ...] = ()
        self.dtype: Any = None

    def takes(self, x: Instruction) -> bool:
        """Whether an instruction has the group's shape and dtype, reads whole results of the group, and leaves it small enough."""
        if self.instructions and (x.outputs[0].shape != self.shape or _dtype_of(x) not in (self.dtype, _BOOL)):
            return False
        if len(self.instructions) >= _MAX_STEPS:
            return False
        inputs = dict(self.inputs)
        for v in x.inputs:
            if isinstance(v, Value):
                if v.storage in self.made:
                    if v != self.made[v.storage]:
                        return False
                elif v.dtype == _BOOL:
                    return False
                else:
                    inputs[v] = None
        return len(inputs) <= _MAX_OPERANDS - 4

    def add(self, x: Instruction, kernel: int, numbers: tuple[Any, ...]) -> None:
        """Add an instruction that the group takes."""
        out = x.outputs[0]
        if not self.instructions:
            self.shape, self.dtype = out.shape, _dtype_of(x)
        for v in x.inputs:
            if isinstance(v, Value) and v.storage not in self.made:
                self.inputs[v] = None
        self.made[out.storage] = out
        self.instructions.append((x, kernel, numbers))

    def values_needed(self, kept: set[Storage], readers: dict[Storage, int]) -> list[Value]:
        """Return the values that something outside reads. readers: how often each storage is read."""
        inside: dict[Storage, int] = {}
        for x, _, _ in self.instructions:
            for v in values_read(x):
                inside[v.storage] = inside.get(v.storage, 0) + 1
        return [v for s, v in self.made.items() if s in kept or readers.get(s, 0) > inside.get(s, 0)]


def fuse(instructions: list[Instruction], kept: set[Storage]) -> list[Instruction]:
    """Join pointwise instructions of one shape. One may overtake others that do not write what it reads."""
    kept = kept | {v.storage for x in instructions if x.kind == form.SET_GRAD for v in values_read(x)}
    readers: dict[Storage, int] = {}
    for x in instructions:
        for v in values_read(x):
            readers[v.storage] = readers.get(v.storage, 0) + 1
    todo = [(i, x, _fusable(x, kept), [v.storage for v in values_read(x)], storages_written(x)) for i, x in enumerate(instructions)]
    return _fused_all(todo, kept, readers)


def _fused_all(todo: list[Any], kept: set[Storage], readers: dict[Storage, int]) -> list[Instruction]:
    """Return the instructions of a list, with groups in place of what they join. An entry is the place of an
    instruction, the instruction, its kernel, what it reads and what it writes."""
    found: list[Instruction] = []
    start = 0
    while start < len(todo):
        _, x, kernel, _, _ = todo[start]
        if kernel is None or not Group().takes(x):
            found.append(x)
            start += 1
            continue
        group, before, after, end = _collect(todo, start, True)
        if len(group.instructions) > 1 and any(v.dtype == _BOOL for v in group.values_needed(kept, readers)):
            if x.outputs[0].dtype == _BOOL:
                found.append(x)
                start += 1
                continue
            group, before, after, end = _collect(todo, start, False)
        found.extend(_fused_all(before, kept, readers))
        found.extend(_fused(group, kept, readers))
        todo[start:end] = after
    return found


def _fusable(x: Instruction, kept: set[Storage]) -> tuple[int, tuple[Any, ...]] | None:
    """Return the kernel of an instruction that may be part of a group, or None."""
    if x.kind == form.COPY:
        source, target = x.inputs[0], x.outputs[0]
        if source.dtype != target.dtype or source.shape != target.shape or str(target.dtype) not in ("float32", "float64"):
            return None
        return (native.find("copy"), ()) if is_plain(target) else None
    if x.kind != form.MAKE or len(x.outputs) != 1 or not is_plain(x.outputs[0]):
        return None
    kernel = kernel_of(x)
    return _condition_kernel(x, kept) if kernel is None else kernel if is_pointwise(kernel[0]) else None


def _condition_kernel(x: Instruction, kept: set[Storage]) -> tuple[int, tuple[Any, ...]] | None:
    """Return the kernel of a comparison, a selection or a logical operation, or None."""
    if x.op is None or (x.params is not None and x.params != x.op.defaults):
        return None
    if x.outputs[0].dtype == _BOOL and x.outputs[0].storage in kept:
        return None
    name = _LOGICAL.get(x.op.name, x.op.name) if _dtype_of(x) == _BOOL else x.op.name
    if name not in ELEMENTWISE_KERNELS:
        return None
    dtypes = {v.dtype for v in (*x.inputs, *x.outputs) if isinstance(v, Value)} - {_BOOL}
    dtype = _dtype_of(x)
    if len(dtypes) > 1 or dtype not in (np.float32, np.float64, _BOOL):
        return None
    for y in x.inputs:
        is_number = type(y) is float or (type(y) is int and abs(y) <= _LARGEST_NUMBER)
        if not isinstance(y, Value) and (dtype == _BOOL or not is_number):
            return None
    kernel = native.find(ELEMENTWISE_KERNELS[name])
    return None if kernel < 0 else (kernel, ())


def _dtype_of(x: Instruction) -> Any:
    """Return the dtype that an instruction computes with: that of its operands, if the result is a condition."""
    found = [v.dtype for v in (*x.outputs, *x.inputs) if isinstance(v, Value) and v.dtype != _BOOL]
    return found[0] if found else _BOOL


def _collect(todo: list[Any], start: int, conditions: bool) -> tuple[Group, list[Any], list[Any], int]:
    """Return a group that begins at start, the instructions that run before and after it, and where those behind them begin.

    conditions: whether the group may have conditions."""
    group = Group()
    before: list[Any] = []
    after: list[Any] = []
    read: set[Storage] = set()  # by the group and by the instructions after it
    written: set[Storage] = set()
    behind: set[Storage] = set()  # written by the instructions after it
    position = start
    while position < len(todo) and len(before) + len(after) < _WINDOW:
        _, x, kernel, reads, writes = todo[position]
        is_allowed = kernel is not None and (conditions or x.outputs[0].dtype != _BOOL)
        if is_allowed and behind.isdisjoint(reads) and group.takes(x):
            group.add(x, *kernel)
        elif x.kind in (form.HOST, form.GUARD, form.READ, form.OUT):
            break
        elif _may_run_before(x, kernel) and written.isdisjoint(reads):
            before.append(todo[position])
            position += 1
            continue
        else:
            after.append(todo[position])
            behind.update(writes)
        read.update(reads)
        written.update(writes)
        position += 1
    return group, *_needed(before, after, group), position


def _may_run_before(x: Instruction, kernel: Any) -> bool:
    """Whether an instruction may overtake others that do not write what it reads. Conditions stay with what reads them."""
    return x.kind == form.MAKE and not may_draw(x) and (kernel is None or x.outputs[0].dtype != _BOOL)


def _needed(before: list[Any], after: list[Any], group: Group) -> tuple[list[Any], list[Any]]:
    """Return the entries before a group that it needs. The others run after it, in the order in which they were recorded."""
    needed = {v.storage for v in group.inputs}
    kept: set[int] = set()
    for i, _, _, reads, writes in reversed(before):
        if not needed.isdisjoint(writes):
            kept.add(i)
            needed.update(reads)
    later = sorted([*after, *[entry for entry in before if entry[0] not in kept]], key=itemgetter(0))
    return [entry for entry in before if entry[0] in kept], later


def _fused(group: Group, kept: set[Storage], readers: dict[Storage, int]) -> list[Instruction]:
    """Return one instruction for a group, or the group's own instructions if they cannot be joined."""
    own = [x for x, _, _ in group.instructions]
    if len(own) == 1:
        own[0].in_place = [(v, own[0].outputs[0]) for v in group.inputs]
        return own
    outputs = group.values_needed(kept, readers)
    if any(v.dtype == _BOOL for v in (*group.inputs, *outputs)):
        return own  # a half ends between a condition and what reads it
    n_operands = len(group.inputs) + len(outputs)
    if not group.inputs or not outputs or n_operands > _MAX_OPERANDS:
        return _halves(group, kept, readers)
    compiled = _program(group, outputs)
    if compiled is None:
        return _halves(group, kept, readers)
    name = "+".join(x.name for x in own)
    joined = Instruction(form.FUSED, f"fused[{name}]", tuple(group.inputs), tuple(outputs), None, None, compiled, own[0].line)
    joined.parts = own
    made = {x.outputs[0]: i for i, x in enumerate(own)}
    last = {v: i for i, x in enumerate(own) for v in values_read(x)}
    joined.in_place = [(v, out) for out in outputs for v in group.inputs if last[v] <= made[out]]
    return [joined]


def _halves(group: Group, kept: set[Storage], readers: dict[Storage, int]) -> list[Instruction]:
    """Return the instructions of two groups, which are the halves of one that is too large."""
    found: list[Instruction] = []
    middle = len(group.instructions) // 2
    for part in (group.instructions[:middle], group.instructions[middle:]):
        half = Group()
        for x, kernel, numbers in part:
            half.add(x, kernel, numbers)
        found.extend(_fused(half, kept, readers))
    return found


def _program(group: Group, outputs: Iterable[Value]) -> Any:
    """Return the program of a group for kernels/wk_program.c, or None if it needs too many registers."""
    outputs = list(outputs)
    n_operands = len(group.inputs) + len(outputs)
    places: dict[Any, int] = {v: i for i, v in enumerate([*group.inputs, *outputs])}
    numbers: dict[str, float] = {}
    last: dict[Any, int] = {}
    for i, (x, _, more) in enumerate(group.instructions):
        for y in (*x.inputs, *more):
            if isinstance(y, Value):
                last[y] = i
            else:
                numbers.setdefault(repr(float(y)), float(y))
    if "nan" in numbers or len(numbers) > _MAX_REGISTERS // 2:
        return None
    constants = {key: n_operands + i for i, key in enumerate(numbers)}
    count, free = len(constants), []
    steps = []
    for i, (x, kernel, more) in enumerate(group.instructions):
        sources = [places[y] if isinstance(y, Value) else constants[repr(float(y))] for y in (*x.inputs, *more)]
        for y in dict.fromkeys(x.inputs):
            if isinstance(y, Value) and last[y] == i and places[y] >= n_operands:
                free.append(places[y])
        out = x.outputs[0]
        if out not in places:
            if free:
                places[out] = free.pop()
            else:
                places[out] = n_operands + count
                count += 1
        steps.append((kernel, *sources, places[out]))
    if count > _MAX_REGISTERS:
        return None
    return native.make_program(len(group.inputs), len(outputs), count, tuple(numbers.values()), tuple(steps))
