"""The incomplete beta function and the density of the beta distribution. torch has neither."""

from __future__ import annotations

from typing import Any

from wengert.ops.registry import INT_TO_FLOAT, pointwise
from wengert.ops.scipy_special import special

_SETTINGS: dict[str, Any] = {"promote": INT_TO_FLOAT, "complex": False, "method": False}


@pointwise(
    **_SETTINGS,
    domain=(0.1, 0.9),
    namespaces=("special",),
    beyond_torch="torch has the incomplete gamma functions, but not the incomplete beta function",
)
def special_betainc(xp, a, b, x):
    """The regularised incomplete beta function I_x(a, b), with broadcasting. torch does not have it.

    I_x(a, b) is the integral from 0 to x of t**(a - 1) (1 - t)**(b - 1), divided by B(a, b). a, b > 0 and 0 <= x <= 1, else
    the result is NaN.

    Derivative: in x x**(a - 1) (1 - x)**(b - 1) / B(a, b). In a and b by quadrature, with a relative error of about 1e-13
    for a and b from 1e-3 to 1e4 (see incomplete_beta.py); 0 where x is 0 or 1."""
    return special("betainc", a, b, x)


@special_betainc.vjp("a")
def _(F, ct, a, b, x):
    return ct * F._betainc_by_parameters(a, b, x, m=1, n=0)


@special_betainc.vjp("b")
def _(F, ct, a, b, x):
    return ct * F._betainc_by_parameters(a, b, x, m=0, n=1)


@special_betainc.vjp("x")
def _(F, ct, a, b, x):
    return ct * F._beta_density(a, b, x, k=0, j=0)


@pointwise(**_SETTINGS, domain=(0.1, 0.9), namespaces=())
def _betainc_by_parameters(xp, a, b, x, *, m, n):
    """The derivative of betainc(a, b, x) of order m in a and order n in b, m + n >= 1.

    Derivative: in a and b the derivative of the next order. In x the density of the beta distribution times a polynomial
    (`densities.bell`), and 0 where the density is 0."""
    from wengert.ops.incomplete_beta import by_parameters

    wide = _as_float64(xp, a, b, x)
    return by_parameters(wide[0], wide[1], wide[2], m, n).astype(xp.result_type(a, b, x))


@_betainc_by_parameters.vjp("a")
def _(F, ct, a, b, x, m, n):
    return ct * F._betainc_by_parameters(a, b, x, m=m + 1, n=n)


@_betainc_by_parameters.vjp("b")
def _(F, ct, a, b, x, m, n):
    return ct * F._betainc_by_parameters(a, b, x, m=m, n=n + 1)


@_betainc_by_parameters.vjp("x")
def _(F, ct, a, b, x, m, n):
    from wengert.ops.densities import bell

    density = F._beta_density(a, b, x, k=0, j=0)
    return ct * F._zero_where(density * bell(_log_derivatives(F, a, b, x), m, n), density == 0)


def _log_derivatives(F: Any, a: Any, b: Any, x: Any) -> Any:
    """Return a function of (i, j): the derivative of the density's logarithm of order i in a and order j in b."""

    def derivative(i: int, j: int) -> Any:
        if i and j:
            return F._polygamma(a + b, n=i + j - 1)
        if i:
            return F._polygamma_step(a, b, order=i - 1) + (F.log(x) if i == 1 else 0.0)
        return F._polygamma_step(b, a, order=j - 1) + (F.log1p(-x) if j == 1 else 0.0)

    return derivative


@pointwise(**_SETTINGS, domain=(0.1, 0.9), namespaces=())
def _beta_density(xp, a, b, x, *, k, j):
    """x**(a - 1 - k) (1 - x)**(b - 1 - j) / B(a, b).

    Derivative: in a and b the value times the derivative of its logarithm. In x two terms of the same form, with k + 1 or
    j + 1; they are finite at 0 and 1 where the derivative is."""
    from wengert.ops.densities import beta_density

    wide = _as_float64(xp, a, b, x)
    return beta_density(wide[0], wide[1], wide[2], k, j).astype(xp.result_type(a, b, x))


@_beta_density.vjp("a")
def _(F, ct, a, b, x, out):
    return ct * F._zero_where(out * _log_derivatives(F, a, b, x)(1, 0), out == 0)


@_beta_density.vjp("b")
def _(F, ct, a, b, x, out):
    return ct * F._zero_where(out * _log_derivatives(F, a, b, x)(0, 1), out == 0)


@_beta_density.vjp("x")
def _(F, ct, a, b, x, k, j):
    below = (a - (k + 1)) * F._beta_density(a, b, x, k=k + 1, j=j)
    above = (b - (j + 1)) * F._beta_density(a, b, x, k=k, j=j + 1)
    # A power may be infinite where its factor is 0: such a term is 0. At x = 0 and 1 only the infinite power counts.
    no_below, no_above = (a == k + 1) | ((x == 1) & (b < j + 1)), (b == j + 1) | ((x == 0) & (a < k + 1))
    return ct * (F._zero_where(below, no_below) - F._zero_where(above, no_above))


@pointwise(**_SETTINGS, domain=(0.3, 3.0), namespaces=())
def _polygamma_step(xp, z, d, *, order):
    """polygamma(order, z + d) - polygamma(order, z) for z > 0 and z + d > 0, accurate also where the difference is small.

    Derivative: the step of the next order in z, polygamma(order + 1, z + d) in d."""
    from wengert.ops.densities import polygamma_step

    wide = _as_float64(xp, z, d)
    return polygamma_step(wide[0], wide[1], order).astype(xp.result_type(z, d))


@_polygamma_step.vjp("z")
def _(F, ct, z, d, order):
    return ct * F._polygamma_step(z, d, order=order + 1)


@_polygamma_step.vjp("d")
def _(F, ct, z, d, order):
    return ct * F._polygamma(z + d, n=order + 1)


def _as_float64(xp: Any, *operands: Any) -> Any:
    """Convert the operands to float64 and broadcast them against each other."""
    return xp.broadcast_arrays(*[xp.asarray(x, xp.float64) for x in operands])
