"""Derivatives: every rule of every operation against finite differences, to second order, and its two faces against each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from op_samples.cases import CASES, LAYOUTS, Case, cases_where, grad_inputs, tensors_in

from wengert.autograd import grad, gradcheck, gradgradcheck
from wengert.core.node import OpNode
from wengert.core.tensor import wrap
from wengert.ops.registry import OPS, Operation

# Operations that reach a rule only through something that is not an operation: who tests them.
RULES_TESTED_ELSEWHERE: dict[str, str] = {}


def differentiable(case: Case) -> bool:
    """Whether the case has an input to differentiate with respect to. (Whether the operation is, its result says.)"""
    return case.op.kind not in ("nondifferentiable", "creation") and any(d.grad for d in case.data())


def differentiable_outputs(case: Case, inputs: list[Any]) -> list[Any]:
    return [out for out in tensors_in(case.call(inputs)) if out.requires_grad]


def in_place_of(case: Case, inputs: list[Any]) -> tuple[Callable[..., tuple[Any, ...]], list[Any]]:
    """(function, tensors): the case as a function of the inputs that require grad, to its differentiable outputs."""
    chosen = grad_inputs(inputs)

    def put(x: Any, replacements: Any) -> Any:
        if isinstance(x, list):
            return [put(y, replacements) for y in x]
        return next(replacements) if any(x is y for y in chosen) else x

    def function(*tensors: Any) -> tuple[Any, ...]:
        replacements = iter(tensors)
        return tuple(differentiable_outputs(case, [put(x, replacements) for x in inputs]))

    return function, chosen


def check(case: Case, dtype: Any, second: bool) -> None:
    # gradcheck writes to its inputs, to perturb them.
    function, inputs = in_place_of(case, case.wrapped(case.values(dtype, writable=True), requires_grad=True))
    if not function(*inputs):
        assert not isinstance(case.op, Operation) or not case.op.rules, "there are rules, yet the result requires no grad"
        pytest.skip("not differentiable")
    if second:
        # One random projection of each second derivative: an error in any element shows in it.
        gradgradcheck(function, inputs, fast_mode=True, check_undefined_grad=False, atol=2e-4)
    else:
        gradcheck(function, inputs)


@pytest.mark.parametrize("case", cases_where(differentiable))
def test_gradcheck(case):
    check(case, np.float64, second=False)


@pytest.mark.parametrize("case", cases_where(differentiable))
def test_gradgradcheck(case):
    check(case, np.float64, second=True)


@pytest.mark.parametrize("case", cases_where(lambda case: differentiable(case) and case.takes_complex))
def test_gradcheck_complex(case):
    check(case, np.complex128, second=False)


@pytest.mark.parametrize("case", cases_where(lambda case: differentiable(case) and case.takes_complex))
def test_gradgradcheck_complex(case):
    check(case, np.complex128, second=True)


# -- the two faces, layouts --------------------------------------------------------------------------------------------------


def cotangents_for(outputs: list[Any], seed: int = 5) -> list[Any]:
    rng = np.random.default_rng(seed)

    def values(array: np.ndarray) -> np.ndarray:
        found = rng.uniform(-1, 1, array.shape)
        if array.dtype.kind == "c":
            found = found + 1j * rng.uniform(-1, 1, array.shape)
        return np.asarray(found, array.dtype)

    return [wrap(values(out._array)) for out in outputs]


def gradients(case: Case, inputs: list[Any], create_graph: bool) -> list[Any]:
    """The cotangents of the inputs that require grad, for random ones of the outputs; [] where nothing is differentiable."""
    outputs = differentiable_outputs(case, inputs)
    if not outputs:
        return []
    chosen = grad_inputs(inputs)
    return list(grad(outputs, chosen, cotangents_for(outputs), create_graph=create_graph, allow_unused=True))


def assert_equal_gradients(first: list[Any], second: list[Any]) -> None:
    for a, b in zip(first, second, strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            assert a._array.dtype == b._array.dtype and a._array.shape == b._array.shape
            np.testing.assert_allclose(a._array, b._array, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("case", cases_where(differentiable))
def test_both_faces_give_the_same_cotangents(case):
    for dtype in (np.float64, np.complex128) if case.takes_complex else (np.float64,):
        inputs = case.tensors(dtype)
        on_arrays, on_tensors = gradients(case, inputs, False), gradients(case, inputs, True)
        assert_equal_gradients(on_arrays, on_tensors)
        for g, x in zip(on_arrays, grad_inputs(inputs) if on_arrays else [], strict=True):
            assert g is None or (g.dtype, g.shape) == (x.dtype, x.shape)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("case", cases_where(lambda case: differentiable(case) and any(d.shape for d in case.data())))
def test_layout_makes_no_difference(case, layout):
    if layout == "expanded" and case.has_distinct:
        pytest.skip("an expanded input has equal elements")
    if case.name in ("as_strided", "view", "view_as", "unflatten"):
        pytest.skip("a function of the memory's layout")
    inputs = case.tensors(np.float64, layout)
    same = case.wrapped([[y.copy() for y in x] if isinstance(x, list) else x.copy() if isinstance(x, np.ndarray) else x
                         for x in case.values(np.float64, layout)], requires_grad=True)  # fmt: skip
    for create_graph in (False, True):
        assert_equal_gradients(gradients(case, inputs, create_graph), gradients(case, same, create_graph))


@pytest.mark.parametrize("case", cases_where(differentiable))
def test_float32_gradients_are_those_of_float64(case):
    narrow, wide = case.tensors(np.float32), case.tensors(np.float64)
    for a, b in zip(gradients(case, narrow, False), gradients(case, wide, False), strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            assert a._array.dtype == np.float32
            np.testing.assert_allclose(a._array, b._array, rtol=2e-3, atol=2e-4)


# -- coverage ------------------------------------------------------------------------------------------------------------------


def rules_in_graph(tensors: list[Any]) -> set[tuple[str, tuple[int, ...]]]:
    """(operation, positions of the inputs) of every rule that a backward pass from these tensors would run."""
    found, seen = set(), set()
    stack = [t.grad_fn for t in tensors if t is not None and t.grad_fn is not None]
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if isinstance(node, OpNode):
            found.update((node._op.name, call.rule.targets) for call in node._plan.calls)
        stack += [next_node for next_node, _ in node.next_functions if next_node is not None]
    return found


def test_every_rule_is_run_by_some_sample():
    """First derivatives run the rules of the outputs' graph, second ones those of the gradients' graph."""
    run: set[tuple[str, tuple[int, ...]]] = set()
    for case in CASES:
        if differentiable(case):
            inputs = case.tensors(np.float64)
            run |= rules_in_graph(differentiable_outputs(case, inputs))
            run |= rules_in_graph([g for g in gradients(case, inputs, True) if g is not None])
    rules = {(name, rule.targets) for name, op in OPS.items() if isinstance(op, Operation) for rule in op.rules}
    missing = sorted(f"{n}.vjp({', '.join(OPS[n].input_names[i] for i in targets)})" for n, targets in rules - run)
    missing = [m for m in missing if m.split(".")[0] not in RULES_TESTED_ELSEWHERE]
    assert not missing, f"no sample in tests/op_samples runs the rules {', '.join(missing)}"
