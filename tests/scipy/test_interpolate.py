"""wengert.scipy.interpolate: values as SciPy's, derivatives in the data, the points of the data and the points of evaluation."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.interpolate

import wengert
from scipy_checks import check_call
from wengert.scipy import interpolate

RNG = np.random.default_rng(3)
X = np.array([0.0, 0.7, 1.1, 2.3, 3.0, 4.2])
Y = np.array([1.0, -0.5, 0.8, 2.0, 1.7, 0.1])
NEW = np.array([-0.2, 0.3, 0.95, 1.75, 2.9, 4.0, 4.6])
PERIODIC = np.append(Y[:-1], Y[0])


@pytest.mark.parametrize(
    "bc_type", ["not-a-knot", "natural", "clamped", ((1, 0.3), (2, -0.4)), ((2, 0.1), (1, 0.2)), ("not-a-knot", "natural")], ids=str
)
def test_cubic_splines(bc_type):
    check_call("interpolate", "CubicSpline", lambda f, x, y, new: f(x, y, bc_type=bc_type)(new), X, Y, NEW, step=1e-3, rtol=1e-5)


@pytest.mark.parametrize("size", [2, 3, 4])
def test_cubic_splines_of_few_points(size):
    for end in ("not-a-knot", "natural", ((1, 0.3), (2, -0.4))):
        call = lambda f, x, y, new, end=end: f(x, y, bc_type=end)(new)  # noqa: E731
        check_call("interpolate", "CubicSpline", call, X[:size], Y[:size], np.array([0.2, 0.5]), step=1e-3, rtol=1e-5)


@pytest.mark.parametrize("size", [3, 4, 6])
def test_periodic_splines(size):
    def call(f, x, y, new):
        return f(x, np.append(y, y[0]) if isinstance(y, np.ndarray) else wengert.cat([y, y[:1]]), bc_type="periodic")(new)

    check_call("interpolate", "CubicSpline", call, X[:size], Y[: size - 1], np.array([-0.3, 0.4, 0.9, 7.9]), step=1e-3, rtol=1e-5)


@pytest.mark.parametrize("name", ["PchipInterpolator", "Akima1DInterpolator"])
def test_local_interpolants(name):
    new = NEW[1:-1]
    check_call("interpolate", name, lambda f, x, y, new: f(x, y)(new), X, Y, new, step=2e-4, rtol=1e-5, order=1)
    check_call("interpolate", name, lambda f, x, y: f(x, y)(new), X, Y, step=2e-3, rtol=1e-4)


def test_makima():
    call = lambda f, x, y: f(x, y, method="makima")(NEW[1:-1])  # noqa: E731
    check_call("interpolate", "Akima1DInterpolator", call, X, Y, step=1e-3, rtol=1e-4)


def test_hermite_splines_and_axes():
    y, slopes = RNG.normal(size=(2, 6, 3)), RNG.normal(size=(2, 6, 3))
    check_call("interpolate", "CubicHermiteSpline", lambda f, x, y, d: f(x, y, d, axis=1)(NEW[:4].reshape(2, 2)), X, y, slopes, step=1e-3, rtol=1e-5)
    check_call("interpolate", "CubicSpline", lambda f, x, y: f(x, y, axis=1)(NEW[2]), X, y, step=1e-3, rtol=1e-5)


@pytest.mark.parametrize("name", ["PPoly", "BPoly"])
def test_polynomials_their_derivatives_and_integrals(name):
    c = RNG.normal(size=(4, 5, 2))
    for call in (
        lambda f, c, x, new: f(c, x)(new),
        lambda f, c, x, new: f(c, x)(new, 2),
        lambda f, c, x, new: f(c, x).derivative()(new),
        lambda f, c, x, new: f(c, x).antiderivative(2)(new),
        lambda f, c, x, new: f(c, x).integrate(new[1], new[5]),
        lambda f, c, x, new: f(c, x)(new, extrapolate=False),
    ):
        points = NEW if "False" not in str(call.__code__.co_consts) else NEW[1:-1]
        check_call("interpolate", name, call, c, X, points, step=5e-3, rtol=1e-4)


def test_periodic_integrals():
    check_call("interpolate", "PPoly", lambda f, c, a, b: f(c, X, "periodic").integrate(a, b), RNG.normal(size=(3, 5)), np.array(1.3), np.array(11.9), step=1e-3, rtol=1e-4)


@pytest.mark.parametrize(("k", "bc_type"), [(1, None), (2, None), (3, None), (4, None), (3, "natural"), (3, "clamped"), (5, None),
                                            (3, ([(2, 0.5)], [(1, 0.2)]))], ids=str)  # fmt: skip
def test_b_spline_interpolants(k, bc_type):
    call = lambda f, x, y, new: f(x, y, k=k, bc_type=bc_type)(new)  # noqa: E731
    x = np.array([0.0, 0.7, 1.1, 2.3, 3.0, 4.2, 4.9])
    check_call("interpolate", "make_interp_spline", call, x, np.append(Y, 0.4), NEW[:-1], step=5e-4, rtol=1e-4)


def test_b_splines_their_derivatives_and_integrals():
    t, c = np.array([0, 0, 0, 0, 1, 2, 3.5, 5, 5, 5, 5.0]), RNG.normal(size=(7, 2))
    new = np.array([0.3, 1.2, 2.2, 4.4])
    for call in (
        lambda f, t, c, x: f(t, c, 3)(x),
        lambda f, t, c, x: f(t, c, 3)(x, 2),
        lambda f, t, c, x: f(t, c, 3).derivative()(x),
    ):
        check_call("interpolate", "BSpline", lambda f, c, x, call=call: call(f, t, c, x), c, new, step=5e-3, rtol=1e-4)
    inner = lambda f, t, c: f(np.concatenate([[0.0] * 4, t, [5.0] * 4]) if isinstance(t, np.ndarray) else  # noqa: E731
                              wengert.cat([wengert.zeros(4).double(), t, wengert.full((4,), 5.0).double()]), c, 3)(new)  # fmt: skip
    check_call("interpolate", "BSpline", inner, t[4:7], c, step=1e-3, rtol=1e-4)
    integral = lambda f, c, a: f(t, c, 3).integrate(a, 4.2)  # noqa: E731
    check_call("interpolate", "BSpline", integral, c, np.array(0.7), step=1e-3, rtol=1e-4)


def test_fitpack_functions():
    x, y = np.linspace(0, 4, 9), np.sin(np.linspace(0, 4, 9))
    tck = scipy.interpolate.splrep(x, y)
    check_call("interpolate", "splev", lambda f, c, new: f(new, (tck[0], c, 3)), tck[1], NEW[1:-2], step=1e-3, rtol=1e-4)
    new = wengert.tensor(NEW[1:-2])
    y_tensor = wengert.tensor(y, requires_grad=True)
    found = interpolate.splev(new, interpolate.splrep(x, y_tensor))
    np.testing.assert_allclose(found.detach().numpy(), scipy.interpolate.splev(NEW[1:-2], tck), rtol=1e-12)
    with pytest.raises(RuntimeError, match="per=True"):
        interpolate.splrep(x, y_tensor, per=True)


def test_arrays_give_scipys_results():
    for name in ("CubicSpline", "PchipInterpolator", "Akima1DInterpolator"):
        ours, theirs = getattr(interpolate, name)(X, Y), getattr(scipy.interpolate, name)(X, Y)
        assert isinstance(ours, type(theirs))
        assert np.array_equal(ours(NEW), theirs(NEW), equal_nan=True)
        assert np.array_equal(ours.derivative()(NEW[2:5]), theirs.derivative()(NEW[2:5]))
        assert np.array_equal(ours.roots(), theirs.roots(), equal_nan=True)
        outside = ours(wengert.tensor(NEW)).numpy()
        assert np.allclose(outside, theirs(NEW), equal_nan=True)


def test_bad_data_is_refused_as_scipy_does():
    y = wengert.tensor(Y, requires_grad=True)
    with pytest.raises(ValueError, match="strictly increasing"):
        interpolate.CubicSpline(X[::-1].copy(), y)
    with pytest.raises(ValueError, match="length of `y`"):
        interpolate.CubicSpline(X[:-1], y)
    with pytest.raises(NotImplementedError, match="one value"):
        interpolate.CubicSpline(X, wengert.stack([y, y], 1)).roots()


KNOTS = np.array([0.0, 0, 0, 0, 0.4, 0.7, 1.0, 1, 1, 1])
PLACES = np.sort(np.random.default_rng(3).uniform(0, 1, 14))
NOISY = np.sin(5 * PLACES) + 0.1 * np.random.default_rng(4).normal(size=14)
WEIGHTS = 0.5 + np.random.default_rng(5).uniform(size=14)


def test_least_squares_splines():
    at = np.array([0.1, 0.5, 0.93])
    check_call("interpolate", "make_lsq_spline", lambda f, x, y, w: f(x, y, KNOTS, w=w)(at), PLACES, NOISY, WEIGHTS, step=1e-4, rtol=1e-5)
    check_call("interpolate", "make_lsq_spline", lambda f, y, x: f(PLACES, y, KNOTS, axis=1)(x), np.stack([NOISY, NOISY**2]), at, step=1e-3)

    def moved(f, inner):
        if isinstance(inner, np.ndarray):
            return f(PLACES, NOISY, np.concatenate([KNOTS[:4], inner, KNOTS[6:]]))(at)
        return f(PLACES, NOISY, wengert.cat([wengert.tensor(KNOTS[:4]), inner, wengert.tensor(KNOTS[6:])]))(at)

    check_call("interpolate", "make_lsq_spline", moved, KNOTS[4:6], step=1e-3, rtol=1e-5)


def test_smoothing_splines():
    at = np.array([-0.1, 0.1, 0.5, 0.93])
    def smoothed(f, x, y, weights, lam):
        return f(x, y, weights, float(lam) if isinstance(lam, np.ndarray) else lam)(at)

    inputs = PLACES, NOISY, WEIGHTS, np.array(0.01)
    check_call("interpolate", "make_smoothing_spline", smoothed, *inputs, step=1e-4, rtol=1e-4, value_rtol=1e-8)
    with pytest.raises(RuntimeError, match="without lam"):
        interpolate.make_smoothing_spline(PLACES, wengert.tensor(NOISY, requires_grad=True))

