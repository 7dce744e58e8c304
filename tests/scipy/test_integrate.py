"""wengert.scipy.integrate: integrals of samples and functions, initial value problems, and their derivatives."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.integrate
import scipy.stats

import wengert as w
from scipy_checks import check_call
from wengert.autograd import forward_ad, grad, gradcheck, gradgradcheck
from wengert.scipy import integrate

RNG = np.random.default_rng(5)


def double(*values):
    return w.tensor(values if len(values) > 1 else values[0], dtype=w.float64, requires_grad=True)


def number(x):
    return w.as_tensor(x).detach().numpy()


@pytest.mark.parametrize("name", ["trapezoid", "simpson", "cumulative_trapezoid", "cumulative_simpson"])
@pytest.mark.parametrize("size", [2, 3, 6, 7])
def test_samples(name, size):
    x, y = np.sort(RNG.normal(size=size)), RNG.normal(size=(2, size, 2))
    check_call("integrate", name, lambda f, y, x: f(y, x=x, axis=1), y, x, step=1e-4, rtol=1e-4)
    check_call("integrate", name, lambda f, y, dx: f(y, dx=dx, axis=-2), y, np.array(0.3))
    if name.startswith("cumulative"):
        check_call("integrate", name, lambda f, y: f(y, initial=0, axis=1), y)


def test_romberg():
    check_call("integrate", "romb", lambda f, y, dx: f(y, dx, axis=0), RNG.normal(size=(9, 2)), np.array(0.3))
    with pytest.raises(ValueError, match="power of 2"):
        integrate.romb(double(1.0, 2.0, 3.0, 4.0))


def test_integrals_in_limits_and_parameters():
    def by_args(a, b, k):
        return integrate.quad(lambda x, k: w.exp(-k[0] * x) * w.cos(k[1] * x), a, b, args=(k,))[0]

    def closed_over(a, b, k):
        squares = k * k  # the integrand depends on k and on what was computed from it
        return integrate.quad(lambda x: w.exp(-squares[0] * x) * w.cos(k[1] * x), a, b)[0]

    inputs = double(0.2), double(1.7), double(0.9, 1.4)
    for function in (by_args, closed_over):
        assert gradcheck(function, inputs, check_forward_ad=True) and gradgradcheck(function, inputs, atol=1e-4)
        assert gradcheck(lambda *x, f=function: grad(f(*x), x, create_graph=True), inputs, check_forward_ad=True)
    expected = scipy.integrate.quad(lambda x: np.exp(-0.9 * x) * np.cos(1.4 * x), 0.2, 1.7)
    found = integrate.quad(lambda x, k: w.exp(-k[0] * x) * w.cos(k[1] * x), *inputs[:2], args=(inputs[2],))
    assert float(found[0].detach()) == pytest.approx(expected[0], rel=1e-14) and len(found) == 2


def test_infinite_limits_weights_and_branches():
    k = double(1.3)
    found = integrate.quad(lambda x: w.exp(-k * x * x), -np.inf, np.inf)[0]
    assert float(grad(found, k)[0]) == pytest.approx(-0.5 * np.sqrt(np.pi) * 1.3**-1.5, rel=1e-8)
    found = integrate.quad(lambda x: k * w.exp(-k * x), 0, 2, weight="cos", wvar=3.0)[0]
    at = lambda k: scipy.integrate.quad(lambda x: k * np.exp(-k * x), 0, 2, weight="cos", wvar=3.0)[0]  # noqa: E731
    assert float(grad(found, k)[0]) == pytest.approx((at(1.3 + 1e-5) - at(1.3 - 1e-5)) / 2e-5, rel=1e-6)
    a, b = double(2.0), double(3.0)
    found = integrate.quad(lambda x: a * x if x < 0.5 else b * x * x, 0, 1, points=[0.5])[0]
    assert [float(g) for g in grad(found, (a, b))] == pytest.approx([0.125, 7 / 24])
    found = integrate.quad(lambda x: k, 0.0, double(2.0))[0]
    assert float(grad(found, k)[0]) == pytest.approx(2.0)


def test_integrals_without_tensors_are_scipys():
    assert integrate.quad(np.exp, 0, 1) == scipy.integrate.quad(np.exp, 0, 1)
    assert integrate.quad_vec(lambda x: np.array([x, x * x]), 0, 1)[1] == scipy.integrate.quad_vec(lambda x: np.array([x, x * x]), 0, 1)[1]
    assert integrate.dblquad(lambda y, x: x * y, 0, 1, 0, lambda x: x)[0] == pytest.approx(1 / 8)
    assert integrate.fixed_quad(np.exp, 0, 1, n=4) == scipy.integrate.fixed_quad(np.exp, 0, 1, n=4)
    with pytest.raises(NotImplementedError, match="weight"):
        integrate.quad(np.exp, 0, double(1.0), weight="sin", wvar=1.0)


@pytest.mark.slow
def test_vector_valued_and_multiple_integrals():
    k, b = double(0.7, 1.9), double(1.5)
    assert gradcheck(lambda k, b: integrate.quad_vec(lambda x: w.sin(k * x), 0.1, b)[0], (k, b), check_forward_ad=True)
    assert gradgradcheck(lambda k, b: integrate.quad_vec(lambda x: w.sin(k * x), 0.1, b)[0], (k, b), atol=1e-4)
    assert gradcheck(lambda k, b: integrate.fixed_quad(lambda x: w.sin(k[0] * x) * k[1], 0.1, b)[0], (k, b), check_forward_ad=True)
    found = integrate.dblquad(lambda y, x: w.exp(-k[0] * x * y), 0, 1, 0, lambda x: b * x)[0]
    at = lambda k, b: scipy.integrate.dblquad(lambda y, x: np.exp(-k * x * y), 0, 1, 0, lambda x: b * x)[0]  # noqa: E731
    assert float(found.detach()) == pytest.approx(at(0.7, 1.5), rel=1e-9)
    of_k, of_b = grad(found, (k, b))
    assert float(of_k[0]) == pytest.approx((at(0.7 + 1e-4, 1.5) - at(0.7 - 1e-4, 1.5)) / 2e-4, rel=1e-5)
    assert float(of_b) == pytest.approx((at(0.7, 1.5 + 1e-4) - at(0.7, 1.5 - 1e-4)) / 2e-4, rel=1e-5)
    total = integrate.tplquad(lambda z, y, x: k[1] * x * y * z, 0, 1, 0, 1, 0, 1)[0]
    assert float(grad(total, k)[0][1]) == pytest.approx(1 / 8)


def lotka(t, y, p):
    return [p[0] * y[0] - p[1] * y[0] * y[1], p[2] * y[0] * y[1] - p[3] * y[1] + 0.1 * np.sin(t)]


START, RATES = np.array([1.0, 0.6]), np.array([1.5, 1.0, 0.7, 1.2])
TIGHT = {"rtol": 1e-11, "atol": 1e-12}


@pytest.mark.parametrize("method", ["RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA"])
def test_initial_value_problems(method):
    """The gradients agree with finite differences of solutions at a tight tolerance."""
    places = np.array([0.3, 0.9, 1.4])
    tolerances = {"rtol": 1e-6, "atol": 1e-8} if method in ("RK23", "BDF") else {"rtol": 1e-7, "atol": 1e-9}

    def at(t0, y0, p, t):
        return scipy.integrate.solve_ivp(lotka, (t0, 1.5), y0, "DOP853", t, args=(p,), **TIGHT).y

    point = [np.array(0.1), START, RATES, places]
    inputs = [w.tensor(x, requires_grad=True) for x in point]
    found = integrate.solve_ivp(lotka, (inputs[0], 1.5), inputs[1], method, inputs[3], args=(inputs[2],), **tolerances)
    theirs = scipy.integrate.solve_ivp(lotka, (0.1, 1.5), START, method, places, args=(RATES,), **tolerances)
    np.testing.assert_allclose(number(found.y), theirs.y, rtol=1e-14)
    assert found.status == 0 and found.message == theirs.message
    weights = RNG.normal(size=(2, 3))
    gradients = grad((found.y * w.tensor(weights)).sum(), inputs)
    for k, gradient in enumerate(gradients):
        direction, h = RNG.normal(size=point[k].shape), 1e-4
        moved = [[x + s * h * direction if i == k else x for i, x in enumerate(point)] for s in (1, -1)]
        expected = np.sum(weights * (at(*moved[0]) - at(*moved[1]))) / (2 * h)
        assert float((gradient * w.tensor(direction)).sum()) == pytest.approx(expected, rel=2e-4, abs=2e-5), (method, k)


def test_second_derivatives_and_tangents_of_solutions():
    rates = w.tensor(RATES, requires_grad=True)
    for method in ("RK45", "Radau"):
        def last(p, method=method):
            return integrate.solve_ivp(lambda t, y: lotka(t, y, p), (0, 0.5), START, method, rtol=1e-8, atol=1e-10).y[:, -1].sum()

        direction = w.tensor(RNG.normal(size=4))
        (first,) = grad(last(rates), rates, create_graph=True)
        (second,) = grad((first * direction).sum(), rates)
        with forward_ad.dual_level():
            tangent = forward_ad.unpack_dual(last(forward_ad.make_dual(rates.detach(), direction))).tangent
        assert float(tangent) == pytest.approx(float((first.detach() * direction).sum()), rel=1e-9)
        h = 1e-4
        moved = [number(grad(last(x), x)[0]) for x in (w.tensor(RATES + s * h * direction.numpy(), requires_grad=True) for s in (1, -1))]
        np.testing.assert_allclose(number(second), (moved[0] - moved[1]) / (2 * h), rtol=1e-4, atol=1e-5)


def test_stiff_problems():
    """y' = -k (y - cos t): the exact solution is known."""
    k = double(1000.0)
    t = w.linspace(0, 1, 5).double()
    found = integrate.odeint(lambda y, t: -k * (y - np.cos(t)), [0.5], t.numpy())

    def exact(k, t):
        a, b = k * k / (k * k + 1), k / (k * k + 1)
        return a * np.cos(t) + b * np.sin(t) + (0.5 - a) * np.exp(-k * t)

    np.testing.assert_allclose(number(found)[:, 0], exact(1000.0, t.numpy()), rtol=1e-6)
    expected = (exact(1001.0, 1.0) - exact(999.0, 1.0)) / 2
    assert float(grad(found[-1, 0], k)[0]) == pytest.approx(expected, rel=1e-3)


def test_odeint():
    def orbit(y, t, mu):
        r3 = (y[0] ** 2 + y[1] ** 2) ** 1.5
        return [y[2], y[3], -mu * y[0] / r3, -mu * y[1] / r3]

    y0, t = np.array([1.0, 0.0, 0.0, 1.1]), np.linspace(0, 5, 6)
    assert np.array_equal(integrate.odeint(orbit, y0, t, args=(1.0,)), scipy.integrate.odeint(orbit, y0, t, args=(1.0,)))
    start, mu = w.tensor(y0, requires_grad=True), double(1.0)
    found = integrate.odeint(orbit, start, t, args=(mu,))
    np.testing.assert_allclose(number(found), scipy.integrate.odeint(orbit, y0, t, args=(1.0,)), rtol=1e-13)
    of_start, of_mu = grad(found[-1, 0], (start, mu))
    at = lambda y0, mu: scipy.integrate.odeint(orbit, y0, t, args=(mu,), rtol=1e-12, atol=1e-12)[-1, 0]  # noqa: E731
    assert float(of_mu) == pytest.approx((at(y0, 1 + 1e-5) - at(y0, 1 - 1e-5)) / 2e-5, rel=1e-5)
    e = np.array([0, 0, 0, 1e-5])
    assert float(of_start[3]) == pytest.approx((at(y0 + e, 1.0) - at(y0 - e, 1.0)) / 2e-5, rel=1e-5)


def test_problems_without_tensors_are_scipys():
    ours, theirs = [m.solve_ivp(lambda t, y: -y, (0, 1), [1.0], dense_output=True) for m in (integrate, scipy.integrate)]
    assert np.array_equal(ours.y, theirs.y) and isinstance(ours.y, np.ndarray) and ours.sol is not None
    crossing = {"events": lambda t, y, level: y[0] - level, "args": (0.5,)}
    ours, theirs = [m.solve_ivp(lambda t, y, _: -y, (0, 1), [1.0], **crossing) for m in (integrate, scipy.integrate)]
    assert np.array_equal(ours.t_events[0], theirs.t_events[0]) and isinstance(ours.t_events[0], np.ndarray)
    with pytest.raises(NotImplementedError, match="methods with a name"):
        integrate.solve_ivp(lambda t, y: -y, (0, 1), double([1.0, 2.0]), method=scipy.integrate.RK45)
    with pytest.raises(ValueError, match="method"):
        integrate.solve_ivp(lambda t, y: -y, (0, 1), double([1.0, 2.0]), method="RK46")


def throw(t, y, g):
    return [y[1], -g + 0 * y[0]]


def landed(t, y, g):
    return y[0]


def top(t, y, g):
    return y[1]


landed.terminal, landed.direction = True, -1


@pytest.mark.parametrize("method", ["RK45", "DOP853", "Radau"])
def test_times_of_events(method):
    """A ball that is thrown up from 0.5 with speed v falls after (v + sqrt(v^2 + g)) / g."""
    g, v = double(9.8), double(3.0)

    def run(g, v, **more):
        return integrate.solve_ivp(throw, (0, 10), [0.5, v], method, events=[landed, top], args=(g,), rtol=1e-9, atol=1e-11, **more)

    found, theirs = run(g, v), scipy.integrate.solve_ivp(throw, (0, 10), [0.5, 3.0], method, events=[landed, top], args=(9.8,), rtol=1e-9, atol=1e-11)
    assert found.status == theirs.status == 1 and found.t[-1].item() == theirs.t[-1]
    for k in range(2):
        np.testing.assert_array_equal(number(found.t_events[k]), theirs.t_events[k])
        np.testing.assert_array_equal(number(found.y_events[k]), theirs.y_events[k])
    np.testing.assert_allclose(number(found.y), theirs.y, rtol=1e-14, atol=1e-15)
    exact = (v + (v * v + g) ** 0.5) / g
    for ours, expected in [(found.t_events[0][0], exact), (found.t[-1], exact), (found.t_events[1][0], v / g),
                           (found.y[1, -1], v - g * exact), (found.y_events[1][0, 0], 0.5 + v * v / (2 * g))]:  # fmt: skip
        for x in (g, v):
            first = [grad(y, x, create_graph=True, retain_graph=True)[0] for y in (ours, expected)]
            assert number(first[0]) == pytest.approx(number(first[1]), rel=1e-6)
            second = [grad(y, v, retain_graph=True, allow_unused=True, materialize_grads=True)[0] for y in first]
            assert number(second[0]) == pytest.approx(number(second[1]), rel=1e-5, abs=1e-8)
    with forward_ad.dual_level():
        tangent = forward_ad.unpack_dual(run(forward_ad.make_dual(g.detach(), w.ones(()).double()), v.detach()).t_events[0]).tangent
        assert float(tangent) == pytest.approx(float(grad(exact, g, retain_graph=True)[0]), rel=1e-6)
    assert run(g, v, t_eval=[0.1, 0.2, 9.0]).y.shape == (2, 2)


def test_the_level_of_an_event_differentiates():
    level = double(0.3)
    found = integrate.solve_ivp(lambda t, y: -y, (0, 5), [1.0], events=lambda t, y: y[0] - level, rtol=1e-10, atol=1e-12)
    assert float(grad(found.t_events[0][0], level)[0]) == pytest.approx(-1 / 0.3, rel=1e-8) and len(found.t_events) == 1
    none = integrate.solve_ivp(lambda t, y: -y * level, (0, 1), [1.0], events=lambda t, y: y[0] + 1)
    assert none.t_events[0].shape == (0,) and none.y.requires_grad


def test_dense_output():
    rate, t = double(0.7), double(0.25, 1.3)
    for span in ((0, 2), (2, 0)):
        found = integrate.solve_ivp(lambda t, y: -rate * y, span, [1.0, 2.0], "DOP853", dense_output=True, rtol=1e-10, atol=1e-12)
        theirs = scipy.integrate.solve_ivp(lambda t, y: -0.7 * y, span, [1.0, 2.0], "DOP853", dense_output=True, rtol=1e-10, atol=1e-12)
        y = found.sol(t)
        np.testing.assert_allclose(number(y), theirs.sol(number(t)), rtol=1e-14)
        np.testing.assert_allclose(number(found.sol(0.4)), theirs.sol(0.4), rtol=1e-14)
        exact = w.exp(-rate * (t - span[0])) * 2
        for x in (rate, t):
            np.testing.assert_allclose(number(grad(y[1].sum(), x, retain_graph=True)[0]), number(grad(exact.sum(), x, retain_graph=True)[0]), rtol=1e-7)
        assert (found.sol.t_min, found.sol.t_max) == (0, 2)
    with pytest.raises(ValueError, match="1-D"):
        found.sol(np.zeros((2, 2)))


def bratu(x, y, k):
    return [y[1], -k * np.exp(y[0])]


def held(a, b):
    return np.stack([a[0], b[0]])


def test_boundary_value_problems():
    mesh, start = np.linspace(0, 1, 5), np.zeros((2, 5))
    k = double(1.0)
    found = integrate.solve_bvp(lambda x, y: bratu(x, y, k), held, mesh, start, tol=1e-5)
    theirs = scipy.integrate.solve_bvp(lambda x, y: bratu(x, y, 1.0), held, mesh, start, tol=1e-5)
    for name in ("x", "y", "yp"):
        np.testing.assert_allclose(number(getattr(found, name)), getattr(theirs, name), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(number(found.sol([0.2, 0.5])), theirs.sol([0.2, 0.5]), rtol=1e-10, atol=1e-12)

    def at(k):
        return scipy.integrate.solve_bvp(lambda x, y: bratu(x, y, k), held, mesh, start, tol=1e-10).sol(0.5)[0]

    (first,) = grad(found.sol(0.5)[0], k, create_graph=True)
    assert number(first) == pytest.approx((at(1.001) - at(0.999)) / 2e-3, rel=1e-5)
    assert float(grad(first, k, retain_graph=True)[0]) == pytest.approx((at(1.01) - 2 * at(1.0) + at(0.99)) / 1e-4, rel=1e-3)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(k.detach(), w.ones(()).double())
        tangent = forward_ad.unpack_dual(integrate.solve_bvp(lambda x, y: bratu(x, y, dual), held, mesh, start, tol=1e-5).y).tangent
        np.testing.assert_allclose(number(tangent)[:, 0], [0.0, number(grad(found.y[1, 0], k)[0])], rtol=1e-10, atol=1e-12)


def test_unknown_parameters_of_boundary_value_problems():
    """y'' = -p^2 L y with y(0) = y(1) = 0 has p = 2 pi / sqrt(L)."""
    stretch = double(1.0)
    guess = np.array([[0, 1, 0, -1, 0], [1, 1, 1, 1, 1.0]])

    def run(m, stretch, **more):
        return m.solve_bvp(lambda x, y, p: [y[1], -(p[0] ** 2) * stretch * y[0]], lambda a, b, p: np.stack([a[0], b[0], a[1] - p[0]]),
                           np.linspace(0, 1, 5), guess, p=[6.0], tol=1e-6, **more)  # fmt: skip

    found, theirs = run(integrate, stretch), run(scipy.integrate, 1.0)
    np.testing.assert_allclose(number(found.p), theirs.p, rtol=1e-10)
    assert float(grad(found.p[0], stretch)[0]) == pytest.approx(-np.pi, rel=1e-6)
    assert isinstance(run(integrate, 1.0).y, np.ndarray)
    with pytest.raises(NotImplementedError, match="singular term"):
        run(integrate, stretch, S=np.zeros((2, 2)))


def _damped(x, k):
    return np.exp(-k * x) * np.cos(x)


@pytest.mark.slow
def test_functions_of_arrays_of_places():
    """The derivatives are those of quad, to second order."""
    inputs = double(0.2), double(1.7), double(0.9)
    functions = (
        lambda a, b, k: integrate.quad(lambda x: w.exp(-k * x) * np.cos(x), a, b)[0],
        lambda a, b, k: integrate.tanhsinh(_damped, a, b, args=(k,)).integral,
        lambda a, b, k: integrate.cubature(lambda x, k: _damped(x[:, 0], k), [a], [b], args=(k,)).estimate,
    )
    found = []
    for function in functions:
        first = grad(function(*inputs), inputs, create_graph=True)
        with forward_ad.dual_level():
            duals = [forward_ad.make_dual(x.detach(), w.ones_like(x) * (i + 1)) for i, x in enumerate(inputs)]
            tangent = forward_ad.unpack_dual(function(*duals)).tangent
        seconds = [float(g) for g in grad(first[0] + 2 * first[1] - first[2], inputs)]
        found.append([*[float(g.detach()) for g in first], float(tangent), *seconds])
    np.testing.assert_allclose(found[1], found[0], rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(found[2], found[0], rtol=1e-9, atol=1e-10)
    two = integrate.cubature(lambda x: _damped(x, inputs[2]) * _damped(x[:, :1], 1.0), w.stack([inputs[0], 0.1 * inputs[0]]), w.stack([inputs[1], double(1.0)]), rule="gk15").estimate
    slopes = grad(two.sum(), inputs)
    for i, slope in enumerate(slopes):
        sides = []
        for h in (1e-4, -1e-4):
            a, b, k = [float(x.detach()) + h * (i == j) for j, x in enumerate(inputs)]
            sides.append(scipy.integrate.cubature(lambda x, k=k: _damped(x, k) * _damped(x[:, :1], 1.0), [a, 0.1 * a], [b, 1.0]).estimate.sum())
        assert float(slope) == pytest.approx((sides[0] - sides[1]) / 2e-4, rel=1e-6)
    theirs = scipy.integrate.tanhsinh(_damped, 0.2, 1.7, args=(0.9,))
    ours = integrate.tanhsinh(_damped, 0.2, 1.7, args=(inputs[2],))
    assert ours.nfev == theirs.nfev and float(ours.integral.detach()) == pytest.approx(theirs.integral, rel=1e-14)
    found = integrate.cubature(lambda x: w.exp(-inputs[2] * w.as_tensor(x * x).sum(-1)), [-np.inf], [np.inf]).estimate
    assert float(found.detach()) == pytest.approx((np.pi / 0.9) ** 0.5, rel=1e-7)
    assert float(grad(found, inputs[2])[0]) == pytest.approx(-0.5 * (np.pi / 0.9**3) ** 0.5, rel=1e-6)
    plain = integrate.cubature(lambda x: _damped(x, 1.0), [0.0], [1.0])
    assert type(plain.estimate) is np.ndarray and plain.estimate == scipy.integrate.cubature(lambda x: _damped(x, 1.0), [0.0], [1.0]).estimate
    many = integrate.tanhsinh(_damped, [0.0, 1.0], 2.0, args=(0.5,))
    assert np.array_equal(many.integral, scipy.integrate.tanhsinh(_damped, [0.0, 1.0], 2.0, args=(0.5,)).integral)
    for call in (lambda: integrate.tanhsinh(_damped, [0.0, 1.0], 2.0, args=(inputs[2],)), lambda: integrate.tanhsinh(_damped, 0.0, 2.0, args=(inputs[2],), log=True),
                 lambda: integrate.cubature(lambda x: _damped(x[:, 0], inputs[2]), [inputs[0]], [np.inf])):  # fmt: skip
        with pytest.raises(NotImplementedError):
            call()


def test_quasi_monte_carlo():
    def integral(a, b, k):
        qrng = scipy.stats.qmc.Halton(2, seed=1)
        return integrate.qmc_quad(lambda x: w.exp(-k * w.as_tensor(x[0])) * w.cos(w.as_tensor(x[1])), a, b, n_estimates=3, n_points=32, qrng=qrng).integral

    limits = w.tensor([0.2, 0.1], dtype=w.float64, requires_grad=True), w.tensor([1.2, 0.9], dtype=w.float64, requires_grad=True)
    inputs = *limits, double(0.9)
    assert gradcheck(integral, inputs, check_forward_ad=True) and gradgradcheck(integral, inputs)
    theirs = scipy.integrate.qmc_quad(lambda x: np.exp(-0.9 * x[0]) * np.cos(x[1]), [0.2, 0.1], [1.2, 0.9], n_estimates=3, n_points=32, qrng=scipy.stats.qmc.Halton(2, seed=1))
    assert float(integral([0.2, 0.1], [1.2, 0.9], inputs[2]).detach()) == pytest.approx(theirs.integral, rel=1e-13)
