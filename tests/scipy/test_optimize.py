"""wengert.scipy.optimize: SciPy's results with derivatives by autograd, and solutions that differentiate."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.optimize

import wengert as w
from wengert.autograd import forward_ad, grad, gradcheck, gradgradcheck
from wengert.scipy import optimize

RNG = np.random.default_rng(7)


def double(*values):
    return w.tensor(values if len(values) > 1 else values[0], dtype=w.float64, requires_grad=True)


def rosen(x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


START = np.array([-1.2, 1.0, 0.7])


@pytest.mark.parametrize("method", [None, "BFGS", "CG", "L-BFGS-B", "TNC", "SLSQP", "Newton-CG", "trust-ncg", "trust-krylov", "dogleg",
                                    "trust-exact", "trust-constr", "Nelder-Mead", "Powell"])  # fmt: skip
def test_minimize_supplies_derivatives(method):
    """The results are those that SciPy has with derivatives that are written by hand."""
    x0 = np.array([0.8, 0.9, 1.2]) if method in ("dogleg", "TNC") else START
    given = {} if method in ("Nelder-Mead", "Powell") else {"jac": scipy.optimize.rosen_der}
    if method in ("dogleg", "trust-exact"):
        given["hess"] = scipy.optimize.rosen_hess
    elif method in ("Newton-CG", "trust-ncg", "trust-krylov", "trust-constr"):
        given["hessp"] = scipy.optimize.rosen_hess_prod
    theirs = scipy.optimize.minimize(scipy.optimize.rosen, x0, method=method, **given)
    ours = optimize.minimize(rosen, x0, method=method)
    assert isinstance(ours, scipy.optimize.OptimizeResult) and type(ours.x) is np.ndarray and ours.success == theirs.success
    np.testing.assert_allclose(ours.x, theirs.x, atol=1e-4)
    assert ours.nfev == pytest.approx(theirs.nfev, abs=3) or method == "TNC"
    assert isinstance(ours.fun, float)


def test_derivatives_of_the_user_are_used():
    calls = []

    def slope(x):
        calls.append(x)
        return scipy.optimize.rosen_der(x)

    assert optimize.minimize(rosen, START, jac=slope).success and calls
    assert optimize.minimize(lambda x: (scipy.optimize.rosen(x), scipy.optimize.rosen_der(x)), START, jac=True).success
    assert optimize.minimize(rosen, START, jac="2-point", method="BFGS").nfev > 100


def test_functions_of_arrays_run_as_in_scipy():
    for function in (lambda x: math.sin(x[0]) + x[1] ** 2, lambda x: float(np.asarray(x)[0] ** 2), lambda x: sum(float(v) ** 2 for v in x)):
        ours, theirs = [m.minimize(function, [-1.0, 0.3]) for m in (optimize, scipy.optimize)]
        assert np.array_equal(ours.x, theirs.x) and ours.nfev == theirs.nfev
    k = double(2.0)
    with pytest.raises(RuntimeError, match="loses the gradient"):
        optimize.minimize(lambda x, k: math.sin(x[0]) * k, [-1.0], args=(k,))


def test_bounds_and_constraints():
    bounds = [(0.0, 0.5), (None, 0.2), (-1, 1)]
    theirs = scipy.optimize.minimize(scipy.optimize.rosen, START, jac=scipy.optimize.rosen_der, bounds=bounds)
    np.testing.assert_allclose(optimize.minimize(rosen, START, bounds=bounds).x, theirs.x, atol=1e-6)
    radius = double(1.0).detach()
    circle = {"type": "ineq", "fun": lambda x, r: r - (x * x).sum(), "args": (radius,)}
    expected = {"type": "ineq", "fun": lambda x: 1 - (x * x).sum()}
    theirs = scipy.optimize.minimize(scipy.optimize.rosen, START, constraints=[expected], method="SLSQP")
    np.testing.assert_allclose(optimize.minimize(rosen, START, constraints=[circle]).x, theirs.x, atol=1e-4)
    disc = scipy.optimize.NonlinearConstraint(lambda x: w.sum(w.as_tensor(x) ** 2), -np.inf, 1.0)
    found = optimize.minimize(rosen, START, constraints=disc, method="trust-constr")
    np.testing.assert_allclose(found.x, theirs.x, atol=1e-3)
    with pytest.raises(NotImplementedError, match="constraints"):
        optimize.minimize(lambda x, k: rosen(x) * k, START, args=(double(1.0),), constraints=[expected])
    with pytest.raises(NotImplementedError, match="constraints"):
        optimize.minimize(rosen, START, constraints=[{**circle, "args": (double(1.0),)}])


def test_callbacks_nan_and_shapes():
    seen = []
    optimize.minimize(rosen, START, callback=lambda intermediate_result: seen.append(intermediate_result.x))
    assert seen and all(type(x) is np.ndarray for x in seen)
    assert np.isnan(optimize.minimize(lambda x: (x * np.nan).sum(), START).fun)
    with pytest.raises((ValueError, TypeError), match="scalar"):
        optimize.minimize(lambda x: x * 2, START)
    with pytest.raises(ValueError, match="Unknown solver"):
        optimize.minimize(rosen, START, method="steepest")


def minimum(a, b):
    squares = a * a
    return optimize.minimize(lambda x, b: ((x - b) ** 4).sum() + (squares * x * x).sum() + (x[0] * x[1]) ** 2, [0.5, 0.5], args=(b,), tol=1e-13,
                             method="trust-exact").x  # fmt: skip


def test_minima_differentiate():
    a, b = double(1.1, 0.7), double(1.0, 2.0)
    assert gradcheck(minimum, (a, b), check_forward_ad=True, eps=1e-3, atol=1e-4) and gradgradcheck(minimum, (a, b), eps=1e-3, atol=1e-3)
    with forward_ad.dual_level():
        tangent = forward_ad.unpack_dual(minimum(forward_ad.make_dual(a, w.ones(2).double()), b)).tangent
    assert float(tangent.sum().detach()) == pytest.approx(float(grad(minimum(a, b).sum(), a)[0].sum()), rel=1e-8)


def test_minima_at_bounds_and_the_envelope():
    k = double(3.0)
    found = optimize.minimize(lambda x: ((x - k) ** 2).sum() + x[1] ** 2, [0.5, 0.5], bounds=[(0, 1), (0, 5)])
    assert [float(g) for g in w.stack([grad(found.x[i], k, retain_graph=True)[0] for i in range(2)])] == pytest.approx([0.0, 0.5], abs=1e-6)
    assert float(grad(found.fun, k)[0]) == pytest.approx(2 * (3 - 1) + 2 * (3 - 1.5), abs=1e-5)
    found = optimize.minimize_scalar(lambda x: (x - k) ** 2 + x**4)
    assert gradcheck(lambda k: optimize.minimize_scalar(lambda x: (x - k) ** 2 + x**4, tol=1e-12).x, (k,), atol=1e-4)
    assert float(found.x.detach()) == pytest.approx(scipy.optimize.minimize_scalar(lambda x: (x - 3.0) ** 2 + x**4).x)


def system(x, a, b):
    return [x[0] ** 2 + a * x[1] - 3, x[0] * x[1] - b]


@pytest.mark.parametrize("method", ["hybr", "lm", "broyden1", "krylov", "df-sane"])
def test_roots_of_systems(method):
    theirs = scipy.optimize.root(system, [1.0, 1.0], (0.7, 0.5), method=method)
    ours = optimize.root(system, [1.0, 1.0], (0.7, 0.5), method=method)
    assert type(ours.x) is np.ndarray and ours.success == theirs.success
    np.testing.assert_allclose(ours.x, theirs.x, atol=1e-6)
    a, b = double(0.7), double(0.5)
    solve = lambda a, b: optimize.root(system, [1.6, 0.3], (a, b), method=method, tol=1e-12).x  # noqa: E731
    assert gradcheck(solve, (a, b), atol=1e-4, rtol=1e-3)


def test_fsolve_and_fixed_points():
    a, b = double(0.7), double(0.5)
    assert gradcheck(lambda a, b: optimize.fsolve(system, [1.0, 1.0], args=(a, b), xtol=1e-13), (a, b), check_forward_ad=True)
    assert gradgradcheck(lambda a, b: optimize.fsolve(system, [1.0, 1.0], args=(a, b), xtol=1e-13), (a, b), atol=1e-4)
    found, info, status, _ = optimize.fsolve(system, [1.0, 1.0], (0.7, 0.5), full_output=True)
    theirs = scipy.optimize.fsolve(system, [1.0, 1.0], (0.7, 0.5), full_output=True)
    np.testing.assert_allclose(found, theirs[0], rtol=1e-8)
    assert status == theirs[2] and info["nfev"] <= theirs[1]["nfev"]
    assert gradcheck(lambda a: optimize.fixed_point(lambda x, a: np.cos(a * x), 0.5, args=(a,), xtol=1e-13), (a,), check_forward_ad=True)
    with pytest.raises(TypeError, match="mismatch"):
        optimize.fsolve(lambda x: x[:1], [1.0, 2.0])


@pytest.mark.parametrize("name", ["brentq", "brenth", "bisect", "ridder", "toms748", "newton"])
def test_roots_of_one_equation(name):
    where = (0.1, 4.0) if name != "newton" else (1.0,)
    cubic = lambda x, k: x**3 - k * x - 1  # noqa: E731
    theirs = getattr(scipy.optimize, name)(cubic, *where, args=(2.0,))
    assert getattr(optimize, name)(cubic, *where, args=(2.0,)) == pytest.approx(theirs, rel=1e-12)
    k = double(2.0)
    found = getattr(optimize, name)(cubic, *where, args=(k,))
    x = float(found.detach())
    assert x == pytest.approx(theirs, rel=1e-12)
    assert float(grad(found, k)[0]) == pytest.approx(x / (3 * x * x - 2), rel=1e-9)


def test_root_scalar():
    k = double(2.0)
    for method in ("newton", "halley", "brentq", "secant"):
        where = {"bracket": (0.1, 4.0)} if method == "brentq" else {"x0": 1.5, "x1": 1.7} if method == "secant" else {"x0": 1.5}
        found = optimize.root_scalar(lambda x, k: x**3 - k * x - 1, args=(k,), method=method, **where)
        assert found.converged and float(grad(found.root, k)[0]) == pytest.approx(0.2763932, rel=1e-5)
    with pytest.raises(ValueError, match="different signs"):
        optimize.brentq(lambda x: x * x + k, -1, 1)


TIMES = np.linspace(0, 2, 12)
DATA = 2.0 * np.exp(-1.3 * TIMES) + 0.5 + 0.05 * RNG.normal(size=12)


def decay(t, a, b, c):
    return a * np.exp(-b * t) + c


def test_least_squares():
    for method in ("trf", "lm", "dogbox"):
        theirs = scipy.optimize.least_squares(lambda p: decay(TIMES, *p) - DATA, [1.0, 1.0, 0.0], method=method)
        ours = optimize.least_squares(lambda p: decay(TIMES, *p) - DATA, [1.0, 1.0, 0.0], method=method)
        np.testing.assert_allclose(ours.x, theirs.x, rtol=1e-5)
        assert type(ours.x) is np.ndarray and type(ours.jac) is np.ndarray
    data = w.tensor(DATA, requires_grad=True)
    fit = lambda y: optimize.least_squares(lambda p: decay(TIMES, *p) - y, [1.0, 1.0, 0.0], xtol=1e-15, gtol=1e-15, ftol=1e-15).x  # noqa: E731
    assert gradcheck(fit, (data,), atol=1e-4)
    with pytest.raises(NotImplementedError, match="linear"):
        optimize.least_squares(lambda p: decay(TIMES, *p) - data, [1.0, 1.0, 0.0], "2-point", (-9, 9), "trf", 1e-8, 1e-8, 1e-8, 1.0, "huber")
    with pytest.raises(NotImplementedError, match="linear"):
        optimize.least_squares(lambda p: decay(TIMES, *p) - data, [1.0, 1.0, 0.0], loss="soft_l1")


def test_curve_fit():
    theirs, ours = [m.curve_fit(decay, TIMES, DATA) for m in (scipy.optimize, optimize)]
    np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-6)
    np.testing.assert_allclose(ours[1], theirs[1], rtol=1e-4)
    data, sigma = w.tensor(DATA, requires_grad=True), w.tensor(np.linspace(0.04, 0.06, 12), requires_grad=True)
    for absolute in (False, True):
        fit = lambda y, s, absolute=absolute: optimize.curve_fit(decay, TIMES, y, sigma=s, absolute_sigma=absolute, ftol=1e-14, xtol=1e-14)  # noqa: E731
        assert gradcheck(fit, (data, sigma), eps=1e-4, atol=1e-4)
        expected = scipy.optimize.curve_fit(decay, TIMES, DATA, sigma=sigma.detach().numpy(), absolute_sigma=absolute)
        np.testing.assert_allclose(fit(data, sigma)[1].detach().numpy(), expected[1], rtol=1e-4)


def test_older_functions():
    for name in ("fmin_bfgs", "fmin_cg"):
        ours = getattr(optimize, name)(rosen, START, disp=False)
        np.testing.assert_allclose(ours, np.ones(3), atol=1e-4)
    with pytest.raises(NotImplementedError, match="use minimize"):
        optimize.fmin_bfgs(lambda x, k: k * rosen(x), START, args=(double(1.0),))
