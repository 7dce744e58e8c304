"""Checks of one function of wengert.scipy: values, dtypes and derivatives to second order, backward and forward.

The oracle is SciPy's function, by finite differences along a random direction. It never calls ours.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

import wengert
from wengert.autograd import forward_ad, grad

# Coefficients of central differences of order 6, for the places 1, 2, 3 (and 0).
_FIRST = (3 / 4, -3 / 20, 1 / 60)
_SECOND = (3 / 2, -3 / 20, 1 / 90)


def outputs_of(found: Any) -> list[Any]:
    """The floating and complex results of a call, as arrays or tensors, in order."""
    if isinstance(found, (list, tuple)):
        return [y for x in found for y in outputs_of(x)]
    array = found.detach().numpy() if isinstance(found, wengert.Tensor) else np.asarray(found)
    return [found] if array.dtype.kind in "fc" else []


def arrays_of(found: Any) -> list[np.ndarray]:
    return [x.detach().numpy() if isinstance(x, wengert.Tensor) else np.asarray(x) for x in outputs_of(found)]


def check_call(
    submodule: str,
    name: str,
    call: Callable[..., Any],
    *arrays: Any,
    step: float = 1e-2,
    rtol: float = 1e-6,
    value_rtol: float = 1e-10,
    order: int = 2,
) -> None:
    """Check one call. call(function, *arrays): calls SciPy's function, or ours, with the arrays and any other arguments.

    arrays: the differentiated arguments, float64 or complex128. step: of the finite differences. order: 1 if the second derivative is
    not checked.
    """
    theirs = getattr(import_module(f"scipy.{submodule}"), name)
    ours = getattr(import_module(f"wengert.scipy.{submodule}"), name)
    points = [np.array(x) for x in arrays]
    expected = call(theirs, *points)
    _check_values(name, expected, call(ours, *[wengert.tensor(x, requires_grad=True) for x in points]), value_rtol)
    assert not any(isinstance(x, wengert.Tensor) for x in outputs_of(call(ours, *points))), f"{name}: arrays give arrays"

    rng = np.random.default_rng(0)
    weights = [_drawn(rng, x) for x in arrays_of(expected)]
    direction = [_drawn(rng, x) for x in points]

    def along(t: float) -> float:
        found = arrays_of(call(theirs, *[x + t * v for x, v in zip(points, direction)]))
        return sum(float(np.sum(w.conj() * y).real) for w, y in zip(weights, found))

    values = {k: along(k * step) for k in range(-3, 4)}
    slope = sum(c * (values[k] - values[-k]) for k, c in enumerate(_FIRST, 1)) / step
    bend = (sum(c * (values[k] + values[-k]) for k, c in enumerate(_SECOND, 1)) - 49 / 18 * values[0]) / step**2

    inputs = [wengert.tensor(x, requires_grad=True) for x in points]
    reverse = _inner(grad(_loss(call(ours, *inputs), weights), inputs, create_graph=order > 1), direction)
    np.testing.assert_allclose(float(reverse.detach()), slope, rtol=rtol, atol=rtol, err_msg=f"{name}: the gradient")
    with forward_ad.dual_level():
        duals = [forward_ad.make_dual(wengert.tensor(x), wengert.tensor(v)) for x, v in zip(points, direction)]
        tangent = forward_ad.unpack_dual(_loss(call(ours, *duals), weights)).tangent
        np.testing.assert_allclose(float(tangent), slope, rtol=rtol, atol=rtol, err_msg=f"{name}: the tangent")
    if order < 2:
        return
    rtol = max(rtol, 1e-5)
    if reverse.requires_grad:
        second = _inner(grad(reverse, inputs, allow_unused=True, materialize_grads=True), direction)
        np.testing.assert_allclose(float(second), bend, rtol=rtol, atol=rtol, err_msg=f"{name}: the second derivative")
    else:
        assert abs(bend) < 1e-6, f"{name}: the gradient has no graph"
    with forward_ad.dual_level():
        duals = [forward_ad.make_dual(x, wengert.tensor(v)) for x, v in zip(inputs, direction)]
        slope_of = _inner(grad(_loss(call(ours, *duals), weights), inputs, create_graph=True), direction)
        found = forward_ad.unpack_dual(slope_of).tangent
        found = 0.0 if found is None else float(found.detach())
        np.testing.assert_allclose(found, bend, rtol=rtol, atol=rtol, err_msg=f"{name}: the tangent of the gradient")


def _check_values(name: str, expected: Any, found: Any, rtol: float) -> None:
    tensors, arrays = outputs_of(found), arrays_of(expected)
    assert len(tensors) == len(arrays), f"{name}: {len(tensors)} results, not {len(arrays)}"
    for ours, theirs in zip(tensors, arrays):
        assert isinstance(ours, wengert.Tensor), f"{name}: a result is no tensor"
        got = ours.detach().numpy()
        assert got.dtype == theirs.dtype and got.shape == theirs.shape, f"{name}: {got.dtype} {got.shape}, not {theirs.dtype} {theirs.shape}"
        np.testing.assert_allclose(got, theirs, rtol=rtol, atol=rtol, err_msg=f"{name}: values")


def _drawn(rng: np.random.Generator, x: np.ndarray) -> np.ndarray:
    found = rng.normal(size=x.shape)
    return found + 1j * rng.normal(size=x.shape) if x.dtype.kind == "c" else found


def _loss(found: Any, weights: list[np.ndarray]) -> Any:
    """The real part of the inner product of the results with the weights."""
    total: Any = 0.0
    for y, w in zip(outputs_of(found), weights):
        product = (wengert.tensor(w.conj()) * y).sum()
        total = total + (product.real if product.is_complex() else product)
    return total


def _inner(gradients: Any, direction: list[np.ndarray]) -> Any:
    total: Any = 0.0
    for g, v in zip(gradients, direction):
        product = (g.conj() * wengert.tensor(v)).sum() if g.is_complex() else (g * wengert.tensor(v)).sum()
        total = total + (product.real if product.is_complex() else product)
    return total
