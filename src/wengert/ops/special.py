"""Special functions: error functions, gamma functions, logits. SciPy computes them, and is loaded at the first call."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

from wengert.ops.registry import INT_TO_FLOAT, composite, pointwise

_BOTH = ("", "special")


@cache
def _scipy(name: str) -> Any:
    from scipy import special

    return getattr(special, name)


def _special(name: str, *operands: Any) -> Any:
    """A function of scipy.special, in the dtype of its last operand. It has no 16-bit form: those go by float32."""
    dtype = operands[-1].dtype
    if dtype.itemsize == 2:
        operands = (*operands[:-1], operands[-1].astype("float32"))
    result = _scipy(name)(*operands)
    return result if result.dtype == dtype else result.astype(dtype)


@pointwise(promote=INT_TO_FLOAT, inplace=True, complex=False, namespaces=_BOTH)
def erf(xp, x):
    """The error function, 2 / sqrt(pi) times the integral of exp(-t**2) from 0 to x.

    Derivative: 2 / sqrt(pi) * exp(-x**2)."""
    return _special("erf", x)


@erf.vjp("x")
def _(F, ct, x):
    return ct * (2 / math.sqrt(math.pi)) * F.exp(-(x * x))


@pointwise(promote=INT_TO_FLOAT, inplace=True, complex=False, namespaces=_BOTH)
def erfc(xp, x):
    """1 - erf(x), exact also where that is small.

    Derivative: -2 / sqrt(pi) * exp(-x**2)."""
    return _special("erfc", x)


@erfc.vjp("x")
def _(F, ct, x):
    return ct * (-2 / math.sqrt(math.pi)) * F.exp(-(x * x))


@pointwise(promote=INT_TO_FLOAT, inplace=True, complex=False, domain=(-0.9, 0.9), namespaces=_BOTH)
def erfinv(xp, x):
    """The number whose erf is x; infinite at 1 and -1, NaN outside.

    Derivative: sqrt(pi) / 2 * exp(out**2)."""
    return _special("erfinv", x)


@erfinv.vjp("x")
def _(F, ct, out):
    return ct * (math.sqrt(math.pi) / 2) * F.exp(out * out)


@pointwise(promote=INT_TO_FLOAT, inplace=True, complex=False, domain=(0.3, 4.0))
def lgamma(xp, x):
    """The logarithm of the magnitude of the gamma function; infinite at 0, -1, -2 ...

    Derivative: digamma(x)."""
    return xp.where(xp.isinf(x), xp.abs(x), _special("gammaln", x))


@lgamma.vjp("x")
def _(F, ct, x):
    return ct * F.digamma(x)


@pointwise(promote=INT_TO_FLOAT, inplace=True, complex=False, domain=(0.3, 4.0), namespaces=_BOTH)
def digamma(xp, x):
    """The derivative of the logarithm of the gamma function.

    Derivative: polygamma(1, x) (Abramowitz and Stegun 6.4.1)."""
    return _special("psi", x)


@digamma.vjp("x")
def _(F, ct, x):
    return ct * F._polygamma(x, n=1)


@pointwise(promote=INT_TO_FLOAT, complex=False, node="PolygammaBackward0", method=False, namespaces=())
def _polygamma(xp, x, *, n):
    """The derivative of order n of digamma.

    Derivative: the same of order n + 1."""
    if n == 0:
        return _special("psi", x)
    # (-1)**(n+1) * n! * zeta(n + 1, x): Abramowitz and Stegun 6.4.10
    return (math.factorial(n) if n % 2 else -math.factorial(n)) * _special("zeta", n + 1.0, x)


@_polygamma.vjp("x")
def _(F, ct, x, n):
    return ct * F._polygamma(x, n=n + 1)


@composite(namespaces=_BOTH)
def polygamma(F, n, input):
    """The derivative of order n (an int, at least 0) of digamma.

    Derivative: polygamma(n + 1, input)."""
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    return F._polygamma(input, n=n)


@pointwise(promote=INT_TO_FLOAT, inplace=True, complex=False, domain=(0.1, 0.9), namespaces=_BOTH)
def logit(xp, x, *, eps=None):
    """log(x / (1 - x)), the inverse of sigmoid; with eps, of x clamped to between eps and 1 - eps.

    Derivative: 1 / (x * (1 - x)); with eps, 0 outside the bounds; without, NaN outside 0 to 1."""
    if eps is not None:
        x = xp.minimum(xp.maximum(x, eps), 1 - eps)
    return _special("logit", x)


@logit.vjp("x")
def _(F, ct, x, eps):
    slope = ct / (x * (1 - x))
    if eps is not None:
        return F._zero_where(slope, (x < eps) | (x > 1 - eps))
    return F.where((x < 0) | (x > 1), math.nan, slope)
