"""Statistics of samples, multivariate distributions and kernel densities of wengert.scipy.stats against scipy.stats."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

import wengert
import wengert.scipy.stats as stats
from loops import each
from scipy_checks import check_call, outputs_of
from wengert.autograd import grad

RNG = np.random.default_rng(5)


def _x(*shape):
    return RNG.normal(size=shape)


def _p(*shape):
    return RNG.uniform(0.5, 2.0, shape)


def _number(x):
    """An array of no dimensions as the number that SciPy wants; a tensor as it is."""
    return float(x) if isinstance(x, np.ndarray) else x


def _normal(x):
    """The cumulative distribution of normal numbers, for arrays and tensors."""
    return scipy.stats.norm.cdf(x) if isinstance(x, np.ndarray) else stats.norm.cdf(x)


def _row(name, *arrays, args=(), **kwargs):
    return name, lambda f, *xs: f(*xs, *args, **kwargs), arrays


def _pair(name, *arrays, **kwargs):
    """A call whose result is an object with a statistic and a p-value."""

    def call(f, *xs):
        found = f(*xs, **kwargs)
        return found.statistic, found.pvalue

    return name, call, arrays


# Samples whose elements are far from each other: the order of the elements does not change with a step of the differences.
G, H = np.array([0.3, -1.1, 2.05, 0.9, -0.45, 1.4, -2.0]), np.array([0.23, 1.9, -0.7, -1.6, 0.75, -1.05, 1.3])
K = np.array([1.5, -0.4, 0.35, -1.2, 0.8, -0.15, 0.6])

STATISTICS = [
    *[_row(name, _p(4, 3)) for name in ("gmean", "hmean", "gstd", "gzscore")],
    _row("gmean", _p(4, 3), axis=1, weights=np.array([1.0, 2.0, 0.5])),
    ("gmean", lambda f, x, v: f(x, weights=v), (_p(5), _p(5))),
    _row("hmean", _p(4, 3), axis=None),
    _row("pmean", _p(4, 3), args=(3.0,), axis=-1),
    ("pmean", lambda f, x, p: f(x, _number(p)), (_p(5), np.array(1.7))),
    *[_row(name, _x(5, 3), axis=axis) for name in ("skew", "kurtosis", "sem", "zscore") for axis in (0, 1, None)],
    _row("variation", _p(5, 3), ddof=1),
    _row("skew", _x(6), bias=False),
    _row("kurtosis", _x(6), bias=False, fisher=False),
    _row("moment", _x(5, 3), order=3),
    _row("moment", _x(5, 3), order=2, axis=1, center=0.5),
    *[_row("kstat", _x(7), n=n) for n in (1, 2, 3, 4)],
    _row("zmap", _x(3), _x(6), ddof=1),
    ("describe", lambda f, x: tuple(f(x))[1:], (_x(6),)),
    _row("iqr", _x(9)),
    _row("iqr", _x(8, 2), axis=0, rng=(10, 80), scale="normal"),
    _row("median_abs_deviation", _x(8), scale="normal"),
    _row("trim_mean", _x(9, 2), args=(0.2,)),
    *[_row(name, _x(9), limits=(-1.0, 1.5)) for name in ("tmean", "tvar", "tstd")],
    _row("entropy", _p(5)),
    _row("entropy", _p(4, 3), _p(4, 3), base=2.0, axis=1),
    _row("wasserstein_distance", np.array([0.1, 3.7, 1.3, 2.2]), np.array([0.6, 2.9, 4.4, 1.7, 5.1])),
    ("wasserstein_distance", lambda f, u, v, a, b: f(u, v, a, b), (_x(4), _x(3), _p(4), _p(3))),
    _row("energy_distance", _x(4), _x(5)),
    *[_row(name, _p(5)) for name in ("circmean", "circvar", "circstd")],
    _row("circmean", _p(4, 2), high=3.0, low=-1.0, axis=0),
    _pair("pearsonr", _x(8), _x(8)),
    _pair("pearsonr", _x(8), _x(8), alternative="less"),
    ("linregress", lambda f, x, y: (*(r := f(x, y)), r.intercept_stderr)[:6], (_x(7), _x(7))),
    _pair("ttest_1samp", _x(7), np.array(0.3)),
    _pair("ttest_rel", _x(7, 2), _x(7, 2), alternative="greater"),
    _pair("ttest_ind", _x(7), _x(5)),
    _pair("ttest_ind", _x(7), _x(5), equal_var=False),
    _pair("f_oneway", _x(5), _x(4), _x(6)),
    *[_pair(name, _x(12), alternative=side) for name in ("skewtest", "kurtosistest") for side in ("two-sided", "less")],
    _pair("normaltest", _x(10, 2)), _pair("jarque_bera", _x(9)),
    _pair("ks_1samp", G, cdf=_normal), _pair("ks_1samp", H, cdf=_normal, method="asymp"),
    *[_pair("ks_1samp", G, cdf=_normal, alternative=side) for side in ("less", "greater")],
    _pair("kstest", np.array([0.1, 0.35, 0.45, 0.8]), cdf="uniform"),
    _pair("bartlett", _x(5), _x(6), _x(4)), _pair("alexandergovern", _x(5), _x(6), _x(4)),
    *[_pair("levene", G, H, np.append(0.7 * G, [2.6, -2.9]), center=c, proportiontocut=0.2) for c in ("mean", "median", "trimmed")],
    *[("power_divergence", lambda f, o, k=k: (*f(o, lambda_=k), )[:2], (5 * _p(6),)) for k in ("pearson", "log-likelihood", "neyman", -1, 2 / 3)],
    ("chisquare", lambda f, o, e: (*f(o, e * (o.sum(0) / e.sum(0)), 1),)[:2], (5 * _p(4, 3), _p(4, 3))),
    ("chi2_contingency", lambda f, o: (*(r := f(o, correction=False))[:2], r[3]), (5 * _p(4, 3),)),
    ("chi2_contingency", lambda f, o: f(o)[:2], (np.array([[9.0, 4.0], [3.0, 7.5]]),)),
    ("chi2_contingency", lambda f, o: f(o, lambda_="log-likelihood")[:2], (5 * _p(3, 2, 2),)),
    *[_pair("combine_pvalues", np.array([0.1, 0.05, 0.4]), method=m) for m in ("fisher", "pearson", "tippett", "stouffer", "mudholkar_george")],
    ("combine_pvalues", lambda f, p, v: (*f(p, "stouffer", v),)[:2], (np.array([0.1, 0.05, 0.4]), _p(3))),
    *[_row("false_discovery_control", np.array([[0.1, 0.35, 0.02], [0.5, 0.04, 0.045]]), axis=1, method=m) for m in ("bh", "by")],
    _pair("pointbiserialr", np.array([0.0, 1, 1, 0, 1, 0]), _x(6)),
    *[("theilslopes", lambda f, y, x, m=m: tuple(f(y, x, 0.9, m)), (G, H)) for m in ("separate", "joint")],
    *[("siegelslopes", lambda f, y, x, m=m: tuple(f(y, x, m)), (G, H)) for m in ("hierarchical", "separate")],
    ("probplot", lambda f, x: f(x), (G,)), ("probplot", lambda f, x, c: f(x, (c,), "gamma", fit=False), (H, np.array(2.3))),
    *[_row("differential_entropy", np.append(G, H + 0.17), method=m) for m in ("vasicek", "van es", "ebrahimi", "correa")],
    _row("differential_entropy", np.stack([G, H], 1), base=2.0, axis=0),
    *[("directional_stats", lambda f, x, n=n: ((r := f(x, normalize=n)).mean_direction, r.mean_resultant_length), (_x(5, 3),)) for n in (True, False)],
    ("expectile", lambda f, a, q, v: f(a, _number(q), weights=v), (G, np.array(0.3), _p(7))),
    _row("kstatvar", _x(8), n=1), _row("kstatvar", _x(8, 2), n=2, axis=0),
    _row("lmoment", np.stack([G, H], 1)), _row("lmoment", G, order=[3, 1], standardize=False), _row("lmoment", H, order=4),
    *[("quantile", lambda f, x, p, m=m: f(x, p, method=m), (G, np.array([0.24, 0.55, 0.845]))) for m in (
        "linear", "hazen", "weibull", "median_unbiased", "normal_unbiased", "interpolated_inverted_cdf", "harrell-davis")],
    _row("quantile", _x(7, 2), args=(0.3,), axis=1),
    *[_row("scoreatpercentile", np.stack([G, H], 1), args=(31.0,), interpolation_method=m, axis=0) for m in ("fraction", "lower", "higher")],
    _row("scoreatpercentile", G, args=([31.0, 80.0],)), ("mode", lambda f, x: f(x, axis=1)[0], (np.array([[1.0, 2.0, 2.5], [0.5, 0.1, 0.7]]),)),
    *[("binned_statistic", lambda f, v, m=m: f(H, v, m, bins=3)[:1], (G,)) for m in ("mean", "sum", "std", "median", "min", "max")],
    ("binned_statistic", lambda f, v: f(H, v, bins=[-1.0, 0.1, 2.0]), (G,)), ("binned_statistic", lambda f, v: f(H, v, "sum", 3, (-1, 1)), (G,)),
    ("binned_statistic_2d", lambda f, v: f(H, K, v, "sum", bins=2, range=[[-2, 2], [-2, 2]]), (G,)),
    ("binned_statistic_2d", lambda f, v: f(H, K, v, "sum", bins=[-2.0, 0.0, 1.0, 3.0]), (G,)),
    ("binned_statistic_dd", lambda f, v: f(np.stack([H, K, G], 1), v, "sum", bins=2).statistic, (G,)),
    ("binned_statistic_dd", lambda f, v: f(np.stack([H, K], 1), v, "sum", [2, 3], expand_binnumbers=True)[0], (G,)),
    ("sigmaclip", lambda f, x: tuple(f(x, 1.5, 1.2)), (G,)), _row("obrientransform", _x(5), _x(5)),
    ("tmin", lambda f, x: f(x, -0.5, axis=None), (np.stack([G, H]),)), _row("tmax", np.stack([G, H], 1), args=(0.5,), inclusive=False),
    _row("tsem", G, limits=(-1.0, 1.5)),
    ("trimboth", lambda f, x: np.sort(f(x, 0.2, axis=1), axis=1), (np.stack([G, H]),)), ("trim1", lambda f, x: np.sort(f(x, 0.3, "left")), (G,)),
    ("boxcox", lambda f, x, lmb: f(x, _number(lmb)), (_p(6), np.array(0.4))), ("yeojohnson", lambda f, x, lmb: f(x, _number(lmb)), (_x(6), np.array(0.4))),
    ("boxcox_llf", lambda f, lmb, x: f(lmb, x), (np.array(0.4), _p(6))),
    ("yeojohnson_llf", lambda f, lmb, x: f(lmb, x), (np.array(0.4), _x(6))),
]  # fmt: skip

# Statistics that bend much: the finite differences take small steps.
CURVED = [
    *[_row("shapiro", _x(n)) for n in (3, 4, 5, 6, 11, 12, 30)],
    _row("epps_singleton_2samp", _x(12), _x(9) + 0.3), _row("epps_singleton_2samp", _x(30), _x(29) + 0.3, t=[0.3, 0.9]),
    _row("wasserstein_distance_nd", _x(3, 2), _x(4, 2)), _row("wasserstein_distance_nd", _x(3), _x(4)),
    _row("wasserstein_distance_nd", _x(3, 2), _x(4, 2), np.array([0.2, 0.5, 0.4]), np.array([0.3, 0.2, 0.45, 0.6])),
]  # fmt: skip

SQUARE = np.array([[2.0, 0.3, 0.1], [0.3, 1.0, -0.2], [0.1, -0.2, 1.5]])
SMALL = np.array([[1.5, 0.2], [0.2, 0.8]])


def _sym(a):
    """A symmetric matrix, so that a change of the argument is one of a covariance."""
    return (a + a.T) / 2


MULTIVARIATE = [
    ("multivariate_normal", lambda d, x, m, c: d.logpdf(x, m, _sym(c)), (_x(4, 3), _x(3), SQUARE)),
    ("multivariate_normal", lambda d, x, m, c: d(m, _sym(c)).pdf(x), (_x(3), _x(3), SQUARE)),
    ("multivariate_normal", lambda d, x, c: d.logpdf(x, cov=c), (_x(4), np.array(1.3))),
    ("multivariate_normal", lambda d, x, c: d.logpdf(x, np.zeros(3), c), (_x(2, 3), _p(3))),
    ("multivariate_normal", lambda d, c: d.entropy(cov=_sym(c)), (SQUARE,)),
    ("multivariate_normal", lambda d, x, m, c: d.cdf(x, m, _sym(c)), (_x(4, 2), _x(2), SMALL)),
    ("multivariate_normal", lambda d, x, low, c: d(cov=_sym(c)).cdf(x, lower_limit=low), (_x(4, 2) + 2, _x(2), SMALL)),
    ("multivariate_normal", lambda d, x, v: d.logcdf(x, 0.3, v), (_x(4), np.array(1.3))),
    ("multivariate_t", lambda d, x, m, c, df: d.logpdf(x, m, _sym(c), df), (_x(4, 3), _x(3), SQUARE, np.array(3.5))),
    ("matrix_normal", lambda d, x, m, r, c: d.logpdf(x, m, _sym(r), _sym(c)), (_x(3, 2), _x(3, 2), SQUARE, SMALL)),
    ("dirichlet", lambda d, a: d.logpdf(np.array([0.2, 0.3, 0.5]), a), (_p(3),)),
    ("dirichlet", lambda d, x, a: d.pdf(x, a), (np.array([[0.2, 0.1], [0.3, 0.6]]), _p(3))),
    *[("dirichlet", lambda d, a, m=m: getattr(d, m)(a), (_p(3),)) for m in ("mean", "var", "entropy")],
    ("wishart", lambda d, x, df, s: d.logpdf(_sym(x), _number(df), _sym(s)), (SQUARE, np.array(4.5), SQUARE + np.eye(3))),
    ("invwishart", lambda d, x, df, s: d.logpdf(_sym(x), _number(df), _sym(s)), (SQUARE, np.array(4.5), SQUARE + np.eye(3))),
    ("matrix_normal", lambda d, r, c: d.entropy(_sym(r), _sym(c)), (SQUARE, SMALL)),
    ("matrix_t", lambda d, x, m, r, c, df: d.logpdf(x, m, _sym(r), _sym(c), _number(df)), (_x(3, 2), _x(3, 2), SQUARE, SMALL, np.array(4.5))),
    ("matrix_t", lambda d, x, c: d.pdf(x, np.zeros((2, 2)), np.eye(2), _sym(c), 3), (_x(2, 2), SMALL)),
    ("dirichlet", lambda d, a: d.cov(a), (_p(3),)),
    ("normal_inverse_gamma", lambda d, x, s, *p: d.logpdf(x, s, *p), (_x(3), _p(3), np.array(0.3), np.array(1.4), np.array(2.3), np.array(0.7))),
    ("normal_inverse_gamma", lambda d, x, m: d(m, 1.5).pdf(x, 0.4), (_x(3), np.array(0.3))),
    *[("normal_inverse_gamma", lambda d, *p, m=m: getattr(d, m)(*p), (np.array(0.3), np.array(1.4), np.array(2.3), np.array(0.7))) for m in ("mean", "var")],
    ("vonmises_fisher", lambda d, x, k: d.logpdf(x / np.sqrt((x * x).sum(-1))[:, None], np.array([0.6, 0.0, 0.8]), _number(k)), (_x(4, 3), np.array(2.3))),
    ("vonmises_fisher", lambda d, m: d.pdf(np.array([0.28, 0.96]), m / np.sqrt((m * m).sum()), 1.7), (_x(2),)),
    ("vonmises_fisher", lambda d, k: d.entropy(np.array([0.6, 0.0, 0.8]), _number(k)), (np.array(2.3),)),
    ("dirichlet_multinomial", lambda d, a: d.logpmf(np.array([[1, 2, 3], [0, 6, 0]]), a, 6), (_p(3),)),
    ("dirichlet_multinomial", lambda d, a: d(a, 6).pmf(np.array([1, 2, 3])), (_p(3),)),
    *[("dirichlet_multinomial", lambda d, a, m=m: getattr(d, m)(a, 6), (_p(3),)) for m in ("mean", "var", "cov")],
    ("multinomial", lambda d, p: d.cov(6, p / p.sum()), (np.array([0.2, 0.5, 0.3]),)),
    ("multinomial", lambda d, p: d.logpmf(np.array([[1, 2, 3], [0, 6, 0]]), 6, p / p.sum()), (np.array([0.2, 0.5, 0.3]),)),
]  # fmt: skip

DENSITIES = [
    ("gaussian_kde", lambda k, x, data: k(data)(x), (_x(3), _x(7))),
    ("gaussian_kde", lambda k, x, data: k(data, "silverman").logpdf(x), (_x(2, 3), _x(2, 7))),
    ("gaussian_kde", lambda k, x, data, v: k(data, weights=v).pdf(x), (_x(3), _x(7), _p(7))),
    ("gaussian_kde", lambda k, data, m, c: k(data).integrate_gaussian(m, _sym(c)), (_x(2, 7), _x(2), SMALL)),
    ("gaussian_kde", lambda k, data, v, a: k(data, weights=v).integrate_box_1d(a, 0.9), (_x(7), _p(7), np.array(-0.3))),
    ("gaussian_kde", lambda k, data, other: k(data).integrate_kde(k(other, 0.4)), (_x(7), _x(5))),
    ("gaussian_kde", lambda k, x, data: k(data).marginal([1])(x), (_x(3), _x(2, 7))),
    ("gaussian_kde", lambda k, data: k(data, 0.7).evaluate(np.array([0.1, 0.4])), (_x(7),)),
]


@pytest.mark.slow
@each("row", [*STATISTICS, *MULTIVARIATE, *DENSITIES])
def test_values_and_derivatives(row):
    name, call, arrays = row
    check_call("stats", name, call, *arrays, step=1e-3)


@each("name, call, arrays", CURVED)
def test_values_and_derivatives_of_curved_statistics(name, call, arrays):
    check_call("stats", name, call, *arrays, step=1e-4)


def _three_below(limits, cov):
    """The probability that three normal variables are below limits, as an integral over the first one."""
    sigma = np.sqrt(cov[0, 0])
    factor = cov[1:, 0] / cov[0, 0]
    rest = cov[1:, 1:] - np.outer(factor, cov[0, 1:])
    places, weights = np.polynomial.legendre.leggauss(60)
    x = limits[0] - 5 * sigma * (1 - places)  # from 10 deviations below the limit
    given = scipy.stats.multivariate_normal.cdf(limits[1:] - x[:, None] * factor, cov=rest)
    return 5 * sigma * np.sum(weights * scipy.stats.norm.pdf(x, scale=sigma) * given)


def test_normal_probabilities_differentiate_in_limits_and_covariance():
    limits, mean = np.array([0.4, -0.3, 0.9]), np.array([0.1, 0.2, -0.3])
    x, m, c = [wengert.tensor(a, requires_grad=True) for a in (limits, mean, SQUARE)]
    stats.multivariate_normal.logcdf(x, m, _sym(c), abseps=1e-8, releps=1e-8, maxpts=10**6, rng=np.random.default_rng(0)).backward()
    point, h = np.concatenate([limits, mean, SQUARE.ravel()]), 1e-3

    def at(p):
        cov = p[6:].reshape(3, 3)
        return np.log(_three_below(p[:3] - p[3:6], (cov + cov.T) / 2))

    found = np.concatenate([x.grad.numpy(), m.grad.numpy(), c.grad.numpy().ravel()])
    for i, direction in enumerate(np.eye(len(point))):
        slope = (8 * (at(point + h * direction) - at(point - h * direction)) - at(point + 2 * h * direction) + at(point - 2 * h * direction)) / (12 * h)
        assert found[i] == pytest.approx(slope, rel=1e-6, abs=1e-7), i


def test_normal_probabilities_of_independent_variables():
    x = wengert.tensor(_x(5), requires_grad=True)
    found = stats.multivariate_normal.cdf(x, np.zeros(5), 2.0 * np.eye(5))
    z = x.detach().numpy() / np.sqrt(2)
    assert found.item() == pytest.approx(np.prod(scipy.stats.norm.cdf(z)), rel=1e-4)
    (slope,) = grad(found, x)
    np.testing.assert_allclose(slope.numpy(), found.item() * scipy.stats.norm.pdf(z) / scipy.stats.norm.cdf(z) / np.sqrt(2), rtol=1e-4)


def test_the_bandwidth_of_a_density_differentiates():
    data, h = _x(9), wengert.tensor(0.6, dtype=wengert.float64, requires_grad=True)
    found = stats.gaussian_kde(data, h)(np.array([0.3]))
    found.sum().backward()

    def at(value):
        return scipy.stats.gaussian_kde(data, value)(np.array([0.3]))[0]

    assert found.item() == pytest.approx(at(0.6))
    assert h.grad.item() == pytest.approx((at(0.6 + 1e-5) - at(0.6 - 1e-5)) / 2e-5, rel=1e-6)


def test_samples_that_do_not_fit_are_refused():
    x = wengert.ones(4, dtype=wengert.float64, requires_grad=True)
    for call, error in [
        (lambda: stats.pearsonr(x, np.ones(3)), ValueError),
        (lambda: stats.ttest_1samp(x, 0.0, alternative="more"), ValueError),
        (lambda: stats.trim_mean(x, 0.8), ValueError),
        (lambda: stats.kstat(x, 5), ValueError),
        (lambda: stats.skew(x, nan_policy="omit"), wengert.errors.ArgumentError),
        (lambda: stats.multivariate_normal.logpdf(x, np.zeros(4), np.ones((4, 3))), ValueError),
        (lambda: stats.dirichlet.logpdf(np.ones(2) / 2, x), ValueError),
        (lambda: stats.multivariate_t.cdf(x, np.zeros(4), np.eye(4)), RuntimeError),
        (lambda: stats.multivariate_normal.cdf(x, np.zeros(4), np.ones((4, 4))), wengert.errors.SingularMatrixError),
        (lambda: stats.multivariate_normal.cdf(x, cov=np.ones((4, 4)), allow_singular=True), wengert.errors.ArgumentError),
        (lambda: stats.anderson(x), RuntimeError),
        (lambda: stats.epps_singleton_2samp(x, x), ValueError),
        (lambda: stats.binned_statistic_dd(x[:, None], np.ones(4)), wengert.errors.ArgumentError),
        (lambda: stats.binned_statistic_2d(x, x, np.ones(4)), wengert.errors.ArgumentError),
        (lambda: stats.gaussian_kde(x * RNG.normal(size=4)).integrate_box(0.0, 1.0), RuntimeError),
        (lambda: stats.gaussian_kde(x * RNG.normal(size=4)).resample(2), RuntimeError),
        (lambda: stats.vonmises_fisher.logpdf(x, np.ones(4), 1.0), ValueError),
        (lambda: stats.binned_statistic(x, np.ones(4)), wengert.errors.ArgumentError),
        (lambda: stats.skewtest(x), ValueError),
        (lambda: stats.levene(x, x, center="mode"), ValueError),
        (lambda: stats.chisquare(x, 2 * np.ones(4)), ValueError),
        (lambda: stats.power_divergence(x, lambda_="cubic"), ValueError),
        (lambda: stats.combine_pvalues(x, "max"), ValueError),
        (lambda: stats.false_discovery_control(2 * x), ValueError),
        (lambda: stats.ks_1samp(x, stats.norm.cdf, alternative="more"), ValueError),
        (lambda: stats.quantile(x, 0.5, method="inverted_cdf"), wengert.errors.ArgumentError),
        (lambda: stats.chi2_contingency(-x), ValueError),
        (lambda: stats.boxcox(x, alpha=0.05), wengert.errors.ArgumentError),
    ]:
        with pytest.raises(error):
            call()


def test_the_best_transformation_of_a_sample():
    """SciPy finds the lmbda of the maximum to about eight digits."""
    x, y = np.exp(G / 2), H
    for name, call, data in (
        ("boxcox", lambda f, x: f(x), x),
        ("yeojohnson", lambda f, x: f(x), y),
        ("yeojohnson_normmax", lambda f, x: f(x), y),
        *[("boxcox_normmax", lambda f, x, m=m: f(x, method=m), x) for m in ("mle", "pearsonr", "all")],
    ):
        check_call("stats", name, call, data, step=1e-3, rtol=2e-5, order=1)


@pytest.mark.slow
def test_tests_of_pairs_of_means():
    for row in (_pair("tukey_hsd", _x(5), _x(6) + 1), _pair("tukey_hsd", _x(5), _x(6) + 1, _x(4), equal_var=False)):
        check_call("stats", row[0], row[1], *row[2], step=1e-3, order=1)


def test_a_test_of_two_samples_from_their_statistics():
    given = [np.array(x) for x in (1.2, 2.0, 0.3, 1.4)]
    for equal in (True, False):
        call = lambda f, a, s, b, t: (*f(a, s, 10, b, t, 12, equal),)[:2]  # noqa: E731, B023
        check_call("stats", "ttest_ind_from_stats", call, *given, step=1e-3)


def test_results_that_are_counted_or_ranked_are_constants():
    """They take tensors that require grad, and do not change with small changes of the sample."""
    x, y, table = _x(9) + 0.3, _x(9), np.array([[3.0, 4.0], [5.0, 2.0]])
    counts = stats.binned_statistic(wengert.tensor(x, requires_grad=True), wengert.tensor(y, requires_grad=True), "count", 3)
    np.testing.assert_array_equal(counts.statistic.numpy(), scipy.stats.binned_statistic(x, y, "count", 3).statistic)
    assert stats.rankdata(wengert.tensor([3.0, 1.0, 2.0], requires_grad=True)).tolist() == [3.0, 1.0, 2.0]
    for name in (
        "ansari", "brunnermunzel", "bws_test", "chatterjeexi", "cramervonmises_2samp", "fligner", "kendalltau", "kruskal", "ks_2samp",
        "mannwhitneyu", "mood", "quantile_test", "ranksums", "rankdata", "spearmanr", "spearmanrho", "tiecorrect",
        "wilcoxon", "somersd",
    ):  # fmt: skip
        given = {"quantile_test": (x,), "wilcoxon": (x,), "rankdata": (x,), "tiecorrect": (np.sort(y),), "somersd": (table,)}.get(name, (x, y))
        values = [getattr(scipy.stats, name)(*[(1 + h) * a if a is x else a for a in given]) for h in (0.0, 1e-6)]
        found = getattr(stats, name)(*[wengert.tensor(a, requires_grad=True) for a in given])
        first, second, ours = [outputs_of(v if isinstance(v, tuple) else getattr(v, "statistic", v)) for v in (*values, found)]
        np.testing.assert_array_equal(first, second, err_msg=name)
        np.testing.assert_array_equal([z.numpy() if isinstance(z, wengert.Tensor) else z for z in ours], first, err_msg=name)
