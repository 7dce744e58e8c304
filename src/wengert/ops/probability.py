"""Special functions of probability and information theory, Hurwitz' zeta function, and torch.special's second names."""

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
    """-x log(x): 0 at 0, -inf for negative x.

    Derivative: -log(x) - 1."""
    return special("entr", x)


@special_entr.vjp("x")
def _(F, ct, x):
    return ct * (-F.log(x) - 1)


@pointwise(**_SETTINGS)
def special_erfcx(xp, x):
    """exp(x**2) erfc(x), which is 1 / (x sqrt(pi)) for large x.

    Derivative: 2 x erfcx(x) - 2 / sqrt(pi)."""
    return special("erfcx", x)


@special_erfcx.vjp("x")
def _(F, ct, x, out):
    return ct * (2 * x * out - 2 / math.sqrt(math.pi))


@composite(namespaces=("special",))
def special_ndtr(F, input):
    """The cumulative distribution function of the standard normal distribution.

    Derivative: its density, exp(-x**2 / 2) / sqrt(2 pi)."""
    return F.erfc(input * (-1 / _ROOT_2)) * 0.5


@pointwise(**_SETTINGS)
def special_log_ndtr(xp, x):
    """The logarithm of `ndtr`, exact also where that is small.

    Derivative: sqrt(2 / pi) / erfcx(-x / sqrt(2)), the density over ndtr."""
    return special("log_ndtr", x)


@special_log_ndtr.vjp("x")
def _(F, ct, x):
    return ct * F._normal_hazard(x)


_FAR_BELOW = -200.0


@pointwise(**{**_SETTINGS, "namespaces": ()})
def _normal_hazard(xp, x):
    """The density of the standard normal distribution at x over `ndtr` of x: 0 for large x, about -x for x far below 0.

    Derivative: -out (x + out), where x + out is -1 / x + 2 / x**3 - 10 / x**5 far below 0; 0 where out is."""
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
    """The number whose `ndtr` is x: infinite at 0 and 1, NaN outside.

    Derivative: 1 over the density there, sqrt(2 pi) exp(out**2 / 2)."""
    return special("ndtri", x)


@special_ndtri.vjp("x")
def _(F, ct, out):
    return ct * _ROOT_2_PI * F.exp(out * out * 0.5)


@pointwise(**_SETTINGS, domain=(-0.9, 3.0), node="SpecialXlog1PyBackward0")
def special_xlog1py(xp, x, y):
    """x log(1 + y), and 0 where x is 0 and y is not NaN.

    Derivative: log(1 + y) in x, 0 where x is 0 and y is -1 or less; x / (1 + y) in y."""
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
    """Hurwitz' zeta function, the sum of (y + k)**-x over k from 0 on; Riemann's for y = 1. x > 1; NaN else.

    Derivative: -x zeta(x + 1, y) in y; in x the sum of -log(y + k) (y + k)**-x, which has no closed form (see zeta.py). Torch
    has none in x."""
    return special("zeta", x, y)


@special_zeta.vjp("y")
def _(F, ct, x, y):
    return -ct * x * F.special_zeta(x + 1, y)


@special_zeta.vjp("x")
def _(F, ct, x, y):
    return ct * F._zeta_by_exponent(x, y, order=1)


@pointwise(promote=INT_TO_FLOAT, complex=False, method=False, namespaces=(), domain=(1.2, 4.0))
def _zeta_by_exponent(xp, x, y, *, order):
    """The derivative of zeta(x, y) with respect to x, of an order from 1 on; NaN but for x > 1 and y > 0.

    Derivative: of the next order in x; in y that of -x zeta(x + 1, y)."""
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


# -- second names ------------------------------------------------------------------------------------------------------


@composite(namespaces=("special",))
def special_expit(F, input):
    """`sigmoid`: 1 / (1 + exp(-input)). Derivative: as of sigmoid."""
    return F.sigmoid(input)


@composite(namespaces=("special",))
def special_gammaln(F, input):
    """`lgamma`: the logarithm of the magnitude of the gamma function. Derivative: as of lgamma."""
    return F.lgamma(input)


@composite(namespaces=("special",))
def special_psi(F, input):
    """`digamma`: the derivative of the logarithm of the gamma function. Derivative: as of digamma."""
    return F.digamma(input)


@composite(namespaces=("special",))
def special_multigammaln(F, input, p):
    """`mvlgamma`: the logarithm of the multivariate gamma function of dimension p. Derivative: as of mvlgamma."""
    return F.mvlgamma(input, p=number_of(p))
