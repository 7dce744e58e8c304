"""Passes over the instructions of a program. Each takes and returns a list of instructions, and keeps their results, bit for bit.

    expand          some instructions become simpler ones: see expand.py
    fold_constants  what is computed of constants alone is a constant
    skip_copies     a copy of memory that is not written any more is the memory itself
    merge_equal     an instruction that computes what an earlier one has computed is left out
    settle_numbers  an operand of a kernel that is one constant number is a Python number
    join_products   products of one matrix with several vectors become one product: see batches.py
    join_copies     copies of pieces that follow each other are one
    defer_grads     .grad is set at the end, or before the step of an optimizer and what is put out
    drop_unused     an instruction whose results nothing reads is left out
    fuse            neighbouring pointwise instructions become one, which reads and writes each array once: see fusion.py
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.kernels import native
from wengert.program import form
from wengert.program.batches import join_copies, join_products
from wengert.program.expand import expanded
from wengert.program.form import Instruction, Program, Storage, Value, may_draw, replaced, storages_written, values_in, values_read
from wengert.program.fusion import fuse
from wengert.program.lowering import is_plain, is_pointwise, kernel_of, value_of_constants

_LARGEST_CONSTANT = 1 << 16  # bytes


def optimized(program: Program, exact: bool) -> list[Instruction]:
    """Return the instructions of a program after all passes. exact: sums stay in eager order."""
    kept = storages_kept(program)
    instructions = expanded(program, exact)
    instructions = skip_copies(instructions, kept)
    instructions = fold_constants(instructions, kept)
    instructions = merge_equal(instructions, kept)
    if not exact:
        instructions = join_products(program, instructions, kept)
    instructions = join_copies(instructions)
    instructions = defer_grads(drop_unused(settle_numbers(instructions), kept))
    return fuse(instructions, kept) if native is not None else instructions


def storages_kept(program: Program) -> set[Storage]:
    """Return the storages that the program's result is made of."""
    found = set()
    for x in program.outputs:
        value = x if isinstance(x, Value) else x[1]
        if isinstance(value, Value):
            found.add(value.storage)
    return found


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


def settle_numbers(instructions: list[Instruction]) -> list[Instruction]:
    """Give pointwise kernels numbers in place of constants that hold one number, as expanded ones do. Such operands need no memory,
    and fused programs hold them in registers."""
    written = {s for x in instructions if x.kind != form.MAKE for s in storages_written(x)}
    for x in instructions:
        if x.kind != form.MAKE or len(x.outputs) != 1 or not any(_is_one_number(y, written) for y in x.inputs):
            continue
        kernel, out = kernel_of(x), x.outputs[0]
        arrays = [y for y in x.inputs if isinstance(y, Value) and not _is_one_number(y, written)]
        if kernel is None or not is_pointwise(kernel[0]) or np.broadcast_shapes(*[v.shape for v in arrays]) != out.shape:
            continue
        before = x.inputs
        x.inputs = tuple([float(y.storage.key.flat[0]) if _is_one_number(y, written) else y for y in before])
        if not arrays or kernel_of(x) != kernel:
            x.inputs = before  # the operation has another formula for numbers
    return instructions


def _is_one_number(x: Any, written: set[Storage]) -> bool:
    """Whether an operand is a constant with one element, and not NaN."""
    if not isinstance(x, Value) or x.storage.kind != form.CONSTANT or x.storage in written:
        return False
    return bool(x.storage.key.size == 1 and x.storage.key.dtype == x.dtype and x.storage.key.flat[0] == x.storage.key.flat[0])


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
        if x.kind == form.OUT or (x.kind == form.HOST and x.function.is_step):
            found.extend(waiting)
            waiting = []
        found.append(x)
    return found + waiting
