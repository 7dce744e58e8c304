"""Every operation on arrays of another library than NumPy: the values and the derivatives are those of the CPU.

The library is tests/standin.py, which refuses what CuPy refuses, or CuPy itself (`make test-cuda`). The CPU's results are tested against oracles elsewhere."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

import device_library
import wengert
from op_samples.cases import Case, grad_inputs, over_samples, tensors_in
from wengert.autograd import forward_ad, grad
from wengert.backends import selection
from wengert.core.tensor import TensorBase, wrap
from wengert.ops.host import HOST_OPERATIONS
from wengert.ops.registry import OPS, Operation


def on_device(x: Any) -> Any:
    """Return the tensors of an input on a device, as leaves."""
    if isinstance(x, list):
        return [on_device(y) for y in x]
    if not isinstance(x, TensorBase):
        return x
    moved = x.detach().cuda()
    return moved.requires_grad_() if x.requires_grad else moved


def moved(case: Case) -> Case:
    """Return a case whose parameters are on a device."""
    result = copy(case)
    if case.op.kind == "creation" and not any(isinstance(x, TensorBase) for x in case.tensors(np.float64)):
        result.params = {"device": "cuda", **case.params}
        return result
    result.params = {key: on_device(value) for key, value in case.params.items()}
    return result


def host(x: Any) -> np.ndarray:
    assert not isinstance(x._array, np.ndarray), f"a result lies on {x.device}"
    return selection.to_host(x._array)


def cotangents(outputs: list[Any]) -> list[np.ndarray]:
    rng = np.random.default_rng(7)
    return [np.asarray(rng.uniform(-1, 1, out.shape), out._array.dtype) for out in outputs]


def derivatives(case: Case, inputs: list[Any], place: Any) -> list[list[Any]]:
    """Return the outputs of a case, its first derivatives from a pass on arrays, and its second ones."""
    outputs = tensors_in(case.call(inputs))
    found = [outputs]
    roots = [out for out in outputs if out.requires_grad]
    chosen = grad_inputs(inputs)
    if not roots or not chosen:
        return found
    seeds = [place(wrap(ct)) for ct in cotangents(roots)]
    found.append(list(grad(roots, chosen, seeds, retain_graph=True, allow_unused=True)))
    first = [g for g in grad(roots, chosen, seeds, create_graph=True, allow_unused=True) if g is not None]
    found.append(first)
    again = [g for g in first if g.requires_grad]
    if again:
        seeds = [place(wrap(ct)) for ct in cotangents(again)]
        found.append(list(grad(again, chosen, seeds, allow_unused=True)))
    return found


@over_samples(lambda case: True, quick=3)
def test_values_and_derivatives_are_those_of_the_cpu(case):
    wengert.manual_seed(0)
    expected = derivatives(case, case.tensors(np.float64), lambda t: t)
    with device_library.in_use():
        wengert.manual_seed(0)
        found = derivatives(moved(case), [on_device(x) for x in case.tensors(np.float64)], lambda t: t.cuda())
        assert len(found) == len(expected)
        for some, others in zip(found, expected, strict=True):
            for x, y in zip(some, others, strict=True):
                assert (x is None) == (y is None)
                if x is not None:
                    np.testing.assert_allclose(host(x), y._array, rtol=1e-9, atol=1e-11)


def tangents(case: Case, inputs: list[Any], place: Any) -> list[Any]:
    """Return the tangents of the outputs of a case along a fixed direction."""
    rng = np.random.default_rng(3)
    directions = {id(x): np.asarray(rng.uniform(-1, 1, x.shape), x._array.dtype) for x in grad_inputs(inputs)}
    with forward_ad.dual_level():

        def dual(x: Any) -> Any:
            if isinstance(x, list):
                return [dual(y) for y in x]
            return forward_ad.make_dual(x, place(wrap(directions[id(x)].copy()))) if id(x) in directions else x

        return [forward_ad.unpack_dual(out).tangent for out in tensors_in(case.call([dual(x) for x in inputs]))]


@over_samples(lambda case: any(d.grad for d in case.data()) and case.op.kind not in ("nondifferentiable", "creation"), quick=1)
def test_tangents_are_those_of_the_cpu(case):
    wengert.manual_seed(0)
    expected = tangents(case, case.tensors(np.float64), lambda t: t)
    with device_library.in_use():
        wengert.manual_seed(0)
        found = tangents(moved(case), [on_device(x) for x in case.tensors(np.float64)], lambda t: t.cuda())
        for x, y in zip(found, expected, strict=True):
            assert (x is None) == (y is None)
            if x is not None:
                np.testing.assert_allclose(host(x), y._array, rtol=1e-9, atol=1e-11)


def test_operations_that_run_in_main_memory_have_a_reason():
    assert set(HOST_OPERATIONS) <= {name for name, op in OPS.items() if isinstance(op, Operation)}
    assert len(HOST_OPERATIONS) <= 60, "this list shrinks"
