"""wengert.scipy.optimize: SciPy's results with derivatives by autograd, and solutions that differentiate."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.optimize

import wengert as w
from scipy_checks import check_call
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
    with pytest.raises(NotImplementedError, match="losses linear, soft_l1"):
        optimize.least_squares(lambda p: decay(TIMES, *p) - data, [1.0, 1.0, 0.0], loss=lambda z: np.array([z, 1 + 0 * z, 0 * z]))


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


def differences(function, point, h=1e-4):
    """Derivatives of a function of arrays by central differences of order 4: the shape of its result, then that of the point."""
    point = np.asarray(point, float)
    found = []
    for i in range(point.size):
        e = np.zeros(point.size)
        e[i] = h
        e = e.reshape(point.shape)
        near, far = [function(point + k * e) - function(point - k * e) for k in (1, 2)]
        found.append((8 * near - far) / (12 * h))
    return np.stack(found, -1).reshape(np.shape(found[0]) + point.shape)


TIGHT = {"xtol": 1e-15, "gtol": 1e-15, "ftol": 1e-15}


@pytest.mark.parametrize("loss", ["soft_l1", "huber", "cauchy", "arctan"])
def test_robust_losses_and_bounds_of_fits(loss):
    outlier = DATA + 0.5 * (np.arange(12) == 4)

    def fit(m, y, low):
        return m.least_squares(lambda p: decay(TIMES, *p) - y, [1.0, 1.2, 0.8], bounds=([0.0, 0.0, low], [9.0, 9.0, 9.0]), loss=loss, f_scale=0.1, **TIGHT)

    data, low = w.tensor(outlier, requires_grad=True), 0.6
    found, theirs = fit(optimize, data, low), fit(scipy.optimize, outlier, low)
    np.testing.assert_allclose(found.x.detach().numpy(), theirs.x, rtol=1e-6)
    assert found.cost.item() == pytest.approx(theirs.cost, rel=1e-8) and theirs.active_mask[2] == -1
    expected = differences(lambda y: fit(scipy.optimize, y, low).x, outlier, 1e-3)
    for i in range(3):
        np.testing.assert_allclose(grad(found.x[i], data, retain_graph=True)[0].numpy(), expected[i], atol=2e-5)


def test_bounds_and_covariances_of_curve_fit():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(12, 12)) * 0.01 + 0.05 * np.eye(12)
    cov = root @ root.T

    def fit(m, y, s, high):
        return m.curve_fit(decay, TIMES, y, p0=[1.0, 1.0, 0.2], sigma=s, bounds=([0, 0, 0], [9.0, 9.0, high]), absolute_sigma=True, **TIGHT)

    data, sigma, high = w.tensor(DATA, requires_grad=True), w.tensor(cov, requires_grad=True), double(0.4)
    found, theirs = fit(optimize, data, sigma, 9.0), fit(scipy.optimize, DATA, cov, 9.0)
    for k in range(2):
        np.testing.assert_allclose(found[k].detach().numpy(), theirs[k], rtol=1e-4)
    for k, pick in [(0, 1), (1, (0, 1))]:
        expected = differences(lambda y, k=k, pick=pick: fit(scipy.optimize, y, cov, 9.0)[k][pick], DATA, 1e-3)
        np.testing.assert_allclose(grad(found[k][pick], data, retain_graph=True)[0].numpy(), expected, atol=1e-4 * np.abs(expected).max())
    direction = 1e-5 * np.eye(12) + 1e-5
    expected = (fit(scipy.optimize, DATA, cov + direction, 9.0)[0][1] - fit(scipy.optimize, DATA, cov - direction, 9.0)[0][1]) / 2
    assert float((grad(found[0][1], sigma)[0] * w.tensor(direction)).sum()) == pytest.approx(expected, rel=1e-3)
    found = fit(optimize, data, None, high)[0]
    np.testing.assert_allclose(found.detach().numpy(), fit(scipy.optimize, DATA, None, 0.4)[0], rtol=1e-5)
    expected = differences(lambda high: fit(scipy.optimize, DATA, None, high)[0], 0.4, 1e-3)
    np.testing.assert_allclose([grad(found[i], high, retain_graph=True)[0].item() for i in range(3)], expected, rtol=1e-5)


def project(m, method, target, radius, slope, **more):
    """The point of a disc that is nearest to a target, on a line."""
    disc = {"type": "ineq", "fun": lambda x: radius * radius - (x * x).sum()}
    line = {"type": "eq", "fun": lambda x: x[1] - slope * x[0]}
    return m.minimize(lambda x: ((x - target) ** 2).sum(), [0.3, 0.2], method=method, constraints=[disc, line], tol=1e-10, **more)


@pytest.mark.filterwarnings("ignore:delta_grad == 0.0")  # of SciPy: the line has no second derivative
@pytest.mark.parametrize("method", ["SLSQP", "trust-constr"])
def test_minima_under_constraints(method):
    """The line meets the circle at radius (1, slope) / sqrt(1 + slope^2)."""
    target, radius, slope = double(2.0, 1.0), double(1.0), double(0.5)
    found = project(optimize, method, target, radius, slope)
    exact = radius / (1 + slope * slope) ** 0.5 * w.stack([w.ones_like(slope), slope])
    accuracy = 1e-6 if method == "SLSQP" else 1e-4  # that of SciPy's solution
    np.testing.assert_allclose(found.x.detach().numpy(), exact.detach().numpy(), atol=accuracy)
    for i in range(2):
        firsts = [grad(x[i], (radius, slope), create_graph=True) for x in (found.x, exact)]
        for ours, expected in zip(*firsts):
            assert ours.item() == pytest.approx(expected.item(), abs=5 * accuracy)
            seconds = [grad(y, slope, retain_graph=True)[0] for y in (ours, expected)]
            assert seconds[0].item() == pytest.approx(seconds[1].item(), abs=20 * accuracy)
        assert float(grad(found.x[i], target, retain_graph=True)[0].abs().max()) < 1e-6
    value = ((exact - target) ** 2).sum()
    for x in (target, radius, slope):
        np.testing.assert_allclose(grad(found.fun, x, retain_graph=True)[0].numpy(), grad(value, x, retain_graph=True)[0].numpy(), atol=10 * accuracy)


def test_constraints_that_do_not_hold_the_minimum_do_not_count():
    k = double(0.3)
    inside = optimize.minimize(lambda x: ((x - k) ** 2).sum(), [0.0, 0.0], constraints={"type": "ineq", "fun": lambda x: 1 - (x * x).sum()})
    np.testing.assert_allclose([grad(inside.x[i], k, retain_graph=True)[0].item() for i in range(2)], [1.0, 1.0], rtol=1e-8)
    with forward_ad.dual_level():
        r = forward_ad.make_dual(w.tensor(1.0).double(), w.tensor(1.0).double())
        found = project(optimize, "SLSQP", w.tensor([2.0, 1.0]), r, 0.5)
        np.testing.assert_allclose(forward_ad.unpack_dual(found.x).tangent.numpy(), np.array([1, 0.5]) / np.sqrt(1.25), atol=1e-6)


def test_bounds_and_linear_constraints_may_hold_tensors():
    def run(m, low, total, k):
        sum_to = scipy.optimize.NonlinearConstraint(lambda x: x.sum() - total, 0, 0)
        linear = scipy.optimize.LinearConstraint([[1.0, -1.0, 0.0]], -np.inf, 0.5)
        return m.minimize(lambda x: (x[0] - 2) ** 2 + k * x[1] ** 2 + x[2] ** 2, [0.5, 0.3, 0.3], bounds=[(0, None), (0, 2), (low, 2)],
                          constraints=[sum_to, linear], tol=1e-12)  # fmt: skip

    point, inputs = np.array([0.7, 2.0, 3.0]), double(0.7, 2.0, 3.0)
    for at in (point, point - [0.4, 0, 0]):  # the bound holds the first minimum alone
        inputs = w.tensor(at, requires_grad=True)
        found = run(optimize, *inputs)
        expected = differences(lambda p: run(scipy.optimize, *p).x, at, 1e-2)
        for i in range(3):
            np.testing.assert_allclose(grad(found.x[i], inputs, retain_graph=True)[0].numpy(), expected[i], atol=1e-4)
    low, total = double(0.25), double(1.0)
    problem = lambda low: optimize.minimize(lambda x: (x[0] - 2) ** 2 + x[1] ** 2, [1.0, 1.0], bounds=[(0, 1.5), (low, 2)])  # noqa: E731
    found = problem(low)
    assert [grad(found.x[i], low, retain_graph=True, allow_unused=True, materialize_grads=True)[0].item() for i in range(2)] == [0.0, 1.0]
    assert grad(found.fun, low)[0].item() == pytest.approx(0.5)
    scalar = optimize.minimize_scalar(lambda x: (x - 2) ** 2, bounds=(0, total), method="bounded", options={"xatol": 1e-10})
    assert grad(scalar.fun, total)[0].item() == pytest.approx(-2.0, rel=1e-6)


SEARCHES = [
    ("fmin", ([0.5],), {"disp": False, "xtol": 1e-10, "ftol": 1e-12}), ("fmin_powell", ([0.5],), {"disp": False, "xtol": 1e-10, "ftol": 1e-12}),
    ("brent", (), {"tol": 1e-12}), ("golden", (), {"tol": 1e-12}), ("fminbound", (0.0, 4.0), {"xtol": 1e-10}), ("brute", (((0.0, 4.0),),), {}),
    ("basinhopping", ([0.5],), {"niter": 2, "rng": 1}), ("differential_evolution", ([(0.0, 4.0)],), {"rng": 1, "tol": 1e-10}),
    ("shgo", ([(0.0, 4.0)],), {}), ("dual_annealing", ([(0.0, 4.0)],), {"rng": 1, "maxiter": 20}), ("direct", ([(0.0, 4.0)],), {}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "where", "options"), SEARCHES)
def test_searches(name, where, options):
    """The minimum of (x - k)^2 + x^4 / 4 solves x^3 + 2 x = 2 k."""

    def objective(x, k):
        return ((x - k) ** 2 + x**4 / 4).sum()

    k = double(1.5)
    args = {"minimizer_kwargs": {"args": (k,)}} if name == "basinhopping" else {"args": (k,)}
    found = getattr(optimize, name)(objective, *where, **args, **options)
    found = found.x if hasattr(found, "x") else found
    x = found.detach().item()
    assert x == pytest.approx(1.0, abs=1e-3)
    assert grad(found.sum(), k)[0].item() == pytest.approx(2 / (3 * x * x + 2), rel=1e-6)
    plain = {"minimizer_kwargs": {"args": (1.5,)}} if name == "basinhopping" else {"args": (1.5,)}
    theirs = getattr(scipy.optimize, name)(lambda x, k: np.sum(objective(np.asarray(x), k)), *where, **plain, **options)
    assert x == pytest.approx(np.asarray(getattr(theirs, "x", theirs)).item(), abs=1e-6)


A = np.random.default_rng(1).normal(size=(6, 4))
B = A @ np.array([0.7, -0.4, 0.25, 0.1]) + 0.1


def test_least_squares_with_bounds():
    theirs = scipy.optimize.nnls(A, B)
    assert 0 < np.count_nonzero(theirs[0]) < 4
    check_call("optimize", "nnls", lambda f, a, b: f(a, b), A, B, step=1e-3, rtol=1e-6)
    check_call("optimize", "lsq_linear", lambda f, a, b: f(a, b, (-0.2, 0.4)).x, A, B, step=1e-3, rtol=1e-6, value_rtol=1e-8)
    low = double(-0.2)
    found = optimize.lsq_linear(A, B, (low, 0.4))
    at = lambda low: scipy.optimize.lsq_linear(A, B, (low, 0.4)).x  # noqa: E731
    np.testing.assert_allclose([grad(found.x[i], low, retain_graph=True)[0].item() for i in range(4)], differences(at, -0.2), atol=1e-7)
    assert found.cost.item() == pytest.approx(scipy.optimize.lsq_linear(A, B, (-0.2, 0.4)).cost)


def test_linear_programs():
    c, rows, right = np.array([-1.0, -2.0, 0.5]), np.array([[1.0, 1.0, 0.3], [1.0, -0.5, 0.1]]), np.array([4.0, 3.0])
    equal = (np.array([[0.2, 0.1, 1.0]]), np.array([1.5]))

    def run(linprog, *arrays):
        found = linprog(*arrays, bounds=[(0, 3), (0.5, None), (None, None)])
        return found.x, found.fun, found.slack

    check_call("optimize", "linprog", run, c, rows, right, *equal, step=1e-3)
    high = double(3.0)
    assert grad(optimize.linprog([-2.0, -1.0], [[1.0, 1.0]], [4.0], bounds=[(0, high), (0, None)]).fun, high)[0].item() == pytest.approx(-1.0)
    cost = w.tensor([-1.0, -1.0], dtype=w.float64, requires_grad=True)
    whole = optimize.linprog(cost, [[2.0, 2.0]], [5.0], integrality=[1, 0])
    assert grad(whole.fun, cost)[0].tolist() == pytest.approx(whole.x.tolist())
    with pytest.raises(NotImplementedError, match="vertex"):
        optimize.linprog([0.0, 0.0], w.tensor([[1.0, 1.0]], requires_grad=True), [4.0], bounds=[(None, None)] * 2)
    assert optimize.linprog([1.0], w.tensor([[1.0]], requires_grad=True), [-1.0]).status == 2


def test_isotonic_regression():
    y, weights = np.array([1.0, 3.0, 2.0, 4.0, 3.5, 3.4]), np.array([1.0, 2.0, 0.5, 1.0, 1.0, 3.0])
    check_call("optimize", "isotonic_regression", lambda f, y, v: f(y, weights=v).x, y, weights)
    check_call("optimize", "isotonic_regression", lambda f, y: f(y, increasing=False).x, y)
