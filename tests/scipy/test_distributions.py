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

NO_DENSITY = ["levy_stable", "studentized_range"]  # families whose densities differentiate in nothing
# Families with integers among the shapes, which are constant, and those that SciPy computes too coarsely or slowly for all checks.
INTEGERS = {"n": "betabinom betanbinom binom zipfian ksone kstwo irwinhall", "N": "boltzmann", "M": "", "low": "", "high": ""}
DRAWS = {"hypergeom": [], "nhypergeom": [], "randint": [], "nchypergeom_fisher": [3], "nchypergeom_wallenius": [3]}
SPARE = ("genhyperbolic", "geninvgauss", "gausshyper", "kstwo")
METHODS = ("logpdf", "pdf", "cdf", "sf", "logcdf", "logsf", "ppf", "isf")
LEVELS = np.array([0.2, 0.45, 0.7])


def _cases(*methods):
    for name, shapes in CONTINUOUS.items():
        if name not in NO_DENSITY and name not in SPARE:
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


@each("name, shapes, method", _cases("logpdf", "cdf", "ppf"))
def test_continuous_in_place_and_scale(name, shapes, method):
    _differs_in_place(name, shapes, method, order=1)


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
    names = getattr(scipy.stats, name).shapes
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
        _check(name, call, [np.array(float(shapes[i])) for i in real], 1)
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
]  # fmt: skip


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
        lambda: stats.levy_stable.pdf(a, 1.8, 0.5),
        lambda: stats.levy_stable.entropy(a, 0.5),
        lambda: stats.studentized_range.cdf(a, 3, 10),
        lambda: stats.irwinhall.pdf(a, 2 * a),
        lambda: stats.norm.moment(3, loc=a),
    ):
        with pytest.raises(RuntimeError, match="no derivative"):
            call()
    assert isinstance(stats.levy_stable.pdf(a.detach(), 1.8, 0.5), wengert.Tensor)
    assert stats.vonmises.cdf(0.3, a.detach()).item() == pytest.approx(scipy.stats.vonmises.cdf(0.3, 1.5))


def test_every_family_is_listed():
    """A family that SciPy adds is tested here, too."""
    kinds = {"continuous": scipy.stats.rv_continuous, "discrete": scipy.stats.rv_discrete}
    found = {kind: {n for n in scipy.stats.__all__ if isinstance(getattr(scipy.stats, n), c)} for kind, c in kinds.items()}
    assert found["continuous"] == set(CONTINUOUS)
    assert found["discrete"] - {"poisson_binom"} == set(DISCRETE)
    assert inspect.getdoc(stats.norm) == inspect.getdoc(scipy.stats.norm)
