"""wengert.scipy.optimize: SciPy's older functions, integer programs and assignments."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize

import wengert as w
from scipy_checks import check_call
from wengert.autograd import gradcheck, gradgradcheck
from wengert.scipy import optimize

START = np.array([0.4, -0.3])
QUIET = {"fmin_bfgs": {"disp": 0, "gtol": 1e-9}, "fmin_cg": {"disp": 0, "gtol": 1e-9}, "fmin_ncg": {"disp": 0, "avextol": 1e-12},
         "fmin_l_bfgs_b": {"factr": 0.1, "pgtol": 1e-10}, "fmin_tnc": {"messages": 0, "ftol": 1e-15, "pgtol": 1e-10},
         "fmin_slsqp": {"iprint": 0, "acc": 1e-14}}  # fmt: skip


def double(*values):
    return w.tensor(values if len(values) > 1 else values[0], dtype=w.float64, requires_grad=True)


def objective(x, a):
    return (x[0] - a[0]) ** 2 + 0.5 * (x[1] + x[0] * a[1]) ** 2 + 0.1 * x[1] ** 4


def first(found):
    return found[0] if isinstance(found, tuple) else found


@pytest.mark.parametrize("name", list(QUIET))
def test_older_minima(name):
    """The minimum differentiates as that of minimize, to second order, and the gradient is autograd's."""
    run = lambda a: first(getattr(optimize, name)(objective, START, args=(a,), **QUIET[name]))  # noqa: E731
    a = double(0.7, 1.3)
    expected = scipy.optimize.minimize(lambda x: float(objective(x, a.detach().numpy())), START, tol=1e-12).x
    np.testing.assert_allclose(run(a).detach().numpy(), expected, atol=1e-5)
    assert gradcheck(run, [a], eps=1e-4, atol=1e-5, check_forward_ad=True)
    assert gradgradcheck(run, [a], eps=1e-4, atol=1e-3)
    plain = first(getattr(optimize, name)(lambda x: objective(x, [0.7, 1.3]), START, **QUIET[name]))
    assert isinstance(plain, np.ndarray)
    np.testing.assert_allclose(plain, expected, atol=1e-5)


def test_older_minima_in_bounds_and_under_constraints():
    for name in ("fmin_l_bfgs_b", "fmin_tnc"):
        low = double(0.9)
        found = getattr(optimize, name)(objective, START, args=(np.array([0.7, 1.3]),), bounds=[(low, None), (None, 3.0)], **QUIET[name])
        found[0].sum().backward()
        assert float(found[0][0].detach()) == pytest.approx(0.9)
        step = 1e-4
        ends = [scipy.optimize.minimize(lambda y, x=x: float(objective([x, y[0]], [0.7, 1.3])), [0.0], tol=1e-12).x[0] for x in (0.9 + step, 0.9 - step)]
        assert float(low.grad) == pytest.approx(1 + (ends[0] - ends[1]) / (2 * step), rel=1e-3)

    def on_circle(r, a):
        return optimize.fmin_slsqp(objective, [0.5, 0.5], eqcons=[lambda x, a: x[0] ** 2 + x[1] ** 2 - r], args=(a,), **QUIET["fmin_slsqp"])

    assert gradcheck(on_circle, [double(0.3), double(0.7, 1.3)], eps=1e-4, atol=1e-4)
    outside = lambda r: optimize.fmin_slsqp(lambda x: objective(x, [0.7, 1.3]), [1.0, 1.0], f_ieqcons=lambda x: w.stack([x[0] - r, x[1] + 5.0]), **QUIET["fmin_slsqp"])  # noqa: E731
    assert gradcheck(outside, [double(0.9)], eps=1e-4, atol=1e-4)
    held = lambda r: optimize.fmin_cobyla(lambda x: objective(x, [0.7, 1.3]), [1.0, 1.0], [lambda x: x[0] - r], rhoend=1e-9)  # noqa: E731
    r = double(0.9)
    x = held(r)
    np.testing.assert_allclose(x.detach().numpy(), outside(r).detach().numpy(), atol=1e-3)
    assert float(w.autograd.grad(x[1], r)[0]) == pytest.approx(-1.3 / (1 + 1.2 * float(x[1].detach()) ** 2), rel=1e-3)


def test_functions_with_their_own_gradient():
    a = np.array([0.7, 1.3])

    def both(x):
        leaf = w.tensor(x, requires_grad=True)
        value = objective(leaf, a)
        value.backward()
        return float(value.detach()), leaf.grad.numpy()

    found, value, _ = optimize.fmin_l_bfgs_b(both, START)
    assert isinstance(found, np.ndarray) and value == pytest.approx(float(objective(found, a)))
    k = double(1.0)
    with pytest.raises(NotImplementedError, match="jac=True"):
        optimize.fmin_l_bfgs_b(lambda x: (k * objective(x, a), x), START)
    assert len(optimize.fmin_bfgs(lambda x: objective(x, a), START, full_output=True, disp=0)) == 7


def test_older_least_squares():
    t = np.linspace(0, 2, 9)

    def fit(y, **options):
        return optimize.leastsq(lambda p: p[0] * w.exp(-p[1] * w.tensor(t)) - y, [1.0, 1.0], ftol=1e-14, xtol=1e-14, **options)[0]

    y = double(*(2.0 * np.exp(-0.7 * t) + 0.1 * np.cos(5 * t)))
    expected = scipy.optimize.leastsq(lambda p: p[0] * np.exp(-p[1] * t) - y.detach().numpy(), [1.0, 1.0])[0]
    for options in ({}, {"col_deriv": True}):
        np.testing.assert_allclose(fit(y, **options).detach().numpy(), expected, rtol=1e-6)
        assert gradcheck(lambda y, o=options: fit(y, **o), [y], eps=1e-4, atol=1e-4)
    assert gradgradcheck(fit, [y], eps=1e-4, atol=1e-3)
    assert isinstance(optimize.leastsq(lambda p: p - 1.0, [0.0, 0.0])[0], np.ndarray)


@pytest.mark.parametrize("name", ["anderson", "broyden1", "broyden2", "diagbroyden", "excitingmixing", "linearmixing", "newton_krylov"])
def test_solvers_of_many_equations(name):
    def root(a):
        return getattr(optimize, name)(lambda x: 0.3 * w.cos(a * x) - x, np.array([[0.2, 0.4]]), f_tol=1e-10, maxiter=500)

    a = double(0.9, 1.4)
    assert gradcheck(root, [a], eps=1e-4, atol=1e-5) and gradgradcheck(root, [a], eps=1e-4, atol=1e-4)
    x = root(a).detach().numpy()
    np.testing.assert_allclose(x, 0.3 * np.cos(np.array([0.9, 1.4]) * x), atol=1e-9)


def test_integer_programs():
    A, ub = np.array([[2.0, 1.0, 0.5], [1.0, 3.0, 0.2]]), np.array([7.3, 8.1])

    def solve(f, c, A, ub):
        return (lambda r: (r.x, r.fun))(f(c, integrality=[1, 1, 0], bounds=(0, 4), constraints=(A, -np.inf, ub)))

    check_call("optimize", "milp", solve, np.array([-3.0, -4.0, -0.7]), A, ub, step=1e-4)
    constraints = [scipy.optimize.LinearConstraint(A[:1], ub=ub[0]), (A[1:], ub[1:], ub[1:])]
    check_call("optimize", "milp", lambda f, c: f(c, constraints=constraints, integrality=[1, 0, 0]).fun, np.array([3.0, 4.0, 0.7]), step=1e-4)
    check_call("optimize", "milp", lambda f, c: f(c, bounds=scipy.optimize.Bounds(0.5, 2.0)).x * c[0], np.array([3.0, 4.0, -0.7]), step=1e-4)


def test_assignments():
    rng = np.random.default_rng(3)
    A, B = rng.uniform(size=(2, 5, 5))
    for method in ("faq", "2opt"):
        check_call("optimize", "quadratic_assignment", lambda f, A, B, m=method: f(A, B, m, {"rng": np.random.default_rng(1)}).fun, A, B, step=1e-4)
    rows, columns = optimize.linear_sum_assignment(double(A))
    assert np.array_equal(columns, scipy.optimize.linear_sum_assignment(A)[1]) and rows.tolist() == list(range(5))


def test_the_function_of_rosenbrock_and_differences():
    x, p = np.array([0.3, -0.7, 1.2, 0.4]), np.array([0.2, 1.3, -0.4, 0.9])
    for name in ("rosen", "rosen_der", "rosen_hess"):
        check_call("optimize", name, lambda f, x: f(x), x, step=1e-3)
    check_call("optimize", "rosen_hess_prod", lambda f, x, p: f(x, p), x, p, step=1e-3)
    check_call("optimize", "rosen", lambda f, x: f(x), np.stack([x, p], 1), step=1e-3)

    def slopes(x, k):
        return optimize.approx_fprime(x, lambda x, k: w.stack([(k * x * x).sum(), w.sin(x[0])]), [1e-6, 1e-5], k)

    point, k = double(0.3, 0.7), double(1.4)
    expected = scipy.optimize.approx_fprime(np.array([0.3, 0.7]), lambda x: np.array([1.4 * x @ x, np.sin(x[0])]), [1e-6, 1e-5])
    np.testing.assert_allclose(slopes(point, k).detach().numpy(), expected, atol=1e-8)
    np.testing.assert_allclose(w.autograd.grad(slopes(point, k)[0].sum(), k)[0].item(), 2 * (0.3 + 0.7), atol=1e-4)
    assert np.array_equal(optimize.approx_fprime(x, scipy.optimize.rosen), scipy.optimize.approx_fprime(x, scipy.optimize.rosen))
    assert optimize.check_grad(optimize.rosen, optimize.rosen_der, x) < 1e-4
    assert optimize.check_grad(optimize.rosen, lambda x: 0 * x, x) > 1
