"""Derivatives that stay finite where the mathematics is. Numbers worked by hand; docs/derivatives.md lists them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

import wengert
from wengert.autograd import grad
from wengert.nn import functional

inf = math.inf


def leaf(data: Any) -> Any:
    return wengert.tensor(data, dtype=wengert.float64, requires_grad=True)


def gradient(function: Callable[..., Any], *data: Any) -> list[Any]:
    """The gradient of the sum of function's results, for each argument."""
    inputs = [leaf(d) for d in data]
    return [g.tolist() for g in grad(function(*inputs).sum(), inputs)]


def second(function: Callable[..., Any], *data: Any) -> list[Any]:
    """The gradient of the sum of all first derivatives, for each argument."""
    inputs = [leaf(d) for d in data]
    first = grad(function(*inputs).sum(), inputs, create_graph=True)
    return [g.tolist() for g in grad(sum(g.sum() for g in first), inputs)]


# -- norms at 0 --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("p", [1, 1.5, 2, 3, inf, -inf, 0, 0.5, -1])
def test_norm_of_zeros_has_the_subgradient_zero_to_second_order(p):
    def norm(x):
        return wengert.linalg.vector_norm(x, p)

    assert gradient(norm, [0.0, 0.0]) == [[0.0, 0.0]]
    x = leaf([0.0, 0.0])
    (first,) = grad(norm(x), x, create_graph=True)
    if first.requires_grad:  # p = 0 counts elements: a constant
        assert grad((first * first).sum(), x, allow_unused=True, materialize_grads=True)[0].tolist() == [0.0, 0.0]


def test_norm_with_a_zero_among_its_elements():
    assert gradient(wengert.linalg.vector_norm, [0.0, 3.0]) == [[0.0, 1.0]]
    # (|x|**1.5)' at 0 is 0, and so is its second derivative's share of what does not depend on it.
    assert gradient(lambda x: wengert.linalg.vector_norm(x, 1.5), [0.0, 3.0]) == [[0.0, 1.0]]


@pytest.mark.parametrize("order", ["fro", "nuc", 2])
def test_matrix_norm_of_equal_singular_values(order):
    # Of the identity: fro gives I / sqrt(2), nuc the polar factor I, and the largest of two equal values half of each.
    factor = {"fro": 1 / math.sqrt(2), "nuc": 1.0, 2: 0.5}[order]
    (found,) = gradient(lambda x: wengert.linalg.matrix_norm(x, order), [[1.0, 0.0], [0.0, 1.0]])
    assert found[0] == pytest.approx([factor, 0.0]) and found[1] == pytest.approx([0.0, factor])
    assert all(math.isfinite(v) for row in second(lambda x: wengert.linalg.matrix_norm(x, order), [[1.0, 0.0], [0.0, 1.0]])[0] for v in row)


def test_hypot_at_the_origin():
    assert gradient(wengert.hypot, [0.0, 3.0], [0.0, 4.0]) == [[0.0, 0.6], [0.0, 0.8]]


def test_distances_of_equal_points():
    assert gradient(wengert.cdist, [[1.0, 2.0]], [[1.0, 2.0]]) == [[[0.0, 0.0]], [[0.0, 0.0]]]
    assert second(wengert.cdist, [[1.0, 2.0]], [[1.0, 2.0]]) == [[[0.0, 0.0]], [[0.0, 0.0]]]


def test_abs_of_complex_zero():
    z = wengert.tensor([0j, 3 + 4j], requires_grad=True)
    assert grad(z.abs().sum(), z)[0].tolist() == [0j, pytest.approx(0.6 + 0.8j)]


def test_deviation_of_equal_numbers():
    assert gradient(wengert.std, [1.0, 1.0]) == [[0.0, 0.0]]
    assert second(wengert.std, [1.0, 1.0]) == [[0.0, 0.0]]


# -- equal values ------------------------------------------------------------------------------------------------------

IDENTITY = [[1.0, 0.0], [0.0, 1.0]]


def test_eigenvalues_and_functions_of_equal_ones():
    assert gradient(lambda x: wengert.linalg.eigh(x)[0], IDENTITY) == [IDENTITY]  # their sum is the trace

    def rebuilt(x):
        values, vectors = wengert.linalg.eigh(x)
        return (vectors * values) @ vectors.mT

    (found,) = gradient(lambda x: rebuilt(x) * wengert.tensor([[1.0, 2.0], [2.0, 4.0]], dtype=wengert.float64), IDENTITY)
    assert found[0][0] == pytest.approx(1.0) and found[1][1] == pytest.approx(4.0)
    assert all(math.isfinite(v) for row in found for v in row)


def test_singular_values_that_are_equal_or_zero():
    for matrix in (IDENTITY, [[0.0, 0.0], [0.0, 0.0]]):
        assert gradient(lambda x: wengert.linalg.svd(x)[1], matrix) == [IDENTITY]

    def rebuilt(x):
        U, S, Vh = wengert.linalg.svd(x)
        return (U * S) @ Vh

    for row in gradient(rebuilt, IDENTITY)[0] + gradient(rebuilt, [[1.0, 1.0], [1.0, 1.0]])[0]:
        assert all(math.isfinite(v) for v in row)


def test_the_complement_of_a_full_decomposition_is_differentiated():
    """The projection on what U's first columns leave is 1 - u u^T, of a column a / |a|: a rational function of a."""

    def complement(a):
        U = wengert.linalg.svd(a)[0]
        return (U[:, 1:] @ U[:, 1:].mT)[0, 1]

    # -a0 a1 / (a0**2 + a1**2) at (1, 2): derivative in a0 is -a1 (a1**2 - a0**2) / 25 = -6/25, in a1 -a0 (a0**2 - a1**2) / 25 = 3/25.
    (found,) = gradient(complement, [[1.0], [2.0]])
    assert found[0] == pytest.approx([-6 / 25]) and found[1] == pytest.approx([3 / 25])


# -- infinities --------------------------------------------------------------------------------------------------------


def test_logsumexp_at_infinities():
    def lse(x):
        return wengert.logsumexp(x, 0)

    assert gradient(lse, [-inf, 1.0]) == [[0.0, 1.0]]
    assert second(lse, [-inf, 1.0]) == [[0.0, 0.0]]
    assert gradient(lse, [inf, 1.0]) == [[1.0, 0.0]]  # torch: NaN
    assert gradient(lse, [inf, inf, 1.0]) == [[0.5, 0.5, 0.0]]
    assert all(math.isnan(v) for v in gradient(lse, [-inf, -inf])[0])  # no direction is better than another


def test_softmax_and_its_logarithm_at_minus_infinity():
    weights = wengert.tensor([1.0, 2.0], dtype=wengert.float64)
    assert gradient(lambda x: wengert.softmax(x, 0) * weights, [-inf, 1.0]) == [[0.0, 0.0]]
    assert gradient(lambda x: wengert.log_softmax(x, 0)[1:], [-inf, 1.0]) == [[0.0, 0.0]]
    assert gradient(lambda x: functional.cross_entropy(x, wengert.tensor([1])), [[-inf, 0.0, 0.0]]) == [[[0.0, -0.5, 0.5]]]


def test_logaddexp_of_one_infinity():
    assert gradient(wengert.logaddexp, [-inf, inf], [1.0, 1.0]) == [[0.0, 1.0], [1.0, 0.0]]


@pytest.mark.parametrize(("function", "ends"), [
    (wengert.sigmoid, (0.0, 0.0)), (wengert.tanh, (0.0, 0.0)), (functional.softplus, (0.0, 1.0)),
    (functional.logsigmoid, (1.0, 0.0)), (functional.elu, (0.0, 1.0)), (functional.celu, (0.0, 1.0)),
])  # fmt: skip
def test_activations_at_both_ends(function, ends):
    assert gradient(function, [-inf, inf]) == [list(ends)]
    assert [abs(v) for v in second(function, [-inf, inf])[0]] == [0.0, 0.0]


# -- powers and products at 0 ------------------------------------------------------------------------------------------


def test_powers_of_zero():
    assert gradient(lambda x: x**2, [0.0]) == [[0.0]] and second(lambda x: x**2, [0.0]) == [[2.0]]
    assert gradient(lambda x: x**1, [0.0]) == [[1.0]]
    assert gradient(lambda x: x**0, [0.0]) == [[0.0]]
    assert gradient(lambda x: x**0.5, [0.0]) == [[inf]]
    # 0**y is 0 for y > 0, whatever y: no slope in the exponent; in the base that of x**1 at 0, and of x**2.
    assert gradient(lambda x, y: x**y, [0.0, 0.0], [1.0, 2.0]) == [[1.0, 0.0], [0.0, 0.0]]
    assert gradient(lambda y: 0.0**y, [0.0, 1.0]) == [[0.0, 0.0]]
    assert second(lambda y: 0.0**y, [0.0, 1.0]) == [[0.0, 0.0]]  # torch: NaN


def test_x_log_y_at_zero():
    assert gradient(wengert.xlogy, [0.0, 0.0], [2.0, 1.0]) == [pytest.approx([math.log(2), 0.0]), [0.0, 0.0]]
    assert gradient(lambda x: wengert.xlogy(x, 0.0), [0.0]) == [[0.0]]


def test_atan2_at_the_origin():
    (in_y, in_x) = gradient(wengert.atan2, [0.0, 0.0], [0.0, 1.0])
    assert in_y == [0.0, 1.0] and [abs(v) for v in in_x] == [0.0, 0.0]


def test_products_with_zeros():
    # The derivative in one factor is the product of the others, to second order, at any number of zeros.
    assert gradient(wengert.prod, [0.0, 2.0, 3.0]) == [[6.0, 0.0, 0.0]]
    assert second(wengert.prod, [0.0, 2.0, 3.0]) == [[5.0, 3.0, 2.0]]
    assert gradient(wengert.prod, [0.0, 0.0, 3.0]) == [[0.0, 0.0, 0.0]]
    assert second(wengert.prod, [0.0, 0.0, 3.0]) == [[3.0, 3.0, 0.0]]
    # 2, 0, 0: (1 + b + b c, a + a c, a b) at (2, 0, 3).
    assert gradient(lambda x: wengert.cumprod(x, 0), [2.0, 0.0, 3.0]) == [[1.0, 8.0, 0.0]]
    assert second(lambda x: wengert.cumprod(x, 0), [2.0, 0.0, 3.0]) == [[4.0, 6.0, 2.0]]


def test_sinc_near_zero():
    assert [abs(v) for v in gradient(wengert.sinc, [0.0])[0]] == [0.0]
    assert second(wengert.sinc, [0.0]) == [[pytest.approx(-(math.pi**2) / 3)]]
    # At 1e-3, from the series -pi**2 x / 3 + pi**4 x**3 / 30: cos(pi x) - sinc(x) has half of its digits left there.
    x = 1e-3
    assert gradient(wengert.sinc, [x])[0] == pytest.approx([-(math.pi**2) * x / 3 + math.pi**4 * x**3 / 30], rel=1e-12)
    assert second(wengert.sinc, [x])[0] == pytest.approx([-(math.pi**2) / 3 + math.pi**4 * x**2 / 10], rel=1e-10)
