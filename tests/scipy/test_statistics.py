"""Statistics of samples, multivariate distributions and kernel densities of wengert.scipy.stats against scipy.stats."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

import wengert
import wengert.scipy.stats as stats
from loops import each
from scipy_checks import check_call

RNG = np.random.default_rng(5)


def _x(*shape):
    return RNG.normal(size=shape)


def _p(*shape):
    return RNG.uniform(0.5, 2.0, shape)


def _number(x):
    """An array of no dimensions as the number that SciPy wants; a tensor as it is."""
    return float(x) if isinstance(x, np.ndarray) else x


def _row(name, *arrays, args=(), **kwargs):
    return name, lambda f, *xs: f(*xs, *args, **kwargs), arrays


def _pair(name, *arrays, **kwargs):
    """A call whose result is an object with a statistic and a p-value."""

    def call(f, *xs):
        found = f(*xs, **kwargs)
        return found.statistic, found.pvalue

    return name, call, arrays


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
    ("boxcox_llf", lambda f, lmb, x: f(lmb, x), (np.array(0.4), _p(6))),
    ("yeojohnson_llf", lambda f, lmb, x: f(lmb, x), (np.array(0.4), _x(6))),
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
    ("multivariate_t", lambda d, x, m, c, df: d.logpdf(x, m, _sym(c), df), (_x(4, 3), _x(3), SQUARE, np.array(3.5))),
    ("matrix_normal", lambda d, x, m, r, c: d.logpdf(x, m, _sym(r), _sym(c)), (_x(3, 2), _x(3, 2), SQUARE, SMALL)),
    ("dirichlet", lambda d, a: d.logpdf(np.array([0.2, 0.3, 0.5]), a), (_p(3),)),
    ("dirichlet", lambda d, x, a: d.pdf(x, a), (np.array([[0.2, 0.1], [0.3, 0.6]]), _p(3))),
    *[("dirichlet", lambda d, a, m=m: getattr(d, m)(a), (_p(3),)) for m in ("mean", "var", "entropy")],
    ("wishart", lambda d, x, df, s: d.logpdf(_sym(x), _number(df), _sym(s)), (SQUARE, np.array(4.5), SQUARE + np.eye(3))),
    ("invwishart", lambda d, x, df, s: d.logpdf(_sym(x), _number(df), _sym(s)), (SQUARE, np.array(4.5), SQUARE + np.eye(3))),
    ("multinomial", lambda d, p: d.logpmf(np.array([[1, 2, 3], [0, 6, 0]]), 6, p / p.sum()), (np.array([0.2, 0.5, 0.3]),)),
]  # fmt: skip

DENSITIES = [
    ("gaussian_kde", lambda k, x, data: k(data)(x), (_x(3), _x(7))),
    ("gaussian_kde", lambda k, x, data: k(data, "silverman").logpdf(x), (_x(2, 3), _x(2, 7))),
    ("gaussian_kde", lambda k, x, data, v: k(data, weights=v).pdf(x), (_x(3), _x(7), _p(7))),
    ("gaussian_kde", lambda k, data: k(data, 0.7).evaluate(np.array([0.1, 0.4])), (_x(7),)),
]


@each("row", [*STATISTICS, *MULTIVARIATE, *DENSITIES])
def test_values_and_derivatives(row):
    name, call, arrays = row
    check_call("stats", name, call, *arrays, step=1e-3)


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
        (lambda: stats.multivariate_normal.cdf(x, np.zeros(4), np.eye(4)), RuntimeError),
        (lambda: stats.mannwhitneyu(x, np.ones(3)), RuntimeError),
    ]:
        with pytest.raises(error):
            call()


def test_ranks_are_plain():
    x = wengert.tensor([3.0, 1.0, 2.0], requires_grad=True)
    assert stats.rankdata(x).tolist() == [3.0, 1.0, 2.0]
