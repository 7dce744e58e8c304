"""Special functions at places where their values are known, and their derivatives there."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import integrate, special as scipy_special

import wengert
from wengert import special


def value_and_slopes(function, at, n=2):
    """The function and its first n derivatives at a number."""
    x = wengert.tensor(at, dtype=wengert.float64, requires_grad=True)
    found = [function(x)]
    for _ in range(n):
        found += wengert.autograd.grad(found[-1], x, create_graph=True)
    return [y.item() for y in found]


@pytest.mark.parametrize(("function", "at", "expected"), [
    (special.bessel_j0, 0.0, [1, 0, -0.5]),
    (special.bessel_j1, 0.0, [0, 0.5, 0]),
    (special.modified_bessel_i0, 0.0, [1, 0, 0.5]),
    (special.i0, 0.0, [1, 0, 0.5]),
    (special.i1, 0.0, [0, 0.5, 0]),
    (special.spherical_bessel_j0, 0.0, [1, 0, -1 / 3]),
    (special.airy_ai, 0.0, [3 ** (-2 / 3) / math.gamma(2 / 3), -(3 ** (-1 / 3)) / math.gamma(1 / 3), 0]),
    (special.entr, 1.0, [0, -1, -1]),
    (special.ndtr, 0.0, [0.5, 1 / math.sqrt(2 * math.pi), 0]),
    (special.ndtri, 0.5, [0, math.sqrt(2 * math.pi), 0]),
    (special.log_ndtr, 0.0, [-math.log(2), math.sqrt(2 / math.pi), -2 / math.pi]),
    (special.erfcx, 0.0, [1, -2 / math.sqrt(math.pi), 2]),
    (lambda x: special.xlog1py(2.0, x), 0.0, [0, 2, -2]),
    (lambda x: special.zeta(2.0, x), 1.0, [math.pi**2 / 6, -2 * 1.2020569031595943, 6 * math.pi**4 / 90]),
    (lambda x: special.chebyshev_polynomial_t(x, 3), 1.0, [1, 9, 24]),
    (lambda x: special.chebyshev_polynomial_u(x, 2), -1.0, [3, -8, 8]),
    (lambda x: special.chebyshev_polynomial_v(x, 2), 0.5, [-1, 2, 8]),  # 4 x**2 - 2 x - 1
    (lambda x: special.chebyshev_polynomial_w(x, 2), 0.5, [1, 6, 8]),  # 4 x**2 + 2 x - 1
    (lambda x: special.shifted_chebyshev_polynomial_t(x, 2), 1.0, [1, 8, 16]),
    (lambda x: special.hermite_polynomial_h(x, 3), 1.0, [-4, 12, 48]),  # 8 x**3 - 12 x
    (lambda x: special.hermite_polynomial_he(x, 3), 1.0, [-2, 0, 6]),
    (lambda x: special.laguerre_polynomial_l(x, 2), 1.0, [-0.5, -1, 1]),
    (lambda x: special.legendre_polynomial_p(x, 2), 1.0, [1, 3, 3]),
    (lambda x: special.gammainc(wengert.tensor(1.0, dtype=wengert.float64), x), 2.0,
     [1 - math.exp(-2), math.exp(-2), -math.exp(-2)]),
    (lambda x: wengert.mvlgamma(x, 2), 1.5, [math.log(math.pi) / 2 + math.lgamma(1.5),
     0.03648997397857652 - 0.5772156649015329, 0.9348022005446793 + math.pi**2 / 6]),
])  # fmt: skip
def test_known_values(function, at, expected):
    np.testing.assert_allclose(value_and_slopes(function, at), expected, rtol=1e-12, atol=1e-12)


# log_ndtr'' = -h (x + h) for h = pdf / cdf, by mpmath with 40 digits; at the ends its limits, -1 and 0.
@pytest.mark.parametrize(("at", "expected"), [
    (-1e200, -1.0), (-1e10, -1.0), (-1e7, -1.0), (-300.0, -0.99998888962956105), (-201.0, -0.99997525181259252),
    (-199.0, -0.99997475193756347), (-50.0, -0.9996009568131961), (3.0, -0.013333211541740806), (40.0, 0.0), (1e10, 0.0),
    (math.inf, 0.0),
])  # fmt: skip
def test_second_derivative_of_log_ndtr_far_out(at, expected):
    np.testing.assert_allclose(value_and_slopes(special.log_ndtr, at)[2], expected, rtol=1e-11, atol=0)


@pytest.mark.parametrize("function", [special.i0e, special.i1e])
@pytest.mark.parametrize("at", [1e154, 1e300, math.inf, -1e200, -math.inf])
def test_slopes_of_scaled_bessel_functions_far_out(function, at):
    """Both functions are |x|**-0.5 / sqrt(2 pi) far out, with the sign of x in i1e. The second derivative underflows."""
    sign = math.copysign(1.0, at) if function is special.i0e else 1.0
    expected = -sign * abs(at) ** -1.5 / (2 * math.sqrt(2 * math.pi))
    np.testing.assert_allclose(value_and_slopes(function, at)[1:], [expected, 0], rtol=1e-14, atol=0)


@pytest.mark.parametrize("order", [2, 3])
def test_scaled_bessel_functions_of_large_numbers_join_scipys(order):
    """The asymptotic series agrees with SciPy as far as SciPy has values."""
    from scipy.special import ive, kve

    from wengert.ops.bessel import _large_by_series

    x = np.array([1.1e8, 5e8, -3e8])
    np.testing.assert_allclose(_large_by_series("ie", order, x, np.full(3, np.nan)), ive(order, x), rtol=1e-14)
    np.testing.assert_allclose(_large_by_series("ke", order, x[:2], np.full(2, np.nan)), kve(order, x[:2]), rtol=1e-14)


@pytest.mark.parametrize(("a", "x"), [(0.01, 0.5), (0.5, 0.1), (0.5, 3.0), (2.0, 2.0), (5.0, 30.0), (40.0, 38.0), (200.0, 230.0)])
def test_incomplete_gamma_in_its_parameter(a, x):
    """The derivatives of the density, p (log t - digamma(a)) and so on, integrated by an adaptive rule."""
    from scipy.special import digamma, gammaln, polygamma

    def density(t):
        return math.exp((a - 1) * math.log(t) - t - gammaln(a))

    def first(t):
        return density(t) * (math.log(t) - digamma(a))

    def second(t):
        return density(t) * ((math.log(t) - digamma(a)) ** 2 - polygamma(1, a))

    def integral(function):
        # From x on, negated: no singularity; in steps, so that no peak is missed.
        edges = np.linspace(x, x + 60 + 12 * math.sqrt(x), 40)
        return -sum(integrate.quad(function, lo, hi, epsabs=0, epsrel=1e-12)[0] for lo, hi in zip(edges[:-1], edges[1:]))

    other = wengert.tensor(x, dtype=wengert.float64)
    found = value_and_slopes(lambda t: special.gammainc(t, other), a)
    np.testing.assert_allclose(found[1:], [integral(first), integral(second)], rtol=1e-9, atol=1e-14)
    upper = value_and_slopes(lambda t: special.gammaincc(t, other), a)
    np.testing.assert_allclose(upper[1:], [-s for s in found[1:]], rtol=1e-12)


def test_incomplete_gamma_in_its_parameter_at_the_ends():
    a = wengert.tensor([2.0, 2.0, -1.0], requires_grad=True)
    special.gammainc(a, wengert.tensor([0.0, math.inf, 1.0])).sum().backward()
    assert a.grad[:2].tolist() == [0.0, 0.0] and math.isnan(a.grad[2].item())


def test_xlog1py_is_zero_times_anything_and_its_derivative_stays_finite():
    x = wengert.zeros(3, requires_grad=True)
    out = special.xlog1py(x, wengert.tensor([-1.0, -2.0, 1.0]))
    assert out.tolist() == [0, 0, 0]
    out.sum().backward()
    assert x.grad.tolist() == pytest.approx([0, 0, math.log(2)])


def test_degrees_are_cut_to_integers_and_negative_ones_give_zero():
    x = wengert.tensor([0.5, 2.0])
    assert special.legendre_polynomial_p(x, 2.9).tolist() == special.legendre_polynomial_p(x, 2).tolist()
    assert special.legendre_polynomial_p(x, -1).tolist() == [0, 0]
    assert special.chebyshev_polynomial_t(x, wengert.tensor([[0], [1]])).tolist() == [[1, 1], [0.5, 2]]


def test_a_number_on_either_side():
    x = wengert.tensor([1.5, 2.5], requires_grad=True)
    special.gammainc(x, 2.0).sum().backward()
    assert x.grad.dtype is wengert.float32 and (x.grad < 0).all()
    assert special.zeta(2.0, wengert.ones(1)).item() == pytest.approx(math.pi**2 / 6, rel=1e-6)
    assert special.legendre_polynomial_p(0.5, wengert.arange(3)).tolist() == [1, 0.5, -0.125]


@pytest.mark.parametrize(("s", "q", "derivatives"), [
    # Of Riemann's zeta function: the sums of (-log k)**n / k**s; of Hurwitz' one at 2, less the first term.
    (2.0, 1.0, [-0.9375482543158437538, 1.9892802342989010234]),
    (2.0, 2.0, [-0.9375482543158437538, 1.9892802342989010234]),
    (4.0, 1.0, [-0.068911265896125379849, 0.065058161367880661860]),
    (3.0, math.inf, [0.0, 0.0]),
    (0.5, 1.0, [math.nan, math.nan]),
    (3.0, -1.5, [math.nan, math.nan]),
])  # fmt: skip
def test_zeta_in_its_exponent(s, q, derivatives):
    x = wengert.tensor(s, dtype=wengert.float64, requires_grad=True)
    (first,) = wengert.autograd.grad(special.zeta(x, q), x, create_graph=True)
    (second,) = wengert.autograd.grad(first, x)
    assert [first.item(), second.item()] == pytest.approx(derivatives, rel=1e-9, nan_ok=True)


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("q", [0.25, 1.0, 40.0])
def test_derivatives_of_zeta_are_the_differentiated_sums(order, q):
    """At a large exponent, the sum over a few thousand terms is all."""
    from wengert.ops.zeta import by_exponent

    t = q + np.arange(5000)
    expected = np.sum((-np.log(t)) ** order * t**-12.5)
    assert by_exponent(np.array(12.5), np.array(q), order) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("call", "text"), [
    (lambda: wengert.mvlgamma(wengert.ones(2), 0), "p has to be greater than or equal to 1"),
    (lambda: wengert.mvlgamma(wengert.tensor([True]), 1), "The input tensor may not be a boolean tensor."),
    (lambda: wengert.ones(2).polygamma(-1), "polygamma(n, x) does not support negative n."),
    (lambda: special.erfcx(wengert.ones(2) + 1j), "not implemented for 'ComplexFloat'"),
    (lambda: special.zeta(2, wengert.ones(2) + 1j), "not implemented for 'ComplexFloat'"),
])  # fmt: skip
def test_wrong_calls_are_refused_with_a_message(call, text):
    with pytest.raises(RuntimeError) as error:
        call()
    assert text in str(error.value)


def test_second_names():
    x = wengert.tensor([0.3, 2.0])
    for name, other in (("expit", "sigmoid"), ("gammaln", "lgamma"), ("psi", "digamma")):
        assert getattr(special, name)(x).tolist() == getattr(wengert, other)(x).tolist()
    assert special.multigammaln(x + 1, 2).tolist() == x.add(1).mvlgamma(2).tolist()
    assert x.igamma(x).tolist() == special.gammainc(x, x).tolist()
    assert x.clone().i0_().tolist() == special.i0(x).tolist()


def test_huge_degrees_and_orders_are_answered_or_refused_at_once():
    x = wengert.tensor([0.5, -1.0, 2.0], dtype=wengert.float64)
    # T_n(cos(t)) = cos(n t), with t = pi / 3 for 1 / 2, and U_n = sin((n + 1) t) / sin(t).
    n = 6 * 10**6 + 1
    np.testing.assert_allclose(special.chebyshev_polynomial_t(x, n), [0.5, -1.0, math.inf], rtol=1e-8)
    np.testing.assert_allclose(special.chebyshev_polynomial_u(x, n), [1.0, -(n + 1.0), math.inf], rtol=1e-8)
    np.testing.assert_allclose(special.chebyshev_polynomial_v(x[:2], n), [0.0, -(2.0 * n + 1)], rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(special.chebyshev_polynomial_w(x[:2], n), [2.0, -1.0], rtol=1e-8)
    assert special.chebyshev_polynomial_t(x, 10**18).isnan().tolist() == [True, False, False]
    assert special.hermite_polynomial_h(x, 10**9).isnan().all() and special.hermite_polynomial_he(x, 10**9).isnan().all()
    np.testing.assert_allclose(special.legendre_polynomial_p(x[:2], 1025), scipy_special.eval_legendre(1025, [0.5, -1.0]), rtol=1e-10)
    np.testing.assert_allclose(special.laguerre_polynomial_l(x[:2], 1025), scipy_special.eval_laguerre(1025, [0.5, -1.0]), rtol=1e-10)
    for call in (
        lambda: special.legendre_polynomial_p(x, 10**9), lambda: special.laguerre_polynomial_l(x, 10**9),
        lambda: wengert.mvlgamma(x, 2**40), lambda: wengert.tensor_split(x, 2**40),
    ):  # fmt: skip
        with pytest.raises(RuntimeError, match="more|most|larger"):
            call()
    orders = wengert.polygamma(10**6, wengert.tensor([0.5, 3.0], dtype=wengert.float64)).tolist()
    assert orders[0] == -math.inf and not math.isfinite(orders[1])
    # n! zeta(n + 1, x): 200! has 375 digits, the sum of 1 / (20 + k)**201 begins with 20**-201.
    sizes = [float(Fraction(math.factorial(200), (20 + k) ** 201)) for k in range(20)]
    assert wengert.polygamma(200, wengert.tensor(20.0, dtype=wengert.float64)).item() == pytest.approx(-sum(sizes), rel=1e-12)


def test_the_derivative_of_mvlgamma_is_a_sum_of_digammas():
    x = wengert.tensor([40.0, 1e4], dtype=wengert.float64, requires_grad=True)
    (first,) = wengert.autograd.grad(wengert.mvlgamma(x, 30).sum(), x, create_graph=True)
    np.testing.assert_allclose(first.detach(), sum(scipy_special.digamma(x.detach().numpy() - j / 2) for j in range(30)), rtol=1e-13)
    (second,) = wengert.autograd.grad(first.sum(), x)
    np.testing.assert_allclose(second, sum(scipy_special.polygamma(1, x.detach().numpy() - j / 2) for j in range(30)), rtol=1e-13)
