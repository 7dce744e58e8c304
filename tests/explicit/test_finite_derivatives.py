"""Derivatives that stay finite where the mathematics is. Numbers worked by hand; docs/derivatives.md lists them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

import wengert
from loops import each
from wengert.autograd import grad
from wengert.func import grad as func_grad, jvp
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


def test_values_that_are_equal_or_zero():
    assert gradient(lambda x: wengert.linalg.eigh(x)[0], IDENTITY) == [IDENTITY]  # their sum is the trace
    for matrix in (IDENTITY, [[0.0, 0.0], [0.0, 0.0]]):
        assert gradient(lambda x: wengert.linalg.svd(x)[1], matrix) == [IDENTITY]


def test_the_complement_of_a_full_decomposition_is_differentiated():
    """With one column u = a / |a|, the projection on the complement is 1 - u u^T, a rational function of a."""

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


# -- every claim of the page, in every mode ----------------------------------------------------------------------------
#
# name: (function, point, gradient, Hessian times ones; None where no second derivative is claimed), of the sum of the results.

ZERO_TO_THREE_FOUR = [[0.0, 0.0], [3.0, 4.0]]


def norm_row(p: float) -> tuple[Any, Any, Any, Any]:
    """The p-norms of (0, 0) and (3, 4): g_i = x_i**(p-1) n**(1-p); H 1 = (p-1) (x_i**(p-2) n**(1-p) - g_i sum(g) / n)."""

    def function(x):
        return wengert.linalg.vector_norm(x, p, dim=1)

    if p == 0:
        first, then = [0.0, 0.0], [0.0, 0.0]
    elif abs(p) == inf:
        first, then = ([0.0, 1.0] if p > 0 else [1.0, 0.0]), [0.0, 0.0]
    else:
        n = (3.0**p + 4.0**p) ** (1 / p)
        first = [x ** (p - 1) * n ** (1 - p) for x in (3.0, 4.0)]
        then = [(p - 1) * (x ** (p - 2) * n ** (1 - p) - g * sum(first) / n) for x, g in zip((3.0, 4.0), first, strict=True)]
    return function, ZERO_TO_THREE_FOUR, [[0.0, 0.0], first], [[0.0, 0.0], then]


def against(x: Any) -> Any:
    """A constant point (0, 0), to measure the distance from."""
    return wengert.zeros(1, 2, dtype=x.dtype)


def spectral(x: Any) -> Any:
    """The projection on the space of the two equal values of diag(1, 1, 3), times a constant matrix."""
    vectors = wengert.linalg.eigh(x)[1][:, :2]
    return vectors @ vectors.mT * wengert.tensor([[0.0, 0.0, 1.0], [0.0, 0.0, 2.0], [0.0, 0.0, 4.0]], dtype=x.dtype)


def polar(x: Any) -> Any:
    U, _, Vh = wengert.linalg.svd(x)
    return U @ Vh * wengert.tensor([[0.0, 1.0], [0.0, 0.0]], dtype=x.dtype)


DISTANCES = ([[0.0, 0.0], [0.6, 0.8]], [[0.0, 0.0], [0.032, -0.024]])
SHARE = 1 / (1 + math.e)
ZEROS = [[0.0, 0.0], [0.0, 0.0]]
CLAIMS: dict[str, tuple[Any, Any, Any, Any]] = {
    "abs": (wengert.abs, [0.0], [0.0], [0.0]),
    "relu": (wengert.relu, [0.0], [0.0], [0.0]),
    "sign": (wengert.sign, [0.0], [0.0], [0.0]),
    "clamp at its bounds": (lambda x: x.clamp(0.0, 1.0), [0.0, 1.0], [1.0, 1.0], [0.0, 0.0]),
    "clamp_min": (lambda x: x.clamp_min(1.0), [1.0], [1.0], [0.0]),
    "max() of equal ones": (wengert.max, [1.0, 1.0, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 0.0]),
    "amax of equal ones": (lambda x: wengert.amax(x, 0), [1.0, 1.0, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 0.0]),
    "maximum of equal ones": (lambda x: wengert.maximum(x[0], x[1]), [1.0, 1.0], [0.5, 0.5], [0.0, 0.0]),
    "max(dim)": (lambda x: x.max(0)[0], [1.0, 1.0], [1.0, 0.0], [0.0, 0.0]),
    "median(dim)": (lambda x: x.median(0)[0], [1.0, 1.0], [1.0, 0.0], [0.0, 0.0]),
    "topk": (lambda x: x.topk(1)[0], [1.0, 1.0], [1.0, 0.0], [0.0, 0.0]),
    **{f"{p}-norms": norm_row(p) for p in (0, 0.5, 1, 1.5, 2, 3, inf, -inf, -1)},
    "norm over all dimensions": (lambda x: x.norm(), ZEROS, ZEROS, ZEROS),
    "norm over two, kept": (lambda x: x.norm(dim=(0, 1), keepdim=True), ZEROS, ZEROS, ZEROS),
    "fro": (lambda x: wengert.linalg.matrix_norm(x, "fro"), ZEROS, ZEROS, ZEROS),
    "std": (lambda x: x.std(1), [[1.0, 1.0], [1.0, 2.0]], [[0.0, 0.0], [-math.sqrt(0.5), math.sqrt(0.5)]], ZEROS),
    "cdist": (lambda x: wengert.cdist(x, against(x)), ZERO_TO_THREE_FOUR, *DISTANCES),
    "pairwise_distance": (lambda x: functional.pairwise_distance(x, against(x), eps=0.0), ZERO_TO_THREE_FOUR, *DISTANCES),
    "hypot": (lambda x: wengert.hypot(x[:, 0], x[:, 1]), ZERO_TO_THREE_FOUR, *DISTANCES),
    "svdvals of equal ones": (wengert.linalg.svdvals, IDENTITY, IDENTITY, ZEROS),
    "svdvals that are 0": (wengert.linalg.svdvals, ZEROS, IDENTITY, None),
    "nuc": (lambda x: wengert.linalg.matrix_norm(x, "nuc"), IDENTITY, IDENTITY, ZEROS),
    "2-norm of the identity": (lambda x: wengert.linalg.matrix_norm(x, 2), IDENTITY, [[0.5, 0.0], [0.0, 0.5]], None),
    # d(U Vh) = (E - E^T) / 2 at the identity, whatever the choice of vectors; a symmetric direction does not move it.
    "polar factor": (polar, IDENTITY, [[0.0, 0.5], [-0.5, 0.0]], None),
    "eigvalsh of equal ones": (wengert.linalg.eigvalsh, IDENTITY, IDENTITY, ZEROS),
    "their squares": (lambda x: wengert.linalg.eigvalsh(x) ** 2, IDENTITY, [[2.0, 0.0], [0.0, 2.0]], [[2.0, 2.0], [2.0, 2.0]]),
    "logsumexp with -inf": (lambda x: wengert.logsumexp(x, 0), [-inf, 1.0], [0.0, 1.0], [0.0, 0.0]),
    "logsumexp with inf": (lambda x: wengert.logsumexp(x, 0), [inf, 1.0], [1.0, 0.0], [0.0, 0.0]),
    "logsumexp with two": (lambda x: wengert.logsumexp(x, 0), [inf, inf, 1.0], [0.5, 0.5, 0.0], [0.0, 0.0, 0.0]),
    "softmax": (lambda x: wengert.softmax(x, 0)[:2], [-inf, 1.0, 2.0],
                [0.0, SHARE * (1 - SHARE), -SHARE * (1 - SHARE)], [0.0, 0.0, 0.0]),
    "log_softmax": (lambda x: wengert.log_softmax(x, 0)[1:2], [-inf, 1.0, 2.0],
                    [0.0, 1 - SHARE, SHARE - 1], [0.0, 0.0, 0.0]),
    "cross_entropy": (lambda x: functional.cross_entropy(x, wengert.tensor([1])), [[-inf, 0.0, 0.0]],
                      [[0.0, -0.5, 0.5]], [[0.0, 0.0, 0.0]]),
    "logaddexp": (lambda x: wengert.logaddexp(x[:, 0], x[:, 1]), [[-inf, 1.0], [inf, 1.0]], [[0.0, 1.0], [1.0, 0.0]], ZEROS),
    **{f"x ** {n}": (lambda x, n=n: x**n, [0.0, 2.0], [float(n == 1), n * 2.0 ** (n - 1)],
                     [2.0 if n == 2 else 0.0, n * (n - 1) * 2.0 ** (n - 2)]) for n in range(5)},
    "x ** 1.5": (lambda x: x**1.5, [0.0, 4.0], [0.0, 3.0], None),
    "x ** y": (lambda x: x[0] ** x[1], [0.0, 2.0], [0.0, 0.0], [2.0, 0.0]),
    "0 ** y": (lambda y: 0.0**y, [0.0, 1.0, 2.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]),
    "xlogy in x": (lambda x: wengert.xlogy(x, 2.0), [0.0, 1.0], [math.log(2), math.log(2)], [0.0, 0.0]),
    "xlogy in x, y being 0": (lambda x: wengert.xlogy(x, x.new_zeros(1)), [0.0], [0.0], [0.0]),
    "xlogy in y": (lambda y: wengert.xlogy(0.0, y), [2.0], [0.0], [0.0]),
    "xlogy in both": (lambda x: wengert.xlogy(x[0], x[1]), [0.0, 2.0], [math.log(2), 0.0], [0.5, 0.5]),
    "xlog1py": (lambda x: wengert.special.xlog1py(x[0], x[1]), [0.0, 1.0], [math.log(2), 0.0], [0.5, 0.5]),
    "xlog1py in x, y being -1": (lambda x: wengert.special.xlog1py(x, -x.new_ones(1)), [0.0], [0.0], [0.0]),
    "atan2": (lambda x: wengert.atan2(x[:, 0], x[:, 1]), [[0.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [1.0, 0.0]],
              [[0.0, 0.0], [-1.0, -1.0]]),
    "prod, one zero": (wengert.prod, [0.0, 2.0, 3.0], [6.0, 0.0, 0.0], [5.0, 3.0, 2.0]),
    "prod, two": (wengert.prod, [0.0, 0.0, 3.0], [0.0, 0.0, 0.0], [3.0, 3.0, 0.0]),
    "prod, three": (wengert.prod, [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]),
    "prod(dim)": (lambda x: x.prod(1), [[0.0, 2.0], [0.0, 0.0]], [[2.0, 0.0], [0.0, 0.0]], [[1.0, 1.0], [1.0, 1.0]]),
    # a + ab + abc: (1 + b + bc, a + ac, ab), and from the second derivatives the sums (1 + c) + b, (1 + c) + a, a + b
    "cumprod, one zero": (lambda x: wengert.cumprod(x, 0), [0.0, 2.0, 3.0], [9.0, 0.0, 0.0], [6.0, 4.0, 2.0]),
    "cumprod, two": (lambda x: wengert.cumprod(x, 0), [0.0, 0.0, 3.0], [1.0, 0.0, 0.0], [4.0, 4.0, 0.0]),
    "cumprod, three": (lambda x: wengert.cumprod(x, 0), [0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0]),
    "sinc": (wengert.sinc, [0.0, 0.5], [0.0, -4 / math.pi], [-(math.pi**2) / 3, 16 / math.pi - 2 * math.pi]),
    "elu": (functional.elu, [-inf, inf], [0.0, 1.0], [0.0, 0.0]),
    "celu": (functional.celu, [-inf, inf], [0.0, 1.0], [0.0, 0.0]),
    "selu": (functional.selu, [-inf, inf], [0.0, 1.0507009873554805], [0.0, 0.0]),
    "det": (wengert.det, [[1.0, 2.0], [2.0, 4.0]], [[4.0, -2.0], [-2.0, 1.0]], [[1.0, -1.0], [-1.0, 1.0]]),
    "det of zeros": (wengert.det, ZEROS, ZEROS, [[1.0, -1.0], [-1.0, 1.0]]),
}  # fmt: skip


# In forward mode the tangents of vectors of equal values are NaN.
UNKNOWN_FORWARD = ("polar factor",)
UNKNOWN_SECOND_FORWARD = ("svdvals of equal ones", "nuc", "polar factor", "eigvalsh of equal ones", "their squares")


def flat(x: Any) -> list[float]:
    return wengert.as_tensor(x, dtype=wengert.float64).detach().flatten().tolist()


@each("dtype", [wengert.float32, wengert.float64])
@each("name", CLAIMS)
def test_every_claim_in_every_mode(name, dtype):
    function, point, first, then = CLAIMS[name]
    accuracy = {"rel": 40 * wengert.finfo(dtype).eps, "abs": 40 * wengert.finfo(dtype).eps}
    first = pytest.approx(flat(first), **accuracy)
    x = wengert.tensor(point, dtype=dtype, requires_grad=True)
    (found,) = grad(function(x).sum(), x, create_graph=True)
    assert flat(found) == first
    assert flat(grad(function(x).sum(), x)[0]) == first  # on arrays
    ones = wengert.ones_like(x).detach()
    x0 = x.detach()

    def slope(x):
        return jvp(lambda x: function(x).sum(), (x,), (ones,))[1]

    along = pytest.approx(sum(first.expected), **accuracy)
    assert slope(x0).item() == (pytest.approx(math.nan, nan_ok=True) if name in UNKNOWN_FORWARD else along)
    if then is None:
        return
    then = pytest.approx(flat(then), **accuracy)
    if found.requires_grad:
        again = grad(found.sum(), x, allow_unused=True, materialize_grads=True)[0]
        assert flat(again) == then  # reverse over reverse
    if name in UNKNOWN_SECOND_FORWARD:
        assert all(map(math.isnan, flat(jvp(func_grad(lambda x: function(x).sum()), (x0,), (ones,))[1])))
        assert math.isnan(jvp(slope, (x0,), (ones,))[1].item())
        return
    assert flat(jvp(func_grad(lambda x: function(x).sum()), (x0,), (ones,))[1]) == then  # forward over reverse
    assert jvp(slope, (x0,), (ones,))[1].item() == pytest.approx(sum(then.expected), **accuracy)  # forward over forward


def test_projections_on_the_space_of_equal_values():
    # diag(1, 1, 3) + t E: the space of the two 1s turns by E[i, 2] / (1 - 3), and its projection with it.
    (found,) = gradient(spectral, [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 3.0]])
    symmetric = [[(a + b) for a, b in zip(row, column, strict=True)] for row, column in zip(found, zip(*found, strict=True), strict=True)]
    assert symmetric[0] == pytest.approx([0.0, 0.0, -0.5]) and symmetric[1] == pytest.approx([0.0, 0.0, -1.0])
    assert symmetric[2] == pytest.approx([-0.5, -1.0, 0.0])


def test_det_has_no_third_derivative_at_singular_matrices():
    x = leaf(IDENTITY)
    singular = leaf([[1.0, 2.0], [2.0, 4.0]])
    for matrix in (x, singular):
        (first,) = grad(wengert.det(matrix), matrix, create_graph=True)
        (then,) = grad((first * first).sum(), matrix, create_graph=True)
        if matrix is x:
            assert bool(grad(then.sum(), x)[0].isfinite().all())
        else:
            with pytest.raises(RuntimeError, match="det is differentiable only twice at a singular matrix"):
                grad(then.sum(), matrix)


def test_infinite_and_undefined_derivatives_stay_so():
    assert gradient(wengert.sqrt, [0.0]) == [[inf]] and gradient(wengert.log, [0.0]) == [[inf]]
    assert gradient(wengert.rsqrt, [0.0]) == [[-inf]] and gradient(wengert.acos, [1.0]) == [[-inf]]
    assert second(lambda x: x**1.5, [0.0]) == [[inf]]
    for function in (functional.silu, functional.gelu, functional.mish):
        assert any(math.isnan(v) for v in gradient(function, [-inf, inf])[0])
    assert math.isnan(gradient(lambda y: wengert.xlogy(0.0, y), [0.0])[0][0])
    assert all(math.isnan(v) for v in gradient(wengert.logaddexp, [inf, -inf], [inf, -inf])[0])
    for point in ([-inf, -inf], [inf, 0.0]):
        assert all(math.isnan(v) for v in gradient(lambda x: wengert.softmax(x, 0)[0], point)[0])
