"""The distributions of wengert.scipy.stats against scipy.stats and its finite differences, for every family and method."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest
import scipy.stats

import wengert
import wengert.scipy.stats as stats
from loops import each
from scipy_checks import check_call
from scipy_families import CONTINUOUS, DISCRETE

# Families with integers among the shapes, which are constant, and those that SciPy computes too coarsely or slowly for all checks.
INTEGERS = {"n": "betabinom betanbinom binom zipfian ksone kstwo irwinhall", "N": "boltzmann", "M": "", "low": "", "high": ""}
DRAWS = {"hypergeom": [], "nhypergeom": [], "randint": [], "nchypergeom_fisher": [3], "nchypergeom_wallenius": [3]}
SPARE = ("genhyperbolic", "geninvgauss", "gausshyper", "kstwo", "studentized_range")
METHODS = ("logpdf", "pdf", "cdf", "sf", "logcdf", "logsf", "ppf", "isf")
LEVELS = np.array([0.2, 0.45, 0.7])


def _cases(*methods):
    for name, shapes in CONTINUOUS.items():
        if name not in SPARE:
            yield from [(name, shapes, method) for method in methods]


def _places(name, shapes, method):
    if method in ("ppf", "isf"):
        return LEVELS
    return 1.3 * getattr(scipy.stats, name).ppf(LEVELS, *shapes) + 0.1


def _check(name, call, arrays, order):
    steps = [np.min(np.abs(a[a != 0]), initial=1.0) for a in arrays]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        check_call("stats", name, call, *arrays, step=2e-3 * min(1.0, *steps), rtol=1e-5, value_rtol=1e-9, order=order)


def _differs_in_place(name, shapes, method, order):
    x = _places(name, shapes, method)
    _check(name, lambda d, x, loc, scale: getattr(d, method)(x, *shapes, loc=loc, scale=scale), (x, np.array(0.1), np.array(1.3)), order)


def _differs_in_shapes(name, shapes, method, order):
    if not _real_shapes(name):
        return
    x = _places(name, shapes, method)
    _check(name, lambda d, *s: getattr(d, method)(x, *s, loc=0.1, scale=1.3), [np.array(s) for s in shapes], order)


@pytest.mark.slow
@each("name, shapes, method", _cases("logpdf", "cdf", "ppf"))
def test_continuous_in_place_and_scale(name, shapes, method):
    _differs_in_place(name, shapes, method, order=1)


@pytest.mark.slow
@each("name, shapes, method", _cases("logpdf", "cdf", "ppf"))
def test_continuous_in_shapes(name, shapes, method):
    _differs_in_shapes(name, shapes, method, order=1)


@pytest.mark.slow
@each("name, shapes, method", _cases("pdf", "sf", "logcdf", "logsf", "isf"))
def test_continuous_by_every_method(name, shapes, method):
    _differs_in_place(name, shapes, method, order=1)
    _differs_in_shapes(name, shapes, method, order=1)


SECOND = ("norm", "gamma", "beta", "t", "weibull_min", "genpareto", "lognorm", "skewnorm", "ncx2", "truncnorm", "f", "genextreme")


@each("name, method", [(name, method) for name in SECOND for method in ("logpdf", "cdf", "ppf")])
def test_second_derivatives(name, method):
    shapes = CONTINUOUS[name]
    x = _places(name, shapes, method)
    arrays = [x, *[np.array(s) for s in shapes], np.array(0.1), np.array(1.3)]
    steps = [np.min(np.abs(a)) for a in arrays]
    check_call(
        "stats", name, lambda d, x, *a: getattr(d, method)(x, *a[:-2], loc=a[-2], scale=a[-1]), *arrays,
        step=min(1e-2, *[3e-2 * s for s in steps]), rtol=1e-4, value_rtol=1e-9,
    )  # fmt: skip


def _real_shapes(name):
    if name in DRAWS:
        return DRAWS[name]
    names = "p" if name == "poisson_binom" else getattr(scipy.stats, name).shapes
    names = names.split(", ") if names else []
    return [i for i, shape in enumerate(names) if name not in INTEGERS.get(shape, "").split()]


@each("name, method", [(n, m) for n in DISCRETE for m in ("logpmf", "pmf", "cdf", "sf", "mean", "var", "entropy")])
def test_discrete(name, method):
    shapes, real = DISCRETE[name], _real_shapes(name)
    k = getattr(scipy.stats, name).ppf([0.2, 0.6, 0.9], *shapes)

    def call(d, *given):
        full = list(shapes)
        for i, value in zip(real, given):
            full[i] = value
        return getattr(d, method)(*full) if method in ("mean", "var", "entropy") else getattr(d, method)(k + 2, *full, loc=2)

    if real:
        _check(name, call, [np.array(shapes[i], float) for i in real], 1)
    else:
        real = range(len(shapes))
        found = call(getattr(stats, name), *[wengert.tensor(float(s), dtype=wengert.float64, requires_grad=True) for s in shapes])
        np.testing.assert_allclose(found.detach().numpy(), call(getattr(scipy.stats, name)), rtol=1e-9)


MOMENTS = [
    (name, method)
    for name in ["beta", "chi", "chi2", "expon", "f", "gamma", "genextreme", "gengamma", "genlogistic", "genpareto", "invgamma", "loggamma", "lognorm", "lomax", "norm", "pareto", "t", "uniform", "weibull_min", "skewnorm", "betaprime"]
    for method in ("mean", "var", "std", "stats", "entropy")
    if method != "entropy" or name not in ("f", "betaprime", "skewnorm", "genlogistic")
]


@each("name, method", MOMENTS)
def test_moments_and_entropy(name, method):
    arrays = [np.array(s) for s in (*CONTINUOUS[name], 0.1, 1.3)]
    used = lambda d, *a: getattr(d, method)(*a[:-2], loc=a[-2], scale=a[-1])  # noqa: E731
    _check(name, used, arrays, 1)


# Families whose moments and entropies are integrals of their densities, with shapes at which these are finite.
INTEGRALS = [
    ("burr", (10.5, 4.3)), ("exponweib", (2.892, 1.951)), ("foldnorm", (1.952,)), ("fatiguelife", (1.5,)), ("gompertz", (0.947,)),
    ("johnsonsb", (4.317, 3.184)), ("kappa3", (3.5,)), ("mielke", (10.4, 4.6)), ("ncf", (27.0, 27.0, 0.416)), ("pearson3", (0.3,)),
    ("powerlognorm", (2.141, 0.446)), ("rdist", (1.6,)), ("rice", (0.775,)), ("tukeylambda", (0.6,)), ("truncweibull_min", (2.5, 0.25, 1.75)),
    ("truncnorm", (-1.098, 2.731)), ("trapezoid", (0.2, 0.8)), ("loguniform", (0.5, 1.25)), ("jf_skew_t", (8.0, 4.0)), ("argus", (1.0,)),
    ("norminvgauss", (1.25, 0.5)), ("vonmises", (3.994,)), ("crystalball", (2.0, 6.0)), ("nct", (14.0, 0.24)), ("exponnorm", (1.5,)),
]  # fmt: skip

FAST = ("burr", "exponweib", "gompertz", "kappa3", "truncnorm", "trapezoid", "vonmises", "crystalball")


def _is_an_integral(name, shapes, method):
    steps = [5e-3 * min(1.0, abs(s)) for s in shapes]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        inputs = [wengert.tensor(s, dtype=wengert.float64, requires_grad=True) for s in shapes]
        found = getattr(getattr(stats, name), method)(*inputs)
        theirs = getattr(getattr(scipy.stats, name), method)
        np.testing.assert_allclose(found.item(), theirs(*shapes), rtol=1e-12, atol=1e-14)
        slopes = wengert.autograd.grad(found, inputs, allow_unused=True, materialize_grads=True)
        for i, (slope, h) in enumerate(zip(slopes, steps)):
            a, b, c, d = [float(theirs(*[s + k * h * (i == j) for j, s in enumerate(shapes)])) for k in (-2, -1, 1, 2)]
            expected = (a - 8 * b + 8 * c - d) / (12 * h)
            np.testing.assert_allclose(slope.item(), expected, rtol=2e-5, atol=2e-6, err_msg=f"{name}.{method} in shape {i}")


@each("name, shapes, method", [(*row, method) for row in INTEGRALS if row[0] in FAST for method in ("mean", "entropy")])
def test_moments_and_entropies_that_are_integrals(name, shapes, method):
    _is_an_integral(name, shapes, method)


@pytest.mark.slow
@each("name, shapes, method", [(*row, method) for row in INTEGRALS for method in ("mean", "var", "entropy")])
def test_moments_and_entropies_of_more_families(name, shapes, method):
    _is_an_integral(name, shapes, method)


def test_second_derivatives_of_integrals_and_higher_moments():
    shapes = [np.array(2.892), np.array(1.951)]
    for call in (lambda d, *s: d.mean(*s), lambda d, *s: d.entropy(*s)):
        check_call("stats", "exponweib", call, *shapes, step=2e-2, rtol=1e-5, value_rtol=1e-9)
    _check("gamma", lambda d, a: d.stats(a, moments="sk"), [np.array(1.993)], 1)
    _check("poisson", lambda d, mu: d.stats(mu, moments="mvsk"), [np.array(0.6)], 1)
    infinite = stats.alpha.mean(wengert.tensor(3.5, dtype=wengert.float64, requires_grad=True))
    assert np.isinf(infinite.item()) and infinite.requires_grad


SPARSE_CHECKS = [
    ("genhyperbolic", (0.5, 1.5, -0.5), ("logpdf", "cdf", "sf")), ("geninvgauss", (2.3, 1.5), ("logpdf", "cdf", "ppf")),
    ("gausshyper", (3.764, 3.119, 2.515, 1.181), ("logpdf", "sf")), ("kstwo", (10.0,), ("logpdf", "cdf")),
    ("studentized_range", (3.0, 10.0), ("logpdf", "cdf")), ("levy_stable", (0.7, -0.4), ("logpdf", "sf")),
    ("levy_stable", (1.2, 0.9), ("logpdf", "logcdf")),
]  # fmt: skip


@pytest.mark.slow
@each("name, shapes, method", [(name, shapes, method) for name, shapes, methods in SPARSE_CHECKS for method in methods])
def test_families_by_quadrature(name, shapes, method):
    x = _places(name, shapes, method) if method == "ppf" else getattr(scipy.stats, name).ppf(LEVELS, *shapes)
    call = lambda d, x, *s: getattr(d, method)(x, *(s or shapes))  # noqa: E731
    _check(name, call, [x] if name == "kstwo" else [x, *[np.array(s) for s in shapes]], 1)


def test_tails_of_landaus_distribution():
    """The slope of the logarithm of the density, by SciPy's values."""
    x = np.array([-4.0, -3.0, -1.4, 0.0, 5.0, 50.0])
    check_call("stats", "landau", lambda d, x: d.logpdf(x), x, step=2e-3, rtol=1e-6, value_rtol=1e-9, order=1)


def test_a_broadcast_of_shapes_and_places():
    a, x = np.array([[1.5], [2.5]]), np.array([0.3, 1.0, 2.0])
    check_call("stats", "gamma", lambda d, x, a: d.logpdf(x, a), x, a)
    check_call("stats", "ncx2", lambda d, x, a: d.cdf(x, a, 1.5), x, a, rtol=1e-5)
    check_call("stats", "nbinom", lambda d, a: d.sf(np.arange(4), a, 0.3), a, rtol=1e-5)


def test_outside_the_support_and_at_its_border():
    for name, shapes in (("gamma", (2.0,)), ("beta", (2.0, 3.0)), ("expon", ()), ("uniform", ()), ("genpareto", (-0.5,)), ("lognorm", (0.5,))):
        theirs, ours = getattr(scipy.stats, name), getattr(stats, name)
        x = wengert.tensor([-1.0, 0.0, 0.4, 1.0, 5.0, np.nan], dtype=wengert.float64, requires_grad=True)
        for method in ("logpdf", "pdf", "cdf", "sf", "logcdf", "logsf"):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)
                expected = getattr(theirs, method)(x.detach().numpy(), *shapes)
                found = getattr(ours, method)(x, *shapes)
                np.testing.assert_allclose(found.detach().numpy(), expected, rtol=1e-9, atol=1e-12, err_msg=f"{name}.{method}")
                (slope,) = wengert.autograd.grad(found[:1].sum(), x, retain_graph=True)
            assert slope[0].item() == 0.0, f"{name}.{method}: outside the support nothing changes"
        q = wengert.tensor([-0.1, 0.0, 0.5, 1.0, 1.1], dtype=wengert.float64, requires_grad=True)
        np.testing.assert_allclose(ours.ppf(q, *shapes).detach().numpy(), theirs.ppf(q.detach().numpy(), *shapes), rtol=1e-9)


def test_invalid_shapes_are_nan():
    scale = wengert.tensor([1.0, -1.0], dtype=wengert.float64, requires_grad=True)
    assert np.isnan(stats.norm.logpdf(0.5, scale=scale).detach().numpy()).tolist() == [False, True]
    a = wengert.tensor([2.0, -1.0], dtype=wengert.float64, requires_grad=True)
    found = stats.gamma.logpdf(0.5, a)
    assert np.isnan(found.detach().numpy()).tolist() == [False, True]
    found[0].backward()
    assert a.grad[1] == 0 and np.isfinite(a.grad[0].item())


def test_limits_of_shapes():
    """Where a shape vanishes the derivative in it is that of the limit."""
    for name, x in (("genextreme", 0.7), ("genpareto", 0.7), ("genhalflogistic", 0.7)):
        d = getattr(scipy.stats, name)
        c = wengert.tensor(1e-9 if name == "genhalflogistic" else 0.0, dtype=wengert.float64, requires_grad=True)
        getattr(stats, name).logpdf(x, c).backward()
        step = 1e-4
        slope = (d.logpdf(x, 2 * step) - d.logpdf(x, step)) / step - 1.5 * step * (
            (d.logpdf(x, 3 * step) - 2 * d.logpdf(x, 2 * step) + d.logpdf(x, step)) / step**2
        )
        assert c.grad.item() == pytest.approx(slope, rel=1e-4), name


def test_frozen_distributions_and_likelihoods():
    loc, scale = wengert.tensor(0.5, requires_grad=True), wengert.tensor(2.0, requires_grad=True)
    data = np.array([0.1, 1.2, -0.7])
    frozen = stats.norm(loc, scale=scale)
    (-frozen.logpdf(data).sum()).backward()
    gradients = loc.grad.item(), scale.grad.item()
    theta = wengert.tensor([0.5, 2.0], dtype=wengert.float64, requires_grad=True)
    found = stats.norm.nnlf(theta, data)
    found.backward()
    assert found.item() == pytest.approx(scipy.stats.norm.nnlf((0.5, 2.0), data))
    assert theta.grad.tolist() == pytest.approx(gradients, rel=1e-6)
    assert isinstance(stats.norm(0.5, 2.0).logpdf(data), np.ndarray)
    assert stats.norm(0.5, 2.0).logpdf(wengert.tensor(data, requires_grad=True)).requires_grad
    assert frozen.mean().item() == 0.5 and frozen.interval(0.9)[0].requires_grad
    assert stats.norm(0.5, 2.0).rvs(3, random_state=0).shape == (3,)
    with pytest.raises(TypeError):
        stats.norm(shape=loc)


def test_what_has_no_derivative_is_refused_and_runs_without():
    a = wengert.tensor(1.5, requires_grad=True)
    for call in (
        lambda: stats.levy_stable.entropy(a, 0.5),
        lambda: stats.irwinhall.pdf(a, 2 * a),
        lambda: stats.norm.moment(a, loc=0.5),
        lambda: stats.genpareto.support(-a),
        lambda: stats.norm.rvs(loc=a),
    ):
        with pytest.raises(RuntimeError, match="no derivative"):
            call()
    assert isinstance(stats.levy_stable.pdf(a.detach(), 1.8, 0.5), wengert.Tensor)
    assert stats.vonmises.cdf(0.3, a.detach()).item() == pytest.approx(scipy.stats.vonmises.cdf(0.3, 1.5))


def test_stable_distributions_where_the_derivative_is_known():
    a = wengert.tensor(1.5, dtype=wengert.float64, requires_grad=True)
    for call in (lambda: stats.levy_stable.pdf(0.5, a / 1.5, 0.3), lambda: stats.levy_stable.logpdf(40.0, a, -1.0)):
        with pytest.raises(wengert.errors.ArgumentError, match="levy_stable"):
            call()
    x = np.array([-60.0, -0.5, 0.4, 3.0, 90.0])
    check_call("stats", "levy_stable", lambda d, x, b: d.pdf(x, 1.5, b), x, np.array(0.4), step=3e-3)
    # Levy's distribution is the one of alpha = 1/2 and beta = 1, a normal distribution that of alpha = 2.
    for alpha, beta, other in ((0.5, 1.0, stats.levy), (2.0, 0.0, stats.norm(scale=2**0.5))):
        x = wengert.tensor([0.3, 1.0, 2.5], dtype=wengert.float64, requires_grad=True)
        found = [wengert.autograd.grad(d.sum(), x)[0].numpy() for d in (stats.levy_stable.logpdf(x, alpha, beta), other.logpdf(x))]
        np.testing.assert_allclose(*found, rtol=1e-9)


def test_moments_of_the_studentized_range():
    """Two normal numbers have the range sqrt(2) |z|. The mean range of k is the integral of 1 - ndtr**k - (1 - ndtr)**k."""
    k, df = [wengert.tensor(x, dtype=wengert.float64, requires_grad=True) for x in (2.0, 10.0)]
    inverse = (df / 2) ** 0.5 * wengert.exp(wengert.lgamma((df - 1) / 2) - wengert.lgamma(df / 2))
    mean, variance = stats.studentized_range.stats(k, df)
    assert mean.item() == pytest.approx(2 / np.pi**0.5 * inverse.item(), rel=1e-12)
    assert variance.item() == pytest.approx(2 * 10 / 8 - mean.item() ** 2, rel=1e-12)
    z = np.linspace(-9, 9, 20001)
    p = scipy.stats.norm.cdf(z)
    means = [np.trapezoid(1 - p**n - (1 - p) ** n, z) for n in (1.999, 2.001)]
    slopes = wengert.autograd.grad(mean, (k, df))
    assert slopes[0].item() == pytest.approx((means[1] - means[0]) / 0.002 * inverse.item(), rel=1e-6)
    assert slopes[1].item() == pytest.approx(2 / np.pi**0.5 * wengert.autograd.grad(inverse, df)[0].item(), rel=1e-9)
    assert np.isinf(stats.studentized_range.mean(k, 1.0).item())


def test_moments_of_any_order():
    a = np.array
    for name, call, arrays in (
        ("gamma", lambda d, s, loc, scale: d.moment(3, s, loc=loc, scale=scale), (a(2.2), a(0.3), a(1.4))),
        ("norm", lambda d, loc, scale: d.moment(4, loc=loc, scale=scale), (a([0.3, -1.0]), a(1.4))),
        ("beta", lambda d, s, t: d(s, t).moment(5), (a(2.2), a(0.8))),
        ("poisson", lambda d, mu: d.moment(3, mu, loc=2), (a(1.3),)),
        ("t", lambda d, df: d.moment(2, df), (a(4.5),)),
        ("norm", lambda d, loc: d.moment(0, loc=loc) + d.moment(1, loc=loc), (a(0.3),)),
    ):
        check_call("stats", name, call, *arrays)
    infinite = stats.t.moment(4, wengert.tensor(3.0, dtype=wengert.float64, requires_grad=True), loc=0.0)
    np.testing.assert_equal(infinite.item(), scipy.stats.t.moment(4, 3.0))
    assert infinite.requires_grad
    with pytest.raises(ValueError, match="integer"):
        stats.norm.moment(1.5, loc=infinite)


@pytest.mark.slow
def test_expectations_of_functions():
    a = np.array
    for name, call, arrays in (
        ("norm", lambda d, loc, scale: d.expect(lambda x: np.tanh(x) * x, loc=loc, scale=scale), (a(0.3), a(1.4))),
        ("gamma", lambda d, s, loc: d.expect(lambda x: x**2, (s,), loc, lb=0.5, ub=3.0, conditional=True), (a(2.2), a(0.2))),
        ("uniform", lambda d, loc, scale: d.expect(lambda x: x**2, loc=loc, scale=scale), (a(0.2), a(1.4))),
        ("norm", lambda d, lb: d.expect(None, lb=lb), (a(0.4),)),
        ("poisson", lambda d, mu: d.expect(lambda k: np.sqrt(k), (mu,), lb=1, conditional=True), (a(1.3),)),
        ("binom", lambda d, p: d(5, p).expect(lambda k: k**2), (a(0.3),)),
        ("norm", lambda d, loc, scale: d(loc, scale=scale).expect(lb=-1.0), (a(0.3), a(1.4))),
    ):
        check_call("stats", name, call, *arrays, value_rtol=1e-8)
    # The step of a function that has no derivative itself: E[x > 0] is the mass above 0.
    loc, factor = [wengert.tensor(x, dtype=wengert.float64, requires_grad=True) for x in (0.3, 0.7)]
    stats.norm.expect(lambda x: 1.0 * (x > 0), loc=loc, epsabs=1e-12).backward()
    assert loc.grad.item() == pytest.approx(scipy.stats.norm.pdf(0.3), rel=1e-6)
    # A tensor that the function closes over.
    found = stats.norm.expect(lambda x: (factor * x) ** 2)
    found.backward()
    assert found.item() == pytest.approx(0.49) and factor.grad.item() == pytest.approx(1.4)
    assert stats.poisson.expect(lambda k: factor * k, (1.5,)).requires_grad
    assert isinstance(stats.norm.expect(lambda x: x * x), float)
    with pytest.raises(wengert.errors.ArgumentError, match="infinite at an end"):
        stats.gamma.expect(None, (0.5,), loc=loc)


def test_probabilities_of_trials():
    p = np.array([[0.2, 0.3, 0.4], [0.5, 0.6, 0.9]])
    check_call("stats", "poisson_binom", lambda d, p: d.pmf(np.array([0, 2]), p), p)
    check_call("stats", "poisson_binom", lambda d, p: d.stats(p, moments="mvsk"), p[0])
    check_call("stats", "poisson_binom", lambda d, p: d(p).expect(lambda k: k**3), p[0], value_rtol=1e-9)


def test_fits_of_samples():
    """SciPy's estimates of these families are as precise as its roots, so its differences have the derivatives."""
    x = np.array([0.4, 1.9, 0.8, 2.6, 1.1, 3.3, 1.5])
    for name, settings in (("norm", {}), ("gamma", {"floc": 0}), ("beta", {"floc": 0, "fscale": 5}), ("norm", {"floc": 1.0}), ("gumbel_r", {})):
        call = lambda d, x: d.fit(x, **settings)  # noqa: E731, B023
        inputs = wengert.tensor(x, requires_grad=True)
        found, expected = call(getattr(stats, name), inputs), call(getattr(scipy.stats, name), x)
        np.testing.assert_allclose([v.item() for v in found], expected, rtol=1e-12)
        direction = np.cos(np.arange(7.0))
        for k, value in enumerate(found):
            if value.requires_grad:
                (slope,) = wengert.autograd.grad(value, inputs, retain_graph=True)
                low, high = [call(getattr(scipy.stats, name), x + h * direction)[k] for h in (-1e-3, 1e-3)]
                assert slope.numpy() @ direction == pytest.approx((high - low) / 2e-3, rel=1e-4), (name, k)
    with pytest.raises(NotImplementedError, match="no smooth maximum"):
        stats.expon.fit(wengert.tensor(x, requires_grad=True))
    with pytest.raises(NotImplementedError, match="moments"):
        stats.norm.fit(wengert.tensor(x, requires_grad=True), method="MM")


def test_ends_of_the_support():
    check_call("stats", "truncexpon", lambda d, b, loc, scale: d.support(b, loc, scale), np.array(0.3), np.array(0.1), np.array(2.0))
    scale = wengert.tensor(2.0, requires_grad=True)
    low, high = stats.gamma(2.0, loc=scale).support()
    assert low.item() == 2.0 and low.requires_grad and np.isinf(high.item())


def test_every_family_is_listed():
    """A family that SciPy adds is tested here, too."""
    kinds = {"continuous": scipy.stats.rv_continuous, "discrete": scipy.stats.rv_discrete}
    found = {kind: {n for n in scipy.stats.__all__ if isinstance(getattr(scipy.stats, n), c)} for kind, c in kinds.items()}
    assert found["continuous"] == set(CONTINUOUS)
    assert found["discrete"] == set(DISCRETE)
    assert inspect.getdoc(stats.norm) == inspect.getdoc(scipy.stats.norm)
