"""Derivatives: every rule against finite differences, to second order, and its two faces against each other."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np
import pytest

import wengert
from op_samples.cases import CASES, LAYOUTS, Case, grad_inputs, naming, operation_nodes, over_samples, tensors_in
from wengert.autograd import grad, gradcheck, gradgradcheck
from wengert.core.tensor import wrap
from wengert.ops.registry import OPS, Operation

# A hundredth of the defaults: central differences of these small functions are good to nine digits.
TOLERANCES = {"atol": 1e-7, "rtol": 1e-5}

# Operations that are reached only through a write in place, which no sample does.
RULES_TESTED_BY_HAND = {
    "_to_device": "tests/core/test_devices.py",
    "alias": "tests/parity/test_overrides.py",
    "_cholesky": "tests/explicit/test_linalg.py",
    "_normal_log_density": "tests/hips/test_scipy.py",
    "_cofactors": "tests/explicit/test_linalg.py",
    "_second_cofactors": "tests/explicit/test_linalg.py",
    "_nll_loss": "tests/explicit/test_nn.py",
    "_eig": "tests/explicit/test_factorisations.py",
    "_eigh": "tests/explicit/test_factorisations.py",
    "_geqrf": "tests/explicit/test_factorisations.py",
    "_sample_dirichlet": "tests/distributions/test_distributions.py",
    "_standard_gamma": "tests/explicit/test_statistics.py",
    "_ldl_solve": "tests/explicit/test_low_rank.py",
    "_care": "tests/scipy/test_linalg.py",
    "_dare": "tests/scipy/test_linalg.py",
    "_limit": "tests/explicit/test_equal_values.py",
    "view_as_real": "tests/explicit/test_complex_views.py",
    "_overwrite": "test_random_fills_pass_no_gradient_on",
}


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
        has_rules = isinstance(case.op, Operation) and bool(case.op.rules)
        assert not has_rules or not tensors_in(case.call(case.tensors(dtype))), "no grad in spite of rules"
        return
    if second:
        gradgradcheck(function, inputs, fast_mode=is_large(inputs), check_undefined_grad=False, **TOLERANCES)
    else:
        gradcheck(function, inputs, fast_mode=is_large(inputs), **TOLERANCES)


def is_large(inputs: list[Any]) -> bool:
    """Whether to check one random projection of the derivatives in place of all their elements, whose number costs."""
    return sum(x.numel() for x in inputs) > 40


@over_samples(differentiable)
def test_first_derivatives_are_the_differences_of_values(case):
    check(case, np.float64, second=False)


@pytest.mark.slow
@over_samples(differentiable, quick=3)
def test_second_derivatives_are_the_differences_of_first_ones(case):
    check(case, np.float64, second=True)


@pytest.mark.slow
@over_samples(lambda case: differentiable(case) and case.may_be_complex, quick=1)
def test_first_and_second_derivatives_of_complex_numbers(case):
    if case.takes_complex:
        check(case, np.complex128, second=False)
        check(case, np.complex128, second=True)


# -- the two faces, layouts ----------------------------------------------------------------------------------


def cotangents_for(outputs: list[Any], seed: int = 5) -> list[Any]:
    rng = np.random.default_rng(seed)

    def values(array: np.ndarray) -> np.ndarray:
        found = rng.uniform(-1, 1, array.shape)
        if array.dtype.kind == "c":
            found = found + 1j * rng.uniform(-1, 1, array.shape)
        return np.asarray(found, array.dtype)

    return [wrap(values(out._array)) for out in outputs]


def gradients(case: Case, inputs: list[Any], create_graph: bool) -> list[Any]:
    """The cotangents of the inputs that require grad, for random ones of the outputs; [] where there is none."""
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


@over_samples(differentiable, quick=3)
def test_both_faces_give_the_same_cotangents(case):
    for dtype in (np.float64, np.complex128) if case.takes_complex else (np.float64,):
        inputs = case.tensors(dtype)
        on_arrays, on_tensors = gradients(case, inputs, False), gradients(case, inputs, True)
        assert_equal_gradients(on_arrays, on_tensors)
        for g, x in zip(on_arrays, grad_inputs(inputs) if on_arrays else [], strict=True):
            assert g is None or (g.dtype, g.shape) == (x.dtype, x.shape)


@over_samples(
    lambda case: differentiable(case) and any(d.shape for d in case.data()) and not case.is_about_memory, quick=1
)
def test_layout_makes_no_difference(case):
    for layout in LAYOUTS:
        if layout == "expanded" and case.has_distinct:
            continue  # an expanded input has equal elements
        with naming(layout):
            inputs = case.tensors(np.float64, layout)
            same = case.wrapped(deepcopy(case.values(np.float64, layout)), requires_grad=True)
            for create_graph in (False, True):
                assert_equal_gradients(gradients(case, inputs, create_graph), gradients(case, same, create_graph))


@over_samples(differentiable, quick=3)
def test_float32_gradients_agree_with_float64(case):
    narrow, wide = case.tensors(np.float32), case.tensors(np.float64)
    for a, b in zip(gradients(case, narrow, False), gradients(case, wide, False), strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            assert a._array.dtype == np.float32
            np.testing.assert_allclose(a._array, b._array, rtol=2e-3, atol=2e-4)


# -- coverage ------------------------------------------------------------------------------------------------


def rules_in_graph(tensors: list[Any]) -> set[tuple[str, tuple[int, ...]]]:
    """(operation, positions of the inputs) of every rule that a backward pass from these tensors would run."""
    return {(node._op.name, call.rule.targets) for node in operation_nodes(tensors) for call in node._plan.calls}


@pytest.mark.slow
def test_every_rule_is_run_by_some_sample():
    """First derivatives run the rules of the outputs' graph. Second derivatives run the rules of the gradients' graph."""
    run: set[tuple[str, tuple[int, ...]]] = set()
    for case in CASES:
        if not differentiable(case):
            continue
        for layout in ("contiguous",) if case.is_about_memory else ("contiguous", "transposed"):
            inputs = case.tensors(np.float64, layout)
            run |= rules_in_graph(differentiable_outputs(case, inputs))
            run |= rules_in_graph(gradients(case, inputs, True))
    rules = {(name, rule.targets) for name, op in OPS.items() if isinstance(op, Operation) for rule in op.rules}
    missing = sorted(f"{n}.vjp({', '.join(OPS[n].input_names[i] for i in targets)})" for n, targets in rules - run)
    missing = [m for m in missing if m.split(".")[0] not in RULES_TESTED_BY_HAND]
    assert not missing, f"no sample in tests/op_samples runs the rules {', '.join(missing)}"


@pytest.mark.parametrize("fill", ["uniform_", "normal_", "exponential_"])
def test_random_fills_pass_no_gradient_on(fill):
    x = wengert.ones(3, requires_grad=True)
    y = x * 2
    getattr(y, fill)()
    (g,) = grad((y * 3).sum(), [x])
    assert g.tolist() == [0.0, 0.0, 0.0]
