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

# Families whose densities differentiate in nothing, and (families, methods) that do not differentiate in the shapes.
NO_DENSITY = ["irwinhall", "ksone", "kstwo", "kstwobign", "landau", "levy_stable", "nct", "studentized_range"]
NOT_IN_SHAPES = {
    "mass": ["gausshyper", "genhyperbolic", "geninvgauss", "norminvgauss", "vonmises", "vonmises_line"],
    "density": ["gausshyper", "genhyperbolic", "geninvgauss"],
}
NOT_AT_ALL = {"genhyperbolic"}  # its density needs the derivative of scipy.special.kve
INTEGERS = {"n": "betabinom betanbinom binom zipfian", "N": "boltzmann", "M": ""}
METHODS = ("logpdf", "pdf", "cdf", "sf", "logcdf", "logsf", "ppf", "isf")
LEVELS = np.array([0.2, 0.45, 0.7])


def _cases(*methods):
    for name, shapes in CONTINUOUS.items():
        if name not in NO_DENSITY and name not in NOT_AT_ALL:
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
    kind = "density" if method in ("pdf", "logpdf") else "mass"
    if not shapes or name in NOT_IN_SHAPES[kind]:
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
    names = (getattr(scipy.stats, name).shapes or "").split(", ")
    return [i for i, shape in enumerate(names) if name not in INTEGERS.get(shape, "").split()]


@each("name, method", [(n, m) for n in DISCRETE for m in ("logpmf", "pmf", "cdf", "sf", "mean", "var", "entropy")])
def test_discrete(name, method):
    if name in ("hypergeom", "nhypergeom", "randint", "nchypergeom_fisher", "nchypergeom_wallenius"):
        return
    shapes, real = DISCRETE[name], _real_shapes(name)
    k = getattr(scipy.stats, name).ppf([0.2, 0.6, 0.9], *shapes)

    def call(d, *given):
        full = list(shapes)
        for i, value in zip(real, given):
            full[i] = value
        return getattr(d, method)(*full) if method in ("mean", "var", "entropy") else getattr(d, method)(k + 2, *full, loc=2)

    _check(name, call, [np.array(float(shapes[i])) for i in real], 1)


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
        lambda: stats.vonmises.cdf(0.3, a),
        lambda: stats.landau.pdf(a),
        lambda: stats.nct.logpdf(0.3, a, 0.5),
        lambda: stats.gausshyper.logpdf(0.3, a, 1.0, 1.0, 1.0),
        lambda: stats.norm.moment(3, loc=a),
        lambda: stats.norm.stats(a, moments="s"),
        lambda: stats.crystalball.entropy(a, 3.0),
    ):
        with pytest.raises(RuntimeError, match="no derivative"):
            call()
    assert isinstance(stats.landau.pdf(a.detach()), wengert.Tensor)
    assert stats.vonmises.cdf(0.3, a.detach()).item() == pytest.approx(scipy.stats.vonmises.cdf(0.3, 1.5))


def test_every_family_is_listed():
    """A family that SciPy adds is tested here, too."""
    kinds = {"continuous": scipy.stats.rv_continuous, "discrete": scipy.stats.rv_discrete}
    found = {kind: {n for n in scipy.stats.__all__ if isinstance(getattr(scipy.stats, n), c)} for kind, c in kinds.items()}
    assert found["continuous"] == set(CONTINUOUS)
    assert found["discrete"] - {"poisson_binom"} == set(DISCRETE)
    assert inspect.getdoc(stats.norm) == inspect.getdoc(scipy.stats.norm)
