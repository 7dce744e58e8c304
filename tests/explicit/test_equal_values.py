"""Derivatives through eigh, eig and svd at equal values, worked by hand. tests/fuzz/equal_values.py draws many more."""

from __future__ import annotations

import gc
import math
from typing import Any

import numpy as np
import pytest

import wengert
from loops import each
from wengert import func, linalg
from wengert.autograd import grad
from wengert.core import recorded_passes
from wengert.utils.checkpoint import checkpoint

WEIGHTS = np.array([[1.0, 2.0], [5.0, 3.0]])
SYMMETRIC = (WEIGHTS + WEIGHTS.T) / 2


def leaf(matrix: Any) -> Any:
    return wengert.tensor(np.asarray(matrix), dtype=wengert.float64, requires_grad=True)


def weighted(y: Any) -> Any:
    return (y * wengert.tensor(WEIGHTS)).sum()


def symmetric_part(x: Any) -> Any:
    """The part of a gradient that matters: eigh reads one triangle of a symmetric matrix."""
    array = x.detach().numpy()
    return (array + array.swapaxes(-1, -2)) / 2


def spectral(f: Any) -> Any:
    def function(x: Any) -> Any:
        values, vectors = linalg.eigh(x)
        return (vectors * f(values)) @ vectors.mT

    return function


# f and f'(4): the derivative of V f(L) V^T at 4 times the identity is f'(4) times the direction.
SPECTRAL = {
    "the matrix": (lambda v: v, 1.0),
    "square root": (lambda v: v.sqrt(), 0.25),
    "logarithm": (lambda v: v.log(), 0.25),
    "whitening": (lambda v: v**-0.5, -1 / 16),
    "a root of it": (lambda v: (v - 4) ** 2, 0.0),
    "0 there": (lambda v: v - 4, 1.0),
}


@each("create_graph", [False, True])
@each("name", SPECTRAL)
def test_functions_of_a_multiple_of_the_identity(name, create_graph):
    f, slope = SPECTRAL[name]
    x = leaf(4 * np.eye(2))
    (found,) = grad(weighted(spectral(f)(x)), x, create_graph=create_graph)
    np.testing.assert_allclose(symmetric_part(found), slope * SYMMETRIC, atol=1e-12)
    assert found.requires_grad == create_graph


def test_a_rebuilt_matrix_of_zeros():
    x = leaf(np.zeros((2, 2)))
    (found,) = grad(weighted(spectral(lambda v: v)(x)), x)
    np.testing.assert_allclose(symmetric_part(found), SYMMETRIC, atol=1e-14)
    x = leaf(np.zeros((2, 3)))
    U, S, Vh = linalg.svd(x, full_matrices=False)
    np.testing.assert_allclose(grad(((U * S) @ Vh).sum(), x)[0], np.ones((2, 3)), atol=1e-14)


def test_gradients_of_leaves_have_no_graph_and_the_pass_releases_its_graph():
    x = leaf(np.eye(2))
    seen: list[Any] = []
    x.register_hook(seen.append)
    loss = weighted(spectral(lambda v: v)(x))
    loss.backward()
    np.testing.assert_allclose(symmetric_part(x.grad), SYMMETRIC, atol=1e-14)
    assert not x.grad.requires_grad and len(seen) == 1
    with pytest.raises(RuntimeError, match="second time"):
        loss.backward()
    loss = weighted(spectral(lambda v: v)(x))
    loss.backward(retain_graph=True)
    loss.backward()
    np.testing.assert_allclose(symmetric_part(x.grad), 3 * SYMMETRIC, atol=1e-14)
    seen.clear()
    del loss
    gc.collect()
    assert not recorded_passes.NODES


def test_passes_that_read_only_values_are_not_recorded():
    x = leaf(np.eye(2))
    values, _ = linalg.eigh(x)
    values.register_hook(lambda g: seen.append(g.requires_grad))
    seen: list[bool] = []
    (values**2).sum().backward()
    assert seen == [False] and x.grad.tolist() == [[2, 0], [0, 2]]


def test_second_derivatives_of_functions_of_values():
    """The sum of the squares is that of the elements, the sum of the logarithms that of the determinant."""
    for f, factor in ((lambda v: v**2, 2.0), (lambda v: v.log(), -1.0)):
        x = leaf(np.eye(2))
        (first,) = grad(f(linalg.eigvalsh(x)).sum(), x, create_graph=True)
        np.testing.assert_allclose(symmetric_part(grad(weighted(first), x)[0]), factor * SYMMETRIC, atol=1e-12)


def test_mixed_second_derivatives():
    x, w = leaf(np.eye(2)), leaf(2.0)
    (first,) = grad(w * weighted(spectral(lambda v: v)(x)), x, create_graph=True)
    assert grad(weighted(first), w)[0].item() == pytest.approx((WEIGHTS * SYMMETRIC).sum())


def test_what_is_not_known_is_nan():
    x = leaf(np.eye(2))
    assert np.isnan(grad(linalg.eigh(x)[1][0, 0], x)[0]).all()  # depends on the choice of vectors
    values, vectors = linalg.eigh(x)
    assert np.isnan(grad(values[0] + weighted((vectors * values) @ vectors.mT), x)[0]).all()
    values, vectors = linalg.eigh(x)
    outside = [g.detach() for g in grad(weighted((vectors * values) @ vectors.mT), (values, vectors), retain_graph=True)]
    assert np.isnan(grad((values, vectors), x, outside)[0]).all()  # cotangents without a history
    (first,) = grad(weighted(spectral(lambda v: v**2)(x)), x, create_graph=True)
    assert np.isnan(grad(weighted(first), x)[0]).all()  # the second derivative of a function of vectors
    tangent = func.jvp(lambda x: weighted(spectral(lambda v: v)(x)), (x.detach(),), (wengert.ones(2, 2, dtype=x.dtype),))[1]
    assert math.isnan(tangent.item())


def test_a_matrix_of_a_batch_does_not_spoil_the_others():
    x = leaf(np.stack([np.eye(2), np.diag([1.0, 3.0])]))
    (found,) = grad(linalg.eigh(x)[1][:, 0, 0].sum(), x)
    assert np.isnan(found[0]).all() and np.isfinite(found[1]).all()


def test_rounding_does_not_part_equal_values():
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    A = (Q * [1.0, 1, 1, 2, 2, 5]) @ Q.T
    x = leaf((A + A.T) / 2)
    weights = rng.normal(size=(6, 6))
    (found,) = grad((spectral(lambda v: v**2)(x) * wengert.tensor(weights)).sum(), x)
    np.testing.assert_allclose(symmetric_part(found), symmetric_part(wengert.tensor(weights @ A + A @ weights)), atol=1e-12)
    projection = linalg.eigh(x)[1][:, :3]
    assert np.isfinite(grad((projection @ projection.mT)[0, 1], x)[0]).all()


def test_a_checkpoint_between():
    x = leaf(np.eye(2))
    values, vectors = checkpoint(lambda x: tuple(linalg.eigh(x)), x, use_reentrant=False)
    (found,) = grad(weighted((vectors * values) @ vectors.mT), x)
    np.testing.assert_allclose(symmetric_part(found), SYMMETRIC, atol=1e-14)


def test_leading_terms_of_a_matrix_of_low_rank():
    """They are the matrix itself, but directions outside its range and co-range count only once on each side."""
    A = np.outer([3.0, 0.0, 4.0], [0.6, 0.8, 0.0])
    x = leaf(A)
    U, S, Vh = linalg.svd(x)
    (found,) = grad(((U[:, :1] * S[:1]) @ Vh[:1]).sum(), x)
    u, v, ones = np.array([0.6, 0.0, 0.8]), np.array([0.6, 0.8, 0.0]), np.ones((3, 3))
    left, right = np.outer(u, u), np.outer(v, v)
    np.testing.assert_allclose(found, left @ ones + ones @ right - left @ ones @ right, atol=1e-13)


def _rooted(vectors: Any, values: Any, other: Any) -> Any:
    return (vectors * values.sqrt()) @ other


# Each mixes vectors with values that do not come from their own call.
MIXED = {
    "eigvalsh": lambda x: _rooted(linalg.eigh(x)[1], linalg.eigvalsh(x), linalg.eigh(x)[1].mT),
    "values of a second call": lambda x: (lambda V: _rooted(V, linalg.eigh(x)[0], V.mT))(linalg.eigh(x)[1]),
    "values of a copy": lambda x: (lambda V: _rooted(V, linalg.eigvalsh(x.clone()), V.mT))(linalg.eigh(x)[1]),
    "values of a multiple": lambda x: (lambda V: _rooted(V, linalg.eigvalsh(2 * x) / 2, V.mT))(linalg.eigh(x)[1]),
    "Rayleigh quotients": lambda x: (lambda V: _rooted(V, (V.mT @ x @ V).diagonal(), V.mT))(linalg.eigh(x)[1]),
    "singular values": lambda x: (lambda U, S, Vh: _rooted(U, linalg.svdvals(x), Vh))(*linalg.svd(x)),
}


@each("name", MIXED)
def test_vectors_beside_values_of_another_call_get_nan_and_no_wrong_number(name):
    x = leaf(4 * np.eye(2))
    (found,) = grad(weighted(MIXED[name](x)), x)
    assert found.isnan().any()
    x = leaf(np.diag([1.0, 4.0]))  # the square root has the divided differences 1/2, 1/3, 1/4
    (found,) = grad(weighted(MIXED[name](x)), x)
    np.testing.assert_allclose(symmetric_part(found), SYMMETRIC * [[1 / 2, 1 / 3], [1 / 3, 1 / 4]], atol=1e-12)


# Each is made of whole decompositions of x, with x itself beside them. The derivative at 4 times the identity, worked by hand.
WHOLE = {
    "two calls": (lambda x, root, log: weighted(root(x)) + weighted(log(x)), 1 / 4 + 1 / 4),
    "a product of two calls": (lambda x, root, log: weighted(root(x) @ log(x)), 2 / 4 + math.log(4) / 4),
    "a product with the matrix": (lambda x, root, log: weighted(root(x) @ x), 2 + 4 / 4),
    "a chain": (lambda x, root, log: weighted(log(root(x))), 1 / 8),
}


@each("name", WHOLE)
def test_several_whole_decompositions_of_one_matrix_are_exact(name):
    function, slope = WHOLE[name]
    x = leaf(4 * np.eye(2))
    (found,) = grad(function(x, spectral(lambda v: v.sqrt()), spectral(lambda v: v.log())), x)
    np.testing.assert_allclose(symmetric_part(found), slope * SYMMETRIC, atol=1e-12)
