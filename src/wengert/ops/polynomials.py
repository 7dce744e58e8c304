"""Orthogonal polynomials of degree n, computed by their three-term recurrences.

Their derivatives are orthogonal polynomials too. n may be a tensor. It is truncated to an integer, and a negative degree
gives 0, so the derivative of a constant needs no special case. The formulas are those of Abramowitz and Stegun,
chapter 22. torch has no derivatives of these functions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.ops.registry import INT_TO_FLOAT, pointwise
from wengert.ops.values import is_number

_SETTINGS: dict[str, Any] = {"promote": INT_TO_FLOAT, "complex": False, "method": False}


def _evaluate(xp: Any, x: Any, n: Any, first: Any, step: Callable[[int, Any, Any], Any]) -> Any:
    """Evaluate the polynomial of degree n at x, with broadcasting.

    first: the polynomial of degree 1 at x. step(k, p, q): the polynomial of degree k + 1, given p of degree k and q of
    degree k - 1."""
    if not hasattr(x, "dtype"):
        x = xp.asarray(x, n.dtype)
    degrees = xp.asarray(xp.trunc(n), xp.int64)
    last = int(degrees.max()) if degrees.size else 0
    shape = xp.broadcast_shapes(x.shape, degrees.shape)
    q, p = xp.ones(x.shape, x.dtype), xp.asarray(first, x.dtype)
    out = xp.zeros(shape, x.dtype)
    for k in range(last + 1):
        xp.copyto(out, q, where=degrees == k)
        q, p = p, (xp.asarray(step(k + 1, p, q), x.dtype) if k < last else p)
    return out


def _truncated_degree(F: Any, n: Any) -> Any:
    """Truncate n, a number or a tensor, to an integer."""
    return int(n) if is_number(n) else F.trunc(n)


@pointwise(**_SETTINGS, namespaces=())
def _gegenbauer(xp, x, n, *, alpha):
    """Ultraspherical polynomial C of degree n. Derivative: 2 alpha C of degree n - 1 and parameter alpha + 1."""
    return _evaluate(
        xp, x, n, 2 * alpha * x, lambda k, p, q: (2 * (k + alpha) * x * p - (k + 2 * alpha - 1) * q) / (k + 1)
    )


@_gegenbauer.vjp("x")
def _(F, ct, x, n, alpha):
    return ct * 2 * alpha * F._gegenbauer(x, n - 1, alpha=alpha + 1)


@pointwise(**_SETTINGS, namespaces=())
def _laguerre(xp, x, n, *, alpha):
    """Generalised Laguerre polynomial L of degree n. Derivative: -L of degree n - 1 and parameter alpha + 1."""
    return _evaluate(
        xp, x, n, 1 + alpha - x, lambda k, p, q: ((2 * k + 1 + alpha - x) * p - (k + alpha) * q) / (k + 1)
    )


@_laguerre.vjp("x")
def _(F, ct, x, n, alpha):
    return -ct * F._laguerre(x, n - 1, alpha=alpha + 1)


# -- Chebyshev ---------------------------------------------------------------------------------------------------------


def _chebyshev(kind: str, xp: Any, x: Any, n: Any) -> Any:
    """Evaluate T, U, V or W. The four kinds share a recurrence and differ in the polynomial of degree 1."""
    first = {"t": x, "u": x + x, "v": x + x - 1, "w": x + x + 1}[kind]
    return _evaluate(xp, x, n, first, lambda k, p, q: (x + x) * p - q)


def _chebyshev_slope(kind: str, F: Any, x: Any, n: Any) -> Any:
    """Derivative of _chebyshev in x."""
    n = _truncated_degree(F, n)
    if kind == "t":
        return n * F._gegenbauer(x, n - 1, alpha=1)
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
    return _evaluate(xp, x, n, x, lambda k, p, q: ((2 * k + 1) * x * p - k * q) / (k + 1))


@special_legendre_polynomial_p.vjp("x")
def _(F, ct, x, n):
    return ct * F._gegenbauer(x, _truncated_degree(F, n) - 1, alpha=1.5)
