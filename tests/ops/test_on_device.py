"""Every operation on arrays of another library than NumPy: the values and the derivatives are those of the CPU.

The library is tests/standin.py, which refuses what CuPy refuses, or CuPy itself (`make test-cuda`). The CPU's results are tested against oracles elsewhere."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
import pytest

import device_library
import standin
import wengert
from device_library import a_place, on_the_stand_in
from loops import each
from op_samples.cases import Case, by_operation, grad_inputs, over_samples, tensors_in
from wengert import generator
from wengert.autograd import forward_ad, grad
from wengert.backends import selection
from wengert.core.tensor import TensorBase, wrap
from wengert.device_generator import DeviceGenerator
from wengert.ops.host import HOST_OPERATIONS
from wengert.ops.registry import OPS, Operation


def on_device(x: Any) -> Any:
    """Return the tensors of an input on a device, as leaves."""
    if isinstance(x, list):
        return [on_device(y) for y in x]
    if not isinstance(x, TensorBase):
        return x
    moved = x.detach().to(a_place())
    return moved.requires_grad_() if x.requires_grad else moved


def moved(case: Case) -> Case:
    """Return a case whose parameters are on a device."""
    result = copy(case)
    if case.op.kind == "creation" and not any(isinstance(x, TensorBase) for x in case.tensors(np.float64)):
        result.params = {"device": a_place(), **case.params}
        return result
    result.params = {key: on_device(value) for key, value in case.params.items()}
    return result


class _NumbersOfTheCPU(DeviceGenerator):
    """A generator of a device whose numbers are drawn by the CPU's, so that results can be compared."""

    def __getattribute__(self, name: str) -> Any:
        if name not in ("uniform", "uniform_like", "integers", "normal", "by_rejection", "permutation"):
            return super().__getattribute__(name)
        draw, backend = getattr(generator.default_generator, name), selection.backend_for("cuda")
        return lambda *args: backend.from_host(np.asarray(draw(*[selection.to_host(x) for x in args])))


@pytest.fixture
def numbers_of_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let operations on a device draw the CPU's numbers. tests/core/test_device_generators.py draws the device's own."""
    monkeypatch.setattr(generator, "default_generator_of", _NumbersOfTheCPU)


def in_dtype(x: Any, dtype: Any) -> Any:
    """Return an input with its floating tensors as leaves of a dtype."""
    if isinstance(x, list):
        return [in_dtype(y, dtype) for y in x]
    is_floating = isinstance(x, TensorBase) and x.is_floating_point()
    return x.detach().to(dtype).requires_grad_(x.requires_grad) if is_floating else x


def values_and_gradients(case: Case, inputs: list[Any], place: Any) -> list[Any]:
    """Return the outputs of a case, and its first derivatives."""
    outputs = tensors_in(case.call(inputs))
    roots, chosen = [out for out in outputs if out.requires_grad], grad_inputs(inputs)
    if not roots or not chosen:
        return outputs
    rng = np.random.default_rng(7)
    seeds = [place(wengert.tensor(rng.uniform(-1, 1, out.shape)).to(out.dtype)) for out in roots]
    return outputs + [g for g in grad(roots, chosen, seeds, allow_unused=True) if g is not None]


def check_16_bits(case: Case, dtype: Any) -> None:
    """Check that a case computes on a device in a dtype of 16 bits what it computes on the CPU, if it does there."""
    wengert.manual_seed(0)
    try:
        expected = values_and_gradients(case, in_dtype(case.tensors(np.float32), dtype), lambda t: t)
    except (ValueError, TypeError, NotImplementedError, RuntimeError):
        return
    eps = wengert.finfo(dtype).eps
    with device_library.in_use():
        wengert.manual_seed(0)
        found = values_and_gradients(moved(case), [on_device(x) for x in in_dtype(case.tensors(np.float32), dtype)], lambda t: t.to(a_place()))
        for x, y in zip(found, expected, strict=True):
            assert x.is_cuda and x.dtype is y.dtype
            numbers = y.detach().to(wengert.complex128).numpy()
            size = np.abs(numbers[np.isfinite(numbers)]).max(initial=1.0)
            np.testing.assert_allclose(x.detach().cpu().to(wengert.complex128).numpy(), numbers, rtol=4 * eps, atol=4 * eps * size)


@pytest.mark.usefixtures("numbers_of_the_cpu")
@each("case", [cases[0] for cases in by_operation(lambda case: True).values()])
def test_bfloat16_is_computed_as_on_the_cpu(case):
    check_16_bits(case, wengert.bfloat16)


@pytest.mark.exhaustive
@pytest.mark.usefixtures("numbers_of_the_cpu")
@each("case", [cases[0] for cases in by_operation(lambda case: True).values()])
def test_float16_is_computed_as_on_the_cpu(case):
    check_16_bits(case, wengert.float16)


def host(x: Any) -> np.ndarray:
    assert str(x.device) == a_place(), f"a result lies on {x.device}"
    return selection.to_host(x._array)


def cotangents(outputs: list[Any]) -> list[np.ndarray]:
    rng = np.random.default_rng(7)
    return [np.asarray(rng.uniform(-1, 1, out.shape), out._array.dtype) for out in outputs]


# Operations that wait for the device, with the reason. Besides these, those of ops/host.py do.
_REASONS = {
    "It, or its derivative, calls an operation or a function of scipy.special that runs in main memory.": """
        _bessel_i _bessel_j _bessel_k _dirichlet_grad _spherical_j _standard_gamma_grad cholesky_inverse cholesky_solve ctc_loss
        cummax cummin embedding_bag
        geqrf igamma igammac index_reduce linalg_cholesky_ex linalg_cond linalg_inv_ex linalg_ldl_factor linalg_ldl_factor_ex
        linalg_lstsq linalg_lu linalg_lu_factor linalg_lu_factor_ex linalg_lu_solve linalg_qr linalg_solve_ex
        linalg_solve_triangular lu lu_solve lu_unpack matrix_exp mode multilabel_margin_loss qr
        scatter_reduce segment_reduce special_bessel_j1 special_betainc special_gammainc special_gammaincc special_i1 special_i1e
        special_modified_bessel_i1 special_modified_bessel_k1 special_scaled_modified_bessel_k1 special_spherical_bessel_j0
        triangular_solve
    """,
    "The shape of the result, or of a part of it, depends on elements.": """
        __getitem__ _cross_entropy_cotangent argwhere bincount index_fill index_put masked_fill masked_scatter masked_select nonzero nonzero_static one_hot
        repeat_interleave torch_embedding unique unique_consecutive histc histogram
    """,
    "It asks whether a matrix was singular, as LinAlgError needs.": """
        cholesky inverse linalg_cholesky linalg_eigh linalg_eigvalsh linalg_inv linalg_matrix_norm linalg_pinv linalg_solve linalg_svd
        linalg_svdvals linalg_tensorinv linalg_tensorsolve matrix_power nuclear_norm pinverse svd
    """,
    "It answers a question about elements, or raises where they are wrong.": """
        allclose as_strided_scatter cov equal fractional_max_pool2d fractional_max_pool2d_with_indices fractional_max_pool3d
        fractional_max_pool3d_with_indices istft linalg_matrix_rank max_unpool1d max_unpool2d max_unpool3d
    """,
    "The way to compute it depends on elements: a singular matrix, the highest degree, real eigenvalues, NaN at the end, an exponent.": """
        _gegenbauer _laguerre bucketize det linalg_eig linalg_eigvals logdet pow searchsorted slogdet special_chebyshev_polynomial_t
        special_chebyshev_polynomial_u special_chebyshev_polynomial_v special_chebyshev_polynomial_w special_hermite_polynomial_h
        special_hermite_polynomial_he special_laguerre_polynomial_l special_legendre_polynomial_p
        special_shifted_chebyshev_polynomial_t special_shifted_chebyshev_polynomial_u special_shifted_chebyshev_polynomial_v
        special_shifted_chebyshev_polynomial_w
    """,
}
WAITING = {name for names in _REASONS.values() for name in names.split()}


def waits_of(case: Case) -> int:
    """Return how often a call of a case and its derivative wait for the device."""
    wengert.manual_seed(0)
    with standin.in_use():
        on, inputs = moved(case), [on_device(x) for x in case.tensors(np.float64)]
        before = standin.waits
        outputs = tensors_in(on.call(inputs))
        roots, chosen = [out for out in outputs if out.requires_grad], grad_inputs(inputs)
        if roots and chosen:
            with standin.current(1):
                seeds = [wrap(standin.from_host(ct)) for ct in cotangents(roots)]
            grad(roots, chosen, seeds, allow_unused=True)
        return standin.waits - before


@on_the_stand_in
@over_samples(lambda case: case.name not in WAITING and case.name not in HOST_OPERATIONS, quick=1)
def test_an_operation_and_its_derivative_wait_for_no_device(case):
    assert waits_of(case) == 0


@on_the_stand_in
def test_operations_that_wait_have_a_reason():
    for name, cases in by_operation(lambda case: case.name in WAITING).items():
        assert any(waits_of(case) for case in cases), f"{name} waits no more: take it from the list"


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


@pytest.mark.usefixtures("numbers_of_the_cpu")
@over_samples(lambda case: True, quick=3)
def test_values_and_derivatives_are_those_of_the_cpu(case):
    wengert.manual_seed(0)
    expected = derivatives(case, case.tensors(np.float64), lambda t: t)
    with device_library.in_use():
        wengert.manual_seed(0)
        found = derivatives(moved(case), [on_device(x) for x in case.tensors(np.float64)], lambda t: t.to(a_place()))
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


@pytest.mark.usefixtures("numbers_of_the_cpu")
@over_samples(lambda case: any(d.grad for d in case.data()) and case.op.kind not in ("nondifferentiable", "creation"), quick=1)
def test_tangents_are_those_of_the_cpu(case):
    wengert.manual_seed(0)
    expected = tangents(case, case.tensors(np.float64), lambda t: t)
    with device_library.in_use():
        wengert.manual_seed(0)
        found = tangents(moved(case), [on_device(x) for x in case.tensors(np.float64)], lambda t: t.to(a_place()))
        for x, y in zip(found, expected, strict=True):
            assert (x is None) == (y is None)
            if x is not None:
                np.testing.assert_allclose(host(x), y._array, rtol=1e-9, atol=1e-11)


def test_operations_that_run_in_main_memory_have_a_reason():
    assert set(HOST_OPERATIONS) <= {name for name, op in OPS.items() if isinstance(op, Operation)}
    assert len(HOST_OPERATIONS) <= 60, "this list shrinks"
