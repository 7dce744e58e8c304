"""Functions of scipy.special whose results have an axis for orders: Legendre functions, spherical harmonics, sequences.

Values are SciPy's. Derivatives are those of formulas on tensors, of the NIST Digital Library of Mathematical Functions (DLMF).
Degrees and orders are integers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert import errors
from wengert._forks import import_late
from wengert.array_functions.table import detached, w
from wengert.ops.faces import tensor_face
from wengert.scipy._closures import with_values
from wengert.scipy._frame import is_differentiated, operands

__all__ = [
    "assoc_legendre_p", "assoc_legendre_p_all", "legendre_p", "legendre_p_all", "lmbda", "lqn", "modfresnelm", "modfresnelp",
    "pbdn_seq", "pbdv_seq", "pbvv_seq", "riccati_jn", "riccati_yn", "sph_harm_y", "sph_harm_y_all", "sph_legendre_p",
    "sph_legendre_p_all",
]  # fmt: skip

S: Any = import_late("scipy.special")
_F: Any = tensor_face


def _whole(function: str, **given: Any) -> list[Any]:
    """Return arguments as arrays of integers. Raises ConversionError if one is differentiated, ValueError for a fraction."""
    found = []
    for name, x in given.items():
        if is_differentiated([x]):
            raise errors.no_array_of("Tensor that requires grad", f"scipy.special.{function} in its argument {name!r}")
        values = np.asarray(detached(x))
        if not np.all(values % 1 == 0):
            raise ValueError(f"{function}: {name} must hold integers")
        found.append(values.astype(np.int64))
    return found


def _orders(n: Any, m: Any, ndim: int) -> tuple[Any, Any]:
    """Return the degrees 0 ... n and the orders 0 ... m, -m ... -1 on two axes, followed by ndim axes of size 1."""
    degrees = np.arange(int(n) + 1).reshape((-1, 1) + (1,) * ndim)
    return degrees, np.r_[0 : int(m) + 1, -int(m) : 0].reshape((1, -1) + (1,) * ndim)


# -- Legendre functions (DLMF 14, 18.9) ----------------------------------------------------------------------------------------


def _legendre_derivative(n: Any, k: Any, z: Any) -> Any:
    """k-th derivative of the Legendre polynomial of degree n: (2k - 1)!! times Gegenbauer's polynomial of degree n - k."""
    degree = np.maximum(n - k, 0)
    found = S.factorial2(np.maximum(2 * k - 1, 0)) * S.eval_gegenbauer(w.as_tensor(degree + 0 * k), w.as_tensor(k + 0.5), z)
    return w.where(w.as_tensor(n >= k), found, 0.0)


def legendre_p(n, z, *, diff_n=0):
    """Legendre polynomials and their derivatives up to diff_n, (diff_n + 1, ...). n >= 0. Derivative: in z."""
    (n,) = _whole("legendre_p", n=n)
    if np.any(n < 0):
        return NotImplemented
    values = S.legendre_p(n, detached(z), diff_n=diff_n)
    (z,) = operands(z)
    return with_values(w.stack([_legendre_derivative(n, np.asarray(k), z) for k in range(diff_n + 1)]), values)


def legendre_p_all(n, z, *, diff_n=0):
    """The polynomials of the degrees 0 ... n, (diff_n + 1, n + 1, ...). Derivative: in z."""
    (n,) = _whole("legendre_p_all", n=n)
    return legendre_p(np.arange(int(n) + 1).reshape((-1,) + (1,) * np.ndim(detached(z))), z, diff_n=diff_n)


def _derivatives(first: dict[Any, Any], derived: Callable[[Any, Any], list[tuple[Any, Any]]], count: int) -> list[dict[Any, Any]]:
    """Return the terms of a sum and of its derivatives up to an order. derived(term, factor): the terms of a derivative."""
    found = [first]
    for _ in range(count):
        following: dict[Any, Any] = {}
        for term, factor in found[-1].items():
            for new, more in derived(term, factor):
                following[new] = following.get(new, 0.0) + more
        found.append(following)
    return found


def assoc_legendre_p(n, m, z, *, branch_cut=2, norm=False, diff_n=0):
    """Associated Legendre functions and their derivatives up to diff_n, (diff_n + 1, ...). Derivative: in z, a real number.

    n >= 0. branch_cut: 2 for -1 <= z <= 1, or 3 for z > 1; elsewhere ArgumentError is raised."""
    n, m = _whole("assoc_legendre_p", n=n, m=m)
    if np.any(n < 0):
        return NotImplemented
    values = S.assoc_legendre_p(n, m, detached(z), branch_cut=branch_cut, norm=norm, diff_n=diff_n)
    (z,) = operands(z)
    inside, places = np.ndim(branch_cut) == 0 and branch_cut == 2, detached(z)
    if z.is_complex() or not np.all(np.abs(places) <= 1 if inside else (places > 1) & np.all(np.asarray(branch_cut) == 3)):
        raise errors.ArgumentError(
            "assoc_legendre_p has a derivative for real z: -1 <= z <= 1 for branch_cut=2, z > 1 for branch_cut=3."
        )
    size = np.abs(m)
    ratio = np.where(size <= n, np.exp(S.gammaln(np.maximum(n - size, 0) + 1) - S.gammaln(n + size + 1)), 0.0)
    factor = np.where((m < 0) | (not inside), 1.0, (-1.0) ** size)  # Condon's and Shortley's phase
    factor = factor * (np.sqrt((n + 0.5) * ratio) if norm else np.where(m < 0, ratio, 1.0))
    square = (1 - z * z) if inside else z * z - 1
    turn = -2.0 if inside else 2.0

    # A term (a, b, c) is z**a square**(size / 2 - b) times the derivative of order size + c of the polynomial.
    def derived(term: Any, factor: Any) -> list[tuple[Any, Any]]:
        a, b, c = term
        lower = [((a - 1, b, c), a * factor)] if a else []
        return [*lower, ((a + 1, b + 1, c), factor * turn * (size / 2 - b)), ((a, b, c + 1), factor)]

    def value(term: Any, factor: Any) -> Any:
        a, b, c = term
        power = np.where(factor == 0, 0.0, size / 2 - b)
        return w.as_tensor(factor) * z**a * square ** w.as_tensor(power) * _legendre_derivative(n, size + c, z)

    rows = [sum(value(t, f) for t, f in terms.items()) for terms in _derivatives({(0, 0, 0): factor + 0.0 * n}, derived, diff_n)]
    return with_values(w.stack(rows), values)


def assoc_legendre_p_all(n, m, z, *, branch_cut=2, norm=False, diff_n=0):
    """The functions of the degrees 0 ... n and the orders 0 ... m, -m ... -1, (diff_n + 1, n + 1, 2m + 1, ...).

    Derivative: in z."""
    n, m = _whole("assoc_legendre_p_all", n=n, m=m)
    degrees, orders = _orders(n, m, np.ndim(detached(z)))
    return assoc_legendre_p(degrees, orders, z, branch_cut=branch_cut, norm=norm, diff_n=diff_n)


# -- spherical harmonics ---------------------------------------------------------------------------------------------------------


def _polar_derivatives(n: Any, m: Any, theta: Any, count: int) -> list[Any]:
    """The spherical Legendre function of theta and its derivatives up to an order, by the ladder of orders (DLMF 14.10)."""

    def derived(step: int, factor: Any) -> list[tuple[Any, Any]]:
        order = m + step
        up = np.sqrt(np.maximum((n - order) * (n + order + 1), 0))
        down = np.sqrt(np.maximum((n + order) * (n - order + 1), 0))
        return [(step + 1, 0.5 * up * factor), (step - 1, -0.5 * down * factor)]

    def value(step: int, factor: Any) -> Any:
        degree, order = [w.as_tensor(x + 0 * n).to(theta.dtype) for x in (n, m + step)]
        return w.as_tensor(factor) * _F._spherical_harmonic(degree, order, theta)

    return [sum(value(t, f) for t, f in terms.items()) for terms in _derivatives({0: np.ones(())}, derived, count)]


def sph_legendre_p(n, m, theta, *, diff_n=0):
    """Spherical Legendre functions and their derivatives up to diff_n, (diff_n + 1, ...). Derivative: in theta."""
    n, m = _whole("sph_legendre_p", n=n, m=m)
    values = S.sph_legendre_p(n, m, detached(theta), diff_n=diff_n)
    (theta,) = operands(theta)
    return with_values(w.stack([w.broadcast_to(x, values.shape[1:]) for x in _polar_derivatives(n, m, theta, diff_n)]), values)


def sph_legendre_p_all(n, m, theta, *, diff_n=0):
    """The functions of the degrees 0 ... n and the orders 0 ... m, -m ... -1, (diff_n + 1, n + 1, 2m + 1, ...).

    Derivative: in theta."""
    n, m = _whole("sph_legendre_p_all", n=n, m=m)
    return sph_legendre_p(*_orders(n, m, np.ndim(detached(theta))), theta, diff_n=diff_n)


def sph_harm_y(n, m, theta, phi, *, diff_n=0):
    """Spherical harmonics of degree n and order m, complex. theta: polar angle, phi: azimuth.

    diff_n: 1 returns (values, gradients (..., 2)), and 2 the second derivatives (..., 2, 2) after them.

    Derivative: i m Y in phi; in theta by the harmonics of the orders m - 1 and m + 1."""
    n, m = _whole("sph_harm_y", n=n, m=m)
    theta, phi = operands(theta, phi)
    polar = _polar_derivatives(n, m, theta, diff_n)
    turn = w.polar(w.ones_like(phi), w.as_tensor(m).to(phi.dtype) * phi)
    rows = [[x * turn * w.as_tensor((1j * m) ** k) for k in range(diff_n + 1)] for x in polar]
    if diff_n == 0:
        return rows[0][0]
    found = [rows[0][0], w.stack([rows[1][0], rows[0][1]], -1)]
    if diff_n > 1:
        found.append(w.stack([w.stack([rows[2][0], rows[1][1]], -1), w.stack([rows[1][1], rows[0][2]], -1)], -2))
    return tuple(found)


def sph_harm_y_all(n, m, theta, phi, *, diff_n=0):
    """The harmonics of the degrees 0 ... n and the orders 0 ... m, -m ... -1, (n + 1, 2m + 1, ...). diff_n: see sph_harm_y."""
    n, m = _whole("sph_harm_y_all", n=n, m=m)
    ndim = np.broadcast(detached(theta), detached(phi)).ndim
    return sph_harm_y(*_orders(n, m, ndim), theta, phi, diff_n=diff_n)


# -- sequences of orders ---------------------------------------------------------------------------------------------------------


def _sequence(name: str, first: Any, x: Any, term: Callable[[float, Any], Any]) -> Any:
    """Return SciPy's values and slopes of a function of the orders 0 ... first, with the derivatives of term(order, x), a pair."""
    if is_differentiated([first]):
        raise errors.no_array_of("Tensor that requires grad", f"scipy.special.{name} in its first argument")
    if first < 0:
        return NotImplemented  # some of SciPy's values are wrong there
    values = getattr(S, name)(first, np.asarray(detached(x)).item())
    (x,) = operands(x)
    found = [term(first - math.trunc(first) + k, x) for k in range(len(values[0]))]
    values_of, slopes_of = [with_values(w.stack(list(y)), z) for y, z in zip(zip(*found, strict=True), values, strict=True)]
    return values_of, slopes_of


def lmbda(v, x):
    """Jahnke's and Emden's functions gamma(v + 1) J(v, x) / (x / 2)**v of the orders v0 ... v, and their derivatives."""

    def value(order: float, x: Any) -> Any:
        return S.hyp0f1(order + 1.0, -x * x / 4)

    return _sequence("lmbda", v, x, lambda order, x: (value(order, x), -x / (2 * (order + 1)) * value(order + 1, x)))


def pbdv_seq(v, x):
    """Parabolic cylinder functions D(v, x) of the orders v0 ... v >= 0, and their slopes. Derivative: in x, by their equation."""
    return _sequence("pbdv_seq", v, x, S.pbdv)


def pbvv_seq(v, x):
    """Parabolic cylinder functions V(v, x) of the orders v0 ... v >= 0, and their slopes. Derivative: in x, by their equation."""
    return _sequence("pbvv_seq", v, x, S.pbvv)


def pbdn_seq(n, z):
    """Parabolic cylinder functions D(n, z) of the degrees 0 ... n >= 0, and their derivatives. Derivative: in z, a real number.

    SciPy's values at complex numbers are not those of the function."""
    if operands(z)[0].is_complex():
        return NotImplemented

    def value(order: float, z: Any) -> Any:  # DLMF 18.15.28: Hermite's polynomial times a Gaussian
        before, found = 0 * z, z**0
        for k in range(int(order)):
            before, found = found, z * found - k * before
        return w.exp(-z * z / 4) * found

    return _sequence("pbdn_seq", n, z, lambda k, z: (value(k, z), z / 2 * value(k, z) - value(k + 1, z)))


def _riccati(name: str, kind: str) -> Callable[..., Any]:
    def function(n: Any, x: Any) -> Any:
        def term(order: float, x: Any) -> Any:
            degree = w.as_tensor(np.asarray(order)).to(x.dtype)
            value, slope = [_F._spherical_bessel(degree, x, name=kind, primes=k) for k in (0, 1)]
            return x * value, value + x * slope

        return _sequence(name, n, x, term)

    function.__name__ = name
    function.__doc__ = f"Riccati's functions x {kind}(k, x) of the orders 0 ... n, and their derivatives. Derivative: in x."
    return function


riccati_jn, riccati_yn = _riccati("riccati_jn", "spherical_jn"), _riccati("riccati_yn", "spherical_yn")


def lqn(n, z):
    """Legendre functions of the second kind of the degrees 0 ... n, and their derivatives. Derivative: in z, real, |z| not 1."""
    if operands(z)[0].is_complex():
        return NotImplemented

    def value(order: float, z: Any) -> Any:
        k = int(order)
        if abs(detached(z)) > 1:  # DLMF 14.3.7 and 15.4
            factor = math.sqrt(math.pi) * math.exp(math.lgamma(k + 1) - math.lgamma(k + 1.5))
            return factor / (2 * z) ** (k + 1) * S.hyp2f1(k / 2 + 1, (k + 1) / 2, k + 1.5, 1 / (z * z))
        before, found = w.arctanh(z), z * w.arctanh(z) - 1
        for j in range(1, k):
            before, found = found, ((2 * j + 1) * z * found - j * before) / (j + 1)
        return found if k else before

    def slope(order: float, z: Any) -> Any:  # DLMF 14.10.5
        lower = value(order - 1, z) * order if order else 1.0
        return (lower - order * z * value(order, z)) / (1 - z * z)

    return _sequence("lqn", n, z, lambda k, z: (value(k, z), slope(k, z)))


def _modified_fresnel(name: str, sign: int) -> Callable[..., Any]:
    def function(x: Any) -> Any:
        values = getattr(S, name)(detached(x))
        (x,) = operands(x)
        if np.any(detached(x) < 0):
            raise errors.ArgumentError(f"{name} has a derivative for x >= 0. Elsewhere SciPy's values are not the integral's.")
        sine, cosine = S.fresnel(x * math.sqrt(2 / math.pi))
        integral = w.complex(0.5 - cosine, sign * (0.5 - sine)) * math.sqrt(math.pi / 2)
        turn = w.polar(w.ones_like(x), -sign * (x * x + math.pi / 4)) / math.sqrt(math.pi)
        return tuple([with_values(y, z) for y, z in zip((integral, turn * integral), values, strict=True)])

    function.__name__ = name
    function.__doc__ = f"Integral of exp({'+' if sign > 0 else '-'}i t**2) from x >= 0 on, and its modified form. Derivative: in x."
    return function


modfresnelp, modfresnelm = _modified_fresnel("modfresnelp", 1), _modified_fresnel("modfresnelm", -1)
