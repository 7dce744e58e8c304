"""Orthogonal polynomials of degree n, computed by their three-term recurrences.

Their derivatives are orthogonal polynomials too. n may be a tensor. It is truncated to an integer, and a negative degree
gives 0, so the derivative of a constant needs no special case. The formulas are those of Abramowitz and Stegun,
chapter 22. torch has no derivatives of these functions.

Degrees above 1024 are computed by doubling (Chebyshev) or by SciPy (Legendre, Laguerre; RuntimeError above 10**7). Hermite
polynomials of such degrees are NaN: their values are larger than all floats.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from wengert import errors
from wengert._forks import import_late
from wengert.ops.registry import INT_TO_FLOAT, pointwise
from wengert.ops.values import is_number

_SETTINGS: dict[str, Any] = {"promote": INT_TO_FLOAT, "complex": False, "method": False}


_STEPS = 1024  # of a recurrence in Python. Higher degrees are computed in other ways.
_MAX_DEGREE = 10**7  # of a recurrence in C


def _evaluate(xp: Any, x: Any, n: Any, first: Any, step: Callable[[int, Any, Any], Any], high: Any = None) -> Any:
    """Evaluate the polynomial of degree n at x, with broadcasting.

    first: the polynomial of degree 1 at x. step(k, p, q): the polynomial of degree k + 1, given p of degree k and q of
    degree k - 1. high(degrees, x): the polynomials of degrees above 1024, of int64 and x broadcast. None: they are NaN."""
    if not hasattr(x, "dtype"):
        x = xp.asarray(x, n.dtype)
    degrees = _as_degrees(xp, n)
    last = min(int(degrees.max()), _STEPS) if degrees.size else 0
    shape = xp.broadcast_shapes(x.shape, degrees.shape)
    q, p = xp.ones(x.shape, x.dtype), xp.asarray(first, x.dtype)
    out = xp.zeros(shape, x.dtype)
    for k in range(last + 1):
        xp.copyto(out, q, where=degrees == k)
        q, p = p, (xp.asarray(step(k + 1, p, q), x.dtype) if k < last else p)
    above = xp.broadcast_to(degrees > _STEPS, shape)
    if above.any():
        degrees, x = xp.broadcast_to(degrees, shape)[above], xp.broadcast_to(x, shape)[above]
        out[above] = xp.nan if high is None else high(degrees, x)
    return out


def _as_degrees(xp: Any, n: Any) -> Any:
    """Return n as int64. Infinite and very large degrees become 2**62, NaN becomes -1."""
    n = xp.asarray(n)
    if n.dtype.kind in "biu":
        return xp.minimum(n, 2**62).astype(xp.int64)
    return xp.clip(xp.nan_to_num(xp.trunc(n), nan=-1.0, posinf=2.0**62), -1, 2.0**62).astype(xp.int64)


def _recurrence_in_c(name: str, *parameters: float) -> Callable[[Any, Any], Any]:
    """Return a function of degrees and x that calls SciPy's function. Raises RuntimeError for degrees above 10**7."""

    def high(degrees: Any, x: Any) -> Any:
        if degrees.max() > _MAX_DEGREE:
            raise errors.ShapeError(f"the degree {degrees.max()} of a polynomial is larger than {_MAX_DEGREE}")
        special = import_late("scipy.special")

        return getattr(special, name)(degrees, *parameters, x.astype("float64")).astype(x.dtype)

    return high


def _truncated_degree(F: Any, n: Any) -> Any:
    """Truncate n, a number or a tensor, to an integer."""
    return int(n) if is_number(n) else F.trunc(n)


@pointwise(**_SETTINGS, namespaces=())
def _gegenbauer(xp, x, n, *, alpha):
    """Ultraspherical polynomial C of degree n. Derivative: 2 alpha C of degree n - 1 and parameter alpha + 1."""
    return _evaluate(
        xp, x, n, 2 * alpha * x, lambda k, p, q: (2 * (k + alpha) * x * p - (k + 2 * alpha - 1) * q) / (k + 1),
        _recurrence_in_c("eval_gegenbauer", alpha),
    )


@_gegenbauer.vjp("x")
def _(F, ct, x, n, alpha):
    return ct * 2 * alpha * F._gegenbauer(x, n - 1, alpha=alpha + 1)


@pointwise(**_SETTINGS, namespaces=())
def _laguerre(xp, x, n, *, alpha):
    """Generalised Laguerre polynomial L of degree n. Derivative: -L of degree n - 1 and parameter alpha + 1."""
    return _evaluate(
        xp, x, n, 1 + alpha - x, lambda k, p, q: ((2 * k + 1 + alpha - x) * p - (k + alpha) * q) / (k + 1),
        _recurrence_in_c("eval_genlaguerre", alpha),
    )


@_laguerre.vjp("x")
def _(F, ct, x, n, alpha):
    return -ct * F._laguerre(x, n - 1, alpha=alpha + 1)


# -- Chebyshev ---------------------------------------------------------------------------------------------------------


def _chebyshev(kind: str, xp: Any, x: Any, n: Any) -> Any:
    """Evaluate T, U, V or W. The four kinds share a recurrence and differ in the polynomial of degree 1."""
    first = {"t": x, "u": x + x, "v": x + x - 1, "w": x + x + 1}[kind]
    return _evaluate(xp, x, n, first, lambda k, p, q: (x + x) * p - q, partial(_chebyshev_of_high_degree, kind, xp))


def _chebyshev_of_high_degree(kind: str, xp: Any, degrees: Any, x: Any) -> Any:
    """Evaluate T, U, V or W by doubling: (T_n, U_(n-1)) is the n-th power of (x, 1), whose product is
    (t, u) (s, v) = (t s + (x**2 - 1) u v, t v + u s). For |x| < 1 the error is n epsilons, so degrees above 2**40 give NaN."""
    dtype = x.dtype
    x = xp.where((degrees > 2**40) & (abs(x) < 1), xp.nan, x.astype(xp.float64))
    square = (x - 1) * (x + 1)
    t, u = xp.ones(x.shape, x.dtype), xp.zeros(x.shape, x.dtype)
    s, v = x, xp.ones(x.shape, x.dtype)
    for bit in range(int(degrees.max()).bit_length()):
        wanted = degrees >> bit & 1 == 1
        first = degrees & (1 << bit) - 1 == 0  # (s, v) may be infinite, and would give NaN times (1, 0)
        product = xp.where(first, s, t * s + square * (u * v)), xp.where(first, v, t * v + u * s)
        t, u = xp.where(wanted, product[0], t), xp.where(wanted, product[1], u)
        s, v = s * s + square * (v * v), 2 * (s * v)
    # U_n = x U_(n-1) + T_n, V_n = U_n - U_(n-1), W_n = U_n + U_(n-1)
    return {"t": t, "u": x * u + t, "v": t + (x - 1) * u, "w": t + (x + 1) * u}[kind].astype(dtype)


def _chebyshev_slope(kind: str, F: Any, x: Any, n: Any) -> Any:
    """Derivative of _chebyshev in x."""
    n = _truncated_degree(F, n)
    if kind == "t":
        return n * F.special_chebyshev_polynomial_u(x, n - 1)
    slope = 2 * F._gegenbauer(x, n - 1, alpha=2)  # of U: V(n) = U(n) - U(n - 1) and W(n) = U(n) + U(n - 1)
    if kind == "u":
        return slope
    before = 2 * F._gegenbauer(x, n - 2, alpha=2)
    return slope - before if kind == "v" else slope + before


_KINDS = {
    "t": ("first", "n U(n - 1)"),
    "u": ("second", "2 C(n - 1), the ultraspherical polynomial of parameter 2"),
    "v": ("third", "2 (C(n - 1) - C(n - 2)), ultraspherical polynomials of parameter 2"),
    "w": ("fourth", "2 (C(n - 1) + C(n - 2)), ultraspherical polynomials of parameter 2"),
}


def _register_chebyshev(kind: str, shifted: bool) -> None:
    ordinal, slope = _KINDS[kind]

    def forward(xp, x, n):
        return _chebyshev(kind, xp, 2 * x - 1 if shifted else x, n)

    def rule(F, ct, x, n):
        if shifted:
            return ct * 2 * _chebyshev_slope(kind, F, 2 * x - 1, n)
        return ct * _chebyshev_slope(kind, F, x, n)

    prefix = "shifted_" if shifted else ""
    forward.__name__ = forward.__qualname__ = f"special_{prefix}chebyshev_polynomial_{kind}"
    forward.__doc__ = (
        f"Chebyshev polynomial of the {ordinal} kind and degree n at {'2 x - 1' if shifted else 'x'}; 0 for n < 0.\n\n"
        "    x, n: shapes that broadcast; n is truncated to an integer.\n\n"
        f"    Derivative: {slope}{', all at 2 x - 1, times 2' if shifted else ''} in x; none in n."
    )
    pointwise(**_SETTINGS, namespaces=("special",))(forward).vjp("x")(rule)


for _kind in _KINDS:
    _register_chebyshev(_kind, False)
    _register_chebyshev(_kind, True)


# -- the others --------------------------------------------------------------------------------------------------------


@pointwise(**_SETTINGS, namespaces=("special",))
def special_hermite_polynomial_h(xp, x, n):
    """Physicists' Hermite polynomial H of degree n at x; 0 for n < 0.

    x, n: shapes that broadcast; n is truncated to an integer. Derivative: 2 n H(n - 1) in x; none in n."""
    return _evaluate(xp, x, n, x + x, lambda k, p, q: (x + x) * p - 2 * k * q)


@special_hermite_polynomial_h.vjp("x")
def _(F, ct, x, n):
    n = _truncated_degree(F, n)
    return ct * 2 * n * F.special_hermite_polynomial_h(x, n - 1)


@pointwise(**_SETTINGS, namespaces=("special",))
def special_hermite_polynomial_he(xp, x, n):
    """Probabilists' Hermite polynomial He of degree n at x; 0 for n < 0.

    x, n: shapes that broadcast; n is truncated to an integer. Derivative: n He(n - 1) in x; none in n."""
    return _evaluate(xp, x, n, x, lambda k, p, q: x * p - k * q)


@special_hermite_polynomial_he.vjp("x")
def _(F, ct, x, n):
    n = _truncated_degree(F, n)
    return ct * n * F.special_hermite_polynomial_he(x, n - 1)


@pointwise(**_SETTINGS, namespaces=("special",))
def special_laguerre_polynomial_l(xp, x, n):
    """Laguerre polynomial of degree n at x; 0 for n < 0.

    x, n: shapes that broadcast; n is truncated to an integer.

    Derivative: in x minus the generalised Laguerre polynomial of degree n - 1 and parameter 1; none in n."""
    return _laguerre.forward(xp, x, n, alpha=0)


@special_laguerre_polynomial_l.vjp("x")
def _(F, ct, x, n):
    return -ct * F._laguerre(x, _truncated_degree(F, n) - 1, alpha=1)


@pointwise(**_SETTINGS, namespaces=("special",))
def special_legendre_polynomial_p(xp, x, n):
    """Legendre polynomial of degree n at x; 0 for n < 0.

    x, n: shapes that broadcast; n is truncated to an integer.

    Derivative: in x the ultraspherical polynomial of degree n - 1 and parameter 3 / 2; none in n."""
    return _evaluate(
        xp, x, n, x, lambda k, p, q: ((2 * k + 1) * x * p - k * q) / (k + 1), _recurrence_in_c("eval_legendre")
    )


@special_legendre_polynomial_p.vjp("x")
def _(F, ct, x, n):
    return ct * F._gegenbauer(x, _truncated_degree(F, n) - 1, alpha=1.5)
