"""Forward mode: tangents, and the tangents and gradients of gradients, of every operation against finite differences.

Along a direction v, with J the derivative and g(x) = J(x)' ct a backward pass:

    J v                       is the derivative of the values along v         (forward)
    the tangent of g          is the derivative of g along v                  (forward over reverse)
    the gradient of <ct, J v> is the same, as second derivatives are symmetric (reverse over forward)
    <ct, J v> = <g, v>                                                        (forward against reverse, to rounding)

where <a, b> of complex numbers is Re(conj(a) b), as torch's convention has it. So three passes are checked element by
element by two differences, of values and of plain backward passes, neither of which runs any forward mode.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from op_samples.cases import Case, grad_inputs, over_samples, tensors_in
from wengert.autograd import forward_ad, grad
from wengert.core.tensor import wrap

_SINGULAR_AT_EQUAL_ELEMENTS = {"corrcoef", "masked_std"}

# Of central differences: the step, which leaves an error of 1e-10 from its square and as much from rounding, each times what
# these functions make of it.
_STEP = 1e-5
TOLERANCES = {"rtol": 1e-6, "atol": 1e-7}


def differentiable(case: Case) -> bool:
    return case.op.kind not in ("nondifferentiable", "creation") and any(d.grad for d in case.data())


def random_like(array: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    values = rng.uniform(-1, 1, array.shape)
    if array.dtype.kind == "c":
        values = values + 1j * rng.uniform(-1, 1, array.shape)
    return np.asarray(values, array.dtype)


def inner(tensors: list[Any], vectors: list[Any]) -> float:
    """The sum of Re <a, b> over pairs; None is zero."""
    pairs = [(t._array, np.asarray(v)) for t, v in zip(tensors, vectors, strict=True) if t is not None]
    return float(sum(np.vdot(a, v).real for a, v in pairs))


class Line:
    """A case along a line through its inputs: those that require grad move in a random direction."""

    def __init__(self, case: Case, dtype: Any, layout: str = "contiguous") -> None:
        self.case = case
        self.rng = np.random.default_rng(11)
        self.inputs = case.tensors(dtype, layout)
        self.leaves = grad_inputs(self.inputs)
        self.direction = [random_like(x._array, self.rng) for x in self.leaves]

    def with_leaves(self, make: Callable[[Any, np.ndarray], Any]) -> list[Any]:
        """The inputs, with make(leaf, direction) in the place of each leaf."""
        made = {id(x): make(x, v) for x, v in zip(self.leaves, self.direction, strict=True)}

        def put(x: Any) -> Any:
            return [put(y) for y in x] if isinstance(x, list) else made.get(id(x), x)

        return [put(x) for x in self.inputs]

    def outputs(self, inputs: list[Any]) -> list[Any]:
        """The outputs that have derivatives."""
        return [out for out in tensors_in(self.case.call(inputs)) if out.requires_grad]

    def at(self, step: float, cotangents: list[Any]) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """The outputs at a point of the line, and the gradients there of their products with the cotangents."""
        moved = self.with_leaves(lambda x, v: wrap(np.asarray(x._array + step * v)).requires_grad_())
        leaves = grad_inputs(moved)
        outputs = self.outputs(moved)
        gradients = grad(outputs, leaves, cotangents, allow_unused=True, materialize_grads=True)
        return [out._array for out in outputs], [g._array for g in gradients]

    def differences(self, cotangents: list[Any]) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """The derivatives along the line of the outputs, and of these gradients."""
        after, before = self.at(_STEP, cotangents), self.at(-_STEP, cotangents)
        values, gradients = [[(a - b) / (2 * _STEP) for a, b in zip(*pair, strict=True)] for pair in zip(after, before, strict=True)]
        return values, gradients

    def dual(self) -> list[Any]:
        """The inputs with the direction as tangents. A dual level must be open."""
        return self.with_leaves(lambda x, v: forward_ad.make_dual(x, wrap(v.copy())))


def unpacked(tensors: list[Any]) -> tuple[list[Any], list[Any]]:
    pairs = [forward_ad.unpack_dual(t) for t in tensors]
    return [p.primal for p in pairs], [p.tangent for p in pairs]


def assert_all_close(what: str, found: list[Any], expected: list[np.ndarray]) -> None:
    """To the tolerances, of each tensor's largest element. None is zero."""
    for i, (tensor, values) in enumerate(zip(found, expected, strict=True)):
        scale = max(1.0, float(np.abs(values).max(initial=0.0)))
        if tensor is not None:
            assert (tensor.shape, tensor._array.dtype) == (values.shape, values.dtype), f"{what} {i}"
        array = 0 * values if tensor is None else tensor._array
        np.testing.assert_allclose(array / scale, values / scale, err_msg=f"{what} {i}", **TOLERANCES)


def check(case: Case, dtype: Any) -> None:
    line = Line(case, dtype)
    with forward_ad.dual_level():
        outputs = line.outputs(line.dual())
        if not outputs:
            return
        primals, tangents = unpacked(outputs)
        cotangents = [wrap(random_like(p._array, line.rng)) for p in primals]
        backward = grad(outputs, line.leaves, cotangents, retain_graph=True, allow_unused=True)
        gradients = [forward_ad.unpack_dual(g) if g is not None else (None, None) for g in backward]
    by_values, by_gradients = line.differences(cotangents)
    assert_all_close("tangent of output", tangents, by_values)
    assert_all_close("tangent of the gradient of input", [t for _, t in gradients], by_gradients)
    assert inner(tangents, [ct._array for ct in cotangents]) == pytest.approx(inner([g for g, _ in gradients], line.direction), rel=1e-8, abs=1e-9)
    recorded = [(t, ct) for t, ct in zip(tangents, cotangents, strict=True) if t is not None and t.requires_grad]
    second: Any = [None] * len(line.leaves)
    if recorded:
        second = grad([t for t, _ in recorded], line.leaves, [ct for _, ct in recorded], allow_unused=True)
    assert_all_close("gradient of the tangents, for input", second, by_gradients)


@pytest.mark.slow
@over_samples(differentiable, quick=3)
def test_tangents_and_second_derivatives_by_either_mode(case):
    check(case, np.float64)


@pytest.mark.slow
@over_samples(lambda case: differentiable(case) and case.may_be_complex, quick=1)
def test_tangents_and_second_derivatives_of_complex_numbers(case):
    if case.takes_complex:
        check(case, np.complex128)


def tangents_of(line: Line) -> list[np.ndarray]:
    with forward_ad.dual_level():
        found = unpacked(line.outputs(line.dual()))[1]
    return [np.zeros(()) if t is None else t._array for t in found]


@pytest.mark.slow
@over_samples(lambda case: differentiable(case) and not case.is_about_memory, quick=1)
def test_layout_makes_no_difference(case):
    layouts = ["sliced"]
    if not case.has_distinct and case.name not in _SINGULAR_AT_EQUAL_ELEMENTS:
        layouts.append("expanded")
    for layout in layouts:
        line = Line(case, np.float64, layout)
        packed = Line(case, np.float64, layout)
        packed.inputs = packed.with_leaves(lambda x, _: wrap(x._array.copy()).requires_grad_())
        packed.leaves = grad_inputs(packed.inputs)
        for a, b in zip(tangents_of(line), tangents_of(packed), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12, err_msg=layout)
