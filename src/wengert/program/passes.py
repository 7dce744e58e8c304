"""Passes over the instructions of a program. Each takes and returns a list of instructions, and keeps their results, bit for bit.

    expand          some instructions become simpler ones: see expand.py
    fold_constants  what is computed of constants alone is a constant
    skip_copies     a copy of memory that is not written any more is the memory itself
    merge_equal     an instruction that computes what an earlier one has computed is left out
    defer_grads     .grad is set at the end, or before the step of an optimizer
    drop_unused     an instruction whose results nothing reads is left out
    fuse            neighbouring pointwise instructions become one, which reads and writes each array once
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from wengert.kernels import native
from wengert.program import form
from wengert.program.expand import expanded
from wengert.program.form import Instruction, Program, Storage, Value, replaced, values_in
from wengert.program.lowering import is_plain, is_pointwise, kernel_of, value_of_constants

_MAX_OPERANDS, _MAX_REGISTERS, _MAX_STEPS = 16, 36, 100  # of a fused program; kernels/wk_apply.h has more
_LARGEST_CONSTANT = 1 << 16  # bytes
_WINDOW = 64  # instructions that a pointwise one may overtake


def optimized(program: Program, exact: bool) -> list[Instruction]:
    """Return the instructions of a program after all passes. exact: sums stay in eager order."""
    kept = storages_kept(program)
    instructions = expanded(program, exact)
    instructions = skip_copies(instructions, kept)
    instructions = fold_constants(instructions, kept)
    instructions = merge_equal(instructions, kept)
    instructions = defer_grads(drop_unused(instructions, kept))
    return fuse(instructions, kept) if native is not None else instructions


def storages_kept(program: Program) -> set[Storage]:
    """Return the storages that the program's result is made of."""
    found = set()
    for x in program.outputs:
        value = x if isinstance(x, Value) else x[1]
        if isinstance(value, Value):
            found.add(value.storage)
    return found


def values_read(x: Instruction) -> list[Value]:
    """Return the values that an instruction reads."""
    if x.is_flat:
        return [y for y in x.inputs if type(y) is Value]
    return [*values_in(x.inputs), *values_in(x.params)]


def storages_written(x: Instruction) -> list[Storage]:
    """Return the storages that an instruction writes."""
    return [v.storage for v in x.outputs] + ([x.inputs[0].storage] if x.kind == form.HOST and _writes(x) else [])


def _writes(x: Instruction) -> bool:
    return getattr(x.function, "writes", False) and isinstance(x.inputs[0], Value)


def skip_copies(instructions: list[Instruction], kept: set[Storage]) -> list[Instruction]:
    """Leave out copies of computed memory, as of first gradients, if neither the memory nor the copy is written otherwise."""
    written = {s for x in instructions if x.kind not in (form.MAKE, form.COPY) for s in storages_written(x)}
    fixed = written | kept
    same: dict[Storage, Storage] = {}
    found: list[Instruction] = []
    for x in instructions:
        _replace(x, same)
        if x.kind == form.COPY and x.outputs[0].storage not in fixed:
            source, target = x.inputs[0], x.outputs[0]
            if is_plain(source) and is_plain(target) and source[2:] == target[2:] and source.storage not in fixed:
                same[target.storage] = source.storage
                fixed.add(source.storage)  # two gradients are not one memory
                continue
        found.append(x)
    return found


def fold_constants(instructions: list[Instruction], kept: set[Storage]) -> list[Instruction]:
    """Compute what depends on constants alone, if it is small. Memory that is written otherwise is no constant."""
    written = {s for x in instructions if x.kind != form.MAKE for s in storages_written(x)}
    returned = kept | {v.storage for x in instructions if x.kind == form.SET_GRAD for v in values_read(x)}
    found: list[Instruction] = []
    for x in instructions:
        read = [v.storage for v in values_read(x)]
        if x.kind == form.MAKE and len(x.outputs) == 1 and all(s.kind == form.CONSTANT and s not in written for s in read):
            out = x.outputs[0]
            is_small = out.storage.nbytes <= _LARGEST_CONSTANT and is_plain(out) and not may_draw(x)
            if is_small and out.storage not in written and out.storage not in returned and _is_settled(x):
                array = value_of_constants(x)
                if array is not None:
                    out.storage.kind, out.storage.key = form.CONSTANT, array
                    continue
        found.append(x)
    return found


def _is_settled(x: Instruction) -> bool:
    """Whether an instruction's parameters hold no values."""
    return not any(True for _ in values_in(x.params)) and not x.op.is_read


def merge_equal(instructions: list[Instruction], kept: set[Storage]) -> list[Instruction]:
    """Leave out instructions whose kernel has run before on the same values. Memory that is written later is not merged."""
    written = {s for x in instructions if x.kind != form.MAKE for s in storages_written(x)}
    kept = kept | {v.storage for x in instructions if x.kind == form.SET_GRAD for v in values_read(x)}
    writes: dict[Storage, int] = {}
    same: dict[Storage, Storage] = {}
    seen: dict[Any, Value] = {}
    found: list[Instruction] = []
    for x in instructions:
        _replace(x, same)
        if x.kind == form.MAKE and len(x.outputs) == 1 and x.outputs[0].storage not in written | kept and x.outputs[0].is_whole:
            key = _key_of(x, writes)
            earlier = None if key is None else seen.get(key)
            if earlier is not None:
                same[x.outputs[0].storage] = earlier.storage
                continue
            if key is not None:
                seen[key] = x.outputs[0]
        if x.kind == form.HOST:
            seen.clear()  # the step of an optimizer writes parameters
        for storage in storages_written(x) if x.kind != form.MAKE else ():
            writes[storage] = writes.get(storage, 0) + 1
        found.append(x)
    return found


def _key_of(x: Instruction, writes: dict[Storage, int]) -> Any:
    """Return what tells an instruction from others, or None if two equal ones may give different results."""
    if kernel_of(x) is None:
        return None
    operands = [(v, writes.get(v.storage, 0)) if isinstance(v, Value) else (type(v), repr(v)) for v in x.inputs]
    return x.op.name, x.keeps_numbers, tuple(operands), repr(x.params), x.outputs[0].strides


def _replace(x: Instruction, same: dict[Storage, Storage]) -> None:
    """Let an instruction read and write other storages."""
    if not same:
        return

    def moved(y: Any) -> Any:
        return y._replace(storage=same[y.storage]) if isinstance(y, Value) and y.storage in same else y

    if any(v.storage in same for v in values_read(x)):
        x.inputs = replaced(x.inputs, moved)
        if not x.is_flat:
            x.params = replaced(x.params, moved)
    if any(v.storage in same for v in x.outputs):
        x.outputs = replaced(x.outputs, moved)


def drop_unused(instructions: list[Instruction], kept: set[Storage]) -> list[Instruction]:
    """Leave out instructions that only write memory that nothing reads."""
    needed = set(kept)
    found: list[Instruction] = []
    for x in reversed(instructions):
        is_pure = x.kind in (form.MAKE, form.COPY) or (x.kind in (form.INTO, form.WRITE) and not x.outputs[0].storage.is_external)
        if is_pure and not any(v.storage in needed for v in x.outputs) and not may_draw(x):
            continue
        needed.update([v.storage for v in values_read(x)])
        if x.kind in (form.INTO, form.WRITE):
            needed.add(x.outputs[0].storage)
        found.append(x)
    return found[::-1]


def defer_grads(instructions: list[Instruction]) -> list[Instruction]:
    """Set gradients as late as possible, so that fewer steps stand between kernels."""
    found: list[Instruction] = []
    waiting: list[Instruction] = []
    for x in instructions:
        if x.kind == form.SET_GRAD:
            waiting.append(x)
            continue
        if x.kind == form.HOST and x.function.is_step:
            found.extend(waiting)
            waiting = []
        found.append(x)
    return found + waiting


def may_draw(x: Instruction) -> bool:
    """Whether an instruction may draw random numbers, which changes the next ones."""
    return x.op is not None and ("generator" in x.op.param_names or "noise" in x.op.name or "random" in x.op.name)


# -- fusion ----------------------------------------------------------------------------------------------------------------


class Group:
    """Pointwise instructions of one shape and dtype that run together."""

    def __init__(self) -> None:
        self.instructions: list[tuple[Instruction, int, tuple[Any, ...]]] = []
        self.made: dict[Storage, Value] = {}
        self.inputs: dict[Value, None] = {}
        self.shape: tuple[int, ...] = ()
        self.dtype: Any = None

    def takes(self, x: Instruction) -> bool:
        """Whether an instruction has the group's shape and dtype, reads whole results of the group, and leaves it small enough."""
        out = x.outputs[0]
        if self.instructions and (out.shape != self.shape or out.dtype != self.dtype):
            return False
        if len(self.instructions) >= _MAX_STEPS:
            return False
        inputs = dict(self.inputs)
        for v in x.inputs:
            if isinstance(v, Value):
                if v.storage in self.made:
                    if v != self.made[v.storage]:
                        return False
                else:
                    inputs[v] = None
        return len(inputs) <= _MAX_OPERANDS - 4

    def add(self, x: Instruction, kernel: int, numbers: tuple[Any, ...]) -> None:
        """Add an instruction that the group takes."""
        out = x.outputs[0]
        self.shape, self.dtype = out.shape, out.dtype
        for v in x.inputs:
            if isinstance(v, Value) and v.storage not in self.made:
                self.inputs[v] = None
        self.made[out.storage] = out
        self.instructions.append((x, kernel, numbers))


def fuse(instructions: list[Instruction], kept: set[Storage]) -> list[Instruction]:
    """Join pointwise instructions of one shape. One may overtake others that do not write what it reads."""
    kept = kept | {v.storage for x in instructions if x.kind == form.SET_GRAD for v in values_read(x)}
    readers: dict[Storage, int] = {}
    for x in instructions:
        for v in values_read(x):
            readers[v.storage] = readers.get(v.storage, 0) + 1
    todo = [(x, _fusable(x), [v.storage for v in values_read(x)], storages_written(x)) for x in instructions]
    found: list[Instruction] = []
    start = 0
    while start < len(todo):
        x, kernel, _, _ = todo[start]
        if kernel is None:
            found.append(x)
            start += 1
            continue
        group, passed, end = _collect(todo, start)
        found.extend(_fused(group, kept, readers))
        todo[start:end] = passed
    return found


def _fusable(x: Instruction) -> tuple[int, tuple[Any, ...]] | None:
    """Return the kernel of an instruction that may be part of a group, or None."""
    if x.kind == form.COPY:
        source, target = x.inputs[0], x.outputs[0]
        if source.dtype != target.dtype or source.shape != target.shape or str(target.dtype) not in ("float32", "float64"):
            return None
        return (native.find("copy"), ()) if is_plain(target) else None
    if x.kind != form.MAKE or len(x.outputs) != 1 or not is_plain(x.outputs[0]):
        return None
    kernel = kernel_of(x)
    return kernel if kernel is not None and is_pointwise(kernel[0]) else None


def _collect(todo: list[Any], start: int) -> tuple[Group, list[Any], int]:
    """Return a group that begins at start, the instructions that it overtakes, and where the instructions after both begin."""
    group = Group()
    passed: list[Any] = []
    written: set[Storage] = set()  # by the instructions that are passed
    position = start
    while position < len(todo) and len(passed) < _WINDOW:
        x, kernel, reads, writes = todo[position]
        if kernel is not None and written.isdisjoint(reads) and group.takes(x):
            group.add(x, *kernel)
        elif x.kind == form.HOST or x.kind == form.GUARD:
            break
        else:
            passed.append(todo[position])
            written.update(writes)
        position += 1
    return group, passed, position


def _fused(group: Group, kept: set[Storage], readers: dict[Storage, int]) -> list[Instruction]:
    """Return one instruction for a group, or the group's own instructions if they cannot be joined."""
    own = [x for x, _, _ in group.instructions]
    if len(own) == 1:
        own[0].in_place = [(v, own[0].outputs[0]) for v in group.inputs]
        return own
    inside: dict[Storage, int] = {}
    for x in own:
        for v in values_read(x):
            inside[v.storage] = inside.get(v.storage, 0) + 1
    outputs = [v for s, v in group.made.items() if s in kept or readers.get(s, 0) > inside.get(s, 0)]
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
