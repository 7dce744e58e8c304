"""Bessel functions, spherical Bessel functions and Airy's function, computed by SciPy.

The derivative of each Bessel function is a sum of the functions of the neighbouring orders (Abramowitz and Stegun 9.1.27,
9.6.26, 10.1.20). These formulas do not divide by x. So derivatives of any order are exact wherever the function is
finite, also at 0.
"""

from __future__ import annotations

import math
from typing import Any

from wengert._forks import import_late
from wengert.backends.selection import backend_of, may_hold
from wengert.ops.registry import INT_TO_FLOAT, pointwise
from wengert.ops.scipy_special import special

_SETTINGS: dict[str, Any] = {"promote": INT_TO_FLOAT, "complex": False, "domain": (0.2, 4.0), "method": False}
_PRIVATE: dict[str, Any] = {**_SETTINGS, "namespaces": ()}

# By kind: SciPy's function of any order, and its faster functions of order 0 and order 1.
_SCIPY_NAMES = {
    "j": ("jv", "j0", "j1"),
    "y": ("yn", "y0", "y1"),
    "i": ("iv", "i0", "i1"),
    "ie": ("ive", "i0e", "i1e"),
    "k": ("kn", "k0", "k1"),
    "ke": ("kve", "k0e", "k1e"),
}


def _bessel(kind: str, order: int, x: Any) -> Any:
    """The Bessel function of a kind (a key of _SCIPY_NAMES) and an integer order >= 0."""
    names = _SCIPY_NAMES[kind]
    if order < 2:
        return special(names[order + 1], x)
    found = special(names[0], order, x)
    return found if kind not in _LEADING_FACTORS else _large_by_series(kind, order, x, found)


_SERIES_FROM = 1e8
_LEADING_FACTORS = {"ie": 1 / math.sqrt(2 * math.pi), "ke": math.sqrt(math.pi / 2)}


def _large_by_series(kind: str, order: int, x: Any, found: Any) -> Any:
    """Replace found by two terms of the asymptotic series (Abramowitz and Stegun 9.7.1, 9.7.2) for large x.

    For orders above 1, SciPy returns NaN for such x."""
    xp = backend_of(x)
    size = xp.abs(x)
    large = size > _SERIES_FROM if kind == "ie" else x > _SERIES_FROM
    if not may_hold(large):
        return found
    term = (4 * order**2 - 1) / (8 * size)
    series = _LEADING_FACTORS[kind] / xp.sqrt(size) * (1 - term if kind == "ie" else 1 + term)
    if kind == "ie" and order % 2:
        series = xp.copysign(series, x)
    return xp.where(large, series, found).astype(found.dtype, copy=False)


@pointwise(**_PRIVATE)
def _bessel_j(xp, x, *, order):
    """The Bessel function of the first kind, J.

    Derivative: (J(order - 1) - J(order + 1)) / 2; for order 0 -J(1)."""
    return _bessel("j", order, x)


@pointwise(**_PRIVATE)
def _bessel_y(xp, x, *, order):
    """The Bessel function of the second kind, Y; NaN for negative x.

    Derivative: (Y(order - 1) - Y(order + 1)) / 2; for order 0 -Y(1)."""
    return _bessel("y", order, x)


def _derivative_of_j_or_y(function: Any, x: Any, order: int) -> Any:
    """The derivative of J or Y."""
    if order == 0:
        return -function(x, order=1)
    return 0.5 * (function(x, order=order - 1) - function(x, order=order + 1))


@_bessel_j.vjp("x")
def _(F, ct, x, order):
    return ct * _derivative_of_j_or_y(F._bessel_j, x, order)


@_bessel_y.vjp("x")
def _(F, ct, x, order):
    return ct * _derivative_of_j_or_y(F._bessel_y, x, order)


@pointwise(**_PRIVATE)
def _bessel_i(xp, x, *, order, scaled):
    """The modified Bessel function of the first kind, I; if scaled, times exp(-|x|).

    Derivative: (I(order - 1) + I(order + 1)) / 2; for order 0 I(1). If scaled, minus sign(x) * out, with scaled I."""
    return _bessel("ie" if scaled else "i", order, x)


@_bessel_i.vjp("x")
def _(F, ct, x, out, order, scaled):
    return ct * _derivative_of_i(F, x, out, order, scaled)


def _derivative_of_i(F: Any, x: Any, out: Any, order: int, scaled: bool) -> Any:
    """The derivative of I, whose value is out."""
    slope = F._bessel_i(x, order=order + 1, scaled=scaled)
    if order:
        slope = 0.5 * (slope + F._bessel_i(x, order=order - 1, scaled=scaled))
    if not scaled:
        return slope
    # For large x the difference cancels, and its derivatives cancel more.
    return F.where(F.abs(x) > _SLOPES_BY_SERIES_FROM, F._large_scaled_i(x, order=order, n=1), slope - F.sign(x) * out)


_SLOPES_BY_SERIES_FROM = 40.0
_TERMS = 30


@pointwise(**_PRIVATE)
def _large_scaled_i(xp, x, *, order, n):
    """n-th derivative of the scaled I for |x| > 40, from its asymptotic series (Abramowitz and Stegun 9.7.1). Others are arbitrary.

    Derivative: that of order n + 1."""
    size = xp.maximum(xp.abs(x), 40.0).astype(xp.float64)
    coefficient, total = _LEADING_FACTORS["ie"], xp.zeros_like(size)
    for k in range(_TERMS):
        power = -0.5 - k
        total = total + coefficient * math.prod([power - i for i in range(n)]) * size ** (power - n)
        coefficient *= -(4 * order**2 - (2 * k + 1) ** 2) / (8 * (k + 1))
    return (total * xp.sign(x) ** (order + n)).astype(x.dtype)


@_large_scaled_i.vjp("x")
def _(F, ct, x, order, n):
    return ct * F._large_scaled_i(x, order=order, n=n + 1)


@pointwise(**_PRIVATE)
def _bessel_k(xp, x, *, order, scaled):
    """The modified Bessel function of the second kind, K; if scaled, times exp(x). NaN for negative x.

    Derivative: -(K(order - 1) + K(order + 1)) / 2; for order 0 -K(1). If scaled, plus out, with scaled K."""
    return _bessel("ke" if scaled else "k", order, x)


@_bessel_k.vjp("x")
def _(F, ct, x, out, order, scaled):
    return ct * _derivative_of_k(F, x, out, order, scaled)


def _derivative_of_k(F: Any, x: Any, out: Any, order: int, scaled: bool) -> Any:
    """The derivative of K, whose value is out."""
    slope = F._bessel_k(x, order=order + 1, scaled=scaled)
    if order:
        slope = 0.5 * (slope + F._bessel_k(x, order=order - 1, scaled=scaled))
    return out - slope if scaled else -slope


@pointwise(**_PRIVATE)
def _spherical_j(xp, x, *, order):
    """The spherical Bessel function of the first kind, j.

    Derivative: (order j(order - 1) - (order + 1) j(order + 1)) / (2 order + 1)."""
    if order == 0:
        return xp.where(xp.isinf(x), x.dtype.type(0), xp.sinc(x / xp.pi).astype(x.dtype, copy=False))
    return special("spherical_jn", order, x)


@_spherical_j.vjp("x")
def _(F, ct, x, order):
    slope = -(order + 1) / (2 * order + 1) * F._spherical_j(x, order=order + 1)
    if order:
        slope = slope + order / (2 * order + 1) * F._spherical_j(x, order=order - 1)
    return ct * slope


@pointwise(**_PRIVATE)
def _airy(xp, x, *, derivative):
    """Airy's function Ai, or if `derivative` its derivative Ai'.

    Derivative: Ai'(x) of Ai, x * Ai(x) of Ai' (Abramowitz and Stegun 10.4.1)."""
    wide = x if x.dtype.itemsize == 8 else x.astype(xp.float64)
    return import_late("scipy.special").airy(wide)[1 if derivative else 0].astype(x.dtype, copy=False)


@_airy.vjp("x")
def _(F, ct, x, derivative):
    return ct * (x * F._airy(x, derivative=False) if derivative else F._airy(x, derivative=True))


# -- the public functions ----------------------------------------------------------------------------------------------


# By kind: the derivatives of order 0 and order 1.
_DERIVATIVES = {
    "j": ("-J1(x)", "(J0(x) - J2(x)) / 2"),
    "y": ("-Y1(x)", "(Y0(x) - Y2(x)) / 2"),
    "i": ("I1(x)", "(I0(x) + I2(x)) / 2"),
    "ie": ("exp(-|x|) * I1(x) - sign(x) * out", "exp(-|x|) * (I0(x) + I2(x)) / 2 - sign(x) * out"),
    "k": ("-K1(x)", "-(K0(x) + K2(x)) / 2"),
    "ke": ("out - exp(x) * K1(x)", "out - exp(x) * (K0(x) + K2(x)) / 2"),
}


def _register(name: str, text: str, kind: str, order: int, node: str | None = None) -> None:
    """Register special.<name>, a Bessel function of one kind (a key of _SCIPY_NAMES) and order, with text as docstring."""

    def forward(xp, x):
        return _bessel(kind, order, x)

    forward.__name__ = forward.__qualname__ = f"special_{name}"
    forward.__doc__ = f"{text} x: any shape; integers become floats.\n\n    Derivative: {_DERIVATIVES[kind][order]}."
    op = pointwise(**_SETTINGS, namespaces=("special",), node=node)(forward)

    if kind in ("j", "y"):

        @op.vjp("x")
        def _(F, ct, x):
            return ct * _derivative_of_j_or_y(F._bessel_j if kind == "j" else F._bessel_y, x, order)

    else:
        slope = _derivative_of_i if kind.startswith("i") else _derivative_of_k

        @op.vjp("x")
        def _(F, ct, x, out):
            return ct * slope(F, x, out, order, kind.endswith("e"))


for _order in (0, 1):
    _register(f"bessel_j{_order}", f"The Bessel function of the first kind of order {_order}.", "j", _order)
    _register(f"bessel_y{_order}", f"The Bessel function of the second kind of order {_order}; NaN for x < 0.", "y", _order)
    _register(f"modified_bessel_i{_order}", f"The modified Bessel function of the first kind of order {_order}.", "i", _order)
    _register(f"modified_bessel_k{_order}", f"The modified Bessel function of the second kind of order {_order}; NaN for x < 0.",
            "k", _order)  # fmt: skip
    _register(f"scaled_modified_bessel_k{_order}", f"The modified Bessel function of the second kind of order {_order}, "
            "times exp(x); NaN for x < 0.", "ke", _order)  # fmt: skip
    _register(f"i{_order}e", f"The modified Bessel function of the first kind of order {_order}, times exp(-|x|).", "ie", _order,
            f"SpecialI{_order}EBackward0")  # fmt: skip
_register("i1", "The modified Bessel function of the first kind of order 1.", "i", 1)


@pointwise(**_SETTINGS, namespaces=("special",))
def special_spherical_bessel_j0(xp, x):
    """The spherical Bessel function of the first kind of order 0, sin(x) / x. x: any shape; integers become floats.

    Derivative: -j1(x), the spherical function of order 1."""
    return _spherical_j.forward(xp, x, order=0)


@special_spherical_bessel_j0.vjp("x")
def _(F, ct, x):
    return -ct * F._spherical_j(x, order=1)


@pointwise(**_SETTINGS, namespaces=("special",))
def special_airy_ai(xp, x):
    """Airy's function Ai, the solution of y'' = x * y that vanishes at infinity. x: any shape; integers become floats.

    Derivative: Ai'(x)."""
    return _airy.forward(xp, x, derivative=False)


@special_airy_ai.vjp("x")
def _(F, ct, x):
    return ct * F._airy(x, derivative=True)
