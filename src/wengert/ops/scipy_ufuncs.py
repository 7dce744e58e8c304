"""The ufuncs of scipy.special as operations, and the integrals that their derivatives need.

One operation for each number of arguments computes any of the ufuncs. The table of scipy_derivatives.py has the derivative of each
ufunc in each argument. `wengert.scipy.special` gives the functions their names.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert._forks import import_late
from wengert.ops.registry import INT_TO_FLOAT, pointwise
from wengert.ops.scipy_derivatives import INTEGERS, REAL_PARAMETERS, like, slope
from wengert.ops.scipy_special import special

_SETTINGS: dict[str, Any] = {"promote": INT_TO_FLOAT, "method": False, "namespaces": (), "domain": (0.2, 0.8)}


def _value(name: str, *operands: Any) -> Any:
    """Value of a ufunc. name: "jv"; "airy:2" is the result 2 of several.

    Integers and real parameters have been promoted to the dtype of the other arguments. Here they are converted back.
    """
    function, _, index = name.partition(":")
    values = list(operands)
    for i in INTEGERS.get(function, ()):
        values[i] = np.asarray(values[i]).real.astype(np.int64)
    for i in range(REAL_PARAMETERS.get(function, 0)):
        values[i] = np.asarray(values[i]).real
    found = _function(function)(*values)
    found = np.asarray(found[int(index)] if index else found)
    dtype = np.result_type(*operands)
    return found.astype(dtype) if dtype.kind == "c" or found.dtype.kind == "f" else found


def _function(name: str) -> Any:
    return getattr(import_late("scipy.special"), name)


@pointwise(**_SETTINGS)
def _ufunc1(xp, x, *, name):
    """A ufunc of one argument. Derivative: scipy_derivatives.py."""
    return _value(name, x)


@pointwise(**_SETTINGS)
def _ufunc2(xp, x, y, *, name):
    """A ufunc of two arguments. Derivative: scipy_derivatives.py."""
    return _value(name, x, y)


@pointwise(**_SETTINGS)
def _ufunc3(xp, x, y, z, *, name):
    """A ufunc of three arguments. Derivative: scipy_derivatives.py."""
    return _value(name, x, y, z)


@pointwise(**_SETTINGS)
def _ufunc4(xp, x, y, z, p, *, name):
    """A ufunc of four arguments. Derivative: scipy_derivatives.py."""
    return _value(name, x, y, z, p)


@_ufunc1.vjp("x")
def _(F, ct, x, out, name):
    return ct * F.conj(slope(F, name, 0, out, x))


@_ufunc2.vjp("x")
def _(F, ct, x, y, out, name):
    return ct * F.conj(slope(F, name, 0, out, x, y))


@_ufunc2.vjp("y")
def _(F, ct, x, y, out, name):
    return ct * F.conj(slope(F, name, 1, out, x, y))


@_ufunc3.vjp("x")
def _(F, ct, x, y, z, out, name):
    return ct * F.conj(slope(F, name, 0, out, x, y, z))


@_ufunc3.vjp("y")
def _(F, ct, x, y, z, out, name):
    return ct * F.conj(slope(F, name, 1, out, x, y, z))


@_ufunc3.vjp("z")
def _(F, ct, x, y, z, out, name):
    return ct * F.conj(slope(F, name, 2, out, x, y, z))


@_ufunc4.vjp("x")
def _(F, ct, x, y, z, p, out, name):
    return ct * F.conj(slope(F, name, 0, out, x, y, z, p))


@_ufunc4.vjp("y")
def _(F, ct, x, y, z, p, out, name):
    return ct * F.conj(slope(F, name, 1, out, x, y, z, p))


@_ufunc4.vjp("z")
def _(F, ct, x, y, z, p, out, name):
    return ct * F.conj(slope(F, name, 2, out, x, y, z, p))


@_ufunc4.vjp("p")
def _(F, ct, x, y, z, p, out, name):
    return ct * F.conj(slope(F, name, 3, out, x, y, z, p))


# -- integrals -------------------------------------------------------------------------------------------------------------

_STEP = 0.05
_PLACES = np.pi / 2 * np.sinh(np.arange(-4.6, 4.6, _STEP))
_NODES = np.exp(_PLACES)
_WEIGHTS = _STEP * np.sqrt(_PLACES**2 + (np.pi / 2) ** 2) * _NODES


@pointwise(**{**_SETTINGS, "complex": False})
def _carlson(xp, x, y, z, p, *, powers):
    """Carlson's integral of (t + x)**-a (t + y)**-b (t + z)**-c (t + p)**-d over t from 0 to infinity.

    powers: (a, b, c, d), whose sum is above 1. x, y, z, p: >= 0. The double-exponential rule (Takahasi and Mori, 1974) gives a
    relative error of about 1e-14. Derivative in x: -a times the integral with a + 1 in place of a."""
    wide = [np.asarray(v, np.float64)[..., None] for v in np.broadcast_arrays(x, y, z, p)]
    scale = np.maximum(np.maximum(wide[0], wide[1]), np.maximum(wide[2], wide[3]))
    t = scale * _NODES
    found = np.sum(scale * _WEIGHTS * np.prod([(t + v) ** -a for v, a in zip(wide, powers, strict=True)], axis=0), axis=-1)
    return found.astype(np.result_type(x, y, z, p))


def _raised(powers: Any, i: int) -> Any:
    return tuple([a + (k == i) for k, a in enumerate(powers)])


@_carlson.vjp("x")
def _(F, ct, x, y, z, p, powers):
    return -powers[0] * ct * F._carlson(x, y, z, p, powers=_raised(powers, 0))


@_carlson.vjp("y")
def _(F, ct, x, y, z, p, powers):
    return -powers[1] * ct * F._carlson(x, y, z, p, powers=_raised(powers, 1))


@_carlson.vjp("z")
def _(F, ct, x, y, z, p, powers):
    return -powers[2] * ct * F._carlson(x, y, z, p, powers=_raised(powers, 2))


@_carlson.vjp("p")
def _(F, ct, x, y, z, p, powers):
    return -powers[3] * ct * F._carlson(x, y, z, p, powers=_raised(powers, 3))


@pointwise(**{**_SETTINGS, "complex": False})
def _expn(xp, n, x, *, order):
    """Exponential integral E of order n - `order`, which may be negative. n: integers >= 0.

    Derivative in x: -E of the order one below. It has none in n."""
    k = np.asarray(n, np.float64) - order
    found = np.asarray(special("expn", np.maximum(k, 0), x))
    for below in range(1, order + 1):  # E_-j(x) = (j E_-(j-1)(x) + exp(-x)) / x
        with np.errstate(all="ignore"):
            found = np.where(-k >= below, (below * found + np.exp(-x)) / x, found)
    return found.astype(np.result_type(n, x))


@_expn.vjp("x")
def _(F, ct, n, x, order):
    return -ct * F._expn(n, x, order=order + 1)


# -- functions of SciPy that are no ufuncs of one dtype -----------------------------------------------------------------------


# Factors of f(n - 1) and f(n + 1) in (2 n + 1) f'(n): DLMF 10.51.2, 10.51.5.
_SPHERICAL = {"spherical_jn": (1, -1), "spherical_yn": (1, -1), "spherical_in": (1, 1), "spherical_kn": (-1, -1)}


@pointwise(**_SETTINGS)
def _spherical_bessel(xp, n, z, *, name, primes):
    """Spherical Bessel function of order n, an integer, or its derivative if primes is 1.

    Derivative in z: by the functions of the orders n - 1 and n + 1. It has none in n."""
    return np.asarray(_function(name)(np.asarray(n).real.astype(np.int64), z, bool(primes))).astype(np.result_type(n, z))


@_spherical_bessel.vjp("z")
def _(F, ct, n, z, name, primes):
    below, above = _SPHERICAL[name]
    lower = F._spherical_bessel(F.where(n == 0, 1.0 + 0 * n, n) - 1, z, name=name, primes=primes)
    upper = F._spherical_bessel(n + 1, z, name=name, primes=primes)
    return ct * F.conj((below * F._zero_where(n * lower, n == 0) + above * (n + 1) * upper) / (2 * n + 1))


@pointwise(**{**_SETTINGS, "complex": False})
def _spherical_harmonic(xp, n, m, theta):
    """Spherical harmonic of degree n and order m at the azimuth 0, where it is real. n, m: integers.

    Derivative in theta: by the orders m - 1 and m + 1 (the ladder operators of angular momentum). It has none in n and m."""
    degree, order = [np.asarray(x).astype(np.int64) for x in (n, m)]
    return np.asarray(_function("sph_harm_y")(degree, order, theta, 0.0)).real.astype(np.result_type(n, m, theta))


@_spherical_harmonic.vjp("theta")
def _(F, ct, n, m, theta):
    # Harmonics of orders beyond n are 0: the sign of their factors does not matter.
    upper = F.sqrt(F.abs((n - m) * (n + m + 1)) + like(theta, 0)) * F._spherical_harmonic(n, m + 1, theta)
    lower = F.sqrt(F.abs((n + m) * (n - m + 1)) + like(theta, 0)) * F._spherical_harmonic(n, m - 1, theta)
    return ct * 0.5 * (upper - lower)
