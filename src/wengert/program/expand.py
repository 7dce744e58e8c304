"""Passes that write an instruction as several simpler ones, whose kernels run without Python and which other passes know.

    expand_powers   x ** 2 and x ** 3 become products
    expand_losses   the mean of squared differences becomes a difference, which the backward pass computes too, and a product
    expand_gelu     gelu becomes the products and the erf that its derivative computes, too
    expand_copies   tensors are joined, and reshaped copies made, by copies into parts of the result
"""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt
from typing import Any

from wengert.kernels import native
from wengert.ops.registry import OPS
from wengert.program import form
from wengert.program.arrays import computed_in_order, strides_in_order
from wengert.program.form import Instruction, Program, Storage, Value
from wengert.program.lowering import is_plain

_SQRT_HALF = sqrt(0.5)


def expanded(program: Program, exact: bool) -> list[Instruction]:
    """Return the instructions of a program after these passes. exact: sums stay in eager order."""
    found: list[Instruction] = []
    erfs = {x.inputs[0].dtype for x in program.instructions if x.name == "erf" and isinstance(x.inputs[0], Value)}
    for x in program.instructions:
        parts = None
        if x.kind == form.MAKE:
            parts = _power(program, x) or (_loss(program, x) if not exact else None) or _copies(x)
            if x.name == "_gelu" and x.outputs[0].dtype in erfs:
                parts = _gelu(program, x)
        found.extend(parts or [x])
    for x in found:
        x.reorders = not exact
    return found


def like(program: Program, out: Value, shape: tuple[int, ...] | None = None) -> Value:
    """Return new computed memory for a value like another one, or for one in row-major order with another shape."""
    number = len(program.storages)
    if shape is None:
        value = out._replace(storage=Storage(number, form.COMPUTED, None, out.storage.nbytes, out.storage.before, out))
    else:
        value = computed_in_order(number, shape, out.dtype)
    program.storages.append(value.storage)
    return value


def _make(x: Instruction, name: str, inputs: tuple[Any, ...], out: Value) -> Instruction:
    return Instruction(form.MAKE, name, inputs, (out,), None, OPS[name], None, x.line, True)


def _power(program: Program, x: Instruction) -> list[Instruction] | None:
    """The products that the forward of pow computes."""
    if x.name != "pow" or type(x.inputs[1]) not in (int, float) or x.inputs[1] not in (2, 3):
        return None
    base, out = x.inputs[0], x.outputs[0]
    if not isinstance(base, Value) or base.dtype != out.dtype or out.dtype.kind != "f":
        return None
    if x.inputs[1] == 2:
        return [_make(x, "mul", (base, base), out)]
    square = like(program, out)
    return [_make(x, "mul", (base, base), square), _make(x, "mul", (square, base), out)]


def _loss(program: Program, x: Instruction) -> list[Instruction] | None:
    if native is None or x.name != "_mse_loss" or x.params["reduction"] == "none":
        return None
    a, b, out = *x.inputs, x.outputs[0]
    if not (isinstance(a, Value) and isinstance(b, Value) and a.dtype == b.dtype == out.dtype) or a.shape != b.shape:
        return None
    if str(out.dtype) not in ("float32", "float64") or not is_plain(out):
        return None
    difference = like(program, out, a.shape)
    size = difference.storage.nbytes // out.dtype.itemsize
    if size == 0:
        return None
    flat = difference._replace(shape=(size,), strides=(out.dtype.itemsize,))
    has_mean = x.params["reduction"] == "mean"
    total = like(program, out) if has_mean else out
    parts = [_make(x, "sub", (a, b), difference), _make(x, "matmul", (flat, flat), total)]
    return [*parts, _make(x, "_div", (total, size), out)] if has_mean else parts


def _gelu(program: Program, x: Instruction) -> list[Instruction] | None:
    """What the kernel of gelu computes, in the order of its derivative: x * (0.5 * (1 + erf(x * sqrt(1 / 2))))."""
    source, out = x.inputs[0], x.outputs[0]
    if native is None or str(out.dtype) not in ("float32", "float64") or source.dtype != out.dtype:
        return None
    scaled, erf, more, half = (like(program, out) for _ in range(4))
    return [
        _make(x, "mul", (source, _SQRT_HALF), scaled), _make(x, "erf", (scaled,), erf), _make(x, "add", (1.0, erf), more),
        _make(x, "mul", (0.5, more), half), _make(x, "mul", (source, half), out),
    ]  # fmt: skip


def _copies(x: Instruction) -> list[Instruction] | None:
    if native is None or x.name not in ("_stack", "_cat", "_reshape_copy") or len(x.outputs) != 1 or not is_plain(x.outputs[0]):
        return None
    out = x.outputs[0]
    if not all(isinstance(v, Value) and v.dtype == out.dtype for v in x.inputs) or out.dtype.kind not in "fciub":
        return None
    if x.name == "_reshape_copy":
        source = x.inputs[0]
        pairs = [(source, out._replace(shape=source.shape, strides=strides_in_order(source.shape, out.dtype)))]
    elif any(v.shape == (0,) for v in x.inputs):
        return None
    else:
        pairs = list(_parts(x, out))
    return [Instruction(form.COPY, "copy", (source,), (part,), None, None, None, x.line) for source, part in pairs]


def _parts(x: Instruction, out: Value) -> Iterator[tuple[Value, Value]]:
    """Yield each tensor that is joined, and its part of the result."""
    dim = x.params["dim"]
    dim += len(out.shape) if dim < 0 else 0
    start = 0
    for v in x.inputs:
        offset = start * out.strides[dim]
        if x.name == "_stack":
            start += 1
            yield v, out._replace(offset=offset, shape=v.shape, strides=out.strides[:dim] + out.strides[dim + 1 :])
        else:
            start += v.shape[dim]
            yield v, out._replace(offset=offset, shape=v.shape)
