"""wengert.scipy.interpolate on grids and scattered points: values as SciPy's, derivatives in data, points and places."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.interpolate

import wengert
from scipy_checks import check_call
from wengert.scipy import interpolate

RNG = np.random.default_rng(17)
X = np.array([0.0, 0.7, 1.1, 2.3, 3.0, 4.2])
Y = RNG.normal(size=6)
NEW = np.array([0.3, 0.95, 1.8, 2.8, 4.0])


@pytest.mark.parametrize("kind", ["linear", "cubic", "quadratic", "slinear", "nearest", "nearest-up", "previous", "next", "zero", 3])
def test_interp1d(kind):
    x = X[RNG.permutation(6)]
    check_call("interpolate", "interp1d", lambda f, y: f(x, y, kind)(NEW), Y, step=1e-3, rtol=1e-5)
    if kind in ("linear", "cubic", "quadratic", "slinear", 3):  # the others are constant between the points
        check_call("interpolate", "interp1d", lambda f, x, y, new: f(x, y, kind)(new), X, Y, NEW, step=1e-3, rtol=1e-4)
    wide = np.array([-1.0, 0.5, 6.0])
    if kind in ("previous", "next"):  # SciPy's values are NaN on one side
        found = interpolate.interp1d(X, wengert.tensor(Y), kind, fill_value="extrapolate")(wide).numpy()
        np.testing.assert_array_equal(found, scipy.interpolate.interp1d(X, Y, kind, fill_value="extrapolate")(wide))
    for fill in ("extrapolate", (0.5, -0.5), 2.0)[kind in ("previous", "next") :]:
        check_call("interpolate", "interp1d", lambda f, y, fill=fill: f(X, y, kind, bounds_error=False, fill_value=fill)(wide), Y, step=1e-3, rtol=1e-5)


def test_interp1d_in_axes_and_out_of_bounds():
    check_call("interpolate", "interp1d", lambda f, y: f(X, y, axis=0)(NEW.reshape(5, 1)), RNG.normal(size=(6, 2)))
    y = wengert.tensor(Y, requires_grad=True)
    with pytest.raises(ValueError, match="below the interpolation range"):
        interpolate.interp1d(X, y)([-1.0])
    with pytest.raises(ValueError, match="equal in length"):
        interpolate.interp1d(X[:-1], y)


GRID = np.array([0.0, 1.0, 2.5, 3.0]), np.array([-1.0, 0.2, 2.0])
PLACES = np.array([[0.3, 0.4], [2.7, -0.6], [1.4, 1.7]])


def test_regular_grids():
    values = RNG.normal(size=(4, 3, 2))
    for call in (lambda f, a, b, v, x: f((a, b), v)(x), lambda f, a, b, v, x: f((a, b), v, fill_value=None, bounds_error=False)(x - 1.55)):
        check_call("interpolate", "RegularGridInterpolator", call, *GRID, values, PLACES, step=1e-3, rtol=1e-4)
    check_call("interpolate", "RegularGridInterpolator", lambda f, v: f(GRID, v, method="nearest")(PLACES), values)
    check_call("interpolate", "interpn", lambda f, v, x: f(GRID, v, x), values, PLACES, step=1e-3, rtol=1e-4)
    v = wengert.tensor(values, requires_grad=True)
    with pytest.raises(ValueError, match="out of bounds in dimension 1"):
        interpolate.RegularGridInterpolator(GRID, v)([[1.0, 7.0]])
    with pytest.raises(ValueError, match="is not defined"):
        interpolate.RegularGridInterpolator(GRID, v)([[1.0, 1.0]], method="septic")


def test_splines_of_two_variables():
    z = RNG.normal(size=(6, 5))
    y = np.array([0.0, 0.5, 1.3, 2.0, 3.1])
    for call in (
        lambda f, z, a, b: f(X, y, z)(a, b),
        lambda f, z, a, b: f(X, y, z)(a[:2], b, dx=1),
        lambda f, z, a, b: f(X, y, z).ev(a[:2], b),
        lambda f, z, a, b: f(X, y, z, kx=1, ky=3)(a, b),
    ):
        check_call("interpolate", "RectBivariateSpline", call, z, NEW, np.array([0.3, 1.9]), step=1e-3, rtol=1e-4)
    check_call("interpolate", "RectBivariateSpline", lambda f, z: f(X, y, z).integral(0.2, 3.9, 0.1, 2.0), z, step=1e-3, rtol=1e-5)


POINTS = RNG.uniform(-1, 1, size=(12, 2))
INSIDE = POINTS[:3].mean(0) + 0.03 * RNG.normal(size=(4, 2))


@pytest.mark.slow
def test_triangles():
    data = RNG.normal(size=(12, 2))
    check_call("interpolate", "LinearNDInterpolator", lambda f, d, x: f(POINTS, d)(x), data, INSIDE, step=1e-4, rtol=1e-4)
    check_call("interpolate", "LinearNDInterpolator", lambda f, p: f(p, data)(INSIDE), POINTS, step=1e-4, rtol=1e-4)
    for method in ("linear", "nearest"):
        check_call("interpolate", "griddata", lambda f, d, m=method: f(POINTS, d, INSIDE, method=m), data)
    check_call("interpolate", "griddata", lambda f, d: f(X, d, NEW), Y)
    d = wengert.tensor(data, requires_grad=True)
    assert np.isnan(interpolate.griddata(POINTS, d, np.array([[9.0, 9.0]])).detach().numpy()).all()
    with pytest.raises(ValueError, match="3 dimensional"):
        interpolate.griddata(np.ones((5, 3)), d, np.ones((2, 3)), method="cubic")


def test_smooth_surfaces_on_triangles():
    data, other = RNG.normal(size=(12, 2)), np.array([[0.9, -3.0]])
    tight = {"tol": 1e-13, "maxiter": 5000}
    for points in (POINTS, POINTS * [1.0, 20.0]):
        inside = INSIDE * points[0] / POINTS[0]
        check_call("interpolate", "CloughTocher2DInterpolator", lambda f, d, x, p=points: f(p, d, **tight)(x), data, inside, step=3e-4, rtol=1e-4)
    check_call("interpolate", "CloughTocher2DInterpolator", lambda f, d, x: f(POINTS, d, rescale=True, **tight)(x[:, 0], x[:, 1]), data[:, 0], INSIDE, step=3e-4, rtol=1e-4)
    check_call("interpolate", "griddata", lambda f, d: f(POINTS, d, np.vstack([INSIDE, other]), "cubic", 2.5), data[:, 0], value_rtol=1e-5, rtol=1e-4)
    with pytest.raises(NotImplementedError, match="no derivative in its points"):
        interpolate.CloughTocher2DInterpolator(wengert.tensor(POINTS, requires_grad=True), data)


@pytest.mark.parametrize("kernel", ["linear", "thin_plate_spline", "cubic", "quintic", "multiquadric", "inverse_multiquadric",
                                    "inverse_quadratic", "gaussian"])  # fmt: skip
def test_radial_basis_functions(kernel):
    d, x = RNG.normal(size=12), INSIDE[:3]
    more = {} if kernel in ("linear", "thin_plate_spline", "cubic", "quintic") else {"epsilon": 1.5}
    call = lambda f, y, d, x: f(y, d, kernel=kernel, smoothing=0.1, **more)(x)  # noqa: E731
    check_call("interpolate", "RBFInterpolator", call, POINTS, d, x, step=2e-4, rtol=1e-3, value_rtol=1e-8)


def test_derivatives_of_one_polynomial():
    again = np.array([0.0, 0.7, 0.7, 0.7, 2.3])  # a value and two derivatives at 0.7
    data = RNG.normal(size=(5, 2))
    for name, x in (("KroghInterpolator", X[:5]), ("KroghInterpolator", again), ("BarycentricInterpolator", X[:5])):
        for call in (lambda f, y, new, x=x: f(x, y)(new), lambda f, y, new, x=x: f(x, y).derivative(new, 2),
                     lambda f, y, new, x=x: f(x, y).derivatives(new, 3), lambda f, y, new, x=x: f(x, y.T, axis=1).derivatives(new)):  # fmt: skip
            check_call("interpolate", name, call, data, NEW[1:4], step=1e-3, rtol=1e-4)
    for name in ("krogh_interpolate", "barycentric_interpolate"):
        check_call("interpolate", name, lambda f, x, y: f(x, y, NEW[:2], der=[0, 2, 1]), X, Y, step=1e-4, rtol=1e-4)
    check_call("interpolate", "pchip_interpolate", lambda f, x, y: f(x, y, NEW[1:4], [0, 1]), X, Y, step=2e-4, rtol=1e-4, order=1)


def test_one_polynomial():
    for name in ("BarycentricInterpolator", "KroghInterpolator"):
        check_call("interpolate", name, lambda f, x, y, new: f(x, y)(new), X, Y, NEW, step=1e-4, rtol=1e-4)
    for name in ("barycentric_interpolate", "krogh_interpolate"):
        check_call("interpolate", name, lambda f, y: f(X, y, NEW), RNG.normal(size=(6, 2)))
    assert np.array_equal(interpolate.KroghInterpolator(X, Y)(NEW), scipy.interpolate.KroghInterpolator(X, Y)(NEW))
