"""Steps of gradient descent run with the products of matrices that give their gradients.

Then a part of the parameter is changed while its gradient is in the first cache, and memory is read once less. See `descend` in
kernels/wk_whole.c.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.kernels import native
from wengert.program import form
from wengert.program.arrays import is_in_order
from wengert.program.form import Instruction, storages_written, values_read
from wengert.program.lowering import function_of, is_plain, kernel_of

_LEAST = 1 << 17  # bytes of a gradient; smaller ones stay in the cache


def join_steps(instructions: list[Instruction]) -> list[Instruction]:
    """Let the products that give gradients take the steps of plain gradient descent."""
    found = list(instructions)
    if native is None:
        return found
    makers = {x.outputs[0].storage: i for i, x in enumerate(instructions) if x.kind == form.MAKE and len(x.outputs) == 1}
    for j, step in enumerate(instructions):
        rate = _rate_of(step)
        i = None if rate is None else makers.get(step.inputs[1].storage)
        if i is not None and _fit(instructions[i], step) and _may_wait(instructions, i, j):
            product = instructions[i]
            inputs = (*product.inputs, step.inputs[0], rate)
            outputs = (step.outputs[0], product.outputs[0])
            joined = Instruction(form.UPDATE, f"{product.name}+{step.name}", inputs, outputs, None, None, None, step.line)
            joined.parts = [product, step]
            found[i], found[j] = None, joined  # type: ignore[call-overload]
    return [x for x in found if x is not None]


def _rate_of(step: Instruction) -> Any:
    """Return the learning rate of a step parameter - rate * gradient. None if it is no such step."""
    if step.kind != form.UPDATE or len(step.outputs) != 1:
        return None
    inputs, values, outputs = step.function.inputs, step.function.values, step.function.outputs
    if len(values) != 2 or outputs[0] is not values[1]:
        return None
    scaled, new = values
    if (scaled.function.name, new.function.name) != ("mul", "sub") or new.inputs[0] is not inputs[0] or new.inputs[1] is not scaled:
        return None
    places = [i for x in scaled.inputs for i, y in enumerate(inputs) if x is y]
    return step.inputs[max(places)] if len(places) == 2 and min(places) == 1 < max(places) else None


def _fit(product: Instruction, step: Instruction) -> bool:
    """Whether an instruction is a product of two matrices, and gives the gradient of a step. Both lie in memory row by row."""
    (p, g), out = step.inputs[:2], product.outputs[0]
    if kernel_of(product) != (native.find("product"), ()) or len(out.shape) != 2 or not is_plain(out) or g != out:
        return False
    if out.storage.nbytes < _LEAST or not is_in_order(p) or (p.shape, p.dtype) != (out.shape, out.dtype):
        return False
    return all(v.storage is not p.storage for v in values_read(product))


def _may_wait(instructions: list[Instruction], i: int, j: int) -> bool:
    """Whether instruction i may run when instruction j does: nothing in between reads its result, or writes what it reads."""
    read, written = {v.storage for v in values_read(instructions[i])}, instructions[i].outputs[0].storage
    for x in instructions[i + 1 : j]:
        if any(v.storage is written for v in values_read(x)) or not read.isdisjoint(storages_written(x)):
            return False
    return True


def function_of_steps(joined: Instruction) -> Callable[..., Any]:
    """Return a function (left, right, parameter, rate) that does what a joined instruction does, and returns the gradient."""
    product, step = joined.parts
    multiply, rate = function_of(product, product.params), step.inputs.index(joined.inputs[3])
    numbers = len(step.inputs) - 2

    def run(left: Any, right: Any, parameter: Any, value: Any) -> Any:
        gradient = multiply(left, right)
        given = [0.0] * numbers
        given[rate - 2] = value
        parameter[...] = step.function.run((parameter, gradient, *given))[0]
        return gradient

    return run
