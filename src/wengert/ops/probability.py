"""Special functions of probability and information theory, Hurwitz' zeta function, and further names of torch.special."""

from __future__ import annotations

import math
from typing import Any

from wengert.ops.registry import INT_TO_FLOAT, composite, pointwise
from wengert.ops.scipy_special import special
from wengert.ops.values import is_number, number_of

_SETTINGS: dict[str, Any] = {
    "promote": INT_TO_FLOAT, "complex": False, "method": False, "namespaces": ("special",),
}  # fmt: skip
_ROOT_2 = math.sqrt(2)
_ROOT_2_PI = math.sqrt(2 * math.pi)


@pointwise(**_SETTINGS, domain=(0.1, 3.0))
def special_entr(xp, x):
    """Entropy -x log(x); 0 at x = 0, -inf for x < 0.

    x: any shape, real; bools and integers become the default float dtype. Derivative: -log(x) - 1."""
    return special("entr", x)


@special_entr.vjp("x")
def _(F, ct, x):
    return ct * (-F.log(x) - 1)


@pointwise(**_SETTINGS)
def special_erfcx(xp, x):
    """Scaled complementary error function, exp(x**2) erfc(x); about 1 / (x sqrt(pi)) for large x.

    x: any shape, real; bools and integers become the default float dtype. Derivative: 2 x erfcx(x) - 2 / sqrt(pi)."""
    return special("erfcx", x)


@special_erfcx.vjp("x")
def _(F, ct, x, out):
    # For large x the difference cancels, and its derivatives cancel more.
    return ct * F.where(x > _ERFCX_BY_SERIES_FROM, F._large_erfcx(x, n=1), 2 * x * out - 2 / math.sqrt(math.pi))


_ERFCX_BY_SERIES_FROM = 6.5
_TERMS = 40


@pointwise(promote=INT_TO_FLOAT, complex=False, method=False, namespaces=())
def _large_erfcx(xp, x, *, n):
    """n-th derivative of erfcx for x > 6.5, from its asymptotic series (Abramowitz and Stegun 7.1.23). Others are arbitrary.

    Derivative: that of order n + 1."""
    wide = xp.maximum(x, _ERFCX_BY_SERIES_FROM).astype(xp.float64)
    coefficient, total = 1 / math.sqrt(math.pi), xp.zeros_like(wide)
    for k in range(_TERMS):
        power = -1 - 2 * k
        total = total + coefficient * math.prod([power - i for i in range(n)]) * wide ** float(power - n)
        coefficient *= -(2 * k + 1) / 2
    return total.astype(x.dtype)


@_large_erfcx.vjp("x")
def _(F, ct, x, n):
    return ct * F._large_erfcx(x, n=n + 1)


@composite(namespaces=("special",))
def special_ndtr(F, input):
    """Cumulative distribution function of the standard normal distribution.

    Derivative: the density, exp(-x**2 / 2) / sqrt(2 pi)."""
    return F.erfc(input * (-1 / _ROOT_2)) * 0.5


@pointwise(**_SETTINGS)
def special_log_ndtr(xp, x):
    """Logarithm of `ndtr`, accurate also where ndtr is tiny.

    x: any shape, real; bools and integers become the default float dtype. Derivative: the density divided by ndtr,
    sqrt(2 / pi) / erfcx(-x / sqrt(2))."""
    return special("log_ndtr", x)


@special_log_ndtr.vjp("x")
def _(F, ct, x):
    return ct * F._normal_hazard(x)


_FAR_BELOW = -200.0


@pointwise(**{**_SETTINGS, "namespaces": ()})
def _normal_hazard(xp, x):
    """Density of the standard normal distribution divided by `ndtr`: 0 for large x, about -x for x far below 0.

    Derivative: -out (x + out); 0 where out is 0. Far below 0, x + out is computed as -1 / x + 2 / x**3 - 10 / x**5."""
    return math.sqrt(2 / math.pi) / special("erfcx", x * (-1 / _ROOT_2))


@_normal_hazard.vjp("x")
def _(F, ct, x, out):
    below = x < _FAR_BELOW
    inverse = 1 / F.where(below, x, _FAR_BELOW)
    square = inverse * inverse
    rest = F.where(below, inverse * (square * (2 - 10 * square) - 1), x + out)
    return ct * F._zero_where(-out * rest, out == 0)


@pointwise(**_SETTINGS, domain=(0.05, 0.95))
def special_ndtri(xp, x):
    """Inverse of `ndtr`, the quantile of the standard normal distribution: -inf at 0, inf at 1, NaN outside [0, 1].

    x: any shape, real; bools and integers become the default float dtype. Derivative: the reciprocal of the density at
    out, sqrt(2 pi) exp(out**2 / 2)."""
    return special("ndtri", x)


@special_ndtri.vjp("x")
def _(F, ct, out):
    return ct * _ROOT_2_PI * F.exp(out * out * 0.5)


@pointwise(**_SETTINGS, domain=(-0.9, 3.0), node="SpecialXlog1PyBackward0")
def special_xlog1py(xp, x, y):
    """x log(1 + y); 0 where x is 0 and y is not NaN.

    Derivative: in x log(1 + y), or 0 where x is 0 and y <= -1; in y x / (1 + y)."""
    return special("xlog1py", x, y)


@special_xlog1py.vjp("x")
def _(F, ct, x, y):
    return F._zero_where(ct * F.log1p(y), (x == 0) & (y <= -1))


@special_xlog1py.vjp("y")
def _(F, ct, x, y):
    return ct * x / (y + 1)


def _zeta_node(inputs: Any, params: Any) -> str:
    numbers = [is_number(x) for x in inputs]
    return f"SpecialZetaBackward{1 if numbers[0] else 2 if numbers[1] else 0}"


@pointwise(**_SETTINGS, domain=(1.2, 4.0), node=_zeta_node)
def special_zeta(xp, x, y):
    """Hurwitz' zeta function, the sum of (y + k)**-x over k >= 0; Riemann's zeta function for y = 1.

    x > 1; NaN for x < 1, inf for x = 1.

    Derivative: in y -x zeta(x + 1, y); in x the sum of -log(y + k) (y + k)**-x, by the series in zeta.py. torch has no
    derivative in x."""
    return special("zeta", x, y)


@special_zeta.vjp("y")
def _(F, ct, x, y):
    return -ct * x * F.special_zeta(x + 1, y)


@special_zeta.vjp("x")
def _(F, ct, x, y):
    return ct * F._zeta_by_exponent(x, y, order=1)


@pointwise(promote=INT_TO_FLOAT, complex=False, method=False, namespaces=(), domain=(1.2, 4.0))
def _zeta_by_exponent(xp, x, y, *, order):
    """Derivative of zeta(x, y) in x, of order >= 1; NaN unless x > 1 and y > 0.

    Derivative: in x the derivative of the next order; in y the derivative of -x zeta(x + 1, y) of this order."""
    from wengert.ops.zeta import by_exponent

    s, q = xp.broadcast_arrays(xp.asarray(x, xp.float64), xp.asarray(y, xp.float64))
    return by_exponent(s, q, order).astype(xp.result_type(x, y))


@_zeta_by_exponent.vjp("x")
def _(F, ct, x, y, order):
    return ct * F._zeta_by_exponent(x, y, order=order + 1)


@_zeta_by_exponent.vjp("y")
def _(F, ct, x, y, order):
    lower = F.special_zeta(x + 1, y) if order == 1 else F._zeta_by_exponent(x + 1, y, order=order - 1)
    return -ct * (x * F._zeta_by_exponent(x + 1, y, order=order) + order * lower)


# -- further names -----------------------------------------------------------------------------------------------------


@composite(namespaces=("special",))
def special_expit(F, input):
    """`sigmoid`: 1 / (1 + exp(-input)). Derivative: as sigmoid."""
    return F.sigmoid(input)


@composite(namespaces=("special",))
def special_gammaln(F, input):
    """`lgamma`: the logarithm of the magnitude of the gamma function. Derivative: as lgamma."""
    return F.lgamma(input)


@composite(namespaces=("special",))
def special_psi(F, input):
    """`digamma`: the derivative of the logarithm of the gamma function. Derivative: as digamma."""
    return F.digamma(input)


@composite(namespaces=("special",))
def special_multigammaln(F, input, p):
    """`mvlgamma`: the logarithm of the multivariate gamma function of dimension p. Derivative: as mvlgamma."""
    return F.mvlgamma(input, p=number_of(p))
