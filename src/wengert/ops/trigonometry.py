"""Trigonometric and hyperbolic functions of one number, and their inverses."""

from __future__ import annotations

import math

from wengert.ops.registry import INT_TO_FLOAT, alias, pointwise
from wengert.ops.values import is_complex

# -- trigonometric functions, x in radians -----------------------------------------------------------------------------


@pointwise(promote=INT_TO_FLOAT, inplace=True)
def sin(xp, x):
    """Sine of x in radians.

    x: any shape and dtype; bools and integers become the default float dtype. Derivative: cos(x)."""
    return xp.sin(x)


@sin.vjp("x")
def _(F, ct, x):
    return ct * F.conj(F.cos(x))


@pointwise(promote=INT_TO_FLOAT, inplace=True)
def cos(xp, x):
    """Cosine of x in radians.

    x: any shape and dtype; bools and integers become the default float dtype. Derivative: -sin(x)."""
    return xp.cos(x)


@cos.vjp("x")
def _(F, ct, x):
    return -ct * F.conj(F.sin(x))


@pointwise(promote=INT_TO_FLOAT, inplace=True, domain=(-1.2, 1.2))
def tan(xp, x):
    """Tangent of x in radians.

    x: any shape and dtype; bools and integers become the default float dtype. Derivative: 1 + out**2."""
    return xp.tan(x)


@tan.vjp("x")
def _(F, ct, out):
    return ct * F.conj(1 + out * out)


@pointwise(method=False, namespaces=())
def _square_from_one(xp, x):
    """1 - x**2, with all digits beside 1 and -1. Derivative: -2 x."""
    return (1 - x) * (1 + x)


@_square_from_one.vjp("x")
def _(F, ct, x):
    return ct * F.conj(-2 * x)


@pointwise(promote=INT_TO_FLOAT, inplace=True, domain=(-0.9, 0.9))
def asin(xp, x):
    """Inverse sine: the angle in radians, in [-pi/2, pi/2], whose sine is x. NaN for real |x| > 1.

    x: any shape and dtype; bools and integers become the default float dtype. Derivative: 1 / sqrt(1 - x**2)."""
    return xp.arcsin(x)


@asin.vjp("x")
def _(F, ct, x):
    return ct * F.conj(F.rsqrt(F._square_from_one(x)))


@pointwise(promote=INT_TO_FLOAT, inplace=True, domain=(-0.9, 0.9))
def acos(xp, x):
    """Inverse cosine: the angle in radians, in [0, pi], whose cosine is x. NaN for real |x| > 1.

    x: any shape and dtype; bools and integers become the default float dtype. Derivative: -1 / sqrt(1 - x**2)."""
    return xp.arccos(x)


@acos.vjp("x")
def _(F, ct, x):
    return -ct * F.conj(F.rsqrt(F._square_from_one(x)))


@pointwise(promote=INT_TO_FLOAT, inplace=True)
def atan(xp, x):
    """Inverse tangent: the angle in radians, in [-pi/2, pi/2], whose tangent is x.

    x: any shape and dtype; bools and integers become the default float dtype. Derivative: 1 / (1 + x**2)."""
    return xp.arctan(x)


@atan.vjp("x")
def _(F, ct, x):
    return ct / F.conj(x * x + 1)


# Coefficients a[k] of sinc's derivative near 0: x times the sum of a[k] x**(2k).
_SINC_SLOPE = [(-1) ** k * math.pi ** (2 * k) * 2 * k / math.factorial(2 * k + 1) for k in range(1, 11)]


@pointwise(promote=INT_TO_FLOAT, inplace=True, namespaces=("", "special"))
def sinc(xp, x):
    """Normalised sinc, sin(pi * x) / (pi * x); 1 at 0.

    x: any shape and dtype; bools and integers become the default float dtype. Derivative: (cos(pi * x) - sinc(x)) / x,
    near 0 by its series; 0 at 0, where the second derivative is -pi**2 / 3."""
    return xp.sinc(x).astype(x.dtype, copy=False)


@sinc.vjp("x")
def _(F, ct, x):
    near = F.abs(x) < 0.25
    slope = (F.cos(math.pi * x) - F.sinc(x)) / F.where(near, 1.0, x)
    square = F.where(near, x * x, 0.0)
    series = 0.0
    for factor in reversed(_SINC_SLOPE):  # near 0 the difference above cancels, and its derivative even more so
        series = series * square + factor
    return ct * F.conj(F.where(near, series * x, slope))


# -- hyperbolic functions ----------------------------------------------------------------------------------------------


@pointwise(promote=INT_TO_FLOAT, inplace=True)
def sinh(xp, x):
    """Hyperbolic sine of x.

    x: any shape and dtype; bools and integers become the default float dtype. Derivative: cosh(x)."""
    return xp.sinh(x)


@sinh.vjp("x")
def _(F, ct, x):
    return ct * F.conj(F.cosh(x))


@pointwise(promote=INT_TO_FLOAT, inplace=True)
def cosh(xp, x):
    """Hyperbolic cosine of x.

    x: any shape and dtype; bools and integers become the default float dtype. Derivative: sinh(x)."""
    return xp.cosh(x)


@cosh.vjp("x")
def _(F, ct, x):
    return ct * F.conj(F.sinh(x))


@pointwise(promote=INT_TO_FLOAT, inplace=True, namespaces=("", "nn.functional"))
def tanh(xp, x):
    """Hyperbolic tangent of x.

    x: any shape and dtype; bools and integers become the default float dtype. Derivative: 1 - out**2."""
    return xp.tanh(x)


@tanh.vjp("x")
def _(F, ct, out):
    return ct * F.conj(1 - out * out)


@pointwise(promote=INT_TO_FLOAT, inplace=True)
def asinh(xp, x):
    """Inverse hyperbolic sine: the number whose hyperbolic sine is x.

    x: any shape and dtype; bools and integers become the default float dtype. Derivative: 1 / sqrt(x**2 + 1)."""
    return xp.arcsinh(x)


@asinh.vjp("x")
def _(F, ct, x):
    return ct * F.conj(F.rsqrt(x * x + 1))


@pointwise(promote=INT_TO_FLOAT, inplace=True, domain=(1.2, 4.0))
def acosh(xp, x):
    """Inverse hyperbolic cosine: the number >= 0 whose hyperbolic cosine is x. NaN for real x < 1.

    x: any shape and dtype; bools and integers become the default float dtype. Derivative: 1 / sqrt(x**2 - 1)."""
    return xp.arccosh(x)


@acosh.vjp("x")
def _(F, ct, x):
    if is_complex(x):  # the root of the product would be on the wrong branch
        return ct * F.conj(F.rsqrt(x - 1) * F.rsqrt(x + 1))
    return ct * F.rsqrt(-F._square_from_one(x))


@pointwise(promote=INT_TO_FLOAT, inplace=True, domain=(-0.9, 0.9))
def atanh(xp, x):
    """Inverse hyperbolic tangent: the number whose hyperbolic tangent is x. inf at 1, -inf at -1, NaN for real |x| > 1.

    x: any shape and dtype; bools and integers become the default float dtype. Derivative: 1 / (1 - x**2)."""
    return xp.arctanh(x)


@atanh.vjp("x")
def _(F, ct, x):
    return ct / F.conj(F._square_from_one(x))


alias("arcsin", asin)
alias("arccos", acos)
alias("arctan", atan)
alias("arcsinh", asinh)
alias("arccosh", acosh)
alias("arctanh", atanh)
