"""Distributions against SciPy and finite differences: densities, quantiles, moments, entropies, samples and their derivatives."""

from __future__ import annotations

import copy
import doctest
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import integrate, stats

import wengert
from distribution_cases import CASES
from loops import each
from wengert import distributions as d
from wengert.autograd import gradcheck

# Ours, and SciPy's distribution of the same parameters.
CONTINUOUS = {
    "Beta": (d.Beta(2.0, 0.7), stats.beta(2.0, 0.7)),
    "Cauchy": (d.Cauchy(1.0, 2.0), stats.cauchy(1.0, 2.0)),
    "Chi2": (d.Chi2(3.0), stats.chi2(3.0)),
    "Exponential": (d.Exponential(0.5), stats.expon(scale=2.0)),
    "FisherSnedecor": (d.FisherSnedecor(3.0, 7.0), stats.f(3.0, 7.0)),
    "Gamma": (d.Gamma(0.6, 2.0), stats.gamma(0.6, scale=0.5)),
    "GeneralizedPareto": (d.GeneralizedPareto(1.0, 2.0, -0.3), stats.genpareto(-0.3, 1.0, 2.0)),
    "Gumbel": (d.Gumbel(1.0, 2.0), stats.gumbel_r(1.0, 2.0)),
    "HalfCauchy": (d.HalfCauchy(2.0), stats.halfcauchy(scale=2.0)),
    "HalfNormal": (d.HalfNormal(2.0), stats.halfnorm(scale=2.0)),
    "InverseGamma": (d.InverseGamma(3.0, 2.0), stats.invgamma(3.0, scale=2.0)),
    "Laplace": (d.Laplace(1.0, 2.0), stats.laplace(1.0, 2.0)),
    "LogNormal": (d.LogNormal(0.3, 0.5), stats.lognorm(0.5, scale=np.exp(0.3))),
    "Normal": (d.Normal(1.0, 2.0), stats.norm(1.0, 2.0)),
    "Pareto": (d.Pareto(2.0, 5.0), stats.pareto(5.0, scale=2.0)),
    "StudentT": (d.StudentT(5.0, 1.0, 2.0), stats.t(5.0, 1.0, 2.0)),
    "Uniform": (d.Uniform(1.0, 3.0), stats.uniform(1.0, 2.0)),
    "VonMises": (d.VonMises(1.0, 2.0), stats.vonmises(2.0, 1.0)),
    "Weibull": (d.Weibull(2.0, 1.5), stats.weibull_min(1.5, scale=2.0)),
}  # fmt: skip
DISCRETE = {
    "Bernoulli": (d.Bernoulli(0.3), stats.bernoulli(0.3)),
    "Binomial": (d.Binomial(7, 0.3), stats.binom(7, 0.3)),
    "Geometric": (d.Geometric(0.3), stats.geom(0.3, -1)),
    "NegativeBinomial": (d.NegativeBinomial(3.0, 0.4), stats.nbinom(3.0, 0.6)),
    "Poisson": (d.Poisson(4.0), stats.poisson(4.0)),
}  # fmt: skip
VECTORS = {
    "Dirichlet": (d.Dirichlet(wengert.tensor([0.5, 1.0, 3.0], dtype=wengert.float64)), stats.dirichlet([0.5, 1.0, 3.0])),
    "LowRankMultivariateNormal": (
        d.LowRankMultivariateNormal(wengert.zeros(2), wengert.tensor([[1.0], [2.0]]), wengert.tensor([1.0, 3.0])),
        stats.multivariate_normal([0.0, 0.0], [[2.0, 2.0], [2.0, 7.0]]),
    ),
    "Multinomial": (d.Multinomial(5, wengert.tensor([0.2, 0.3, 0.5])), stats.multinomial(5, [0.2, 0.3, 0.5])),
    "MultivariateNormal": (
        d.MultivariateNormal(wengert.tensor([1.0, 2.0]), wengert.tensor([[2.0, 1.0], [1.0, 3.0]])),
        stats.multivariate_normal([1.0, 2.0], [[2.0, 1.0], [1.0, 3.0]]),
    ),
    "Wishart": (
        d.Wishart(wengert.tensor(4.0), wengert.tensor([[2.0, 1.0], [1.0, 3.0]])), stats.wishart(4, [[2.0, 1.0], [1.0, 3.0]]),
    ),
}  # fmt: skip


def no_such_method(call):
    try:
        return call()
    except NotImplementedError:
        return None


@each("name", CONTINUOUS)
def test_densities_and_quantiles(name):
    ours, theirs = CONTINUOUS[name]
    quantiles = np.linspace(0.05, 0.95, 7)
    points = wengert.tensor(theirs.ppf(quantiles), dtype=wengert.float32)
    np.testing.assert_allclose(ours.log_prob(points), theirs.logpdf(points.numpy()), rtol=1e-4, atol=1e-5)
    below = no_such_method(lambda: ours.cdf(points))
    if below is not None:
        np.testing.assert_allclose(below, quantiles, rtol=1e-4)
    found = no_such_method(lambda: ours.icdf(wengert.tensor(quantiles, dtype=wengert.float32)))
    if found is not None:
        np.testing.assert_allclose(found, points, rtol=1e-4, atol=1e-5)


@each("name", {**CONTINUOUS, **DISCRETE})
def test_moments_and_entropies(name):
    ours, theirs = {**CONTINUOUS, **DISCRETE}[name]
    if np.isfinite(theirs.mean()) and name != "VonMises":
        np.testing.assert_allclose(ours.mean, theirs.mean(), rtol=1e-5)
        np.testing.assert_allclose(ours.variance, theirs.var(), rtol=1e-4)
    entropy = no_such_method(lambda: ours.entropy())
    if entropy is not None:
        np.testing.assert_allclose(entropy, theirs.entropy(), rtol=1e-4)


@each("name", DISCRETE)
def test_probabilities(name):
    ours, theirs = DISCRETE[name]
    values = wengert.tensor([0.0, 1.0] if name == "Bernoulli" else [0.0, 1.0, 2.0, 5.0])
    np.testing.assert_allclose(ours.log_prob(values), theirs.logpmf(values.numpy()), rtol=1e-5)


@each("name", VECTORS)
def test_densities_of_vectors(name):
    ours, theirs = VECTORS[name]
    values = ours.sample((5,))
    logarithm = theirs.logpmf if name == "Multinomial" else theirs.logpdf
    expected = [logarithm(v) for v in values.numpy()]
    np.testing.assert_allclose(ours.log_prob(values), expected, rtol=1e-4)
    np.testing.assert_allclose(ours.entropy(), theirs.entropy(), rtol=1e-4)


@each("name", CONTINUOUS)
def test_samples_have_the_distribution(name):
    ours, theirs = CONTINUOUS[name]
    samples = ours.sample((4000,)).numpy()
    if name == "VonMises":
        samples = np.where(samples < 1 - np.pi, samples + 2 * np.pi, samples)
    assert stats.kstest(samples, theirs.cdf).pvalue > 0.001


@each("name", DISCRETE)
def test_counts_have_the_distribution(name):
    ours, theirs = DISCRETE[name]
    samples = ours.sample((4000,)).numpy()
    numbers = np.arange(20)
    expected = theirs.pmf(numbers) * len(samples)
    seen = np.array([(samples == n).sum() for n in numbers])
    often = expected > 5
    pooled = [np.append(seen[often], len(samples) - seen[often].sum()), np.append(expected[often], len(samples) - expected[often].sum())]
    if pooled[1][-1] < 1:
        pooled = [x[:-1] for x in pooled]
    assert stats.chisquare(*pooled, sum_check=False).pvalue > 0.001


@each("name", ["Dirichlet", "MultivariateNormal", "LowRankMultivariateNormal", "Multinomial", "Wishart"])
def test_vectors_have_their_moments(name):
    ours, _ = VECTORS[name]
    samples = ours.sample((20000,))
    deviation = (samples.mean(0) - ours.mean).abs() / (ours.variance / 20000).sqrt()
    assert deviation.max() < 4.5
    np.testing.assert_allclose(samples.var(0), ours.variance, rtol=0.1)


def test_correlation_matrices_have_their_distribution():
    """An off-diagonal element of a correlation matrix of density det(R)**(c - 1) is 2 b - 1 for a beta-distributed b."""
    for dim, c in ((2, 0.8), (3, 2.0), (4, 1.0)):
        factor = d.LKJCholesky(dim, c).sample((3000,))
        assert d.constraints.corr_cholesky.check(factor).all()
        correlation = (factor @ factor.mT).numpy()
        shape = c - 1 + dim / 2
        for i in range(dim):
            for j in range(i):
                assert stats.kstest((correlation[:, i, j] + 1) / 2, stats.beta(shape, shape).cdf).pvalue > 1e-3


@each("name", ["ContinuousBernoulli", "Kumaraswamy", "LogisticNormal", "RelaxedBernoulli"])
def test_densities_integrate_to_one(name):
    distribution = {
        "ContinuousBernoulli": d.ContinuousBernoulli(0.2),
        "Kumaraswamy": d.Kumaraswamy(2.0, 3.0),
        "LogisticNormal": d.LogisticNormal(wengert.tensor([0.3]), wengert.tensor([0.8])),
        "RelaxedBernoulli": d.RelaxedBernoulli(wengert.tensor(0.7), 0.3),
    }[name]

    def density(x):
        value = wengert.tensor([x, 1 - x] if name == "LogisticNormal" else x, dtype=wengert.float32)
        return distribution.log_prob(value).exp().item()

    assert integrate.quad(density, 1e-4, 1 - 1e-4, epsabs=1e-4)[0] == pytest.approx(1, abs=2e-2)


def test_density_of_lkj_integrates_to_one():
    distribution = d.LKJCholesky(2, 1.7)

    def density(r):
        return distribution.log_prob(wengert.tensor([[1.0, 0.0], [r, (1 - r * r) ** 0.5]])).exp().item()

    # The factor has one free element, r.
    assert integrate.quad(density, -0.9999, 0.9999, epsabs=1e-4)[0] == pytest.approx(1, abs=1e-2)


# -- derivatives -------------------------------------------------------------------------------------------------------


def make(name):
    parameters = []

    def tensor(array):
        parameters.append(wengert.tensor(array, requires_grad=True))
        return parameters[-1]

    CASES[name](d, tensor)
    return parameters


def rebuilt(name, parameters):
    """The distribution of the case, with these parameters in place of its own."""
    given = iter(parameters)
    return CASES[name](d, lambda array: next(given))


MATRICES = ("MultivariateNormal", "LowRankMultivariateNormal", "Wishart", "LKJCholesky", "MixtureSameFamily-vectors")
SMALL = [name for name in CASES if not name.startswith(MATRICES) and name != "Binomial-counts"]


@pytest.mark.slow
@each("name", SMALL)
def test_gradients_of_log_prob_and_entropy(name):
    values = rebuilt(name, make(name)).sample()
    assert gradcheck(lambda *p: rebuilt(name, p).log_prob(values), make(name), fast_mode=True)
    distribution = rebuilt(name, make(name))
    if no_such_method(lambda: distribution.entropy()) is not None:
        assert gradcheck(lambda *p: rebuilt(name, p).entropy(), make(name), fast_mode=True)
    if not distribution.support.is_discrete and not distribution.event_shape:
        points = {"cdf": values, "icdf": wengert.full_like(values, 0.3)}
        for method, point in points.items():
            if no_such_method(lambda: getattr(distribution, method)(point)) is not None:  # noqa: B023
                assert gradcheck(lambda *p: getattr(rebuilt(name, p), method)(point), make(name), fast_mode=True)  # noqa: B023


@each("name", ["Beta", "Chi2", "Dirichlet", "FisherSnedecor", "Gamma", "InverseGamma", "StudentT"])
def test_gradients_of_means_by_samples(name):
    """The mean of the derivatives of samples is the derivative of the mean."""
    distribution, parameters = {
        "Beta": lambda p: d.Beta(p, 1.5), "Chi2": d.Chi2, "Dirichlet": lambda p: d.Dirichlet(wengert.stack([p, 2 * p, 3 - p])),
        "FisherSnedecor": lambda p: d.FisherSnedecor(2.0, 9 + p), "Gamma": lambda p: d.Gamma(p, p + 1),
        "InverseGamma": lambda p: d.InverseGamma(p + 4, p), "StudentT": lambda p: d.StudentT(7 + p, p, 1.0),
    }[name], wengert.tensor(1.3, dtype=wengert.float64, requires_grad=True)  # fmt: skip
    (expected,) = wengert.autograd.grad(distribution(parameters).mean.reshape(-1)[0], parameters)
    n = 20000
    repeated = parameters.detach().expand(n).clone().requires_grad_()
    made = distribution(repeated.unsqueeze(0) if name == "Dirichlet" else repeated) if name != "Dirichlet" else d.Dirichlet(
        wengert.stack([repeated, 2 * repeated, 3 - repeated], -1)
    )  # fmt: skip
    samples = made.rsample()
    (found,) = wengert.autograd.grad((samples[..., 0] if name == "Dirichlet" else samples).sum(), repeated)
    assert abs(found.mean() - expected) < 5 * found.std() / n**0.5


def test_derivatives_of_dirichlet_samples_keep_the_sum():
    concentration = wengert.tensor([0.5, 2.0, 3.0], dtype=wengert.float64, requires_grad=True)
    samples = d.Dirichlet(concentration).rsample((3,))
    np.testing.assert_allclose(samples.detach().sum(-1), 1)
    (found,) = wengert.autograd.grad(samples.sum(), concentration)
    np.testing.assert_allclose(found, 0, atol=1e-12)


def test_two_elements_of_dirichlet_are_differentiated_as_a_beta_quantile():
    """x = I^-1(u; a, b), at the quantile u of the sample."""
    a, b = 0.8, 2.5
    concentration = wengert.tensor([a, b], dtype=wengert.float64, requires_grad=True)
    sample = d.Dirichlet(concentration).rsample()
    (found,) = wengert.autograd.grad(sample[0], concentration)
    x, h = sample[0].item(), 1e-6
    u = stats.beta.cdf(x, a, b)
    expected = [
        (stats.beta.ppf(u, a + h, b) - stats.beta.ppf(u, a - h, b)) / (2 * h),
        (stats.beta.ppf(u, a, b + h) - stats.beta.ppf(u, a, b - h)) / (2 * h),
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_samples_at_a_corner_have_finite_derivatives():
    concentration = wengert.tensor([1e-3, 1e-3, 2.0], requires_grad=True)
    samples = d.Dirichlet(concentration).rsample((50,))
    assert (samples < 1e-30).any()
    (found,) = wengert.autograd.grad(samples[:, 0].sum(), concentration)
    assert found.isfinite().all()


def test_gamma_samples_are_differentiated_at_their_quantile():
    a = 1.7
    concentration = wengert.tensor(a, dtype=wengert.float64, requires_grad=True)
    sample = d.Gamma(concentration, 1.0).rsample()
    (found,) = wengert.autograd.grad(sample, concentration)
    u, h = stats.gamma.cdf(sample.item(), a), 1e-6
    assert found.item() == pytest.approx((stats.gamma.ppf(u, a + h) - stats.gamma.ppf(u, a - h)) / (2 * h), rel=1e-5)


def test_tails_of_normal_numbers_are_accurate():
    normal = d.Normal(wengert.tensor(0.0, dtype=wengert.float64), 1.0)
    assert normal.cdf(wengert.tensor(-20.0)).item() == pytest.approx(stats.norm.cdf(-20), rel=1e-12)
    assert normal.icdf(wengert.tensor(1e-30, dtype=wengert.float64)).item() == pytest.approx(stats.norm.ppf(1e-30), rel=1e-12)


# -- wrong use ---------------------------------------------------------------------------------------------------------


def test_distributions_are_copied_and_pickled():
    transforms = [d.ExpTransform(), d.AffineTransform(1.0, 2.0).inv]
    for made in (
        d.TransformedDistribution(d.Normal(wengert.zeros(2), 1.0), transforms),
        d.MixtureSameFamily(d.Categorical(wengert.ones(2)), d.Normal(wengert.zeros(2), 1.0)),
        d.LowRankMultivariateNormal(wengert.zeros(2), wengert.ones(2, 1), wengert.ones(2)),
    ):
        value = made.sample()
        for copied in (copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
            assert repr(copied) == repr(made)
            assert wengert.equal(copied.log_prob(value), made.log_prob(value))


def test_function_transforms_go_through_distributions():
    points = wengert.tensor([0.5, 1.0, 2.0])
    mapped = wengert.vmap(lambda m: d.Gamma(m, 1.0).log_prob(wengert.tensor(0.5)))(points)
    np.testing.assert_allclose(mapped, d.Gamma(points, 1.0).log_prob(wengert.tensor(0.5)), rtol=1e-6)
    jacobian = wengert.func.jacrev(lambda m: d.Normal(m, 1.0).log_prob(points))(wengert.tensor(0.0))
    np.testing.assert_allclose(jacobian, points)


def test_wrong_parameters_are_refused():
    for call, text in [
        (lambda: d.Normal(0.0, -1.0), "Expected parameter scale"),
        (lambda: d.Normal(wengert.tensor([0.0, float("nan")]), 1.0), "invalid values"),
        (lambda: d.Bernoulli(0.5, logits=0.0), "Either `probs` or `logits`"),
        (lambda: d.Normal("a", 1.0), "Input arguments must all be"),
        (lambda: d.Normal(0.0, 1.0).log_prob(1.0), "must be a Tensor"),
        (lambda: d.Poisson(1.0).log_prob(wengert.tensor(-1.0)), "within the support"),
        (lambda: d.MultivariateNormal(wengert.zeros(2), wengert.ones(2, 2)), "PositiveDefinite"),
    ]:
        with pytest.raises(ValueError, match=text):
            call()


def test_what_has_no_formula_is_not_implemented():
    with pytest.raises(NotImplementedError, match="No KL"):
        d.kl_divergence(d.Normal(0.0, 1.0), d.Cauchy(0.0, 1.0))
    with pytest.raises(NotImplementedError):
        d.Poisson(1.0).rsample()
    with pytest.raises(NotImplementedError):
        d.HalfNormal(1.0).base_dist.enumerate_support()


def test_the_package_loads_no_distribution_by_itself():
    code = "import sys, wengert; wengert.distributions; print([n for n in sys.modules if n.startswith('wengert.distributions.')])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_the_page_prints_what_it_shows():
    page = Path(__file__).parents[2] / "docs" / "distributions.md"
    failed, tried = doctest.testfile(str(page), module_relative=False)
    assert failed == 0
    assert tried > 10
