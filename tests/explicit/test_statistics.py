"""Running extrema, differences, quantiles, covariance and gradients through samples, by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special

import wengert
from wengert.autograd import gradcheck

nan = math.nan


def test_running_extrema_give_the_last_place_of_a_tie_and_keep_nan():
    values, indices = wengert.tensor([1.0, 1.0, 0.0, 1.0]).cummax(0)
    assert values.tolist() == [1, 1, 1, 1] and indices.tolist() == [0, 1, 1, 3]
    values, indices = wengert.tensor([1.0, nan, 3.0]).cummin(0)
    assert values[0].item() == 1 and values[1:].isnan().all() and indices.tolist() == [0, 1, 1]


def test_the_gradient_of_a_running_maximum_is_added_up_where_it_is_attained():
    x = wengert.tensor([2.0, 1.0, 3.0], requires_grad=True)
    x.cummax(0).values.backward(wengert.tensor([1.0, 10.0, 100.0]))
    assert x.grad.tolist() == [11, 0, 100]


def test_logcumsumexp_stays_finite_where_its_exponentials_do_not():
    x = wengert.tensor([1000.0, -1000.0, 1000.0], dtype=wengert.float64, requires_grad=True)
    out = wengert.logcumsumexp(x, 0)
    assert out.tolist() == pytest.approx([1000, 1000, 1000 + math.log(2)])
    out.backward(wengert.tensor([1.0, -2.0, 4.0], dtype=wengert.float64))
    assert x.grad.tolist() == pytest.approx([1 - 2 + 2, 0, 2], abs=1e-12)


def test_diff():
    x = wengert.tensor([1, 4, 9, 16])
    assert x.diff().tolist() == [3, 5, 7] and x.diff(n=2).tolist() == [2, 2] and x.diff(n=9).tolist() == []
    assert wengert.diff(x, prepend=wengert.tensor([0])).tolist() == [1, 3, 5, 7]
    assert wengert.tensor([True, False, False]).diff().tolist() == [True, False]


def test_integrals():
    y = wengert.tensor([1.0, 2.0, 4.0])
    assert wengert.trapezoid(y).item() == 4.5 and wengert.trapezoid(y, dx=2).item() == 9
    assert wengert.trapz(y, wengert.tensor([0.0, 1.0, 3.0])).item() == 7.5
    assert wengert.cumulative_trapezoid(y).tolist() == [1.5, 4.5]


def test_gradient_is_exact_for_a_parabola_at_uneven_points():
    x = wengert.tensor([0.0, 1.0, 3.0, 4.0], dtype=wengert.float64)
    (slope,) = wengert.gradient(x * x, spacing=(x,), edge_order=2)
    np.testing.assert_allclose(slope, 2 * x, atol=1e-14)


def test_quantiles():
    x = wengert.tensor([4.0, 1.0, 2.0, 3.0], requires_grad=True)
    q = wengert.quantile(x, wengert.tensor([0.0, 0.5, 0.9]))
    assert q.tolist() == pytest.approx([1, 2.5, 3.7])
    q[2].backward()
    assert x.grad.tolist() == pytest.approx([0.7, 0, 0, 0.3])
    assert wengert.quantile(wengert.tensor([[1.0, 3.0], [2.0, 6.0]]), 0.5, dim=1, keepdim=True).tolist() == [[2], [4]]
    with_nan = wengert.tensor([1.0, nan, 3.0])
    assert wengert.quantile(with_nan, 0.1).isnan() and wengert.nanquantile(with_nan, 0.5).item() == 2
    assert wengert.nanmean(with_nan).item() == 2


def test_the_mode_is_the_smallest_of_the_most_frequent():
    values, indices = wengert.tensor([2.0, 1.0, 1.0, 2.0, 3.0]).mode()
    assert values.item() == 1 and indices.item() == 2


def test_weights_of_a_covariance_have_a_gradient():
    """The variance of 1 and 3 with weights v and w is (4 v w / (v + w)) / (v + w - (v^2 + w^2) / (v + w)) = 2 for any weights."""
    x = wengert.tensor([1.0, 3.0], dtype=wengert.float64)
    weights = wengert.tensor([2.0, 1.0], dtype=wengert.float64, requires_grad=True)
    assert wengert.cov(x, aweights=weights).item() == pytest.approx(2.0)
    points = wengert.tensor([[1.0, 2.0, 4.0], [2.0, 0.0, 1.0]], dtype=wengert.float64)
    weights = wengert.tensor([1.0, 2.0, 3.0], dtype=wengert.float64, requires_grad=True)
    assert gradcheck(lambda w: wengert.cov(points, aweights=w, fweights=wengert.tensor([1, 2, 2])), weights)


def test_covariance_by_hand():
    x = wengert.tensor([[1.0, 2.0, 3.0], [1.0, 0.0, -1.0]])
    assert wengert.cov(x).tolist() == [[1, -1], [-1, 1]]
    np.testing.assert_allclose(x.corrcoef(), [[1, -1], [-1, 1]])
    with pytest.warns(UserWarning, match="degrees of freedom is <= 0"):
        assert wengert.cov(wengert.ones(1)).isnan()


def test_histograms():
    x = wengert.tensor([1.0, 2.0, 1.0, 5.0])
    assert wengert.histc(x, bins=4, min=1, max=3).tolist() == [2, 0, 1, 0]
    hist, edges = wengert.histogram(x, wengert.tensor([0.0, 2.0, 4.0]), weight=x)
    assert hist.tolist() == [2, 2] and edges.tolist() == [0, 2, 4]


def test_frexp_and_renorm_and_dist():
    x = wengert.tensor([3.0, -0.25], requires_grad=True)
    mantissa, exponent = wengert.frexp(x)
    assert mantissa.tolist() == [0.75, -0.5] and exponent.tolist() == [2, -1] and exponent.dtype is wengert.int32
    mantissa.sum().backward()
    assert x.grad.tolist() == [0.25, 2]
    limited = wengert.renorm(wengert.tensor([[3.0, 4.0], [0.3, 0.4]]), 2, 0, 1.0)
    np.testing.assert_allclose(limited, [[0.6, 0.8], [0.3, 0.4]], rtol=1e-6)
    assert wengert.dist(wengert.tensor([1.0, 2.0]), wengert.tensor([4.0, 6.0])).item() == 5


@pytest.mark.parametrize("alpha", [0.05, 0.5, 1.0, 3.0, 50.0])
def test_gamma_samples_move_with_their_shape_at_a_fixed_quantile(alpha):
    a = wengert.full((20,), alpha, dtype=wengert.float64, requires_grad=True)
    wengert.manual_seed(0)
    sample = wengert._standard_gamma(a)
    sample.sum().backward()
    z = sample.detach().numpy()
    likely = special.gammainc(alpha, z) < 0.99  # beyond, SciPy's inverse knows few digits
    h = 1e-5 * alpha
    quantile = special.gammainc(alpha, z)
    slope = (special.gammaincinv(alpha + h, quantile) - special.gammaincinv(alpha - h, quantile)) / (2 * h)
    np.testing.assert_allclose(a.grad.numpy()[likely], slope[likely], rtol=2e-5, atol=1e-12)


def test_gamma_and_dirichlet_samples_have_their_means_and_gradients_of_them():
    wengert.manual_seed(1)
    a = wengert.tensor([0.5, 2.0, 4.0], dtype=wengert.float64, requires_grad=True)
    mean = wengert._standard_gamma(a.expand(20000, 3)).mean(0)
    np.testing.assert_allclose(mean.detach(), a.detach(), rtol=0.05)
    (slope,) = wengert.autograd.grad(mean.sum(), a)
    np.testing.assert_allclose(slope, [1, 1, 1], rtol=0.05)
    shares = wengert._sample_dirichlet(a.expand(20000, 3))
    np.testing.assert_allclose(shares.detach().sum(-1), np.ones(20000), rtol=1e-12)
    np.testing.assert_allclose(shares.detach().mean(0), a.detach().numpy() / 6.5, rtol=0.05)
    (slope,) = wengert.autograd.grad(shares.mean(0)[0], a)
    np.testing.assert_allclose(slope, [6 / 6.5**2, -0.5 / 6.5**2, -0.5 / 6.5**2], rtol=0.1)  # of a[0] / sum(a)


@pytest.mark.parametrize("alpha", [0.5, 1.0, 3.0, 50.0])
def test_gamma_samples_have_second_derivatives(alpha):
    """Compare second derivatives of the quantile function with differences of the first derivatives along it."""
    a = wengert.full((20,), alpha, dtype=wengert.float64, requires_grad=True)
    wengert.manual_seed(0)
    sample = wengert._standard_gamma(a)
    (slope,) = wengert.autograd.grad(sample.sum(), a, create_graph=True)
    (bend,) = wengert.autograd.grad(slope.sum(), a)
    z, h = sample.detach().numpy(), 1e-4 * alpha
    first = slope.detach().numpy()
    either = [
        wengert._standard_gamma_grad(a.detach() + step, wengert.from_numpy(z + step * first + step**2 / 2 * bend.numpy())).numpy()
        for step in (h, -h)
    ]
    np.testing.assert_allclose(bend, (either[0] - either[1]) / (2 * h), rtol=1e-5, atol=1e-7)


def test_the_mean_of_gamma_samples_bends_no_more_than_their_shape():
    wengert.manual_seed(1)
    a = wengert.tensor([0.5, 2.0, 4.0], dtype=wengert.float64, requires_grad=True)
    mean = wengert._standard_gamma(a.expand(20000, 3)).mean(0)
    (slope,) = wengert.autograd.grad(mean.sum(), a, create_graph=True)
    (bend,) = wengert.autograd.grad(slope.sum(), a)
    np.testing.assert_allclose(bend, [0, 0, 0], atol=0.03)


x, ints = wengert.ones(2, 3), wengert.arange(3)


@pytest.mark.parametrize(("call", "kind", "text"), [
    (lambda: wengert.diff(wengert.tensor(1.0)), RuntimeError, "diff expects input to be at least one-dimensional"),
    (lambda: wengert.diff(x, n=-1), RuntimeError, "order must be non-negative but got -1"),
    (lambda: wengert.trapezoid(x, wengert.ones(2)), RuntimeError, "trapezoid: There must be one `x` value for each sample point"),
    (lambda: wengert.trapezoid(x > 0), RuntimeError, "trapezoid: received a bool input for `y`, but bool is not supported"),
    (lambda: wengert.histogram(x * nan, 3), RuntimeError, "torch.histogramdd: dimension 0's range [nan, nan] is not finite"),
    (lambda: wengert.trapezoid(x, x, dx=1), TypeError, "trapezoid() takes x or dx, not both"),
    (lambda: wengert.trapezoid(x, x > 0), RuntimeError, "trapezoid: received a bool input for `x` or `y`, but bool is not"),
    (lambda: wengert.gradient(x.byte()), RuntimeError, "torch.gradient does not support uint8 input."),
    (lambda: wengert.gradient(x, edge_order=2), RuntimeError, "torch.gradient expected each dimension size to be at least edge_order+1"),
    (lambda: wengert.gradient(x, spacing=[1.0]), RuntimeError, "torch.gradient expected spacing to be unspecified"),
    (lambda: wengert.nanmean(ints), RuntimeError, "nanmean(): expected input to have floating point or complex dtype but got Long"),
    (lambda: wengert.quantile(ints, 0.5), RuntimeError, "quantile() input tensor must be either float or double dtype"),
    (lambda: wengert.quantile(x[:0], 0.5), RuntimeError, "quantile() input tensor must be non-empty"),
    (lambda: wengert.quantile(x, 1.5), RuntimeError, "quantile() q must be in the range [0, 1] but got 1.5"),
    (lambda: wengert.nanquantile(x, x), RuntimeError, "nanquantile() q must be a scalar or 1D tensor"),
    (lambda: wengert.quantile(x, wengert.ones(1).double()), RuntimeError, "quantile() q tensor must be same dtype as the input tensor"),
    (lambda: wengert.quantile(x, wengert.tensor([2.0])), RuntimeError, "quantile() q values must be in the range [0, 1]"),
    (lambda: wengert.quantile(x, 0.5, interpolation="foo"), RuntimeError,
     "quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, but got foo"),
    (lambda: wengert.mode(wengert.zeros(0)), IndexError, "mode(): Expected reduction dim 0 to have non-zero size."),
    (lambda: wengert.histc(ints), RuntimeError, "\"histogram_cpu\" not implemented for 'Long'"),
    (lambda: wengert.histc(x, 0), RuntimeError, "torch.histogram(): bins must be > 0, but got 0 for dimension 0"),
    (lambda: wengert.histc(x, 3, 2, 1), RuntimeError, "torch.histc: max must be larger than min"),
    (lambda: wengert.histc(x * nan), RuntimeError, "torch.histc: range of [nan, nan] is not finite"),
    (lambda: wengert.cov(wengert.ones(2, 2, 2)), RuntimeError, "cov(): expected input to have two or fewer dimensions"),
    (lambda: wengert.cov(x, fweights=x[0]), RuntimeError, "cov(): expected fweights to have integral dtype but got fweights with Float"),
    (lambda: wengert.cov(x, aweights=ints), RuntimeError, "cov(): expected aweights to have floating point dtype but got aweights"),
    (lambda: wengert.cov(wengert.tensor([True])), RuntimeError, "cov(): bool dtype is not supported for input"),
    (lambda: wengert.renorm(x[0], 2, 0, 1.0), RuntimeError, "renorm: input needs at least 2 dimensions, got 1 dimensions"),
    (lambda: wengert.renorm(x, 0, 0, 1.0), RuntimeError, "renorm: non-positive-norm not supported"),
    (lambda: wengert.renorm(x, 2, 0, -1.0), RuntimeError, "renorm: expected maxnorm to be >= 0 but got -1"),
    (lambda: wengert.frexp(ints), RuntimeError, "torch.frexp() only supports floating-point dtypes"),
    (lambda: wengert._standard_gamma(ints), RuntimeError, "\"gamma_cpu\" not implemented for 'Long'"),
])  # fmt: skip
def test_wrong_calls_are_refused_with_a_message(call, kind, text):
    with pytest.raises(kind) as error:
        call()
    assert str(error.value).startswith(text)


def test_hash_tensor():
    """The exclusive or of the bits, of floats those in double precision."""
    assert wengert.hash_tensor(wengert.tensor([1, 2, 4])).item() == 7
    assert wengert.tensor([1.0]).hash_tensor().item() == 0x3FF0000000000000
    assert wengert.hash_tensor(wengert.tensor([[True], [True]]), 0).tolist() == [0]
    for call, error, text in (
        (lambda: wengert.hash_tensor(wengert.ones(2), mode=1), RuntimeError, "Unknown hash_tensor mode: 1"),
        (lambda: wengert.hash_tensor(wengert.ones(0)), RuntimeError, "Expected reduction dim to be specified"),
        (lambda: wengert.hash_tensor(wengert.ones(2, 0), 1), IndexError, "Expected reduction dim 1 to have non-zero size"),
        (lambda: wengert.hash_tensor(wengert.ones(2) + 1j), RuntimeError, '"xor_sum_cpu" not implemented for'),
    ):
        with pytest.raises(error, match=text):
            call()
