"""wengert.scipy.interpolate: FITPACK's fits, surfaces and tensor products, against SciPy and solutions of the same equations."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.interpolate
import scipy.optimize

import wengert
from scipy_checks import check_call
from wengert.autograd import forward_ad, grad
from wengert.scipy import interpolate

RNG = np.random.default_rng(8)
X = np.sort(RNG.uniform(0, 4, 16))
Y = np.sin(2 * X) + 0.2 * RNG.normal(size=16)
W = 0.5 + RNG.uniform(size=16)
AT = np.array([0.7, 1.3, 2.2, 3.1])


def smoothed(x, y, weights, s, theirs, knots):
    """The coefficients of the spline of P. Dierckx with SciPy's knots, found by bisection. s: of theirs, times what it changed by.

    knots: a function of x. y: (m, columns)."""
    t, k = knots(x), theirs[2]
    n = len(t) - k - 1
    matrix = weights[:, None] * scipy.interpolate.BSpline.design_matrix(x, t, k).toarray()
    inner = t[k : n + 1]
    highest = scipy.interpolate.BSpline(t, np.eye(n), k).derivative(k)((inner[1:] + inner[:-1]) / 2)
    jumps = np.diff(highest, axis=0) / 1e3

    def solved(log_q):
        return np.linalg.lstsq(np.vstack([matrix, np.exp(log_q) * jumps]), np.vstack([weights[:, None] * y, np.zeros((len(jumps), y.shape[1]))]), rcond=None)[0]

    def gap(log_q):
        return np.sum((matrix @ solved(log_q) - weights[:, None] * y) ** 2) - s

    return solved(scipy.optimize.brentq(gap, -20, 20, xtol=1e-14, rtol=1e-15))


def check_smoothing(fit, coefficients, columns):
    """Compare the derivatives of fit(x, y, weights, s), a function that returns (t, c, k), with finite differences of the oracle."""
    y = np.column_stack([Y, Y**2, np.cos(X)][:columns])
    y = y + 0.1 * np.random.default_rng(1).normal(size=y.shape)
    start = [X, y, W, np.array(1.3)]
    theirs = coefficients(*start)
    assert len(theirs[0]) > 2 * theirs[2] + 2, "knots inside"
    values = scipy.interpolate.BSpline(*theirs)(X)
    reached = np.sum((W[:, None] * (values - y)) ** 2) / 1.3
    places = np.searchsorted(X, theirs[0])
    rng = np.random.default_rng(2)
    direction = [0.3 * rng.normal(size=np.shape(x)) for x in start]
    weights = rng.normal(size=theirs[1].shape)

    def along(h):
        x, y, w, s = [a + h * v for a, v in zip(start, direction)]
        return np.sum(weights * smoothed(x, y, w, s * reached, theirs, lambda x: x[places]))

    h = 1e-4
    values = {i: along(i * h) for i in range(-3, 4)}
    slope = sum(c * (values[i] - values[-i]) for i, c in enumerate((3 / 4, -3 / 20, 1 / 60), 1)) / h
    bend = (sum(c * (values[i] + values[-i]) for i, c in enumerate((3 / 2, -3 / 20, 1 / 90), 1)) - 49 / 18 * values[0]) / h**2

    inputs = [wengert.tensor(a, requires_grad=True) for a in start]
    t, c, _ = fit(*inputs)
    np.testing.assert_allclose(t.detach().numpy(), theirs[0], rtol=1e-12)
    np.testing.assert_allclose(c.detach().numpy(), theirs[1], rtol=1e-9, atol=1e-9)
    gradients = grad((c * wengert.tensor(weights)).sum(), inputs, create_graph=True)
    first = sum((g * wengert.tensor(v)).sum() for g, v in zip(gradients, direction))
    second = sum((g * wengert.tensor(v)).sum() for g, v in zip(grad(first, inputs), direction))
    np.testing.assert_allclose(float(first.detach()), slope, rtol=2e-4)  # SciPy's coefficients are solutions to 4 digits or more
    np.testing.assert_allclose(float(second.detach()), bend, rtol=2e-2)
    with forward_ad.dual_level():
        duals = [forward_ad.make_dual(wengert.tensor(a), wengert.tensor(v)) for a, v in zip(start, direction)]
        tangent = forward_ad.unpack_dual((fit(*duals)[1] * wengert.tensor(weights)).sum()).tangent
    np.testing.assert_allclose(float(tangent), slope, rtol=2e-4)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_smoothing_splines_of_points(k):
    def theirs(x, y, w, s):
        t, c, _ = scipy.interpolate.splrep(x, y[:, 0], w, k=k, s=float(s))
        return t, c[: -k - 1, None], k

    check_smoothing(lambda x, y, w, s: (lambda t, c, _: (t, c[: -k - 1, None], k))(*interpolate.splrep(x, y[:, 0], w, k=k, s=s)), theirs, 1)

    def spline(x, y, w, s):
        found = interpolate.UnivariateSpline(x, y[:, 0], w, k=k, s=s)
        return found._tck[0], found.get_coeffs()[:, None], k

    check_smoothing(spline, theirs, 1)


def test_smoothing_curves():
    u = np.linspace(0, 4, 16)

    def theirs(x, y, w, s):
        (t, c, k), _ = scipy.interpolate.splprep(list(y.T), w, x, s=float(s), ub=x[0], ue=x[-1])
        return t, np.stack(c, 1), k

    def ours(x, y, w, s):
        (t, c, k), _ = interpolate.splprep(list(y.T), w, x, s=s)
        return t, wengert.stack(list(c), 1), k

    check_smoothing(ours, theirs, 3)
    curve = np.stack([np.cos(u), np.sin(u)])
    call = lambda f, c: f([c[0], c[1]], s=0)[1]  # noqa: E731
    check_call("interpolate", "splprep", call, curve, step=1e-3, rtol=1e-5)
    check_call("interpolate", "splprep", lambda f, c: f([c[0], c[1]], s=0)[0][1], curve, step=1e-4, rtol=1e-4, value_rtol=1e-9)


@pytest.mark.skipif(not hasattr(scipy.interpolate, "make_splrep"), reason="SciPy has make_splrep since 1.15")
def test_new_smoothing_functions():
    def theirs(x, y, w, s):
        found = scipy.interpolate.make_splrep(x, y[:, 0], w=w, s=float(s))
        return found.t, found.c[:, None], 3

    def ours(x, y, w, s):
        found = interpolate.make_splrep(x, y[:, 0], w=w, s=s)
        return found.t, found.c[:, None], 3

    check_smoothing(ours, theirs, 1)
    check_call("interpolate", "make_splrep", lambda f, x, y: f(x, y, k=2)(AT), X, Y, step=1e-4, rtol=1e-4)
    check_call("interpolate", "make_splrep", lambda f, x, y, w: f(x, y, w=w, s=1e3)(AT), X, Y, W, step=1e-4, rtol=1e-4)
    check_call("interpolate", "make_splprep", lambda f, c: (lambda p, u: (p(AT / 4), u))(*f([c[0], c[1]])), np.stack([np.cos(X), np.sin(X)]), step=1e-4, rtol=1e-4)


UNIVARIATE = {
    "UnivariateSpline": [lambda f, x, y: f(x, y, s=0), lambda f, x, y: f(x, y, s=1e4), lambda f, x, y: f(x, y, k=4, s=0)],
    "InterpolatedUnivariateSpline": [lambda f, x, y: f(x, y), lambda f, x, y: f(x, y, k=2, bbox=(-1, 5))],
    "LSQUnivariateSpline": [lambda f, x, y: f(x, y, [1.45, 2.4]), lambda f, x, y: f(x, y, [2.0], W, k=2)],
}


@pytest.mark.parametrize("name", UNIVARIATE)
def test_splines_of_points(name):
    for make in UNIVARIATE[name]:
        for use in (
            lambda f, at: f(at), lambda f, at: f(at, 1), lambda f, at: f.derivative()(at), lambda f, at: f.integral(at[0], at[2]),
            lambda f, at: f.antiderivative()(at), lambda f, at: f.derivatives(at[1]), lambda f, at: f(at + 1.5, ext="const"),
            lambda f, at: f.get_coeffs() * at[0],
        ):  # fmt: skip
            check_call("interpolate", name, lambda f, x, y, at, make=make, use=use: use(make(f, x, y), at), X, Y, AT, step=1e-4, rtol=2e-4, order=1, value_rtol=1e-8)
    check_call("interpolate", name, lambda f, y: UNIVARIATE[name][0](f, X, y)(AT), Y, step=1e-2, value_rtol=1e-8)


def test_roots_of_splines():
    check_call("interpolate", "InterpolatedUnivariateSpline", lambda f, x, y: f(x, y).roots(), X, np.sin(2 * X), step=2e-4, rtol=1e-4)
    tck = scipy.interpolate.splrep(X, np.sin(2 * X))
    check_call("interpolate", "sproot", lambda f, c: f((tck[0], c, 3)), tck[1], step=1e-4, rtol=1e-4)
    for name in ("PchipInterpolator", "CubicSpline"):
        check_call("interpolate", name, lambda f, y: f(X, y).roots(extrapolate=False), np.sin(2 * X), step=1e-3, rtol=1e-4)
    check_call("interpolate", "CubicSpline", lambda f, y, v: f(X, y).solve(v if isinstance(v, wengert.Tensor) else float(v), extrapolate=False), np.sin(2 * X), np.array(0.3), step=1e-3, rtol=1e-4)


def test_fitpack_functions_of_splines():
    t, c, k = scipy.interpolate.splrep(X, Y)
    for name, call in {
        "spalde": lambda f, c, a: f(a, (t, c, k)), "splint": lambda f, c, a: f(a[0], a[2], (t, c, k)),
        "splder": lambda f, c, a: f((t, c, k), 2)[1] * a[0], "splantider": lambda f, c, a: f((t, c, k))[1] * a[0],
        "splev": lambda f, c, a: f(a + 1.5, (t, [c, 2 * c], k), ext=1),
        "insert": lambda f, c, a: f(a[1] if isinstance(a, wengert.Tensor) else float(a[1]), (t, c, k), 2)[:2],
    }.items():  # fmt: skip
        check_call("interpolate", name, call, c, AT, step=1e-3, rtol=1e-4, value_rtol=1e-9)
    spline = scipy.interpolate.BSpline(t, c[: -k - 1], k)
    check_call("interpolate", "BSpline", lambda f, c: f(t, c, k).insert_knot(1.7, 2).c, spline.c)
    check_call("interpolate", "splder", lambda f, c: f(interpolate.BSpline(t, c, k) if isinstance(c, wengert.Tensor) else scipy.interpolate.BSpline(t, c, k))(AT), spline.c)
    with pytest.raises(ValueError, match="Cannot insert knot"):
        interpolate.insert(9.0, (t, wengert.tensor(c, requires_grad=True), k))


GRID = np.array([0.0, 0.5, 1.3, 2.0, 2.9, 3.1]), np.array([0.0, 0.7, 1.1, 2.3, 3.0, 4.2, 5.0])
HEIGHTS = RNG.normal(size=(6, 7))


def test_surfaces():
    a, b = np.array([0.2, 1.7, 3.4]), np.array([0.3, 1.9])
    for call in (
        lambda f, z, a, b: f(*GRID, z, kx=2, ky=4)(a, b), lambda f, z, a, b: f(*GRID, z, kx=2, ky=3).integral(a[0], a[1], b[0], 3.3),
        lambda f, z, a, b: f(*GRID, z).ev(a[:2], b, dy=1),
    ):  # fmt: skip
        check_call("interpolate", "RectBivariateSpline", call, HEIGHTS, a[:2], b, step=1e-3, rtol=1e-4, value_rtol=1e-9)
    check_call("interpolate", "RectBivariateSpline", lambda f, x, y: f(x, y, HEIGHTS)(a[:2], b), *GRID, step=1e-4, rtol=1e-4)
    tck = [*scipy.interpolate.RectBivariateSpline(*GRID, HEIGHTS).tck, 3, 3]
    for at in ((a, b), (a[:1], b), (a, b[:1]), (0.3, 0.4)):
        check_call("interpolate", "bisplev", lambda f, c, at=at: f(*at, [*tck[:2], c, 3, 3], 1), tck[2])


def test_fitted_surfaces():
    rng = np.random.default_rng(5)
    x, y = rng.uniform(0, 3, size=(2, 60))
    z, weights = np.sin(2 * x) * np.cos(2 * y) + 0.1 * rng.normal(size=60), 0.5 + rng.uniform(size=60)
    at = np.array([0.4, 1.6]), np.array([0.3, 1.9, 2.5])
    check_call("interpolate", "SmoothBivariateSpline", lambda f, x, y, z, w: f(x, y, z, w, s=1e4)(*at), x, y, z, weights, step=2e-5, rtol=1e-4, order=1)
    check_call("interpolate", "LSQBivariateSpline", lambda f, z, a: f(x, y, z, [1.5], [1.2], weights, kx=2)(a, at[1]), z, at[0], step=1e-3, rtol=1e-5, value_rtol=1e-8)
    check_call("interpolate", "bisplrep", lambda f, z: f(x, y, z, s=1e4)[2], z, step=1e-3, rtol=1e-5, value_rtol=1e-8)
    with pytest.raises(NotImplementedError, match="least squares surface"):
        interpolate.SmoothBivariateSpline(x, y, wengert.tensor(z, requires_grad=True), s=0.7)


@pytest.mark.parametrize("method", ["slinear", "cubic", "quintic", "pchip"])
def test_smooth_interpolation_on_grids(method):
    points = np.array([[0.2, 0.3], [1.7, 1.9], [2.6, 4.4]])
    exact = {"solver_args": {"rtol": 1e-14, "atol": 1e-14}} if method in ("cubic", "quintic") else {}
    for values in (HEIGHTS, np.stack([HEIGHTS, HEIGHTS**2], -1)):
        call = lambda f, z, x: f(GRID, z, method, **exact)(x)  # noqa: E731
        check_call("interpolate", "RegularGridInterpolator", call, values, points, step=1e-3, rtol=1e-4, value_rtol=1e-9, order=1 if method == "pchip" else 2)
    check_call("interpolate", "interpn", lambda f, z: f(GRID, z, points, method=method), HEIGHTS, step=1e-5 if method == "pchip" else 1.0, rtol=1e-3, value_rtol=1e-9, order=1)
    call = lambda f, a, b: f((a, b), HEIGHTS, method, **exact)(points)  # noqa: E731
    check_call("interpolate", "RegularGridInterpolator", call, *GRID, step=2e-5, rtol=1e-3, value_rtol=1e-9, order=1)
    cube = RNG.normal(size=(6, 7, 6))
    check_call("interpolate", "RegularGridInterpolator", lambda f, z: f((*GRID, GRID[0]), z, method)([0.3, 0.4, 1.7]), cube, step=1e-5 if method == "pchip" else 1.0, rtol=1e-3, order=1, value_rtol=1e-9)


def test_tensor_products_of_splines():
    t = np.array([0, 0, 0, 0.4, 0.7, 1.0, 1, 1]), np.array([0, 0, 0.3, 0.8, 1.0, 1.0])
    c, x = RNG.normal(size=(5, 4, 2)), RNG.uniform(size=(3, 2))
    for options in ({}, {"nu": [1, 0]}):
        check_call("interpolate", "NdBSpline", lambda f, c, x, o=options: f(t, c, (2, 1))(x, **o), c, x, step=1e-3, rtol=1e-5)
    check_call("interpolate", "NdBSpline", lambda f, c: f(t, c, (2, 1), extrapolate=False)(x), c)
    outside = interpolate.NdBSpline(t, wengert.tensor(c, requires_grad=True), (2, 1), extrapolate=False)([[0.5, 1.2], [0.5, 0.6]])
    assert np.isnan(outside.detach().numpy()[0]).all() and not np.isnan(outside.detach().numpy()[1]).any()
