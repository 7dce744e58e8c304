"""Forward mode: the tangents of every operation against its backward pass, which test_gradients.py checks numerically.

With J the derivative, <ct, J v> = <J' ct, v> for all v and ct: Re <a, b> of complex numbers, as torch's convention has it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from op_samples.cases import Case, cases_where, first_cases, tensors_in
from wengert.autograd import forward_ad, grad
from wengert.core.tensor import wrap

_SINGULAR_AT_EQUAL_ELEMENTS = {"corrcoef", "masked_std"}


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


class Duals:
    """A case with its inputs made dual numbers: random tangents for those that require grad."""

    def __init__(self, case: Case, dtype: Any, layout: str = "contiguous", *, requires_grad: bool = True) -> None:
        self.case = case
        self.rng = np.random.default_rng(11)
        self.leaves: list[Any] = []
        self.tangents: list[np.ndarray] = []
        marked = case.tensors(dtype, layout)
        self.inputs = [self.dual(x, requires_grad) for x in marked]

    def dual(self, x: Any, requires_grad: bool) -> Any:
        if isinstance(x, list):
            return [self.dual(y, requires_grad) for y in x]
        if not getattr(x, "requires_grad", False):
            return x
        x.requires_grad = requires_grad
        self.leaves.append(x)
        self.tangents.append(random_like(x._array, self.rng))
        return forward_ad.make_dual(x, wrap(self.tangents[-1].copy()))

    def outputs(self) -> list[Any]:
        return [out for out in tensors_in(self.case.call(self.inputs)) if out.is_floating_point() or out.is_complex()]


def unpacked(tensors: list[Any]) -> tuple[list[Any], list[Any]]:
    pairs = [forward_ad.unpack_dual(t) for t in tensors]
    return [p.primal for p in pairs], [p.tangent for p in pairs]


def assert_close(found: float, expected: float, rtol: float = 1e-8) -> None:
    assert found == pytest.approx(expected, rel=rtol, abs=1e-9)


def check_first_order(case: Case, dtype: Any, layout: str = "contiguous") -> None:
    with forward_ad.dual_level():
        duals = Duals(case, dtype, layout)
        outputs = [out for out in duals.outputs() if out.requires_grad]
        if not outputs:
            pytest.skip("not differentiable")
        primals, tangents = unpacked(outputs)
    for p, t in zip(primals, tangents, strict=True):
        assert t is None or (t.shape, t.dtype) == (p.shape, p.dtype)
    cotangents = [random_like(p._array, duals.rng) for p in primals]
    found = grad(primals, duals.leaves, [wrap(ct) for ct in cotangents], allow_unused=True)
    assert_close(inner(tangents, cotangents), inner(found, duals.tangents))


def check_second_order(case: Case, dtype: Any) -> None:
    """Of x -> J(x)' ct, the gradients: forward over reverse, and reverse over forward, against reverse over reverse."""
    with forward_ad.dual_level():
        duals = Duals(case, dtype)
        outputs = [out for out in duals.outputs() if out.requires_grad]
        if not outputs:
            pytest.skip("not differentiable")
        primals, tangents = unpacked(outputs)
        cotangents = [wrap(random_like(p._array, duals.rng)) for p in primals]
        gradients = grad(outputs, duals.leaves, cotangents, create_graph=True, allow_unused=True)
        kept = [i for i, g in enumerate(gradients) if g is not None]
        values, along = unpacked([gradients[i] for i in kept])
        duals.gradients = gradients
    weights = [random_like(v._array, duals.rng) for v in values]
    recorded = [(v, w) for v, w in zip(values, weights, strict=True) if v.requires_grad]
    again: Any = [None] * len(duals.leaves)
    if recorded:
        again = grad([v for v, _ in recorded], duals.leaves, [wrap(w) for _, w in recorded], retain_graph=True, allow_unused=True)
    expected = inner(again, duals.tangents)
    assert_close(inner(along, weights), expected)
    check_reverse_over_forward(duals, values, tangents, cotangents)


def check_reverse_over_forward(duals: Duals, gradients: list[Any], tangents: list[Any], cotangents: list[Any]) -> None:
    """d/dx <ct, J(x) v> along u is d/dx <J(x)' ct, v> along u."""
    recorded = [(t, ct) for t, ct in zip(tangents, cotangents, strict=True) if t is not None and t.requires_grad]
    steps = [random_like(x._array, duals.rng) for x in duals.leaves]
    found: Any = [None] * len(steps)
    if recorded:
        found = grad([t for t, _ in recorded], duals.leaves, [ct for _, ct in recorded], retain_graph=True, allow_unused=True)
    by_reverse: Any = [None] * len(steps)
    with_graph = [(g, v) for g, v in zip(duals.gradients, duals.tangents, strict=True) if g is not None and g.requires_grad]
    if with_graph:
        by_reverse = grad([g for g, _ in with_graph], duals.leaves, [wrap(v) for _, v in with_graph], allow_unused=True)
    assert_close(inner(found, steps), inner(by_reverse, steps))


@pytest.mark.parametrize("case", cases_where(differentiable))
def test_tangents_agree_with_the_backward_pass(case):
    check_first_order(case, np.float64)
    if case.takes_complex:
        check_first_order(case, np.complex128)


@pytest.mark.parametrize("case", cases_where(differentiable))
def test_second_derivatives_agree_in_any_order(case):
    check_second_order(case, np.float64)
    if case.takes_complex:
        check_second_order(case, np.complex128)


@pytest.mark.parametrize("case", [pytest.param(case, id=case.id) for case in first_cases().values() if differentiable(case)])
def test_layout_makes_no_difference(case):
    if case.is_about_memory:
        pytest.skip("a function of the memory's layout")
    check_first_order(case, np.float64, "sliced")
    if not case.has_distinct and case.name not in _SINGULAR_AT_EQUAL_ELEMENTS:
        check_first_order(case, np.float64, "expanded")
