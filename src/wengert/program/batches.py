"""Products of one matrix with several vectors become one product of matrices, as in a Hessian, whose columns are products each.

The vectors are copied into the rows of a matrix, or are such a matrix from the start if they are constants. The results are rows of
another one. Sums may run in another order.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from wengert.kernels import native
from wengert.ops.registry import OPS
from wengert.program import form
from wengert.program.arrays import computed_in_order, constant, is_in_order, view
from wengert.program.form import Instruction, Program, Storage, Value, replaced, storages_written, values_read
from wengert.program.lowering import is_plain, kernel_of

_FEWEST, _MOST = 4, 256  # products that become one


def join_products(program: Program, instructions: list[Instruction], kept: set[Storage]) -> list[Instruction]:
    """Return the instructions, with one product in place of several. kept: storages that something outside reads."""
    if native is None:  # there are no kernels to choose
        return instructions
    kept = kept | {v.storage for x in instructions if x.kind == form.SET_GRAD for v in values_read(x)}
    product = native.find("vector_product"), ()
    many = [x for x in instructions if x.reorders and x.kind == form.MAKE and kernel_of(x) == product]
    while len(many) >= _FEWEST:
        joined = _join_once(program, instructions, kept, {id(x) for x in many})
        if joined is None:
            break
        instructions = joined
        many = [x for x in instructions if id(x) in {id(y) for y in many}]
    return instructions


def _join_once(program: Program, instructions: list[Instruction], kept: set[Storage], many: set[int]) -> list[Instruction] | None:
    """Join products of the first matrix that has enough of them. None if no matrix has."""
    written = {s for x in instructions if x.kind != form.MAKE for s in storages_written(x)}
    made = {s: i for i, x in enumerate(instructions) if x.kind == form.MAKE for s in storages_written(x)}
    read: dict[Storage, int] = {}  # where a storage is read first
    for i, x in enumerate(instructions):
        for v in values_read(x):
            read.setdefault(v.storage, i)
    batches: dict[Any, list[int]] = {}
    bounds: dict[Any, tuple[int, int]] = {}  # the last instruction that a batch needs, and the first one that needs it
    for i, x in enumerate(instructions):
        if id(x) not in many or not is_plain(x.outputs[0]) or len(x.outputs[0].shape) != 1:
            continue
        out = x.outputs[0].storage
        if out in kept or not written.isdisjoint([out, *[v.storage for v in x.inputs]]):
            continue
        is_left = len(x.inputs[0].shape) == 2
        matrix, vector = x.inputs[not is_left], x.inputs[is_left]
        key = matrix, is_left, vector.storage.kind == form.CONSTANT
        ready, due = bounds.get(key, (-1, len(instructions)))
        ready, due = max(ready, *[made.get(v.storage, -1) for v in x.inputs]), min(due, read.get(out, len(instructions)))
        others = batches.get(key, [])
        if len(others) == _MOST or ready >= due or any(made.get(v.storage) in others for v in x.inputs):
            if len(others) >= _FEWEST:
                break
            del batches[key], bounds[key]
            ready, due = max(made.get(v.storage, -1) for v in x.inputs), read.get(out, len(instructions))
        batches.setdefault(key, []).append(i)
        bounds[key] = ready, due
    found = next((key for key, members in batches.items() if len(members) >= _FEWEST), None)
    if found is None:
        return None
    return _joined(program, instructions, batches[found], found, bounds[found][0] + 1)


def _joined(program: Program, instructions: list[Instruction], members: list[int], key: Any, place: int) -> list[Instruction]:
    """Return the instructions, with one product before number `place` for these members."""
    (matrix, is_left, _), first = key, instructions[members[0]]
    own = [instructions[i] for i in members]
    vectors = [x.inputs[is_left] for x in own]
    if is_left:
        matrix = matrix._replace(shape=matrix.shape[::-1], strides=matrix.strides[::-1])
    n, dtype = len(own), matrix.dtype
    rows = _rows(program, vectors, dtype)
    out = _added(program, computed_in_order(len(program.storages), (n, matrix.shape[1]), dtype))
    copied = [] if rows.storage.kind == form.CONSTANT else zip(vectors, _each(rows), own, strict=True)
    new = [_copy(v, row, x) for v, row, x in copied]
    new.append(Instruction(form.MAKE, "matmul", (rows, matrix), (out,), None, OPS["matmul"], None, first.line, True))
    new[-1].reorders = True
    parts = {x.outputs[0].storage: row for x, row in zip(own, _each(out), strict=True)}

    def moved(y: Any) -> Any:
        if not isinstance(y, Value) or y.storage not in parts:
            return y
        return y._replace(storage=out.storage, offset=parts[y.storage].offset + y.offset)

    found: list[Instruction] = []
    for i, x in enumerate(instructions):
        if i == place:
            found.extend(new)
        if i in members:
            continue
        if any(v.storage in parts for v in values_read(x)):
            x.inputs = replaced(x.inputs, moved)
            if not x.is_flat:
                x.params = replaced(x.params, moved)
        found.append(x)
    return found if place < len(instructions) else [*found, *new]


def _copy(source: Value, target: Value, x: Instruction) -> Instruction:
    """Return the instruction that copies a value. x: what it is copied for."""
    return Instruction(form.COPY, "copy", (source,), (target,), None, None, None, x.line)


def join_copies(instructions: list[Instruction]) -> list[Instruction]:
    """Return the instructions, with one copy in place of neighbouring ones of pieces that follow each other in memory."""
    found: list[Instruction] = []
    for x in instructions:
        last = found[-1] if found else None
        if last is not None and last.kind == x.kind == form.COPY:
            source, target = _together(last.inputs[0], x.inputs[0]), _together(last.outputs[0], x.outputs[0])
            if source is not None and target is not None and source.storage is not target.storage:
                found[-1] = _copy(source, target, last)
                continue
        found.append(x)
    return found


def _together(a: Value, b: Value) -> Value | None:
    """Return the vector of all elements of two values in row-major order, if b follows a in memory."""
    n, m = prod(a.shape), prod(b.shape)
    follows = a.storage is b.storage and b.offset == a.offset + n * a.dtype.itemsize and is_in_order(a) and is_in_order(b)
    return a._replace(shape=(n + m,), strides=(a.dtype.itemsize,)) if follows and a.dtype == b.dtype and n and m else None


def _rows(program: Program, vectors: list[Value], dtype: Any) -> Value:
    """Return memory for a matrix with these rows: a constant if the vectors are constants."""
    shape = len(vectors), *vectors[0].shape
    rows = computed_in_order(len(program.storages), shape, dtype)
    if all(v.storage.kind == form.CONSTANT for v in vectors):
        rows.storage.kind = form.CONSTANT
        rows.storage.key = np.stack([view(constant(v.storage), v) for v in vectors])
    return _added(program, rows)


def _added(program: Program, value: Value) -> Value:
    program.storages.append(value.storage)
    return value


def _each(rows: Value) -> list[Value]:
    """Return the rows of a matrix."""
    return [
        rows._replace(offset=i * rows.strides[0], shape=rows.shape[1:], strides=rows.strides[1:]) for i in range(rows.shape[0])
    ]
