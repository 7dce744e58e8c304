"""The forward-mode part of gradcheck: tangents against finite differences, and derivatives of batches against single ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.autograd.check_modes import FAST_MODE_NOTE, FastMode, GradcheckError, SlowMode
from wengert.autograd.forward_ad import attach_tangent, detach_tangent
from wengert.autograd.jacobians import as_outputs, jacobian_differences, memory_of, tensor_on
from wengert.core.dual import opened_level

if TYPE_CHECKING:
    from wengert.autograd.jacobians import Array, Problem


def tangents_along(problem: Problem, j: int, direction: Array) -> list[Array]:
    """Tangent of each output of problem.positions along a direction of input j, as flat arrays."""
    chosen = problem.inputs[j]
    with opened_level():
        dual = attach_tangent(chosen, tensor_on(np.asarray(direction.reshape(chosen.shape), memory_of(chosen).dtype), chosen))
        outputs = as_outputs(problem.func(*[dual if x is chosen else x for x in problem.arguments]))
        pairs = [detach_tangent(outputs[i]) for i in problem.positions]
    return [memory_of(y).reshape(-1) * 0 if t is None else memory_of(t).reshape(-1) for y, t in pairs]


def forward_jacobians(problem: Problem, j: int, unit: complex) -> list[Array]:
    """Jacobian of each output with respect to input j, times unit. Shape: (input elements, output elements)."""
    size = memory_of(problem.inputs[j]).size
    rows = [tangents_along(problem, j, unit * np.eye(1, size, k)[0]) for k in range(size)]
    if rows:
        return [np.stack(parts) for parts in zip(*rows, strict=True)]
    return [np.zeros((0, memory_of(problem.every_output[i]).size)) for i in problem.positions]


def check_forward_mode(mode: SlowMode | FastMode, batched: bool) -> None:
    """Compare the tangents of all outputs along all inputs with finite differences."""
    problem, tolerances = mode.problem, mode.tolerances
    for j in range(len(problem.inputs)):
        for part, numerical, analytical in _comparisons(mode, j):
            for i, (expected, found) in enumerate(zip(numerical, analytical, strict=True)):
                atol = tolerances.atol if part is None or isinstance(mode, SlowMode) else mode.atol(i, j)
                if not np.allclose(found, expected, tolerances.rtol, atol):
                    raise GradcheckError(_mismatch(mode, i, j, part, expected, found))
        if batched:
            _check_batched_tangents(problem, j)


def _comparisons(mode: SlowMode | FastMode, j: int) -> Iterator[tuple[str | None, list[Array], list[Array]]]:
    """Yield (part of input j, numerical derivatives, analytical derivatives) in torch's order. The part of a real input is None."""
    problem, differences = mode.problem, mode.differences[j]
    is_complex = problem.inputs[j].is_complex()
    for part in ("imag", "real") if is_complex else (None,):
        unit = 1j if part == "imag" else 1.0
        numerical: list[Any] = [d.along_imag if part == "imag" else d.along_real for d in differences]
        if isinstance(mode, SlowMode):
            yield part, numerical, forward_jacobians(problem, j, unit)
            continue
        direction: Any = getattr(mode.of_inputs[j], part or "real")
        yield part, numerical, tangents_along(problem, j, unit * direction)


def _mismatch(mode: SlowMode | FastMode, i: int, j: int, part: str | None, numerical: Array, analytical: Array) -> str:
    """Text of a GradcheckError: the derivatives that differ, of output i along input j."""
    text = f"Jacobian computed with forward mode mismatch for output {i} with respect to input {j},\n"
    if part is not None:
        name = {"real": "real", "imag": "imaginary"}[part]
        text = f"While considering the {name} part of complex inputs only, {text}"
    like = mode.problem.inputs[j]
    text += f"numerical:{tensor_on(numerical, like)}\nanalytical:{tensor_on(analytical, like)}\n"
    if isinstance(mode, SlowMode):
        return text
    difference = jacobian_differences(mode.problem, mode.problem.inputs[j])[i]
    full_numerical: Any = difference.along_imag if part == "imag" else difference.along_real
    full_analytical = forward_jacobians(mode.problem, j, 1j if part == "imag" else 1.0)[i]
    with np.errstate(all="ignore"):
        largest = np.abs(full_analytical - full_numerical).max().item()
    text += f"\n{FAST_MODE_NOTE}\nNumerical:\n {tensor_on(full_numerical, like)}\n"
    text += f"Analytical:\n{tensor_on(full_analytical, like)}\n\n"
    return text + f"The max per-element difference (slow mode) is: {largest}.\n"


def check_batched_gradients(problem: Problem) -> None:
    """Check for each output that a batch of two cotangents gives the gradients of the two alone."""
    from wengert.autograd import grad

    rng = np.random.default_rng(0)
    for i, output in enumerate(problem.outputs):
        like = memory_of(output)
        batch = tensor_on(np.asarray(rng.uniform(-1, 1, (2, *like.shape)), like.dtype), output)
        options: dict[str, Any] = {"retain_graph": True, "allow_unused": True}
        found = grad(output, problem.inputs, batch, is_grads_batched=True, **options)
        each = [grad(output, problem.inputs, batch[k], **options) for k in range(2)]
        for j, (g, *single) in enumerate(zip(found, *each, strict=True)):
            _compare_batch(g, single, f"computing batched gradients of output {i} with respect to input {j}")


def _check_batched_tangents(problem: Problem, j: int) -> None:
    """Check for input j that a batch of two directions gives the tangents of the two alone."""
    from wengert.autograd.vmap import vmap

    rng = np.random.default_rng(0)
    like = memory_of(problem.inputs[j])
    batch = tensor_on(np.asarray(rng.uniform(-1, 1, (2, *like.shape)), like.dtype), problem.inputs[j])

    def along(direction: Any) -> tuple[Any, ...]:
        return tuple([tensor_on(t, direction) for t in tangents_along(problem, j, memory_of(direction))])

    found = vmap(along)(batch)
    for i, (g, *single) in enumerate(zip(found, along(batch[0]), along(batch[1]), strict=True)):
        _compare_batch(g, single, f"computing batched forward mode derivatives of output {i} along input {j}")


def _compare_batch(found: Any, each: list[Any], what: str) -> None:
    """Raise GradcheckError if an entry of the batched derivative differs from the single one."""
    if found is None and all(g is None for g in each):
        return
    for k, single in enumerate(each):
        if not np.allclose(memory_of(found[k]), memory_of(single)):
            raise GradcheckError(f"While {what}: entry {k} of the batch differs from the same computed on its own")
